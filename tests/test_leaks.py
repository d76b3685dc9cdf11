"""Nothing is left behind: every operator, forward, recorded, backward and refused, many times.

Counted are blocks of memory, and in a debug build (`make debug`) live tensors, nodes, saved
tensors, version counters and view records. What only the cyclic collector would free counts too.
"""

import contextlib
import gc
import threading
import weakref

import numpy as np
import pytest

import imode
from tests.live import DEBUG_BUILD, grown, live, unfrozen  # noqa: F401
from tests.operators import OPERATORS, SAMPLES, WORKING, flat, public, writes

REFUSED = [(n, i) for n in SAMPLES if n in OPERATORS for i in range(len(SAMPLES[n]))
           if SAMPLES[n][i].raises is not None]  # fmt: skip


def of_name(cases):
    """Return the cases by operator: one test for all samples of one."""
    found = {}
    for name, index in cases:
        found.setdefault(name, []).append(index)
    return sorted(found.items())


def by_operator(cases):
    return pytest.mark.parametrize(("name", "indices"), of_name(cases), ids=lambda value: (
        value if isinstance(value, str) else ""))  # fmt: skip


def calls(name, indices, recorded):
    """Return a function that calls the operator with each sample, and backward if it is recorded.

    The arguments are made once; what the operator writes to is cloned for each call.
    """
    function = public(name)
    made = [SAMPLES[name][i].make(imode, requires_grad=recorded and SAMPLES[name][i].grad)
            for i in indices]  # fmt: skip

    def work():
        for args, kwargs, leaves in made:
            args = list(args)
            if writes(name):
                args[0] = args[0].clone()
            results = [t for t in flat(function(*args, **kwargs)) if isinstance(t, imode.Tensor)]
            outputs = [t for t in results if recorded and t.requires_grad and t.numel()]
            if name in PHASES:
                outputs = [t for t in outputs if not t.is_complex()]
            if outputs:
                grads = [imode.ones_like(t) for t in outputs]
                imode.autograd.backward(outputs, grads)
                for leaf in leaves:
                    leaf.grad = None

    return work


# Of complex vectors that are determined up to a phase a sum has no gradient.
PHASES = ("linalg_eig", "linalg_eigh", "linalg_svd")


@by_operator(WORKING)
def test_an_operator_leaves_nothing_behind(name, indices):
    imode.manual_seed(0)
    with imode.inference_mode():
        plain = calls(name, indices, False)
        assert not grown(plain)
    recorded = calls(name, indices, True)
    assert not grown(recorded)


@by_operator(REFUSED)
def test_a_refused_call_leaves_nothing_behind(name, indices):
    function = public(name)
    made = [SAMPLES[name][i].make(imode) for i in indices]

    def work():
        for args, kwargs, _ in made:
            args = list(args)
            if writes(name) and isinstance(args[0], imode.Tensor):
                args[0] = args[0].clone()
            with contextlib.suppress(Exception):  # which one, other tests say
                function(*args, **kwargs)

    assert not grown(work)


def bad_calls():
    """Calls that do not bind, or are refused while something is half made."""
    x = imode.ones(3, requires_grad=True)
    with imode.inference_mode():
        inference = imode.ones(3)
    whole = imode.arange(3)
    return {
        "no arguments": lambda: imode.add(),
        "an unknown keyword": lambda: imode.add(x, x, beta=1),
        "no tensor": lambda: imode.mul("a", object()),
        "shapes": lambda: imode.add(imode.ones(2), imode.ones(3)),
        "a dim out of range": lambda: x.sum(5),
        "a list of other things": lambda: imode.cat([x, 1]),
        "a nested list": lambda: imode.tensor([[1, 2], [3]]),
        "a write to a leaf": lambda: x.add_(1),
        "out= that requires grad": lambda: imode.add(x, x, out=x),
        "an inference tensor saved": lambda: x * inference,
        "an inference tensor written": lambda: inference.add_(1),
        "a cast in place": lambda: whole.add_(0.5),
        "an index": lambda: x[7],
        "a mask of another shape": lambda: x[imode.ones(2) > 0],
        "backward without a graph": lambda: imode.ones(1).backward(),
        "backward twice": lambda: [(y := (x * x).sum()).backward(), y.backward()],
        "a saved tensor written": lambda: [
            (y := x * 1), (z := y * y), y.add_(1), z.sum().backward()],
        "a hook that raises": lambda: [
            (y := x * 2), y.register_hook(lambda grad: 1 / 0), y.sum().backward()],
        "a broken __array__": lambda: imode.tensor(Broken()),
    }  # fmt: skip


class Broken:
    def __array__(self, *args, **kwargs):
        raise ValueError("broken")


@pytest.mark.parametrize("what", bad_calls())
def test_an_error_leaves_nothing_behind(what):
    call = bad_calls()[what]

    def work():
        try:
            call()
        except Exception:
            return
        raise AssertionError("not refused")

    assert not grown(work)


def programs():
    """Programs over views, writes, modes, hooks and threads, each leaving nothing."""
    x = imode.ones(4, 4, requires_grad=True)

    def written_views():
        y = x * 1
        y[0].mul_(2)
        y.t()[1].add_(y[2])
        y.sum().backward()
        x.grad = None

    def graphs_never_run():
        y = x
        for _ in range(20):
            y = (y * y + x).tanh()

    def higher_order():
        (g,) = imode.autograd.grad((x**3).sum(), x, create_graph=True)
        imode.autograd.grad(g.sum(), x)

    def modes():
        with imode.inference_mode():
            y = x * 2
            view = x[0]
            y.add_(1)
        with imode.no_grad():
            y = x.view(-1)
        return y.normal() if y.is_inference() else (y.clone(), view)

    def hooks():
        y = x * 2
        handle = y.register_hook(lambda grad: grad * 2)
        y.retain_grad()
        y.sum().backward()
        handle.remove()
        x.grad = None

    def indices():
        x[imode.tensor([0, 2])].sum().backward()
        y = x.detach().clone()
        y[y > 0] = 3.0
        y[1, ...] = imode.zeros(4)
        x.grad = None

    def numpy_and_back():
        a = np.asarray(x.detach())
        y = imode.from_numpy(a)
        np.from_dlpack(y)
        memoryview(y).tolist()
        del a

    def attributes_and_references():
        y = x.clone()
        y.note = [y.shape]
        weakref.ref(y)()
        hash(y), repr(y), y.tolist()

    def threads():
        def work():
            (x.detach() * 2).sum()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    def layers():
        model = imode.nn.Sequential(imode.nn.Linear(4, 3), imode.nn.BatchNorm1d(3), imode.nn.ReLU())
        model(x.detach()).sum().backward()

    return {f.__name__: f for f in (
        written_views, graphs_never_run, higher_order, modes, hooks, indices, numpy_and_back,
        attributes_and_references, threads, layers)}  # fmt: skip


@pytest.mark.parametrize("name", programs())
def test_a_program_leaves_nothing_behind(name):
    assert not grown(programs()[name])


@pytest.mark.skipif(not DEBUG_BUILD, reason="counts objects: needs a debug build (make debug)")
def test_counters_follow_what_is_made_and_freed():
    gc.collect()
    before = live()

    def more():
        return {
            name: count - before[name] for name, count in live().items() if count != before[name]
        }

    x = imode.ones(3, requires_grad=True)
    assert more() == {"tensors": 1}
    y = x.exp()
    # The result, its alias that the node keeps, the node and the leaf's; one version of y.
    assert more() == {"tensors": 3, "nodes": 2, "saved tensors": 1, "version counters": 1}
    view = y[0]
    assert more()["view records"] == 1
    del view, y
    left = more()
    assert left.pop("nodes", 0) <= 1  # the leaf's node may live as long as the leaf
    assert left == {"tensors": 1}
    del x
    assert not more()
    with imode.inference_mode():
        z = imode.ones(3)[1:]
        assert more() == {"tensors": 1}
    del z
    imode.Tensor.__new__(imode.Tensor)
    assert not more()


def test_what_leaks_is_found():
    """The measure itself: a list that grows, a cycle that only the collector frees."""
    kept = []
    assert grown(lambda: kept.append(object()))

    def cycle():
        loop = [imode.ones(1)]
        loop.append(loop)

    assert grown(cycle)
    gc.collect()
