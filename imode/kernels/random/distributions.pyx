"""The distributions, drawn from a generator into ndarrays.

For a given seed every function gives the same bits as PyTorch's CPU kernels on x86-64: the same
number of words per value, the same formulas, and a fused multiply-add where its build has one.
Values are stored in memory order (smallest stride first), the order of PyTorch's iterator.

On CPUs made by Intel, PyTorch draws bernoulli and exponential numbers with MKL; the numbers here
are those that it draws on all other CPUs.
"""
import numpy as np

cimport cython
cimport numpy as cnp
from libc.math cimport fma, fmaf, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t

from imode.kernels.random.generator cimport Generator, choose, mt_fill, mt_next, mt_next64, mt_state
from imode._core.dtype cimport BFLOAT16, typenum_of
from imode._core.layout cimport iteration_order
from imode._core.parallel cimport skipping
from imode.kernels.creation.copy cimport cast, write

from imode import errors

cnp.import_array()

cdef extern from "laws.h" nogil:
    double law_one(int law, double unit, double a, double b) noexcept
    double law_normal(int law, double x, double mean, double std) noexcept
    void law_pair(double angle, double unit, double *pair) noexcept
    void law_floats(mt_state *mt, float *out, int64_t n, int law, double a, double b) noexcept
    void law_pairs(
        mt_state *mt, float *out, int64_t pairs, int law, double mean, double std) noexcept

cdef extern from "boxmuller.h" nogil:
    void bm_fill_float(float *data, int64_t blocks, float mean, float std) noexcept
    void bm_fill_double(double *data, int64_t blocks, double mean, double std) noexcept

ctypedef fused real_t:
    float
    double

ctypedef fused any_t:
    cnp.uint8_t
    cnp.int8_t
    cnp.uint16_t
    cnp.int16_t
    cnp.uint32_t
    cnp.int32_t
    cnp.uint64_t
    cnp.int64_t
    float
    double

cdef enum:
    GIL_GRAIN = 4096     # from so many values on, the GIL is released

cdef double TO_UNIT = 1.0 / 9007199254740992.0    # 2**-53


cdef bint is_half(int typenum) noexcept nogil:
    return typenum == cnp.NPY_FLOAT16 or typenum == typenum_of[<int>BFLOAT16]


# ---- where the values go ---------------------------------------------------------------------

@cython.final
cdef class Line:
    cdef int store(self) except -1:
        if self.values is not self.target:
            write(self.target, self.values.reshape((<object> self.target).shape))
        return 0


cdef Line line_of(cnp.ndarray out, object dtype=None):
    """`out` as a line; dtype: in which the values must be drawn, if it is another."""
    cdef Line line = Line()
    line.target = out
    if not cnp.PyArray_ISWRITEABLE(out) or not cnp.PyArray_IS_C_CONTIGUOUS(out):
        check_target(out)
        line.target = out.transpose(iteration_order(out))
    if skipping():                # shapes alone: nothing is drawn
        line.values, line.data = line.target, cnp.PyArray_DATA(out)
        line.kind = np.dtype(out.dtype if dtype is None else dtype).num
        return line
    if dtype is None and cnp.PyArray_IS_C_CONTIGUOUS(line.target):
        line.values = line.target
    else:
        line.values = np.empty(out.size, out.dtype if dtype is None else dtype)
    line.data = cnp.PyArray_DATA(line.values)
    line.n = cnp.PyArray_SIZE(line.values)
    line.kind = cnp.PyArray_TYPE(line.values)
    return line


cdef int check_target(cnp.ndarray out) except -1:
    """Raise for read-only memory, and for elements that share memory."""
    cdef int i
    if not cnp.PyArray_ISWRITEABLE(out):
        raise errors.views.read_only()
    if cnp.PyArray_SIZE(out) > 1:
        for i in range(out.ndim):
            if cnp.PyArray_STRIDE(out, i) == 0 and cnp.PyArray_DIM(out, i) > 1:
                raise errors.views.overlap_inside(out)
    return 0


cdef cnp.ndarray _as_real(cnp.ndarray out):
    """View a complex array as a real one with a last axis of two."""
    if not cnp.PyArray_ISCOMPLEX(out):
        return out
    return (<object> out)[..., None].view(out.real.dtype)


# ---- uniform ---------------------------------------------------------------------------------

cdef inline double _unit(mt_state *mt) noexcept nogil:
    return <double> (mt_next64(mt) & 0x1FFFFFFFFFFFFFULL) * TO_UNIT


cdef void uniform_float(
    mt_state *mt, float *out, int64_t n, float low, float high
) noexcept nogil:
    cdef uint32_t words[CHUNK]
    cdef float width = high - low, unit
    cdef int64_t i, take
    while n > 0:
        take = min(n, <int64_t> CHUNK)
        mt_fill(mt, words, take)
        if low == 0.0 and width == 1.0:
            for i in range(take):
                out[i] = <float> (<int> (words[i] & 0xFFFFFF)) * <float> 5.9604644775390625e-08
        else:
            for i in range(take):
                unit = <float> (<int> (words[i] & 0xFFFFFF)) * <float> 5.9604644775390625e-08
                out[i] = fmaf(unit, width, low)
        out += take
        n -= take


cdef void uniform_double(
    mt_state *mt, double *out, int64_t n, double low, double high
) noexcept nogil:
    cdef uint32_t words[2 * CHUNK]
    cdef double width = high - low, unit
    cdef int64_t i, take
    cdef bint standard = low == 0.0 and width == 1.0
    while n > 0:
        take = min(n, <int64_t> CHUNK)
        mt_fill(mt, words, 2 * take)
        for i in range(take):
            unit = <double> <int64_t> (
                ((<uint64_t> words[2 * i] << 32) | words[2 * i + 1]) & 0x1FFFFFFFFFFFFFULL
            ) * TO_UNIT
            out[i] = unit if standard else fma(unit, width, low)
        out += take
        n -= take


def uniform(cnp.ndarray out, double low=0.0, double high=1.0, generator=None):
    """Fill `out` (float or complex) with numbers uniform in [low, high).

    A float32 takes 24 random bits, a float64 53; a float of 16 bits is a rounded float32.
    """
    cdef Generator source = choose(generator)
    cdef cnp.ndarray real = _as_real(out)
    cdef bint half = is_half(cnp.PyArray_TYPE(real))
    cdef Line line = line_of(real, np.float32 if half else None)
    if line.kind not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        raise errors.dtypes.not_implemented("check_uniform_bounds", out.dtype)
    source.acquire()
    try:
        if line.n < GIL_GRAIN:
            draw_uniform(&source.engine, line.kind, line.data, line.n, low, high)
        else:
            with nogil:
                draw_uniform(&source.engine, line.kind, line.data, line.n, low, high)
    finally:
        source.release()
    if half and not skipping():    # rounding may have reached `high`, which is outside
        values = cast(line.values, real.dtype)
        reached = cast(values, np.float32) >= np.float32(high)
        if reached.any():
            values[reached] = low
        line.values = values
    line.store()


cdef void draw_uniform(
    mt_state *mt, int kind, void *out, int64_t n, double low, double high
) noexcept nogil:
    if kind == cnp.NPY_FLOAT32:
        uniform_float(mt, <float *> out, n, <float> low, <float> high)
    else:
        uniform_double(mt, <double *> out, n, low, high)


# ---- normal ----------------------------------------------------------------------------------

cdef double _normal_one(Generator source) noexcept nogil:
    """One standard normal: the second of a pair if there is one, else the first of a new pair."""
    cdef double pair[2]
    cdef double angle
    if source.has_next_normal:
        source.has_next_normal = False
        return source.next_normal
    angle = _unit(&source.engine)
    law_pair(angle, _unit(&source.engine), pair)
    source.next_normal = pair[1]
    source.has_next_normal = True
    return pair[0]


cdef void _normal_serial(
    Generator source, real_t *out, int64_t n, Law law, double mean, double std
) noexcept nogil:
    """Normal numbers one by one, or those whose logarithms they are."""
    cdef int64_t i = 0
    if real_t is float:
        if n and source.has_next_normal:
            out[0] = <float> law_normal(law, _normal_one(source), mean, std)
            i = 1
        law_pairs(&source.engine, out + i, (n - i) // 2, law, mean, std)
        i += (n - i) // 2 * 2
    for i in range(i, n):
        out[i] = <real_t> law_normal(law, _normal_one(source), mean, std)


cdef void _normal_blocks(
    mt_state *mt, real_t *out, int64_t n, double mean, double std
) noexcept nogil:
    """Fill n >= 16 values by blocks of 16; if n is not a multiple of 16, draw the last 16 again."""
    cdef int64_t again = 0 if n % 16 == 0 else n - 16
    if real_t is float:
        uniform_float(mt, out, n, 0.0, 1.0)
        bm_fill_float(out, n // 16, <float> mean, <float> std)
        if again:
            uniform_float(mt, out + again, 16, 0.0, 1.0)
            bm_fill_float(out + again, 1, <float> mean, <float> std)
    else:
        uniform_double(mt, out, n, 0.0, 1.0)
        bm_fill_double(out, n // 16, mean, std)
        if again:
            uniform_double(mt, out + again, 16, 0.0, 1.0)
            bm_fill_double(out + again, 1, mean, std)


cdef void draw_normal(
    Generator source, int kind, void *out, int64_t n, bint blocks, double mean, double std
) noexcept nogil:
    if kind == cnp.NPY_FLOAT32:
        if blocks:
            _normal_blocks(&source.engine, <float *> out, n, mean, std)
        else:
            _normal_serial(source, <float *> out, n, NORMAL, mean, std)
    elif blocks:
        _normal_blocks(&source.engine, <double *> out, n, mean, std)
    else:
        _normal_serial(source, <double *> out, n, NORMAL, mean, std)


def normal(cnp.ndarray out, double mean=0.0, double std=1.0, generator=None):
    """Fill `out` (float or complex) with normal numbers.

    Contiguous arrays of 16 or more values are drawn in blocks of 16; others one by one. Each part
    of a complex number has half the variance.
    """
    cdef Generator source = choose(generator)
    cdef cnp.ndarray real = _as_real(out)
    cdef int64_t n = cnp.PyArray_SIZE(real)
    cdef bint half = is_half(cnp.PyArray_TYPE(real))
    cdef bint blocks = n >= 16 and cnp.PyArray_IS_C_CONTIGUOUS(real)
    cdef cnp.ndarray padded
    cdef Line line = line_of(real, np.float32 if half else None)
    if line.kind not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        raise errors.dtypes.not_implemented("normal_kernel_cpu", out.dtype)
    if real is not out:
        std /= sqrt(2.0)
    if half and blocks:    # whole blocks are drawn; the last ends where the array ends
        line.values = np.empty((n + 15) // 16 * 16, np.float32)
        line.data, line.n = cnp.PyArray_DATA(line.values), cnp.PyArray_SIZE(line.values)
    source.acquire()
    try:
        if line.n < GIL_GRAIN:
            draw_normal(source, line.kind, line.data, line.n, blocks, mean, std)
        else:
            with nogil:
                draw_normal(source, line.kind, line.data, line.n, blocks, mean, std)
    finally:
        source.release()
    if line.n > n:
        padded = line.values
        padded[n - 16:n] = padded[line.n - 16:line.n]
        line.values = padded[:n]
    line.store()


# ---- other continuous distributions ------------------------------------------------------------

cdef void draw_law(
    Generator source, int kind, void *out, int64_t n, Law law, double a, double b
) noexcept nogil:
    cdef int64_t i
    if law == LOG_NORMAL and kind == cnp.NPY_FLOAT32:
        _normal_serial(source, <float *> out, n, law, a, b)
    elif law == LOG_NORMAL:
        _normal_serial(source, <double *> out, n, law, a, b)
    elif kind == cnp.NPY_FLOAT32:
        law_floats(&source.engine, <float *> out, n, law, a, b)
    else:
        for i in range(n):
            (<double *> out)[i] = law_one(law, _unit(&source.engine), a, b)


cdef int _serial(cnp.ndarray out, generator, Law law, double a, double b) except -1:
    cdef Generator source = choose(generator)
    cdef Line line
    cdef int kind = cnp.PyArray_TYPE(out)
    dtype = None
    if is_half(kind):
        dtype = np.float32
    elif kind != cnp.NPY_FLOAT32 and kind != cnp.NPY_FLOAT64:
        dtype = np.float64
    line = line_of(out, dtype)
    source.acquire()
    try:
        with nogil:
            draw_law(source, line.kind, line.data, line.n, law, a, b)
    finally:
        source.release()
    line.store()
    return 0


def exponential(cnp.ndarray out, double rate=1.0, generator=None):
    """Fill `out` (float) with exponential numbers of mean 1 / rate."""
    _serial(out, generator, EXPONENTIAL, rate, 0.0)


def cauchy(cnp.ndarray out, double median=0.0, double sigma=1.0, generator=None):
    """Fill `out` (float) with Cauchy numbers."""
    _serial(out, generator, CAUCHY, median, sigma)


def log_normal(cnp.ndarray out, double mean=1.0, double std=2.0, generator=None):
    """Fill `out` (float) with numbers whose logarithm is normal."""
    _serial(out, generator, LOG_NORMAL, mean, std)


def geometric(cnp.ndarray out, double p, generator=None):
    """Fill `out` (float or integer) with the numbers of trials up to the first success."""
    _serial(out, generator, GEOMETRIC, p, 0.0)


# ---- integers --------------------------------------------------------------------------------

cdef void _words(
    mt_state *mt, uint64_t *out, int64_t n, uint64_t width, int64_t base, bint wide
) noexcept nogil:
    """(a word % width) + base, or the word itself if width is 0. A wide word has 64 bits."""
    cdef uint32_t words[CHUNK]
    cdef uint32_t rest, size = <uint32_t> width
    cdef uint64_t inverse = (1ULL << 32) // width if width else 0
    cdef int64_t i
    if wide:
        for i in range(n):
            out[i] = mt_next64(mt)
            if width:
                out[i] = out[i] % width + <uint64_t> base
        return
    mt_fill(mt, words, n)
    if width == 0 or width >> 32:            # no word is as large
        for i in range(n):
            out[i] = words[i] + (<uint64_t> base if width else 0)
        return
    for i in range(n):
        rest = words[i] - <uint32_t> (words[i] * inverse >> 32) * size     # one `size` too much,
        words[i] = min(rest, rest - size)                                  # or none
    for i in range(n):
        out[i] = words[i] + <uint64_t> base


cdef void _integers(
    mt_state *mt, any_t *out, int64_t n, uint64_t width, int64_t base, bint wide
) noexcept nogil:
    cdef uint64_t words[CHUNK]
    cdef int64_t i, take
    while n > 0:
        take = min(n, <int64_t> CHUNK)
        _words(mt, words, take, width, base, wide)
        for i in range(take):
            out[i] = <any_t> <int64_t> words[i]
        out += take
        n -= take


cdef bint draw_integers(
    mt_state *mt, int kind, void *out, int64_t n, uint64_t width, int64_t base, bint wide
) noexcept nogil:
    if kind == cnp.NPY_BOOL or kind == cnp.NPY_UINT8:
        _integers(mt, <cnp.uint8_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_INT8:
        _integers(mt, <cnp.int8_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_INT16:
        _integers(mt, <cnp.int16_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_UINT16:
        _integers(mt, <cnp.uint16_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_INT32:
        _integers(mt, <cnp.int32_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_UINT32:
        _integers(mt, <cnp.uint32_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_INT64:
        _integers(mt, <cnp.int64_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_UINT64:
        _integers(mt, <cnp.uint64_t *> out, n, width, base, wide)
    elif kind == cnp.NPY_FLOAT32:
        _integers(mt, <float *> out, n, width, base, wide)
    elif kind == cnp.NPY_FLOAT64:
        _integers(mt, <double *> out, n, width, base, wide)
    else:
        return False
    return True


def integers(cnp.ndarray out, low, high, generator=None, wide=None):
    """Fill `out` with integers uniform in [low, high); the bounds have at most 64 bits.

    Takes 64 random bits per value (`wide`) for ranges of 2**28 and more, else 32.
    """
    cdef Generator source = choose(generator)
    cdef object span = high - low
    cdef uint64_t width = 0 if span >> 64 else span
    cdef int64_t base = low
    cdef bint long_words = (span >> 28) != 0 if wide is None else wide
    cdef int known
    dtype = np.float32 if is_half(cnp.PyArray_TYPE(out)) else None
    cdef Line line = line_of(out, dtype)
    source.acquire()
    try:
        with nogil:
            known = draw_integers(
                &source.engine, line.kind, line.data, line.n, width, base, long_words)
    finally:
        source.release()
    if not known:
        raise errors.dtypes.not_implemented("random_from_to_kernel_cpu", out.dtype)
    line.store()


cdef void draw_permutation(mt_state *mt, int64_t *out, int64_t n) noexcept nogil:
    cdef int64_t i, other, saved
    for i in range(n):
        out[i] = i
    if n < 0xFFFFFFFFULL // 20:
        for i in range(n - 1):
            other = i + <int64_t> (mt_next(mt) % <uint64_t> (n - i))
            saved = out[i]
            out[i] = out[other]
            out[other] = saved
    else:    # 32 bits would prefer small numbers
        for i in range(n):
            other = <int64_t> (mt_next64(mt) % <uint64_t> (i + 1))
            out[i] = out[other]
            out[other] = i


def permutation(cnp.ndarray out, generator=None):
    """Fill `out` (one dimension) with a random order of 0 ... n-1."""
    cdef Generator source = choose(generator)
    cdef int64_t n = out.size
    cdef cnp.ndarray order = np.empty(n, np.int64)
    source.acquire()
    try:
        with nogil:
            draw_permutation(&source.engine, <int64_t *> cnp.PyArray_DATA(order), n)
    finally:
        source.release()
    out[...] = order
