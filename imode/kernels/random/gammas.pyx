"""Gamma and Dirichlet numbers, and how they move with their parameters.

Numbers are drawn bit for bit as PyTorch's, as `distributions` says, by the method of
G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables" (2000).

A derivative is implicit: for x with the distribution function F(x; a), dx/da = -(dF/da) / (dF/dx).
Series serve near an end of the support, saddle point expansions for large parameters, and between
them fitted rational functions, exact to about three digits: those of M. Jankowiak and F. Obermeyer,
"Pathwise derivatives beyond the reparameterization trick" (2018), with the numbers of PyTorch.
"""
import numpy as np

cimport numpy as cnp
from libc.math cimport NAN, exp, isnan, log, pow, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from imode.kernels.random.distributions cimport draw_normal
from imode.kernels.random.generator cimport Generator, choose, mt_next64, mt_state

cnp.import_array()

cdef extern from *:    # gamma.h has more than is used here
    """
    #pragma GCC diagnostic ignored "-Wunused-function"
    """

cdef extern from "gamma.h" nogil:
    double digamma_anywhere(double x) noexcept

cdef double TO_UNIT = 1.0 / 9007199254740992.0    # 2**-53
cdef float THIRD = <float> 1.0 / <float> 3.0
cdef float SQUEEZE = <float> 0.0331
cdef double LEAST = np.finfo(np.float64).tiny
cdef double MOST = np.nextafter(1.0, 0.0)
cdef float LEAST_FLOAT = np.finfo(np.float32).tiny
cdef float MOST_FLOAT = np.nextafter(np.float32(1), np.float32(0))


# ---- drawing ---------------------------------------------------------------------------------

cdef inline double _unit(mt_state *mt) noexcept nogil:
    return <double> (mt_next64(mt) & 0x1FFFFFFFFFFFFFULL) * TO_UNIT


cdef inline double _normal(Generator source) noexcept nogil:
    cdef double drawn
    draw_normal(source, cnp.NPY_FLOAT64, &drawn, 1, False, 0.0, 1.0)
    return drawn


cdef double _gamma(Generator source, double shape, bint single) noexcept nogil:
    """A gamma number; single: the shape is a float32, and what is computed of it alone, too."""
    cdef double scale = 1.0, power, d, c, x, y, v, u, square
    if shape < 1:
        if shape == 0:
            return 0
        power = <double> (<float> 1.0 / <float> shape) if single else 1.0 / shape
        scale = pow(1 - _unit(&source.engine), power)
        shape = <double> (<float> shape + <float> 1.0) if single else shape + 1
    d = <double> (<float> shape - THIRD) if single else shape - THIRD
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = _normal(source)
        y = 1.0 + c * x
        while y <= 0:
            x = _normal(source)
            y = 1.0 + c * x
        v = y * y * y
        u = 1 - _unit(&source.engine)
        square = x * x
        if u < 1.0 - SQUEEZE * square * square:
            return scale * d * v
        if log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return scale * d * v
        if isnan(d):    # no number would ever be taken
            return NAN


def standard_gamma(cnp.ndarray shapes, generator=None):
    """Return gamma numbers of scale 1; shapes: float32 or float64, in row order, as the result."""
    cdef Generator source = choose(generator)
    cdef cnp.ndarray made = np.empty_like(shapes)
    cdef bint single = cnp.PyArray_TYPE(shapes) == cnp.NPY_FLOAT32
    cdef double *shape = <double *> cnp.PyArray_DATA(shapes)
    cdef float *shape_f = <float *> shape
    cdef double *into = <double *> cnp.PyArray_DATA(made)
    cdef float *into_f = <float *> into
    cdef int64_t i, n = cnp.PyArray_SIZE(shapes)
    source.acquire()
    try:
        with nogil:
            for i in range(n):
                if single:
                    into_f[i] = <float> _gamma(source, shape_f[i], True)
                    if not into_f[i] > LEAST_FLOAT:               # NaN, of negative shapes, too
                        into_f[i] = LEAST_FLOAT
                else:
                    into[i] = _gamma(source, shape[i], False)
                    if not into[i] > LEAST:
                        into[i] = LEAST
    finally:
        source.release()
    return made


cdef inline double _between(double x, double low, double high) noexcept nogil:
    return low if x < low else high if x > high else x


cdef void _row(Generator source, void *shape, void *into, int64_t n, bint single) noexcept nogil:
    """Draw one row of shares, neither 0 nor 1 in the result's dtype."""
    cdef double total = 0, drawn
    cdef int64_t i
    for i in range(n):    # drawn in double: of small shapes they vanish in float
        drawn = _gamma(source, (<float *> shape)[i] if single else (<double *> shape)[i], False)
        total += drawn if drawn > LEAST else LEAST
        (<double *> into)[i] = drawn if drawn > LEAST else LEAST
    for i in range(n):
        drawn = (<double *> into)[i] / total
        if single:    # the i-th float lies before the i-th double: nothing unread is lost
            (<float *> into)[i] = <float> _between(<float> drawn, LEAST_FLOAT, MOST_FLOAT)
        else:
            (<double *> into)[i] = _between(drawn, LEAST, MOST)


def shares(cnp.ndarray shapes, generator=None):
    """Return Dirichlet numbers: the shares of gamma numbers in their sum along the last axis.

    shapes: float32 or float64, in row order; the result has its dtype.
    """
    cdef Generator source = choose(generator)
    cdef bint single = cnp.PyArray_TYPE(shapes) == cnp.NPY_FLOAT32
    cdef int64_t size = cnp.PyArray_SIZE(shapes), i
    cdef int64_t n = cnp.PyArray_DIM(shapes, shapes.ndim - 1) if shapes.ndim else 1
    cdef cnp.ndarray made = np.empty_like(shapes), wide = np.empty(n) if single else made
    cdef char *shape = <char *> cnp.PyArray_DATA(shapes)
    cdef char *into = <char *> cnp.PyArray_DATA(made)
    cdef char *row = <char *> cnp.PyArray_DATA(wide)
    cdef int64_t width = n * cnp.PyArray_ITEMSIZE(shapes)
    source.acquire()
    try:
        with nogil:
            for i in range(size // n):
                _row(source, shape + i * width, row if single else into + i * width, n, single)
                if single:
                    memcpy(into + i * width, row, width)
    finally:
        source.release()
    return made


# ---- the derivative of a gamma number by its shape -------------------------------------------

cdef double[3][8] GAMMA_FIT = [
    [0.16009398, -0.094634809, 0.025146376, -0.0030648343,
     1, 0.32668115, 0.10406089, 0.0014179084],
    [0.53487893, 0.1298071, 0.065735949, -0.0015649758,
     0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
    [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777,
     0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07]]


cdef double _by_shape(double a, double x) noexcept nogil:
    if x < 0.8:
        return _by_shape_series(a, x)
    if a > 8:
        return _by_shape_saddle(a, x)
    return _by_shape_fit(log(a), log(x / a))


cdef double _by_shape_series(double a, double x) noexcept nogil:
    """From the series of the incomplete gamma function for small x (DLMF 8.7.1)."""
    cdef double term = 1, sum = 1 / a, slope = 1 / (a * a), power = pow(x, a), below, result
    cdef int k
    for k in range(1, 6):
        term *= -x / k
        sum += term / (a + k)
        slope += term / ((a + k) * (a + k))
    below = (log(x) - digamma_anywhere(a)) * power * sum - power * slope
    result = -below / (pow(x, a - 1) * exp(-x))
    return 0 if isnan(result) else result


cdef double _by_shape_saddle(double a, double x) noexcept nogil:
    cdef double root, near, far, first
    if 0.9 * a <= x <= 1.1 * a:
        return (
            (1 + 24 * a * (1 + 12 * a))
            * (1440 * a * a + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x))
            / (1244160 * a * a * a * a))
    root = sqrt(8 * a)
    near = root / (a - x)
    far = pow(x - a - a * log(x / a), -1.5)
    first = log(x / a) * (near - far if x < a else near + far)
    first -= sqrt(2 / a) * (a + x) / ((a - x) * (a - x))
    return -(1 + 1 / (12 * a) * (1 + 1 / (24 * a))) * x * first / root


cdef double _by_shape_fit(double v, double u) noexcept nogil:
    cdef double[8] c
    cdef int k
    for k in range(8):
        c[k] = GAMMA_FIT[0][k] + u * (GAMMA_FIT[1][k] + u * GAMMA_FIT[2][k])
    return exp((c[0] + v * (c[1] + v * (c[2] + v * c[3])))
               / (c[4] + v * (c[5] + v * (c[6] + v * c[7]))))


# ---- the derivative of a Dirichlet number by its parameter -----------------------------------

cdef double[3][3][4] SHARE_ABOVE = [
    [[1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
     [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
     [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013]],
    [[0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
     [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
     [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05]],
    [[-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
     [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
     [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05]]]
cdef double[3][3][4] SHARE_BELOW = [
    [[1, -0.02924021934, -0.04438342661, 0.007285809825],
     [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
     [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149]],
    [[0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
     [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
     [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05]],
    [[0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
     [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
     [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]]]


cdef double _share(double x, double a, double total) noexcept nogil:
    """-(dF/da) / (dF/dx) / (1 - x), of the Beta function F(x; a, total - a)."""
    cdef double b = total - a, room = total * x * (1 - x)
    if x <= 0.5 and room < 2.5:
        return _share_near_zero(x, a, b)
    if x >= 0.5 and room < 0.75:
        return -_other_share_near_zero(1 - x, b, a)
    if a > 6 and b > 6:
        return _share_saddle(x, a, b)
    return _share_fit(x, a, total)


cdef double _share_near_zero(double x, double a, double b) noexcept nogil:
    cdef double factor = digamma_anywhere(a) - digamma_anywhere(a + b) - log(x)
    cdef double term = 1, series = (factor + 1 / a) / a, result
    cdef int k
    for k in range(1, 11):
        term *= (k - b) * x / k
        series += term / (a + k) * (factor + 1 / (a + k))
    result = x * pow(1 - x, -b) * series
    return 0 if isnan(result) else result


cdef double _other_share_near_zero(double x, double a, double b) noexcept nogil:
    """The same by the other parameter, b."""
    cdef double factor = digamma_anywhere(a + b) - digamma_anywhere(b)
    cdef double term = 1, product = 1, slope = 0, series = factor / a, result
    cdef int k
    for k in range(1, 9):
        term *= -x / k
        slope = slope * (b - k) + product
        product *= b - k
        series += term / (a + k) * (slope + factor * product)
    result = -pow(1 - x, 1 - b) * series
    return 0 if isnan(result) else result


cdef double _stirling(double x) noexcept nogil:
    return 1 + 1 / (12 * x) + 1 / (288 * x * x)


cdef double _share_saddle(double x, double a, double b) noexcept nogil:
    cdef double total = a + b, mean = a / total, spread = sqrt(a * b / (total + 1)) / total
    cdef double poly, gap, first, third, far
    if mean - 0.1 * spread <= x <= mean + 0.1 * spread:
        poly = a * (8 * (1 - x) * (135 * b - 11))
        poly = a * ((453 + 1620 * b * (1 - x) - 455 * x) * b + poly)
        poly = a * (3 * (59 + 180 * b - 90 * x) * b * b + poly)
        poly = a * ((43 + 20 * (16 + 27 * b) * x) * b * b * b + poly)
        poly += 47 * x * b * b * b * b
        return (
            (1 + 12 * a) * (1 + 12 * b) / (total * total) / (1 - x) * poly
            / (12960 * a * a * a * b * b * (1 + 12 * total)))
    gap = a * (x - 1) + b * x
    first = 2 * a * a * (x - 1) + a * b * (x - 1) - x * b * b
    first /= sqrt(2 * a / b) * pow(total, 1.5) * gap * gap
    third = sqrt(8 * a * b / total) / gap
    far = pow(b * log(b / (total * (1 - x))) + a * log(a / (total * x)), -1.5)
    first += 0.5 * log(a / (total * x)) * (third + (far if x < mean else -far))
    return (
        _stirling(a) * _stirling(b) / _stirling(total)
        * (-x / sqrt(2 * a * b / total)) * first)


cdef double _share_fit(double x, double a, double total) noexcept nogil:
    cdef double u = log(x), v = log(a) - u, w = log(total) - v
    cdef double above = 0, below = 0, row_above, row_below
    cdef double *c
    cdef int i, j
    for i in range(2, -1, -1):
        row_above = row_below = 0
        for j in range(2, -1, -1):
            c = SHARE_ABOVE[i][j]
            row_above = row_above * v + c[0] + w * (c[1] + w * (c[2] + w * c[3]))
            c = SHARE_BELOW[i][j]
            row_below = row_below * v + c[0] + w * (c[1] + w * (c[2] + w * c[3]))
        above = above * u + row_above
        below = below * u + row_below
    return above / below * x * (digamma_anywhere(total) - digamma_anywhere(a)) / (total - a)


# ---- over arrays -----------------------------------------------------------------------------

def standard_gamma_grad(cnp.ndarray shapes, cnp.ndarray drawn):
    """Return dx/da of gamma numbers x of shapes a: float64 arrays of one shape, in row order."""
    cdef cnp.ndarray made = np.empty_like(shapes)
    cdef double *into = <double *> cnp.PyArray_DATA(made)
    cdef double *a = <double *> cnp.PyArray_DATA(shapes)
    cdef double *x = <double *> cnp.PyArray_DATA(drawn)
    cdef int64_t i, n = cnp.PyArray_SIZE(shapes)
    with nogil:
        for i in range(n):
            into[i] = _by_shape(a[i], x[i])
    return made


def dirichlet_grad(cnp.ndarray drawn, cnp.ndarray shapes, cnp.ndarray totals):
    """Return dx/da / (1 - x) of shares x of parameters a, whose sum is `totals`; as above."""
    cdef cnp.ndarray made = np.empty_like(shapes)
    cdef double *into = <double *> cnp.PyArray_DATA(made)
    cdef double *x = <double *> cnp.PyArray_DATA(drawn)
    cdef double *a = <double *> cnp.PyArray_DATA(shapes)
    cdef double *total = <double *> cnp.PyArray_DATA(totals)
    cdef int64_t i, n = cnp.PyArray_SIZE(shapes)
    with nogil:
        for i in range(n):
            into[i] = _share(x[i], a[i], total[i])
    return made
