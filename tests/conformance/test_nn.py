"""The same programs over nn in imode and in PyTorch: values, names, reprs and errors are equal."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import imode  # noqa: E402
from tests.conformance.side_by_side import error, run, same  # noqa: E402

PROGRAMS = []


def program(function):
    """Add a program: a function of the library that returns what is compared."""
    PROGRAMS.append(function)
    return function


# ---- every module: starting values, repr, state, forward, backward ----

IMAGE, SEQUENCE, ROW = (4, 6, 8, 8), (4, 6, 10), (4, 6)
MODULES = [
    ("Linear(6, 3)", ROW),
    ("Linear(6, 3, bias=False)", ROW),
    ("Linear(6, 3)", (2, 5, 6)),
    ("Linear(6, 3)", (6,)),
    ("Identity(1, 2, a=3)", ROW),
    ("Conv1d(6, 4, 3)", SEQUENCE),
    ("Conv1d(6, 4, 3, padding='same')", SEQUENCE),
    ("Conv1d(6, 4, 2, stride=2, groups=2, bias=False)", SEQUENCE),
    ("Conv2d(6, 4, 3)", IMAGE),
    ("Conv2d(6, 4, (3, 2), stride=2, padding=1)", IMAGE),
    ("Conv2d(6, 4, 3, dilation=2, padding=2, groups=2)", IMAGE),
    ("Conv2d(6, 4, 3, padding='same', padding_mode='reflect')", IMAGE),
    ("Conv2d(6, 4, 3, padding=1, padding_mode='circular')", IMAGE),
    ("Conv2d(6, 4, 3, padding=1, padding_mode='replicate')", IMAGE),
    ("BatchNorm1d(6)", ROW),
    ("BatchNorm1d(6)", SEQUENCE),
    ("BatchNorm1d(6, affine=False)", ROW),
    ("BatchNorm1d(6, track_running_stats=False)", ROW),
    ("BatchNorm1d(6, momentum=None, eps=1e-3)", ROW),
    ("BatchNorm1d(6, bias=False)", ROW),
    ("BatchNorm2d(6)", IMAGE),
    ("LayerNorm(6)", ROW),
    ("LayerNorm((6, 10), elementwise_affine=False)", SEQUENCE),
    ("LayerNorm([10], bias=False)", SEQUENCE),
    ("GroupNorm(3, 6)", IMAGE),
    ("GroupNorm(2, 6, affine=False)", SEQUENCE),
    ("Dropout(0.0)", ROW),
    ("Dropout(1.0)", ROW),
    ("Dropout(0.3)", IMAGE),
    ("Dropout2d(0.5)", IMAGE),
    ("Dropout1d(0.5)", SEQUENCE),
    ("Flatten()", IMAGE),
    ("Flatten(0, 2)", IMAGE),
    ("DataParallel(nn.Linear(3, 2))", (2, 3)),
    ("Unflatten(1, (2, 3))", ROW),
    ("MaxPool1d(2)", SEQUENCE),
    ("MaxPool2d(2)", IMAGE),
    ("MaxPool2d((3, 2), stride=2, padding=1, ceil_mode=True)", IMAGE),
    ("AvgPool1d(3, stride=2, padding=1)", SEQUENCE),
    ("AvgPool2d(2)", IMAGE),
    ("AvgPool2d(3, 2, 1, count_include_pad=False)", IMAGE),
    ("AdaptiveAvgPool1d(3)", SEQUENCE),
    ("AdaptiveAvgPool2d((3, None))", IMAGE),
    ("AdaptiveAvgPool2d(1)", IMAGE),
    ("AdaptiveMaxPool1d(3)", SEQUENCE),
    ("AdaptiveMaxPool2d((None, 3))", IMAGE),
    ("ConstantPad1d(2, 3.5)", SEQUENCE),
    ("ConstantPad2d((1, 2, 0, 1), -1)", IMAGE),
    ("ZeroPad1d((1, 2))", SEQUENCE),
    ("ZeroPad2d(1)", IMAGE),
    ("ReflectionPad1d(2)", SEQUENCE),
    ("ReflectionPad2d((1, 2, 3, 0))", IMAGE),
    ("ReplicationPad1d(2)", SEQUENCE),
    ("ReplicationPad2d(1)", IMAGE),
    ("CircularPad1d(2)", SEQUENCE),
    ("CircularPad2d((1, 0, 2, 0))", IMAGE),
    ("Hardshrink()", ROW),
    ("Softshrink(0.2)", ROW),
    ("ReLU()", ROW),
    ("ReLU6()", ROW),
    ("LeakyReLU(0.2)", ROW),
    ("ELU()", ROW),
    ("CELU(0.5)", ROW),
    ("SELU()", ROW),
    ("GELU()", ROW),
    ("GELU('tanh')", ROW),
    ("SiLU()", ROW),
    ("Mish()", ROW),
    ("Sigmoid()", ROW),
    ("LogSigmoid()", ROW),
    ("Tanh()", ROW),
    ("Tanhshrink()", ROW),
    ("Softplus()", ROW),
    ("Softplus(2, 1)", ROW),
    ("Softsign()", ROW),
    ("Softmax(dim=1)", ROW),
    ("Softmin(dim=1)", ROW),
    ("LogSoftmax(dim=-1)", ROW),
    ("Softmax2d()", IMAGE),
    ("Hardtanh(-0.5, 0.5)", ROW),
    ("Hardswish()", ROW),
    ("Hardsigmoid()", ROW),
    ("Threshold(0.1, 20)", ROW),
    ("PReLU()", ROW),
    ("PReLU(6)", IMAGE),
    ("GLU()", ROW),
    ("Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))", ROW),
]


@pytest.mark.parametrize("source, shape", MODULES, ids=[f"{s}-{len(d)}d" for s, d in MODULES])
def test_module(source, shape):
    data = np.random.randn(*shape).astype("float32")

    def whole(lib):
        module = eval(f"nn.{source}", {"nn": lib.nn})
        x = lib.tensor(data.copy(), requires_grad=True)
        out = module(x)
        # Weights that differ: the plain sum of a normalised output has no gradient.
        (out * lib.linspace(-1, 1, out.numel()).view(out.shape)).sum().backward()
        grads = {name: p.grad for name, p in module.named_parameters()}
        started = dict(module.named_parameters())
        trained = copy.deepcopy(module.state_dict())
        module.eval()
        return [
            repr(module),
            started,
            trained,
            [name for name, _ in module.named_buffers()],
            out,
            x.grad,
            grads,
            module(x),
        ]

    same(run(whole, imode), run(whole, torch), source)


LOSSES = ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss", "KLDivLoss"]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", [*LOSSES, "BCELoss"])
def test_loss(name, reduction):
    data, wanted = np.random.rand(2, 4, 3).astype("float32")

    def whole(lib):
        loss = getattr(lib.nn, name)(reduction=reduction)
        x = lib.tensor(data, requires_grad=True)
        out = loss(x, lib.tensor(wanted))
        out.sum().backward()
        return [repr(loss), out, x.grad]

    same(run(whole, imode), run(whole, torch))


@pytest.mark.parametrize(
    "options",
    [
        "",
        "reduction='sum'",
        "reduction='none'",
        "ignore_index=1",
        "weight=w",
        "weight=w, ignore_index=2",
    ],
)
@pytest.mark.parametrize("name", ["CrossEntropyLoss", "NLLLoss"])
def test_class_loss(name, options):
    data = np.random.randn(5, 4).astype("float32")

    def whole(lib):
        w = lib.tensor([0.1, 0.2, 0.3, 0.4])
        loss = eval(f"nn.{name}({options})", {"nn": lib.nn, "w": w})
        x = lib.tensor(data, requires_grad=True)
        out = loss(x, lib.tensor([0, 1, 2, 3, 1]))
        out.sum().backward()
        return [repr(loss), loss.state_dict(), out, x.grad]

    same(run(whole, imode), run(whole, torch))


@program
def cross_entropy_other_targets(lib):
    x = lib.randn(3, 4)
    soft = lib.softmax(lib.randn(3, 4), 1)
    smooth = lib.nn.CrossEntropyLoss(label_smoothing=0.2)
    return [
        lib.nn.CrossEntropyLoss()(x, soft),
        smooth(x, soft),
        smooth(x, lib.tensor([0, 3, 2])),
        lib.nn.CrossEntropyLoss()(lib.randn(2, 4, 3), lib.zeros(2, 3, dtype=lib.int64)),
    ]


@program
def embedding(lib):
    table = lib.nn.Embedding(10, 3, padding_idx=-2)
    out = table(lib.tensor([[1, 8], [8, 2]]))
    out.sum().backward()
    fixed = lib.nn.Embedding.from_pretrained(lib.ones(2, 2))
    return [repr(table), out, table.weight, table.weight.grad, repr(fixed), fixed.weight]


@program
def embedding_errors(lib):
    E = lib.nn.Embedding
    return [
        error(lambda: E(3, 2, padding_idx=3)),
        error(lambda: E(3, 2, padding_idx=-4)),
        error(lambda: E.from_pretrained(lib.ones(2))),
        error(lambda: E(3, 2, _weight=lib.ones(2, 2))),
        error(lambda: E(3, 2)(lib.tensor([3]))),
    ]


# ---- the rules of Module ----


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


@program
def names(lib):
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


@program
def lookups(lib):
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


@program
def registration_errors(lib):
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


@program
def assignment_moves_between_tables(lib):
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


@program
def deepcopy_and_pickle(lib):
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


@program
def conversions(lib):
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


@program
def gradients_and_modes(lib):
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


# ---- state dicts ----


@program
def state_dict_round_trip(lib):
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


@program
def load_errors(lib):
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


@program
def load_assign(lib):
    net = lib.nn.Linear(2, 1)
    state = {"weight": lib.ones(1, 2), "bias": lib.zeros(1)}
    net.load_state_dict(state, assign=True)
    with lib.no_grad():
        state["weight"].fill_(3)
    return [net.weight, isinstance(net.weight, lib.nn.Parameter), net.state_dict()]


@program
def old_scalars_and_versions(lib):
    norm = lib.nn.BatchNorm1d(2)
    state = OrderedDict((k, v) for k, v in norm.state_dict().items() if "num" not in k)
    norm.load_state_dict(state)
    holder = lib.nn.Module()
    holder.value = lib.nn.Parameter(lib.tensor(1.0))
    holder.load_state_dict({"value": lib.tensor([2.0])})
    return [norm.state_dict(), holder.value]


@program
def extra_state(lib):
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


# ---- containers ----


@program
def sequential(lib):
    nn = lib.nn
    seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh())
    seq.append(nn.Sigmoid()).insert(1, nn.ReLU6())
    seq.extend([nn.Identity()])
    result = [repr(seq), len(seq), repr(seq[1]), repr(seq[-1]), repr(seq[1:3]), list(seq._modules)]
    seq[0] = nn.Linear(3, 3)
    del seq[1]
    result += [repr(seq), repr(seq.pop(0)), repr(seq)]
    del seq[0:2]
    result += [repr(seq), repr(seq + nn.Sequential(nn.GELU())), repr(seq * 2), repr(2 * seq)]
    seq += nn.Sequential(nn.GELU())
    seq *= 2
    result += [repr(seq), [type(m).__name__ for m in seq]]
    return result + [
        error(lambda: seq[10]),
        error(lambda: seq.insert(99, nn.ReLU())),
        error(lambda: seq.insert(0, 3)),
        error(lambda: seq + 3),
        error(lambda: seq * 0),
        error(lambda: seq * 1.5),
        error(lambda: nn.Sequential(3)),
        error(lambda: seq.append(3)),
    ]


@program
def module_list(lib):
    nn = lib.nn
    block = lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    both = nn.ModuleList([block(), block(), nn.Tanh()])
    both.append(nn.ReLU())
    both.insert(1, nn.GELU())
    both += [nn.ReLU()]
    outer = nn.ModuleList([both, nn.ModuleList()])
    result = [repr(both), repr(outer), len(both), repr(both[-1]), repr(both[1:3])]
    del both[1]
    both[0] = nn.Tanh()
    return result + [
        repr(both),
        repr(both + [nn.ReLU()]),
        repr(both.pop(-1)),
        list(both.state_dict()),
        error(lambda: both[9]),
        error(lambda: both.extend(3)),
        error(lambda: both(1)),
        error(lambda: both.append(3)),
    ]


@program
def module_dict(lib):
    nn = lib.nn
    table = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})
    table["c"] = nn.Tanh()
    table.update([["d", nn.ReLU()]])
    table.update(OrderedDict(e=nn.ReLU()))
    result = [
        repr(table),
        list(table),
        len(table),
        "a" in table,
        list(table.keys()),
        [repr(m) for m in table.values()],
        repr(table.pop("b")),
        list(table.state_dict()),
    ]
    del table["c"]
    return result + [
        [key for key, _ in table.items()],
        error(lambda: table["zz"]),
        error(lambda: table.update(3)),
        error(lambda: table.update([3])),
        error(lambda: table.update([[1, 2, 3]])),
        error(lambda: table.update({"keys": nn.ReLU()})),
        error(lambda: setattr(table, "x", 1) or table.clear() or table["x"]),
    ]


@program
def parameter_list(lib):
    nn = lib.nn
    params = nn.ParameterList([nn.Parameter(lib.ones(2)), lib.zeros(2, 3)])
    params.append(lib.ones(1))
    params += [3]
    params[0] = lib.zeros(5)
    return [
        repr(params),
        len(params),
        [n for n, _ in params.named_parameters()],
        params[1],
        repr(params[1:]),
        list(params.state_dict()),
        error(lambda: params[9]),
        error(lambda: params(1)),
        error(lambda: params.extend(3)),
    ]


@program
def parameter_dict(lib):
    nn = lib.nn
    params = nn.ParameterDict({"b": lib.ones(2), "a": nn.Parameter(lib.zeros(2, 3))})
    params["c"] = 3
    result = [
        repr(params),
        list(params),
        len(params),
        "a" in params,
        params["b"],
        params.get("x", 7),
        params.setdefault("d", lib.ones(1)),
    ]
    params.update([("e", lib.ones(1))])
    merged = params | nn.ParameterDict({"z": lib.ones(1)})
    return result + [
        list(merged),
        list(params.pop("e").shape),
        params.popitem()[0],
        list(params.copy()),
        list(reversed(params)),
        error(lambda: params[3]),
        error(lambda: params["no"]),
        error(lambda: params(1)),
        error(lambda: params.update(3)),
        list(params.state_dict()),
        error(lambda: params.update([3])),
    ]


# ---- hooks ----


@program
def forward_hooks(lib):
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


@program
def backward_hooks(lib):
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


@program
def backward_hooks_of_several_tensors(lib):
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


# ---- init, clipping, vectors ----

INITS = [
    "uniform_(t)",
    "uniform_(t, -2, 3)",
    "normal_(t)",
    "normal_(t, 1, 0.1)",
    "constant_(t, 3)",
    "ones_(t)",
    "zeros_(t)",
    "eye_(t)",
    "xavier_uniform_(t)",
    "xavier_normal_(t, 2)",
    "kaiming_uniform_(t, nonlinearity='relu')",
    "kaiming_normal_(t, mode='fan_out')",
    "trunc_normal_(t)",
    "trunc_normal_(t, 0, 1, -0.1, 0.1)",
    "trunc_normal_(t, a=1.5, b=3)",
    "orthogonal_(t)",
    "orthogonal_(t, gain=3)",
    "sparse_(t, 0.3)",
]


@pytest.mark.parametrize("shape", [(6, 9), (12, 4)])
@pytest.mark.parametrize("call", INITS)
def test_init(call, shape):
    def whole(lib):
        t = lib.empty(shape, requires_grad=True)
        out = eval(f"init.{call}", {"init": lib.nn.init, "t": t})
        return [out is t, t.detach(), lib.rand(3)]

    same(run(whole, imode), run(whole, torch))


@program
def init_rest(lib):
    init = lib.nn.init
    return [
        init.dirac_(lib.empty(4, 2, 3, 3), 2),
        init.dirac_(lib.empty(4, 2, 3)),
        init.kaiming_uniform_(lib.empty(3, 2, 5, 5)),
        [
            init.calculate_gain(n)
            for n in ("linear", "conv2d", "tanh", "relu", "selu", "leaky_relu")
        ],
        init.calculate_gain("leaky_relu", 0.3),
        error(lambda: init.calculate_gain("leaky_relu", True)),
        error(lambda: init.calculate_gain("nothing")),
        error(lambda: init.xavier_uniform_(lib.empty(3))),
        error(lambda: init.kaiming_uniform_(lib.empty(3, 3), mode="x")),
        error(lambda: init.eye_(lib.empty(3))),
        error(lambda: init.dirac_(lib.empty(3))),
        error(lambda: init.dirac_(lib.empty(3, 2, 2), 2)),
        error(lambda: init.orthogonal_(lib.empty(3))),
        error(lambda: init.sparse_(lib.empty(3), 0.1)),
    ]


@program
def clipping(lib):
    utils = lib.nn.utils
    result = []
    for norm in (2.0, 1.0, float("inf"), 3):
        params = [lib.nn.Parameter(lib.randn(3, 2)), lib.nn.Parameter(lib.randn(2))]
        for p in params:
            p.grad = lib.randn(p.shape)
        result += [utils.clip_grad_norm_(params, 0.7, norm), [p.grad for p in params]]
        utils.clip_grad_value_(params, 0.05)
        result += [p.grad for p in params]
    params[0].grad.fill_(float("nan"))
    result.append(error(lambda: utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)))
    result.append(utils.clip_grad_norm_([], 1.0))
    return result


@program
def vectors(lib):
    net = lib.nn.Linear(2, 3)
    vector = lib.nn.utils.parameters_to_vector(net.parameters())
    lib.nn.utils.vector_to_parameters(lib.arange(9.0), net.parameters())
    return [vector, net.weight, net.bias]


# ---- bad arguments ----


@program
def constructor_errors(lib):
    nn = lib.nn
    return [
        error(lambda: nn.Conv2d(3, 4, 3, groups=0)),
        error(lambda: nn.Conv2d(3, 4, 3, groups=2)),
        error(lambda: nn.Conv2d(4, 3, 3, groups=2)),
        error(lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2)),
        error(lambda: nn.Conv2d(3, 4, 3, padding="odd"))[0],
        error(lambda: nn.Conv2d(3, 4, 3, padding_mode="odd"))[0],
        error(lambda: nn.GroupNorm(3, 4)),
        error(lambda: nn.Dropout(2)),
        error(lambda: nn.Hardtanh(1, 0)),
        error(lambda: nn.HuberLoss(delta="x")),
        error(lambda: nn.Unflatten(1, 3)),
        error(lambda: nn.Unflatten(1, (2, "x"))),
        error(lambda: nn.BatchNorm1d(3)(lib.ones(3))),
        error(lambda: nn.BatchNorm2d(3)(lib.ones(3, 3))),
        error(lambda: nn.BatchNorm1d(3)(lib.ones(1, 3))),
        error(lambda: nn.Softmax2d()(lib.ones(3))),
        error(lambda: nn.Linear(3, 2)(lib.ones(2, 4))),
        error(lambda: nn.Conv2d(3, 2, 3)(lib.ones(1, 2, 5, 5))),
        error(lambda: nn.Parameter(lib.ones(1, dtype=lib.int64))),
    ]


@program
def functions_of_both_modules(lib):
    F = lib.nn.functional
    x = lib.randn(2, 3)
    same = lib.nn.CosineSimilarity()
    return [
        F.tanh(x),
        F.sigmoid(x),
        F.relu_(x.clone()),
        F.celu_(x.clone()),
        repr(same),
        F.threshold_(x.clone(), 0.1, 2.0),
        same(x, x + 1),
        F.relu(x, inplace=False),
    ]


@program
def legacy_reduction(lib):
    nn = lib.nn
    return [
        nn.MSELoss(size_average=False).reduction,
        nn.MSELoss(reduce=False).reduction,
        nn.L1Loss(True, True).reduction,
    ]


@program
def parameters(lib):
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


@pytest.mark.parametrize("function", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_program(function):
    same(run(function, imode), run(function, torch))
