"""The measured figures: one function per group, each returns rows of a table."""

import contextlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import rows
from .timing import best, geometric_mean

ROOT = Path(__file__).parents[1]
CLEAN_BUILD = ROOT / "build" / "cpu_seconds"  # written by a build of all modules


@dataclass
class Figure:
    """One figure with a target: what, the measured ratio, the bound, and which side is good."""

    name: str
    value: float
    target: float
    at_most: bool = False
    unit: str = "×"

    @property
    def met(self):
        """Whether the target is reached."""
        return self.value <= self.target if self.at_most else self.value >= self.target


def operators(lib, torch, mode, only=None):
    """Return {operator: {"imode": seconds, "torch": ..., "numpy": ...}} on 4 elements.

    mode: "inference" runs everything in inference mode; "recorded" with inputs that require grad,
    and only what then records a node.
    """
    recorded = mode == "recorded"
    times = {}
    array_names = rows.numpy_names(torch)
    for name, (code, by_hand) in rows.ROWS.items():
        if only and name not in only:
            continue
        with contextlib.ExitStack() as stack:
            if not recorded:
                stack.enter_context(lib.inference_mode())
                stack.enter_context(torch.inference_mode())
            ours, theirs = rows.names(lib, recorded), rows.names(torch, recorded)
            if recorded and not _records(code, theirs):
                continue
            statements = {"imode": (code, ours), "torch": (code, theirs)}
            if by_hand and not recorded:
                statements["numpy"] = (by_hand, array_names)
            times[name] = best(statements)
    return times


def _records(code, names):
    """Whether the statement gives a tensor with a grad_fn; in-place and out= forms do not count."""
    if code[0] in "ov" or "out=" in code:
        return False
    try:
        result = eval(code, dict(names))
    except RuntimeError as error:
        if "is not differentiable" not in str(error):
            raise
        return False  # with respect to targets, which here require grad, too
    first = result[0] if isinstance(result, (tuple, list)) else result
    return getattr(first, "grad_fn", None) is not None


def ratio(times, other):
    """Return {operator: time of `other` / time of imode}."""
    return {name: t[other] / t["imode"] for name, t in times.items() if other in t}


# ---- small programs ----

MLP = """
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
x = lib.randn(1, 8)
batch, target = lib.randn(32, 8), lib.randn(32, 2)
optimizer = lib.optim.SGD(model.parameters(), lr=1e-3)
loss_of = nn.MSELoss()
y = lib.randn(8, 8, requires_grad=True)
net = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
images = lib.randn(8, 16, 28, 28, requires_grad=True)

def step():
    optimizer.zero_grad()
    loss = loss_of(model(batch), target)
    loss.backward()
    optimizer.step()
"""
PROGRAMS = {
    "with inference_mode(): pass": "with lib.inference_mode(): pass",
    "MLP 8-64-64-2, batch 1, inference mode": "model(x)",
    "MLP training step, batch 32, MSE, SGD": "step()",
    "(x*x+x).sum().backward(), 8×8": "y.grad = None; (y * y + y).sum().backward()",
    "conv 16→32, batch norm, relu, 8×16×28×28, both ways": "net(images).sum().backward()",
}
TARGETS = dict(zip(PROGRAMS, (5, 4, 4, 5, 0.8)))


def programs(lib, torch):
    """Return {program: {"imode": seconds, "torch": seconds}}."""
    spaces = {}
    for library in (lib, torch):
        library.manual_seed(0)
        spaces[library] = {"lib": library, "nn": library.nn}
        exec(MLP, spaces[library])
    times = {}
    for name, code in PROGRAMS.items():
        with contextlib.ExitStack() as stack:
            if "model(x)" in code:
                stack.enter_context(lib.inference_mode())
                stack.enter_context(torch.inference_mode())
            times[name] = best(
                {"imode": (code, spaces[lib]), "torch": (code, spaces[torch])}, shot=5e-3
            )
    return times


# ---- autograd ----

AUTOGRAD = """
nn, grad = lib.nn, lib.autograd.grad

class Identity(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad

class Copy(Identity):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

x, factor, ones = lib.ones(4, requires_grad=True), lib.ones(4), lib.ones(4)
chain = x
for _ in range(1000):
    chain = chain * factor
net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2),
                    nn.Tanh())
weights = list(net.parameters())
batch = lib.randn(32, 8, requires_grad=True)

def twice():
    first, = grad(net(batch).sum(), batch, create_graph=True)
    return grad((first * first).sum(), weights, allow_unused=True)
"""
AUTOGRAD_PROGRAMS = {
    "backward over 1 000 mul nodes, 4 elements": ("chain.backward(ones, retain_graph=True)", 5),
    "double backward of a 3-layer tanh MLP, batch 32": ("twice()", 4),
    "Function.apply, the input returned and saved": ("Identity.apply(x)", 5),
    "Function.apply, a copy returned, the input saved": ("Copy.apply(x)", 5),
    "Function.apply and backward, the input returned": ("Identity.apply(x).backward(ones)", 5),
}

# Bytes per node of a chain, as the process grows; seconds per node, recorded, run and freed.
LIVE = """
import importlib, sys
lib = importlib.import_module(sys.argv[1])
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
x = lib.ones(4, requires_grad=True)
y = x + x
for _ in range(2000): y = y + x
before = resident()
for _ in range(200_000): y = y + x
print((resident() - before) / 200_000)
"""
# Both in spells as long, of the processor's time: a short one can fall between what others do to
# the machine's memory, where a long one cannot.
GROWTH = """
import importlib, sys, time
lib = importlib.import_module(sys.argv[1])
x, ones = lib.ones(4, requires_grad=True), lib.ones(4)
def run(n):
    y = x
    for _ in range(n): y = y OP x
    y.backward(ones)
    del y
    x.grad = None
def per_node(n):
    begun = time.process_time()
    for _ in range(10**6 // n): run(n)
    return (time.process_time() - begun) / 10**6
pairs = [(per_node(10**6), per_node(10**3)) for _ in range(9)]
long, short = map(min, zip(*pairs))
print(long / short)
"""
# How many times as fast two threads run two graphs as one thread runs them in turn.
THREADS = """
import importlib, sys, threading, time
lib = importlib.import_module(sys.argv[1])
def graph():
    x = y = lib.full(SHAPE, 0.01, requires_grad=True)
    for _ in range(10): y = (y OP x).tanh()
    return y.sum()
def seconds(run):
    roots = [graph(), graph()]
    begun = time.perf_counter()
    run(roots)
    return time.perf_counter() - begun
def both(roots):
    for root in roots: root.backward()
def in_turn(roots):  # in a thread too: the C library hands memory of other threads back sooner
    thread = threading.Thread(target=both, args=(roots,))
    thread.start()
    thread.join()
def at_once(roots):
    threads = [threading.Thread(target=root.backward) for root in roots]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
least = {}
for _ in range(12):
    for run in (in_turn, at_once):
        least[run] = min(least.get(run, 1e9), seconds(run))
print(least[in_turn] / least[at_once])
"""


def autograd(lib, torch):
    """Return {program: {"imode": seconds, "torch": seconds}}."""
    spaces = {}
    for library in (lib, torch):
        library.manual_seed(0)
        spaces[library] = {"lib": library}
        exec(AUTOGRAD, spaces[library])
    return {
        name: best({"imode": (code, spaces[lib]), "torch": (code, spaces[torch])}, shot=5e-3)
        for name, (code, _) in AUTOGRAD_PROGRAMS.items()
    }


def in_process(script, library):
    """Return the number that a script prints, run in a process of its own with one thread."""
    done = subprocess.run(
        [sys.executable, "-c", script, library], capture_output=True, text=True, cwd=ROOT,
        check=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return float(done.stdout)


def autograd_figures(times, name):
    """Return the Figures of the graph; `name`: the library's."""
    ratios = ratio(times, "torch")
    found = [Figure(k, ratios[k], target) for k, (_, target) in AUTOGRAD_PROGRAMS.items()]
    bytes_of = {library: in_process(LIVE, library) for library in (name, "torch")}
    found.append(
        Figure(
            f"live memory per recorded add ({bytes_of[name]:.0f} bytes): PyTorch / imode",
            bytes_of["torch"] / bytes_of[name],
            1.5,
        )
    )
    for what, sign in (("add", "+"), ("mul, which saves both", "*")):
        growth = in_process(GROWTH.replace("OP", sign), name)
        found.append(Figure(f"time per node, 10⁶ nodes / 10³ nodes, {what}", growth, 1.2, True))
    for what, shape, sign in (
        ("matmul 512×512", "(512, 512)", "@"),
        ("mul, 10⁶", "(1 << 20,)", "*"),
    ):
        program = THREADS.replace("SHAPE", shape).replace("OP", sign)
        work = f"two backward in two threads, {what} and tanh: in turn / at once"
        found.append(Figure(work, in_process(program, name), 1.6))
    return found


# ---- what it costs to name the culprit ----

NAMED = (
    *("a + b", "lib.mul(a, b)", "a.exp()", "a.sum()", "a @ a", "a.clone()", "a.view(4)"),
    *("a.add_(b)", "lib.ones(2, 2)"),
)


def origins(lib):
    """Return {call: {"with": seconds, "without": ...}} of 200 calls in a block.

    With: in inference mode, where each tensor made is told its operator and the block's line.
    Without: below autograd and views, which runs the same kernels and tells it nothing.
    """
    times = {}
    for call in NAMED:
        code = f"with guard():\n    for _ in calls: {call}"
        statements = {}
        for key, guard in (
            ("with", lib.inference_mode),
            ("without", lib.AutoDispatchBelowADInplaceOrView),
        ):
            with guard():
                names = {"lib": lib, "guard": guard, "calls": range(200)}
                names |= {"a": lib.ones(2, 2), "b": lib.ones(2, 2)}
            statements[key] = code, names
        times[call] = best(statements, rounds=31)
    return times


def profiled(lib):
    """Return {call: {"on": seconds, "off": ...}} of 200 calls, in a profile and without one."""
    times = {}
    for call in ("lib.add(a, b)", "a * b"):
        code = f"for _ in calls: {call}"
        names = {"lib": lib, "calls": range(200), "a": lib.ones(4), "b": lib.ones(4)}
        inside = f"with lib.profiler.profile():\n    {code}"
        empty = "with lib.profiler.profile(): pass"
        statements = {"on": (inside, names), "off": (code, names), "empty": (empty, names)}
        times[call] = best(statements, rounds=31)
    return times


# ---- large tensors ----

LARGE = {
    "add": "lib.add(a, b)", "mul": "lib.mul(a, b)", "div": "lib.div(a, b)", "sqrt": "s.sqrt()",
    "exp": "a.exp()", "tanh": "a.tanh()", "relu": "a.relu()", "sum": "a.sum()",
}  # fmt: skip
LARGE_NUMPY = {
    "add": "a + b", "mul": "a * b", "div": "a / b", "sqrt": "np.sqrt(s)", "exp": "np.exp(a)",
    "tanh": "np.tanh(a)", "relu": "np.maximum(a, 0)", "sum": "a.sum()",
}  # fmt: skip
# `a` and `b` are square matrices or stacks of such, `p` positive definite ones.
LARGE_MATRICES = {
    "inv": "lib.linalg.inv(a)", "solve": "lib.linalg.solve(a, b)", "det": "lib.linalg.det(a)",
    "cholesky": "lib.linalg.cholesky(p)", "qr": "lib.linalg.qr(a)", "svd": "lib.linalg.svd(a)",
    "eigh": "lib.linalg.eigh(p)", "eig": "lib.linalg.eig(a)", "lstsq": "lib.linalg.lstsq(a, b)",
    "pinv": "lib.linalg.pinv(a)", "matrix_exp": "lib.linalg.matrix_exp(a)",
}  # fmt: skip
# `x` are 16 signals, `z` complex ones, `y` squares of as many elements, `w` a window.
LARGE_SIGNALS = {
    "fft": "lib.fft.fft(z)", "ifft": "lib.fft.ifft(z)", "rfft": "lib.fft.rfft(x)",
    "irfft": "lib.fft.irfft(z)", "fft2": "lib.fft.fft2(y)",
    "stft": "lib.stft(x, 512, 128, window=w, return_complex=True)",
}  # fmt: skip


def _matrices():
    """Yield what the decompositions are measured on: (name, code, NumPy's, arrays)."""
    import numpy as np

    for shape in ((32, 32), (128, 128), (512, 512), (64, 8, 8), (64, 32, 32)):
        a, b = np.random.randn(2, *shape).astype("f")
        p = a @ a.swapaxes(-1, -2) + np.eye(shape[-1], dtype="f")
        for name, code in LARGE_MATRICES.items():
            yield f"{name}, {'×'.join(map(str, shape))}", code, None, {"a": a, "b": b, "p": p}


def _signals():
    """Yield what the transforms are measured on, likewise."""
    import numpy as np

    for n in (1024, 4096, 10000, 65536):
        x, side = np.random.randn(16, n).astype("f"), int(n**0.5)
        arrays = {"x": x, "z": x + 1j * x[::-1], "w": np.hanning(512).astype("f")}
        arrays["y"] = x.reshape(16, side, side)
        for name, code in LARGE_SIGNALS.items():
            yield f"{name}, 16×{n}", code, None, arrays


def large(lib, torch):
    """Return {work: {library: seconds}} on 65 536 and 1 000 000 elements, matrices and signals."""
    import numpy as np

    work = {}
    for size in (65536, 10**6):
        a, b = np.random.randn(2, size).astype("f")
        arrays = {"a": a, "b": b, "s": abs(a)}
        for name, code in LARGE.items():
            work[f"{name}, {size:,}"] = code, LARGE_NUMPY[name], arrays
    square = {"a": np.random.randn(1000, 1000).astype("f")}
    work["softmax, 1000×1000"] = "a.softmax(1)", None, square
    half = dict(zip("ab", np.random.randn(2, 512, 512).astype("f")))
    work["matmul, 512×512"] = "a @ b", "a @ b", half
    work |= {name: rest for name, *rest in [*_matrices(), *_signals()]}
    times = {}
    for name, (code, by_hand, arrays) in work.items():
        with lib.inference_mode(), torch.inference_mode():
            statements = {"numpy": (by_hand, arrays | {"np": np})} if by_hand else {}
            for library, key in ((lib, "imode"), (torch, "torch")):
                made = {k: library.from_numpy(v).clone() for k, v in arrays.items()}
                statements[key] = code, made | {"lib": library}
            times[name] = best(statements, rounds=11, shot=4e-3)
    return times


# ---- import time and size ----

CLOCK = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def imports(rounds=15):
    """Return {"imode": seconds, "numpy": ..., "torch": ...} of an import in a new process."""
    least = {}
    # Compiled Python files are kept, as they are where a package is installed.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for i in range(rounds + 1):
        for name in ("numpy", "imode", "torch"):
            if name == "torch" and i > 4:
                continue
            done = subprocess.run(
                [sys.executable, "-c", CLOCK.format(name)], capture_output=True, text=True,
                cwd=ROOT, env=env, check=True,
            )  # fmt: skip
            if i:  # the first run compiles
                least[name] = min(least.get(name, 1e9), float(done.stdout))
    return least


def wheel_megabytes():
    """Build the wheel with what is installed here; return its size in MB."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
             "--wheel-dir", folder, str(ROOT)], check=True,
        )  # fmt: skip
        return max(p.stat().st_size for p in Path(folder).glob("imode-*.whl")) / 1e6


def all_figures(small, recorded, programs_, origins_, large_, imports_, wheel, profiled_):
    """Return the Figures, from what the functions above measured."""
    torch_small, numpy_small = ratio(small, "torch"), ratio(small, "numpy")
    found = []
    for what, of, mean, least in (
        ("basic operators", rows.BASIC, 10, 3),
        (
            "of decompositions, signals, sequences, networks, statistics, bfloat16",
            rows.SPECIAL,
            5,
            2,
        ),
    ):
        those = {name: value for name, value in torch_small.items() if name in of}
        slowest = min(those, key=those.get)
        text = f"{len(those)} {what} on 4 elements, inference mode: PyTorch / imode, geometric mean"
        found.append(Figure(text, geometric_mean(those.values()), mean))
        found.append(Figure(f"same, the slowest operator ({slowest})", those[slowest], least))
    found += [
        Figure("all of them, NumPy / imode, geometric mean",
               geometric_mean(numpy_small.values()), 3),
        Figure(
            f"{len(recorded)} of them recorded: PyTorch / imode, geometric mean",
            geometric_mean(ratio(recorded, "torch").values()), 5),
    ]  # fmt: skip
    found += [Figure(k, v, TARGETS[k]) for k, v in ratio(programs_, "torch").items()]
    named = [t["with"] / t["without"] for t in origins_.values()]
    found.append(
        Figure("inference mode with / without naming what made a tensor", max(named), 1.2, True)
    )
    found.append(
        Figure("import imode / import numpy", imports_["imode"] / imports_["numpy"], 1.3, True)
    )
    found += [Figure(k, v, 0.9) for k, v in ratio(large_, "torch").items()]
    more = [(t["on"] - t["empty"] - t["off"]) / 200 * 1e9 for t in profiled_.values()]
    found.append(Figure("a call in a profile, more than without", max(more), 150, True, " ns"))
    if CLEAN_BUILD.exists():
        seconds = float(CLEAN_BUILD.read_text())
        found.append(Figure("a clean build, CPU time: the last one here", seconds, 130, True, " s"))
    return found + ([Figure("compiled wheel", wheel, 7, True, " MB")] if wheel else [])
