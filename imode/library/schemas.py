"""Schemas as PyTorch writes them: `name.overload(Tensor(a!) x, int[] n=1, *, float f) -> Tensor`.

Those of imode's own entries are read by `ops/parse.pyx`, which knows their fewer words.
"""

import re

import imode
from imode import errors
from imode._core.bind import REQUIRED
from imode._core.dispatch import Kind
from imode._core.layers import Signature

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow>->)|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<string>\"[^\"]*\"|'[^']*')|(?P<ident>[A-Za-z_]\w*)|(?P<sign>[-()\[\],.=*?!|:]))"
)
_KINDS = {
    "Tensor": Kind.TENSOR,
    "Tensor?": Kind.TENSOR_OPT,
    "Tensor[]": Kind.TENSOR_LIST,
    "Scalar": Kind.SCALAR,
    "Scalar?": Kind.SCALAR_OPT,
    "int": Kind.INT,
    "int?": Kind.INT_OPT,
    "int[]": Kind.INTS,
    "int[]?": Kind.INTS_OPT,
    "float": Kind.FLOAT,
    "float?": Kind.FLOAT_OPT,
    "bool": Kind.BOOL,
    "bool?": Kind.BOOL_OPT,
    "str": Kind.STR,
    "str?": Kind.STR_OPT,
    "ScalarType": Kind.DTYPE,
    "ScalarType?": Kind.DTYPE_OPT,
    "Device": Kind.DEVICE_OPT,
    "Device?": Kind.DEVICE_OPT,
    "Generator?": Kind.GENERATOR_OPT,
    "Layout?": Kind.ANY,
    "MemoryFormat?": Kind.ANY,
}
_LISTS = {f"{kind}[]{end}" for kind in ("float", "bool", "str", "Scalar") for end in ("", "?")}
_OTHER_NAMES = {"SymInt": "int", "dtype": "ScalarType", "device": "Device"}
_RESULTS = ("Tensor", "Tensor?", "Tensor[]", "int", "float", "bool", "str", "Scalar")
_HINT = "Common valid schema types include Tensor, SymInt, int, float, bool, Scalar."


class Schema:
    """A schema taken apart.

    `arguments`: as `Operator` takes them; `signature`: what it says of memory and results;
    `text`: the schema without a namespace.
    """

    __slots__ = ("arguments", "n_positional", "name", "overload", "signature", "text")


class _Reader:
    def __init__(self, text):
        self.text, self.tokens, position = text, [], 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if found is None:
                at = position + len(text[position:]) - len(text[position:].lstrip())
                raise errors.library.malformed(f"unexpected character {text[at]!r}", text, at)
            kind = found.lastgroup
            self.tokens.append((kind, found[kind], found.start(kind)))
            position = found.end()
        self.tokens.append(("eof", "eof", len(text)))
        self.next = 0

    def peek(self):
        return self.tokens[self.next][1]

    def accept(self, token):
        """Go past a token if it is the next."""
        if self.tokens[self.next][1] == token and self.tokens[self.next][0] != "string":
            self.next += 1
            return True
        return False

    def expect(self, token, shown=None):
        if not self.accept(token):
            raise self.error(f"expected {shown or token} but found {self.found()}")

    def ident(self):
        kind, token, _ = self.tokens[self.next]
        if kind != "ident":
            raise self.error(f"expected ident but found {self.found()}")
        self.next += 1
        return token

    def found(self):
        kind, token, _ = self.tokens[self.next]
        return f"'{kind}'" if kind in ("eof", "number") else f"'{token}'"

    def error(self, what, back=0, note=""):
        return errors.library.malformed(what, self.text, self.tokens[self.next - back][2], note)


def parse(text):
    """Take a schema apart; RuntimeError, with the place, where it does not parse."""
    if not isinstance(text, str):
        raise TypeError(f"define(): the schema must be str, not {type(text).__name__}")
    reader = _Reader(text)
    schema = Schema()
    schema.name, schema.overload = _name(reader)
    schema.text = text[text.index(schema.name) :]
    arguments, aliases, schema.n_positional, checked = _arguments(reader)
    reader.expect("->", "arrow")
    results = _results(reader)
    if reader.peek() != "eof":
        raise reader.error(f"expected the end but found {reader.found()}")
    schema.arguments = arguments
    schema.signature = _signature(reader, aliases, results, checked)
    return schema


def _name(reader):
    name = reader.ident()
    overload = reader.ident() if reader.accept(".") else ""
    return name, "" if overload == "default" else overload


def _type(reader):
    """(the type's name, its size if it is a list of one, alias set or None, whether written)."""
    start = reader.next
    name = reader.ident()
    name = _OTHER_NAMES.get(name, name)
    if name == "Tensor" and reader.accept("|"):
        raise reader.error("Tensor|Scalar is not for libraries: write Tensor, or Scalar", 1)
    alias, written, length = None, False, 0
    if name == "Tensor" and reader.accept("("):
        alias = reader.ident()
        written = reader.accept("!")
        if reader.accept("->"):
            reader.expect("*")
        reader.expect(")")
    if reader.accept("?"):
        name += "?"
    if reader.accept("["):
        kind, token, _ = reader.tokens[reader.next]
        if kind == "number":
            reader.next += 1
            length = int(token) if token.isdigit() else 0
        reader.expect("]")
        name += "[]"
        if reader.accept("?"):
            name += "?"
    if name not in _KINDS and name not in _LISTS and name not in _RESULTS:
        raise reader.error("\nunknown type specifier", reader.next - start, f"{name}: {_HINT}")
    return name, length, alias, written


def _arguments(reader):
    arguments, aliases, checked = [], {}, []
    n_positional, names = None, set()
    reader.expect("(")
    while not reader.accept(")"):
        if arguments or n_positional is not None:
            reader.expect(",")
        if reader.accept("*"):
            if n_positional is not None:
                raise reader.error("a second *", 1)
            n_positional = len(arguments)
            continue
        kind, length, alias, written = _type(reader)
        if kind not in _KINDS and kind not in _LISTS:
            raise reader.error("\nunknown type specifier", 1, f"{kind}: {_HINT}")
        name = reader.ident()
        if name in names:
            raise reader.error(f"a second argument {name!r}", 1)
        names.add(name)
        required = not reader.accept("=")
        value = REQUIRED if required else _default(reader, kind, length)
        if required and n_positional is None and arguments and not arguments[-1][2]:
            raise reader.error(f"argument {name!r} has no default, but the one before has", 1)
        if alias is not None:
            aliases[len(arguments)] = alias, written
        if kind in _LISTS:
            checked.append((len(arguments), kind))
        size = length if kind in ("int[]", "int[]?") else 0
        arguments.append((_KINDS.get(kind, Kind.ANY), name, required, value, size, False))
    if len(arguments) > 24:
        raise reader.error(f"{len(arguments)} arguments, at most 24", 1)
    if n_positional is None:
        n_positional = len(arguments)
    return arguments, aliases, n_positional, tuple(checked)


def _default(reader, kind, length):
    """The value after `=`, checked to be of the argument's type."""
    token_kind, token, _ = reader.tokens[reader.next]
    reader.next += 1
    if token_kind == "ident" and token == "None":
        if kind.endswith("?"):
            return None
    elif kind.startswith("Tensor"):
        reader.next -= 1
        raise reader.error(f"expected None but found {reader.found()}")
    else:
        if "[]" in kind:
            value = _default_list(reader, kind, length, token_kind, token)
        else:
            value = _literal(kind.removesuffix("?"), token_kind, token)
        if value is not None:
            return value
    reader.next -= 1
    raise reader.error(f"expected a default of type {kind} but found {reader.found()}")


def _default_list(reader, kind, length, token_kind, token):
    item = kind.partition("[")[0]
    if token == "[":
        values = []
        while not reader.accept("]"):
            if values:
                reader.expect(",")
            token_kind, token, _ = reader.tokens[reader.next]
            value = _literal(item, token_kind, token)
            if value is None:
                raise reader.error(f"expected a {item} but found {reader.found()}")
            values.append(value)
            reader.next += 1
        return tuple(values) if item == "int" else values
    value = _literal(item, token_kind, token)
    return None if value is None else (value,) * (length or 1)


def _literal(kind, token_kind, token):
    """A token as a value of a type; None if it is none."""
    if token_kind == "number":
        if kind in ("int", "Scalar") and token.lstrip("-").isdigit():
            return int(token)
        return float(token) if kind in ("float", "Scalar") else None
    if token_kind == "string":
        if kind == "Device":
            return imode.device(token[1:-1])
        return token[1:-1] if kind == "str" else None
    if token_kind == "ident":
        if token in ("True", "False"):
            return token == "True" if kind in ("bool", "Scalar") else None
        if token in ("inf", "nan") and kind in ("float", "Scalar"):
            return float(token)
        found = (
            getattr(imode, token, None) if kind in ("ScalarType", "Layout", "MemoryFormat") else 0
        )
        return found or None
    return None


def _results(reader):
    """(type, alias set, written) of each result, and whether they are one in brackets."""
    if not reader.accept("("):
        return [_result(reader)]
    results = []
    while not reader.accept(")"):
        if results:
            reader.expect(",")
        if not results and reader.accept("("):  # ((Tensor)): a tuple of one
            results.append(_result(reader))
            reader.expect(")")
            continue
        results.append(_result(reader))
    return results


def _result(reader):
    kind, _, alias, written = _type(reader)
    if kind not in _RESULTS:
        raise reader.error(f"unsupported type of a result: {kind}", 1)
    if reader.tokens[reader.next][0] == "ident":
        reader.next += 1  # its name
    return kind, alias, written


def _signature(reader, aliases, results, checked):
    where = {alias: at for at, (alias, _) in aliases.items()}
    at, identical = [], []
    for kind, alias, written in results:
        if alias is not None and alias not in where:
            raise reader.error(f"no argument has the alias set {alias!r} of the result")
        at.append(-1 if alias is None else where[alias])
        identical.append(alias is not None and written and kind != "Tensor[]")
        if alias is not None and written != aliases[where[alias]][1]:
            raise reader.error(f"the alias set {alias!r} is written in one place, not in the other")
    return Signature(
        tuple(position for position, (_, written) in aliases.items() if written),
        tuple(kind for kind, _, _ in results),
        tuple(at),
        tuple(identical),
        checked,
        len(results) == 1 and results[0][0] == "Tensor[]",
    )
