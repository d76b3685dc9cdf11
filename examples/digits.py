"""Train on handwritten digits, serve in each mode, and see what the guard saves and refuses.

    PYTHONPATH=. .venv/bin/python examples/digits.py

In a clone, after `make build`; `make demo` runs it, too. Trains a small convolutional network on
four fifths of 1 797 real digits (examples/data), shows what it answers to the others, and what an
answer costs with recording on, under no_grad and under inference_mode: the same to the last bit.
The pictures go to build/examples/digits.png, too, where matplotlib is installed.
"""

import gzip
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pictures

import imode
from imode import nn
from imode.utils.data import DataLoader, TensorDataset, random_split

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
PICTURE = Path("build", "examples", "digits.png")
EPOCHS = 12
MODES = {"normal": nullcontext, "no_grad": imode.no_grad, "inference_mode": imode.inference_mode}


# ---- data, model, training ----


def load_digits():
    """The images, brightness 0 to 16, as (1797, 1, 8, 8), and the digits that they show."""
    with gzip.open(DATA, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int64)
    images = imode.from_numpy(table[:, :-1]).float().view(-1, 1, 8, 8)
    return images, imode.from_numpy(table[:, -1])


def make_model():
    """Two convolutions with BatchNorm, a pooling, Dropout, two linear layers: 38 378 weights."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def prepare(images):
    """Brightness scaled to about -1 ... 1; the copy is changed in place."""
    return images.clone().sub_(8).div_(8)


def accuracy(model, data):
    """The share of digits that the model names right."""
    images, digits = data[:]
    with imode.inference_mode():
        return (model(prepare(images)).argmax(1) == digits).float().mean().item()


def train(model, train_data, test_data):
    """Fit the model, with a progress bar; returns its accuracy on the test data."""
    loader = DataLoader(train_data, batch_size=32, shuffle=True)
    optimizer = imode.optim.Adam(model.parameters(), lr=2e-3)
    schedule = imode.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    loss_of = nn.CrossEntropyLoss()
    with Progress(EPOCHS * len(loader)) as progress:
        for epoch in range(1, EPOCHS + 1):
            model.train()
            for images, digits in loader:
                optimizer.zero_grad()
                loss = loss_of(model(prepare(images)), digits)
                loss.backward()
                optimizer.step()
                progress.advance(f"epoch {epoch:2}/{EPOCHS}   loss {loss.item():.3f}")
            schedule.step()
            right = accuracy(model.eval(), test_data)
            progress.note(f"epoch {epoch:2}/{EPOCHS}   held-out accuracy {right:.2%}")
    return right


class Progress:
    """A bar that redraws itself in a terminal; in a log, only the notes, one to a line."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.start = time.perf_counter()
        self.drawn = 0.0
        self.live = sys.stdout.isatty()

    def advance(self, text):
        """One step further; redraws at most twenty times a second."""
        self.done += 1
        now = time.perf_counter()
        if self.live and (now - self.drawn > 0.05 or self.done == self.total):
            self.drawn = now
            share = self.done / self.total
            left = (now - self.start) * (1 - share) / share
            full = round(24 * share)
            bar = "█" * full + "░" * (24 - full)
            line = f"  {bar} {share:4.0%}   {text}   {left:.0f} s left"
            print("\r" + line[: shutil.get_terminal_size().columns - 1] + "\x1b[K", end="")

    def note(self, text):
        """A line that stays."""
        print(("\r\x1b[K" if self.live else "") + f"  {text}", flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        if self.live:
            print("\r\x1b[K", end="")


# ---- answers ----


def show_answers(model, images, digits):
    """Thirteen digits with their answers, and the three of which the model was least sure."""
    with imode.inference_mode():
        chances = model(prepare(images)).softmax(1)
    sure, answers = chances.max(1)
    chosen = [*range(13), *sure[13:].argsort()[:3].add(13).tolist()]
    captions = [
        f"{answers[i]}, {sure[i]:.0%}" + (f" not {digits[i]}" if answers[i] != digits[i] else "")
        for i in chosen
    ]
    shown = images[chosen]
    print(*pictures.in_terminal(shown, captions), sep="\n")
    return shown, captions


# ---- what an answer costs ----


class Reader(nn.Module):
    """Reads an image row by row and keeps a state, as a network over a stream does."""

    def __init__(self):
        super().__init__()
        self.read, self.keep = nn.Linear(8, 32), nn.Linear(32, 32, bias=False)
        self.name = nn.Linear(32, 10)

    def forward(self, images):
        state = images.new_zeros(len(images), 32)
        for row in images[:, 0].unbind(1):
            state = self.read(row).add_(self.keep(state)).tanh_()
        return self.name(state)


def time_and_nodes(images):
    """Microseconds and graph nodes of an answer of the Reader, one image at a time, by mode."""
    model, singles = Reader(), [images[i : i + 1] for i in range(200)]
    fastest, nodes, answers = {}, {}, {}
    for _ in range(9):  # in turns, so that whatever slows the machine down slows all modes
        for mode, guard in MODES.items():
            start = time.perf_counter()
            with guard():
                answers[mode] = imode.cat([model(prepare(image)) for image in singles])
            micros = (time.perf_counter() - start) / len(singles) * 1e6
            fastest[mode] = min(micros, fastest.get(mode, micros))
    for mode, guard in MODES.items():
        with guard(), imode.counters() as counts:
            model(prepare(singles[0]))
        nodes[mode] = counts.nodes
        assert imode.equal(answers[mode], answers["normal"]), f"{mode} answers differ"
    return fastest, nodes


def memory(mode):
    """The memory that all images at once take on their way through the large network, in MB."""
    import resource  # of Unix

    images, model = load_digits()[0], make_model().eval()
    with MODES[mode]():
        model(prepare(images[:1]))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model(prepare(images))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return grown / (1e6 if sys.platform == "darwin" else 1e3)


def measure(images):
    """The charts: a title, a unit and a value for each mode."""
    micros, nodes = time_and_nodes(images)
    charts = [
        ("time, one image, row by row", "µs", micros),
        ("graph nodes of that answer", "", nodes),
    ]
    if sys.platform != "win32":  # each in a process of its own, for what one took is reused
        command = [sys.executable, __file__, "--memory"]
        took = {mode: float(subprocess.check_output([*command, mode])) for mode in MODES}
        charts.append(("memory, 1 797 images at once", "MB", took))
    for title, unit, values in charts:
        print(*pictures.bars(title, unit, values, "{:.0f}" if unit != "µs" else "{:.1f}"), sep="\n")
    return charts


# ---- misuse ----


def train_on_served_features(model, images):
    """features of inference mode, trained on"""
    with imode.inference_mode():
        features = model[:-1](images)
    model[-1](features)


def write_outside(model, images):
    """an answer, written to outside"""
    with imode.inference_mode():
        scores = model(images)
    scores.div_(10)


def write_what_backward_needs(model, images):
    """a weight, written to before backward"""
    loss = model(images).logsumexp(1).sum()
    with imode.inference_mode():
        model[-1].weight.clamp_(-1, 1)
    loss.backward()


def show_refusals(model, images):
    """Run each misuse; print the beginning of its error, which goes on with who and where."""
    for misuse in (train_on_served_features, write_outside, write_what_backward_needs):
        try:
            misuse(model, images)
        except RuntimeError as error:
            begins = str(error).partition("\n")[0].partition(": [")[0]
            print(f"  {misuse.__doc__:<41}{begins}")
        else:
            raise AssertionError(f"{misuse.__name__} was not refused")


def main():
    """Train, answer, measure, misuse."""
    imode.manual_seed(0)
    images, digits = load_digits()
    train_data, test_data = random_split(TensorDataset(images, digits), [0.8, 0.2])
    model = make_model()

    print(f"\nTraining on {len(train_data)} handwritten digits, {len(test_data)} held out\n")
    start = time.perf_counter()
    right = train(model, train_data, test_data)
    took = time.perf_counter() - start
    print(f"\n  {right:.2%} of the held-out digits named right after {took:.1f} s of training")
    assert right >= 0.97, "the held-out accuracy is below 97 %"

    print("\nAnswers, and how sure; the last three are the least sure\n")
    held_out, truth = test_data[:]
    shown, captions = show_answers(model, held_out, truth)

    print("What an answer costs: every mode gives the same answers, bit for bit\n")
    charts = measure(held_out)

    print("Misuse is refused, not answered wrongly\n")
    show_refusals(model, prepare(held_out[:8]))

    drawn = pictures.png(PICTURE, shown, captions, charts)
    print(f"\npicture: {PICTURE}" if drawn else "\npicture: none, for matplotlib is not installed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        print(memory(sys.argv[2]))
    else:
        main()
