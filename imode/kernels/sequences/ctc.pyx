"""Connectionist temporal classification over ndarrays: the loss, and its gradient.

A target of n labels is walked in 2 * n + 1 states: a blank, a label, a blank, ... alpha is the
logarithm of the probability of all ways to a state at a time, beta of those from it on.
"""

from imode._core.parallel cimport skipping
cimport numpy as cnp
from libc.math cimport INFINITY, exp, log

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double


cdef inline long _label(const cnp.int64_t* target, long state, long blank) noexcept nogil:
    return target[state // 2] if state % 2 else blank


cdef inline double _logsum(double a, double b, double c) noexcept nogil:
    cdef double most = a if a > b else b
    most = c if c > most else most
    if most == -INFINITY:
        return a + b + c                  # NaN, if there is one
    return log(exp(a - most) + exp(b - most) + exp(c - most)) + most


cdef void _alphas(const real* logs, long step, const cnp.int64_t* target, long length, long times,
                  long blank, real* alpha, long states, real* loss) noexcept nogil:
    """alpha (times, states) of one sequence; logs of time t lie `step` elements further on."""
    cdef long t, s, label, n = 2 * length + 1
    cdef double before, skip
    cdef const real* now
    cdef real* row
    cdef real* last
    for t in range(times):
        now, row, last = logs + t * step, alpha + t * states, alpha + (t - 1) * states
        for s in range(n):
            label = _label(target, s, blank)
            if t == 0:
                row[s] = now[label] if s < 2 else -INFINITY
                continue
            before = last[s - 1] if s > 0 else -INFINITY
            skip = -INFINITY
            if s > 1 and label != blank and label != _label(target, s - 2, blank):
                skip = last[s - 2]
            row[s] = <real>(_logsum(last[s], before, skip) + now[label])
    if times == 0:
        loss[0] = 0 if length == 0 else INFINITY
        return
    row = alpha + (times - 1) * states
    loss[0] = <real>-_logsum(row[n - 1], row[n - 2] if n > 1 else -INFINITY, -INFINITY)


cdef void _slope(const real* logs, long step, const cnp.int64_t* target, long length, long times,
                 long blank, const real* alpha, long states, real loss, real grad, long classes,
                 double* beta, double* sums, real* out) noexcept nogil:
    """The gradient by the logs of one sequence; beta: room for 2 rows of states."""
    cdef long t, s, label, c, n = 2 * length + 1
    cdef double after, skip, both
    cdef const real* now
    cdef double* row
    cdef double* next
    for t in range(times - 1, -1, -1):
        now = logs + t * step
        row, next = beta + (t % 2) * states, beta + ((t + 1) % 2) * states
        for c in range(classes):
            sums[c] = -INFINITY
        for s in range(n):
            label = _label(target, s, blank)
            if t == times - 1:
                row[s] = now[label] if s >= n - 2 else -INFINITY
            else:
                after = next[s + 1] if s + 1 < n else -INFINITY
                skip = -INFINITY
                if s + 2 < n and label != blank and label != _label(target, s + 2, blank):
                    skip = next[s + 2]
                row[s] = _logsum(next[s], after, skip) + now[label]
            both = row[s] + alpha[t * states + s]
            sums[label] = _logsum(sums[label], both, -INFINITY)
        for c in range(classes):
            out[t * step + c] = <real>(
                (exp(now[c]) - exp(sums[c] + loss - now[c])) * grad)


def losses(cnp.ndarray logs, cnp.ndarray targets, cnp.ndarray starts, cnp.ndarray times,
           cnp.ndarray lengths, long blank):
    """Return the losses (batch) and alpha (batch, times, states).

    `logs` is (times, batch, classes), `targets` all labels, each sequence's from `starts` on; all
    are contiguous and checked, of int64 but for `logs`.
    """
    cdef long n = logs.shape[1], step = n * logs.shape[2], i
    cdef long most = lengths.max() if n else 0
    cdef long states = 2 * most + 1, steps = logs.shape[0]
    cdef cnp.ndarray alpha = np.full((n, steps, states), -np.inf, logs.dtype)
    cdef cnp.ndarray loss = np.empty(n, logs.dtype)
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(targets)
    cdef const cnp.int64_t* size = <const cnp.int64_t*>cnp.PyArray_DATA(lengths)
    cdef const cnp.int64_t* until = <const cnp.int64_t*>cnp.PyArray_DATA(times)
    cdef char* x = <char*>cnp.PyArray_DATA(logs)
    cdef char* a = <char*>cnp.PyArray_DATA(alpha)
    cdef char* out = <char*>cnp.PyArray_DATA(loss)
    cdef bint wide = cnp.PyArray_TYPE(logs) == cnp.NPY_DOUBLE
    cdef long classes = logs.shape[2]
    if skipping():
        return loss, alpha
    with nogil:
        for i in range(n):
            if wide:
                _alphas(<double*>x + i * classes, step, of + at[i], size[i], until[i], blank,
                        <double*>a + i * steps * states, states, <double*>out + i)
            else:
                _alphas(<float*>x + i * classes, step, of + at[i], size[i], until[i], blank,
                        <float*>a + i * steps * states, states, <float*>out + i)
    return loss, alpha


def slopes(cnp.ndarray grad, cnp.ndarray logs, cnp.ndarray targets, cnp.ndarray starts,
           cnp.ndarray times, cnp.ndarray lengths, cnp.ndarray loss, cnp.ndarray alpha, long blank,
           bint zero_infinity):
    """Return the gradient by the logs: of what `losses` returned, with `grad` (batch)."""
    cdef long n = logs.shape[1], classes = logs.shape[2], step = n * classes, i
    cdef long steps = logs.shape[0], states = alpha.shape[2]
    cdef cnp.ndarray made = np.zeros((steps, n, classes), logs.dtype)
    cdef cnp.ndarray room = np.empty(2 * states + classes)
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(targets)
    cdef const cnp.int64_t* size = <const cnp.int64_t*>cnp.PyArray_DATA(lengths)
    cdef const cnp.int64_t* until = <const cnp.int64_t*>cnp.PyArray_DATA(times)
    cdef char* x = <char*>cnp.PyArray_DATA(logs)
    cdef char* a = <char*>cnp.PyArray_DATA(alpha)
    cdef char* g = <char*>cnp.PyArray_DATA(grad)
    cdef char* given = <char*>cnp.PyArray_DATA(loss)
    cdef char* out = <char*>cnp.PyArray_DATA(made)
    cdef double* beta = <double*>cnp.PyArray_DATA(room)
    cdef bint wide = cnp.PyArray_TYPE(logs) == cnp.NPY_DOUBLE
    if skipping():
        return made
    with nogil:
        for i in range(n):
            if wide:
                if zero_infinity and (<double*>given)[i] == INFINITY:
                    continue
                _slope(<double*>x + i * classes, step, of + at[i], size[i], until[i], blank,
                       <double*>a + i * steps * states, states, (<double*>given)[i],
                       (<double*>g)[i], classes, beta, beta + 2 * states,
                       <double*>out + i * classes)
            else:
                if zero_infinity and (<float*>given)[i] == INFINITY:
                    continue
                _slope(<float*>x + i * classes, step, of + at[i], size[i], until[i], blank,
                       <float*>a + i * steps * states, states, (<float*>given)[i], (<float*>g)[i],
                       classes, beta, beta + 2 * states, <float*>out + i * classes)
    return made
