"""The rules of Module and Parameter in imode and in PyTorch: names, lookups, state dicts, hooks."""

import copy
import pickle
from collections import OrderedDict

from tests.conformance.side_by_side import agrees, error


def make_net(lib):
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.norm = nn.BatchNorm2d(2)
            self.head = nn.Sequential(OrderedDict(flat=nn.Flatten(), fc=nn.Linear(8, 3)))
            self.again = self.head
            self.scale = nn.Parameter(lib.ones(1))
            self.register_buffer("shift", lib.zeros(1))
            self.register_buffer("cache", lib.zeros(1), persistent=False)
            self.register_buffer("later", None)
            self.register_parameter("missing", None)
            self.nothing = None

        def forward(self, x):
            return self.head(self.norm(self.conv(x)).relu()) * self.scale + self.shift

    return Net()


@agrees
def test_names(lib):
    net = make_net(lib)
    both = {"remove_duplicate": False}
    return [
        [name for name, _ in net.named_parameters()],
        [name for name, _ in net.named_parameters(prefix="x", recurse=False)],
        [name for name, _ in net.named_parameters(**both)],
        [name for name, _ in net.named_buffers()],
        [name for name, _ in net.named_modules()],
        [name for name, _ in net.named_modules(**both)],
        [name for name, _ in net.named_children()],
        [type(m).__name__ for m in net.modules()],
        len(list(net.parameters())),
        len(list(net.buffers(recurse=False))),
        list(net.state_dict()),
        dict(net.state_dict()._metadata),
        repr(net),
        sorted(set(dir(net)) & {"conv", "head", "scale", "shift", "training", "again"}),
    ]


@agrees
def test_lookups(lib):
    net = make_net(lib)
    return [
        repr(net.get_submodule("head.fc")),
        net.get_parameter("head.fc.bias"),
        net.get_buffer("norm.running_var"),
        error(lambda: net.get_submodule("head.no")),
        error(lambda: net.get_submodule("scale")),
        error(lambda: net.get_parameter("shift")),
        error(lambda: net.get_parameter("head.none")),
        error(lambda: net.get_buffer("scale")),
        error(lambda: net.get_buffer("none")),
        error(lambda: net.absent),
        error(lambda: net.set_submodule("", net.conv)),
        error(lambda: net.set_submodule("conv", 3)),
        error(lambda: net.set_submodule("scale", net.conv)),
        error(lambda: net.set_submodule("head.absent", net.conv, strict=True)),
        net.set_submodule("head.fc", lib.nn.Identity()),
        repr(net.head),
    ]


@agrees
def test_registration_errors(lib):
    nn = lib.nn
    net = make_net(lib)

    class Early(nn.Module):
        def __init__(self, action):
            action(self)

    def assign(name, value):
        return error(lambda: setattr(net, name, value))

    return [
        error(lambda: Early(lambda m: setattr(m, "w", nn.Parameter(lib.ones(1))))),
        error(lambda: Early(lambda m: setattr(m, "w", nn.ReLU()))),
        error(lambda: Early(lambda m: m.register_buffer("w", lib.ones(1)))),
        error(lambda: Early(lambda m: m.register_parameter("w", nn.Parameter(lib.ones(1))))),
        assign("scale", 3),
        assign("scale", lib.ones(1)),
        assign("conv", "text"),
        assign("shift", 3),
        error(lambda: net.register_parameter(3, None)),
        error(lambda: net.register_parameter("a.b", None)),
        error(lambda: net.register_parameter("", None)),
        error(lambda: net.register_parameter("forward", None)),
        error(lambda: net.register_parameter("p", 3)),
        error(lambda: net.register_parameter("p", lib.ones(1))),
        error(lambda: net.register_buffer(3, None)),
        error(lambda: net.register_buffer("a.b", None)),
        error(lambda: net.register_buffer("", None)),
        error(lambda: net.register_buffer("conv", None)),
        error(lambda: net.register_buffer("b", 3)),
        error(lambda: net.add_module("a.b", None)),
        error(lambda: net.add_module("", None)),
        error(lambda: net.add_module("m", 3)),
        error(lambda: net.add_module(3, None)),
        error(lambda: net.add_module("shift", nn.ReLU())),
        error(lambda: nn.Module()(1)),
        error(lambda: nn.Module(1)),
        error(lambda: net.train("yes")),
        error(lambda: net.to(lib.int64)),
        error(lambda: delattr(net, "absent")),
    ]


@agrees
def test_assignment_moves_between_tables(lib):
    nn = lib.nn
    net = nn.Module()
    seen = []

    def note():
        seen.append([sorted(net._parameters), sorted(net._buffers), sorted(net._modules)])
        seen.append(hasattr(net, "x"))

    net.x = 3
    note()
    net.x = nn.Parameter(lib.ones(2))
    note()
    net.x = None
    note()
    del net.x
    note()
    net.x = nn.ReLU()
    note()
    net.x = None
    note()
    del net.x
    net.register_buffer("x", None)
    note()
    net.x = lib.ones(3)
    note()
    net.x = nn.Parameter(lib.ones(1))
    note()
    net.x = nn.Tanh() if False else None
    net.y = nn.Buffer(lib.ones(2), persistent=False)
    note()
    net._modules["direct"] = nn.ReLU()
    seen.append([repr(net.direct), repr(net)])
    net._parameters.pop("x")
    note()
    return [seen, list(net.state_dict())]


@agrees
def test_deepcopy_and_pickle(lib):
    net = make_net(lib)
    twin = copy.deepcopy(net)
    with lib.no_grad():
        twin.scale.fill_(5)
        twin.shift.fill_(2)
    twin.extra = lib.nn.ReLU()
    seq = pickle.loads(pickle.dumps(lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.BatchNorm1d(2))))
    seq[0].weight = lib.nn.Parameter(lib.zeros(2, 2))
    x = lib.randn(2, 1, 4, 4)
    return [
        net(x),
        twin(x),
        twin.again is twin.head,
        list(twin.state_dict()),
        seq.state_dict(),
        list(net._modules),
        isinstance(twin.scale, lib.nn.Parameter),
    ]


@agrees
def test_conversions(lib):
    net = make_net(lib)
    net(lib.randn(2, 1, 4, 4)).sum().backward()
    result = []
    for change in ("double", "half", "float", "cpu", "eval", "train"):
        assert getattr(net, change)() is net
        result.append([str(p.dtype) for p in net.parameters()])
        result.append([str(p.grad.dtype) for p in net.parameters()])
        result.append([str(b.dtype) for b in net.buffers()])
    result.append(str(net.to(lib.float64).scale.dtype))
    result.append(str(net.to("cpu").scale.dtype))
    result.append(str(net.to("cpu", lib.float32).scale.dtype))
    result.append(str(net.to(dtype=lib.float64).scale.dtype))
    result.append(str(net.to(lib.ones(1)).scale.dtype))
    result.append(str(net.type(lib.float64).norm.num_batches_tracked.dtype))
    net.requires_grad_(False)
    result.append([p.requires_grad for p in net.parameters()])
    return result


@agrees
def test_gradients_and_modes(lib):
    net = make_net(lib)
    net(lib.randn(2, 1, 4, 4)).sum().backward()
    net.zero_grad(set_to_none=False)
    zeros = [p.grad for p in net.parameters()]
    net.zero_grad()
    order = []
    net.apply(lambda m: order.append(type(m).__name__))
    net.head.eval()
    return [
        zeros,
        [p.grad is None for p in net.parameters()],
        order,
        [m.training for m in net.modules()],
        [m.training for m in net.eval().modules()],
    ]


@agrees
def test_parameters(lib):
    P = lib.nn.Parameter
    p = P(lib.ones(2))
    return [
        p,
        repr(p),
        isinstance(p, P),
        isinstance(p, lib.Tensor),
        isinstance(lib.ones(1), P),
        isinstance(p * 1, P),
        P(lib.ones(1), requires_grad=False),
        P(),
        type(p).__name__ != "",
        isinstance(copy.deepcopy(p), P),
        isinstance(p.detach(), P),
    ]


# ---- state dicts ----


@agrees
def test_state_dict_round_trip(lib):
    net, other = make_net(lib), make_net(lib)
    answer = other.load_state_dict(net.state_dict())
    loose = other.load_state_dict({"scale": lib.zeros(1), "odd": lib.zeros(1)}, strict=False)
    kept = net.state_dict(keep_vars=True)["scale"] is net.scale
    prefixed = list(net.state_dict(prefix="model."))
    return [
        str(answer),
        list(loose.missing_keys),
        loose.unexpected_keys,
        kept,
        prefixed,
        other.state_dict(),
        net.state_dict()["scale"].requires_grad,
    ]


@agrees
def test_load_errors(lib):
    net = make_net(lib)
    state = net.state_dict()
    wrong = dict(state, scale=lib.ones(2), **{"head.fc.bias": lib.ones(4)})
    missing = {key: value for key, value in state.items() if "conv" not in key}
    extra = dict(state, odd=lib.ones(1), **{"head.odd": lib.ones(1), "no.where": lib.ones(1)})
    junk = dict(state, scale=[1.0])

    def text(function):
        try:
            function()
        except Exception as raised:
            return type(raised).__name__ + str(raised)

    return [text(lambda s=s: net.load_state_dict(s)) for s in (wrong, missing, extra, junk, 3)]


@agrees
def test_load_assign(lib):
    net = lib.nn.Linear(2, 1)
    state = {"weight": lib.ones(1, 2), "bias": lib.zeros(1)}
    net.load_state_dict(state, assign=True)
    with lib.no_grad():
        state["weight"].fill_(3)
    return [net.weight, isinstance(net.weight, lib.nn.Parameter), net.state_dict()]


@agrees
def test_old_scalars_and_versions(lib):
    norm = lib.nn.BatchNorm1d(2)
    state = OrderedDict((k, v) for k, v in norm.state_dict().items() if "num" not in k)
    norm.load_state_dict(state)
    holder = lib.nn.Module()
    holder.value = lib.nn.Parameter(lib.tensor(1.0))
    holder.load_state_dict({"value": lib.tensor([2.0])})
    return [norm.state_dict(), holder.value]


@agrees
def test_extra_state(lib):
    class Counted(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    first, second = Counted(), Counted()
    first.count = 9
    second.load_state_dict(first.state_dict())
    return [
        second.count,
        first.state_dict(),
        error(lambda: second.load_state_dict({})),
        error(lambda: lib.nn.ReLU().load_state_dict({"_extra_state": 1})),
    ]


# ---- hooks ----


@agrees
def test_forward_hooks(lib):
    net = lib.nn.Linear(2, 2)
    log = []
    one = net.register_forward_pre_hook(lambda m, args: log.append("pre") or (args[0] * 2,))
    two = net.register_forward_hook(lambda m, args, out: log.append("post") or out + 1)
    net.register_forward_hook(
        lambda m, a, k, o: log.append(sorted(k)), with_kwargs=True, prepend=True
    )
    net.register_forward_hook(lambda m, a, o: log.append("always"), always_call=True)
    first = net(lib.ones(1, 2))
    one.remove()
    with two:
        second = net(input=lib.ones(1, 2))
    third = net(lib.ones(1, 2))
    failed = error(lambda: net(lib.ones(1, 3)))
    net.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    return [first, second, third, log, failed[0], error(lambda: net(lib.ones(1, 2)))]


@agrees
def test_backward_hooks(lib):
    net = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Tanh())
    log = []

    def note(module, grad_input, grad_output):
        log.append([type(module).__name__, grad_input, grad_output])

    net[0].register_full_backward_hook(note)
    net[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    net.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    x = lib.randn(4, 2, requires_grad=True)
    net(x).sum().backward()
    net(x.detach()).sum().backward()
    return [x.grad, net[0].weight.grad, log]


@agrees
def test_backward_hooks_of_several_tensors(lib):
    class Two(lib.nn.Module):
        def forward(self, a, b, scale):
            return a * scale, (a * b).sum()

    module, log = Two(), []

    def note(module, grad_input, grad_output):
        log.append([list(grad_input), list(grad_output)])
        return (grad_input[0] * 2, grad_input[1], None)

    module.register_full_backward_hook(note)
    a, b = lib.randn(3, requires_grad=True), lib.randn(3, requires_grad=True)
    first, second = module(a, b, 3)
    (first.sum() * second).backward()
    with lib.no_grad():
        quiet = module(a, b, 1)
    return [a.grad, b.grad, log, [t.requires_grad for t in quiet]]


@agrees
def test_getattr_of_a_class_is_asked_for_what_is_registered(lib):
    """As by pyro's modules, which note each parameter that is read."""
    log = []

    class Notes(lib.nn.Module):
        shadowed = "of the class"

        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.inner = lib.nn.Linear(2, 2)
            self.register_buffer("count", lib.zeros(1))
            self.register_buffer("missing", None)

        def __getattr__(self, name):
            found = super().__getattr__(name)
            log.append(name)
            return found * 2 if name == "weight" else found

        def forward(self, x):
            return self.inner(x) * self.weight + self.count

    net, seen = Notes(), []
    for each in (net, copy.deepcopy(net), copy.copy(net)):
        log.clear()
        seen += [each(lib.ones(1, 2)).shape, list(log), each.weight, each.missing]
        seen += [list(each.state_dict()), "weight" in vars(each), "weight" in dir(each)]
    net.weight = lib.nn.Parameter(lib.zeros(2))
    net.inner, net.count = lib.nn.ReLU(), lib.ones(1)
    seen += [net.weight, type(net.inner).__name__, net.count, error(lambda: net.nothing)]
    del net.count
    net._parameters["extra"] = lib.nn.Parameter(lib.ones(1))
    net._parameters["shadowed"] = lib.nn.Parameter(lib.ones(1))
    net.double().zero_grad()
    seen += [hasattr(net, "count"), net.extra, net.shadowed, [n for n, _ in net.named_parameters()]]
    net.load_state_dict({"weight": lib.ones(2), "extra": lib.ones(1), "shadowed": lib.ones(1)})
    return [*seen, net.weight]


@agrees
def test_state_dict_hooks_of_older_programs(lib):
    inner = lib.nn.Linear(1, 1, bias=False)
    outer = lib.nn.Sequential(inner)
    inner._register_state_dict_hook(lambda m, state, prefix, meta: {"replaced": 1})
    seen = [list(outer.state_dict()), list(inner.state_dict())]
    handle = outer._register_state_dict_hook(lambda m, state, *_: state.update(more=2))
    seen.append(list(copy.deepcopy(outer).state_dict()))
    handle.remove()
    addindent = lib.nn.modules.module._addindent
    return [*seen, list(outer.state_dict()), addindent("a\nb\n\nc", 3), addindent("a", 2)]


@agrees
def test_members_that_subclasses_list(lib):
    class Listed(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = lib.nn.Linear(2, 2)
            self.notes = {"a": "first", "b": None}

        def named_notes(self, **options):
            members = self._named_members(lambda m: getattr(m, "notes", {}).items(), **options)
            return list(members)

    net = Listed()
    net.below = Listed()
    x = net.inner.weight
    alike = [
        x._cdata == x._cdata,
        x._cdata == x.detach()._cdata,
        net.inner.weight._cdata == x._cdata,
    ]
    names = [name for name, _ in net._named_members(lambda m: m._parameters.items(), prefix="p")]
    return [net.named_notes(), net.named_notes(prefix="n", recurse=False), alike, names]
