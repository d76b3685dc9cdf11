"""Operators of elements as functions of the Array API standard."""

from imode.backends.standard.tables import POINTWISE, kind_of, named, needs, pointwise

_ALIKE = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1"),
    *("floor", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "reciprocal"),
    *("signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "atan2", "hypot"),
    *("logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "abs", "nextafter", "round"),
)
_OTHERWISE = {
    "_conj": "conj",
    "_conj_physical": "conj",
    "_isfinite": "isfinite",
    "bitwise_not": "bitwise_invert",
    "copysign.Tensor": "copysign",
    "div": "divide",
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "pow.Tensor_Tensor": "pow",
    "true_divide": "divide",
}
# The standard defines these for fewer dtypes than PyTorch; the CPU serves the others.
_ONLY = {
    **dict.fromkeys(("abs", "neg", "sign", "round", "trunc", "floor", "ceil", "square"), "bool"),
    **dict.fromkeys(("maximum", "minimum", "mul", "div", "true_divide", "reciprocal"), "bool"),
    **dict.fromkeys(("lt", "le", "gt", "ge"), "bool complex"),
    "pow.Tensor_Tensor": "bool int uint complex",
    "logaddexp": "complex",
    **dict.fromkeys(("isinf", "isnan", "_isfinite"), "bool int uint"),
    **dict.fromkeys(("logical_not", "logical_and", "logical_or", "logical_xor"), "float complex"),
    **dict.fromkeys(("signbit",), "bool int uint"),
    "neg": "bool uint",
}


def _guarded(name, function, refused):
    def guarded(xp, *operands):
        return NotImplemented if kind_of(operands[0]) in refused else function(xp, *operands)

    guarded.needs = needs(function)
    return guarded


for _name, _function in {**{name: name for name in _ALIKE}, **_OTHERWISE}.items():
    POINTWISE[_name] = _guarded(_name, named(_function), _ONLY.get(_name, "").split())
# Of numbers that are not bools, whether they are not 0 is asked first.
for _name in ("logical_not", "logical_and", "logical_or", "logical_xor"):
    POINTWISE[_name] = lambda xp, *operands, _name=_name: getattr(xp, _name)(
        *[x if kind_of(x) == "bool" else x != 0 for x in operands]
    )
    POINTWISE[_name].needs = {_name}


@pointwise("add")
def _add(xp, a, b, alpha):
    if kind_of(a) == "bool":
        return xp.logical_or(a, b) if alpha == 1 else NotImplemented
    return a + (b if alpha == 1 else b * alpha)


@pointwise("sub")
def _sub(xp, a, b, alpha):
    return a - (b if alpha == 1 else b * alpha)


@pointwise("rsub.Tensor")
def _rsub(xp, a, b, alpha):
    return b - (a if alpha == 1 else a * alpha)


@pointwise("rsub")
def _rsub_number(xp, a, b, alpha):
    return b - (a if alpha == 1 else a * alpha) if kind_of(a) == "float" else NotImplemented


@pointwise("div.mode")
def _div(xp, a, b, mode):
    if kind_of(a) != "float":
        return NotImplemented
    return xp.divide(a, b) if mode is None else (
        xp.trunc(xp.divide(a, b)) if mode == "trunc" else NotImplemented
    )  # fmt: skip


@pointwise("remainder.Tensor")
def _remainder(xp, a, b):
    return xp.remainder(a, b) if kind_of(a) == "float" else NotImplemented


@pointwise("floor_divide")
def _floor_divide(xp, a, b):
    if kind_of(a) not in ("int", "uint") or not bool(xp.all(b != 0)):
        return NotImplemented  # floats are rounded once; the CPU says what a division by 0 is
    return xp.floor_divide(a, b)


@pointwise("bitwise_left_shift")
def _left_shift(xp, x, n):
    if kind_of(x) not in ("int", "uint"):
        return NotImplemented
    outside = (n < 0) | (n >= xp.iinfo(x.dtype).bits)  # nothing is left
    zeros = xp.zeros_like(x)
    return xp.where(outside, zeros, xp.bitwise_left_shift(x, xp.where(outside, zeros, n)))


@pointwise("bitwise_right_shift")
def _right_shift(xp, x, n):
    if kind_of(x) not in ("int", "uint"):
        return NotImplemented
    last, zeros = xp.iinfo(x.dtype).bits - 1, xp.zeros_like(x)
    outside = (n < 0) | (n > last)  # the sign is left, if there is one
    shifted = xp.bitwise_right_shift(x, xp.where(outside, zeros + last, n))
    return shifted if kind_of(x) == "int" else xp.where(outside, zeros, shifted)


@pointwise("where")
def _where(xp, condition, a, b):
    return xp.where(condition if kind_of(condition) == "bool" else condition != 0, a, b)


@pointwise("pow")
def _pow(xp, x, exponent):
    if kind_of(x) != "float" or type(exponent) is complex:
        return NotImplemented
    return xp.pow(x, xp.zeros_like(x) + exponent)


@pointwise("pow.Scalar")
def _pow_of_number(xp, base, exponent):
    if kind_of(exponent) != "float" or type(base) is complex:
        return NotImplemented
    return xp.pow(xp.zeros_like(exponent) + base, exponent)


@pointwise("sign")
def _sign(xp, x):
    if kind_of(x) not in ("float", "int"):
        return NotImplemented
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


@pointwise("rsqrt")
def _rsqrt(xp, x):
    return 1 / xp.sqrt(x)


@pointwise("frac")
def _frac(xp, x):
    return x - xp.trunc(x)


def _floats(function):
    """Of operators with numbers beside a tensor: for floating point, in which those are exact."""

    def guarded(xp, x, *others):
        return function(xp, x, *others) if kind_of(x) == "float" else NotImplemented

    guarded.needs = needs(function)
    return guarded


@pointwise("clamp")
@_floats
def _clamp(xp, x, low, high):
    if low != low or high != high:  # NaN
        return NotImplemented
    x = x if low is None else xp.where(x < low, xp.zeros_like(x) + low, x)
    return x if high is None else xp.where(x > high, xp.zeros_like(x) + high, x)


@pointwise("clamp_min")
@_floats
def _clamp_min(xp, x, low):
    return xp.where(x < low, xp.zeros_like(x) + low, x)


@pointwise("clamp_max")
@_floats
def _clamp_max(xp, x, high):
    return xp.where(x > high, xp.zeros_like(x) + high, x)


@pointwise("addcmul")
@_floats
def _addcmul(xp, x, a, b, value):
    return x + value * a * b


@pointwise("addcdiv")
@_floats
def _addcdiv(xp, x, a, b, value):
    return x + value * a / b


@pointwise("lerp")
@_floats
def _lerp(xp, x, end, weight):
    return x + weight * (end - x) if abs(weight) < 0.5 else end - (end - x) * (1 - weight)


# ---- activations --------------------------------------------------------------------------------


@pointwise("relu")
@_floats
def _relu(xp, x):
    return xp.where(x < 0, xp.zeros_like(x), x)


@pointwise("sigmoid")
@_floats
def _sigmoid(xp, x):
    return 1 / (1 + xp.exp(-x))


@pointwise("_sigmoid_backward")
@_floats
def _sigmoid_backward(xp, grad, output):
    return grad * output * (1 - output)


@pointwise("_tanh_backward")
@_floats
def _tanh_backward(xp, grad, output):
    return grad * (1 - output * output)


@pointwise("_threshold_backward")
@_floats
def _threshold_backward(xp, x, grad, threshold):
    return xp.where(x <= threshold, xp.zeros_like(grad), grad)


@pointwise("threshold")
@_floats
def _threshold(xp, x, threshold, value):
    return xp.where(x <= threshold, xp.zeros_like(x) + value, x)


@pointwise("leaky_relu")
@_floats
def _leaky_relu(xp, x, slope):
    return xp.where(x > 0, x, x * slope)


@pointwise("_leaky_relu_backward")
@_floats
def _leaky_relu_backward(xp, x, grad, slope):
    return xp.where(x > 0, grad, grad * slope)


@pointwise("silu")
@_floats
def _silu(xp, x):
    return x / (1 + xp.exp(-x))


@pointwise("_silu_backward")
@_floats
def _silu_backward(xp, grad, x):
    sigmoid = 1 / (1 + xp.exp(-x))
    return grad * sigmoid * (1 + x * (1 - sigmoid))
