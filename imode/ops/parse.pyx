"""Schema strings, read once per operator while the package is imported: so, compiled.

The grammar is in schema.py. The same few arguments recur in most schemas, so each is read once.
"""
from imode._core.dispatch cimport (
    ANY, BOOL, BOOL_OPT, DEVICE_OPT, DTYPE, DTYPE_OPT, FLOAT, FLOAT_OPT, FUNCTIONAL, GENERATOR_OPT,
    INPLACE, INT, INT_OPT, INTS, INTS_OPT, OPERAND, SCALAR, SCALAR_OPT, STR, STR_OPT, TENSOR,
    TENSOR_LIST, TENSOR_OPT, VIEW)

from imode._core.bind import REQUIRED

cdef dict _KINDS = {
    "Tensor": <int>TENSOR, "Tensor?": <int>TENSOR_OPT, "Tensor[]": <int>TENSOR_LIST,
    "Tensor|Scalar": <int>OPERAND, "Scalar": <int>SCALAR, "Scalar?": <int>SCALAR_OPT,
    "int": <int>INT, "int?": <int>INT_OPT, "int[]": <int>INTS, "int[]?": <int>INTS_OPT,
    "float": <int>FLOAT, "float?": <int>FLOAT_OPT, "bool": <int>BOOL, "bool?": <int>BOOL_OPT,
    "str": <int>STR, "str?": <int>STR_OPT, "dtype": <int>DTYPE, "dtype?": <int>DTYPE_OPT,
    "device?": <int>DEVICE_OPT, "Generator?": <int>GENERATOR_OPT, "any": <int>ANY,
}

cdef dict _literals = {"None": None, "True": True, "False": False, "1": 1, "0": 0, "-1": -1,
                       "()": ()}
cdef dict _arguments = {}         # text -> (kind, name, is required, default, length, alias)


cdef class Parsed:
    """A schema string taken apart."""

    cdef readonly str name
    cdef readonly str overload
    cdef readonly int role
    cdef readonly list arguments  # (kind, name, is required, default, length, takes varargs)
    cdef readonly int n_positional
    cdef readonly int n_results   # 0: a Python value; -1: a tuple of any length
    cdef readonly tuple result_names


cdef list _split(str text):
    """Split at the commas outside brackets."""
    cdef list parts = []
    cdef Py_ssize_t i
    cdef Py_ssize_t start = 0
    cdef int depth = 0
    cdef Py_UCS4 c
    for i in range(len(text)):
        c = text[i]
        if c == u"(" or c == u"[":
            depth += 1
        elif c == u")" or c == u"]":
            depth -= 1
        elif c == u"," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    if last:
        parts.append(last)
    return parts


cdef object _literal(str text):
    if text in _literals:
        return _literals[text]
    import ast

    value = _literals[text] = ast.literal_eval(text)
    return value


cdef tuple _argument(str text):
    cdef str declared, equals, default, type_name, name
    cdef str alias = ""
    cdef int length = 0
    if text in _arguments:
        return <tuple>_arguments[text]
    declared, equals, default = text.partition("=")
    type_name, _, name = declared.strip().rpartition(" ")
    if "(a!)" in type_name:
        type_name, alias = type_name.replace("(a!)", ""), "a!"
    elif "(a)" in type_name:
        type_name, alias = type_name.replace("(a)", ""), "a"
    if "[" in type_name and not type_name.startswith("Tensor"):
        opening, closing = type_name.index("["), type_name.index("]")
        length = int(type_name[opening + 1:closing] or 0)
        type_name = type_name[:opening + 1] + type_name[closing:]
    if type_name not in _KINDS or not name.isidentifier():
        raise ValueError(f"malformed argument {text!r}")
    value = _literal(default.strip()) if equals else REQUIRED
    if type_name == "int[]":
        if length and isinstance(value, int):
            value = (value,) * length
        elif isinstance(value, list):
            value = tuple(value)
    found = (_KINDS[type_name], name, not equals, value, length, alias)
    _arguments[text] = found
    return found


def parse(str schema not None):
    """Take a schema string apart; ValueError where it is malformed."""
    cdef Parsed parsed = Parsed()
    cdef str head, body, results
    cdef int n_positional = -1
    cdef int last
    head, _, body = schema.partition("(")
    body, arrow, results = body.rpartition(" -> ")
    body = body.strip()
    parsed.name, _, parsed.overload = head.partition(".")
    if not arrow or not body.endswith(")") or not parsed.name.isidentifier():
        raise ValueError(f"malformed schema {schema!r}")
    parsed.role = FUNCTIONAL
    parsed.arguments = []
    for part in _split(body[:len(body) - 1]):
        if part == "*":
            n_positional = len(parsed.arguments)
            continue
        kind, name, required, default, length, alias = _argument(part)
        if alias and not parsed.arguments:
            parsed.role = INPLACE if alias == "a!" else VIEW
        parsed.arguments.append((kind, name, required, default, length, False))
    parsed.n_positional = len(parsed.arguments) if n_positional < 0 else n_positional
    # x.view(2, 3): a plain int[] that ends the positional arguments also takes them one by one.
    last = parsed.n_positional - 1
    if 0 <= last <= 1:
        kind, name, required, default, length, _ = parsed.arguments[last]
        if kind == <int>INTS and not length and (
                last == 0 or parsed.arguments[0][0] == <int>TENSOR):
            parsed.arguments[last] = (kind, name, required, default, length, True)
    _read_results(parsed, results.strip())
    return parsed


cdef int _read_results(Parsed parsed, str results) except -1:
    parts = _split(results[1:len(results) - 1]) if results.startswith("(") else [results]
    names = []
    for part in parts:
        _, space, name = (<str>part).partition(" ")
        names.append(name if space else "result")
    parsed.result_names = tuple(names)
    first = (<str>parts[0]).partition(" ")[0]
    parsed.n_results = 0 if first in ("bool", "int", "Scalar", "any") else len(parts)
    if "[]" in results:
        parsed.n_results = 1 if parsed.role == VIEW else -1
    return 0


def form(Parsed parsed not None, str name, str of, bint out):
    """How an operator is called, on one line; `of`: what stands there for `self`."""
    cdef list parts = []
    cdef int i = 0
    for _, argument, required, default, _, _ in parsed.arguments:
        if i == parsed.n_positional:
            parts.append("*")
        if argument == "self":
            parts.insert(i if of == "input" else 0, of)
        elif required:
            parts.append(argument)
        else:
            parts.append(f"{argument}={default!r}")
        i += 1
    if out:
        parts += ["out=None"] if "*" in parts else ["*", "out=None"]
    return f"{name}({', '.join(filter(None, parts))})"


def signature(Parsed parsed not None, str name, str doc, bint is_method, bint out=False):
    """The text signature and the documentation, as built-in functions carry them."""
    return f"{form(parsed, name, '$self' if is_method else 'input', out)}\n--\n\n{doc or ''}"
