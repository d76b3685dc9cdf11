"""`imode.library` beside `torch.library`: schemas of annotated functions, and operators."""

import itertools
import typing
import warnings

import pytest
import torch

import imode

NUMBER = typing.Union[int, float, bool]  # noqa: UP007 - as PyTorch spells types.Number
TYPES = (
    *("Tensor", "Optional[Tensor]", "List[Tensor]", "list[Tensor]", "Sequence[Tensor]"),
    *("int", "Optional[int]", "List[int]", "Sequence[int]", "Optional[List[int]]", "list[int]"),
    *("float", "Optional[float]", "List[float]", "Optional[Sequence[float]]", "bool"),
    *("List[bool]", "Optional[bool]", "str", "Optional[str]", "Number", "Optional[Number]"),
    *("List[Number]", "dtype", "Optional[dtype]", "device", "Optional[device]"),
    *("List[Optional[Tensor]]", "tuple[int, int]", "dict", "complex", "List[str]", "Nonsense"),
    "'Tensor'",
)
DEFAULTS = ("", " = None", " = 2", " = 2.5", " = True", " = 'a'", " = lib.float32", " = []")
RESULTS = (
    *("Tensor", "None", "int", "float", "bool", "Number", "List[Tensor]", "list[Tensor]", "str"),
    *("Tuple[Tensor, Tensor]", "tuple[Tensor, int]", "tuple[Tensor]", "Optional[Tensor]", "dict"),
)


def schema(lib, parameters, result, mutates):
    """What `infer_schema` gives, or the class of what it raises."""
    space = dict(vars(typing)) | {"lib": lib, "Tensor": lib.Tensor, "Number": NUMBER}
    space |= {"dtype": lib.dtype, "device": lib.device}
    returns = f" -> {result}" if result else ""
    try:
        exec(f"def f({parameters}){returns}: ...", space)
        return lib.library.infer_schema(space["f"], mutates_args=mutates)
    except (ValueError, NameError) as error:
        return type(error)


PARAMETERS = [
    *(f"x: {kind}{default}" for kind, default in itertools.product(TYPES, DEFAULTS)),
    *(f"x: Tensor, y: {kind}, *, z: int = 3" for kind in TYPES),
    *("", "x", "x, y: int", "*, x: Tensor", "x: Tensor, /", "*x: Tensor", "**x: Tensor"),
    *("x: Tensor, *, y: Tensor, z: Tensor", "x: int, y: List[Tensor], z: Optional[Tensor] = None"),
]


@pytest.mark.parametrize("mutates", [(), ("x",), {"y"}, ["x", "y"], "unknown", "x", ("nonesuch",)])
def test_schemas_of_annotated_functions(mutates):
    differ = {
        parameters: found
        for parameters in PARAMETERS
        if (found := [schema(lib, parameters, "Tensor", mutates) for lib in (imode, torch)])[0]
        != found[1]
    }
    assert differ == {}


@pytest.mark.parametrize("result", [*RESULTS, ""])
def test_schemas_of_results(result):
    assert schema(imode, "x: Tensor", result, ()) == schema(torch, "x: Tensor", result, ())


PROGRAMS = {
    "a derivative": """
@lib.library.custom_op(ns + "::f", mutates_args=())
def f(x: lib.Tensor, n: int, y: lib.Tensor, *, k: float = 2.0) -> lib.Tensor:
    return x * n + y * k
def setup_context(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(output)
    ctx.n, ctx.k = inputs[1], keyword_only_inputs["k"]
    seen.append((len(inputs), ctx.needs_input_grad[:3]))
def backward(ctx, grad):
    seen.append((ctx.needs_input_grad, ctx.saved_tensors[0].tolist()))
    return grad * ctx.n, None, grad * ctx.k
f.register_autograd(backward, setup_context=setup_context)
x, y = lib.ones(2, requires_grad=True), lib.ones(2)
with lib.no_grad():
    f(x, 1, y)
with lib.inference_mode():
    seen.append(f(x, 1, y).is_inference())
z = f(x, 3, y, k=4.0)
z.sum().backward()
seen += [x.grad.tolist(), type(z.grad_fn).__name__, z.requires_grad, f(y, 1, y).requires_grad]
""",
    "lists": """
f = lib.library.custom_op(ns + "::f", lambda x, n=2: [x[0] * n, x[1] * n], mutates_args=(),
                          schema="(Tensor[] x, int n=2) -> Tensor[]")
f.register_autograd(lambda ctx, grads: ([grads[0] * 2, None], None),
                    setup_context=lambda ctx, inputs, output: seen.append(len(output)))
x = lib.ones(2, requires_grad=True)
y = f([x, lib.ones(2)], 3)
seen.append(type(y))
(y[0] + y[1]).sum().backward()
seen.append(x.grad.tolist())
""",
    "no derivative": """
f = lib.library.custom_op(
    ns + "::f", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
y = f(lib.ones(2, requires_grad=True))
seen += [y.requires_grad, type(y.grad_fn).__name__]
raises(lambda: y.sum().backward())
""",
    "what a kernel gets": """
with lib.library._scoped_library(ns, "DEF") as m:
    m.define("f(Tensor x, int a=1, *, float b=2.0, bool c=False) -> Tensor")
    m.impl("f", lambda x, *a, **k: (seen.append((a, k)), x * 1)[1], "CPU")
    f = getattr(lib.ops, ns).f
    x = lib.ones(2)
    f(x); f(x, 2, c=True); f(x, 1, b=2.0); f(x, b=3.0)
    raises(lambda: f()); raises(lambda: f(3)); raises(lambda: f(x, 1, 2)); raises(lambda: f(x, d=1))
    raises(lambda: m.define("f(Tensor x) -> Tensor"))
    raises(lambda: m.impl("f", 3, "CPU")); raises(lambda: m.impl("f", f, "XPUU"))
    raises(lambda: f.nonesuch); raises(lambda: getattr(lib.ops, ns).nonesuch)
    raises(lambda: lib.library.Library(ns, "DEF")); raises(lambda: lib.library.Library(ns, "X"))
    seen.append(f.overloads())
""",
    "results": """
with lib.library._scoped_library(ns, "DEF") as m:
    m.define("f(Tensor x) -> (Tensor, Tensor)")
    m.define("g(Tensor x) -> Tensor[]")
    m.impl("f", lambda x: [x * 2, x * 3], "CPU")
    m.impl("g", lambda x: (x * 2, x * 3), "CPU")
    space = getattr(lib.ops, ns)
    seen += [type(space.f(lib.ones(2))), type(space.g(lib.ones(2)))]
""",
    "memory": """
for kernel in (lambda x: x, lambda x: x[:1], lambda x: x.detach()):
    f = lib.library.custom_op(ns + "::f", kernel, mutates_args=(), schema="(Tensor x) -> Tensor")
    refused(lambda: f(lib.ones(2)))
f = lib.library.custom_op(ns + "::g", lambda x: (x, x), mutates_args=(),
                          schema="(Tensor x) -> (Tensor, Tensor)")
refused(lambda: f(lib.ones(2)))
raises(lambda: lib.library.custom_op(
    ns + "::h", lambda x: x, mutates_args=("x",), schema="(Tensor x) -> Tensor"))
f = lib.library.custom_op(
    ns + "::i", lambda x: None, mutates_args=("x",), schema="(Tensor(a!) x) -> ()")
raises(lambda: f.register_autograd(lambda ctx: None))
x = lib.ones(2)
f(x)
seen.append(x._version)
""",
    "imode's own": """
x = lib.tensor([3.0, 4.0], requires_grad=True)
with lib.library._scoped_library("aten", "IMPL") as m:
    m.impl("mul.Tensor", lambda a, b: a + b, "CPU", allow_override=True)
    y = x * x
    seen += [y.tolist(), type(y.grad_fn).__name__, (x * 2).tolist()]
    y.sum().backward()
seen += [(x * x).tolist(), x.grad.shape]
seen += [lib.ops.aten.add.Tensor(x, x).tolist(), lib.ops.aten.max.dim(x, 0)[0].item()]
""",
    "opcheck": """
f = lib.library.custom_op(
    ns + "::f", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
names = ("test_schema", "test_autograd_registration", "test_faketensor")
x = lib.ones(2, requires_grad=True)
found = lib.library.opcheck(f, (x,), test_utils=names, raise_exception=False)
seen.append({name: isinstance(value, str) and value for name, value in found.items()})
raises(lambda: lib.library.opcheck(f, (x,), test_utils=names))
f.register_fake(lambda x: lib.empty_like(x))
f.register_autograd(lambda ctx, grad: grad * 2)
seen.append(lib.library.opcheck(f, (x,), test_utils=names))
raises(lambda: lib.library.opcheck(f, (x,), test_utils="nonesuch"))
raises(lambda: lib.library.opcheck(3, (x,)))
""",
}


def run(lib, name):
    """What a program notes, and the classes and first words of what it raises."""
    seen = []

    def raises(function):
        try:
            function()
            seen.append("nothing")
        except Exception as error:
            seen.append((type(error).__name__, str(error).strip()[:20]))

    def refused(function):  # PyTorch's sentence begins with the module of its own
        with pytest.raises(RuntimeError, match="may not alias any inputs to this custom operator"):
            function()

    space = {"lib": lib, "seen": seen, "raises": raises, "refused": refused}
    space |= {"ns": f"conf{list(PROGRAMS).index(name)}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(PROGRAMS[name], space)
    return [str(item) for item in seen]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    assert run(imode, name) == [text.replace("torch.", "imode.") for text in run(torch, name)]


MORE = {
    "tags": """
l = L.Library("side_tags", "DEF")
l.define("f() -> ()", tags=lib.Tag.pointwise)
l.define("g() -> ()", tags=(lib.Tag.core, lib.Tag.view_copy))
space = lib.ops.side_tags
found = [str(space.f.default.tags), str(space.g.default.tags), str(list(lib.Tag.__members__))]
found += [lib.Tag.pointwise in lib.ops.aten.mul.Tensor.tags, int(lib.Tag.out)]
l._destroy()
""",
    "custom_op's tags": """
f = L.custom_op("side_custom_tags::f", lambda x: x * 1, mutates_args=(),
                schema="(Tensor x) -> Tensor", tags=(lib.Tag.flexible_layout,))
found = sorted(map(str, f._opoverload.tags))
""",
    "define and impl": """
L.define("side_define::f", "(Tensor x) -> Tensor")
kernel = L.impl("side_define::f", "cpu")(lambda x: x * 2)
L.define("side_define::g", "(Tensor x) -> Tensor")
L.impl("side_define::g", ("cpu", "meta"), lambda x: x * 3)
x = lib.ones(2)
found = [lib.ops.side_define.f(x), lib.ops.side_define.g(x), lib.ops.side_define.g(x.to("meta"))]
found = [found[0].tolist(), found[1].tolist(), str(found[2].shape[0])]
l = L.Library("side_older", "DEF")
found.append(L.define(l, "h(Tensor x) -> Tensor")(lambda x: x * 4)(1))
L.impl(l, "h", "CPU")(lambda x: x * 5)
found.append(lib.ops.side_older.h(x).tolist())
l._destroy()
""",
    "set_kernel_enabled": """
f = L.custom_op("side_off::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")
f.register_kernel("cpu", lambda x: x + 10)
x, found = lib.zeros(1), []
with f.set_kernel_enabled("cpu", enabled=False):
    found.append(f(x).item())
    with f.set_kernel_enabled("cpu", enabled=True):
        found.append(f(x).item())
    found.append(f(x).item())
found.append(f(x).item())
""",
    "opcheck": """
f = L.custom_op("side_check::f", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
f.register_fake(lambda x: lib.empty_like(x))
found = [L.opcheck(f, (lib.ones(2),)), L.opcheck(f, (lib.ones(2),), test_utils="test_schema")]
try:
    L.opcheck(f, (lib.ones(2, requires_grad=True),))
except L._OpCheckError if hasattr(L, "_OpCheckError") else Exception as error:
    found.append(str(error).split(" (scroll")[0])
f.register_autograd(lambda ctx, grad: grad * 2)
x = lib.ones(2, requires_grad=True)
found.append(L.opcheck(f, (x,), test_utils="test_aot_dispatch_static", atol=1e-3, rtol=1e-3))
found.append(L.opcheck(f, (x,), raise_exception=False))
""",
    "a wrong util": """
f = L.custom_op("side_util::f", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
try:
    L.opcheck(f, (lib.ones(2),), test_utils="bogus")
except ValueError as error:
    found = str(error)
""",
    "a schema taken apart": """
l = L.Library("side_schema", "DEF")
l.define("f.x(Tensor(a!) x, Tensor? y, *, int[2] k=1, float s=2.5, bool b=False) -> Tensor(a!)")
s = lib.ops.side_schema.f.x._schema
found = [s.name, s.overload_name, s.is_mutable, len(s.returns), str(s)]
for a in s.arguments:
    info = a.alias_info
    found.append([a.name, str(a.type), a.kwarg_only, a.is_write, a.has_default_value()])
    found.append([info and info.is_write, info and sorted(info.before_set)])
    found.append(str(list(a.default_value) if a.name == "k" else a.default_value))
l._destroy()
""",
    "overloads of one operator": """
f = lib.ops.aten.max.dim
packet = f.overloadpacket
found = [packet is lib.ops.aten.max, packet.__name__, f.__name__, str(f), f.namespace]
""",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MORE)
def test_what_each_program_finds(name):
    found = []
    for lib in (imode, torch):
        names = {"lib": lib, "L": lib.library}
        exec(MORE[name], names)
        found.append(names["found"])
    assert found[0] == found[1]
