"""Random arguments to every operator, random tensors where hooks may put them: no crash.

    python -m tests.crash --seconds 60 --seed 0

Everything runs in forked processes. Errors are what most calls give; a process that ends by a
signal is printed with the call that ended it, and the exit status is then 1.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings

import imode
from imode._core.dispatch import all_operators
from tests.operators import WORKING, call

SHAPES = [(), (1,), (2,), (5,), (0,), (2, 3), (3, 2), (1, 3), (2, 0), (2, 3, 4), (3, 3, 3)]
SHAPES += [(1, 1, 4, 4), (2, 3, 5, 5), (3, 2, 2, 2), (2, 2, 2, 2, 2)]
DTYPES = [imode.float32] * 5 + [imode.float64, imode.float16, imode.complex64]
DTYPES += [imode.int64] * 2 + [imode.int32, imode.uint8, imode.bool]
NUMBERS = [0, 1, 2.5, -3, 1j, True, 1e30, float("nan"), 10**12]
INTS = [0, 1, -1, 2, -2, 3, 5, -100, 2**40, -(2**62)]
WORDS = ["mean", "sum", "none", "same", "linear", "amax", "x"]
ALIVE_S = 100  # seconds after which a process counts as hung


# ---- arguments ----


def tensor(rng, shapes=SHAPES):
    """A tensor of random shape, dtype, contents and layout."""
    made = (imode.rand(rng.choice(shapes)) * 12 - 3).to(rng.choice(DTYPES))
    layout = rng.random()
    if layout < 0.1 and made.dim() > 1:
        made = made.transpose(0, -1)
    elif layout < 0.2:
        made = made.unsqueeze(-1).expand(*made.shape, 2)
    elif layout < 0.3 and made.dim():
        made = made[rng.choice([slice(1, None), slice(None, None, 2)])]
    if made.is_floating_point() and rng.random() < 0.15:
        made.requires_grad_()
    return made


def sizes(rng):
    return tuple(rng.choice([0, 1, 1, 2, 2, 3, 4, -1, -2, 7]) for _ in range(rng.randrange(5)))


def argument(kind, rng, shapes):
    """A value for a Kind (imode/_core/dispatch.pxd): mostly one that it accepts."""
    one = lambda: tensor(rng, shapes)
    make = [
        *(one, lambda: rng.choice([None, one()]), lambda: [one() for _ in range(rng.randrange(4))]),
        lambda: rng.choice([one(), one(), rng.choice(NUMBERS)]),
        *(lambda: rng.choice(NUMBERS), lambda: rng.choice([None, *NUMBERS])),
        *(lambda: rng.choice(INTS), lambda: rng.choice([None, *INTS])),
        *(lambda: sizes(rng), lambda: rng.choice([None, sizes(rng)])),
        *(lambda: rng.uniform(-2, 2), lambda: rng.choice([None, rng.uniform(-2, 2)])),
        *(lambda: rng.random() < 0.5, lambda: rng.choice([None, True, False])),
        *(lambda: rng.choice(WORDS), lambda: rng.choice([None, *WORDS])),
        *(lambda: rng.choice(DTYPES), lambda: None, lambda: None),
        lambda: rng.choice([None, 0, True, (0,), (0, 1), "mean", imode.float32]),
        lambda: rng.choice(DTYPES),
    ]
    return make[kind]()


# ---- what is tried ----


def backward(results):
    for result in results if isinstance(results, (tuple, list)) else [results]:
        if isinstance(result, imode.Tensor) and result.requires_grad:
            (result.abs() if result.is_complex() else result).sum().backward()


def try_operator(name, rng):
    """Call an operator with random arguments, and backward through what it gives."""
    op = all_operators()[name]
    shapes = rng.sample(SHAPES, rng.choice([1, 1, 2, 3]))
    arguments = [argument(kind, rng, shapes) for kind in op.kinds]
    if rng.random() < 0.3:
        arguments = arguments[: rng.randrange(len(arguments) + 1)]
    with rng.choice([imode.enable_grad, imode.enable_grad, imode.inference_mode])():
        backward(op(*arguments))


def try_graph(name, index, rng):
    """Run a sample with other tensors for the saved ones, or other gradients."""
    other = lambda t: tensor(rng, [*SHAPES, tuple(t.shape)]) if rng.random() < 0.7 else t
    way = rng.randrange(3)
    if way == 0:
        with imode.autograd.graph.saved_tensors_hooks(lambda t: t, other):
            backward(call(name, index, requires_grad=True)[0])
        return
    results = call(name, index, requires_grad=True)[0]
    nodes = [t.grad_fn for t in results if isinstance(t, imode.Tensor) and t.grad_fn is not None]
    for node in nodes:
        if way == 1:
            node.register_prehook(lambda grads: tuple(g if g is None else other(g) for g in grads))
        else:
            node(*[tensor(rng) for _ in range(rng.choice([1, 1, 2]))])
    backward(results)


def cases():
    """Every case as (function, arguments)."""
    found = [(try_operator, (name,)) for name in all_operators() if name != "seed"]
    return found + [(try_graph, case) for case in WORKING]


# ---- processes ----


def run(part, seed, place):
    """Run cases in this process, which ends with it; `place` is told which one is on."""
    warnings.simplefilter("ignore")
    signal.alarm(ALIVE_S)
    for number, (function, arguments) in part:
        rng = random.Random(f"{arguments}{seed}")
        imode.manual_seed(rng.randrange(1 << 30))
        place.seek(0)
        place.write(f"{number:8}")
        place.flush()
        try:
            function(*arguments, rng)
        except SystemError:
            raise  # a function that broke the rules of the interpreter
        except Exception:
            pass
    os._exit(0)


def sweep(seed, size=100):
    """Try every case once; return the calls that ended a process."""
    numbered, ended, start = list(enumerate(cases())), [], 0
    with tempfile.TemporaryFile("w+") as place:
        while start < len(numbered):
            part = numbered[start : start + size]
            child = os.fork()
            if child == 0:
                try:
                    run(part, seed, place)
                finally:
                    os._exit(1)
            _, status = os.waitpid(child, 0)
            start += size
            if status:
                place.seek(0)
                number = int(place.read(8))
                function, arguments = numbered[number][1]
                ended.append((os.waitstatus_to_exitcode(status), function.__name__, arguments))
                start = number + 1
    return ended


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end, seed, ended = time.monotonic() + options.seconds, options.seed, 0
    while seed == options.seed or time.monotonic() < end:
        for status, function, arguments in sweep(seed):
            ended += 1
            print(f"exit status {status}: {function}{arguments}, seed {seed}", flush=True)
        print(f"seed {seed}: {len(cases())} cases, {ended} ended a process so far", flush=True)
        seed += 1
    sys.exit(ended > 0)


if __name__ == "__main__":
    main()
