"""Train on handwritten digits, serve in each mode, and see what the guard saves and refuses.

    PYTHONPATH=. .venv/bin/python examples/digits.py

In a clone, after `make demo`, which runs it, too. Trains a small convolutional network on four
fifths of 1 797 real digits (examples/data), then answers the other fifth one image at a time: with
recording on, under no_grad and under inference_mode. The answers are the same to the last bit; the
work behind them is not.
"""

import gzip
import inspect
import shutil
import sys
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np

import imode
from imode import nn
from imode.utils.data import DataLoader, TensorDataset, random_split

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
EPOCHS = 12
LEGEND = """
  nodes   graph nodes: what a backward pass would need of each operator
  views   views recorded, so that a later write through one is seen by the other
  bumps   in-place writes counted, so that backward can tell a changed tensor from a saved one
  hops    kernels that the dispatcher called: at most one per operator in inference mode"""
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


# ---- serving ----


def serve(model, images, guard):
    """The scores for each image, one call at a time, in a mode."""
    with guard():
        return imode.cat([model(prepare(image)) for image in images])


def compare_modes(model, images):
    """Serve in each mode, check that the answers are equal, and print what each mode cost."""
    singles = [images[i : i + 1] for i in range(len(images))]
    fastest, answers, counts = {}, {}, {}
    for _ in range(5):  # in turns, so that whatever slows the machine down slows all modes
        for mode, guard in MODES.items():
            start = time.perf_counter()
            answers[mode] = serve(model, singles, guard)
            seconds = time.perf_counter() - start
            fastest[mode] = min(seconds, fastest.get(mode, seconds))
    for mode, guard in MODES.items():
        with guard(), imode.counters() as counts[mode]:
            model(prepare(singles[0]))

    for mode in MODES:
        assert imode.equal(answers[mode], answers["normal"]), f"{mode} answers differ"
    print(
        f"  {len(singles)} images, one at a time: every mode gives the same answers, bit for bit.\n"
    )
    print(f"  {'':<16}{'µs':>8}{'nodes':>8}{'views':>8}{'bumps':>8}{'hops':>8}   per image")
    for mode, count in counts.items():
        micros = fastest[mode] / len(singles) * 1e6
        counted = (count.nodes, count.views, count.version_bumps, count.hops)
        print(f"  {mode:<16}{micros:>8.1f}" + "".join(f"{number:>8}" for number in counted))
    print(LEGEND)


# ---- misuse ----


def train_on_served_features(model, images):
    """Features made in inference mode; a layer then needs them for its gradient."""
    with imode.inference_mode():
        features = model[:-1](images)
    model[-1](features)


def write_outside(model, images):
    """A result of inference mode, written to in place outside it."""
    with imode.inference_mode():
        scores = model(images)
    scores.div_(10)


def write_what_backward_needs(model, images):
    """A weight changed in inference mode between forward and backward."""
    loss = model(images).logsumexp(1).sum()
    with imode.inference_mode():
        model[-1].weight.clamp_(-1, 1)
    loss.backward()


def show_refusals(model, images):
    """Run each misuse: its lines, and the error that it gets instead of a wrong result."""
    misuses = [train_on_served_features, write_outside, write_what_backward_needs]
    for number, misuse in enumerate(misuses, 1):
        body = inspect.getsource(misuse).split('"""\n', 1)[1]
        print(f"  {number}. {misuse.__doc__}\n")
        print(textwrap.indent(textwrap.dedent(body), " " * 9))
        try:
            misuse(model, images)
        except RuntimeError as error:
            for i, line in enumerate(str(error).splitlines()):
                start = " " * 7 if i else "     → "
                print(textwrap.fill(line, 100, initial_indent=start, subsequent_indent=" " * 7))
            print()
        else:
            raise AssertionError(f"{misuse.__name__} was not refused")


def main():
    """Train, serve, misuse."""
    imode.manual_seed(0)
    images, digits = load_digits()
    data = TensorDataset(images, digits)
    train_data, test_data = random_split(data, [0.8, 0.2])
    model = make_model()

    print(f"\nTraining on {len(train_data)} handwritten digits, {len(test_data)} held out\n")
    start = time.perf_counter()
    right = train(model, train_data, test_data)
    print(
        f"\n  {right:.2%} of the held-out digits named right after "
        f"{time.perf_counter() - start:.1f} s of training"
    )
    assert right >= 0.97, "the held-out accuracy is below 97 %"

    print("\nServing in each mode\n")
    held_out = images[test_data.indices]
    compare_modes(model, held_out)

    print("\nMisuse is refused, not answered wrongly\n")
    show_refusals(model, prepare(held_out[:8]))


if __name__ == "__main__":
    main()
