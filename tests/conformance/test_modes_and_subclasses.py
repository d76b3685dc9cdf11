"""Dispatch modes, function modes and __torch_function__ here and in PyTorch: what each sees,
in which order, what it may return, and what raises."""

import importlib
import re

import pytest

from .side_by_side import error, plain, same

# Where the two differ in how operators are cut: PyTorch's overloads of one operator that is one
# here, and kernels of its own below composite operators.
SEEN_ELSEWHERE = ("lift_fresh", "detach", "tensor")
NAMED_ELSEWHERE = {"device", "pin_memory", "dtype"}


def modules(lib):
    name = lib.__name__
    return (
        importlib.import_module(f"{name}.utils._python_dispatch").TorchDispatchMode,
        importlib.import_module(f"{name}.overrides"),
    )


def packet(func):
    """The name of an operator without its overload."""
    return str(func).removeprefix("aten.").partition(".")[0]


def dispatched(lib, program):
    """What a dispatch mode sees of a program: names and classes of arguments; and the results."""
    mode, _ = modules(lib)
    calls = []

    class Log(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            named = sorted(set(kwargs or {}) - NAMED_ELSEWHERE)
            if packet(func) not in SEEN_ELSEWHERE:
                calls.append([packet(func), [type(arg).__name__ for arg in args], named])
            return func(*args, **(kwargs or {}))

    names = {"lib": lib, "x": lib.arange(6.0).view(2, 3), "F": lib.nn.functional}
    names["w"] = lib.ones(2, 3, requires_grad=True)
    with Log():
        exec(program, names)
    return [calls, plain(names["y"])]


@pytest.mark.parametrize(
    "program",
    [
        "y = x + x",
        "y = x * 2 - w",
        "y = w @ x.t()",
        "y = (x @ w.t()).relu()",
        "y = F.linear(x, w)",
        "y = x.max(dim=0).values",
        "y = list(x.unbind(0))",
        "y = lib.cat([x, w])",
        "y = x[0]",
        "y = x.clone(); y[0] = w.detach()[0]",
        "y = x.view(3, 2).permute(1, 0)",
        "y = x.clone().add_(1).mul_(x)",
        "y = lib.zeros(3)",
        "y = lib.full((2,), 3.0)",
        "y = lib.add(x, x, out=lib.zeros(2, 3))",
        "y = lib.where(x > 2, x, w)",
        "(w * w).sum().backward(); y = w.grad",
        "with lib.no_grad():\n    y = w.exp()",
        "with lib.inference_mode():\n    y = w.exp().sum()",
        "y = lib.autograd.grad((w.sin() * x).sum(), w)[0]",
    ],
)
def test_what_a_dispatch_mode_sees(lib, torch, program):
    ours, theirs = dispatched(lib, program), dispatched(torch, program)
    if "backward" in program or "grad(" in program:  # formulas differ in the operators they use
        ours[0] = [call for call in ours[0] if call[0] in ("sin", "cos")]
        theirs[0] = [call for call in theirs[0] if call[0] in ("sin", "cos")]
    same(ours, theirs)


def changed(lib, change):
    """The results of some operators where a mode changes what each returns."""
    mode, _ = modules(lib)

    class Changes(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return change(lib, func(*args, **(kwargs or {})))

    x = lib.ones(2, requires_grad=True)

    def program(use):
        with Changes():
            return use(lib, x)

    def outcome(use):
        found = error(lambda: program(use))
        return plain(program(use)) if found == ["nothing"] else found

    return [
        outcome(use)
        for use in (
            lambda lib, x: x * 3,
            lambda lib, x: lib.zeros(2),
            lambda lib, x: x.detach().clone().add_(1),
            lambda lib, x: lib.autograd.grad((x * 3).sum(), x)[0],
        )
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda lib, result: result,
        lambda lib, result: result + 1 if result.dim() else result,
        lambda lib, result: result.clone(),
        lambda lib, result: 3,
    ],
)
def test_what_a_dispatch_mode_returns(lib, torch, change):
    same(changed(lib, change), changed(torch, change))


def nested(lib):
    """Two modes, one in the other, in the order in which they see an operator."""
    mode, overrides = modules(lib)
    calls = []

    class D(mode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(f"{self.name} {packet(func)}")
            if self.name == "inner":
                x + 2  # seen by the outer mode
            return func(*args, **(kwargs or {}))

    class F(overrides.TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(f"{self.name} {func.__name__}")
            if self.name == "inner function":
                x.exp()
            return func(*args, **(kwargs or {}))

    x = lib.ones(2)
    with D("outer"), D("inner") as inner, F("outer function"), F("inner function"):
        y = x * 3
    with inner, inner:
        x.sin()
    return [calls, y]


def test_nested_modes(lib, torch):
    same(plain(nested(lib)), plain(nested(torch)))


def functions_seen(lib, program):
    """What a function mode sees of a program."""
    _, overrides = modules(lib)
    calls = []

    class Log(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            name = overrides.resolve_name(func)
            if not (name or "").endswith("__get__"):
                classes = [type(arg).__name__ for arg in args]
                calls.append([name, classes, sorted(kwargs or {})])
            return func(*args, **(kwargs or {}))

    names = {"lib": lib, "a": lib.ones(2, 2), "b": lib.ones(2, 2), "F": lib.nn.functional}
    with Log():
        exec(program, names)
    return plain([calls, names["y"]])


@pytest.mark.parametrize(
    "program",
    """
y = lib.add(a, b, alpha=2)
y = a.add(b)
y = a + b
y = a + 1
y = 1 + a
y = a - b
y = 2 - a
y = a * b
y = a / b
y = a // b
y = a % b
y = 2 ** a
y = a @ b
y = -a
y = ~(a > 0)
y = abs(a)
y = a >= b
y = 3 > a
y = a == b
y = a != 1
y = a[0]
y = a; a[0] = 5.0
y = a; a += 1
y = a; a *= b
y = a.sum(dim=0, keepdim=True)
y = lib.ones(2)
y = lib.tensor([1.0])
y = lib.relu(a)
y = a.clip(0)
y = lib.clip(a, 0)
y = lib.cat([a, b])
y = F.linear(a, b)
y = lib.stack((a, b))
y = lib.zeros_like(a).add_(1)
""".strip().splitlines(),
)
def test_what_a_function_mode_sees(lib, torch, program):
    same(functions_seen(lib, program), functions_seen(torch, program))


ATTRIBUTES = "shape dtype device requires_grad grad is_leaf T data ndim grad_fn layout is_cpu "
ATTRIBUTES += "real _version output_nr itemsize nbytes is_sparse _base retains_grad is_meta"
METHODS = """dim() size() size(0) numel() stride() storage_offset() is_contiguous() element_size()
is_floating_point() is_complex() data_ptr() numpy() tolist() to('cpu') float() double() cpu() type()
is_inference() get_device() requires_grad_() register_hook(print) retain_grad()"""


@pytest.mark.parametrize(
    "program",
    [
        *(f"x.{name}" for name in ATTRIBUTES.split()),
        *(f"(x * 1).{call}" for call in METHODS.split() if "numpy" not in call),
        *("x.requires_grad = True", "x.grad = lib.ones(2)", "x.data = lib.ones(1)"),
        *("x.grad = lib.ones(2); del x.grad", "len(x)", "bool(x[0])", "float(x[0])", "int(x[0])"),
        *("repr(x)", "str(x)", "f'{x}'", "[1, 2][x[0].long() - 1]", "lib.ones(2, 2).H"),
        *("x.sum().backward()", "x[0].item()", "x.detach().numpy()", "isinstance(x, lib.Tensor)"),
    ],
)
def test_attributes_and_methods_that_a_function_mode_sees(lib, torch, program):
    def seen(library):
        overrides = modules(library)[1]
        calls = []

        class Log(overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                calls.append([func.__name__, overrides.resolve_name(func)])
                return func(*args, **(kwargs or {}))

        x = library.ones(2)
        if "= " not in program and "numpy" not in program:
            x.requires_grad_("long" not in program)
        x.grad = None
        with Log():
            exec(program, {"x": x, "lib": library})
        return [[name, whole and whole.replace("torch.", "imode.")] for name, whole in calls]

    same(seen(lib), seen(torch))


def ducks(lib):
    """Classes with __torch_function__ that are no tensors."""
    calls = []

    class Duck:
        def __init__(self, tensor):
            self.tensor = tensor

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names = [t.__name__ for t in types]
            classes = [type(arg).__name__ for arg in args]
            calls.append([cls.__name__, func.__name__, names, classes, sorted(kwargs or {})])
            return "taken"

    class Sub(Duck):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            super().__torch_function__(func, types, args, kwargs)
            return NotImplemented

    class Refuses:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append("refused")
            return NotImplemented

    return calls, Duck, Sub, Refuses


def taken(lib, program):
    calls, duck, sub, refuses = ducks(lib)
    t = lib.ones(2)
    names = {"lib": lib, "t": t, "d": duck(t), "s": sub(t), "r": refuses(), "F": lib.nn.functional}
    names["D"] = modules(lib)[1]
    found = error(lambda: exec(f"y = {program}", names))
    return plain([calls, found[:1] if found[0] == "TypeError" else found, names.get("y")])


@pytest.mark.parametrize(
    "program",
    """
lib.add(t, d)
lib.add(d, t)
lib.add(d, 1, alpha=2)
lib.add(t, other=d)
lib.add(t, t, out=d)
t.add(d)
t.add_(d)
t + d
d + t
t * d
t / d
t @ d
t < d
t[d]
lib.cat([t, d])
lib.stack((d, d))
lib.sum(d, dim=0)
lib.sum(t, dim=d)
lib.ones(d)
lib.zeros_like(d)
lib.where(d, t, t)
t.clamp(min=d)
F.linear(t, d)
lib.Tensor.add(d, t)
lib.Tensor.add(3, t)
lib.add(r, t)
lib.add(r, d)
lib.add(d, s)
lib.add(s, d)
lib.add(t, "x")
t + object()
D.has_torch_function((t, d)), D.has_torch_function((t,)), D.has_torch_function_unary(d)
D.has_torch_function_variadic(t, 3), D.is_tensor_like(d), D.is_tensor_like(t), D.is_tensor_like(3)
D.handle_torch_function(lib.add, (d,), d, 1)
D.handle_torch_function(lib.add, (r,), r, 1)
D.resolve_name(lib.add), D.resolve_name(lib.Tensor.add), D.resolve_name(print)
D.is_tensor_method_or_property(lib.Tensor.add), D.is_tensor_method_or_property(lib.add)
D.is_tensor_method_or_property(lib.Tensor.shape.__get__)
lib.add in D.get_overridable_functions()[lib]
D.wrap_torch_function(lambda x: (x,))(lambda x: 3)(d)
D.wrap_torch_function(lambda x: (x,))(lambda x: 3)(t)
""".strip().splitlines(),
)
def test_classes_that_hold_tensors(lib, torch, program):
    same(taken(lib, program), taken(torch, program))


def test_the_sentence_where_nobody_answers(lib, torch):
    def said(library):
        _, _, _, refuses = ducks(library)
        with pytest.raises(TypeError) as raised:
            library.add(refuses(), 1)
        return re.split(r"\n\n(?!  -)", str(raised.value))[0].rstrip("\n").replace("torch", "imode")

    assert said(lib).replace("__imode_", "__torch_") == said(torch).replace("__imode_", "__torch_")


def test_where_nobody_is_asked(lib, torch):
    def outcomes(library, off, off_for_all):
        calls, duck, *_ = ducks(library)
        t = library.ones(2)
        found = []
        for block in (off, off_for_all):
            with block():
                found.append(error(lambda: library.add(t, duck(t)))[0])
                found.append(error(lambda: t + duck(t))[0])
        mode = modules(library)[1].BaseTorchFunctionMode
        seen = []

        class Log(mode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return super().__torch_function__(func, types, args, kwargs)

        for block in (off, off_for_all):
            with Log(), block():
                library.add(t, t)
        return [calls, found, seen]

    ours = outcomes(
        lib, modules(lib)[1].DisableTorchFunctionSubclass, modules(lib)[1].DisableTorchFunction
    )
    theirs = outcomes(torch, torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction)
    same(ours, theirs)
