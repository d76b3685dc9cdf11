"""Random arguments to every operator, random tensors where hooks may put them, hooks that work on
the graph that runs them, NumPy's arrays of every dtype and layout wherever data is taken, instances
of compiled classes that only `__new__` made, methods called on what has not their class: no crash.

    python -m tests.crash --seconds 60 --seed 0

Everything runs in forked processes. Errors are what most calls give; a process that ends by a
signal is printed with the call that ended it, and the exit status is then 1.
"""

import argparse
import contextlib
import gc
import importlib
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
import warnings

import imode
from imode._core.dispatch import all_operators
from tests.foreign import ARRAYS, WAYS
from tests.operators import WORKING, call

SHAPES = [(), (1,), (2,), (5,), (0,), (2, 3), (3, 2), (1, 3), (2, 0), (2, 3, 4), (3, 3, 3)]
SHAPES += [(1, 1, 4, 4), (2, 3, 5, 5), (3, 2, 2, 2), (2, 2, 2, 2, 2)]
DTYPES = [imode.float32] * 5 + [imode.float64, imode.float16, imode.complex64]
DTYPES += [imode.int64] * 2 + [imode.int32, imode.uint8, imode.bool]
DTYPES += [imode.bfloat16, imode.bfloat16, imode.uint16, imode.uint64, imode.float8_e5m2]
NUMBERS = [0, 1, 2.5, -3, 1j, True, 1e30, float("nan"), 10**12]
INTS = [0, 1, -1, 2, -2, 3, 5, -100, 2**40, -(2**62)]
WORDS = ["mean", "sum", "none", "same", "linear", "amax", "x"]
ALIVE_S = 100  # seconds after which a process counts as hung


# ---- compiled classes ----


def compiled_classes():
    """Return the package's compiled classes, and what derives from those of nodes, by name."""
    for module in pkgutil.walk_packages(imode.__path__, "imode."):
        importlib.import_module(module.name)
    node = type((imode.ones(1, requires_grad=True) * 1).grad_fn)  # has a class once it is seen
    found, left = {}, [object]
    while left:
        cls = left.pop()
        left += type.__subclasses__(cls)
        heap = cls.__flags__ & 1 << 9 and not issubclass(cls, node.__mro__[-2])
        if not heap and (str(cls.__module__).startswith("imode") or cls is node):
            found[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return found


def attempt(function, *args):
    """Return what a call gives, None where it raises."""
    try:
        return function(*args)
    except SystemError:
        raise  # a function that broke the rules of the interpreter
    except Exception:
        return None


CLASSES = compiled_classes()
ODD = [(), (5,), (None,), (imode.ones(1),), (5, 5), ("name",), (None, None), (None,) * 3]


def try_attribute(cls_name, name, rng):
    """Use an attribute of what is not as its class makes it: empty, or of another class."""
    cls = CLASSES[cls_name]
    for odd in ODD:
        for wrong in (5, None, object(), imode.ones(1)):
            attempt(getattr(cls, name), wrong, *odd)
        for make in (cls, lambda: cls.__new__(cls)):
            made = attempt(make)
            repr(attempt(getattr, made, name))
            attempt(lambda: getattr(attempt(make), name)(*odd))  # noqa: B023
            attempt(setattr, attempt(make), name, *odd[:1])
            attempt(delattr, made, name)


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
    """A value for a Kind: mostly one that it accepts."""
    name = kind.name
    if rng.random() < 0.01:
        cls = rng.choice(list(CLASSES.values()))
        return attempt(cls.__new__, cls)
    if name.endswith("_OPT") and rng.random() < 0.3:
        return None
    make = {
        "TENSOR": lambda: tensor(rng, shapes),
        "TENSOR_LIST": lambda: [tensor(rng, shapes) for _ in range(rng.randrange(4))],
        "OPERAND": lambda: rng.choice([tensor(rng, shapes)] * 2 + [rng.choice(NUMBERS)]),
        "SCALAR": lambda: rng.choice(NUMBERS),
        "INT": lambda: rng.choice(INTS),
        "INTS": lambda: sizes(rng),
        "FLOAT": lambda: rng.uniform(-2, 2),
        "BOOL": lambda: rng.random() < 0.5,
        "STR": lambda: rng.choice(WORDS),
        "DTYPE": lambda: rng.choice(DTYPES),
        "DEVICE": lambda: None,
        "GENERATOR": lambda: None,
        "ANY": lambda: rng.choice([None, 0, True, (0,), (0, 1), "mean", imode.float32]),
    }
    return make[name.removesuffix("_OPT")]()


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


def try_foreign(way, name, rng):
    """Take an array in, and use what comes of it."""
    made = WAYS[way](imode, ARRAYS[name]())
    if isinstance(made, imode.Tensor):
        str((made + made).sum().item())


class Acts:
    """A hook that does something to the graph, whatever it is called for."""

    def __init__(self, rng):
        self.rng, self.left, self.tensors, self.nodes = rng, 8, [], []

    def __call__(self, *given):
        if self.left and self.tensors and self.nodes:
            self.left -= 1
            tensor, node = self.rng.choice(self.tensors), self.rng.choice(self.nodes)
            with contextlib.suppress(Exception):  # of what has been freed or written to
                self.rng.choice(DEEDS)(self, tensor, node)
        return given[0] if given and self.rng.random() < 0.7 else None


class ActsLast:
    """What holds it is let go: that does something to the graph."""

    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


class Passes(imode.autograd.Function):
    """Gives its input back, through what it saved and a context that all can reach."""

    @staticmethod
    def forward(ctx, x, act):
        kept = x * 1
        kept.last, ctx.act = ActsLast(act), act
        act.nodes.append(ctx)
        ctx.save_for_backward(kept, x)
        result = x.clone()
        act()
        return result

    @staticmethod
    def backward(ctx, grad):
        ctx.act()
        return grad + 0 * ctx.saved_tensors[1], None


def look(act, tensor, node):
    """Read everything that a node shows, and change the hooks of what it has saved."""
    for name in dir(node):
        value = getattr(node, name) if name.startswith(("_saved", "_raw", "saved")) else None
        for saved in value if isinstance(value, tuple) else [value]:
            if name.startswith("_raw") and act.rng.random() < 0.5:
                saved.register_hooks(act, act)
            elif name.startswith("_raw"):
                saved.unpack()


def run_again(retain):
    def deed(act, tensor, node):
        with imode.enable_grad():
            tensor.abs().sum().backward(retain_graph=retain)

    return deed


DEEDS = [
    *(run_again(True), run_again(False), run_again(False), look, look),
    lambda act, tensor, node: node.maybe_clear_saved_tensors(),
    lambda act, tensor, node: act.tensors.remove(tensor),
    lambda act, tensor, node: act.nodes.remove(node),
    lambda act, tensor, node: (act.tensors.clear(), act.nodes.clear()),
    lambda act, tensor, node: tensor.detach().mul_(2),
    lambda act, tensor, node: tensor.detach_(),
    lambda act, tensor, node: tensor.mul_(2),
    lambda act, tensor, node: tensor.zero_(),
    lambda act, tensor, node: tensor.requires_grad_(False),
    lambda act, tensor, node: setattr(tensor, "data", imode.ones(3)),
    lambda act, tensor, node: setattr(tensor, "grad", None),
    lambda act, tensor, node: tensor.register_hook(act),
    lambda act, tensor, node: node.register_hook(act).remove(),
    lambda act, tensor, node: node.register_prehook(act),
    lambda act, tensor, node: node(*[imode.ones(2)] * len(node._input_metadata)),
    lambda act, tensor, node: node.metadata.update(last=ActsLast(act)),
    lambda act, tensor, node: imode.autograd.grad(tensor, act.tensors, allow_unused=True),
    lambda act, tensor, node: imode.autograd.backward([imode.autograd.graph.GradientEdge(node, 0)]),
    lambda act, tensor, node: gc.collect(),
    lambda act, tensor, node: 1 / 0,
]


def try_hooks(name, index, rng):
    """Run a sample with hooks everywhere that work on its own graph while that runs."""
    act = Acts(rng)
    with imode.autograd.graph.saved_tensors_hooks(lambda t: (act(), t)[1], lambda t: (act(), t)[1]):
        results = call(name, index, requires_grad=True)[0]
        results = [t * 2 for t in results if isinstance(t, imode.Tensor) and t.requires_grad]
        results = [Passes.apply(t, act) for t in results] + results
    act.tensors += results
    found = [t.grad_fn for t in results]
    while found:
        node = found.pop()
        act.nodes.append(node)
        found += [below for below, _ in node.next_functions if below is not None]
        node.register_prehook(act)
        node.register_hook(lambda *given: act())
        node.metadata["last"] = ActsLast(act)
        if hasattr(node, "variable"):
            act.tensors.append(node.variable)
            node.variable.register_post_accumulate_grad_hook(lambda tensor: act())
    for tensor in results:
        tensor.register_hook(act)
        tensor.last = ActsLast(act)
    for number in range(3):
        act.left = 8
        with contextlib.suppress(Exception):
            backward(results[number:])


def cases():
    """Every case as (function, arguments)."""
    found = [(try_operator, (name,)) for name in all_operators() if name != "seed"]
    found += [(try_graph, case) for case in WORKING]
    found += [(try_hooks, case) for case in {name: (name, i) for name, i in WORKING}.values()]
    found += [(try_foreign, (way, name)) for way in WAYS for name in ARRAYS]
    for name, cls in CLASSES.items():
        attributes = {key for base in cls.__mro__ for key in vars(base)}
        found += [(try_attribute, (name, key)) for key in sorted(attributes)]
    return found


# ---- processes ----


def run(part, seed, place):
    """Run cases in this process, which ends with it; `place` is told which one is on."""
    warnings.simplefilter("ignore")
    gc.freeze()  # a collection looks at what is made from here on
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
