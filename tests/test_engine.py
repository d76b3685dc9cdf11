"""The engine: order, what runs, what is returned, checks, nesting, anomaly mode."""

import contextlib
import sys
import warnings
import weakref

import pytest

import imode
from imode.autograd import detect_anomaly, grad, set_detect_anomaly
from imode.autograd.graph import get_gradient_edge


def leaf(*values):
    return imode.tensor(values or (1.0, 2.0), requires_grad=True)


def watch(tensor, name, log):
    tensor.grad_fn.register_prehook(lambda grads: log.append(name))
    return tensor


# ---- order ----


def test_newest_first_among_what_is_ready():
    log = []
    x = leaf()
    a = watch(x * 2, "a", log)
    b = watch(x * 3, "b", log)
    c = watch(a * 5, "c", log)
    watch(b + c, "d", log).sum().backward()
    assert log == ["d", "c", "b", "a"]


def test_leaves_that_become_ready_together_run_in_the_order_of_the_edges():
    log = []
    leaves = [leaf() for _ in range(9)]
    for i, x in enumerate(leaves):
        x.register_hook(lambda grad, i=i: log.append(i))
    imode.cat(leaves).sum().backward()
    assert log == [0, 2, 6, 8, 5, 7, 4, 1, 3]  # as the C++ library's heap has it


def test_a_root_that_lies_behind_another_one():
    x = leaf()
    y = x * 2
    z = y * 3
    imode.autograd.backward([z, y, z], [imode.ones(2)] * 3)
    assert x.grad.tolist() == [14, 14]


def test_sequence_number_decides():
    log = []
    x = leaf()
    a, b = watch(x * 2, "a", log), watch(x * 3, "b", log)
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 10)
    (a + b).sum().backward()
    assert log == ["a", "b"]


# ---- what runs ----


def test_only_the_way_to_the_inputs_is_computed():
    log = []
    x, y = leaf(), leaf()
    a, b = watch(x * 2, "a", log), watch(y * 3, "b", log)
    z = a * b
    z.grad_fn.register_hook(lambda given, _: log.append([g is not None for g in given]))
    assert grad(z.sum(), x)[0].tolist() == [12 / 2 * 1, 12 * 1]
    assert log == [[True, False], "a"]


def test_inputs_of_backward_that_are_no_leaves_retain_their_gradient():
    x = leaf()
    y = x * 2
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    assert y.retains_grad and y.grad.tolist() == [4, 8] and x.grad is None
    z.backward(inputs=y, retain_graph=True)
    assert y.grad.tolist() == [8, 16]


def test_a_node_without_gradients_runs_its_hooks():
    log = []
    x = leaf()
    first, second = x.unbind()
    second.register_hook(lambda grad: log.append(grad))
    first.backward()
    assert log == [None]
    assert x.grad.tolist() == [1, 0]


def test_a_leaf_that_no_longer_requires_grad_gets_none():
    x = leaf()
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None


def test_edges_stand_for_tensors():
    x = leaf()
    y = x * 2
    edge = get_gradient_edge(y)
    assert grad((y * y).sum(), edge)[0].tolist() == [4, 8]
    assert grad(edge, x, imode.ones(2), retain_graph=True)[0].tolist() == [2, 2]
    y.sum().backward(inputs=[get_gradient_edge(x)], retain_graph=True)
    assert x.grad.tolist() == [2, 2]
    imode.autograd.backward(get_gradient_edge(y.sum()), retain_graph=True)
    assert x.grad.tolist() == [4, 4]
    with pytest.raises(RuntimeError, match=r"materialize_grads cannot be used"):
        grad(y.sum(), get_gradient_edge(leaf()), materialize_grads=True)
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of .*\[3\]"):
        grad(edge, x, imode.ones(3))
    with pytest.raises(RuntimeError, match="has no result 5"):
        grad(edge._replace(output_nr=5), x)


# ---- checks ----


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: imode.autograd.backward(None), TypeError, "not iterable"),
        (lambda x: imode.autograd.backward([3]), AssertionError, "Expected output to be"),
        (lambda x: (x * 2).backward(), RuntimeError, "only for scalar outputs"),
        (lambda x: (x * 2).backward(imode.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: (x * 2).backward([3]), TypeError, "can be either Tensors or None, but got int"),
        (lambda x: (x * 2).backward(imode.ones(2) * 1j), RuntimeError, "For complex Tensors, both"),
        (
            lambda x: imode.autograd.backward([x * 2, x * 3], imode.ones(2)),
            RuntimeError,
            "got 2 tensors and 1 gradients",
        ),
        (
            lambda x: x.sum().backward(inputs=[]),
            RuntimeError,
            r"`inputs` argument to `backward\(\)",
        ),
        (lambda x: x.sum().backward(inputs=[3]), RuntimeError, "Tensors or GradientEdges, but got"),
        (lambda x: x.sum().backward(inputs=imode.ones(1)), RuntimeError, "can't retain_grad"),
        (lambda x: grad(x.sum(), []), RuntimeError, r"`inputs` argument to `grad\(\)`"),
        (lambda x: grad(x.sum(), 3), TypeError, "not iterable"),
        (lambda x: grad(x.sum(), imode.ones(1)), RuntimeError, "does not require grad"),
        (lambda x: grad(x.sum(), leaf()), RuntimeError, "appears to not have been used"),
        (lambda x: grad(x.sum(), x, is_grads_batched=True), ValueError, "dimensionality 0"),
        (
            lambda x: grad(x.sum(), x, materialize_grads=True, allow_unused=False),
            ValueError,
            "Expected allow_unused to be True",
        ),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(leaf())


def test_deprecated_arguments_warn():
    x = leaf()
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        grad(x.sum(), x, only_inputs=False)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        imode.autograd.backward(x * 2, grad_variables=imode.ones(2))
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        imode.autograd.backward(x * 2, imode.ones(2), grad_variables=imode.ones(2))


def test_a_given_gradient_is_never_taken_as_grad():
    x = leaf()
    given = imode.ones(2)
    imode.autograd.backward(x, given)
    given.mul_(5)
    assert x.grad.tolist() == [1, 1]


def test_the_only_owner_of_a_gradient_gives_its_buffer():
    x = leaf()
    seen = []
    # post hooks hold what the leaf was given, which does not count
    (x * 2).grad_fn.next_functions[0][0].register_hook(lambda _, given: seen.append(given[0]))
    node = get_gradient_edge(x).node
    node.register_hook(lambda _, given: seen.append(given[0].data_ptr()))
    (x * x).sum().backward()
    assert seen[-1] == x.grad.data_ptr()


def test_gradients_add_up_in_place_without_create_graph():
    x = leaf()
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first and x.grad.requires_grad


# ---- nesting ----


def test_ten_thousand_levels_of_backward_within_backward():
    depth = 0
    limit = sys.getrecursionlimit()

    def nest(grad):
        nonlocal depth
        depth += 1
        if depth < 10_000:
            with imode.enable_grad():
                y = imode.ones(1, requires_grad=True) * 2
                y.register_hook(nest)
                y.sum().backward()

    y = leaf() * 2
    y.register_hook(nest)
    y.sum().backward()
    assert depth == 10_000
    assert sys.getrecursionlimit() == limit


def test_deep_levels_see_the_state_of_the_thread_and_hand_errors_back():
    states = []

    def nest(left):
        states.append(imode.is_grad_enabled())
        if not left:
            raise KeyError("deep")
        with imode.enable_grad():
            y = imode.ones(1, requires_grad=True) * 2
            total = y.sum()
        y.register_hook(lambda grad: nest(left - 1))
        total.backward()

    with imode.enable_grad(), pytest.raises(KeyError, match="deep"):
        nest(150)
    assert states == [True] + [False] * 150
    assert imode.is_grad_enabled()


def test_a_hook_that_changes_the_grad_mode_changes_it_for_itself():
    modes = []
    x = leaf()
    y = x * 2
    z = y * 3
    z.register_hook(lambda grad: imode.set_grad_enabled(True) and None)
    y.register_hook(lambda grad: modes.append(imode.is_grad_enabled()))
    z.sum().backward()
    assert modes == [False] and imode.is_grad_enabled()


def test_backward_on_the_same_graph_from_a_hook():
    x = leaf()
    y = x * x
    total = y.sum()
    calls = []

    def again(grad):
        if len(calls) < 3:
            calls.append(1)
            total.backward(retain_graph=True)

    y.register_hook(again)
    total.backward(retain_graph=True)
    assert x.grad.tolist() == [8, 16] and len(calls) == 3


def test_multithreading_switch_is_accepted():
    assert imode.autograd.is_multithreading_enabled()
    with imode.autograd.set_multithreading_enabled(False):
        assert not imode.autograd.is_multithreading_enabled()
    assert imode.autograd.is_multithreading_enabled()


# ---- anomaly mode ----


@pytest.fixture
def anomaly():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with detect_anomaly():
            yield caught


def test_nan_is_found(anomaly):
    x = leaf(0.0)
    y = imode.sqrt(x) * 0  # the line that the message names
    with pytest.raises(RuntimeError) as info:
        y.sum().backward()
    assert str(info.value) == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert "the line that the message names" in info.value.__notes__[0]
    text = str(anomaly[-1].message)
    assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused")
    assert "the line that the message names" in text


def test_nan_is_found_only_when_asked():
    x = leaf(0.0)
    before = imode.is_anomaly_enabled()
    with set_detect_anomaly(True, check_nan=False):
        assert imode.is_anomaly_enabled() and not imode.is_anomaly_check_nan_enabled()
        (imode.sqrt(x) * 0).sum().backward()
    assert x.grad.isnan().all() and imode.is_anomaly_enabled() is before


def test_errors_in_a_derivative_carry_the_line(anomaly):
    x = leaf()
    y = x * x  # here
    x.data.mul_(2)
    x.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError) as info:
        y.sum().backward()
    assert info.value.__notes__[0].startswith("torch::autograd::AccumulateGrad was recorded here")


def test_interrupted_while_a_line_is_noted(anomaly, monkeypatch):
    for made in range(2):  # the leaf's node after the operator's
        lines = iter([[]] * made)
        monkeypatch.setattr("traceback.format_stack", lambda frame, lines=lines: next(lines))
        x = leaf()
        with pytest.raises(StopIteration):
            x * 2
        monkeypatch.undo()
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]


def test_without_the_forward_pass_the_message_says_so():
    y = imode.sqrt(leaf(0.0)) * 0
    with pytest.warns(UserWarning) as caught, detect_anomaly(), pytest.raises(RuntimeError):
        y.sum().backward()
    assert "No forward pass information available" in str(caught[-1].message)


def test_second_derivatives_name_both_lines(anomaly):
    x = leaf(0.0)
    y = x.pow(1.5).sum()
    (first,) = grad(y, x, create_graph=True)
    assert first.grad_fn.metadata["parent_"].name() == "PowBackward0"
    with pytest.raises(RuntimeError, match="returned nan values"):
        (first * 0).sum().backward()
    assert any("Previous calculation was induced by" in str(w.message) for w in anomaly)


@pytest.mark.parametrize(
    ("traceback", "parent", "error", "sentence"),
    [
        ([], None, RuntimeError, "returned nan values"),
        (("line",), None, RuntimeError, "returned nan values"),
        ("", None, RuntimeError, "returned nan values"),
        ([], "itself", RuntimeError, "returned nan values"),
        (5, None, TypeError, "can only join an iterable"),
        ([5], None, TypeError, "expected str instance, int found"),
        ([], 5, AttributeError, "'int' object has no attribute 'metadata'"),
        ([], {}, AttributeError, "'dict' object has no attribute 'metadata'"),
    ],
)
def test_metadata_of_other_kinds(anomaly, traceback, parent, error, sentence):
    y = leaf(0.0) * float("nan")
    parent = y.grad_fn if parent == "itself" else parent
    y.grad_fn.metadata.update(traceback_=traceback, parent_=parent)
    with pytest.raises(error, match=sentence):
        y.sum().backward()


def test_metadata_is_empty_when_off():
    assert (leaf() * 2).grad_fn.metadata == {}


# ---- nothing is left behind ----


@pytest.mark.parametrize("fails", [False, True])
def test_tasks_leave_no_references(fails):
    x = leaf()
    y = x * x
    if fails:
        y.register_hook(lambda grad: 1 / 0)
    reference = weakref.ref(y.grad_fn)
    with contextlib.suppress(ZeroDivisionError):
        y.sum().backward()
    del y
    assert reference() is None


def test_gradients_of_a_base_through_a_write_to_its_view():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[1:3] *= 3
    assert grad(y, x, imode.ones(4), retain_graph=True)[0].tolist() == [1, 3, 3, 1]
    y.sum().backward(inputs=[x])
    assert x.grad.tolist() == [1, 3, 3, 1]
