"""PyTorch's note "Autograd mechanics", section by section; complex numbers in a file apart."""

import os
import threading
import uuid

import pytest

import imode
from imode import nn
from imode.autograd import Function, grad

# ---- How autograd encodes the history ----


def test_the_graph_leads_from_outputs_to_the_inputs_that_are_leaves():
    a, b = imode.ones(2, requires_grad=True), imode.ones(2, requires_grad=True)
    y = ((a * b).exp() + a).sum()
    leaves, nodes, waiting = [], set(), [y.grad_fn]
    while waiting:
        node = waiting.pop()
        nodes.add(node.name())
        if not node.next_functions:
            leaves.append(node.variable)
        waiting += [n for n, _ in node.next_functions if n is not None]
    assert nodes == {
        *("SumBackward0", "AddBackward0", "ExpBackward0", "MulBackward0"),
        "torch::autograd::AccumulateGrad",
    }
    assert all(any(leaf is x for leaf in leaves) for x in (a, b)) and len(leaves) == 3


def test_functions_are_applied_to_evaluate_the_graph():
    x = imode.tensor(0.5, requires_grad=True)
    y = (x * 3).sin()
    through_sin = y.grad_fn(imode.tensor(1.0))
    by_hand, _ = y.grad_fn.next_functions[0][0](through_sin)
    assert by_hand.equal(grad(y, x)[0])


# ---- Saved tensors ----


def test_saved_tensors_of_a_custom_function():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    x = imode.tensor([3.0], requires_grad=True)
    Square.apply(x).sum().backward()
    assert x.grad.item() == 6


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


def test_an_output_of_another_grad_fn_is_saved_as_it_is():
    y = imode.randn(5, requires_grad=True).exp()
    z = y * 2.0 * y
    assert z.grad_fn._saved_other is y


def test_the_graph_is_made_anew_in_every_iteration():
    x = imode.tensor(1.0, requires_grad=True)
    for n in range(1, 5):
        y = x
        for _ in range(n):
            y = y * 2
        (grad,) = imode.autograd.grad(y, x)
        assert grad.item() == 2**n


# ---- Locally disabling gradient computation: setting requires_grad ----


def test_requires_grad_is_false_by_default_and_true_of_parameters():
    assert not imode.ones(2).requires_grad
    assert nn.Parameter(imode.ones(2)).requires_grad
    assert all(p.requires_grad for p in nn.Linear(2, 2).parameters())


def test_an_operation_is_recorded_where_one_of_its_inputs_requires_grad():
    x, y = imode.ones(2), imode.ones(2, requires_grad=True)
    assert (x * 2).grad_fn is None and (x * y).grad_fn is not None
    z = x * y
    z.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad is None
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
        assert z.grad is None


@pytest.mark.parametrize("train", [False, True])
def test_requires_grad_of_a_module_is_that_of_its_parameters(train):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    assert model.requires_grad_(train) is model
    assert all(p.requires_grad is train for p in model.parameters())


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


# ---- Grad modes ----


@pytest.mark.parametrize("guard", [imode.enable_grad, imode.no_grad, imode.inference_mode])
def test_modes_are_context_managers_and_decorators(guard):
    x = imode.ones(2, requires_grad=True)

    @guard()
    def decorated():
        return x * 2

    with guard():
        y = x * 2
    recorded = guard is imode.enable_grad  # no other mode heeds requires_grad
    assert y.requires_grad is decorated().requires_grad is recorded
    assert (x * 2).requires_grad


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


def test_no_grad_mode_in_nn_init():
    p = nn.Parameter(imode.empty(2, 3))
    before = p._version
    nn.init.ones_(p)
    assert p.is_leaf and p.requires_grad and p.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert p._version > before


def test_inference_mode_gives_tensors_that_cannot_be_recorded():
    x = imode.ones(2, requires_grad=True)
    with imode.inference_mode():
        y = x * 2
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y * x


def test_inference_mode_records_nothing_and_gives_way_to_no_grad():
    x = imode.ones(2, requires_grad=True)
    for guard in (imode.inference_mode, imode.no_grad):
        with guard():
            y = x * 2
        assert y.grad_fn is None and y.is_inference() is (guard is imode.inference_mode)
    (y * x).sum().backward()
    assert x.grad.tolist() == [2, 2]


# ---- Evaluation mode ----


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


def test_in_place_operations_change_the_creator_of_all_that_share_the_storage():
    x = imode.ones(2, 2, requires_grad=True)
    y = x * 1
    part, turned = y[0], y.t()
    part.mul_(2)
    assert part.grad_fn.name() == "AsStridedBackward0" and type(y.grad_fn).__name__ == "CopySlices"
    assert turned.grad_fn.name() == "AsStridedBackward0"
    assert turned.grad_fn.next_functions[0][0] is y.grad_fn
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2], [1, 1]]


def test_in_place_operations_on_some_views_are_refused():
    first, _ = (imode.ones(2, requires_grad=True) * 1).unbind()
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        first.add_(1)


# ---- In-place correctness checks ----


def test_no_error_means_correct_gradients():
    x = imode.ones(2, requires_grad=True)
    y = x * 2
    z = y + 1
    y.mul_(5)  # add saved nothing: nothing is lost
    (z.sum() + y.sum()).backward()
    assert x.grad.tolist() == [12, 12]


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


def test_concurrency_on_cpu():
    both = threading.Barrier(2)
    met = []

    def work():
        y = imode.ones(2, requires_grad=True) * 2
        y.register_hook(lambda grad: met.append(both.wait(timeout=60)))  # until the other is there
        y.sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(met) == [0, 1]


def test_non_determinism_is_avoided_with_grad():
    x = imode.ones(3, requires_grad=True)
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append((k, grad((x * k).sum(), x)[0].tolist())))
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(k, [k] * 3) for k in range(8)] and x.grad is None


def test_thread_safety_on_autograd_nodes():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].shape == grad.shape
            return grad * 2

    x = imode.ones(4, requires_grad=True)
    y = x * 1
    y[1:] *= 3.0  # CopySlices
    z = Twice.apply(y).sum()
    threads = [
        threading.Thread(target=lambda: [z.backward(retain_graph=True) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [400, 1200, 1200, 1200]


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


@pytest.mark.parametrize("kind", ["tensor", "tuple", "string"])
def test_a_pack_hook_may_return_any_object(kind):
    kept = {}

    def pack_hook(x):
        kept["name"] = x.detach()
        return {"tensor": x.detach(), "tuple": (x.detach(), 3), "string": "name"}[kind]

    def unpack_hook(packed):
        packed = packed[0] if kind == "tuple" else packed
        return kept[packed] if kind == "string" else packed

    x = imode.randn(5, requires_grad=True)
    with imode.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
        y = x.exp()
    y.sum().backward()
    assert x.grad.equal(y)


def test_what_unpack_hook_returns_is_connected_anew():
    x = imode.randn(5, requires_grad=True)
    other = imode.zeros(5, requires_grad=True)
    y = x.pow(3)
    y.grad_fn._raw_saved_self.register_hooks(lambda x: x.detach(), lambda x: (x + other) * 1)
    assert y.grad_fn._saved_self.requires_grad and y.grad_fn._saved_self.is_leaf
    (first,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    assert second.allclose(6 * x)


def test_in_place_operations_on_the_input_of_pack_hook_are_refused():
    x = imode.ones(5, requires_grad=True)
    y = x.pow(2)
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input"):
        y.grad_fn._raw_saved_self.register_hooks(lambda x: x.mul_(2), lambda x: x)


def test_registering_hooks_for_a_saved_tensor(disk):
    folder, _, pack_hook, unpack_hook = disk
    x = imode.randn(5, requires_grad=True)
    y = x.pow(2)
    y.grad_fn._raw_saved_self.register_hooks(pack_hook, unpack_hook)
    assert len(list(folder.iterdir())) == 1  # packed at once
    first, second = y.grad_fn._saved_self, y.grad_fn._saved_self
    assert first.equal(x) and first is not second  # unpacked each time
    y.sum().backward()
    assert x.grad.equal(2 * x)
    assert list(folder.iterdir()) == []


def test_registering_hooks_after_the_release_is_refused():
    y = imode.ones(5, requires_grad=True).pow(2)
    saved = y.grad_fn._raw_saved_self
    y.sum().backward()
    with pytest.raises(RuntimeError, match="on a saved tensor after it has been freed"):
        saved.register_hooks(lambda x: x, lambda x: x)


def test_registering_default_hooks_for_saved_tensors(disk):
    folder, SelfDeletingTempFile, _, _ = disk
    SAVE_ON_DISK_THRESHOLD = 1000

    def pack_hook(x):
        if x.numel() < SAVE_ON_DISK_THRESHOLD:
            return x
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
    net = nn.DataParallel(model)
    output = net(x)
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


def test_default_hooks_around_data_parallel():
    # The note's "what not to do": here there is no other thread that the hooks fail to reach.
    packed = []
    net = nn.DataParallel(nn.Linear(2, 2))
    with imode.autograd.graph.saved_tensors_hooks(lambda x: packed.append(x) or x, lambda x: x):
        output = net(imode.ones(1, 2))
    assert output.requires_grad and packed


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
