"""Calls whose arguments do not fit an operator: missing, unexpected, of a wrong type."""

from imode._core.bind import REQUIRED, Problem
from imode._core.type_names import class_name

_KIND_NAMES = {
    "TENSOR": "Tensor",
    "TENSOR_LIST": "tuple of Tensors",
    "OPERAND": "Tensor",
    "SCALAR": "Number",
    "INT": "int",
    "INTS": "tuple of ints",
    "FLOAT": "float",
    "BOOL": "bool",
    "STR": "str",
    "DTYPE": "imode.dtype",
    "DEVICE": "imode.device",
    "GENERATOR": "imode.Generator",
    "ANY": "object",
}


def no_tensor(element, argument, found):
    """What is said of an element that is no tensor, of a list in the place of an argument."""
    return f"expected Tensor as element {element} in argument {argument}, but got {found}"


def _kind_name(op, i):
    return _KIND_NAMES[op.kinds[i].name.removesuffix("_OPT")]


def argument_name(op, i):
    """Return an argument's name for messages, in which a tensor named self is called input."""
    number = _kind_name(op, i) == "Number"
    return "input" if op.names[i] == "self" and not number else op.names[i]


def refusal(op, is_method, named, problem, argument, given, value):
    """Return the TypeError for one overload; named: whether the call had keywords.

    The last four are a Mismatch (bind.pxd).
    """
    name = op.name
    if problem == Problem.WRONG_SIZE:
        return TypeError(
            f"{name}(): argument '{op.names[argument]}' failed to unpack the object at pos "
            f'{given} with error "type must be tuple of ints,but got {class_name(value)}"'
        )
    if problem in (Problem.WRONG_TYPE, Problem.WRONG_ELEMENT):
        if op.names[argument] == "reduction" and _in_python(op):
            return reduction(value)
        if _fact(op, "checked_by"):
            name, given = op.entry.checked_by, argument + 1
        expected, found = _kind_name(op, argument), class_name(value)
        what = f"{name}(): argument '{argument_name(op, argument)}'"
        if problem == Problem.WRONG_ELEMENT and expected == "tuple of Tensors":
            said = no_tensor(given, argument - is_method, found)
            return TypeError(f"{said}\n{what} takes a tuple or list of tensors")
        if problem == Problem.WRONG_ELEMENT:
            return TypeError(
                f"{what} (position {argument + 1 - is_method}) must be {expected}, but found "
                f"element of type {found} at pos {given}"
            )
        place = f" (position {given})" if given else ""
        return TypeError(f"{what}{place} must be {expected}, not {found}")
    if problem == Problem.MISSING:
        missing = [
            argument_name(op, i)
            for i in range(argument, op.n_required)
            if op.defaults[i] is REQUIRED
        ]
        return _missing(op, missing)
    if is_method and op.nargs == 1 and (problem == Problem.UNEXPECTED_KEYWORD or named):
        return TypeError(f"Tensor.{name}() takes no keyword arguments")
    if is_method and op.nargs == 1:
        return TypeError(f"Tensor.{name}() takes no arguments ({given - 1} given)")
    if problem == Problem.UNEXPECTED_KEYWORD:
        return unexpected_keyword(name, value)
    if problem == Problem.TWICE:
        return given_twice(name, argument_name(op, argument))
    most, given = op.n_positional - is_method, given - is_method
    least = op.defaults[: op.n_positional].count(REQUIRED) - is_method
    takes = f"{most} positional argument{'s' * (most != 1)}"
    if least < most:
        takes = f"from {least} to {most} positional arguments"
    name = _fact(op, "counted_by") or name
    return TypeError(f"{name}() takes {takes} but {given} {'were' if given != 1 else 'was'} given")


def _fact(op, name):
    """A fact from the operator's entry about PyTorch's operator; None without an entry."""
    return getattr(op.entry, name, None)


def _in_python(op):
    words = _fact(op, "variants") or ()
    return "nn" in words and "function" not in words and not op.entry.compiled


def _wrong_signature(op, n, keywords):
    """Return a Python function's TypeError for too many or too few arguments, or None."""
    names = [argument_name(op, i) for i in range(op.nargs)]
    called = _fact(op, "counted_by") or op.name
    for key in keywords:
        if key not in names:
            return unexpected_keyword(called, key)
        if key in names[:n]:
            return given_twice(called, key)
    if n > op.n_positional:
        return refusal(op, False, bool(keywords), Problem.TOO_MANY, 0, n, None)
    missing = [
        name
        for name, default in zip(names[n:], op.defaults[n:], strict=True)
        if default is REQUIRED and name not in keywords
    ]
    return _missing(op, missing) if missing else None


def missing_first(op, is_method, n, keywords, problem, argument):
    """Return the TypeError for an argument that is missing before the wrong one, or None.

    n: how many arguments are given by position, before `keywords`.
    """
    if _in_python(op):
        return _wrong_signature(op, n, keywords)
    if not keywords or problem not in (Problem.WRONG_TYPE, Problem.WRONG_ELEMENT, Problem.TWICE):
        return None
    end = argument if problem != Problem.TWICE else op.nargs
    for i in range(is_method + n, end):
        given = op.names[i] in keywords or argument_name(op, i) in keywords
        if op.defaults[i] is REQUIRED and not given:
            return refusal(op, is_method, True, Problem.MISSING, i, 0, None)
    return None


def _missing(op, names):
    called = op.name
    if _in_python(op):
        called = op.entry.counted_by or called
        plural, shown = len(names) > 1, " and ".join(map(repr, names))
    else:
        # PyTorch confuses singular and plural.
        plural, shown = len(names) == 1, ", ".join(f'"{name}"' for name in names)
    argument = "argument" + "s" * plural
    return TypeError(f"{called}() missing {len(names)} required positional {argument}: {shown}")


def _overloads(first):
    """The overloads for messages: one that ends in `dtype` also stands for that without it."""
    found = []
    while first is not None:
        found = [op for op in found if (*op.names, "dtype") != first.names]
        found.append(first)
        first = first.next_overload
    return found


def _more(first, called, is_method):
    """The further overloads that PyTorch has under the name that was called; see `Entry`."""
    found = (_fact(first, "overloads") or {}).get(called.removesuffix("_"))
    if found == "longer functions":
        return None if is_method else "longer"
    return found


_BY_NUMBER = ("number", "number without out")


def only_plausible(first, called, n, is_method):
    """Return the only overload that could take `n` arguments; None if there is none, or several.

    called: the name by which the operator was called.
    """
    more, n_required = _more(first, called, is_method), first.defaults.count(REQUIRED)
    if more == "number without out" and not is_method and n == n_required + 1:
        return first
    n_all = n + is_method
    if more in (*_BY_NUMBER, "one", n_all) or (more == "longer" and n_all != n_required):
        return None
    overloads = _overloads(first)
    if len(overloads) == 1 and not _fact(first, "older"):
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
    """Return the TypeError for an out= that is not a tensor; `error`: if there is one overload."""
    if only_plausible(first, first.name, len(given), is_method) is not None:
        return error
    return no_overload(first, first.name, is_method, given, keywords)


def by_second_name(error, first, called, is_method, given, keywords):
    """Return a TypeError about an operator's arguments, changed to the second name of an Alias."""
    message = error.args[0] if error.args else None
    for start in ("", "Tensor."):
        own = f"{start}{first.name}()"
        if isinstance(message, str) and message.startswith(own):
            if _more(first, called, is_method) in _BY_NUMBER and (
                only_plausible(first, called, len(given), is_method) is None
            ):
                return no_overload(first, called, is_method, given, keywords)
            error.args = (f"{start}{called}()" + message[len(own) :],)
    return error


def no_overload(first, called, is_method, given, keywords):
    """Return the TypeError for a call that fits no overload."""
    n = len(given) - len(keywords)
    more = _more(first, called, is_method)
    overloads = [signature(op, is_method) for op in _overloads(first)]
    if more in _BY_NUMBER:
        before, _, after = overloads[0].rpartition("Tensor other")
        overloads.append(f"{before}Number other{after}")
    several = len(overloads) > 1 or isinstance(more, str)
    named = dict(zip(keywords, given[n:], strict=True))
    return invalid_combination(called, given[:n], named, overloads, several)


def invalid_combination(name, given, named, signatures, several=True):
    """Return the TypeError for a call that fits none of the signatures, of one or `several`."""
    types = [class_name(value) for value in given]
    types += [f"{key}={class_name(value)}" for key, value in reversed(named.items())]
    shown = ", ".join(types) + ", " * (not given and bool(named))  # as in PyTorch
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
    """Return an overload's arguments for messages."""
    parts = []
    for i in range(is_method, op.nargs):
        if i == op.n_positional:
            parts.append("*")
        default = "" if op.defaults[i] is REQUIRED else f" = {op.defaults[i]}"
        parts.append(f"{_kind_name(op, i)} {argument_name(op, i)}{default}")
    if _takes_out(op, is_method):
        kind = "Tensor" if op.n_results == 1 else "tuple of Tensors"
        parts += ["*"] * ("*" not in parts) + [f"{kind} out = None"]
    return f"({', '.join(parts)})"


# ---- arguments of one operator or layer, checked at several points -----------------------------


def unexpected_keyword(name, keyword):
    return TypeError(f"{name}() got an unexpected keyword argument '{keyword}'")


def given_twice(name, argument):
    return TypeError(f"{name}() got multiple values for argument '{argument}'")


def optimizer_params(given):
    """What an optimizer is to optimize is a tensor or a module."""
    return TypeError(
        "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
        f"{given}\nPass model.parameters(), or a list: [tensor]."
    )


def module_as_params(name):
    """An optimizer is given a module instead of its parameters."""
    return TypeError(f"{name!r} object is not iterable\nPass its parameters: model.parameters().")


def sizes_of_dataset(sizes):
    """Tensors of a dataset have different lengths."""
    return AssertionError(
        f"Size mismatch between tensors\nThey have {', '.join(map(str, sizes))} samples: item i is "
        "the i-th row of each."
    )


def split_lengths(lengths, total):
    """A dataset's parts are not all of it."""
    return ValueError(
        "Sum of input lengths does not equal the length of the input dataset!\n"
        f"The lengths {list(lengths)} add up to {sum(lengths)}, the dataset has {total} samples; "
        "fractions that add up to 1 do, too."
    )


def reduction(value):
    return ValueError(f"{value} is not a valid value for reduction")


def approximate():
    """The `approximate` of gelu is neither "none" nor "tanh"."""
    return RuntimeError("approximate argument must be either none or tanh.")


def padding_index():
    return AssertionError("Padding_idx must be within num_embeddings")


def same_padding(kind=RuntimeError):
    """A convolution with strides cannot keep its sizes."""
    return kind("padding='same' is not supported for strided convolutions")


def new_data(found):
    """A constructor, `imode.FloatTensor(...)` or `imode.tensor(...)`, got a str."""
    return TypeError(f"new(): invalid data type '{class_name(found)}'")


def dlpack_capsule(more):
    return RuntimeError(f"from_dlpack received an invalid capsule. {more}")


def array_order(what):
    """A NumPy array in a memory order that tensors cannot have."""
    return ValueError(f"{what}. Take a copy first: array.copy().")


def no_accelerator(more=""):
    return RuntimeError(f"Cannot access accelerator device when none is available.{more}")


def no_list_of_tensors(name, found):
    """The tensors of `_foreach_add` and its kin."""
    return TypeError(
        f"{name}(): argument 'self' (position 1) must be tuple of Tensors, not {class_name(found)}"
    )


def no_tensors():
    """`_foreach_add([], 1)`."""
    return RuntimeError("Tensor list must have at least one tensor.")


def lists_of_two_lengths(first, second, numbers):
    """`_foreach_add` of two lists that do not go together, the second perhaps of `numbers`."""
    if numbers:
        return RuntimeError("Tensor list must have same number of elements as scalar list.")
    return RuntimeError(
        f"Tensor lists must have the same number of tensors, got {first} and {second}"
    )


def no_scalar_tensor(tensor):
    """`_foreach_add` of a tensor that is no number."""
    return RuntimeError(
        f"scalar tensor expected to be 0 dim but it has {tensor.dim()} dimensions and "
        f"{tensor.numel()} elements.\nGive a list: a tensor for each."
    )
