"""Numbers of events: Poisson and binomial, drawn by Hörmann's transformed rejection.

Bit for bit PyTorch's, as `distributions` says. The two methods are those of W. Hörmann, "The
transformed rejection method for generating Poisson random variables" (1993) and "The generation of
binomial random variates" (1993); small means are counted by waiting times.
"""
import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, ceil, exp, fabs, floor, lgamma, log, log1p, sqrt
from libc.stdint cimport int64_t

from imode.kernels.random.generator cimport Generator, choose, mt_next64, mt_state

cnp.import_array()

cdef double TO_UNIT = 1.0 / 9007199254740992.0    # 2**-53
# What Stirling's formula leaves out of log(k!), for k from 0 on.
cdef double[10] TAIL = [
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287]


cdef inline double _unit(mt_state *mt) noexcept nogil:
    return <double> (mt_next64(mt) & 0x1FFFFFFFFFFFFFULL) * TO_UNIT


cdef double _poisson(mt_state *mt, double rate) noexcept nogil:
    cdef double root, b, a, inverse, bound, u, v, us, k, product, limit
    cdef int64_t n
    if rate == 0 or rate == INFINITY:
        return rate
    if rate < 10:
        n, product, limit = 0, 1.0, exp(-rate)
        while True:
            product *= _unit(mt)
            if product <= limit:
                return <double> n
            n += 1
    root = sqrt(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    bound = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = _unit(mt) - 0.5
        v = _unit(mt)
        us = 0.5 - fabs(u)
        k = floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= bound:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if log(v) + log(inverse) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1):
            return k


cdef double _tail(double k) noexcept nogil:
    cdef double square
    if k <= 9:
        return TAIL[<int> k]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


cdef double _by_waiting(mt_state *mt, double count, double p) noexcept nogil:
    cdef double total = 0, successes = 0, scale = log1p(-p)
    while True:
        total += ceil(log(_unit(mt)) / scale)
        if total > count:
            return successes
        successes += 1


cdef double _by_rejection(mt_state *mt, double count, double p) noexcept nogil:
    cdef double deviation = sqrt(count * p * (1 - p))
    cdef double b = 1.15 + 2.53 * deviation
    cdef double a = -0.0873 + 0.0248 * b + 0.01 * p
    cdef double c = count * p + 0.5
    cdef double bound = 0.92 - 4.2 / b
    cdef double odds = p / (1 - p)
    cdef double alpha = (2.83 + 5.1 / b) * deviation
    cdef double mode = floor((count + 1) * p)
    cdef double u, v, us, k, most
    while True:
        u = _unit(mt) - 0.5
        v = _unit(mt)
        us = 0.5 - fabs(u)
        k = floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= bound:
            return k
        if k < 0 or k > count:
            continue
        v = log(v * alpha / (a / (us * us) + b))
        most = (
            (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * log(odds * (count - k + 1) / (k + 1))
            + _tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k))
        if v <= most:
            return k


cdef double _binomial(mt_state *mt, double count, double p) noexcept nogil:
    cdef bint turned = p > 0.5
    cdef double least = 1.0 - p if turned else p, drawn
    if count <= 0 or p <= 0:
        return 0
    if p >= 1:
        return count
    if not (least > 0 and count < INFINITY):    # NaN or infinite: no trial would be the last
        return count * least
    if count * least >= 10:
        drawn = _by_rejection(mt, count, least)
    else:
        drawn = _by_waiting(mt, count, least)
    return count - drawn if turned else drawn


cdef void draw_poisson(
    mt_state *mt, int kind, void *out, const void *rates, int64_t n
) noexcept nogil:
    cdef int64_t i
    if kind == cnp.NPY_FLOAT32:
        for i in range(n):
            (<float *> out)[i] = <float> _poisson(mt, (<const float *> rates)[i])
    else:
        for i in range(n):
            (<double *> out)[i] = _poisson(mt, (<const double *> rates)[i])


def poisson(cnp.ndarray rates, generator=None):
    """Return a float64 array of as many events as each rate gives; rates: float64, in row order."""
    cdef Generator source = choose(generator)
    cdef cnp.ndarray made = np.empty((<object> rates).shape)
    source.acquire()
    try:
        with nogil:
            draw_poisson(&source.engine, cnp.NPY_FLOAT64, cnp.PyArray_DATA(made),
                         cnp.PyArray_DATA(rates), cnp.PyArray_SIZE(rates))
    finally:
        source.release()
    return made


def binomial(cnp.ndarray counts, cnp.ndarray probabilities, generator=None):
    """Return a float64 array of the successes among `counts` trials; as `poisson`'s, both."""
    cdef Generator source = choose(generator)
    cdef cnp.ndarray made = np.empty((<object> counts).shape)
    cdef double *into = <double *> cnp.PyArray_DATA(made)
    cdef double *count = <double *> cnp.PyArray_DATA(counts)
    cdef double *p = <double *> cnp.PyArray_DATA(probabilities)
    cdef int64_t i, n = cnp.PyArray_SIZE(counts)
    source.acquire()
    try:
        with nogil:
            for i in range(n):
                into[i] = _binomial(&source.engine, count[i], p[i])
    finally:
        source.release()
    return made
