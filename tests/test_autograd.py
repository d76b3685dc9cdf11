"""Recording and running the graph: gradients, accumulation, hooks, errors, long graphs, threads."""

import gc
import threading
import weakref

import pytest

import imode


def leaf(*values):
    return imode.tensor(list(values), requires_grad=True)


# ---- backward and grad ----


def test_backward_accumulates():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    assert not x.grad.requires_grad


def test_backward_of_several_roots_with_given_gradients():
    x = leaf(1.0, 2.0)
    y, z = x * 2, x * 3
    imode.autograd.backward([y, z], [imode.ones(2), imode.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5.0, 32.0]


def test_grad_returns_and_leaves_no_trace():
    x, y = leaf(3.0), leaf(4.0)
    dx, dy = imode.autograd.grad((x * x * y).sum(), (x, y))
    assert (dx.item(), dy.item()) == (24.0, 9.0)
    assert x.grad is None
    assert y.grad is None


def test_grad_of_a_non_leaf():
    x = leaf(2.0)
    y = x * 3
    (dy,) = imode.autograd.grad((y * y).sum(), y)
    assert dy.item() == 12.0


def test_unused_inputs():
    x, unused = leaf(1.0), leaf(1.0)
    loss = (x * 2).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        imode.autograd.grad(loss, unused, retain_graph=True)
    assert imode.autograd.grad(loss, unused, retain_graph=True, allow_unused=True) == (None,)
    (zeros,) = imode.autograd.grad(loss, unused, materialize_grads=True)
    assert zeros.tolist() == [0.0]


def test_backward_with_inputs_touches_only_them():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 2.0
    assert y.grad is None


def test_create_graph_differentiates_again():
    x = leaf(2.0)
    (first,) = imode.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert first.item() == 12.0
    (second,) = imode.autograd.grad(first.sum(), x, create_graph=True)
    assert second.item() == 12.0
    (third,) = imode.autograd.grad(second.sum(), x)
    assert third.item() == 6.0


def test_second_backward_needs_retain_graph():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_gradients_are_summed_over_broadcast_dimensions():
    x, y = imode.ones(2, 1, requires_grad=True), imode.ones(3, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.tolist() == [[3.0], [3.0]]
    assert y.grad.tolist() == [2.0, 2.0, 2.0]


def test_gradients_have_the_dtype_of_their_tensor():
    x = imode.ones(2, dtype=imode.float16, requires_grad=True)
    y = imode.ones(2, dtype=imode.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype is imode.float16
    assert y.grad.dtype is imode.float64


# ---- errors ----


def test_roots_are_checked():
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        imode.ones(1).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape: grad_output"):
        (x * 2).backward(imode.ones(3))
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got int"):
        imode.autograd.backward([x * 2], [3])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).sum().backward(inputs=[])


def test_write_to_a_saved_tensor_is_found():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        z.sum().backward()
    assert "is at version 1; expected version 0 instead" in str(caught.value)
    assert "MulBackward0" in str(caught.value)


def test_write_to_a_leaf_that_requires_grad():
    x = leaf(1.0)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an"
    ):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x[0].add_(1)
    assert (x.tolist(), x._version) == ([1.0], 0)
    with imode.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0]


def test_out_refuses_tensors_that_require_grad():
    x = leaf(1.0)
    with pytest.raises(
        RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic"
    ):
        imode.add(x, 1, out=imode.empty(1))


def test_requires_grad_rules():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        (x * 2).requires_grad = False
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        imode.ones(1, dtype=imode.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = 1


def test_grad_may_only_be_a_tensor_like_its_own():
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 3
    with pytest.raises(RuntimeError, match="a gradient of size"):
        x.grad = imode.ones(3)
    with pytest.raises(RuntimeError, match="a gradient with dtype"):
        x.grad = imode.ones(2, dtype=imode.float64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    x.grad = imode.ones(2)
    del x.grad
    assert x.grad is None


def test_nodes_are_not_made_from_python():
    with pytest.raises(TypeError, match="made by recording operations"):
        imode.autograd.Node()


# ---- views and in-place writes in the graph ----


def test_write_to_a_view_rewrites_the_history_of_its_base():
    x = imode.ones(2, 2, requires_grad=True)
    base = x * 1
    row = base[0]
    other = base[1]
    row.mul_(3)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert row.grad_fn.name() == "AsStridedBackward0"
    assert other.grad_fn.name() == "AsStridedBackward0"
    base.sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0], [1.0, 1.0]]


def test_write_of_a_tensor_that_requires_grad_into_a_base_that_does_not():
    base, value = imode.zeros(3), leaf(5.0)
    view = base[1:2]
    view.copy_(value)
    assert base.requires_grad
    assert view.requires_grad
    (base * imode.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert value.grad.tolist() == [2.0]


def test_original_of_an_in_place_write_is_kept_for_the_other_gradient():
    x, y = leaf(2.0, 3.0), leaf(4.0, 5.0)
    a = x * 1
    a.mul_(y)
    a.sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]
    assert y.grad.tolist() == [2.0, 3.0]


def test_views_made_in_other_modes_refuse_recorded_writes():
    base = imode.ones(2, requires_grad=True) * 1
    with imode.no_grad():
        view = base[0]
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified"
    ):
        view.mul_(2)
    with imode.inference_mode():
        view = base[0]
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being"):
        view.mul_(2)
    first, _ = base.unbind()
    with pytest.raises(
        RuntimeError, match="is the output of a function that returns multiple views"
    ):
        first.mul_(2)


# ---- hooks ----


def test_tensor_hooks_run_in_order_and_may_replace():
    seen = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: seen.append(("y", g.item())))
    handle = y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: seen.append(("x", g.item())))
    (y * 3).sum().backward(retain_graph=True)
    assert seen == [("y", 3.0), ("x", 60.0)]
    handle.remove()
    x.grad = None
    (y * 3).sum().backward()
    assert x.grad.item() == 6.0


def test_node_hooks():
    seen = []
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), outputs[0].item())))
    y.sum().backward()
    assert seen == [(2, 2.0)]
    assert x.grad.item() == 4.0


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2
    with pytest.warns(UserWarning, match="is not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.retains_grad
    (y * 3).sum().backward()
    assert y.grad.item() == 3.0
    with pytest.raises(
        RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"
    ):
        imode.ones(1).retain_grad()


def test_post_accumulate_hook():
    seen = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 3).sum().backward()
    assert seen == [3.0]


def test_a_hook_that_raises_leaves_the_state_right():
    x = leaf(1.0)
    y = x * 2

    def fail(grad):
        raise ValueError("from the hook")

    y.register_hook(fail)
    with pytest.raises(ValueError, match="from the hook"):
        y.sum().backward()
    assert imode.is_grad_enabled()
    assert x.grad is None


def test_a_hook_may_run_backward_again():
    x, z = leaf(1.0), leaf(5.0)
    y = x * 2

    def again(grad):
        with imode.enable_grad():
            (z * z).sum().backward()

    y.register_hook(again)
    y.sum().backward()
    assert (x.grad.item(), z.grad.item()) == (2.0, 10.0)


# ---- the life of a graph ----


def test_a_chain_of_a_million_nodes_runs_and_is_freed():
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.item() == 1.0
    del y
    assert x.grad.item() == 1.0


def test_a_long_chain_that_never_ran_is_freed():
    y = leaf(1.0)
    for _ in range(300_000):
        y = y.view(1)
    gone = weakref.ref(y)
    del y
    assert gone() is None


@pytest.mark.parametrize("run", [False, True])
def test_a_long_chain_of_writes_to_views_is_freed(run):
    x = leaf(1.0, 2.0)
    y = x * 1.0
    for _ in range(50_000):
        y[:1].mul_(1.0)
    if run:
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]
    last = weakref.ref(y.grad_fn)
    del y
    assert last() is None


def test_a_result_saved_by_its_own_node_makes_no_cycle():
    x = leaf(1.0, 2.0)
    gc.collect()
    gc.disable()
    try:
        y = x.exp()
        gone = weakref.ref(y)
        node = weakref.ref(y.grad_fn)
        del y
        assert gone() is None
        assert node() is None
    finally:
        gc.enable()


def test_saved_tensors_show_on_the_node():
    x = leaf(1.0, 2.0)
    y = x * x
    assert y.grad_fn._saved_self is x
    z = x.exp()
    assert z.grad_fn._saved_result.tolist() == z.tolist()
    assert z.grad_fn._saved_result is not z
    assert z.grad_fn._saved_result.grad_fn is z.grad_fn
    with pytest.raises(AttributeError, match="_saved_other"):
        z.grad_fn._saved_other  # noqa: B018


def test_cycles_through_hooks_are_collected():
    x = leaf(1.0)

    def tied():
        y = x * 2
        y.register_hook(lambda grad: grad * y.detach())
        return weakref.ref(y)

    gone = tied()
    gc.collect()
    assert gone() is None


# ---- threads ----


def test_backward_in_many_threads():
    shared = leaf(1.0)
    results = []

    def work():
        mine = leaf(2.0)
        for _ in range(50):
            (mine * shared).sum().backward()
        results.append(mine.grad.item())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [50.0] * 8
    assert shared.grad.item() == 800.0


def test_one_graph_shared_by_threads_gives_the_answer_or_an_error():
    x = leaf(3.0)
    y = (x * x).sum()
    outcomes = []

    def work():
        try:
            outcomes.append(imode.autograd.grad(y, x)[0].item())
        except RuntimeError as error:
            assert "second time" in str(error)
            outcomes.append("freed")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(outcomes) <= {6.0, "freed"}
    assert 6.0 in outcomes


def test_resize_refuses_negative_sizes_and_leaves_the_tensor_whole():
    x = imode.ones(2, 3)
    with pytest.raises(RuntimeError, match="resize_\\(\\) got a negative size"):
        x.resize_((-1, 2))
    assert (x.shape, x._version) == ((2, 3), 0)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(1.0).resize_(2)
