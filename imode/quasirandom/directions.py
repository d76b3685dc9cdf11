"""The direction numbers of Sobol sequences.

Those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional
projections" (2008), criterion D(6), for the first 10 000 dimensions. Each dimension but the first
belongs to a primitive polynomial over two elements, by degree and number. Its first numbers m_1 ..
m_s, as many as the degree s, are free; they are odd and m_i is below 2**i, so that i - 1 bits tell
it, in `directions.bin`, one dimension after the other. The rest follows by a recurrence.
"""

from functools import cache
from pathlib import Path

import numpy as np

MAXBIT = 30
MAXDIM = 10000


def direction_numbers(dimension):
    """Return int64 (dimension, MAXBIT): by how much a digit of the point's number moves it."""
    numbers = np.ones((dimension, MAXBIT), np.int64)
    begin, degree, bit = 1, 1, 0
    bits = _bits() if dimension > 1 else None
    while begin < dimension:
        polynomials = _primitive(degree)[: dimension - begin]
        end, wide = begin + len(polynomials), degree * (degree - 1) // 2
        free = bits[bit : bit + len(polynomials) * wide].reshape(len(polynomials), wide)
        _fill(numbers[begin:end], free, polynomials, degree)
        begin, degree, bit = end, degree + 1, bit + free.size
    return numbers << np.arange(MAXBIT - 1, -1, -1)


def _bits():
    packed = np.frombuffer(Path(__file__).with_suffix(".bin").read_bytes(), np.uint8)
    return np.unpackbits(packed)


def _fill(numbers, free, polynomials, degree):
    """Write the numbers of all dimensions whose polynomial has this degree."""
    at = 0
    for i in range(1, degree):
        numbers[:, i] += 2 * (free[:, at : at + i] @ (1 << np.arange(i)))
        at += i
    for k in range(degree, MAXBIT):
        new = numbers[:, k - degree] ^ numbers[:, k - degree] << degree
        for i in range(1, degree):
            new ^= np.where(polynomials >> degree - i & 1, numbers[:, k - i] << i, 0)
        numbers[:, k] = new


# ---- primitive polynomials -----------------------------------------------------------------------


@cache
def _primitive(degree):
    """The primitive polynomials of a degree, in order: a bit for each coefficient.

    x has the order 2**degree - 1 modulo such a polynomial: that power of it is 1, and none is whose
    exponent is that divided by a prime.
    """
    order = (1 << degree) - 1
    found = (1 << degree) + 2 * np.arange(1 << degree - 1, dtype=np.int64) + 1
    found = found[_power(found, degree, order + 1) == (2 if degree > 1 else 1)]
    for prime in _prime_factors(order):
        if prime < order:
            found = found[_power(found, degree, order // prime) != 1]
    return found


def _power(polynomials, degree, exponent):
    """x to the power of `exponent`, modulo each polynomial."""
    result = np.ones_like(polynomials)
    top = 1 << degree
    for digit in f"{exponent:b}":
        result = _square(result, polynomials, degree)
        if digit == "1":
            result <<= 1
            result ^= np.where(result & top, polynomials, 0)
    return result


def _square(numbers, polynomials, degree):
    """Squares modulo each polynomial: zeros between the digits, then the rest of the division."""
    result = np.zeros_like(numbers)
    for i in range(degree):
        result |= (numbers & 1 << i) << i
    for i in range(2 * degree - 2, degree - 1, -1):
        result ^= np.where(result >> i & 1, polynomials << i - degree, 0)
    return result


def _prime_factors(n):
    found, p = [], 2
    while p * p <= n:
        if n % p == 0:
            found.append(p)
        while n % p == 0:
            n //= p
        p += 1
    return [*found, n] if n > 1 else found
