"""The programs of PyTorch's note "Autograd mechanics", section by section."""

import os
import threading
import uuid

import pytest

import imode
from imode import nn

# ---- How autograd encodes the history: saved tensors ----


def test_saved_tensors_of_pow():
    x = imode.randn(5, requires_grad=True)
    y = x.pow(2)
    assert x.equal(y.grad_fn._saved_self)
    assert x is y.grad_fn._saved_self


def test_saved_tensors_of_exp():
    x = imode.randn(5, requires_grad=True)
    y = x.exp()
    assert y.equal(y.grad_fn._saved_result)
    assert y is not y.grad_fn._saved_result
    assert y.data_ptr() == y.grad_fn._saved_result.data_ptr()


def test_the_graph_is_made_anew_in_every_iteration():
    x = imode.tensor(1.0, requires_grad=True)
    for n in range(1, 5):
        y = x
        for _ in range(n):
            y = y * 2
        (grad,) = imode.autograd.grad(y, x)
        assert grad.item() == 2**n


# ---- Locally disabling gradient computation ----


def test_setting_requires_grad_freezes_parts_of_a_model():
    imode.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = imode.randn(5, 3)
    model(x).sum().backward()
    whole = [p.grad.clone() for p in model[2].parameters()]
    model.zero_grad()
    model[0].requires_grad_(False)
    output = model(x)
    output.sum().backward()
    assert all(p.grad is None for p in model[0].parameters())
    assert all(p.grad.equal(g) for p, g in zip(model[2].parameters(), whole, strict=True))
    model.requires_grad_(False)
    assert not model(x).requires_grad


def test_non_leaf_tensors_require_grad():
    x = imode.ones(2, requires_grad=True)
    assert (x * imode.ones(2)).requires_grad
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        (x * 2).requires_grad = False


def test_no_grad_mode_records_nothing_and_gives_tensors_for_later():
    x = imode.ones(2, requires_grad=True)
    with imode.no_grad():
        y = x * 2
    assert not y.requires_grad
    (y * x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_no_grad_mode_in_an_optimizer():
    p = imode.ones(2, requires_grad=True)
    (p * 3).sum().backward()
    with imode.no_grad():
        p.sub_(p.grad, alpha=0.5)
    assert p.is_leaf and p.grad_fn is None and p.tolist() == [-0.5, -0.5]
    (p * 2).sum().backward()


def test_inference_mode_gives_tensors_that_cannot_be_recorded():
    x = imode.ones(2, requires_grad=True)
    with imode.inference_mode():
        y = x * 2
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y * x


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("guard", [imode.enable_grad, imode.no_grad, imode.inference_mode])
def test_evaluation_mode_is_orthogonal_to_both(train, guard):
    imode.manual_seed(0)
    norm, dropout = nn.BatchNorm1d(3).train(train), nn.Dropout(0.5).train(train)
    with guard():
        x = imode.randn(8, 3)
        normed, dropped = norm(x), dropout(imode.ones(1000))
    assert norm.num_batches_tracked.item() == train
    assert (norm.running_mean.abs().sum().item() > 0) is train
    assert (dropped.eq(0).sum().item() > 0) is train
    assert normed.requires_grad is (guard is imode.enable_grad)


# ---- In-place operations with autograd ----


def test_in_place_operations_can_overwrite_what_is_needed():
    x = imode.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        z.sum().backward()


def test_in_place_correctness_checks():
    class Save(imode.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x

    x = imode.ones(2, requires_grad=True)
    y = x * 1
    z = Save.apply(y)
    before = y._version
    y.mul_(2)
    assert y._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# ---- Multithreaded autograd ----


def test_multithreaded_autograd():
    grads = []

    def train_fn():
        x = imode.ones(5, 5, requires_grad=True)
        y = (x + 3) * (x + 4) * 0.5
        y.sum().backward()
        grads.append(x.grad)

    threads = []
    for _ in range(10):
        p = threading.Thread(target=train_fn, args=())
        p.start()
        threads.append(p)
    for p in threads:
        p.join()
    assert len(grads) == 10 and all(g.equal(imode.full((5, 5), 4.5)) for g in grads)


def test_graph_retaining():
    x = imode.ones(3, requires_grad=True)
    shared = x.exp()
    shared.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        (shared * 2).sum().backward()


# ---- Hooks for saved tensors ----


@pytest.fixture
def disk(tmp_path):
    """The note's pair of hooks, which keeps tensors in files that delete themselves."""

    class SelfDeletingTempFile:
        def __init__(self):
            self.name = os.path.join(tmp_path, str(uuid.uuid4()))

        def __del__(self):
            os.remove(self.name)

    def pack_hook(tensor):
        temp_file = SelfDeletingTempFile()
        imode.save(tensor, temp_file.name)
        return temp_file

    def unpack_hook(temp_file):
        return imode.load(temp_file.name)

    return tmp_path, SelfDeletingTempFile, pack_hook, unpack_hook


def test_registering_hooks_for_a_saved_tensor(disk):
    folder, _, pack_hook, unpack_hook = disk
    x = imode.randn(5, requires_grad=True)
    y = x.pow(2)
    y.grad_fn._raw_saved_self.register_hooks(pack_hook, unpack_hook)
    assert len(list(folder.iterdir())) == 1
    assert y.grad_fn._saved_self.equal(x)
    y.sum().backward()
    assert x.grad.equal(2 * x)
    assert list(folder.iterdir()) == []


def test_registering_default_hooks_for_saved_tensors(disk):
    folder, SelfDeletingTempFile, _, _ = disk
    SAVE_ON_DISK_THRESHOLD = 1000

    def pack_hook(x):
        if x.numel() < SAVE_ON_DISK_THRESHOLD:
            return x.detach()
        temp_file = SelfDeletingTempFile()
        imode.save(x, temp_file.name)
        return temp_file

    def unpack_hook(tensor_or_sctf):
        if isinstance(tensor_or_sctf, imode.Tensor):
            return tensor_or_sctf
        return imode.load(tensor_or_sctf.name)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(10, 200), nn.Tanh(), nn.Linear(200, 1))

        def forward(self, x):
            with imode.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
                return self.layers(x)

    imode.manual_seed(0)
    model = Model()
    x = imode.randn(20, 10)
    plain = imode.autograd.grad(model.layers(x).sum(), list(model.parameters()))
    output = model(x)
    assert len(list(folder.iterdir())) >= 2
    output.sum().backward()
    assert list(folder.iterdir()) == []
    assert all(p.grad.allclose(g) for p, g in zip(model.parameters(), plain, strict=True))


def test_default_hooks_are_thread_local():
    calls = []
    x = imode.randn(5, requires_grad=True)
    with imode.autograd.graph.saved_tensors_hooks(lambda t: calls.append(t) or t, lambda t: t):
        thread = threading.Thread(target=lambda: x * x)
        thread.start()
        thread.join()
    assert calls == []


def test_default_hooks_disable_the_sharing_of_tensor_objects():
    x = imode.randn(5, requires_grad=True)
    y = x * x
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is x
    with imode.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        x = imode.randn(5, requires_grad=True)
        y = x * x
    first, second = y.grad_fn._saved_self, y.grad_fn._saved_other
    assert first is not x and second is not x and first is not second
    assert first.data_ptr() == second.data_ptr() == x.data_ptr()


def test_unpacking_gives_the_same_data_each_time_and_packing_happens_once():
    calls = {"pack": 0, "unpack": 0}

    def pack_hook(x):
        calls["pack"] += 1
        return x.detach()

    def unpack_hook(x):
        calls["unpack"] += 1
        return x

    x = imode.randn(5, requires_grad=True)
    with imode.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
        y = x.exp()
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert calls == {"pack": 1, "unpack": 3}


# ---- Autograd for complex numbers ----


def test_optimisation_over_complex_parameters_takes_the_steepest_descent():
    imode.manual_seed(0)
    target = imode.tensor([1 + 2j, -3 + 0.5j])
    z = imode.zeros(2, dtype=imode.complex64, requires_grad=True)
    for _ in range(100):
        loss = (z - target).abs().pow(2).sum()
        (grad,) = imode.autograd.grad(loss, z)
        assert grad.allclose(2 * (z - target).detach(), atol=1e-5)
        with imode.no_grad():
            z -= 0.1 * grad
    assert z.allclose(target, atol=1e-3)


def test_holomorphic_and_cross_domain_functions():
    z = imode.tensor([1 + 2j], requires_grad=True)
    c = 3.0
    (grad,) = imode.autograd.grad((c * z).real.sum(), z)
    assert grad.item() == c  # f(z) = c z: the conjugate Wirtinger derivative is c
    (grad,) = imode.autograd.grad((z * z.conj()).real.sum(), z)
    assert grad.item() == 2 * (1 + 2j)  # C -> R: 2 grad ds/dz*
    x = imode.tensor([2.0], requires_grad=True)
    (grad,) = imode.autograd.grad((x * (1 + 1j)).abs().pow(2).sum(), x)
    assert grad.dtype == imode.float32 and grad.allclose(imode.tensor([8.0]))  # R -> C -> R
