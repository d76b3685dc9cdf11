"""The fast case of random tensors: few elements.

The general case serves many elements (they are drawn without the GIL), other dtypes and layouts,
and bounds that need a rule.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty, fields
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, FLOAT16, INT64, code_of, default_code, dtype, typenum_of
from imode._core.iterate cimport empty_like, loop_t, run
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.loops cimport wide_loop, widened_loop
from imode._core.making cimport wrap
from imode._core.parallel cimport skipping
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor, storage
from imode.kernels.pointwise import loops
from imode.kernels.random.choices cimport draw_coins, toss_alike
from imode.kernels.random.counts cimport draw_poisson
from imode.kernels.random.generator cimport Generator, choose
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport (
    WRITEABLE, _array, _count, _integer, _only_defaults, _row_major, _real, _same_shape,
    array_of)
from imode.kernels.random.distributions cimport (
    CAUCHY, EXPONENTIAL, GEOMETRIC, LOG_NORMAL, Law, draw_integers, draw_law, draw_normal,
    draw_permutation, draw_uniform)
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from numpy cimport ndarray, npy_intp

import numpy as np

cnp.import_array()

cdef enum:
    FEW = 4096                    # most elements, which are drawn with the GIL held
    SMALL = 1 << 24               # every dtype drawn here holds integers up to this
    COLUMNS = 64                  # most columns of multinomial
    MAX_DIMS = 8

cdef enum Draw:
    UNIFORM
    NORMAL
    INTEGERS
    COINS
    ALL_INTEGERS                  # all that the dtype holds
    OF_LAW                        # one of the continuous distributions: `law`


cdef class _Config:
    # How an operator draws: the positions of its arguments; -1: absent. Owned by its CKernel.
    cdef Draw draw
    cdef Law law                  # of OF_LAW
    cdef int low                  # the first of two parameters
    cdef int high                 # the second
    cdef int size                 # the sizes; -1: the shape of argument 0
    cdef int generator
    cdef int dtype                # followed by the options
    cdef bint like                # use the dtype of argument 0


cdef inline _Config _config(Operator op, keyset_t keys):
    return <_Config>(<CKernel>op.kernels[highest_key(keys)]).config


cdef bint _is_float(int kind) noexcept:
    return kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE


cdef bint _are_lawful(Law law, double a, double b) noexcept:
    """Whether a distribution has these parameters."""
    if law == EXPONENTIAL:
        return a > 0
    return 0 < a < 1 if law == GEOMETRIC else b > 0


cdef bint _parameters(_Config config, PyObject** args, double* low, double* high) except -1:
    """Read and check a distribution's parameters; False: for the general case."""
    cdef int64_t first = 0, stop
    if config.draw == INTEGERS:
        if not _integer(args[config.high], &stop, SMALL) or (
                config.low >= 0 and not _integer(args[config.low], &first, SMALL)):
            return False
        low[0], high[0] = <double>first, <double>stop
        return first < stop
    if config.draw == ALL_INTEGERS:
        return True
    low[0], high[0] = 0, 1
    if config.low >= 0 and not _real(args[config.low], low):
        return False
    if config.high >= 0 and not _real(args[config.high], high):
        return False
    if config.draw == COINS:
        return 0 <= low[0] <= 1
    if config.draw == OF_LAW:
        return _are_lawful(config.law, low[0], high[0])
    return high[0] >= 0 if config.draw == NORMAL else low[0] <= high[0]


cdef bint _draw(_Config config, int kind, void* out, npy_intp n, double low, double high,
                object generator) except -1:
    """Draw n values; False, with nothing drawn, if the dtype is not served."""
    cdef Generator source
    cdef uint64_t width = 0
    cdef bint wide = False
    if config.draw == INTEGERS:
        if not _is_float(kind) and kind != cnp.NPY_INT64:
            return False
        width = <uint64_t>(high - low)
    elif config.draw == ALL_INTEGERS:
        low, wide = 0, kind != cnp.NPY_FLOAT
        if kind == cnp.NPY_INT64:
            width = <uint64_t>1 << 63
        elif _is_float(kind):
            width = (<uint64_t>1 << (24 if kind == cnp.NPY_FLOAT else 53)) + 1
        else:
            return False
    elif not _is_float(kind):
        return False
    source = choose(generator)
    source.acquire()
    if config.draw == UNIFORM:
        draw_uniform(&source.engine, kind, out, n, low, high)
    elif config.draw == NORMAL:
        draw_normal(source, kind, out, n, n >= 16, low, high)
    elif config.draw == COINS:
        draw_coins(&source.engine, kind, out, n, low)
    elif config.draw == OF_LAW:
        draw_law(source, kind, out, n, config.law, low, high)
    else:
        draw_integers(&source.engine, kind, out, n, width, <int64_t>low, wide)
    source.release()
    return True


cdef object _new(Operator op, keyset_t keys, PyObject** args):
    """A new tensor: rand, randn_like, randint, normal(float, float), ..."""
    cdef _Config config = _config(op, keys)
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp n = 1
    cdef int64_t size
    cdef double low, high
    cdef int nd, i, code
    cdef Fields* model = NULL
    cdef ndarray out
    if config.like:
        model = _array(args[0])
        if not _row_major(model) or model.nd > MAX_DIMS:
            return run_general(op, keys, args)
        code, nd = code_of[model.descr.type_num], model.nd
    else:
        code = INT64 if config.draw == INTEGERS else default_code()
        nd = <int>PyTuple_GET_SIZE(<tuple>args[config.size])
        if nd > MAX_DIMS:
            return run_general(op, keys, args)
    if args[config.dtype] != <PyObject*>None:
        if type(<object>args[config.dtype]) is not dtype:
            return run_general(op, keys, args)
        code = (<dtype>args[config.dtype]).code
    if not _only_defaults(op, args, config.dtype + 1) or not _parameters(
            config, args, &low, &high):
        return run_general(op, keys, args)
    for i in range(nd):
        if config.like:
            size = model.dimensions[i]
        elif not _integer(PyTuple_GET_ITEM(<tuple>args[config.size], i), &size, SMALL):
            return run_general(op, keys, args)
        if not 0 <= size <= FEW:
            return run_general(op, keys, args)
        dims[i] = size
        n *= size
        if n > FEW:
            return run_general(op, keys, args)
    if config.like:
        out = empty_like(storage(<Tensor>args[0]), typenum_of[code])
    else:
        out = empty(typenum_of[code], nd, dims)
    if not n or not _draw(config, typenum_of[code], cnp.PyArray_DATA(out), n, low, high,
                          <object>args[config.generator]):
        return run_general(op, keys, args)
    return wrap(out)


cdef object _fill(Operator op, keyset_t keys, PyObject** args):
    """Into an existing tensor: uniform_, normal_, bernoulli_, random_, exponential_, ..."""
    cdef _Config config = _config(op, keys)
    cdef ndarray held = array_of(args[0])    # other threads run while the generator is waited for
    cdef Fields* a = fields(<PyObject*>held)
    cdef npy_intp n = _count(a, 0, a.nd)
    cdef double low, high
    if not _row_major(a) or not a.flags & WRITEABLE or not 0 < n <= FEW or not (
            _parameters(config, args, &low, &high)) or not _draw(
                config, a.descr.type_num, a.data, n, low, high, <object>args[config.generator]):
        return run_general(op, keys, args)
    return <object>args[0]


cdef object _permutation(Operator op, keyset_t keys, PyObject** args):
    """randperm(n, generator, dtype, ...)."""
    cdef int64_t n
    cdef npy_intp length
    cdef Generator source
    cdef ndarray out
    if not _only_defaults(op, args, 2) or not _integer(args[0], &n, SMALL) or not 0 <= n <= FEW:
        return run_general(op, keys, args)
    length = n
    out = empty(cnp.NPY_INT64, 1, &length)
    source = choose(<object>args[1])
    source.acquire()
    draw_permutation(&source.engine, <int64_t*>cnp.PyArray_DATA(out), n)
    source.release()
    return wrap(out)


cdef object _bernoulli(Operator op, keyset_t keys, PyObject** args):
    """bernoulli(self, generator): a probability per element."""
    cdef Fields* p = _array(args[0])
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(p) or not _is_float(p.descr.type_num) or (
            not 0 < _count(p, 0, p.nd) <= FEW):
        return run_general(op, keys, args)
    out = empty(p.descr.type_num, p.nd, p.dimensions)
    toss_alike(out, storage(<Tensor>args[0]), choose(<object>args[1]))
    return wrap(out)


ctypedef fused real:
    float
    double


cdef bint _none_negative(const real* x, npy_intp n) noexcept nogil:
    """Whether all are 0 or greater; NaN is not."""
    cdef npy_intp i
    cdef bint good = True
    for i in range(n):
        good &= x[i] >= 0
    return good


cdef void _scale(real* out, const real* mean, const real* std, npy_intp n) noexcept nogil:
    cdef npy_intp i
    cdef real scaled
    for i in range(n):
        scaled = out[i] * std[i]
        out[i] = scaled + mean[i]


cdef object _normal_of_tensors(Operator op, keyset_t keys, PyObject** args):
    """normal(mean, std, generator): both of one shape and dtype."""
    cdef Fields* mean = _array(args[0])
    cdef Fields* std = _array(args[1])
    cdef npy_intp n = _count(mean, 0, mean.nd)
    cdef int kind = mean.descr.type_num
    cdef Generator source
    cdef ndarray out
    if args[op.nargs] != NULL or not (_row_major(mean) and _row_major(std)) or not (
            _is_float(kind) and std.descr.type_num == kind and std.nd == mean.nd) or not (
                0 < n <= FEW) or not (
                _same_shape(std, mean, 0, mean.nd)) or not (
                    _none_negative(<float*>std.data, n) if kind == cnp.NPY_FLOAT
                    else _none_negative(<double*>std.data, n)):
        return run_general(op, keys, args)
    out = empty(kind, mean.nd, mean.dimensions)
    source = choose(<object>args[2])
    source.acquire()
    draw_normal(source, kind, cnp.PyArray_DATA(out), n, n >= 16, 0.0, 1.0)
    source.release()
    if kind == cnp.NPY_FLOAT:
        _scale(<float*>cnp.PyArray_DATA(out), <float*>mean.data, <float*>std.data, n)
    else:
        _scale(<double*>cnp.PyArray_DATA(out), <double*>mean.data, <double*>std.data, n)
    return wrap(out)


cdef bint _are_weights(const real* x, npy_intp rows, npy_intp columns) noexcept nogil:
    """Whether all are finite and 0 or greater, and each row has one above 0."""
    cdef npy_intp r, c
    cdef bint good = True, some
    for r in range(rows):
        some = False
        for c in range(columns):
            good &= 0 <= x[r * columns + c] < INFINITY
            some |= x[r * columns + c] > 0
        good &= some
    return good


cdef void _pick(real* score, const real* weight, int64_t* out, npy_intp columns,
                npy_intp count) noexcept nogil:
    """The columns of the `count` largest quotients weight / noise, in order. NaN comes last; but if
    `count` is 1 it comes first, as in a search for the maximum."""
    cdef bint taken[COLUMNS]
    cdef npy_intp c, k, best
    for c in range(columns):
        score[c] = weight[c] / score[c]
        taken[c] = False
    for k in range(count):
        best = -1
        for c in range(columns):
            if not taken[c] and (best < 0 or score[c] > score[best] or (
                    score[c] != score[c] and score[best] == score[best] if count == 1
                    else score[c] == score[c] and score[best] != score[best])):
                best = c
        taken[best] = True
        out[k] = best


cdef bint _add_up(const real* weight, npy_intp n, double* reached) noexcept nogil:
    """Which part of the whole the weights reach, one after the other; False: none has a part, or
    one is no weight."""
    cdef npy_intp i
    cdef real sum = 0
    cdef bint good = True
    for i in range(n):
        good &= weight[i] >= 0
        sum += weight[i]
        reached[i] = sum
    if not (good and 0 < sum < INFINITY):
        return False
    for i in range(n):
        reached[i] = <real>reached[i] / sum
    reached[n - 1] = 1
    return True


cdef object _with_replacement(PyObject** args, ndarray weights, npy_intp count):
    """A row of weights; None: for the general case."""
    cdef npy_intp n = cnp.PyArray_SIZE(weights), i, first, last, middle
    cdef double[FEW] reached
    cdef double[FEW] drawn
    cdef Generator source
    cdef ndarray out
    if not (_add_up(<float*>cnp.PyArray_DATA(weights), n, reached)
            if cnp.PyArray_TYPE(weights) == cnp.NPY_FLOAT
            else _add_up(<double*>cnp.PyArray_DATA(weights), n, reached)):
        return None
    source = choose(<object>args[3])
    source.acquire()
    draw_uniform(&source.engine, cnp.NPY_DOUBLE, drawn, count, 0.0, 1.0)
    source.release()
    out = empty(cnp.NPY_INT64, 1, &count)
    for i in range(count):
        first, last = 0, n
        while first < last:
            middle = (first + last) // 2
            if reached[middle] < drawn[i]:
                first = middle + 1
            else:
                last = middle
        (<int64_t*>cnp.PyArray_DATA(out))[i] = first
    return out


cdef object _multinomial(Operator op, keyset_t keys, PyObject** args):
    """multinomial(self, num_samples, replacement, generator): few columns, or a row of which more
    is drawn, with replacement."""
    cdef ndarray held = array_of(args[0])    # as in _fill
    cdef Fields* w = fields(<PyObject*>held)
    cdef npy_intp dims[2]
    cdef npy_intp rows, columns, r
    cdef int64_t count = 0
    cdef int kind = w.descr.type_num
    cdef Generator source
    cdef ndarray noise, drawn_out
    cdef ndarray out
    cdef void* scores
    cdef int64_t* drawn
    if <object>args[2] is True and code_of[kind] in (FLOAT16, BFLOAT16) and (
            _count(w, 0, w.nd) <= FEW):
        held = cast(held, np.float32)
        w, kind = fields(<PyObject*>held), cnp.NPY_FLOAT
    if args[op.nargs] != NULL or not _row_major(w) or not _is_float(kind) or not 1 <= w.nd <= 2 or (
            not _integer(args[1], &count, SMALL)):
        return run_general(op, keys, args)
    if <object>args[2] is True and w.nd == 1 and 1 < count <= FEW and 0 < w.dimensions[0] <= FEW:
        drawn_out = _with_replacement(args, held, count)
        return run_general(op, keys, args) if drawn_out is None else wrap(drawn_out)
    rows, columns = 1 if w.nd == 1 else w.dimensions[0], w.dimensions[w.nd - 1]
    if kind != _array(args[0]).descr.type_num or (
            <object>args[2] is not False and count != 1) or not 0 < count <= columns <= COLUMNS or (
            not 0 < rows * columns <= FEW) or not (
                _are_weights(<float*>w.data, rows, columns) if kind == cnp.NPY_FLOAT
                else _are_weights(<double*>w.data, rows, columns)):
        return run_general(op, keys, args)
    noise = empty(kind, w.nd, w.dimensions)
    scores = cnp.PyArray_DATA(noise)
    source = choose(<object>args[3])
    source.acquire()
    draw_law(source, kind, scores, rows * columns, EXPONENTIAL, 1.0, 0.0)
    source.release()
    dims[0] = rows
    dims[w.nd - 1] = count
    out = empty(cnp.NPY_INT64, w.nd, dims)
    drawn = <int64_t*>cnp.PyArray_DATA(out)
    for r in range(rows):
        if kind == cnp.NPY_FLOAT:
            _pick(<float*>scores + r * columns, <float*>w.data + r * columns, drawn + r * count,
                  columns, count)
        else:
            _pick(<double*>scores + r * columns, <double*>w.data + r * columns,
                  drawn + r * count, columns, count)
    return wrap(out)


cdef void _divide(real* x, npy_intp n, double by) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        x[i] /= <real>by


cdef object _mask(Operator op, keyset_t keys, PyObject** args):
    """_dropout_mask(self, p)."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp n = _count(a, 0, a.nd)
    cdef int kind = a.descr.type_num
    cdef double p
    cdef Generator source
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or not _is_float(kind) or (
            not 0 < n <= FEW) or not (_real(args[1], &p)) or not 0 <= p < 1:
        return run_general(op, keys, args)
    out = empty_like(storage(<Tensor>args[0]), kind)
    source = choose(None)
    source.acquire()
    draw_coins(&source.engine, kind, cnp.PyArray_DATA(out), n, 1.0 - p)
    source.release()
    if kind == cnp.NPY_FLOAT:
        _divide(<float*>cnp.PyArray_DATA(out), n, 1.0 - p)
    else:
        _divide(<double*>cnp.PyArray_DATA(out), n, 1.0 - p)
    return wrap(out)


cdef void _lean(real* out, const real* x, npy_intp n, double slope) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] if x[i] > 0 else x[i] * <real>slope


cdef int _lean_narrow(ndarray out, Fields* x, npy_intp n, float slope, bint brain) except -1:
    """The same of 16 bits, computed in float32."""
    cdef char** data = [x.data, <char*>&slope, <char*>cnp.PyArray_DATA(out)]
    cdef npy_intp[3] steps = [2, 0, 2]
    cdef loop_t loop
    cdef wide_loop wide
    widened_loop(loops.leaky_relu, brain, &loop, &wide)
    wide.halves &= ~2             # but for the slope
    run(loop, &wide, 3, data, n, steps)
    return 0


cdef object _slopes(Operator op, keyset_t keys, PyObject** args):
    """_rrelu_with_noise(self, noise, lower, upper, training): the mean slope, outside training."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp n = _count(a, 0, a.nd)
    cdef int kind = a.descr.type_num, code = code_of[kind]
    cdef double lower, upper
    cdef PyObject* target = args[op.nargs]
    cdef bint narrow = code == FLOAT16 or code == BFLOAT16
    cdef ndarray out
    if (target != NULL and target != args[0]) or not a.flags & WRITEABLE or (
            not _row_major(a) or not (narrow or _is_float(kind))) or n == 0 or skipping() or (
            (n > FEW and not narrow) or <object>args[4] is not False) or not (
            _real(args[2], &lower) and _real(args[3], &upper)):
        return run_otherwise(op, keys, args)
    out = empty(kind, a.nd, a.dimensions) if target == NULL else storage(<Tensor>args[0])
    if narrow:
        _lean_narrow(out, a, n, <float>((lower + upper) / 2), code == BFLOAT16)
        return wrap(out) if target == NULL else <object>args[0]
    if kind == cnp.NPY_FLOAT:
        _lean(<float*>cnp.PyArray_DATA(out), <float*>a.data, n, (lower + upper) / 2)
    else:
        _lean(<double*>cnp.PyArray_DATA(out), <double*>a.data, n, (lower + upper) / 2)
    return wrap(out) if target == NULL else <object>args[0]


cdef object _poisson(Operator op, keyset_t keys, PyObject** args):
    """poisson(self, generator)."""
    cdef ndarray held = array_of(args[0])    # as in _fill
    cdef Fields* rates = fields(<PyObject*>held)
    cdef npy_intp n = _count(rates, 0, rates.nd)
    cdef int kind = rates.descr.type_num
    cdef Generator source
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(rates) or not _is_float(kind) or (
            not 0 < n <= FEW) or not (
                _none_negative(<float*>rates.data, n) if kind == cnp.NPY_FLOAT
                else _none_negative(<double*>rates.data, n)):
        return run_general(op, keys, args)
    out = empty(kind, rates.nd, rates.dimensions)
    source = choose(<object>args[1])
    source.acquire()
    draw_poisson(&source.engine, kind, cnp.PyArray_DATA(out), rates.data, n)
    source.release()
    return wrap(out)


cdef CKernel _drawing(Draw draw, int low, int high, int size, int generator, int options):
    """The kernel of an operator with arguments at these positions; -1: absent."""
    cdef _Config config = _Config()
    config.draw, config.low, config.high, config.size = draw, low, high, size
    config.generator, config.dtype, config.like = generator, options, size < 0
    return CKernel.new(_new if options >= 0 else _fill, config)


cdef CKernel _of_law(Law law, int low, int high, int generator):
    """The kernel that fills a tensor with numbers of a distribution."""
    cdef CKernel made = _drawing(OF_LAW, low, high, -1, generator, -1)
    (<_Config>made.config).law = law
    return made


rand = _drawing(UNIFORM, -1, -1, 0, 1, 2)
randn = _drawing(NORMAL, -1, -1, 0, 1, 2)
randint = _drawing(INTEGERS, -1, 0, 1, 2, 3)
randint_low = _drawing(INTEGERS, 0, 1, 2, 3, 4)
normal_float_float = _drawing(NORMAL, 0, 1, 2, 3, 4)
rand_like = _drawing(UNIFORM, -1, -1, -1, 1, 2)
randn_like = _drawing(NORMAL, -1, -1, -1, 1, 2)
randint_like = _drawing(INTEGERS, -1, 1, -1, 2, 3)
randint_like_low = _drawing(INTEGERS, 1, 2, -1, 3, 4)
uniform_ = _drawing(UNIFORM, 1, 2, -1, 3, -1)
normal_ = _drawing(NORMAL, 1, 2, -1, 3, -1)
random_ = _drawing(ALL_INTEGERS, -1, -1, -1, 1, -1)
random_to = _drawing(INTEGERS, -1, 1, -1, 2, -1)
random_from = _drawing(INTEGERS, 1, 2, -1, 3, -1)
bernoulli_ = _drawing(COINS, 1, -1, -1, 2, -1)
bernoulli = CKernel.new(_bernoulli)
normal_of_tensors = CKernel.new(_normal_of_tensors)
multinomial = CKernel.new(_multinomial)
randperm = CKernel.new(_permutation)
dropout_mask = CKernel.new(_mask)
exponential_ = _of_law(EXPONENTIAL, 1, -1, 2)
cauchy_ = _of_law(CAUCHY, 1, 2, 3)
log_normal_ = _of_law(LOG_NORMAL, 1, 2, 3)
geometric_ = _of_law(GEOMETRIC, 1, -1, 2)
poisson = CKernel.new(_poisson)
slopes = CKernel.new(_slopes)
