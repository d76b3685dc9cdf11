"""A schema from a function's annotations."""

import collections.abc
import inspect
import types
import typing
from numbers import Number

from imode import Tensor
from imode._core.device import device
from imode._core.dtype import dtype

_UNKNOWN = "unknown"


def _derived(base, name, listed, listed_optional, optional_list):
    """(type, schema's name) for a type, its optional and its lists."""
    found = [(base, name), (typing.Optional[base], f"{name}?")]  # noqa: UP045

    def sequences(item):
        return (
            typing.Sequence[item],
            typing.List[item],  # noqa: UP006
            types.GenericAlias(collections.abc.Sequence, (item,)),
            types.GenericAlias(list, (item,)),
        )

    if listed:
        found += [(kind, f"{name}[]") for kind in sequences(base)]
    if listed_optional:
        found += [(kind, f"{name}?[]") for kind in sequences(typing.Optional[base])]  # noqa: UP045
    if optional_list:
        found += [(typing.Optional[kind], f"{name}[]?") for kind in sequences(base)]  # noqa: UP045
    return found


_number = typing.Union[int, float, bool]  # noqa: UP007 - types.Number of PyTorch
_PARAMETERS = dict(
    _derived(Tensor, "Tensor", True, True, False)
    + _derived(int, "SymInt", True, False, True)
    + _derived(float, "float", True, False, True)
    + _derived(bool, "bool", True, False, True)
    + _derived(str, "str", False, False, False)
    + _derived(_number, "Scalar", True, False, False)
    + _derived(Number, "Scalar", True, False, False)
    + _derived(dtype, "ScalarType", False, False, False)
    + _derived(device, "Device", False, False, False)
)
_RETURNS = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    _number: "Scalar",
    Number: "Scalar",
}


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """Return the schema of a function with annotations, as PyTorch writes it.

    `mutates_args`: the names of the arguments that it writes to, or "unknown": any tensor. Raises
    ValueError where an annotation is missing, or none of a schema's types.

    >>> import imode
    >>> def scaled(x: imode.Tensor, by: float = 2.0) -> imode.Tensor: ...
    >>> imode.library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    return _Signature(prototype_function).schema(mutates_args, op_name)


class _Signature:
    def __init__(self, function):
        self.found = inspect.signature(function)
        self.globals = getattr(inspect.unwrap(function), "__globals__", {})

    def refuse(self, what):
        return ValueError(f"infer_schema(func): {what} Got func with signature {self.found})")

    def schema(self, mutates_args, op_name):
        if isinstance(mutates_args, str):
            if mutates_args != _UNKNOWN:
                raise ValueError(
                    "mutates_args must either be a sequence of the names of the arguments that are "
                    "mutated or the string 'unknown'. "
                )
        else:
            mutates_args = tuple(mutates_args)
        parameters, keyword_only = [], False
        for i, (name, parameter) in enumerate(self.found.parameters.items()):
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise self.refuse("We do not support positional-only args, varargs, or varkwargs.")
            if parameter.kind == parameter.KEYWORD_ONLY and not keyword_only:
                parameters.append("*")
                keyword_only = True
            kind = self.written(self.kind(name, parameter), i, name, mutates_args)
            default = self.default(name, parameter)
            parameters.append(f"{kind} {name}" + (f"={default}" if default is not None else ""))
        if mutates_args != _UNKNOWN:
            unseen = set(mutates_args) - set(self.found.parameters)
            if unseen:
                raise self.refuse(
                    f"{unseen} in mutates_args were not found in the custom op's signature. "
                    "mutates_args should contain the names of all args that the custom op mutates, "
                    "or just the string 'unknown' if you don't know."
                )
        return f"{op_name or ''}({', '.join(parameters)}) -> {self.result()}"

    def kind(self, name, parameter):
        """The schema's name of a parameter's type."""
        if parameter.annotation is parameter.empty:
            raise self.refuse(f"Parameter {name} must have a type annotation.")
        annotation = self.evaluated(parameter.annotation)
        try:
            return _PARAMETERS[annotation]
        except (KeyError, TypeError):
            pass
        advice = ""
        if typing.get_origin(annotation) is tuple:
            advice = (
                "We do not support Tuple inputs in schema. As a workaround, please try to use List "
                "instead. "
            )
        raise self.refuse(
            f"Parameter {name} has unsupported type {parameter.annotation}. {advice}"
            f"The valid types are: {_PARAMETERS.keys()}."
        )

    def written(self, kind, i, name, mutates_args):
        """A type, marked where the argument is written."""
        is_tensor = kind.startswith("Tensor")
        if mutates_args == _UNKNOWN:
            mutated = is_tensor
        else:
            mutated = name in mutates_args
            if mutated and not is_tensor:
                raise self.refuse(
                    f"Parameter {name} is in mutable_args but only Tensors or collections of "
                    "Tensors can be mutated"
                )
        return f"Tensor(a{i}!){kind[len('Tensor') :]}" if mutated else kind

    def default(self, name, parameter):
        """A default as a schema writes it; None where there is none."""
        value = parameter.default
        if value is parameter.empty:
            return None
        if value is None or isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, (str, device)):
            text = value if isinstance(value, str) else _device_text(value)
            return f'"{text}"'
        if isinstance(value, dtype):
            return str(value).rpartition(".")[2]
        raise self.refuse(
            f"Parameter {name} has an unsupported default value type {type(value)}. "
            "Give it None, and choose the value in the function."
        )

    def result(self):
        annotation = self.evaluated(self.found.return_annotation)
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            raise self.refuse("No return type annotation was provided. Please add one.")
        several = typing.get_origin(annotation) is tuple
        items = typing.get_args(annotation) if several else (annotation,)
        try:
            names = [_RETURNS[item] for item in items]
        except (KeyError, TypeError):
            raise self.refuse(
                f"Return has unsupported type {annotation}. The valid types are: {_RETURNS}."
            ) from None
        if not several:
            return names[0]
        text = ", ".join(names)
        return f"(({text}))" if len(names) == 1 else f"({text})"

    def evaluated(self, annotation):
        """An annotation with its strings turned into types."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, self.globals)
            except Exception as error:
                raise self.refuse(
                    f"Unsupported type annotation {annotation}. It is not a type. "
                    f"({type(error).__name__}: {error})"
                ) from None
        origin, items = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is not None and any(isinstance(item, str) for item in items):
            return types.GenericAlias(origin, tuple(self.evaluated(item) for item in items))
        return annotation


def _device_text(value):
    return value.type if value.index is None else f"{value.type}:{value.index}"
