"""`_foreach_add(tensors, 1)` and its kin: an operator for each tensor of a list, in turn.

Optimizers and moving averages call them, though their names are private. In PyTorch they spare
starts of kernels on a GPU; here they are loops. The out-of-place ones return a tuple, the others
the list that they wrote to. Names and arguments are PyTorch's.
"""

from imode import errors, ops
from imode._core.tensor import Tensor

_UNARY = (
    *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor"),
    *("frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt"),
    *("sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
_BINARY = ("add", "sub", "mul", "div", "pow")
_BOUNDS = {
    "clamp_min": "clamp_min",
    "clamp_max": "clamp_max",
    "maximum": "clamp_min",
    "minimum": "clamp_max",
}
_TERNARY = ("addcdiv", "addcmul")


def _check(name, tensors):
    if not isinstance(tensors, (list, tuple)):
        raise errors.arguments.no_list_of_tensors(name, tensors)
    if not tensors:
        raise errors.arguments.no_tensors()


def _matched(tensors, other):
    """One operand for each tensor: those of a list, or the same number."""
    if isinstance(other, (list, tuple)):
        if len(other) != len(tensors):
            numbers = bool(other) and not isinstance(other[0], Tensor)
            raise errors.arguments.lists_of_two_lengths(len(tensors), len(other), numbers)
        return other
    if isinstance(other, Tensor) and other.dim():
        raise errors.arguments.no_scalar_tensor(other)
    return [other] * len(tensors)


def _numbers(tensors, values):
    """The factors of `addcdiv` and `addcmul`: a number, or some in a list or a tensor."""
    if isinstance(values, Tensor):
        values = values.tolist()
    return _matched(tensors, values)


def _unary(name, operator):
    def function(self):
        _check(name, self)
        return [operator(tensor) for tensor in self]

    return function


def _binary(name, operator):
    def function(self, other, *, alpha=None):
        _check(name, self)
        more = {} if alpha is None else {"alpha": alpha}
        return [operator(a, b, **more) for a, b in zip(self, _matched(self, other), strict=True)]

    return function


def _pow(name, operator):
    def function(self, exponent):
        if not isinstance(self, (list, tuple)):  # a number to the power of each
            _check(name, exponent)
            return [ops.pow(self, each) for each in exponent]
        _check(name, self)
        return [operator(a, b) for a, b in zip(self, _matched(self, exponent), strict=True)]

    return function


def _ternary(name, operator):
    def function(self, tensor1, tensor2, value=1, *, scalars=None):
        _check(name, self)
        parts = self, _matched(self, tensor1), _matched(self, tensor2)
        values = _numbers(self, value if scalars is None else scalars)
        return [operator(a, b, c, value=v) for a, b, c, v in zip(*parts, values, strict=True)]

    return function


def _lerp(name, operator):
    def function(self, tensors1, weight):
        _check(name, self)
        parts = self, _matched(self, tensors1), _matched(self, weight)
        return [operator(a, b, w) for a, b, w in zip(*parts, strict=True)]

    return function


_found = {}


def _declare(name, make, names):
    """Declare both forms: the functions of this library, and what they call."""
    for suffix in ("", "_"):
        whole = f"_foreach_{name}{suffix}"
        if suffix:
            operator = getattr(Tensor, names + suffix)
        else:
            operator = getattr(ops, names)
        _found[whole] = _named(whole, make(whole, operator), suffix)


def _named(whole, each, suffix):
    def function(self, *args, **kwargs):
        made = each(self, *args, **kwargs)
        return self if suffix else tuple(made)

    function.__name__ = function.__qualname__ = whole
    function.__doc__ = f"PyTorch's function of this name: `{whole[9:]}` of each tensor of a list."
    return function


for _name in _UNARY:
    _declare(_name, _unary, _name)
for _name in _BINARY:
    _declare(_name, _pow if _name == "pow" else _binary, _name)
for _name, _operator in _BOUNDS.items():
    _declare(_name, _binary, _operator)
for _name in _TERNARY:
    _declare(_name, _ternary, _name)
_declare("lerp", _lerp, "lerp")
globals().update(_found)


def _foreach_copy_(self, src, non_blocking=False):
    """Copy each tensor of `src` to that of `self`."""
    _check("_foreach_copy_", self)
    for target, source in zip(self, _matched(self, src), strict=True):
        target.copy_(source)
    return self


def _foreach_zero_(self):
    """Write zeros to each tensor."""
    _check("_foreach_zero_", self)
    for tensor in self:
        tensor.zero_()
    return self


def _foreach_clone(self):
    """Return a copy of each tensor."""
    _check("_foreach_clone", self)
    return tuple(tensor.clone() for tensor in self)


def _foreach_norm(self, ord=2, dtype=None):
    """Return the norm of each tensor."""
    _check("_foreach_norm", self)
    return tuple(ops.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in self)


def _foreach_powsum(self, ord=2, dtype=None):
    """Return the sum of the powers of each tensor's absolute values."""
    _check("_foreach_powsum", self)
    return tuple((tensor.abs() ** ord).sum(dtype=dtype) for tensor in self)


def _foreach_max(self):
    """Return the largest element of each tensor."""
    _check("_foreach_max", self)
    return tuple(tensor.max() for tensor in self)


def _foreach_mm(self, mat2):
    """Return the product of each pair of matrices."""
    _check("_foreach_mm", self)
    return tuple(a @ b for a, b in zip(self, _matched(self, mat2), strict=True))
