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
    bint norm_affine_narrow(const plane_t*, bint, const void*, const float*, const float*, void*)
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
    IN_CACHE = 32768          # elements of whole channels, likewise
    FUSED = 16                # rows whose gradients are all computed while they are in the cache

ctypedef struct Job:          # arrays of planes: x, y, out; of a number per channel: a, b, c, ...
    const plane_t* p
    Kind kind
    long item                 # bytes of a number per channel
    const char* x
    const char* y
    const char* a
    const char* b
    const char* c
    char* one
    char* two
    char* out
    int rc


cdef Job _job(const plane_t* p, Kind kind, const void* x, const void* y) noexcept nogil:
    cdef Job job
    job.p, job.kind, job.item = p, kind, 8 if kind == DOUBLE else 4
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


cdef inline void _widen(Kind kind, float* to, const char* x, long n) noexcept nogil:
    if kind == HALF:
        from_half(to, x, 2, n)
    else:
        from_brain(to, x, 2, n)


cdef inline void _narrow(Kind kind, char* to, const float* x, long n) noexcept nogil:
    if kind == HALF:
        to_half(to, x, 2, n)
    else:
        to_brain(to, x, 2, n)


# ---- by channels ----

cdef int _sum(Job* job, const plane_t* q, const char* x, const char* y,
              long channel) noexcept nogil:
    """The channels of q, of which the first is `channel`."""
    cdef long at = channel * job.item
    cdef bint wide = job.kind == DOUBLE
    if y == NULL:
        return norm_stats(q, wide, x, job.one + at, job.two + at)
    return norm_sums(q, wide, x, y, job.a + at, job.one + at, job.two + at)


cdef int _sum_narrow(Job* job, long begin, long end) noexcept nogil:
    """The same of 16 bits, by copies of a few whole channels in float32."""
    cdef plane_t p = job.p[0], q
    cdef long n = max(IN_CACHE // (p.outer * p.inner + 1), LINE if p.inner == 1 else 1)
    cdef long size = p.outer * min(n, end - begin) * p.inner, k, i, at
    cdef float* x = <float*>malloc((1 if job.y == NULL else 2) * size * sizeof(float) + 1)
    cdef float* y = NULL if job.y == NULL else x + size
    cdef int rc = 0
    if x == NULL:
        return -1
    while begin < end and rc == 0:
        q = planes(p.outer, min(n, end - begin), p.inner)
        for i in range(p.outer):
            k, at = i * q.step, 2 * (i * p.step + begin * p.inner)
            _widen(job.kind, x + k, job.x + at, q.step)
            if y != NULL:
                _widen(job.kind, y + k, job.y + at, q.step)
        rc = _sum(job, &q, <const char*>x, <const char*>y, begin)
        begin += n
    free(x)
    return rc


cdef void _sums_of_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Channels begin to end."""
    cdef Job* job = <Job*>ctx
    cdef plane_t q = job.p[0]
    cdef long at = begin * q.inner * job.item
    cdef const char* y = job.y
    cdef int rc
    q.channels = end - begin
    if y != NULL:
        y += at
    if job.kind >= HALF:
        rc = _sum_narrow(job, begin, end)
    else:
        rc = _sum(job, &q, job.x + at, y, begin)
    if rc:
        job.rc = rc


cdef int _by_channels(Job* job) noexcept nogil:
    cdef const plane_t* p = job.p
    cdef long grain = GRAIN // (p.outer * p.inner + 1) + 1
    parallel_for(p.channels, max(grain, LINE) if p.inner == 1 else grain, _sums_of_some, job)
    return job.rc


cdef int stats(const plane_t* p, Kind kind, const void* x, void* mean, void* var) noexcept nogil:
    cdef Job job = _job(p, kind, x, NULL)
    job.one, job.two = <char*>mean, <char*>var
    return _by_channels(&job)


cdef void _invert(long n, double eps, real* var) noexcept nogil:
    cdef long i
    for i in range(n):
        var[i] = <real>(1.0 / sqrt(<double>var[i] + eps))


cdef int mean_and_rstd(const plane_t* p, Kind kind, double eps, const void* x, void* mean,
                       void* rstd) noexcept nogil:
    cdef int rc = stats(p, kind, x, mean, rstd)
    if kind == DOUBLE:
        _invert[double](p.channels, eps, <double*>rstd)
    else:
        _invert[float](p.channels, eps, <float*>rstd)
    return rc


cdef int sums(const plane_t* p, Kind kind, const void* grad, const void* x, const void* mean,
              void* total, void* dot) noexcept nogil:
    cdef Job job = _job(p, kind, grad, x)
    job.a, job.one, job.two = <const char*>mean, <char*>total, <char*>dot
    return _by_channels(&job)


# ---- by rows: those of all channels, or, with channels innermost, those of `outer` ----

cdef inline void _follow(Job* job, const plane_t* q, const char* x, const char* y, long channel,
                         char* out) noexcept nogil:
    """The rows of q, of which the first is of `channel`."""
    cdef long at = channel * job.item
    cdef bint wide = job.kind == DOUBLE
    if y == NULL:
        norm_affine(q, wide, x, job.a + at, job.b + at, out)
    else:
        norm_combine(q, wide, x, y, job.a + at, job.b + at, job.c + at, out)


cdef void _some_narrow_rows(Job* job, long begin, long end) noexcept nogil:
    """The same of 16 bits: a few rows at a time, or a part of a long one, are in float32."""
    cdef plane_t p = job.p[0], q
    cdef bint last = p.inner == 1
    cdef long each = max(p.channels if last else p.inner, 1), n, first, cut, size, at
    cdef float[AT_ONCE] x
    cdef float[AT_ONCE] y
    cdef float[AT_ONCE] out
    cdef const char* other = NULL
    if job.y != NULL:
        other = <const char*>y
    while begin < end:
        n = min(end - begin, max(AT_ONCE // each, 1))
        first = 0 if last else begin % p.channels
        if not last:
            n = min(n, p.channels - first)
        q = planes(n, each, 1) if last else planes(1, n, each)
        at = 2 * begin * each
        if job.y == NULL and norm_affine_narrow(
                &q, job.kind == BRAIN, job.x + at, <const float*>job.a + first,
                <const float*>job.b + first, job.out + at):
            begin += n
            continue
        cut = 0
        while cut < each:                             # once, where there are several rows
            size = min(each - cut, <long>AT_ONCE)
            q = planes(n, size, 1) if last else planes(1, n, size)
            at = 2 * (begin * each + cut)
            _widen(job.kind, x, job.x + at, n * size)
            if other != NULL:
                _widen(job.kind, y, job.y + at, n * size)
            _follow(job, &q, <const char*>x, other, first + cut if last else first, <char*>out)
            _narrow(job.kind, job.out + at, out, n * size)
            cut += size
        begin += n


cdef void _some_rows(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Job* job = <Job*>ctx
    cdef plane_t q = job.p[0]
    cdef long item = job.item, each = q.channels if q.inner == 1 else q.inner, first, at
    cdef const char* y = job.y
    if job.kind >= HALF:
        _some_narrow_rows(job, begin, end)
        return
    while begin < end:
        first = 0 if q.inner == 1 else begin % job.p.channels
        if q.inner == 1:
            q.outer = end - begin
        else:
            q.outer, q.channels = 1, min(end - begin, job.p.channels - first)
        at = begin * each * item
        if y != NULL:
            y = job.y + at
        _follow(job, &q, job.x + at, y, first, job.out + at)
        begin += q.outer if q.inner == 1 else q.channels


cdef void _by_rows(Job* job) noexcept nogil:
    cdef const plane_t* p = job.p
    cdef long each = p.channels if p.inner == 1 else p.inner
    parallel_for(p.outer if p.inner == 1 else p.outer * p.channels, GRAIN // (each + 1) + 1,
                 _some_rows, job)


cdef void affine(const plane_t* p, Kind kind, const void* x, const void* scale,
                 const void* shift, void* out) noexcept nogil:
    cdef Job job = _job(p, kind, x, NULL)
    job.a, job.b, job.out = <const char*>scale, <const char*>shift, <char*>out
    _by_rows(&job)


cdef void combine(const plane_t* p, Kind kind, const void* grad, const void* x, const void* a,
                  const void* b, const void* shift, void* out) noexcept nogil:
    cdef Job job = _job(p, kind, grad, x)
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
    job.r, job.item, job.eps = r, 8 if r.kind == DOUBLE else 4, 0
    job.grad = NULL
    job.out = job.weight = job.bias = NULL
    job.failed = False
    return job


cdef void _normalise_few(Rows* job, long begin, long n, float* scratch) noexcept nogil:
    """n rows from `begin` on. `scratch`: of 16 bits, they are here in float32, as the result is."""
    cdef rows_t* r = job.r
    cdef plane_t q = planes(1, n, r.size)
    cdef long each = begin * job.item, count = n * r.size
    cdef bint wide = r.kind == DOUBLE, narrow = r.kind >= HALF
    cdef long at = begin * r.size * (2 if narrow else job.item)
    cdef const char* x = r.x + at
    cdef char* out = job.out + at
    if narrow:
        _widen(r.kind, scratch, x, count)
        x, out = <const char*>scratch, <char*>(scratch + count)
    norm_stats(&q, wide, x, r.mean + each, r.rstd + each)
    if wide:
        _invert[double](n, job.eps, <double*>(r.rstd + each))
    else:
        _invert[float](n, job.eps, <float*>(r.rstd + each))
    norm_rows(n, r.size, wide, x, r.mean + each, r.rstd + each, r.weight, r.bias, out)
    if narrow:
        _narrow(r.kind, job.out + at, <const float*>out, count)


cdef void _normalise_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Rows* job = <Rows*>ctx
    cdef long n = max(AT_ONCE // (job.r.size + 1), 1)
    cdef float[2 * AT_ONCE] small
    cdef float* scratch = small
    if job.r.kind >= HALF and n * job.r.size > AT_ONCE:
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
    norm_rows_backward(end - begin, r.size, r.kind == DOUBLE, job.grad + at, r.x + at,
                       r.mean + each, r.rstd + each, r.weight, job.out + at)


cdef void _weigh_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The gradients of weight and bias for columns begin to end."""
    cdef Rows* job = <Rows*>ctx
    cdef rows_t* r = job.r
    cdef long at = begin * job.item
    norm_rows_weights(r.rows, r.size, r.kind == DOUBLE, end - begin, job.grad + at, r.x + at,
                      r.mean, r.rstd, NULL if job.weight == NULL else job.weight + at,
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
        norm_rows_weights(n, r.size, r.kind == DOUBLE, r.size, job.grad + at, r.x + at,
                          r.mean + each, r.rstd + each, job.weight, job.bias)
        _back_some(job, row, row + n)
        row += n
