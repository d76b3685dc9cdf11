"""The messages of calls whose arguments do not fit: imported when the first such call is made.

The first sentence of each is PyTorch's.
"""

from .bind import REQUIRED
from .older import older_orders
from .words import class_name

(WRONG_TYPE, MISSING, UNEXPECTED_KEYWORD, TOO_MANY, TWICE, WRONG_ELEMENT, WRONG_SIZE) = range(1, 8)

# A tensor or a number beside the tensor: one overload here, two in PyTorch, under these names.
_OVERLOADED_BY_NUMBER = (
    *("eq", "ne", "lt", "le", "gt", "ge", "floor_divide"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
    *("subtract", "multiply", "divide", "true_divide"),
)
_NUMBER_WITHOUT_OUT = ("floor_divide", "multiply", "true_divide")  # of the two, in functions
# One overload here that could be meant, more in PyTorch.
_OVERLOADED = (*_OVERLOADED_BY_NUMBER, "all", "any", "float_power", "set")
# The same, and the others take one argument more: a generator; an `out_dtype`, of functions only.
_OVERLOADED_BY_MORE = ("rand", "rand_like", "randn", "randn_like", "randperm")
_OVERLOADED_FUNCTIONS = ("mm", "bmm", "addmm", "baddbmm")

# How many arguments, self among them, several overloads of PyTorch take.
_OVERLOADED_WITH = {"div": 3, "where": 3}

# Of what only nn.functional has, PyTorch wrote the rest in Python, whose words these are not.
_COMPILED = ("avg_pool2d", "linear", "one_hot", "softplus", "softshrink")

# What those of them are called that look at the arguments, and where one is made of two.
_INNER = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd"}
_OUTER = {name: f"_{name}" for name in ("adaptive_max_pool1d", "adaptive_max_pool2d")}

# By Kind (dispatch.pxd).
_KIND_NAMES = (
    *("Tensor", "Tensor", "tuple of Tensors", "Tensor", "Number", "Number", "int", "int"),
    *("tuple of ints", "tuple of ints", "float", "float", "bool", "bool", "str", "str"),
    *("imode.dtype", "imode.device", "imode.Generator", "object", "imode.dtype"),
)


def argument_name(op, i):
    """Return an argument's name as messages have it: a tensor that is called self is the input."""
    number = _KIND_NAMES[op.kinds[i]] == "Number"
    return "input" if op.names[i] == "self" and not number else op.names[i]


def refusal(op, is_method, named, problem, argument, given, value):
    """Return the TypeError for one overload; named: whether the call had keywords.

    The last four are a Mismatch (bind.pxd).
    """
    name = op.name
    if problem == WRONG_SIZE:
        return TypeError(
            f"{name}(): argument '{op.names[argument]}' failed to unpack the object at pos "
            f'{given} with error "type must be tuple of ints,but got {class_name(value)}"'
        )
    if problem in (WRONG_TYPE, WRONG_ELEMENT):
        if op.names[argument] == "reduction" and _in_python(op):
            return ValueError(f"{value} is not a valid value for reduction")
        if name in _INNER:
            name, given = _INNER[name], argument + 1
        expected, found = _KIND_NAMES[op.kinds[argument]], class_name(value)
        what = f"{name}(): argument '{argument_name(op, argument)}'"
        if problem == WRONG_ELEMENT and expected == "tuple of Tensors":
            return TypeError(
                f"expected Tensor as element {given} in argument {argument - is_method}, but got "
                f"{found}\n{what} takes a tuple or list of tensors"
            )
        if problem == WRONG_ELEMENT:
            return TypeError(
                f"{what} (position {argument + 1 - is_method}) must be {expected}, but found "
                f"element of type {found} at pos {given}"
            )
        place = f" (position {given})" if given else ""
        return TypeError(f"{what}{place} must be {expected}, not {found}")
    if problem == MISSING:
        missing = [
            argument_name(op, i)
            for i in range(argument, op.n_required)
            if op.defaults[i] is REQUIRED
        ]
        return _missing(op, missing)
    if is_method and op.nargs == 1 and (problem == UNEXPECTED_KEYWORD or named):
        return TypeError(f"Tensor.{name}() takes no keyword arguments")
    if is_method and op.nargs == 1:
        return TypeError(f"Tensor.{name}() takes no arguments ({given - 1} given)")
    if problem == UNEXPECTED_KEYWORD:
        return TypeError(f"{name}() got an unexpected keyword argument '{value}'")
    if problem == TWICE:
        return TypeError(
            f"{name}() got multiple values for argument '{argument_name(op, argument)}'"
        )
    most, given = op.n_positional - is_method, given - is_method
    least = op.defaults[: op.n_positional].count(REQUIRED) - is_method
    takes = f"{most} positional argument{'s' * (most != 1)}"
    if least < most:
        takes = f"from {least} to {most} positional arguments"
    name = _OUTER.get(name, name)
    return TypeError(f"{name}() takes {takes} but {given} {'were' if given != 1 else 'was'} given")


def _in_python(op):
    words = op.entry.variants if op.entry is not None else ()
    return "nn" in words and "function" not in words and op.name not in _COMPILED


def _wrong_signature(op, n, keywords):
    """Return the TypeError of a function in Python for too many or too few arguments, or None."""
    names, called = [argument_name(op, i) for i in range(op.nargs)], _OUTER.get(op.name, op.name)
    for key in keywords:
        if key not in names:
            return TypeError(f"{called}() got an unexpected keyword argument '{key}'")
        if key in names[:n]:
            return TypeError(f"{called}() got multiple values for argument '{key}'")
    if n > op.n_positional:
        return refusal(op, False, bool(keywords), TOO_MANY, 0, n, None)
    missing = [
        name
        for name, default in zip(names[n:], op.defaults[n:], strict=True)
        if default is REQUIRED and name not in keywords
    ]
    return _missing(op, missing) if missing else None


def missing_first(op, is_method, n, keywords, problem, argument):
    """Return the TypeError for an argument that is missing before the one that is wrong, or None.

    n: how many are given by position, before `keywords`.
    """
    if _in_python(op):
        return _wrong_signature(op, n, keywords)
    if not keywords or problem not in (WRONG_TYPE, WRONG_ELEMENT, TWICE):
        return None
    end = argument if problem != TWICE else op.nargs
    for i in range(is_method + n, end):
        given = op.names[i] in keywords or argument_name(op, i) in keywords
        if op.defaults[i] is REQUIRED and not given:
            return refusal(op, is_method, True, MISSING, i, 0, None)
    return None


def _missing(op, names):
    called = op.name
    if _in_python(op):
        called = _OUTER.get(called, called)
        plural, shown = len(names) > 1, " and ".join(map(repr, names))
    else:
        plural, shown = len(names) == 1, ", ".join(f'"{name}"' for name in names)  # the wrong way
    argument = "argument" + "s" * plural
    return TypeError(f"{called}() missing {len(names)} required positional {argument}: {shown}")


def _overloads(first):
    """The overloads that messages show: one with a `dtype` at its end stands for that without."""
    found = []
    while first is not None:
        found = [op for op in found if (*op.names, "dtype") != first.names]
        found.append(first)
        first = first.next_overload
    return found


def _has_more(name, is_method):
    return name in _OVERLOADED_BY_MORE or (name in _OVERLOADED_FUNCTIONS and not is_method)


def only_plausible(first, called, n, is_method):
    """Return the only overload that could take `n` arguments; None if there is no such one.

    called: the name that the operator was called by.
    """
    name, n_required = called.removesuffix("_"), first.defaults.count(REQUIRED)
    if name in _NUMBER_WITHOUT_OUT and not is_method and n == n_required + 1:
        return first
    n_all = n + is_method
    more = _has_more(name, is_method) and n_all != n_required
    if name in _OVERLOADED or more or n_all == _OVERLOADED_WITH.get(name):
        return None
    overloads = _overloads(first)
    if len(overloads) == 1 and not older_orders(first):
        return overloads[0]
    found = [
        op
        for op in overloads
        if op.defaults.count(REQUIRED) <= n_all <= op.nargs + _takes_out(op, is_method)
    ]
    return found[0] if len(found) == 1 else None


def _takes_out(op, is_method):
    return op.out is not None and not is_method


def wrong_out(error, first, is_method, given, keywords):
    """Return the TypeError for an out= that is none; `error`: where one overload is meant."""
    if only_plausible(first, first.name, len(given), is_method) is not None:
        return error
    return no_overload(first, first.name, is_method, given, keywords)


def by_second_name(error, first, called, is_method, given, keywords):
    """Return a TypeError about an operator's arguments with the second name that was called."""
    message = error.args[0] if error.args else None
    for start in ("", "Tensor."):
        own = f"{start}{first.name}()"
        if isinstance(message, str) and message.startswith(own):
            if called.removesuffix("_") in _OVERLOADED_BY_NUMBER and (
                only_plausible(first, called, len(given), is_method) is None
            ):
                return no_overload(first, called, is_method, given, keywords)
            error.args = (f"{start}{called}()" + message[len(own) :],)
    return error


def no_overload(first, called, is_method, given, keywords):
    """Return the TypeError of a call that fits no overload."""
    n = len(given) - len(keywords)
    name = called.removesuffix("_")
    overloads = [signature(op, is_method) for op in _overloads(first)]
    if name in _OVERLOADED_BY_NUMBER:
        before, _, after = overloads[0].rpartition("Tensor other")
        overloads.append(f"{before}Number other{after}")
    several = len(overloads) > 1 or name in _OVERLOADED or _has_more(name, is_method)
    named = dict(zip(keywords, given[n:], strict=True))
    return invalid_combination(called, given[:n], named, overloads, several)


def invalid_combination(name, given, named, signatures, several=True):
    """Return the TypeError of a call that fits none of the signatures, of one or `several`."""
    types = [class_name(value) for value in given]
    types += [f"{key}={class_name(value)}" for key, value in reversed(named.items())]
    shown = ", ".join(types) + ", " * (not given and bool(named))  # as PyTorch has it
    if named and not several:
        return TypeError(
            f"{name}() received an invalid combination of arguments - got unrecognized keyword "
            f"arguments: {', '.join(reversed(named))}\ngot ({shown}), but expected {signatures[0]}"
        )
    lines = "".join(f" * {each}\n" for each in signatures)
    expected = f"one of:\n{lines}" if several else signatures[0]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({shown}), but expected "
        f"{expected}"
    )


def signature(op, is_method):
    """Return an overload's arguments as messages have them."""
    parts = []
    for i in range(is_method, op.nargs):
        if i == op.n_positional:
            parts.append("*")
        default = "" if op.defaults[i] is REQUIRED else f" = {op.defaults[i]}"
        parts.append(f"{_KIND_NAMES[op.kinds[i]]} {argument_name(op, i)}{default}")
    if _takes_out(op, is_method):
        kind = "Tensor" if op.n_results == 1 else "tuple of Tensors"
        parts += ["*"] * ("*" not in parts) + [f"{kind} out = None"]
    return f"({', '.join(parts)})"
