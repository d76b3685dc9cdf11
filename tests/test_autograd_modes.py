"""Backward under each guard; freezing; evaluation mode, which is no guard."""

import numpy as np
import pytest

import imode
from imode import nn
from imode.autograd import Function

GUARDS = {"grad": imode.enable_grad, "no_grad": imode.no_grad, "inference": imode.inference_mode}
GUARD = pytest.mark.parametrize("guard", GUARDS)


class Seen(Function):
    """Notes the modes that it runs in, and whether it is given inference tensors."""

    notes = None

    @staticmethod
    def forward(ctx, x):
        Seen.notes.append(("forward", imode.is_grad_enabled()))
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        made = grad * 2 + 0 * x
        Seen.notes.append(("backward", imode.is_grad_enabled(), made.is_inference()))
        return made


@pytest.fixture(autouse=True)
def _fresh():
    Seen.notes = []


# ---- backward inside a guard, over a graph recorded outside of it ----


@GUARD
@pytest.mark.parametrize("create_graph", [False, True])
def test_modes_that_backward_runs_in(guard, create_graph):
    x = imode.ones(2, requires_grad=True)
    y = Seen.apply(x).sum()
    hooks = []
    x.register_hook(lambda g: hooks.append((imode.is_grad_enabled(), g.is_inference())))
    inference = guard == "inference"
    with GUARDS[guard]():
        before = imode.is_grad_enabled()
        y.backward(create_graph=create_graph)
        assert imode.is_grad_enabled() is before
    assert Seen.notes[1] == ("backward", create_graph, inference)
    assert hooks == [(create_graph, inference)]
    assert x.grad.tolist() == [2, 2] and x.grad.is_inference() is inference
    assert x.grad.requires_grad is (create_graph and not inference)


@GUARD
def test_gradient_accumulates_over_modes(guard):
    x = imode.ones(2, requires_grad=True)
    a, b = (x * 2).sum(), (x * 3).sum()
    a.backward()
    grad = x.grad
    with GUARDS[guard]():
        b.backward()
    assert x.grad is grad and grad.tolist() == [5, 5] and not grad.is_inference()


def test_gradient_made_in_inference_mode_is_not_added_to_outside():
    x = imode.ones(2, requires_grad=True)
    a, b = (x * 2).sum(), (x * 3).sum()
    with imode.inference_mode():
        a.backward()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        b.backward()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_guard_in_a_hook_ends_with_it():
    x = imode.ones(2, requires_grad=True)

    def hook(grad):
        imode.set_grad_enabled(True)
        return grad * 2

    y = x * 2
    y.register_hook(hook)
    loss = y.sum()
    with imode.no_grad():
        loss.backward()
        assert not imode.is_grad_enabled()
    assert x.grad.tolist() == [4, 4]


def test_double_backward_inside_no_grad():
    x = imode.tensor([3.0], requires_grad=True)
    y = (x * x * x).sum()
    with imode.no_grad():
        (first,) = imode.autograd.grad(y, x, create_graph=True)
        assert first.requires_grad
        (second,) = imode.autograd.grad(first, x)
    assert first.item() == 27 and second.item() == 18


@GUARD
def test_graph_recorded_in_part_of_a_guard(guard):
    x = imode.ones(2, requires_grad=True)
    with GUARDS[guard](), imode.inference_mode(False), imode.enable_grad():
        y = Seen.apply(x)
        y.sum().backward()
    assert Seen.notes == [("forward", False), ("backward", False, False)]
    assert not x.grad.is_inference()


# ---- freezing ----


def model():
    imode.manual_seed(0)
    return nn.Sequential(
        nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Tanh(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 3)
    )


def gradients(frozen):
    """The gradients of a model with the parts of these names frozen."""
    net = model()
    for name, parameter in net.named_parameters():
        if name.startswith(frozen):
            parameter.requires_grad_(False)
    imode.manual_seed(1)
    net(imode.randn(9, 5)).square().mean().backward()
    return {name: p.grad for name, p in net.named_parameters()}


@pytest.mark.parametrize(
    "frozen", ["0", "1", "3", "5", "0.weight", "0.bias", "1.weight", "3.bias", ("0", "3"), "5.w"]
)
def test_frozen_parts_leave_the_other_gradients_alone(frozen):
    whole, part = gradients("none"), gradients(frozen)
    for name, grad in part.items():
        if name.startswith(frozen):
            assert grad is None
        else:
            assert np.array_equal(grad.numpy(), whole[name].numpy()), name


def test_frozen_module():
    net = model()
    assert net.requires_grad_(False) is net
    y = net(imode.ones(2, 5))
    assert not y.requires_grad and y.grad_fn is None
    net[5].requires_grad_()
    y = net(imode.ones(2, 5)).sum()
    y.backward()
    with_grad = [n for n, p in net.named_parameters() if p.grad is not None]
    assert with_grad == ["5.weight", "5.bias"]
    assert y.grad_fn.next_functions[0][0].next_functions[1][0] is None  # the frozen part's result


# ---- evaluation mode ----

TRAINING = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


@GUARD
@TRAINING
def test_dropout(guard, training):
    layer = nn.Dropout(0.5).train(training)
    x = imode.ones(1000, requires_grad=True)
    imode.manual_seed(0)
    with GUARDS[guard]():
        y = layer(x)
    assert layer.training is training
    if training:
        assert y.requires_grad is (guard == "grad")
        assert y.is_inference() is (guard == "inference")
        assert 400 < int((y == 0).sum()) < 600 and set(y.tolist()) == {0.0, 2.0}
    else:
        assert y is x


@GUARD
@TRAINING
@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm(guard, training, momentum):
    layer = nn.BatchNorm1d(2, momentum=momentum).train(training)
    x = imode.tensor([[1.0, 2.0], [3.0, 8.0], [5.0, 2.0]], requires_grad=True)
    with GUARDS[guard]():
        y = layer(x)
    mean, var = x.detach().numpy().mean(0), x.detach().numpy().var(0)
    share = (1.0 if momentum is None else momentum) if training else 0
    np.testing.assert_allclose(layer.running_mean.numpy(), share * mean, rtol=1e-6)
    np.testing.assert_allclose(layer.running_var.numpy(), 1 - share + share * var * 1.5, rtol=1e-6)
    assert layer.num_batches_tracked.item() == int(training)
    assert not layer.running_mean.is_inference() and not layer.running_var.requires_grad
    by = (mean, var) if training else (0, 1)
    expected = (x.detach().numpy() - by[0]) / np.sqrt(by[1] + 1e-5)
    np.testing.assert_allclose(y.numpy() if guard != "grad" else y.detach().numpy(), expected,
                               rtol=1e-5, atol=1e-6)  # fmt: skip
    assert y.requires_grad is (guard == "grad") and y.is_inference() is (guard == "inference")
    layer.eval()
    layer(x).sum().backward()  # what a guard left behind is of use outside of it
    assert x.grad is not None


@GUARD
def test_eval_switches_no_recording(guard):
    net = model().eval()
    with GUARDS[guard]():
        assert net(imode.ones(2, 5)).requires_grad is (guard == "grad")
    assert all(not m.training for m in net.modules())
    assert all(p.requires_grad for p in net.parameters())
