"""The loops below the normalisations, on several threads.

Sums are shared out by whole channels, what follows from them by rows: each number is computed as by
one thread, and does not depend on how many there are.
"""
from imode._core.parallel cimport num_threads, parallel_for
from libc.math cimport sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from "_planes.h" nogil:
    int norm_stats(const plane_t*, int, const void*, void*, void*)
    void norm_affine(const plane_t*, int, const void*, const void*, const void*, void*)
    int norm_sums(const plane_t*, int, const void*, const void*, const void*, void*, void*)
    void norm_combine(const plane_t*, int, const void*, const void*, const void*, const void*,
                      const void*, void*)
    void norm_rows(long, long, int, const void*, const void*, const void*, const void*,
                   const void*, void*)
    void norm_rows_backward(long, long, int, const void*, const void*, const void*, const void*,
                            const void*, void*)
    void norm_rows_weights(long, long, int, long, const void*, const void*, const void*,
                           const void*, void*, void*)

cdef extern from "wide.h" nogil:
    void from_half(float* to, const char* source, long step, long n)
    void to_half(char* to, const float* source, long step, long n)
    void from_brain(float* to, const char* source, long step, long n)
    void to_brain(char* to, const float* source, long step, long n)

cdef enum:
    GRAIN = 8192              # fewest elements per thread
    LINE = 16                 # fewest channels per thread that lie side by side
    AT_ONCE = 2048            # elements, of whole rows, that stay in the cache from step to step
    FUSED = 16                # rows whose gradients are all computed while they are in the cache

ctypedef struct Job:          # arrays of planes: x, y, out; of a number per channel: a, b, c, ...
    const plane_t* p
    bint wide
    long item
    const char* x
    const char* y
    const char* a
    const char* b
    const char* c
    char* one
    char* two
    char* out
    int rc


cdef Job _job(const plane_t* p, bint wide, const void* x, const void* y) noexcept nogil:
    cdef Job job
    job.p, job.wide, job.item = p, wide, 8 if wide else 4
    job.x, job.y = <const char*>x, <const char*>y
    job.a = job.b = job.c = NULL
    job.one = job.two = job.out = NULL
    job.rc = 0
    return job


cdef plane_t planes(long outer, long channels, long inner) noexcept nogil:
    cdef plane_t p
    p.outer, p.channels, p.inner = outer, channels, inner
    p.step = channels * inner
    return p


# ---- by channels ----

cdef void _sums_of_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Channels begin to end."""
    cdef Job* job = <Job*>ctx
    cdef plane_t q = job.p[0]
    cdef long item = job.item, at = begin * q.inner * item
    cdef int rc
    q.channels = end - begin
    begin *= item
    if job.y == NULL:
        rc = norm_stats(&q, job.wide, job.x + at, job.one + begin, job.two + begin)
    else:
        rc = norm_sums(&q, job.wide, job.x + at, job.y + at, job.a + begin, job.one + begin,
                       job.two + begin)
    if rc:
        job.rc = rc


cdef int _by_channels(Job* job) noexcept nogil:
    cdef const plane_t* p = job.p
    cdef long grain = GRAIN // (p.outer * p.inner + 1) + 1
    parallel_for(p.channels, max(grain, LINE) if p.inner == 1 else grain, _sums_of_some, job)
    return job.rc


cdef int stats(const plane_t* p, bint wide, const void* x, void* mean, void* var) noexcept nogil:
    cdef Job job = _job(p, wide, x, NULL)
    job.one, job.two = <char*>mean, <char*>var
    return _by_channels(&job)


cdef void _invert(long n, double eps, real* var) noexcept nogil:
    cdef long i
    for i in range(n):
        var[i] = <real>(1.0 / sqrt(<double>var[i] + eps))


cdef int mean_and_rstd(const plane_t* p, bint wide, double eps, const void* x, void* mean,
                       void* rstd) noexcept nogil:
    cdef int rc = stats(p, wide, x, mean, rstd)
    if wide:
        _invert[double](p.channels, eps, <double*>rstd)
    else:
        _invert[float](p.channels, eps, <float*>rstd)
    return rc


cdef int sums(const plane_t* p, bint wide, const void* grad, const void* x, const void* mean,
              void* total, void* dot) noexcept nogil:
    cdef Job job = _job(p, wide, grad, x)
    job.a, job.one, job.two = <const char*>mean, <char*>total, <char*>dot
    return _by_channels(&job)


# ---- by rows: those of all channels, or, with channels innermost, those of `outer` ----

cdef void _some_rows(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Job* job = <Job*>ctx
    cdef plane_t q = job.p[0]
    cdef long item = job.item, each = q.channels if q.inner == 1 else q.inner, first, at
    while begin < end:
        first = 0 if q.inner == 1 else begin % job.p.channels
        if q.inner == 1:
            q.outer = end - begin
        else:
            q.outer, q.channels = 1, min(end - begin, job.p.channels - first)
        at = begin * each * item
        first *= item
        if job.y == NULL:
            norm_affine(&q, job.wide, job.x + at, job.a + first, job.b + first, job.out + at)
        else:
            norm_combine(&q, job.wide, job.x + at, job.y + at, job.a + first, job.b + first,
                         job.c + first, job.out + at)
        begin += q.outer if q.inner == 1 else q.channels


cdef void _by_rows(Job* job) noexcept nogil:
    cdef const plane_t* p = job.p
    cdef long each = p.channels if p.inner == 1 else p.inner
    parallel_for(p.outer if p.inner == 1 else p.outer * p.channels, GRAIN // (each + 1) + 1,
                 _some_rows, job)


cdef void affine(const plane_t* p, bint wide, const void* x, const void* scale,
                 const void* shift, void* out) noexcept nogil:
    cdef Job job = _job(p, wide, x, NULL)
    job.a, job.b, job.out = <const char*>scale, <const char*>shift, <char*>out
    _by_rows(&job)


cdef void combine(const plane_t* p, bint wide, const void* grad, const void* x, const void* a,
                  const void* b, const void* shift, void* out) noexcept nogil:
    cdef Job job = _job(p, wide, grad, x)
    job.a, job.b, job.c = <const char*>a, <const char*>b, <const char*>shift
    job.out = <char*>out
    _by_rows(&job)


# ---- rows that are normalised, each on its own ----

ctypedef struct Rows:
    rows_t* r
    long item
    double eps
    const char* grad
    char* out                 # or the gradient of x
    char* weight              # the gradients of weight and bias
    char* bias
    bint failed               # there was no memory


cdef Rows _rows(rows_t* r) noexcept nogil:
    cdef Rows job
    job.r, job.item, job.eps = r, 8 if r.wide else 4, 0
    job.grad = NULL
    job.out = job.weight = job.bias = NULL
    job.failed = False
    return job


cdef void _normalise_few(Rows* job, long begin, long n, float* scratch) noexcept nogil:
    """n rows from `begin` on. `scratch`: of 16 bits, they are here in float32, as the result is."""
    cdef rows_t* r = job.r
    cdef plane_t q = planes(1, n, r.size)
    cdef long each = begin * job.item, count = n * r.size
    cdef long at = begin * r.size * (2 if r.narrow else job.item)
    cdef const char* x = r.x + at
    cdef char* out = job.out + at
    if r.narrow:
        if r.narrow == HALF:
            from_half(scratch, x, 2, count)
        else:
            from_brain(scratch, x, 2, count)
        x, out = <const char*>scratch, <char*>(scratch + count)
    norm_stats(&q, r.wide, x, r.mean + each, r.rstd + each)
    if r.wide:
        _invert[double](n, job.eps, <double*>(r.rstd + each))
    else:
        _invert[float](n, job.eps, <float*>(r.rstd + each))
    norm_rows(n, r.size, r.wide, x, r.mean + each, r.rstd + each, r.weight, r.bias, out)
    if r.narrow == HALF:
        to_half(job.out + at, <float*>out, 2, count)
    elif r.narrow:
        to_brain(job.out + at, <float*>out, 2, count)


cdef void _normalise_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Rows* job = <Rows*>ctx
    cdef long n = max(AT_ONCE // (job.r.size + 1), 1)
    cdef float[2 * AT_ONCE] small
    cdef float* scratch = small
    if job.r.narrow and n * job.r.size > AT_ONCE:
        scratch = <float*>malloc(2 * n * job.r.size * sizeof(float))
        if scratch == NULL:
            job.failed = True
            return
    while begin < end:
        _normalise_few(job, begin, min(n, end - begin), scratch)
        begin += n
    if scratch != small:
        free(scratch)


cdef int normalise(rows_t* r, double eps, void* out) noexcept nogil:
    cdef Rows job = _rows(r)
    job.eps, job.out = eps, <char*>out
    parallel_for(r.rows, GRAIN // (r.size + 1) + 1, _normalise_some, &job)
    return -job.failed


cdef void _back_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The gradient of x for rows begin to end."""
    cdef Rows* job = <Rows*>ctx
    cdef rows_t* r = job.r
    cdef long each = begin * job.item, at = each * r.size
    norm_rows_backward(end - begin, r.size, r.wide, job.grad + at, r.x + at, r.mean + each,
                       r.rstd + each, r.weight, job.out + at)


cdef void _weigh_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The gradients of weight and bias for columns begin to end."""
    cdef Rows* job = <Rows*>ctx
    cdef rows_t* r = job.r
    cdef long at = begin * job.item
    norm_rows_weights(r.rows, r.size, r.wide, end - begin, job.grad + at, r.x + at, r.mean,
                      r.rstd, NULL if job.weight == NULL else job.weight + at,
                      NULL if job.bias == NULL else job.bias + at)


cdef void normalise_backward(rows_t* r, const void* grad, void* grad_x, void* grad_weight,
                             void* grad_bias) noexcept nogil:
    cdef Rows job = _rows(r)
    cdef bint weighed = grad_weight != NULL or grad_bias != NULL
    job.grad, job.out = <const char*>grad, <char*>grad_x
    job.weight, job.bias = <char*>grad_weight, <char*>grad_bias
    if grad_weight != NULL:
        memset(grad_weight, 0, r.size * job.item)
    if grad_bias != NULL:
        memset(grad_bias, 0, r.size * job.item)
    if not weighed:
        parallel_for(r.rows, GRAIN // (r.size + 1) + 1, _back_some, &job)
    elif grad_x == NULL or num_threads() > 1 and r.rows * r.size >= 2 * GRAIN:
        if grad_x != NULL:
            parallel_for(r.rows, GRAIN // (r.size + 1) + 1, _back_some, &job)
        parallel_for(r.size, max(GRAIN // (r.rows + 1), LINE), _weigh_some, &job)
    else:
        _all_gradients(&job)


cdef void _all_gradients(Rows* job) noexcept nogil:
    """All of them by one thread, which reads the rows once."""
    cdef rows_t* r = job.r
    cdef long row = 0, n, each, at
    while row < r.rows:
        n = min(r.rows - row, <long>FUSED)
        each = row * job.item
        at = each * r.size
        norm_rows_weights(n, r.size, r.wide, r.size, job.grad + at, r.x + at, r.mean + each,
                          r.rstd + each, job.weight, job.bias)
        _back_some(job, row, row + n)
        row += n
