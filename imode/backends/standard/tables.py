"""Which functions of the Array API standard compute an operator.

POINTWISE: from an operator's qualified name to a function of the namespace and the operator's
arguments, its operands in the dtype in which is computed. OTHERS: likewise, of the namespace, the
result as a tensor without elements, and the arguments, tensors in their own dtypes. What it gives
is converted to the result's dtype and broadcast to its shape. A function gives NotImplemented for
arguments that it does not serve: then the CPU does.
"""

POINTWISE = {}
OTHERS = {}

# Functions that standards before 2024.12 lack, or that are used here beside those asked for.
_ALL = frozenset(
    [
        "abs",
        "acos",
        "acosh",
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "bitwise_and",
        "bitwise_invert",
        "bitwise_left_shift",
        "bitwise_or",
        "bitwise_right_shift",
        "bitwise_xor",
        "broadcast_to",
        "ceil",
        "clip",
        "concat",
        "conj",
        "copysign",
        "cos",
        "cosh",
        "count_nonzero",
        "cumulative_prod",
        "cumulative_sum",
        "divide",
        "equal",
        "exp",
        "expm1",
        "flip",
        "floor",
        "floor_divide",
        "full",
        "greater",
        "greater_equal",
        "hypot",
        "isfinite",
        "isin",
        "isinf",
        "isnan",
        "less",
        "less_equal",
        "log",
        "log10",
        "log1p",
        "log2",
        "logaddexp",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "matmul",
        "matrix_transpose",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "multiply",
        "negative",
        "nextafter",
        "not_equal",
        "permute_dims",
        "pow",
        "prod",
        "reciprocal",
        "remainder",
        "reshape",
        "roll",
        "round",
        "searchsorted",
        "sign",
        "signbit",
        "sin",
        "sinh",
        "sort",
        "sqrt",
        "square",
        "stack",
        "std",
        "subtract",
        "sum",
        "take",
        "take_along_axis",
        "tan",
        "tanh",
        "tile",
        "tril",
        "triu",
        "trunc",
        "var",
        "vecdot",
        "where",
        "zeros",
        "zeros_like",
    ]
)


def needs(function):
    """The names that a function of the tables reads of the namespace."""
    return getattr(function, "needs", None) or _ALL.intersection(function.__code__.co_names)


def named(name):
    function = lambda xp, *operands: getattr(xp, name)(*operands)
    function.needs = {name}
    return function


def pointwise(name):
    def declare(function):
        POINTWISE[name] = function
        return function

    return declare


def other(*names):
    def declare(function):
        OTHERS.update(dict.fromkeys(names, function))
        return function

    return declare


def kind_of(array):
    """ "bool", "int", "uint", "float" or "complex"."""
    return str(array.dtype).rpartition(".")[2].rstrip("0123456789")


def in_dtype(xp, x, result):
    """An array in the result's dtype."""
    return xp.astype(x, getattr(xp, result.dtype.name))


def shaped(xp, x, result):
    return xp.reshape(x, tuple(result.shape))
