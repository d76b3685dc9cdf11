"""Composites whose calls are noted and repeated do what their functions do: results and graphs.

On every sample, in the normal mode with tensors that require grad, and in inference mode.
"""

import pytest

import imode
from imode._core.dispatch import all_operators
from imode.ops.composites_fast import Replayed, replayed, varies
from tests.samples import load
from tests.test_fast_cases import check_same, described

ALL = all_operators()
SAMPLES = load()
REPLAYED = sorted(
    name
    for name, op in ALL.items()
    if op.is_composite and type(op.entry.kernel) is Replayed and name in SAMPLES
)


def graph(node):
    """The names of the nodes that a node leads to."""
    return node and (node.name(), [graph(after) for after, _ in node.next_functions])


def outcome(op, sample):
    """What a call gives, and the graphs of its results; or what it raises."""
    imode.manual_seed(0)
    args, kwargs, tensors = sample.make(imode)
    for tensor in tensors:
        if not tensor.is_inference() and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_()
    try:
        result = op(*args, **kwargs)
    except Exception as error:
        return [type(error), str(error)]
    results = result if isinstance(result, (tuple, list)) else [result]
    graphs = [graph(each.grad_fn) for each in results if isinstance(each, imode.Tensor)]
    return [described(each.detach()) for each in results] + [str(graphs)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REPLAYED)
def test_replayed_calls_are_those_of_the_function(name):
    op = ALL[name]
    function = replayed(op.entry.kernel.__wrapped__)
    for sample in SAMPLES[name]:
        for mode in (imode.enable_grad, imode.inference_mode):
            with mode():
                before = op._swap_cases(None, function)
                try:
                    found = [outcome(op, sample) for _ in range(4)]
                    op._swap_cases(None, function.__wrapped__)
                    wanted = outcome(op, sample)
                finally:
                    op._swap_cases(*before)
            for each in found:
                check_same(each, wanted, sample)
    plans = [plan for plan in function.plans.values() if plan not in (None, True)]
    assert plans, f"{name}: no sample's calls are repeated"


def counted(function):
    """A replayed function, and the list of the calls that it still gets."""
    calls = []

    def noted(*args):
        calls.append(args)
        return function(*args)

    return replayed(noted), calls


def test_a_function_is_called_twice_for_each_description():
    function, calls = counted(lambda x, n: (x * n).sum(0).unsqueeze(0))
    for n in (2, 2.0, True):
        for _ in range(4):
            assert function(imode.ones(3), n).tolist() == [3.0 * n]
    assert len(calls) == 6
    function(imode.ones(4), 2)
    assert len(calls) == 7


def test_the_same_tensor_twice_is_another_description():
    function, calls = counted(lambda x, y: x - y * 2)
    x, y = imode.ones(2), imode.full((2,), 3.0)
    for _ in range(4):
        assert function(x, x).tolist() == [-1.0, -1.0]
        assert function(x, y).tolist() == [-5.0, -5.0]
    assert len(calls) == 4


def test_a_default_device_runs_the_function_until_it_is_gone():
    function, calls = counted(lambda x: x + imode.ops.zeros((2,)).sum())
    with imode.device("meta"):
        for _ in range(4):
            assert function(imode.ones(2)).is_meta
    assert len(calls) == 4
    for _ in range(4):
        assert function(imode.ones(2)).tolist() == [1.0, 1.0]
    assert len(calls) == 6


def test_what_varies_is_never_repeated():
    def largest(x):
        varies()
        return x * x.max().item()

    function, calls = counted(largest)
    for n in (1.0, 2.0, 3.0, 4.0):
        assert function(imode.full((2,), n)).tolist() == [n * n, n * n]
    assert len(calls) == 4


def test_a_tensor_from_elsewhere_is_never_repeated():
    kept = [imode.ones(2)]
    function, calls = counted(lambda x: x + kept[0])
    for n in (1.0, 2.0, 3.0, 4.0):
        kept[0] = imode.full((2,), n)
        assert function(imode.zeros(2)).tolist() == [n, n]
    assert len(calls) == 4


def test_a_trace_sees_the_same_calls():
    m = imode.randn(3, 4)
    for _ in range(3):
        imode.cov(m)
    with imode.trace_dispatch() as seen:
        imode.cov(m)
    assert [name for name, _ in seen][-1] == "squeeze"
