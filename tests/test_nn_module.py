"""Module: what is registered, found, converted, saved, loaded, copied and printed."""

import copy
import gc
import pickle
import weakref

import pytest

import imode
from imode import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(8, 3))
        self.scale = nn.Parameter(imode.ones(1))
        self.register_buffer("shift", imode.zeros(1))
        self.register_buffer("cache", imode.zeros(1), persistent=False)

    def forward(self, x):
        return self.head(self.norm(self.conv(x)).relu()) * self.scale + self.shift


def values(state):
    return {name: tensor.tolist() for name, tensor in state.items()}


# ---- registration ----


def test_names_in_order():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale",
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "head.1.weight",
        "head.1.bias",
    ]
    assert list(net.state_dict()) == [
        "scale",
        "shift",
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
        "head.1.weight",
        "head.1.bias",
    ]
    assert [name for name, _ in net.named_modules()] == [
        "",
        "conv",
        "norm",
        "head",
        "head.0",
        "head.1",
    ]


def test_shared_parts_are_named_once_unless_asked():
    net = Net()
    net.again = net.head
    assert len(list(net.parameters())) == 7
    assert len(list(net.named_parameters(remove_duplicate=False))) == 9
    assert "head.1.weight" in net.state_dict() and "again.1.weight" in net.state_dict()


def test_assignment_moves_a_name_between_tables():
    module = nn.Module()
    module.x = 3
    module.x = nn.Parameter(imode.ones(1))
    assert list(module._parameters) == ["x"] and module.x is module._parameters["x"]
    module.x = nn.ReLU() if False else None
    assert module.x is None and list(module._parameters) == ["x"]
    del module.x
    assert not hasattr(module, "x")
    module.x = nn.ReLU()
    module.x = nn.Parameter(imode.ones(1))
    assert not module._modules and list(module._parameters) == ["x"]
    module.y = nn.Buffer(imode.ones(1), persistent=False)
    module.y = imode.zeros(2)
    assert list(module._buffers) == ["y"] and "y" not in module.state_dict()


@pytest.mark.parametrize(
    "change", ["set", "pop", "update", "setdefault", "clear", "ior", "popitem"]
)
def test_direct_change_of_a_table_reaches_the_attribute(change):
    module = nn.Sequential(nn.ReLU())
    table, new = module._modules, nn.Tanh()
    if change == "set":
        table["0"] = new
    elif change == "update":
        table.update({"0": new})
    elif change == "setdefault":
        table.setdefault("0", nn.ReLU())
        table.setdefault("new", new)
        assert module.new is new
        return
    elif change == "ior":
        table |= {"0": new}
    else:
        getattr(table, change)(*["0"] if change == "pop" else [])
        assert not hasattr(module, "0") and len(module) == 0
        return
    assert getattr(module, "0") is new and module[0] is new


def test_a_table_put_in_place_of_another():
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    last = model[1]
    model._modules = {"0": model._modules["1"]}
    assert getattr(model, "0") is last is model[0] and not hasattr(model, "1")
    model._modules["1"] = nn.ReLU()
    assert len(model) == 2 and getattr(model, "1") is model[1]
    model._modules = model._modules
    assert len(model) == 2


def test_a_module_dies_with_its_last_reference():
    module = Net()
    seen = weakref.ref(module)
    gc.disable()
    try:
        del module
        assert seen() is None
    finally:
        gc.enable()


def test_user_getattr_that_asks_the_base_class():
    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    assert Wrapper(nn.Linear(2, 3)).out_features == 3


@pytest.mark.parametrize(
    "action, error, text",
    [
        (lambda m: setattr(m, "scale", 3), TypeError, "cannot assign 'int' as parameter 'scale'"),
        (
            lambda m: setattr(m, "conv", "x"),
            TypeError,
            "cannot assign 'str' as child module 'conv'",
        ),
        (lambda m: setattr(m, "shift", 3), TypeError, "cannot assign 'int' as buffer 'shift'"),
        (
            lambda m: m.register_parameter("a.b", None),
            KeyError,
            'parameter name can\'t contain "."',
        ),
        (lambda m: m.register_parameter("", None), KeyError, "can't be empty string"),
        (lambda m: m.register_parameter(3, None), TypeError, "parameter name should be a string"),
        (lambda m: m.register_parameter("forward", None), KeyError, "attribute 'forward' already"),
        (lambda m: m.register_parameter("p", m.scale * 2), TypeError, "to parameter 'p'"),
        (lambda m: m.register_buffer("conv", None), KeyError, "attribute 'conv' already exists"),
        (lambda m: m.register_buffer("b", 3), TypeError, "object to buffer 'b'"),
        (lambda m: m.add_module("m", 3), TypeError, "int is not a Module subclass"),
        (lambda m: m.get_submodule("head.9"), AttributeError, "Sequential has no attribute `9`"),
        (lambda m: m.get_parameter("shift"), AttributeError, "`shift` is not an nn.Parameter"),
        (lambda m: m.get_buffer("scale"), AttributeError, "`scale` is not a buffer"),
        (lambda m: m.absent, AttributeError, "'Net' object has no attribute 'absent'"),
        (lambda m: m.train(1), ValueError, "training mode is expected to be boolean"),
        (lambda m: m.to(imode.int64), TypeError, "only accepts floating point or complex"),
        (lambda m: nn.Module()(1), NotImplementedError, 'missing the required "forward" function'),
    ],
)
def test_misuse(action, error, text):
    with pytest.raises(error) as caught:
        action(Net())
    assert text in str(caught.value.args[0])


@pytest.mark.parametrize("value", [lambda: nn.Parameter(imode.ones(1)), nn.ReLU])
def test_assignment_before_init(value):
    class Early(nn.Module):
        def __init__(self):
            self.x = value()

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Early()


# ---- inference mode ----


def test_everything_made_inside_inference_mode_is_normal():
    with imode.inference_mode():
        net = Net()
        net.late = nn.Parameter(imode.ones(2))
        net.register_buffer("made", imode.ones(2))
        net.half().float()
        net.load_state_dict(net.state_dict())
        net.load_state_dict({k: v + 1 for k, v in net.state_dict().items()}, assign=True)
        vector = nn.utils.parameters_to_vector(net.parameters())
        nn.utils.vector_to_parameters(vector, net.parameters())
    assert vector.is_inference()
    for tensor in [*net.parameters(), *net.buffers()]:
        assert not tensor.is_inference()
    net(imode.ones(2, 1, 4, 4)).sum().backward()
    assert net.conv.weight.grad is not None


def test_what_is_made_normal_is_laid_out_as_a_clone():
    with imode.inference_mode():
        made = imode.ones(2, 3).t() * 2
        module = nn.Module()
        module.register_buffer("made", made)
        module.weight = nn.Parameter(made)
    assert made.stride() == module.made.stride() == module.weight.stride() == (1, 3)


def test_model_trains_on_after_serving_in_inference_mode():
    net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    with imode.inference_mode():
        served = net(imode.ones(3, 2))
    assert served.is_inference() and int(net[1].num_batches_tracked) == 1
    net(imode.ones(3, 2)).sum().backward()


# ---- conversions ----


def test_conversions_keep_the_parameter_objects():
    net = Net()
    before = list(net.parameters())
    for change, dtype in [
        ("double", imode.float64),
        ("half", imode.float16),
        ("float", imode.float32),
    ]:
        assert getattr(net, change)() is net
        assert {p.dtype for p in net.parameters()} == {dtype}
        assert net.norm.running_mean.dtype is dtype
        assert net.norm.num_batches_tracked.dtype is imode.int64
    assert net.to("cpu", imode.float64).to(dtype=imode.float32).scale.dtype is imode.float32
    assert all(a is b for a, b in zip(before, net.parameters()))
    assert all(p.is_leaf and p.requires_grad for p in net.parameters())


def test_modes_and_gradients():
    net = Net()
    net(imode.ones(2, 1, 4, 4)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad.abs().sum().item() == 0 for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert not any(m.training for m in net.eval().modules())
    assert all(m.training for m in net.train().modules())
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())
    names = []
    net.apply(lambda m: names.append(type(m).__name__))
    assert names == ["Conv2d", "BatchNorm2d", "Flatten", "Linear", "Sequential", "Net"]


# ---- state ----


def test_round_trip():
    first, second = Net(), Net()
    assert str(second.load_state_dict(first.state_dict())) == "<All keys matched successfully>"
    assert values(second.state_dict()) == values(first.state_dict())


def test_state_dict_shares_memory_and_is_detached():
    net = Net()
    state = net.state_dict()
    assert not state["scale"].requires_grad
    with imode.no_grad():
        net.scale.fill_(7)
    assert state["scale"].item() == 7
    assert net.state_dict(keep_vars=True)["scale"] is net.scale


BAD_STATES = {
    "missing": lambda s: s.pop("norm.bias"),
    "unexpected": lambda s: s.update({"head.9.weight": imode.ones(1)}),
    "shape": lambda s: s.update({"head.1.bias": imode.ones(4)}),
    "not a tensor": lambda s: s.update({"head.1.bias": [1, 2, 3]}),
}


@pytest.mark.parametrize("kind", BAD_STATES)
def test_a_failed_load_leaves_the_model_as_it_was(kind):
    net = Net()
    before = values(net.state_dict())
    state = {name: tensor + 1 for name, tensor in net.state_dict().items()}
    BAD_STATES[kind](state)
    with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict for Net:"):
        net.load_state_dict(state)
    assert values(net.state_dict()) == before


def test_load_messages():
    net = nn.Linear(2, 1)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict({"weight": imode.ones(1, 3), "odd": imode.ones(1)})
    text = str(caught.value)
    assert '\n\tMissing key(s) in state_dict: "bias". ' in text
    assert '\n\tUnexpected key(s) in state_dict: "odd". ' in text
    assert "size mismatch for weight: copying a param with shape" in text
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        net.load_state_dict(3)


def test_load_not_strict_reports():
    net = nn.Linear(2, 1)
    missing, unexpected = net.load_state_dict({"bias": imode.ones(1), "odd": 1}, strict=False)
    assert missing == ["weight"] and unexpected == ["odd"] and net.bias.item() == 1


def test_load_assign_takes_the_tensors():
    net = nn.Linear(2, 1)
    weight = imode.ones(1, 2)
    net.load_state_dict({"weight": weight, "bias": imode.zeros(1)}, assign=True)
    weight.fill_(4)
    assert net.weight.tolist() == [[4, 4]] and isinstance(net.weight, nn.Parameter)


def test_deepcopy_and_pickle_are_independent():
    net = Net()
    net.again = net.head
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert twin.again is twin.head and twin.head is not net.head
        with imode.no_grad():
            twin.scale.fill_(5)
        assert net.scale.item() == 1
        twin._modules["conv"] = nn.Identity()
        assert isinstance(twin.conv, nn.Identity) and isinstance(net.conv, nn.Conv2d)
        assert isinstance(twin.scale, nn.Parameter)


# ---- hooks ----


def test_forward_hooks_run_in_order_and_may_replace():
    net = nn.Linear(2, 2)
    log = []
    pre = net.register_forward_pre_hook(lambda m, args: log.append("pre") or (args[0] * 0,))
    post = net.register_forward_hook(lambda m, args, out: log.append("post") or out * 0 + 3)
    assert net(imode.ones(1, 2)).tolist() == [[3, 3]] and log == ["pre", "post"]
    with post:
        pre.remove()
    assert net(imode.ones(1, 2)).tolist() != [[3, 3]] and log == ["pre", "post"]


def test_backward_hook_sees_and_replaces_gradients():
    net = nn.Linear(2, 1, bias=False)
    seen = []
    net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)) or (gi[0] * 2,))
    x = imode.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    (((grad_input,), (grad_output,)),) = seen
    assert grad_output.tolist() == [[1]]
    assert grad_input.tolist() == net.weight.tolist()
    assert x.grad.tolist() == (net.weight * 2).tolist()


# ---- printing ----


def test_repr():
    assert repr(Net()) == (
        "Net(\n"
        "  (conv): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))\n"
        "  (norm): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=True)\n"
        "  (head): Sequential(\n"
        "    (0): Flatten(start_dim=1, end_dim=-1)\n"
        "    (1): Linear(in_features=8, out_features=3, bias=True)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    )


# ---- calls ----


def test_a_class_with_its_own_call_is_called_by_it():
    class Doubled(nn.Linear):
        def __call__(self, x):
            return super().__call__(x) * 2

    layer = Doubled(2, 2)
    x = imode.ones(1, 2)
    assert nn.Sequential(layer)(x).tolist() == (layer.forward(x) * 2).tolist()


def test_a_replaced_call_sees_the_children_of_a_sequential(monkeypatch):
    seen = []
    original = nn.Module.__call__

    def counting(self, *args, **kwargs):
        seen.append(type(self).__name__)
        return original(self, *args, **kwargs)

    model = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))
    monkeypatch.setattr(nn.Module, "__call__", counting)
    model(imode.ones(1))
    assert seen == ["Sequential", "ReLU", "Sequential", "Tanh"]


def test_a_forward_set_on_one_module_is_called():
    layer = nn.ReLU()
    layer.forward = lambda x: x + 1
    assert nn.Sequential(layer)(imode.zeros(1)).item() == 1 == layer(imode.zeros(1)).item()


def test_hooks_on_a_child_of_a_sequential_run():
    model = nn.Sequential(nn.ReLU())
    with model[0].register_forward_hook(lambda m, args, out: out + 1):
        assert model(imode.zeros(1)).item() == 1
    assert model(imode.zeros(1)).item() == 0


def test_words_of_backward_hooks():
    x = imode.ones(2, 3, requires_grad=True)
    layer = nn.Linear(3, 2)
    with layer.register_full_backward_hook(lambda module, given, arrived: ()):
        y = layer(x)
        assert y.grad_fn.name() == "BackwardHookFunctionBackward"
        with pytest.raises(RuntimeError, match="an invalid number of grad_input, got 0, but expec"):
            y.sum().backward()
    with (
        layer.register_full_backward_pre_hook(lambda module, arrived: ()),
        pytest.raises(RuntimeError, match="pre hook returned an invalid number of grad_output"),
    ):
        layer(x).sum().backward()
    with layer.register_full_backward_hook(lambda module, given, arrived: None):
        y = layer(x.detach()).sum()
        with pytest.warns(UserWarning, match="^Full backward hook is firing when gradients are c"):
            y.backward()


def test_a_variable_of_no_tensor():
    with pytest.raises(TypeError, match=r"^Variable data has to be a tensor, but got int"):
        imode.autograd.Variable(3)


def test_to_takes_no_copy():
    with pytest.raises(RuntimeError, match="does not accept copy argument"):
        nn.Linear(2, 2).to(imode.float64, copy=True)
    assert nn.Linear(2, 2).to("cpu", copy=False).weight.dtype == imode.float32


def test_the_tables_of_hooks_are_pytorchs():
    """Packages count, remove and replace hooks in them."""
    layer = nn.Linear(2, 2)
    assert not layer._backward_hooks and repr(layer._forward_hooks) == "{}"
    handle = layer.register_forward_hook(lambda module, args, out: out * 0 + 1)
    assert list(layer._forward_hooks) == [handle.id] and handle.id in layer._forward_hooks
    assert layer(imode.ones(1, 2)).tolist() == [[1, 1]]
    del layer._forward_hooks[handle.id]
    assert layer(imode.ones(1, 2)).tolist() != [[1, 1]]
    layer._forward_pre_hooks[7] = lambda module, args: (args[0] * 0,)
    assert layer(imode.ones(1, 2)).tolist() == [layer.bias.tolist()]
    layer._forward_pre_hooks = {}
    assert len(layer._forward_pre_hooks) == 0
    fresh = nn.Linear(2, 2)
    fresh._forward_hooks[3] = lambda module, args, out: "hooked"
    assert fresh(imode.ones(1, 2)) == "hooked"


def test_getattr_by_its_name():
    """What a module has, by Module.__getattr__, which subclasses extend by super()."""

    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 3)
            self.register_buffer("count", imode.zeros(1))
            self.register_module("level1", nn.ReLU())

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("inner"), name)

    wrapper = Wrapper()
    assert wrapper.out_features == 3
    assert wrapper.__getattr__("level1") is wrapper.level1
    assert wrapper.__getattr__("count") is wrapper.count
    assert wrapper.__getattr__("weight") is wrapper.inner.weight
    with pytest.raises(AttributeError, match=r"^'Linear' object has no attribute 'nothing'$"):
        _ = wrapper.nothing


def test_an_apply_of_one_argument_is_called_as_such():
    class Bound(nn.Module):
        def _apply(self, fn):
            self.bound = fn(imode.ones(1))
            return super()._apply(fn)

    model = nn.Sequential(nn.Sequential(Bound())).double()
    assert model[0][0].bound.dtype is imode.float64
