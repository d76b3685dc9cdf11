"""Random choices: coins (bernoulli, the mask of dropout) and weighted draws (multinomial).

Bit for bit what PyTorch draws, as in distributions.pyx.
"""
import numpy as np

cimport numpy as cnp
from libc.math cimport ceil
from libc.stdint cimport int64_t, uint32_t, uint64_t

from imode.kernels.random.generator cimport Generator, choose, mt_fill, mt_state
from imode._core.dtype cimport BFLOAT16, FLOAT16, code_of, typenum_of
from imode._core.layout cimport empty_like, iteration_order
from imode._core.parallel cimport Thread, give_up_gil, take_gil
from imode.kernels.creation.copy cimport cast, write
from imode.kernels.random.distributions cimport (
    CHUNK, Line, check_target, line_of, uniform_double, uniform_float)

from imode import errors
from imode.kernels.random.distributions import exponential, uniform
from imode.kernels.sorting import topk

cnp.import_array()

ctypedef fused real_t:
    float
    double

ctypedef fused out_t:
    cnp.uint8_t
    float
    double

cdef double TO_WHOLE = 9007199254740992.0    # 2**53


# ---- coins -----------------------------------------------------------------------------------

cdef void _toss(mt_state *mt, out_t *out, int64_t n, double p) noexcept nogil:
    """Ones with probability p, each from 53 bits."""
    cdef uint32_t words[2 * CHUNK]
    cdef int64_t i, take, bound = <int64_t> ceil(p * TO_WHOLE)    # bits < bound means unit < p
    while n > 0:
        take = min(n, <int64_t> CHUNK)
        mt_fill(mt, words, 2 * take)
        for i in range(take):
            out[i] = <out_t> (<int64_t> (
                ((<uint64_t> words[2 * i] << 32) | words[2 * i + 1]) & 0x1FFFFFFFFFFFFFULL
            ) < bound)
        out += take
        n -= take


cdef void draw_coins(mt_state *mt, int kind, void *out, int64_t n, double p) noexcept nogil:
    if kind == cnp.NPY_FLOAT32:
        _toss(mt, <float *> out, n, p)
    elif kind == cnp.NPY_FLOAT64:
        _toss(mt, <double *> out, n, p)
    else:
        _toss(mt, <cnp.uint8_t *> out, n, p)


cdef int _coins(cnp.ndarray out, double p, Generator source) except -1:
    cdef int kind = cnp.PyArray_TYPE(out)
    cdef bint wide = kind in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_BOOL, cnp.NPY_UINT8)
    cdef Line line = line_of(out, None if wide else np.uint8)
    source.acquire()
    try:
        with nogil:
            draw_coins(&source.engine, line.kind, line.data, line.n, p)
    finally:
        source.release()
    line.store()
    return 0


cdef bint _are_probabilities(real_t *p, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef bint right = True
    for i in range(n):
        right = right and p[i] >= 0 and p[i] <= 1
    return right


cdef void _compare(real_t *out, real_t *p, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = out[i] < p[i]


cdef int toss_alike(cnp.ndarray out, cnp.ndarray p, Generator source) except -1:
    """Both are contiguous, of one shape and one floating dtype, and do not share memory."""
    cdef int64_t n = cnp.PyArray_SIZE(out)
    cdef bint single = cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT32
    cdef bint right
    cdef Thread *thread
    cdef void *target = cnp.PyArray_DATA(out)
    cdef void *chances = cnp.PyArray_DATA(p)
    if single:
        right = _are_probabilities(<float *> chances, n)
    else:
        right = _are_probabilities(<double *> chances, n)
    if not right:
        raise errors.numbers.bernoulli_probability()
    source.acquire()
    thread = give_up_gil(n)
    if single:
        uniform_float(&source.engine, <float *> target, n, 0.0, 1.0)
        _compare(<float *> target, <float *> chances, n)
    else:
        uniform_double(&source.engine, <double *> target, n, 0.0, 1.0)
        _compare(<double *> target, <double *> chances, n)
    take_gil(thread)
    source.release()
    return 0


def bernoulli(cnp.ndarray out, p, generator=None):
    """Fill `out` with ones, with probability `p` (a number or an ndarray of float), and zeros.

    Raises RuntimeError for a probability outside [0, 1] in an array.
    """
    cdef cnp.ndarray probabilities, draws
    if not isinstance(p, np.ndarray):
        _coins(out, <double> p, choose(generator))
        return
    probabilities = p
    if code_of[cnp.PyArray_TYPE(probabilities)] in (FLOAT16, BFLOAT16):
        probabilities = cast(probabilities, np.float32)
    if (
        cnp.PyArray_IS_C_CONTIGUOUS(out)
        and cnp.PyArray_IS_C_CONTIGUOUS(probabilities)
        and cnp.PyArray_ISWRITEABLE(out)
        and cnp.PyArray_SAMESHAPE(probabilities, out)
        and not np.may_share_memory(out, probabilities)
    ):
        if cnp.PyArray_TYPE(out) == cnp.PyArray_TYPE(probabilities) and (
                cnp.PyArray_TYPE(out) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64)):
            toss_alike(out, probabilities, choose(generator))
            return
        if cnp.PyArray_TYPE(probabilities) == cnp.NPY_FLOAT32 and (
                code_of[cnp.PyArray_TYPE(out)] in (FLOAT16, BFLOAT16)):
            draws = np.empty((<object> out).shape, np.float32)
            toss_alike(draws, probabilities, choose(generator))
            write(out, draws)
            return
    if cnp.PyArray_TYPE(probabilities) == cnp.NPY_FLOAT64:
        draws = np.empty(out.size, np.float64)
    elif cnp.PyArray_TYPE(probabilities) == cnp.NPY_FLOAT32:
        draws = np.empty(out.size, np.float32)
    else:
        raise errors.dtypes.not_implemented("bernoulli_tensor_cpu_p_", probabilities.dtype)
    if not cnp.PyArray_SAMESHAPE(probabilities, out):
        probabilities = np.broadcast_to(probabilities, (<object> out).shape)
    if probabilities.size and not (probabilities.min() >= 0 and probabilities.max() <= 1):
        raise errors.numbers.bernoulli_probability()
    uniform(draws, 0.0, 1.0, generator)
    if cnp.PyArray_IS_C_CONTIGUOUS(out):
        np.less(draws.reshape((<object> out).shape), probabilities, out=out, casting="unsafe")
    else:
        check_target(out)
        _put(out, draws < probabilities.transpose(iteration_order(out)).reshape(-1))


cdef int _put(cnp.ndarray out, cnp.ndarray values) except -1:
    """Write values into `out` in iteration order."""
    cdef cnp.ndarray target = out
    if not cnp.PyArray_IS_C_CONTIGUOUS(out):
        target = out.transpose(iteration_order(out))
    write(target, values.reshape((<object> target).shape))
    return 0


def dropout_mask(cnp.ndarray like, double p, generator=None):
    """Return zeros with probability `p`, else 1 / (1 - p), with the shape and layout of `like`."""
    cdef cnp.ndarray mask = empty_like(like)
    bernoulli(mask, 1.0 - p, generator)
    if p < 1.0:    # for halves, the division is in single precision
        wide = cast(mask, np.float32) if cnp.PyArray_TYPE(mask) == cnp.NPY_FLOAT16 else mask
        np.divide(wide, wide.dtype.type(1.0 - p), out=wide)
        if wide is not mask:
            write(mask, wide)
    return mask


# ---- weighted draws --------------------------------------------------------------------------

def multinomial(cnp.ndarray weights, int64_t count, bint replacement=False, generator=None):
    """Draw `count` column numbers (int64) for each row of `weights`, in proportion to them.

    `weights` has one or two dimensions and a float dtype. Raises RuntimeError for weights that are
    negative, not finite, or all zero in a row.
    """
    cdef cnp.ndarray rows = np.atleast_2d(weights), noise
    cdef bint brain = cnp.PyArray_TYPE(weights) == typenum_of[<int>BFLOAT16]
    if brain:
        rows = rows.astype(np.float32)
    if not replacement or count == 1:
        if rows.size and not (rows.max() < np.inf and rows.min() >= 0):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if rows.size and (rows.sum(axis=1) == 0).any():
            raise errors.numbers.multinomial_sum()
        noise = empty_like(weights)
        exponential(noise, 1.0, generator)
        with np.errstate(all="ignore"):
            if brain:             # the quotient is rounded, too
                score = weights.astype(np.float32) / noise.astype(np.float32)
                score = score.astype(weights.dtype).astype(np.float32)
            else:
                score = weights / noise
        if count == 1:
            return score.argmax(axis=-1, keepdims=True)
        return topk.indices(score, count, True)
    picks = _with_replacement(rows, count, generator)
    return picks.reshape((<object> weights).shape[:weights.ndim - 1] + (count,))


def _with_replacement(cnp.ndarray rows, int64_t count, generator):
    if not (rows >= 0).all():
        raise RuntimeError(
            "invalid multinomial distribution (encountering probability entry < 0)"
        )
    if not np.isfinite(rows).all():
        raise RuntimeError(
            "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
        )
    if cnp.PyArray_TYPE(rows) == cnp.NPY_FLOAT16:
        rows = rows.astype(np.float32)
    # np.add.accumulate adds one after the other, as PyTorch does
    reached = np.add.accumulate(rows, axis=1)
    total = reached[:, rows.shape[1] - 1:]
    if (rows.shape[0] and not rows.shape[1]) or not (total > 0).all():
        raise errors.numbers.multinomial_sum()
    reached = (reached / total).astype(np.float64)
    reached[:, rows.shape[1] - 1:] = 1.0
    draws = np.empty((rows.shape[0], count))
    uniform(draws, 0.0, 1.0, generator)
    picks = np.empty((rows.shape[0], count), np.int64)
    for i in range(rows.shape[0]):
        picks[i] = np.searchsorted(reached[i], draws[i], side="left")
    return picks
