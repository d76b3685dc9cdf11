"""Orthogonal polynomials by their recurrences, as PyTorch has them: without derivatives."""

import numpy as np

from imode import errors
from imode._core.broadcast import broadcast_shape
from imode._core.loops import in_layout
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode.ops.pointwise.common import cast
from imode.ops.schema import op

# Each recurrence: (k, x, p, q) -> the polynomial of degree k + 1, from those of k - 1 and k.


def _chebyshev(k, x, p, q):
    return 2 * x * q - p


def _hermite(k, x, p, q):
    return 2 * x * q - 2 * k * p


def _hermite_e(k, x, p, q):
    return x * q - k * p


def _laguerre(k, x, p, q):
    return ((2 * k + 1 - x) * q - k * p) / (k + 1)


def _legendre(k, x, p, q):
    return ((2 * k + 1) * x * q - k * p) / (k + 1)


# ---- Chebyshev's, by angles ---------------------------------------------------------------------

# Of degrees above this, inside of (-1, 1): by angles, which costs the same for all of them.
_BY_RECURRENCE = 8
_MOST = 100_000  # the highest degree of those without a formula by angles
_BY_ANGLE = {
    "t": lambda n, angle: np.cos(n * angle),
    "u": lambda n, angle: np.sin((n + 1) * angle) / np.sin(angle),
    "v": lambda n, angle: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
    "w": lambda n, angle: np.sin((n + 0.5) * angle) / np.sin(angle / 2),
}


# ---- kernels ------------------------------------------------------------------------------------


def _evaluate(x, n, first, step, by_angle):
    """The polynomials of degrees n at x, both flat; 0 for negative degrees."""
    result = np.where(n < 0, 0.0, 1.0)
    left = n > 0
    if by_angle is not None:
        far = (n > _BY_RECURRENCE) & (np.abs(x) < 1)
        result[far] = by_angle(n[far], np.arccos(x[far]))
        left &= ~far
    p, q, k = np.ones_like(x), first(x), 1.0
    while left.any():
        if not np.isfinite(q[left]).any():  # nor will they be again
            result[left] = q[left]
            break
        if k > _MOST:
            raise RuntimeError(
                f"a polynomial of degree {n[left].max():g}: at most {_MOST} steps are computed"
            )
        here = left & (n == k)
        result[here] = q[here]
        left &= ~here
        p, q, k = q, step(k, x, p, q), k + 1
    return result


def _kernel(name, first, step, by_angle=None, shifted=False, most=None):
    """`shifted`: of 2x - 1. `most`: the highest degree, in float32 and float64; NaN above."""

    @np.errstate(all="ignore")
    def kernel(x, n):
        dtype = result_type(x, n, floating=True)
        if dtype.char not in "fd":
            raise errors.dtypes.not_implemented(f"{name}_cpu", dtype)
        x, n = cast(x, dtype), cast(n, dtype)
        shape = broadcast_shape(x.shape, n.shape)
        if skipping():
            return np.empty(shape, dtype)
        x, n = np.broadcast_to(x, shape), np.broadcast_to(n, shape)
        degrees = np.trunc(n).reshape(-1).astype(np.float64)
        at = x.reshape(-1).astype(np.float64)
        at = 2 * at - 1 if shifted else at
        above = degrees > (np.inf if most is None else most[dtype.char])
        degrees[above] = 0
        degrees[~(np.abs(degrees) < 2.0**63)] = -1  # as where C converts what is no int64
        result = _evaluate(at, degrees, first, step, by_angle)
        result[above] = np.nan
        return np.asarray(result.astype(dtype).reshape(shape))

    return in_layout(kernel, numbers=(0, 0))


def _polynomial(name, example, *definition, **words):
    kernel = _kernel(name, *definition, **words)
    for overload, schema in (
        ("", "Tensor x, Tensor n"),
        (".x_scalar", "Scalar x, Tensor n"),
        (".n_scalar", "Tensor x, Scalar n"),
    ):
        op(
            f"special_{name}{overload}({schema}) -> Tensor",
            kernel,
            differentiable=False,
            variants="function out",
            doc=f"""Return the polynomial of degree `n` at `x` ({name}), without a derivative.

A degree that is no whole number loses its fraction; of a negative one the result is 0.

>>> imode.special.{name}(imode.tensor([2.]), 2)
tensor([{example}])
""",
        )


_FIRST = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
for _kind, _example, _shifted_example in (
    ("t", "7.", "17."), ("u", "15.", "35."), ("v", "11.", "29."), ("w", "19.", "41."),
):  # fmt: skip
    _one = (_FIRST[_kind], _chebyshev, _BY_ANGLE[_kind])
    _polynomial(f"chebyshev_polynomial_{_kind}", _example, *_one)
    _polynomial(f"shifted_chebyshev_polynomial_{_kind}", _shifted_example, *_one, shifted=True)
_LIMIT = {"f": 128, "d": 512}  # as in PyTorch
_polynomial("hermite_polynomial_h", "14.", lambda x: 2 * x, _hermite, most=_LIMIT)
_polynomial("hermite_polynomial_he", "3.", lambda x: x, _hermite_e, most=_LIMIT)
_polynomial("laguerre_polynomial_l", "-1.", lambda x: 1 - x, _laguerre)
_polynomial("legendre_polynomial_p", "5.5000", lambda x: x, _legendre)
