"""The values of windows and the frequencies of transforms, computed in double precision."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64, default_code, dtype
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.making cimport wrap
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, _integer, _only_defaults)
from libc.math cimport cos, exp, fabs, pi, sin, sqrt
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum Shape:                  # the values at i of `last`, with parameters p
    WAVES                         # p[0] - p[1] * cos(t) + p[2] * cos(2 * t) - ..., t one turn
    TRIANGLE                      # from 0 up to 1 in the middle, and back
    KAISER                        # a Bessel function of a half ellipse of height p[0]
    SINE                          # half a wave
    EXPONENTIAL                   # falls by e each p[1] from p[0] on
    GAUSSIAN                      # a bell in the middle of the deviation p[0]

cdef enum:
    OPTIONS = 5                   # arguments of a factory, the dtype first
    MOST = 1 << 26                # most elements here
    PARAMETERS = 16               # most parameters

_SHAPES = {"waves": WAVES, "triangle": TRIANGLE, "kaiser": KAISER, "sine": SINE,
           "exponential": EXPONENTIAL, "gaussian": GAUSSIAN}

ctypedef fused real:
    float
    double


cdef double _bessel(double x) noexcept nogil:
    """The modified Bessel function of order 0: a series of positive terms."""
    cdef double square = x * x / 4
    cdef double term = 1.0
    cdef double sum = 1.0
    cdef int k = 0
    while term > sum * 1e-17 and k < 2000:
        k += 1
        term *= square / (<double>k * k)
        sum += term
    return sum


cdef double _value(Shape shape, double i, double last, const double* p, int count) noexcept nogil:
    cdef double place, sum, angle
    cdef int k
    if shape == WAVES:
        sum, angle = 0, 2 * pi * i / last
        for k in range(count):
            sum += (-p[k] if k & 1 else p[k]) * cos(k * angle)
        return sum
    if shape == SINE:
        return sin(pi * (i + 0.5) / last)
    if shape == EXPONENTIAL:
        return exp(-fabs(i - p[0]) / p[1])
    if shape == GAUSSIAN:
        place = (i - last / 2) / p[0]
        return exp(-place * place / 2)
    place = fabs(2 * i / last - 1)
    if shape == TRIANGLE:
        return 1 - place
    return _bessel(p[0] * sqrt(max(1 - place * place, 0.0))) / p[1]


cdef void _fill(real* values, Shape shape, npy_intp n, double last, double* p,
                int count) noexcept nogil:
    cdef npy_intp i
    if shape == KAISER:
        p[1] = _bessel(p[0])
    for i in range(n):
        values[i] = <real>_value(shape, i, last, p, count)


cdef ndarray _window(Shape shape, npy_intp n, double last, double* p, int count, int typenum):
    cdef ndarray made = empty(typenum, 1, &n)
    if typenum == cnp.NPY_FLOAT:
        _fill(<float*>cnp.PyArray_DATA(made), shape, n, last, p, count)
    else:
        _fill(<double*>cnp.PyArray_DATA(made), shape, n, last, p, count)
    return made


def window(str shape not None, npy_intp n, double last, parameters, as_dtype not None):
    """The first n values of a window that ends at `last`, by the name of its shape."""
    cdef double[PARAMETERS] p
    cdef int i = 0
    if len(parameters) > PARAMETERS - 1:
        raise ValueError(f"a window has at most {PARAMETERS - 1} parameters")
    for parameter in parameters:
        p[i] = parameter
        i += 1
    made = _window(_SHAPES[shape], n, last, p, i, cnp.NPY_DOUBLE)
    return made if as_dtype.num == cnp.NPY_DOUBLE else made.astype(as_dtype)


# ---- the fast case of hann_window(length, periodic, ...) and its kin -----------------------------

cdef int _typenum(Operator op, PyObject** args) except -1:
    """The type of a result in float32 or float64, other options being the default; 0: another."""
    cdef PyObject* given = args[op.nargs - OPTIONS]
    cdef int code = default_code() if given == <PyObject*>None else (<dtype>given).code
    if not _only_defaults(op, args, op.nargs - OPTIONS + 1):
        return 0
    return cnp.NPY_FLOAT if code == FLOAT32 else cnp.NPY_DOUBLE if code == FLOAT64 else 0


cdef object _plain(Operator op, keyset_t keys, PyObject** args):
    cdef Shape shape
    cdef tuple defaults
    cdef double[PARAMETERS] p
    cdef int typenum = _typenum(op, args)
    cdef int given = op.nargs - OPTIONS - 2
    cdef int i
    cdef int64_t n = 0
    cdef bint whole = given < 0 or <object>args[1] is True
    if typenum == 0 or not _integer(args[0], &n) or not 1 < n < MOST:
        return run_general(op, keys, args)
    shape, defaults = (<CKernel>op.kernels[highest_key(keys)]).config
    for i in range(len(defaults)):
        p[i] = defaults[i]
    for i in range(given):
        if not PyFloat_CheckExact(args[2 + i]):
            return run_general(op, keys, args)
        p[i] = PyFloat_AS_DOUBLE(args[2 + i])
    return wrap(_window(shape, n, <double>(n if whole else n - 1), p, <int>len(defaults), typenum))


def fast(str shape not None, tuple parameters not None):
    """The fast case of a window function with parameters that these are the defaults of."""
    return CKernel.new(_plain, (_SHAPES[shape], parameters))


# ---- the fast case of fft_fftfreq(n, d), fft_rfftfreq(n, d) --------------------------------------

cdef object _frequencies(Operator op, keyset_t keys, PyObject** args):
    cdef int typenum = _typenum(op, args)
    cdef bint half = (<CKernel>op.kernels[highest_key(keys)]).config
    cdef int64_t n = 0, i
    cdef npy_intp count
    cdef double step
    cdef ndarray made
    if typenum == 0 or not _integer(args[0], &n) or not 0 < n < MOST or (
            not PyFloat_CheckExact(args[1]) or PyFloat_AS_DOUBLE(args[1]) == 0):
        return run_general(op, keys, args)
    count = n // 2 + 1 if half else n
    step = 1.0 / (n * PyFloat_AS_DOUBLE(args[1]))
    made = empty(typenum, 1, &count)
    for i in range(count):
        if typenum == cnp.NPY_FLOAT:
            (<float*>cnp.PyArray_DATA(made))[i] = <float>(
                step * (i if half or 2 * i < n else i - n))
        else:
            (<double*>cnp.PyArray_DATA(made))[i] = step * (i if half or 2 * i < n else i - n)
    return wrap(made)


fftfreq = CKernel.new(_frequencies, False)
rfftfreq = CKernel.new(_frequencies, True)
