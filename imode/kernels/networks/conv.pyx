"""Convolution over ndarrays, and transposed convolution: forward and the gradients.

Each is one of three pieces of work on the arrays of a convolution: its result, the gradient of its
input, that of its weight. A transposed convolution is the second of them.
"""

cimport numpy as cnp
from cython cimport floating
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport as_channels_last, contiguous, lines_are_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport (
    Thread, give_up_gil, num_threads, parallel_for, skipping, take_gil)
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport array_of, array_or_none
from imode.kernels.networks.conv_check cimport (
    by_other_library, check_dtypes, checked_geometry, conv_t, geometry, result_dims)
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

cnp.import_array()


# ---- dtypes without loops ------------------------------------------------------------------------


cdef object _padded(x, const conv_t* p):
    """The input with its padding, cropped where that is negative."""
    sides = ((p.front, p.back), (p.top, p.bottom), (p.left, p.right))
    wide = np.pad(x.reshape(p.n, p.c, p.d, p.h, p.w),
                  ((0, 0), (0, 0), *[(low, max(high, 0)) for low, high in sides]))
    return wide[(..., *[slice(None, min(high, 0) or None) for _, high in sides])]


cdef object _windows(x, const conv_t* p):
    """A view of the padded input: (n, groups, cg, od, oh, ow, kd, kh, kw)."""
    padded = _padded(x, p)
    n, c, *steps = padded.strides
    shape = (p.n, p.groups, p.c // p.groups, p.od, p.oh, p.ow, p.kd, p.kh, p.kw)
    factors = (p.sd, p.sh, p.sw, p.dd, p.dh, p.dw)    # of any size if there is only one window
    walks = [0 if shape[3 + i] == 1 else factors[i] * steps[i % 3] for i in range(6)]
    steps = (n, c * (p.c // p.groups), c, *walks)
    return np.lib.stride_tricks.as_strided(padded, shape, steps)


cdef object _forward_any(x, w, const conv_t* p):
    """Integers: one einsum over windows."""
    split = w.reshape(p.groups, p.oc // p.groups, p.c // p.groups, p.kd, p.kh, p.kw)
    return np.einsum("ngczyxkij,gockij->ngozyx", _windows(x, p), split, optimize=True)


cdef object _grad_weight_any(x, grad, const conv_t* p):
    split = grad.reshape(p.n, p.groups, p.oc // p.groups, p.od, p.oh, p.ow)
    return np.einsum("ngczyxkij,ngozyx->gockij", _windows(x, p), split, optimize=True)


cdef object _grad_input_any(grad, w, const conv_t* p):
    split = grad.reshape(p.n, p.groups, p.oc // p.groups, p.od, p.oh, p.ow)
    turned = w.reshape(p.groups, p.oc // p.groups, p.c // p.groups, p.kd, p.kh, p.kw)
    deep, high, wide = p.d + p.front, p.h + p.top, p.w + p.left    # and all that windows reach
    deep += max(p.back, 0)
    high += max(p.bottom, 0)
    wide += max(p.right, 0)
    padded = np.zeros((p.n, p.groups, p.c // p.groups, deep, high, wide), grad.dtype)
    for kz, ky, kx in np.ndindex(p.kd, p.kh, p.kw):
        z, y, i = kz * p.dd, ky * p.dh, kx * p.dw
        window = padded[..., z:z + (p.od - 1) * p.sd + 1:p.sd, y:y + (p.oh - 1) * p.sh + 1:p.sh,
                        i:i + (p.ow - 1) * p.sw + 1:p.sw]
        window += np.einsum("ngozyx,goc->ngczyx", split, turned[..., kz, ky, kx], optimize=True)
    return padded[..., p.front:p.front + p.d, p.top:p.top + p.h, p.left:p.left + p.w]


# ---- images and channels shared between threads -------------------------------------------------


cdef enum Work:
    FORWARD
    GRAD_INPUT
    GRAD_WEIGHT
    TURN_WEIGHT             # of GRAD_INPUT
    ALL_PARTS               # the same, with the weight where it lies
    PLACE

cdef struct share_t:
    const conv_t* p
    Work work
    int wide
    const char* left        # the input; for the input's gradient, the output's
    const char* right       # the weight; for the weight's gradient, the output's
    const char* bias
    char* out
    long parts              # of each group: see _conv.h
    const conv_plan_t* plan
    const conv_part_t* part  # of PLACE
    long apart
    int failed


cdef enum:
    SHARED = 300000     # multiplications that are worth waking a thread for
    MANY = 64           # output channels of which each thread may have some
    MOST_PIECES = 8     # of the images
    SMALL_IMAGE = 64    # as in _conv.c
    IN_CACHE = 1 << 18      # elements of a part's result, before they are put in their places


cdef void _units(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef share_t* s = <share_t*>ctx
    cdef int rc = 0
    if s.work == FORWARD:
        rc = conv_forward(s.p, s.wide, s.left, s.right, s.bias, s.out, s.parts, begin, end)
    elif s.work == GRAD_WEIGHT:
        rc = conv_grad_weight(s.p, s.wide, s.right, s.left, s.out, s.parts, begin, end)
    elif s.work == ALL_PARTS:
        rc = conv_grad_input(s.p, s.plan, s.wide, s.left, s.right, s.out, s.apart, begin, end)
    elif s.work == TURN_WEIGHT:
        conv_turn_weight(s.p, s.plan, s.wide, s.right, s.out, begin, end)
    else:
        conv_place(s.p, s.plan, s.part, s.wide, s.left, s.apart, s.out, begin, end)
    if rc:
        s.failed = 1


cdef long _each(const conv_t* p) noexcept nogil:
    """Multiplications per image."""
    return p.oc * p.od * p.oh * p.ow * (p.c // p.groups) * p.kd * p.kh * p.kw


cdef long _parts(const conv_t* p, long groups) noexcept nogil:
    """In how many parts to compute groups that are too few for the threads."""
    cdef long threads = num_threads(), parts
    if threads == 1 or groups >= 4 * threads:
        return 1
    parts = p.n * _each(p) // groups // SHARED
    return max(1, min(parts, 2 * threads if parts >= 32 * threads else threads))


cdef void _share(share_t* s, long units, double each) noexcept nogil:
    """`each`: the work of a unit, in multiplications."""
    parallel_for(units, 1 + <long>(SHARED / (each + 1)), _units, s)


cdef void _forward(share_t* s) noexcept nogil:
    cdef long units
    s.parts = _parts(s.p, conv_groups(s.p))
    units = conv_units(s.p, s.parts)
    _share(s, units, <double>s.p.n * _each(s.p) / units)


cdef int _grad_input(const share_t* s) noexcept nogil:
    """By parts, convolutions of stride 1 with the turned weight; of few places, all parts at once.

    Returns -1 without memory.
    """
    cdef const conv_t* p = s.p
    cdef conv_plan_t plan
    cdef conv_t q
    cdef share_t now = s[0]
    cdef long item = 8 if s.wide else 4, size = p.oc * (p.c // p.groups) * p.kd * p.kh * p.kw
    cdef long first = 0, images, i, grad = p.oc * p.od * p.oh * p.ow * item
    cdef long image = p.c * p.d * p.h * p.w, blocks = conv_turn_units(p), held
    cdef char* buffer
    cdef char* result
    cdef bint alone, at_once
    if conv_plan(p, &plan):
        return -1
    alone = plan.parts == 1 and plan.part.q.oc == p.c       # the result is in its places
    at_once = conv_reads_weight(p, &plan, s.wide)
    size = 0 if at_once else size
    images = p.n if alone or at_once else min(p.n, 1 + IN_CACHE // plan.result)
    now.apart, now.plan, now.bias = images * plan.result, &plan, NULL
    held = 0 if alone else now.apart * (plan.parts if at_once else plan.across)
    buffer = <char*>malloc((size + held) * item + 1)
    if buffer == NULL:
        free(plan.part)
        return -1
    if at_once:
        now.work, now.out = ALL_PARTS, s.out if alone else buffer
        _share(&now, blocks, <double>p.n * _each(p) / blocks)
    else:
        now.work, now.out = TURN_WEIGHT, buffer
        _share(&now, blocks, <double>size * 16 / blocks)
    while first < p.n and not (alone and at_once):
        for i in range(plan.parts):
            q = plan.part[i].q
            q.n = min(images, p.n - first)
            result = buffer + (size + (i if at_once else i % plan.across) * now.apart) * item
            now.out = s.out if alone else result
            if at_once:
                pass
            elif q.kd > 0 and q.kh > 0 and q.kw > 0:
                now.p, now.work = &q, FORWARD
                now.left, now.right = s.left + first * grad, buffer + plan.part[i].weight * item
                _forward(&now)
            else:
                memset(now.out, 0, q.n * q.oc * q.od * q.oh * q.ow * item)
            if not alone and (i + 1) % plan.across == 0:
                now.p, now.work = p, PLACE
                now.left = result - (plan.across - 1) * now.apart * item
                now.out, now.part = s.out + first * image * item, plan.part + i - plan.across + 1
                _share(&now, q.n * p.c, <double>plan.result * plan.across * 16 / p.c)
        first += images
    free(plan.part)
    free(buffer)
    return -now.failed


# The weight's gradient is a sum over images. Where the output has few channels to share out, each
# of several pieces of the images has a sum of its own; the shapes alone decide, so that the bits do
# not depend on the threads.

cdef struct pieces_t:
    const share_t* of
    long count
    long size               # elements of the weight
    char* sums


cdef long _pieces(const conv_t* p) noexcept nogil:
    cdef long size = p.oc * (p.c // p.groups) * p.kd * p.kh * p.kw
    cdef long most = p.n, area = p.oh * p.ow
    if p.groups > 1 or p.oc > MANY or p.n * _each(p) < max(8 * SHARED, 64 * size):
        return 1
    if area <= SMALL_IMAGE:                 # several of which are worked on at once
        most = p.n * area // (4 * SMALL_IMAGE)
    return max(1, min(most, MOST_PIECES))


cdef void _weight_pieces(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pieces_t* pieces = <pieces_t*>ctx
    cdef share_t* s = <share_t*>pieces.of
    cdef conv_t q = s.p[0]
    cdef long item = 8 if s.wide else 4, first
    cdef Py_ssize_t i
    for i in range(begin, end):
        first = s.p.n * i // pieces.count
        q.n = s.p.n * (i + 1) // pieces.count - first
        if conv_grad_weight(&q, s.wide, s.right + first * q.oc * q.od * q.oh * q.ow * item,
                            s.left + first * q.c * q.d * q.h * q.w * item,
                            pieces.sums + i * pieces.size * item, 1, 0, conv_weight_units(&q, 1)):
            s.failed = 1


cdef void _add_up(floating* sums, long count, long size, floating* out) noexcept nogil:
    cdef long i, j
    memcpy(out, sums, size * sizeof(floating))
    for i in range(1, count):
        for j in range(size):
            out[j] += sums[i * size + j]


cdef void _grad_weight(share_t* s) noexcept nogil:
    cdef const conv_t* p = s.p
    cdef pieces_t pieces = [s, _pieces(p), p.oc * (p.c // p.groups) * p.kd * p.kh * p.kw, NULL]
    cdef long units
    if pieces.count > 1:
        pieces.sums = <char*>malloc(pieces.count * pieces.size * (8 if s.wide else 4))
        if pieces.sums == NULL:
            s.failed = 1
            return
        parallel_for(pieces.count, 1, _weight_pieces, &pieces)
        if s.wide:
            _add_up(<double*>pieces.sums, pieces.count, pieces.size, <double*>s.out)
        else:
            _add_up(<float*>pieces.sums, pieces.count, pieces.size, <float*>s.out)
        free(pieces.sums)
        return
    s.parts = _parts(p, p.groups)
    units = conv_weight_units(p, s.parts)
    _share(s, units, <double>p.n * _each(p) / units)


cdef int _run(share_t* s) except -1:
    """Do the work, on several threads if it is large."""
    cdef const conv_t* p = s.p
    cdef Thread* thread
    s.failed = 0
    if skipping():
        return 0
    thread = give_up_gil(p.n * _each(p))
    if s.work == FORWARD:
        _forward(s)
    elif s.work == GRAD_WEIGHT:
        _grad_weight(s)
    elif _grad_input(s):
        s.failed = 1
    take_gil(thread)
    if s.failed:
        raise MemoryError("conv: no memory for the scratch buffer")
    return 0


# ---- kernels -------------------------------------------------------------------------------------


cdef bint _is_last(cnp.ndarray x, cnp.ndarray weight, tuple rest) noexcept:
    """Whether the input or weight has channels last; lines count as row-major."""
    if cnp.PyArray_NDIM(x) == 5 and not by_other_library(x, weight, rest[5]):
        return False
    lines = cnp.PyArray_NDIM(x) == 3 and not cnp.PyArray_IS_C_CONTIGUOUS(x)
    return lines_are_last(weight) or (not lines and lines_are_last(x))


cdef void _bring(share_t* s, const conv_t* p, Work work, cnp.ndarray left, cnp.ndarray right,
                 cnp.ndarray out) noexcept:
    """Fill in `s`, except the bias."""
    s.p, s.work, s.wide, s.bias = p, work, cnp.PyArray_ITEMSIZE(out) == 8, NULL
    s.left = <const char*>cnp.PyArray_DATA(left)
    s.right = <const char*>cnp.PyArray_DATA(right)
    s.out = <char*>cnp.PyArray_DATA(out)


cdef object _by_numpy(const conv_t* p, Work work, left, right, bias, int nd, cnp.npy_intp* dims):
    if work == FORWARD:
        result = _forward_any(left, right, p)
    elif work == GRAD_INPUT:
        result = _grad_input_any(left, right, p)
    else:
        result = _grad_weight_any(left, right, p)
    result = np.ascontiguousarray(result, left.dtype).reshape([dims[i] for i in range(nd)])
    return result if bias is None else result + bias.reshape((-1,) + (1,) * (nd - 2))


cdef object _done(const conv_t* p, Work work, left, right, bias, bint last, int nd,
                  cnp.npy_intp* dims):
    """A new array of `dims`: the work on arrays that fit `p`. `last`: with channels last."""
    cdef share_t share
    cdef cnp.ndarray a, b, out
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>left)
    if kind == cnp.NPY_FLOAT16:
        halves = [None if x is None else cast(x, np.float32) for x in (left, right, bias)]
        return cast(_done(p, work, halves[0], halves[1], halves[2], last, nd, dims), np.float16)
    if p.n == 0 or p.c == 0:
        out = empty(kind, nd, dims)
        (<object>out).fill(0)
        return out
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        result = _by_numpy(p, work, left, right, bias, nd, dims)
        return as_channels_last(result) if last else result
    a = contiguous(left)
    b = contiguous(right)
    out = empty(kind, nd, dims)
    _bring(&share, p, work, a, b, out)
    if work == FORWARD and bias is not None:
        bias = contiguous(bias)
        share.bias = <const char*>cnp.PyArray_DATA(<cnp.ndarray>bias)
    _run(&share)
    if work != FORWARD and bias is not None:
        np.add(out, bias.reshape((-1,) + (1,) * (nd - 2)), out=out)
    return as_channels_last(out) if last else out


cpdef object convolve(x, weight, bias, tuple rest):
    """Convolve (n, c, w) with (oc, c / groups, kw), or likewise in two and three dimensions.

    Transposed: (n, c, w) with (c, oc / groups, kw). rest: see conv_check.pxd.
    """
    cdef conv_t p
    cdef cnp.npy_intp[5] dims
    cdef bint transposed = rest[3] is True
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>x) - 2
    checked_geometry(&p, x, weight, bias, rest)
    check_dtypes(&p, x, weight, bias, transposed)
    result_dims(&p, ndim, transposed, dims)
    return _done(&p, GRAD_INPUT if transposed else FORWARD, x, weight, bias,
                 _is_last(x, weight, rest), ndim + 2, dims)


def result_shape(x, weight, tuple rest):
    """The shape of a convolution. Raises RuntimeError if the arguments do not fit together."""
    cdef conv_t p
    cdef cnp.npy_intp[5] dims
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>x) - 2
    checked_geometry(&p, x, weight, None, rest)
    result_dims(&p, ndim, rest[3] is True, dims)
    return tuple([dims[i] for i in range(ndim + 2)])


def grad_input(grad, x, weight, tuple rest):
    """Return the gradient of x, of which only shape and memory order are read."""
    cdef conv_t p
    cdef cnp.ndarray like = x
    geometry(&p, x, weight, rest)
    return _done(&p, FORWARD if rest[3] is True else GRAD_INPUT, grad, weight, None,
                 _is_last(x, weight, rest), cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like))


def grad_weight(grad, x, weight, tuple rest):
    """Return the gradient of weight, of which only shape and memory order are read."""
    cdef conv_t p
    cdef cnp.ndarray like = weight
    geometry(&p, x, weight, rest)
    left, right = (grad, x) if rest[3] is True else (x, grad)
    return _done(&p, GRAD_WEIGHT, left, right, None, _is_last(x, weight, rest),
                 cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like))


cdef object _convolution(Operator op, keyset_t keys, PyObject** args):
    """Called from C: with few elements, a Python call would take half of the time."""
    cdef tuple rest = (<object>args[3], <object>args[4], <object>args[5], <object>args[6],
                       <object>args[7], <object>args[8])
    return deliver(op, convolve(
        array_of(args[0]), array_of(args[1]), array_or_none(args[2]), rest), args)


convolution = CKernel.new(_convolution)
