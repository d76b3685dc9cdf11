"""Write the type stubs (`.pyi`) of the built package from its operator table.

    python tools/stubs.py FOLDER      the folder that holds imode/

Operators, methods and named results come from their schemas; classes and functions in Python from
their signatures. The build runs this after the extension modules are there.
"""

import inspect
import keyword
import re
import sys
import textwrap
from pathlib import Path

from stub_modules import Stubs

TYPES = {  # by Kind, without _OPT
    "TENSOR": "Tensor",
    "TENSOR_LIST": "Sequence[Tensor]",
    "OPERAND": "Tensor | Number",
    "SCALAR": "Number",
    "INT": "_i",
    "INTS": "Sequence[_i] | _i",
    "FLOAT": "_f",
    "BOOL": "_b",
    "STR": "_s",
    "DTYPE": "dtype",
    "DEVICE": "device | _s",
    "GENERATOR": "Generator",
    "ANY": "Any",
}
HEAD = '''"""Types of {}: written by the build from its operator table."""

import builtins
from builtins import bool as _b, float as _f, int as _i, str as _s
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, overload

from numpy import ndarray
'''
NUMBER = "Number: TypeAlias = _i | _f | _b | builtins.complex"
# A guard is a class that gives back the function it decorates, which a type checker takes from no
# class: to it, guards are functions.
GUARD = """_Function = TypeVar("_Function", bound=Callable[..., Any])
class _Guard:
    def __enter__(self) -> None: ...
    def __exit__(self, *exc_info: Any) -> None: ...
    def __call__(self, function: _Function) -> _Function: ..."""
OPERATORS = {
    "add": "__add__ __radd__ __iadd__",
    "sub": "__sub__ __rsub__ __isub__",
    "mul": "__mul__ __rmul__ __imul__",
    "div": "__truediv__ __rtruediv__ __itruediv__",
    "floor_divide": "__floordiv__ __rfloordiv__ __ifloordiv__",
    "pow": "__pow__ __rpow__ __ipow__",
    "remainder": "__mod__ __rmod__ __imod__",
    "matmul": "__matmul__ __rmatmul__ __imatmul__",
    "bitwise_and": "__and__ __rand__ __iand__",
    "bitwise_or": "__or__ __ror__ __ior__",
    "bitwise_xor": "__xor__ __rxor__ __ixor__",
    "lt": "__lt__",
    "le": "__le__",
    "gt": "__gt__",
    "ge": "__ge__",
}

# Of Tensor, what no schema says: attributes, and what methods return.
ATTRIBUTES = {
    "shape": "Size",
    "dtype": "dtype",
    "grad": "Tensor | None",
    "device": "device",
    "requires_grad": "_b",
    "is_leaf": "_b",
    "ndim": "_i",
    "data": "Tensor",
    "T": "Tensor",
    "mT": "Tensor",
    "H": "Tensor",
    "real": "Tensor",
    "imag": "Tensor",
    "_version": "_i",
}
RETURNS = {
    "item": "_i | _f | _b",
    "tolist": "Any",
    "dim": "_i",
    "numel": "_i",
    "backward": "None",
    "is_inference": "_b",
    "requires_grad_": "Tensor",
    "retain_grad": "None",
    "storage_offset": "_i",
    "is_contiguous": "_b",
    "__len__": "_i",
    "__bool__": "_b",
    "__float__": "_f",
    "__int__": "_i",
    "__index__": "_i",
    "__repr__": "_s",
    "__hash__": "_i",
    "__contains__": "_b",
    "__setitem__": "None",
    "__getitem__": "Tensor",
    "__neg__": "Tensor",
    "__pos__": "Tensor",
    "__abs__": "Tensor",
    "__invert__": "Tensor",
    "to": "Tensor",
    "cpu": "Tensor",
    "clone": "Tensor",
    "type": "Any",
}
EXACT = {  # whole
    "size": """@overload
def size(self) -> Size: ...
@overload
def size(self, dim: _i) -> _i: ...""",
    "stride": """@overload
def stride(self) -> tuple[_i, ...]: ...
@overload
def stride(self, dim: _i) -> _i: ...""",
    "register_hook": "def register_hook(self, hook: Callable[[Tensor], Any]) -> Any: ...",
    "numpy": "def numpy(self, *, force: _b = ...) -> ndarray[Any, Any]: ...",
}
# Special methods of compiled classes that a type checker looks for.
SPECIAL = [
    f"__{name}__"
    for name in (
        *("call", "enter", "exit", "iter", "len", "contains", "getitem"),
        *("or", "and", "sub"),
    )
]
SKIPPED = {"__class__", "__doc__", "__module__", "__dict__", "__weakref__", "__new__"}


def split(text):
    """Split at the commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def annotation(kind):
    """Return the type that an argument of a Kind accepts."""
    name = kind.name.removesuffix("_OPT")
    return TYPES[name] + " | None" * (name != kind.name)


def result(name, results, named):
    """Return the annotation of a result; a class for named results goes into `named`."""
    text = re.sub(r"\([a-z]!?\)", "", results)
    if text in ("bool", "int", "float"):
        return f"_{text[0]}"
    if text == "Scalar":
        return "Number"
    if text == "any":
        return "Any"
    if text.endswith("[]"):
        return "tuple[Tensor, ...]"
    if text.startswith("("):
        parts = [part.split(" ") for part in split(text[1:-1])]
        if all(len(part) == 2 for part in parts):
            fields = "".join(f"\n    {field}: Tensor" for _, field in parts)
            cls = "_" + name.replace(".", "_")
            named[cls] = f"class {cls}(NamedTuple):{fields}"
            return cls
        return f"tuple[{', '.join('Tensor' for _ in parts)}]"
    return "Tensor"


def signatures(operators, named, method):
    """Return the signatures of an operator's overloads, as text after `def name`."""
    texts = []
    for op in operators:
        given = result(op.schema.partition("(")[0], op.schema.rpartition(" -> ")[2], named)
        texts += varargs(op, given, method)
        texts.append(f"({', '.join(parameters(op, method))}) -> {given}: ...")
    return list(dict.fromkeys(texts))


def is_required(op, i):
    """Whether an argument has no default."""
    from imode._core.bind import REQUIRED

    return op.defaults[i] is REQUIRED


def parameters(op, method, first=0):
    """Return the parameters of an operator, from the `first` on."""
    parts = []
    for i in range(first, op.nargs):
        if i == op.n_positional:
            parts.append("*")
        kind, name = op.kinds[i], op.names[i]
        if name == "self" and not method:
            name = "input"
        if name == "self":
            parts.append("self")
            continue
        name += "_" * keyword.iskeyword(name)  # `from` cannot be written as a parameter
        given = "" if is_required(op, i) else f" = {op.defaults[i]!r}"
        parts.append(f"{name}: {annotation(kind)}{given}")
    if op.out is not None and not method:
        parts += ["*"] * ("*" not in parts) + ["out: Any = None"]
    return parts


def varargs(op, given, method):
    """Return the signature with sizes one by one, where the operator takes them so: a list."""
    if op.nargs <= method or op.n_positional != method + 1 or op.kinds[method].name != "INTS":
        return []
    if not is_required(op, method):
        return []
    parts = [*["self"] * method, f"*{op.names[method]}: _i"]
    parts += [part for part in parameters(op, method, method + 1) if part != "*"]
    return [f"({', '.join(parts)}) -> {given}: ..."]


def define(name, texts, indent=""):
    """Return the definition of a function with its overloads."""
    if len(texts) == 1:
        return f"{indent}def {name}{texts[0]}"
    return "\n".join(f"{indent}@overload\n{indent}def {name}{text}" for text in texts)


def chain(op):
    """Return an operator and its further overloads."""
    found = []
    while op is not None:
        found.append(op)
        op = op.next_overload
    return found


def tensor_class(imode, schema, named):
    """Return the class Tensor: its operators from the table, the rest by inspection."""
    lines = ["class Tensor:"]
    done = set()
    for name, op in sorted(schema.methods.items()):
        if not op.names or op.names[0] != "self":
            continue
        lines.append(define(name, signatures(chain(op), named, True), "    "))
        done.add(name)
    for name, dunders in OPERATORS.items():
        if name not in schema.functions:
            continue
        for dunder in dunders.split():
            lines.append(f"    def {dunder}(self, other: Any) -> Tensor: ...")
            done.add(dunder)
    for dunder in ("__eq__", "__ne__"):
        lines.append(f"    def {dunder}(self, other: Any) -> Tensor: ...  # type: ignore[override]")
        done.add(dunder)
    for name in sorted({*dir(imode.Tensor)} & {*vars(imode.Tensor)} - done - SKIPPED):
        value = vars(imode.Tensor)[name]
        if inspect.isgetsetdescriptor(value) or isinstance(value, property):
            lines.append(f"    {name}: {ATTRIBUTES.get(name, 'Any')}")
        elif name in EXACT:
            lines.append(textwrap.indent(EXACT[name], "    "))
        elif callable(value) and name.startswith("__") and name not in RETURNS:
            continue
        elif callable(value):
            given = RETURNS.get(name, "Any")
            note = "  # type: ignore[override]" if name.startswith("__") else ""
            lines.append(f"    def {name}(self, *args: Any, **kwargs: Any) -> {given}: ...{note}")
    lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...")
    lines.append("    def __iter__(self) -> Iterator[Tensor]: ...")
    return "\n".join(dict.fromkeys(lines))


def guard(name, value):
    """Return the declaration of a guard."""
    (parameter,) = inspect.signature(value).parameters.values()
    if parameter.default is None:
        texts = [f"{parameter.name}: None = None"]
    else:
        texts = [f"{parameter.name}: _b" + " = True" * (parameter.default is True)]
    texts = [f"({text}) -> _Guard: ..." for text in texts]
    if parameter.default is not parameter.empty:  # else it takes no function
        texts.append(f"({parameter.name}: _Function) -> _Function: ...")
    return define(name, texts)


def compiled_class(name, value):
    """Return the declaration of a compiled class: any attribute, and its special methods."""
    base = "(tuple[_i, ...])" if issubclass(value, tuple) else ""
    methods = [m for m in SPECIAL if m in vars(value) and not base]
    lines = [f"    def {m}(self, *args: Any, **kwargs: Any) -> Any: ..." for m in methods]
    return "\n".join(
        (
            f"class {name}{base}:",
            "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
            "    def __getattr__(self, name: str) -> Any: ...",
            *lines,
        )
    )


def other(imode, name, homes):
    """Return the declaration of a public name that is no operator."""
    value = getattr(imode, name)
    module = getattr(value, "__module__", None) or ""
    if inspect.ismodule(value):
        return f"from . import {name} as {name}"
    if id(value) in homes and homes[id(value)][0] != "imode":
        home, original = homes[id(value)]
        return f"from {home} import {original} as {name}"
    if inspect.isfunction(value):
        return python_function(name, value)
    if isinstance(value, type):
        is_guard = module == "imode.guards" and hasattr(value, "__enter__")
        return (guard if is_guard else compiled_class)(name, value)
    if callable(value):
        return f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
    kind = type(value).__name__
    return f"{name}: {kind if kind in ('dtype', 'str', 'int', 'float', 'bool') else 'Any'}"


def package(imode, schema, homes):
    """Return the text of imode/__init__.pyi."""
    named, body = {}, []
    operators = schema.published()
    tensor = tensor_class(imode, schema, named)
    for name in sorted(set(imode.__all__) - {"Tensor"}):
        if name not in schema.functions or name not in operators:
            body.append(other(imode, name, homes))
        elif inspect.isfunction(getattr(imode, name)):  # it takes a list one by one, too
            given = result(name, operators[name].schema.rpartition(" -> ")[2], named)
            body.append(python_function(name, getattr(imode, name), given))
        else:
            body.append(define(name, signatures(chain(operators[name]), named, False)))
    head = HEAD.format("imode")
    parts = [head, NUMBER, GUARD, "", *named.values(), tensor, *body, ""]
    return "\n".join(parts)


def operator_functions(name, operator):
    """Return the declaration of a function that calls an operator, with all its overloads."""
    return define(name, signatures(chain(operator), {}, False))


def functional(imode, schema):
    """Return the text of imode/nn/functional.pyi."""
    named, body = {}, []
    operators = schema.published()
    module = imode.nn.functional
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        value = getattr(module, name)
        if inspect.isfunction(value):
            body.append(python_function(name, value, "Tensor"))
        elif inspect.isclass(value):
            body.append(f"class {name}(Enum):")
            body += [f"    {member.name} = {member.value}" for member in value]
        elif name in schema.nn_functions and name in operators:
            body.append(define(name, signatures(chain(operators[name]), named, False)))
    head = HEAD.format("imode.nn.functional")
    types = "from enum import Enum\n\nfrom imode import Generator, Tensor, device, dtype"
    return "\n".join([head, types, "", NUMBER, *named.values(), *body, ""])


def python_function(name, value, result="Any"):
    """Return the declaration of a Python function, its parameters untyped."""
    parts, star = [], False
    for p in inspect.signature(value).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            star = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            parts.append(f"{p.name}: Any" + ("" if p.default is p.empty else " = ..."))
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


def main():
    """Write the stubs into the folder named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder))
    try:
        import imode
        from imode.ops import load_all, schema

        load_all()
    except ImportError as error:  # cross-compiled, or a part of it does not build yet
        print(f"stubs: not written, imode does not import: {error}", file=sys.stderr)
        return
    stubs = Stubs(imode)
    (folder / "imode" / "__init__.pyi").write_text(package(imode, schema, stubs.homes))
    for name, module in stubs.modules.items():
        text = (
            functional(imode, schema)
            if name == "imode.nn.functional"
            else stubs.text(module, operator_functions)
        )
        home = folder.joinpath(*name.split("."))
        home = home / "__init__.pyi" if hasattr(module, "__path__") else home.with_suffix(".pyi")
        home.write_text(text)


if __name__ == "__main__":
    main()
