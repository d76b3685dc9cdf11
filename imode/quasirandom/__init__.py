"""Sobol sequences: points that fill a cube more evenly than random ones, by PyTorch's names."""

import numpy as _np

import imode as _imode
from imode.errors import dtypes as _dtypes
from imode.errors import names_of as _names_of

from .directions import MAXBIT, MAXDIM, direction_numbers

__all__ = ["SobolEngine"]

__getattr__ = _names_of(__name__)


class SobolEngine:
    """Draws the points of a Sobol sequence in [0, 1) to the power of `dimension`, at most 10 000.

    The sequence of I. M. Sobol, in the order of Gray codes, by the direction numbers of S. Joe and
    F. Y. Kuo; `scramble` shuffles their digits at random (A. B. Owen), seeded by `seed`. Raises
    ValueError for a dimension out of range.

    >>> imode.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = MAXBIT
    MAXDIM = MAXDIM

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = _imode.zeros(dimension, self.MAXBIT, dtype=_imode.long)
        self.sobolstate.numpy()[...] = direction_numbers(dimension)
        if scramble:
            self._scramble()
        else:
            self.shift = _imode.zeros(dimension, dtype=_imode.long)
        self.quasi = self.shift.clone(memory_format=_imode.contiguous_format)
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n=1, out=None, dtype=None):
        """Return the next `n` points, (n, dimension), float32 or float64.

        >>> imode.quasirandom.SobolEngine(1).draw(2, dtype=imode.float64).tolist()
        [[0.0], [0.5]]
        """
        dtype = dtype or _imode.get_default_dtype()
        if self.num_generated:
            result = self._next(n, self.num_generated - 1, dtype)
        elif n == 1:
            result = self._first_point.to(dtype)
        else:
            result = self._next(n - 1, 0, dtype)
            result = _imode.cat((self._first_point.to(dtype), result), dim=-2)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """Return the next ``2**m`` points. Raises ValueError where their number then is no such.

        >>> imode.quasirandom.SobolEngine(1).draw_base2(2).tolist()
        [[0.0], [0.5], [0.75], [0.25]]
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been drawn, and with 2**{m} more it is {total}: "
                "draw(n) draws any number."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Go back to the first point; returns the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Pass over `n` points; returns the engine.

        >>> imode.quasirandom.SobolEngine(1).fast_forward(2).draw().item()
        0.75
        """
        first, count = (self.num_generated - 1, n) if self.num_generated else (0, n - 1)
        if count > 0:
            passed = (first ^ first >> 1) ^ (first + count ^ first + count >> 1)  # of Gray codes
            bits = [bit for bit in range(self.MAXBIT) if passed >> bit & 1]
            columns = self.sobolstate.numpy()[:, bits]
            self.quasi.numpy()[...] ^= _np.bitwise_xor.reduce(columns, axis=1)
        self.num_generated += n
        return self

    def _next(self, n, first, dtype):
        """The points of the numbers `first` + 1 and on: each differs from the last in one digit."""
        if type(n) is not int:
            raise TypeError(
                "_sobol_engine_draw(): argument 'n' (position 2) must be int, not "
                f"{type(n).__name__}"
            )
        if dtype not in (_imode.float32, _imode.float64):
            raise _dtypes.not_implemented("_sobol_engine_draw", dtype.numpy)
        points = _imode.empty(n, self.dimension, dtype=dtype)
        numbers = _np.arange(first, first + n)
        digits = _np.log2(~numbers & numbers + 1).astype(_np.intp)  # the lowest that is 0
        steps = self.sobolstate.numpy().T[digits]
        if n:
            steps[0] ^= self.quasi.numpy()
            _np.bitwise_xor.accumulate(steps, axis=0, out=steps)
            self.quasi = _imode.tensor(steps[-1])
        _np.multiply(steps, 2.0**-self.MAXBIT, out=points.numpy(), casting="same_kind")
        return points

    def _scramble(self):
        """Draw a shift, and for each dimension a triangular matrix by which digits are mixed."""
        source = None
        if self.seed is not None:
            source = _imode.Generator()
            source.manual_seed(self.seed)
        shape = self.dimension, self.MAXBIT
        powers = 2 ** _np.arange(self.MAXBIT)
        self.shift = _imode.tensor(_imode.randint(2, shape, generator=source).numpy() @ powers)
        mixing = _imode.randint(2, (*shape, self.MAXBIT), generator=source).tril().numpy()
        _np.einsum("dii->di", mixing)[...] = 1
        state = self.sobolstate.numpy()
        rows = (mixing @ powers[::-1])[:, ::-1]  # each row of digits as a number
        mixed = _np.zeros_like(state)
        for k in range(self.MAXBIT):
            mixed |= _parity(rows[:, k, None] & state) << k
        state[...] = mixed

    def __repr__(self):
        parts = [f"dimension={self.dimension}"]
        parts += ["scramble=True"] if self.scramble else []
        parts += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(parts)})"


def _parity(numbers):
    """Whether the number of ones among 32 digits is odd."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ numbers >> shift
    return numbers & 1
