"""Arguments whose own code runs while a call looks at them, and memory that changes under a kernel.

None of it may end the interpreter, leak, or read and write beyond a tensor.
"""

import gc
import os
import subprocess
import sys
import threading

import pytest

import imode
from imode._core.dispatch import get_operator
from imode.nn import functional as F
from tests.crash import CLASSES
from tests.functions import Exp, make

# ---- code of the arguments ----


class EmptiesItsList:
    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items.clear()
        raise TypeError("no index")


@pytest.mark.parametrize(
    "call",
    [
        lambda x, sizes: x.permute(sizes),
        lambda x, sizes: x.reshape(sizes),
        lambda x, sizes: x.sum(sizes),
        lambda x, sizes: imode.zeros(sizes),
        lambda x, sizes: imode.flip(x, dims=sizes),
    ],
    ids=["permute", "reshape", "sum", "zeros", "flip"],
)
def test_an_element_that_empties_its_list_is_named(call):
    for _ in range(50):
        sizes = []
        # The class dies with its only instance, which nothing but the list held.
        sizes.append(type("Fleeting", (EmptiesItsList,), {})(sizes))
        with pytest.raises(TypeError, match=r"Fleeting|got \(.*list\)"):
            call(imode.ones(2, 3), sizes)


class NoInteger:
    """Its __index__ gives something that is none, which must not be taken for one."""

    def __index__(self):
        return "text"


class Counted:
    """Its code runs Python, where an error that was left pending would show."""

    def __index__(self):
        return len(gc.get_objects()) * 0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.transpose(NoInteger(), Counted()),
        lambda x: x.sum([NoInteger(), Counted()]),
        lambda x: x.vsplit([NoInteger(), Counted()]),
        lambda x: x.topk(NoInteger(), Counted()),
        lambda x: imode.zeros(NoInteger(), Counted()),
        lambda x: imode.Size([NoInteger(), Counted()]),
    ],
    ids=["transpose", "sum", "vsplit", "topk", "zeros", "Size"],
)
def test_an_index_that_gives_no_integer_is_a_type_error(call):
    with pytest.raises(TypeError):
        call(imode.ones(2, 2))


def test_numbers_of_subclasses_are_plain_numbers_to_the_kernels():
    class Loud(float):
        def __float__(self):
            raise AssertionError("called")

    class LoudInt(int):
        def __int__(self):
            raise AssertionError("called")

        __index__ = __float__ = __int__

    x = imode.ones(2)
    assert (x + Loud(1.5)).tolist() == imode.add(x, Loud(1.5)).tolist() == [2.5, 2.5]
    assert (x * LoudInt(2)).tolist() == imode.mul(x, LoudInt(2)).tolist() == [2, 2]
    assert imode.full((2,), Loud(1.5)).tolist() == [1.5, 1.5]
    assert imode.add(x, x, alpha=LoudInt(2)).tolist() == [3, 3]
    assert x.clamp(Loud(2.0)).tolist() == [2, 2]


def test_what_was_converted_before_an_argument_is_refused_is_let_go():
    x = imode.ones(2)
    before = sys.getrefcount(x)
    for _ in range(10):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            imode.cat([x, x], 1 << 70)
        with pytest.raises(TypeError):
            imode.cat([x, None])
    assert sys.getrefcount(x) == before


# ---- calls that leave out what a kernel writes to ----


@pytest.mark.parametrize("name", ["tanh.out", "mul.out", "sum.dim_out", "max.dim_out"])
def test_an_out_operator_without_out_is_refused(name):
    op = get_operator(name)
    arguments = [imode.ones(2, 2), *[0] * (op.n_required - 1)]
    keys = arguments[0].key_set()
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'out'"):
        op(*arguments)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'out'"):
        op.redispatch(keys, *arguments)


def test_redispatch_writes_to_out():
    out = imode.zeros(2)
    x = imode.ones(2)
    assert get_operator("neg").redispatch(x.key_set(), x, out=out) is out
    assert out.tolist() == [-1, -1]


def test_a_number_cannot_be_written_to():
    with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not int"):
        imode.mul_(2, imode.ones(2))


# ---- indices that change after they were checked ----


def _pooled(x):
    return F.max_pool2d(x.view(1, 1, 2, 4), 2, return_indices=True)


@pytest.mark.parametrize(
    ("shape", "function"),
    [
        ((8,), lambda x, at: x.gather(0, at)),
        ((8,), lambda x, at: x[at]),
        ((8,), lambda x, at: x.take(at)),
        ((8,), lambda x, at: x.index_select(0, at)),
        ((8,), lambda x, at: x.index_put((at,), x[:2])),
        ((8,), lambda x, at: x.index_add(0, at, x[:2])),
        ((8,), lambda x, at: x.scatter(0, at, x[:2])),
        ((8,), lambda x, at: x.scatter_add(0, at, x[:2])),
        ((8, 2), lambda x, at: F.embedding(at, x)),
        ((2, 4), lambda x, at: F.nll_loss(x, at)),
        ((2, 4), lambda x, at: F.cross_entropy(x, at)),
    ],
)
def test_saved_indices_that_numpy_changed_are_refused_in_backward(shape, function):
    x = imode.ones(shape, requires_grad=True)
    at = imode.tensor([0, 1])
    y = function(x, at)
    at.numpy()[0] = 10**9
    with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"):
        y.sum().backward()


@pytest.mark.parametrize(
    "function",
    [_pooled, lambda x: x.sort(), lambda x: x.topk(2), lambda x: x.max(0), lambda x: x.cummax(0)],
    ids=["max_pool2d", "sort", "topk", "max", "cummax"],
)
def test_indices_of_results_that_numpy_changed_are_refused_in_backward(function):
    x = imode.rand(8, requires_grad=True)
    y, at = function(x)
    at.numpy()[...] = 10**9
    with pytest.raises((IndexError, RuntimeError), match=r"out of|outside of"):
        y.sum().backward()


# ---- code that works on the graph that runs it ----


class Once:
    """Runs a function the first time that it is called."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        function, self.function = self.function, lambda: None
        function()
        return args[0] if args else None


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.exp(), 2 * 7.389056),
        (lambda x: x * x, "a second time"),
        (lambda x: imode.cdist(x.view(1, 1), imode.zeros(1, 1))[0, 0], "a second time"),
        (lambda x: Exp.apply(x), 2 * 7.389056),
    ],
    ids=["exp", "mul", "cdist", "custom"],
)
def test_an_unpack_hook_runs_the_graph_whose_tensor_it_unpacks(function, expected):
    x = imode.tensor(2.0, requires_grad=True)
    unpack = Once(lambda: y.backward())
    with imode.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = function(x)
    if isinstance(expected, str):  # what the hook's backward has freed is needed further on
        with pytest.raises(RuntimeError, match=expected):
            y.backward()
    else:
        y.backward()
        assert x.grad.item() == pytest.approx(expected)


def test_what_a_node_lets_go_may_look_at_the_node():
    class Last:
        def __del__(self):
            node.maybe_clear_saved_tensors()
            with pytest.raises(RuntimeError, match="a second time"):
                node.saved_tensors  # noqa: B018
            seen.append(node)

    def forward(ctx, x):
        kept = x * 1
        kept.last = Last()
        ctx.save_for_backward(kept, x)
        return x * 2

    seen = []
    y = make(forward, lambda ctx, grad: grad).apply(imode.ones(2, requires_grad=True))
    node = y.grad_fn
    other = node._raw_saved_tensors[1]
    y.sum().backward()
    assert seen == [node]
    with pytest.raises(RuntimeError, match="a second time"):
        other.unpack()


def test_what_a_tensor_lets_go_may_look_at_the_tensor():
    class Last:
        def __del__(self):
            seen.append(y.output_nr)
            y.backward(imode.ones(3))

    def forward(ctx, x):
        nonlocal y
        with imode.enable_grad():
            y = imode.ones(9, requires_grad=True).view(3, 3).unbind()[2]
        y.grad_fn.metadata["last"] = Last()
        return y

    y, seen = None, []
    x = imode.ones(3, requires_grad=True)
    make(forward, lambda ctx, grad: grad).apply(x)
    assert seen == [0] and x.grad.tolist() == [1, 1, 1]


def test_an_edge_may_give_another_node_each_time():
    class Edge(imode.autograd.graph.GradientEdge):
        node = property(lambda self: give())

    edge = Edge(None, 0)
    give = lambda: imode.ones(1, 1, 1, 1, 1, requires_grad=True).exp().grad_fn
    imode.autograd.backward(edge)
    imode.autograd.backward(edge, imode.ones(1, 1, 1, 1, 1))
    give = iter([imode.ones(1, requires_grad=True).exp().grad_fn, 5]).__next__
    with pytest.raises(RuntimeError, match=r"must be an autograd\.graph\.Node but got int"):
        imode.autograd.backward(edge, imode.ones(1))


def test_a_tensor_that_requires_grad_too_late_is_refused():
    class Edge(imode.autograd.graph.GradientEdge):
        node = property(lambda self: late.requires_grad_().exp().grad_fn)

    late = imode.ones(())
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        imode.autograd.backward([late, Edge(None, 0)])


def test_nodes_that_say_they_are_equal_are_still_two():
    x = imode.ones(2, requires_grad=True)
    One = make(lambda ctx, x: x.clone(), lambda ctx, grad: grad)
    Three = make(lambda ctx, x: (x.clone(), x.clone(), x.clone()), lambda ctx, *grads: grads[0])
    for function in (One, Three):
        function._backward_cls.__eq__ = lambda self, other: True
        function._backward_cls.__hash__ = lambda self: 7
    y, z = One.apply(x), Three.apply(x)
    assert imode.autograd.grad(y, z[2], imode.ones(2), allow_unused=True) == (None,)


def test_a_custom_function_that_was_not_recorded_has_no_edges_to_fill():
    contexts = []
    forward = lambda ctx, *xs: contexts.append(ctx) or xs[0] * 1
    function = make(forward, lambda ctx: (imode.ones(3),) * 6)
    with imode.no_grad():
        function.apply(*[imode.ones(3, requires_grad=True) for _ in range(6)])
    with pytest.raises(TypeError, match="'MadeBackward' object is not callable"):
        contexts[0]()


# ---- anything, anywhere ----


@pytest.mark.parametrize("name", CLASSES)
def test_methods_of_compiled_classes_check_their_self(name):
    for key, value in vars(CLASSES[name]).items():
        bound = type(value).__name__ == "cython_function_or_method"
        assert not bound or "." not in value.__qualname__, f"{key}: say @cython.binding(False)"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs in forked processes")
def test_no_random_call_ends_the_process():
    command = [sys.executable, "-W", "ignore", "-m", "tests.crash", "--seconds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- long chains ----


def _attributes(last):
    last.next = made = imode.ones(1)
    return made


def _gradients(last):
    last.grad = made = imode.ones(1, requires_grad=True)
    return made


@pytest.mark.parametrize("add", [_attributes, _gradients], ids=["attributes", "grad"])
def test_a_long_chain_of_tensors_can_be_freed(add):
    first = last = imode.ones(1, requires_grad=True)
    for _ in range(200_000):
        last = add(last)
    del first
    assert not hasattr(last, "next") and last.grad is None


# ---- memory that other threads replace ----


def test_memory_is_held_while_a_kernel_runs_without_the_gil():
    n = 100_000
    x, at = imode.ones(n), imode.zeros(n, dtype=imode.int64)
    kernels = [
        lambda: x * x,
        lambda: x.add_(1),
        lambda: imode.lerp(x, x, 0.5),
        lambda: x > 0,
        lambda: x.gather(0, at),
        lambda: x.index_select(0, at),
        lambda: x.sum(),
        lambda: x.softmax(0),
    ]
    done = threading.Event()

    def work():
        try:
            for _ in range(12):
                for kernel in kernels:
                    kernel()
        finally:
            done.set()

    def replace():
        while not done.is_set():
            x.data = imode.ones(n)
            x.set_(imode.ones(n))
            at.data = imode.zeros(n, dtype=imode.int64)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=target) for target in (work, work, replace)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert (x >= 1).all()


def test_memory_is_held_while_a_generator_is_waited_for():
    x = imode.ones(4000)
    draws = [lambda: x.uniform_(), lambda: x.exponential_(), lambda: imode.poisson(x)]
    draws += [lambda: imode.multinomial(x.view(100, 40), 3)]
    done = threading.Event()

    def work():
        try:
            for i in range(1500):
                draws[i % 4]()
        finally:
            done.set()

    def hold():  # the default generator, without the GIL
        while not done.is_set():
            imode.rand(200_000)

    def replace():
        while not done.is_set():
            x.data = imode.ones(4000)
            x.set_(imode.ones(4000))

    threads = [threading.Thread(target=target) for target in (work, hold, replace)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (x >= 0).any()


# ---- memory that is not there ----

SHORT_OF_MEMORY = """
import imode, resource
x = imode.zeros(1, 20_000_000, dtype=imode.float16)    # to be divided, a row is copied to float32
functions = [imode.softmax, imode.log_softmax, imode.logsumexp]
for function in functions:
    function(x[:, :1000], 1)
have = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (have + (100 << 20),) * 2)
for function in functions:
    try:
        function(x, 1)
        print("enough")
    except MemoryError:
        print(function.__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process on Linux")
def test_a_row_that_finds_no_memory_for_its_copy_raises():
    done = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True)
    assert done.stdout.split() == ["softmax", "log_softmax", "enough"], done.stderr
