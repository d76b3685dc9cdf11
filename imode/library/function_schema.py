"""`operator._schema`: a schema taken apart, with PyTorch's names."""

from imode._core.dispatch import Role
from imode._core.layers import signature

_TYPES = {
    "SCALAR": "number",
    "OPERAND": "Tensor",
    "INTS": "List[int]",
    "TENSOR_LIST": "List[Tensor]",
    "DTYPE": "int",
    "DEVICE": "Device",
    "GENERATOR": "Generator",
}


class AliasInfo:
    """Whether an argument, or a result, is written; `before_set`, its alias set."""

    __slots__ = ("before_set", "is_write")

    def __init__(self, name, is_write):
        self.before_set, self.is_write = {name}, is_write

    after_set = property(lambda self: self.before_set)


class Argument:
    """An argument, or a result, of a schema: `name`, `type`, `default_value`, `kwarg_only`, `N`,
    and `alias_info`, which is None where nothing is said of its memory."""

    __slots__ = ("N", "_default", "alias_info", "kwarg_only", "name", "type")

    def __init__(self, name, type, default, kwarg_only=False, N=None, alias_info=None):
        self.name, self.type, self._default = name, type, default
        self.kwarg_only, self.N, self.alias_info = kwarg_only, N, alias_info

    @property
    def default_value(self):
        return self._default[0] if self._default else None

    @property
    def is_write(self):
        return self.alias_info is not None and self.alias_info.is_write

    def has_default_value(self):
        """Whether it may be left out."""
        return bool(self._default)

    def __repr__(self):
        return f"<Argument {self.type} {self.name}>"


class FunctionSchema:
    """The schema of an operator: `name`, `overload_name`, `arguments`, `returns`, `is_mutable`.

    `str` of it is the text. Types are PyTorch's words for them: "Tensor", "List[int]".

    >>> import imode
    >>> schema = imode.ops.add_._schema
    >>> schema.name, schema.is_mutable, [(a.name, a.is_write) for a in schema.arguments][0]
    ('aten::add_', True, ('self', True))
    """

    def __init__(self, operator):
        facts = signature(operator)
        self.name = f"{operator.namespace}::{operator.name}"
        self.overload_name = operator.overload
        self._text = f"{operator.namespace}::{operator.schema}"
        aliased = {at for at in facts.alias_of if at >= 0} | set(facts.written)
        letters = {at: chr(ord("a") + i) for i, at in enumerate(sorted(aliased))}
        self.arguments = [
            Argument(
                name,
                _type(operator.kinds[i].name),
                () if i < operator.n_required else (operator.defaults[i],),
                i >= operator.n_positional,
                alias_info=_alias(letters, i, facts.written),
            )
            for i, name in enumerate(operator.names)
        ]
        if operator.role == Role.OUT:
            self.arguments.append(Argument("out", "Tensor", (), True, None, AliasInfo("out", True)))
        self.returns = [
            Argument("", _RESULTS.get(kind, kind), (), False, None, _alias(letters, at, ()))
            for kind, at in zip(facts.results, facts.alias_of, strict=True)
        ]
        self.is_mutable = bool(facts.written) or operator.role == Role.OUT

    def __str__(self):
        return self._text

    __repr__ = __str__


_RESULTS = {
    "Tensor?": "Optional[Tensor]", "Tensor[]": "List[Tensor]", "views": "List[Tensor]",
    "Scalar": "number",
}  # fmt: skip


def _alias(letters, at, written):
    return AliasInfo(letters[at], at in written) if at in letters else None


def _type(kind):
    """PyTorch's word for what an argument accepts."""
    base = kind.removesuffix("_OPT")
    word = _TYPES.get(base, base.title() if base == "TENSOR" else base.lower())
    return word if base == kind else f"Optional[{word}]"
