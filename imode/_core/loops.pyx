"""A NumPy ufunc as a kernel.

A ufunc's typed inner loops (`functions`, `data`, `types` of PyUFuncObject) take pointers, a count
and strides. `ufunc_kernel` finds the operands' common dtype by PyTorch's rules, broadcasts,
collapses the dimensions and calls the loop; there is no other path. An operand that the loop cannot
read directly (another dtype, memory that the result partly overlaps) is copied first.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport c_type_str, run_numpy, type_str
from imode._core.allocator cimport Fields, empty, fields
from imode._core.allocator cimport view as array_view
from imode._core.dispatch cimport INPLACE, MAX_ARGS, OUT, CKernel, Operator
from imode._core.dtype cimport (
    BFLOAT16, BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, N_DTYPES, N_TYPENUMS,
    NO_DTYPE, UINT8, code_of, dtype_from_code, is_complex, is_float, is_integral, is_stored,
    typenum_of)
from imode._core.parallel cimport skipping
from imode._core.promotion cimport (
    ResultType, casts, add_number, add_tensor, no_operands, result_code)
from imode._core.element cimport store_number, store_small
from imode._core.iterate cimport (
    GIL_FREE, NDIM, Operand, empty_for, empty_like, in_row_order, iterate, layout, operand_of, run)
from imode._core.keyset cimport BIT_CPU, keyset_t
from imode._core.making cimport hold, replace_array, wrap
from imode._core.moving cimport convert_into
from imode._core.out cimport (
    SAME as OF_ITS_DTYPE, Out, check_dtype, check_writeable, copy_into, fit_target, in_rows)
from imode._core.overlap cimport entangled, refuse_overlap
from imode._core.stored cimport has_stored, in_brain, run_widened
from imode._core.tensor cimport Tensor, is_tensor, storage, typenum as typenum_in
from libc.math cimport HUGE_VAL
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int32_t, int64_t, uint16_t
from libc.string cimport memcmp, memcpy, memset
from numpy cimport ndarray, npy_intp

import numpy as np

from imode import errors
from imode._core import layout as layouts
from imode._core.broadcast import broadcast_shape
from imode._core.numbers import number_as

cnp.import_array()

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(object, Py_ssize_t) noexcept

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct UFunc "PyUFuncObject":
        int nin
        int nout
        int nargs
        loop_t* functions
        void** data
        int ntypes
        const char* types

cdef extern from "wide.h":
    void run_wide(char** args, const npy_intp* dims, const npy_intp* steps,
                  void* data) noexcept nogil

cdef enum:
    C_CONTIGUOUS = 0x1            # flags of an ndarray
    WRITEABLE = 0x400


cdef bint find_loop(object ufunc, int code, loop_t* loop, void** data, int* out,
                    int first=0) except -1:
    cdef UFunc* u = <UFunc*>ufunc
    cdef int i, j
    cdef int typenum = typenum_of[code]
    for i in range(u.ntypes):
        for j in range(first, u.nin):
            if code_of_type(u.types[i * u.nargs + j]) != code or (
                    u.types[i * u.nargs + j] != typenum and u.ntypes > N_DTYPES and _has(
                        u, typenum)):
                break
        else:
            loop[0] = u.functions[i]
            data[0] = u.data[i]
            out[0] = code_of_type(u.types[i * u.nargs + u.nin])
            return loop[0] != NULL
    return False


cdef inline int code_of_type(int typenum) noexcept:
    return code_of[typenum] if 0 <= typenum < N_TYPENUMS else NO_DTYPE


cdef bint _has(UFunc* u, int typenum) noexcept:
    cdef int i
    for i in range(u.ntypes):
        if u.types[i * u.nargs] == typenum:
            return True
    return False


cdef set _loops_of_halves():
    """The addresses of NumPy's loops over float16 that compute each number by itself."""
    cdef set found = set()
    cdef loop_t loop
    cdef void* data
    cdef int out
    for ufunc in vars(np).values():
        if type(ufunc) is np.ufunc and ufunc.nout == 1 and ufunc.signature is None and (
                ufunc is not np.nextafter and ufunc is not np.spacing):
            if find_loop(ufunc, FLOAT16, &loop, &data, &out):
                found.add(<size_t>loop)
    return found


cdef set _OF_HALVES = _loops_of_halves()


cdef struct Narrow:
    loop_t loop
    void* data
    narrow_loop narrow

cdef enum:
    MOST = 40

cdef Narrow[MOST] _narrow
cdef int _n_narrow = 0


cdef int add_narrow_loop(loop_t loop, void* data, narrow_loop narrow) except -1:
    global _n_narrow
    if _n_narrow == MOST:
        raise RuntimeError("too many loops over 16 bits")
    _narrow[_n_narrow] = Narrow(loop, data, narrow)
    _n_narrow += 1
    return 0


cdef narrow_loop _narrow_of(loop_t loop, void* data) noexcept:
    cdef int i
    for i in range(_n_narrow):
        if _narrow[i].loop == loop and _narrow[i].data == data:
            return _narrow[i].narrow
    return NULL


cdef bint widened_loop(object ufunc, bint brain, loop_t* found, wide_loop* wide) except -1:
    cdef loop_t loop
    cdef void* data
    cdef int out
    if not find_loop(ufunc, FLOAT32, &loop, &data, &out):
        return False
    found[0] = run_wide
    wide[0] = wide_loop(loop, data, ufunc.nin, (2 << <int>ufunc.nin) - 1, brain,
                        _narrow_of(loop, data))
    return True


cdef class _Config:
    # The configuration of one ufunc kernel; owned by its CKernel.
    cdef Loops loops
    cdef object ufunc             # keeps functions and data alive
    cdef object guard             # raises before all else; or None
    cdef object precheck          # raises before errors about shapes and memory; or None
    cdef Loops scaled_loops
    cdef object scaled            # keeps functions and data alive


def ufunc_ckernel(ufunc, int ints, scaled, bint bounds, precheck, numbers, int how, guard=None):
    """The CKernel of a ufunc with one result and at most MAX_IN operands.

    `scaled`: a ufunc with one more operand, for floating operands and an alpha other than 1.
    `numbers`: flags of each operand. `how`: see Layout. `guard`: called with the arguments first,
    unless the first is an int of 0 or more.
    """
    cdef _Config config = _Config()
    if ufunc.nout != 1 or not 1 <= ufunc.nin <= MAX_IN:
        raise ValueError(
            f"{ufunc.__name__}: a ufunc kernel has 1 to {MAX_IN} operands and 1 result")
    config.ufunc = ufunc
    _fill(&config.loops, ufunc, ints, numbers)
    config.loops.bounds, config.loops.layout = bounds, how
    config.precheck, config.guard = precheck, guard
    config.scaled, config.loops.scaled = scaled, NULL
    if scaled is not None:
        _fill(&config.scaled_loops, scaled, ints, numbers)
        config.scaled_loops.numbers[ufunc.nin] = CHECKED | PARAMETER
        config.scaled_loops.scaled = NULL
        config.scaled_loops.bounds, config.scaled_loops.layout = False, how
        config.loops.scaled = &config.scaled_loops
    return CKernel.new(
        ufunc_kernel if guard is None else _guarded_kernel, config, &config.loops)


def in_layout(function, str how="pointwise", tuple numbers=()):
    """`function` of ndarrays, its result in memory as a ufunc's that has `how` as its Layout.

    `numbers`: flags of each operand.
    """
    def kernel(*operands):
        result = function(*operands)
        if type(result) is not ndarray:
            return result
        if how == "like":
            made = layouts.empty_like(operands[0], result.dtype)
        else:
            given = [flags for operand, flags in zip(operands, numbers)
                     if isinstance(operand, (bool, int, float, complex)) and not flags & PARAMETER]
            arrays = tuple([operand for operand in operands if isinstance(operand, ndarray)])
            made = layouts.empty_for(arrays, result.shape, result.dtype, bool(given))
        if made.strides == result.strides:
            return result
        made[...] = result
        return made

    return kernel if function is not None and how != "rows" else function


cdef int _fill(Loops* loops, ufunc, int ints, numbers) except -1:
    cdef int code
    loops.nin = ufunc.nin
    loops.ints = ints
    loops.numbers = numbers
    for code in range(N_DTYPES):
        if not find_loop(ufunc, code, &loops.loop[code], &loops.data[code], &loops.out[code],
                         ints == MASK):
            loops.loop[code] = NULL
    loops.halves = wide_loop(
        loops.loop[<int>FLOAT32], loops.data[<int>FLOAT32], loops.nin,
        (1 << loops.nin) - 1 | (loops.out[<int>FLOAT16] == FLOAT16) << loops.nin, False,
        _narrow_of(loops.loop[<int>FLOAT32], loops.data[<int>FLOAT32]))
    if ints != MASK and loops.loop[<int>FLOAT16] != NULL and (
            <size_t>loops.loop[<int>FLOAT16] in _OF_HALVES or loops.halves.narrow != NULL):
        # NumPy's loop converts each number by itself: blocks are up to a hundred times faster.
        loops.loop[<int>FLOAT16], loops.data[<int>FLOAT16] = run_wide, &loops.halves
    # bfloat16 is computed by the loop of float32, in blocks.
    loops.out[<int>BFLOAT16] = BFLOAT16 if loops.out[<int>FLOAT32] == FLOAT32 else (
        loops.out[<int>FLOAT32])
    return 0


def take_brains(CKernel kernel not None):
    """Let a kernel's loops over float32 run on bfloat16: its operator is one of "loops"."""
    cdef _Config config = <_Config?>kernel.config
    _take_brains(&config.loops)
    _take_brains(&config.scaled_loops)


cdef void _take_brains(Loops* loops) noexcept:
    if loops.loop[<int>FLOAT32] == NULL or loops.loop[<int>FLOAT16] == NULL:
        return
    loops.brains = loops.halves
    loops.brains.brain = True
    loops.brains.halves = (1 << loops.nin) - 1 | (
        loops.out[<int>BFLOAT16] == BFLOAT16) << loops.nin
    if loops.ints == MASK:
        loops.brains.halves &= ~1
    loops.loop[<int>BFLOAT16], loops.data[<int>BFLOAT16] = run_wide, &loops.brains


cdef bint _scales(Loops* loops, PyObject** args) noexcept:
    """Whether the operands are floating point and the argument after them, alpha, is a number."""
    cdef PyObject* alpha = args[loops.nin]
    cdef int i
    if type(<object>alpha) is not float and type(<object>alpha) is not int:
        return False
    for i in range(loops.nin):
        if is_tensor(args[i]) and not is_float(
                code_of[fields((<Tensor>args[i]).array).descr.type_num]):
            return False
    return True


# ---- the kernel ----

cdef npy_intp[N_DTYPES] _sizes    # bytes per element of each Code
cdef int _i
for _i in range(N_DTYPES):
    _sizes[_i] = dtype_from_code(_i).numpy.itemsize

cdef object ufunc_kernel(Operator op, keyset_t keys, PyObject** args):
    """Try the common case: one dtype, contiguous operands, numbers, 0-dim tensors."""
    cdef CKernel kernel = <CKernel>op.kernels[0]
    cdef Loops* loops = <Loops*>kernel.data
    cdef PyObject* target = args[op.nargs]
    cdef PyObject* arg
    cdef Fields* array
    cdef Fields* model = NULL     # the first operand with dimensions
    cdef ndarray out
    cdef char* data[MAX_IN + 1]
    cdef npy_intp steps[MAX_IN + 1]
    cdef int64_t numbers[MAX_IN]
    cdef float narrow
    cdef double wide
    cdef npy_intp n = 1
    cdef int nin = loops.nin
    cdef int code = NO_DTYPE
    cdef int i, d, nd
    cdef list _held

    for i in range(nin, op.nargs):
        if args[i] != PyTuple_GET_ITEM(op.defaults, i):
            if loops.scaled == NULL or not _scales(loops, args):
                return _general(op, kernel, loops, args, target, False)
            loops = <Loops*>loops.scaled
            nin = loops.nin
            break
    for i in range(nin):
        arg = args[i]
        if not is_tensor(arg):
            if arg == <PyObject*>None and not (
                    loops.bounds and args[3 - i] != <PyObject*>None):
                return _given_none(op, kernel, args)
            data[i], steps[i] = NULL, 0
            continue
        array = fields((<Tensor>arg).array)
        if i == 0 and loops.ints == MASK:
            if array.descr.type_num != cnp.NPY_BOOL:
                return _general(op, kernel, loops, args, target)
        elif code == NO_DTYPE:
            code = code_of[array.descr.type_num]
        elif code != code_of[array.descr.type_num]:
            if not _is_count(loops, <Tensor>arg, code):
                return _general(op, kernel, loops, args, target)
            memcpy(&numbers[i], array.data, sizeof(int64_t))
            if code == FLOAT32:
                narrow = <float>numbers[i]
                memcpy(&numbers[i], &narrow, sizeof(float))
            else:
                wide = <double>numbers[i]
                memcpy(&numbers[i], &wide, sizeof(double))
            data[i], steps[i] = <char*>&numbers[i], 0
            continue
        data[i] = array.data
        if array.nd == 0:
            steps[i] = 0
        elif not array.flags & C_CONTIGUOUS:
            return _general(op, kernel, loops, args, target)
        else:
            steps[i] = 1 if i == 0 and loops.ints == MASK else _sizes[code]
            if model == NULL:
                model = array
            elif array.nd != model.nd:
                return _spread(op, kernel, loops, args)
            else:
                for d in range(array.nd):
                    if array.dimensions[d] != model.dimensions[d]:
                        return _spread(op, kernel, loops, args)
    if not _serves(loops, code):
        return _general(op, kernel, loops, args, target)
    for i in range(nin):
        if (not steps[i] or loops.layout == LIKE) and model != NULL and target == NULL and (
                not in_row_order(model, _sizes[code])):
            return _general(op, kernel, loops, args, target)
        if data[i] == NULL:
            if not (_no_bound(i, code, <char*>&numbers[i]) if args[i] == <PyObject*>None else
                    store_small(args[i], code, <char*>&numbers[i])):
                return _general(op, kernel, loops, args, target)
            data[i] = <char*>&numbers[i]
    nd = 0 if model == NULL else model.nd
    for d in range(nd):
        n *= model.dimensions[d]
    steps[nin] = _sizes[loops.out[code]]
    if n >= GIL_FREE:
        _held = hold(args, op.nargs + 1)
    if target == NULL:
        out = empty(typenum_of[loops.out[code]], nd, NULL if model == NULL else model.dimensions)
        data[nin] = fields(<PyObject*>out).data
        if n:
            run(loops.loop[code], loops.data[code], nin + 1, data, n, steps)
        return wrap(out)
    array = fields((<Tensor>target).array)
    if not _takes(array, nd, model, loops.out[code]):
        return _general(op, kernel, loops, args, target)
    for i in range(nin):
        # An operand that is also the target must have the target's strides: then the loop reads
        # each element before writing it.
        if steps[i] and args[i] != target and (
                data[i] < array.data + n * steps[nin] and array.data < data[i] + n * steps[i]):
            return _general(op, kernel, loops, args, target)
        if not steps[i] and data[i] != <char*>&numbers[i] and nd and (
                array.data <= data[i] < array.data + n * steps[nin]):
            return _general(op, kernel, loops, args, target)
    data[nin] = array.data
    if n:
        run(loops.loop[code], loops.data[code], nin + 1, data, n, steps)
    return <object>target


cdef inline bint _is_count(Loops* loops, Tensor t, int code) noexcept:
    """Whether a tensor beside floats is one int64, as sums of masks are: it is read as a float."""
    cdef Fields* array = fields(t.array)
    return array.nd == 0 and array.descr.type_num == cnp.NPY_INT64 and (
        (code == FLOAT32 or code == FLOAT64) and loops.ints < ALIKE and t.keys & BIT_CPU != 0)


cdef inline bint _serves(Loops* loops, int code) noexcept:
    """Whether there is a loop for operands of one dtype, and none is to be found for integers."""
    return code != NO_DTYPE and loops.loop[code] != NULL and (
        loops.ints == SAME or loops.ints >= ALIKE or not is_integral(code))


cdef object _spread(Operator op, CKernel kernel, Loops* loops, PyObject** args):
    """The common case where shapes differ: few elements, every operand in row order.

    Then the result is in row order too, by the rules of `layout`, whatever is broadcast.
    """
    cdef Operand operands[MAX_IN + 1]
    cdef int64_t numbers[MAX_IN]
    cdef npy_intp dims[NDIM]
    cdef ndarray out
    cdef int nd = _most_dims(args, loops.nin)
    cdef int code = NO_DTYPE
    cdef int i
    if args[op.nargs] == NULL:
        code = _spread_code(loops, args, nd, dims)
    if code == NO_DTYPE:
        return _general(op, kernel, loops, args, args[op.nargs])
    for i in range(loops.nin):
        if is_tensor(args[i]):
            operands[i] = operand_of(storage(<Tensor>args[i]))
        elif store_small(args[i], code, <char*>&numbers[i]):
            operands[i].data, operands[i].nd = <char*>&numbers[i], 0
        else:
            return _general(op, kernel, loops, args, NULL)
    out = empty(typenum_of[loops.out[code]], nd, dims)
    iterate(loops.loop[code], loops.data[code], operands, loops.nin, nd, dims, out)
    return wrap(out)


cdef int _spread_code(Loops* loops, PyObject** args, int nd, npy_intp* dims) noexcept:
    """The one dtype of operands that `_spread` serves, or NO_DTYPE; sets dims."""
    cdef Fields* array
    cdef npy_intp length
    cdef npy_intp n = 1
    cdef int code = NO_DTYPE
    cdef int i, d, own
    for d in range(nd):
        dims[d] = 1
    for i in range(loops.nin):
        if not is_tensor(args[i]):
            if args[i] == <PyObject*>None:
                return NO_DTYPE
            continue
        array = fields((<Tensor>args[i]).array)
        own = code_of[array.descr.type_num]
        if i == 0 and loops.ints == MASK:
            if own != BOOL:
                return NO_DTYPE
        elif code == NO_DTYPE:
            code = own
        elif code != own:
            return NO_DTYPE
        if not in_row_order(array, _sizes[own]):
            return NO_DTYPE
        for d in range(array.nd):
            length = array.dimensions[d]
            if length == 1 or length == dims[nd - array.nd + d]:
                continue
            if dims[nd - array.nd + d] != 1:
                return NO_DTYPE       # no common shape
            dims[nd - array.nd + d] = length
            n *= length
            if n >= GIL_FREE:
                return NO_DTYPE
    return code if _serves(loops, code) else NO_DTYPE


cdef int _look(guard, Operator op, PyObject** args) except -1:
    """Call the guard, which has nothing against an int of 0 or more in front."""
    cdef int i
    if type(<object>args[0]) is not int or <object>args[0] < 0:
        guard(*[<object>args[i] for i in range(op.nargs)])
    return 0


cdef object _guarded_kernel(Operator op, keyset_t keys, PyObject** args):
    """The same, after the guard has looked at the arguments."""
    _look((<_Config>(<CKernel>op.kernels[0]).config).guard, op, args)
    return ufunc_kernel(op, keys, args)


cdef inline bint _takes(Fields* array, int nd, Fields* model, int code) noexcept:
    """Whether an array has the result's shape and dtype and is contiguous and writeable."""
    cdef int d
    if array.nd != nd or code_of[array.descr.type_num] != code or (
            array.flags & (C_CONTIGUOUS | WRITEABLE)) != C_CONTIGUOUS | WRITEABLE:
        return False
    for d in range(nd):
        if array.dimensions[d] != model.dimensions[d]:
            return False
    return True


cdef bint _no_bound(int operand, int code, char* where) noexcept:
    """Store a bound without effect: the lowest value as operand 1, the highest as operand 2."""
    cdef double infinity = HUGE_VAL if operand == 2 else -HUGE_VAL
    if code == FLOAT32:
        (<float*>where)[0] = <float>infinity
    elif code == FLOAT64:
        (<double*>where)[0] = infinity
    elif code == INT64:
        (<int64_t*>where)[0] = INT64_MAX if operand == 2 else INT64_MIN
    elif code == INT32:
        (<int32_t*>where)[0] = INT32_MAX if operand == 2 else INT32_MIN
    elif code == UINT8:
        where[0] = <char>(255 if operand == 2 else 0)
    elif code == FLOAT16:
        (<uint16_t*>where)[0] = 0x7C00 if operand == 2 else 0xFC00
    else:
        return False
    return True


cdef object _given_none(Operator op, CKernel kernel, PyObject** args):
    if kernel.general is None:
        raise RuntimeError(f"{op.name}(): no kernel serves these arguments")
    if has_stored(op, args):
        return run_widened(op, BIT_CPU, args)
    return run_numpy(op, kernel.general, args)


# ---- the general case: numbers, casts, broadcasting, strides, in-place, out= ----

def general_case(CKernel kernel not None):
    """A ufunc's kernel without the common case, for tests that hold the two against each other."""
    return CKernel.new(_general_kernel, kernel.config, kernel.data).beside(kernel.general, __name__)


cdef object _general_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef CKernel kernel = <CKernel>op.kernels[0]
    cdef Loops* loops = <Loops*>kernel.data
    cdef bint served = True
    cdef int i
    if (<_Config>kernel.config).guard is not None:
        _look((<_Config>kernel.config).guard, op, args)
    for i in range(loops.nin, op.nargs):
        if args[i] != PyTuple_GET_ITEM(op.defaults, i):
            served = loops.scaled != NULL and _scales(loops, args)
            loops = <Loops*>loops.scaled if served else loops
            break
    return _general(op, kernel, loops, args, args[op.nargs], served)


cdef unsigned long _runs = 0      # of `_general`, in this process


def count_runs():
    """How often the general case of a ufunc's kernel has run in this process."""
    return _runs


cdef object _general(Operator op, CKernel kernel, Loops* loops, PyObject** args,
                     PyObject* target, bint served=True):
    """`served`: by the loops, if there is one for the dtypes; else by the fallback."""
    global _runs
    _runs += 1
    cdef ResultType state = no_operands()
    cdef Operand operands[MAX_IN + 1]
    cdef char numbers[MAX_IN][16]
    cdef npy_intp dims[NDIM]
    cdef npy_intp strides[NDIM]
    cdef npy_intp size
    cdef int nin = loops.nin
    cdef int nd = _most_dims(args, nin)
    cdef int i, d, code, as_code, out_code
    cdef ndarray array
    cdef ndarray out
    cdef list keep = hold(args, op.nargs + 1)    # copies of operands are added
    cdef bint resized = False     # out= had another shape: it gets the result's strides
    cdef bint wide                # 16 bits computed in float32
    cdef bint brain               # of bfloat16
    cdef int narrow               # their Code
    cdef bint alike               # see `layout`
    cdef bint rows                # row-major, whatever the operands' layout
    cdef wide_loop widened

    for i in range(nin):
        if is_tensor(args[i]):
            array = storage(<Tensor>args[i])
            if i or loops.ints != MASK:
                add_tensor(&state, code_of[cnp.PyArray_TYPE(array)], array.ndim)
        elif args[i] == <PyObject*>None:
            served = served and loops.bounds and args[3 - i] != <PyObject*>None
        elif loops.ints != ALIKE and loops.ints != TENSORS:
            add_number(&state, <object>args[i])
    code = result_code(&state, loops.ints == Ints.FLOAT)
    if loops.ints == ALIKE:
        served = served and not _refused(ALIKE, args, nin)
    elif loops.ints >= NOBOOL:
        if _refused(loops.ints, args, nin):
            return _without_loops(op, kernel, code, args)
    elif is_integral(code) and loops.ints == ERROR:
        raise RuntimeError(f'"{op.name}" not implemented for \'{type_str(code)}\'')
    out_code = loops.out[code]
    brain = code == BFLOAT16 and loops.loop[code] != NULL
    if loops.loop[code] == NULL:
        # Comparisons have loops for floats, and always give bools.
        i = FLOAT32
        out_code = BOOL if loops.loop[i] != NULL and loops.out[i] == BOOL else code
    try:
        _check(op, loops, args, nd, dims, target, code, out_code, &state)
    except RuntimeError:
        if _precheck(op, kernel, args) is None:
            raise
        return run_numpy(op, (<_Config>kernel.config).precheck, args)
    if loops.ints == DIVIDED and is_integral(code):
        served = served and not _has_zero(args[1], code, nd, dims)
    if not served or loops.loop[code] == NULL:
        return _without_loops(op, kernel, code, args)
    wide = (brain or code == FLOAT16) and _widens(loops, args, code)
    narrow = code
    for i in range(nin):
        if args[i] == <PyObject*>None:
            if not _no_bound(i, FLOAT32 if wide or brain else code, numbers[i]):
                return _without_loops(op, kernel, code, args)
        elif not is_tensor(args[i]):
            number = <object>args[i]
            if loops.numbers[i] & CHECKED or (
                    loops.numbers[i] & NARROW and (brain or code == FLOAT16)):
                as_code = code
                if (brain or code == FLOAT16) and loops.numbers[i] & (WIDE | FILLED):
                    as_code = FLOAT32 if loops.numbers[i] & WIDE else FLOAT64
                number = number_as(number, dtype_from_code(as_code).numpy)
            if brain and not loops.numbers[i] & WIDE:
                number = in_brain(number)
            store_number(number, FLOAT32 if wide or brain else code, numbers[i])
    if target != NULL:
        if op.role == OUT:
            resized = not _has_shape(storage(<Tensor>target), nd, dims)
            fit_target(op, <Tensor>target, nd, dims, True)
    if wide or brain:
        code = FLOAT32
        widened.loop, widened.data = loops.loop[code], loops.data[code]
        widened.nin, widened.halves = nin, (out_code == narrow) << nin
        widened.brain, widened.narrow = brain, loops.halves.narrow

    for i in range(nin):
        if is_tensor(args[i]):
            array = storage(<Tensor>args[i])
            if brain and not wide and not (i == 0 and loops.ints == MASK) and (
                    code_of[cnp.PyArray_TYPE(array)] != BFLOAT16):
                array = _cast(array, BFLOAT16)       # rounded, as PyTorch casts operands
                keep.append(array)
            if (wide or brain) and code_of[cnp.PyArray_TYPE(array)] == narrow:
                widened.halves |= 1 << i
            elif code_of[cnp.PyArray_TYPE(array)] != code and (i or loops.ints != MASK) and (
                    cnp.PyArray_SIZE(array)):     # of an empty array only the strides are read
                array = _cast(array, code)
                keep.append(array)
            if target != NULL and entangled(array, storage(<Tensor>target)):
                array = array.copy()
                keep.append(array)
            operands[i] = operand_of(array)
        else:
            operands[i].data = numbers[i]
            operands[i].nd = 0
    size = 1
    for d in range(nd):
        size *= dims[d]

    alike = _alike(loops, args, nd, dims)
    rows = loops.layout == ROWS or (loops.layout == PARTS and is_complex(code))
    if resized and not rows and not in_rows(
            op, code, code_of[cnp.PyArray_TYPE(storage(<Tensor>target))]):
        out = storage(<Tensor>target)
        if not layout(operands, nin, nd, dims, cnp.PyArray_ITEMSIZE(out), alike, strides):
            replace_array(<Tensor>target, array_view(
                out, nd, dims, strides, <char*>cnp.PyArray_DATA(out)))
    if target != NULL and code_of[cnp.PyArray_TYPE(storage(<Tensor>target))] == out_code:
        out = storage(<Tensor>target)
    elif rows:
        out = empty(typenum_of[out_code], nd, dims)
    elif loops.layout == LIKE and _has_shape(storage(<Tensor>args[0]), nd, dims):
        out = empty_like(storage(<Tensor>args[0]), typenum_of[out_code])
    else:
        out = empty_for(
            operands, nin, nd, dims, typenum_of[out_code], _sizes[out_code], alike)
    if size and (wide or brain):
        iterate(run_wide, &widened, operands, nin, nd, dims, out)
    elif size:
        iterate(loops.loop[code], loops.data[code], operands, nin, nd, dims, out)
    if target == NULL:
        return wrap(out)
    if out is not storage(<Tensor>target):
        copy_into(<Tensor>target, out)
    return <object>target


cdef bint _alike(Loops* loops, PyObject** args, int nd, npy_intp* dims) noexcept:
    """Whether all operands, parameters not counted, have the result's shape."""
    cdef int i
    for i in range(loops.nin):
        if is_tensor(args[i]):
            if not _has_shape(storage(<Tensor>args[i]), nd, dims):
                return False
        elif not loops.numbers[i] & PARAMETER and args[i] != <PyObject*>None:
            return False
    return True


cdef int _most_dims(PyObject** args, int nin) noexcept:
    cdef int i, nd = 0
    for i in range(nin):
        if is_tensor(args[i]):
            nd = max(nd, fields((<Tensor>args[i]).array).nd)
    return nd


cdef int _check_geometry(Operator op, PyObject** args, int nin, int nd, npy_intp* dims,
                         PyObject* target) except -1:
    """Check overlaps, the operands' shapes, and that of a target which is an operand; sets dims."""
    if target != NULL:
        refuse_overlap(args, 0 if op.role == OUT and (<Out>op.accepts).free else nin,
                       <Tensor>target)
    _broadcast(op, args, nin, nd, dims)
    if target != NULL and (op.role != OUT or _among(target, args, nin)):
        fit_target(op, <Tensor>target, nd, dims, False)
    return 0


cdef int _check(Operator op, Loops* loops, PyObject** args, int nd, npy_intp* dims,
                PyObject* target, int code, int out_code, ResultType* state) except -1:
    """Check memory, shapes and the target's dtype, in PyTorch's order; sets dims."""
    cdef bint inside = target != NULL and (op.role != OUT or _among(target, args, loops.nin))
    cdef bint exact = (<Out>op.accepts).takes == OF_ITS_DTYPE and not (
        loops.ints == ALIKE and is_tensor(args[loops.nin - 1])      # not if the last operand
        and storage(<Tensor>args[loops.nin - 1]).ndim == 0)         # is 0-dim, like a number
    if inside and exact:
        _check_castable(<Tensor>target, out_code, _of_halves(out_code, state))
    if op.role == INPLACE and is_complex(code) and is_float(out_code):
        raise RuntimeError(
            f"In-place {op.functional.name} is not supported for complex tensors. Its result "
            f"is real: use {op.functional.name}() and its result")
    _check_geometry(op, args, loops.nin, nd, dims, target)
    if target != NULL:
        exact = exact and not inside and not (is_complex(code) and is_float(out_code))
        check_dtype(op, <Tensor>target, out_code, _of_halves(out_code, state), 0, exact)
        check_writeable(op, <Tensor>target)
    return 0


cdef object _precheck(Operator op, CKernel kernel, PyObject** args):
    """Run `precheck`, whose error takes precedence over that of `_check`."""
    precheck = (<_Config>kernel.config).precheck
    return precheck and precheck(*[
        storage(<Tensor>args[i]) if is_tensor(args[i]) else <object>args[i]
        for i in range(op.nargs)])


cdef bint _widens(Loops* loops, PyObject** args, int narrow) noexcept:
    """Whether an operand beside tensors of 16 bits is WIDE and a number, or a 0-dim tensor."""
    cdef int i
    cdef ndarray array
    for i in range(loops.nin):
        if not loops.numbers[i] & WIDE:
            continue
        if not is_tensor(args[i]):
            return True
        array = storage(<Tensor>args[i])
        if array.ndim == 0 and code_of[cnp.PyArray_TYPE(array)] != narrow:
            return True
    return False


cdef bint _among(PyObject* target, PyObject** args, int nin) noexcept:
    cdef int i
    for i in range(nin):
        if args[i] == target:
            return True
    return False


cdef ndarray _cast(ndarray array, int code):
    """A copy in another dtype."""
    cdef ndarray copy = empty_like(array, typenum_of[code])
    if not skipping():
        convert_into(copy, array)
    return copy


cdef bint _refused(int ints, PyObject** args, int nin):
    """Whether the operator's loops do not accept the operands: see Ints."""
    cdef int i
    cdef int first = cnp.PyArray_TYPE(storage(<Tensor>args[0])) if is_tensor(args[0]) else -1
    if ints == MASK:
        return first != cnp.NPY_BOOL and first != cnp.NPY_UINT8
    if ints == TENSORS:
        return False
    for i in range(nin):
        if ints == ALIKE:
            if is_tensor(args[i]) and cnp.PyArray_TYPE(storage(<Tensor>args[i])) != first:
                return True
        elif is_tensor(args[i]):
            if cnp.PyArray_TYPE(storage(<Tensor>args[i])) == cnp.NPY_BOOL:
                return True
        elif isinstance(<object>args[i], bool):
            return True
    return False


cdef bint _has_zero(PyObject* divisor, int code, int nd, npy_intp* dims) except -1:
    """Whether a divisor of integers is or has a 0, or may become one, for results with any."""
    cdef char number[16]
    cdef char none[16]
    cdef ndarray array
    cdef const int64_t* data
    cdef npy_intp i
    cdef bint found = False
    for i in range(nd):
        if dims[i] == 0:
            return False
    if skipping():
        return False
    if not is_tensor(divisor):
        store_number(<object>divisor, code, number)
        memset(none, 0, 16)
        return memcmp(number, none, _sizes[code]) == 0
    array = storage(<Tensor>divisor)
    if cnp.PyArray_TYPE(array) != cnp.NPY_INT64 or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        return (array.ndim == 0 and code_of[cnp.PyArray_TYPE(array)] != code) or not (
            (<object>array).all())
    data = <const int64_t*>cnp.PyArray_DATA(array)
    for i in range(cnp.PyArray_SIZE(array)):
        found |= data[i] == 0
    return found or code != INT64 and array.ndim == 0


cdef int _check_castable(Tensor target, int code, bint halves) except -1:
    cdef int target_code = code_of[cnp.PyArray_TYPE(storage(target))]
    if target_code != code and not casts(code, target_code):
        name = "ComplexHalf" if halves else type_str(code)
        raise errors.dtypes.cannot_cast(name, c_type_str(target_code))
    return 0


cdef inline bint _of_halves(int code, ResultType* state) noexcept:
    """Whether PyTorch's result would be complex numbers of two halves."""
    return code == COMPLEX64 and FLOAT16 == (
        state.dim if not is_integral(state.dim) else state.zero)


cdef bint _has_shape(ndarray array, int nd, npy_intp* dims) noexcept:
    cdef int d
    if array.ndim != nd:
        return False
    for d in range(nd):
        if array.shape[d] != dims[d]:
            return False
    return True


cdef object _without_loops(Operator op, CKernel kernel, int code, PyObject** args):
    """What the fallback gives, where the loops do not serve the operands."""
    if is_stored(code) and op.entry.stored == "loops":
        return run_widened(op, BIT_CPU, args)
    return run_numpy(op, _unsupported(op, kernel, code), args)


cdef object _unsupported(Operator op, CKernel kernel, int code):
    if kernel.general is None:
        raise RuntimeError(f'"{op.name}" not implemented for \'{type_str(code)}\'')
    return kernel.general


cdef int _broadcast(Operator op, PyObject** args, int nin, int nd, npy_intp* dims) except -1:
    cdef int i, d, offset
    cdef ndarray array
    cdef npy_intp length
    for d in range(nd):
        dims[d] = 1
    for i in range(nin):
        if not is_tensor(args[i]):
            continue
        array = storage(<Tensor>args[i])
        offset = nd - array.ndim
        for d in range(array.ndim - 1, -1, -1):    # the last mismatch is reported
            length = array.shape[d]
            if length != 1 and length != dims[offset + d]:
                if dims[offset + d] != 1:
                    broadcast_shape(*[(<object>storage(<Tensor>args[i])).shape
                                      for i in range(nin) if is_tensor(args[i])])  # raises
                dims[offset + d] = length
    return 0


def run_loop(ufunc, ndarray out not None, *operands):
    """Write a ufunc of ndarrays, all of one dtype and of the shape of `out`, which has memory of
    its own; the loop is shared between threads."""
    cdef Operand given[MAX_IN]
    cdef loop_t loop
    cdef void* data
    cdef int i, code
    cdef int nin = <int>len(operands)
    for i in range(nin):
        given[i] = operand_of(<ndarray?>operands[i])
    if not find_loop(ufunc, code_of[cnp.PyArray_TYPE(<ndarray>operands[0])], &loop, &data, &code):
        raise TypeError(f"{ufunc.__name__}: no loop for {operands[0].dtype}")
    if cnp.PyArray_SIZE(out) and not skipping():
        iterate(loop, data, given, nin, out.ndim, out.shape, out)
    return out


# ---- for a look inside ----

cdef str _name(int code):
    """A dtype's name, as in `imode.float32`."""
    return str(dtype_from_code(code)).rpartition(".")[2]


cdef tuple _given(Operator op, list values, object target, PyObject** args):
    """The arguments as a kernel gets them, and the loops: (a _Config, or None; if they scale)."""
    cdef CKernel kernel = <CKernel>op.kernels[0]
    cdef _Config config
    cdef bint scales = False
    cdef int i
    if kernel is None or not isinstance(kernel.config, _Config) or kernel.general is kernel:
        return None, False
    config = <_Config>kernel.config
    for i in range(op.nargs):
        args[i] = <PyObject*>values[i]
    args[op.nargs] = NULL if target is None else <PyObject*>target
    for i in range(config.loops.nin, op.nargs):
        if args[i] != PyTuple_GET_ITEM(op.defaults, i):
            scales = config.loops.scaled != NULL and _scales(&config.loops, args)
            if not scales:
                return config, None
            break
    return config, scales


def why_general(Operator op not None, list values not None, target):
    """Why `ufunc_kernel` would leave a call to its general case: its tests, one after another.

    Returns (which argument, by its position, or -1; what about it); () if it would not; None if
    the operator's kernel is no ufunc's.
    """
    cdef PyObject* args[MAX_ARGS + 1]
    cdef int64_t number
    cdef Fields* array
    cdef Fields* model = NULL
    cdef npy_intp n = 1
    cdef char* data
    cdef Loops* loops
    cdef npy_intp dims[NDIM]
    cdef int code = NO_DTYPE
    cdef npy_intp j
    cdef int i, d, first = 0
    cdef int other = -1           # the first of another shape
    config, scales = _given(op, values, target, args)
    if config is None:
        return None
    loops = &(<_Config>config).loops
    if scales is None:
        i = next(i for i in range(loops.nin, op.nargs)
                 if args[i] != PyTuple_GET_ITEM(op.defaults, i))
        return i, "is not its default"
    if scales:
        loops = <Loops*>loops.scaled
    for i in range(loops.nin):
        if not is_tensor(args[i]):
            if args[i] == <PyObject*>None and not (
                    loops.bounds and args[3 - i] != <PyObject*>None):
                return i, "is None"
            continue
        array = fields((<Tensor>args[i]).array)
        if i == 0 and loops.ints == MASK:
            if array.descr.type_num != cnp.NPY_BOOL:
                return i, "is no bool tensor"
        elif code == NO_DTYPE:
            code, first = code_of[array.descr.type_num], i
        elif code != code_of[array.descr.type_num] and not _is_count(
                loops, <Tensor>args[i], code):
            return i, f"is {_name(code_of[array.descr.type_num])} beside {_name(code)}"
        if array.nd == 0:
            continue
        if not array.flags & C_CONTIGUOUS:
            return i, "is not contiguous"
        if model == NULL:
            model = array
        elif other < 0 and (array.nd != model.nd or memcmp(
                array.dimensions, model.dimensions, array.nd * sizeof(npy_intp))):
            other = i
    if code == NO_DTYPE:
        return -1, "no operand is a tensor"
    if loops.loop[code] == NULL:
        return first, f"is {_name(code)}, for which there is no loop"
    if loops.ints != SAME and loops.ints < ALIKE and is_integral(code):
        return first, f"is {_name(code)}, and integers compute in floats, or not at all"
    if other >= 0:
        if target is not None:
            return other, "has another shape, and there is a target"
        if _spread_code(loops, args, _most_dims(args, loops.nin), dims) == NO_DTYPE:
            return other, "has another shape, among many elements or strides not in row order"
    for i in range(loops.nin):
        if other < 0 and (not is_tensor(args[i]) or fields((<Tensor>args[i]).array).nd == 0 or (
                loops.layout == LIKE)) and model != NULL and target is None and (
                not in_row_order(model, _sizes[code])):
            return i, "stands beside a tensor whose strides are not in row order"
        if not is_tensor(args[i]):
            if not (_no_bound(i, code, <char*>&number) if args[i] == <PyObject*>None else
                    store_small(args[i], code, <char*>&number)):
                return i, f"is a number that {_name(code)} may not hold"
    if target is None:
        return ()
    array = fields((<Tensor>target).array)
    if not _takes(array, 0 if model == NULL else model.nd, model, loops.out[code]):
        return -1, "the result's target has another shape, dtype or strides than the result"
    for d in range(array.nd):
        n *= array.dimensions[d]
    for i in range(loops.nin):
        if not is_tensor(args[i]) or args[i] == <PyObject*>target:
            continue
        data = fields((<Tensor>args[i]).array).data
        # The bytes that it has, seen from the target's side; a 0-dim operand only where it begins.
        j = 0 if fields((<Tensor>args[i]).array).nd == 0 else n * _sizes[code]
        if data < array.data + n * _sizes[loops.out[code]] and (
                array.data < data + j if j else array.nd and array.data <= data):
            return i, "shares memory with the result's target"
    return ()


def copies_made(Operator op not None, list values not None, target):
    """The copies that the general case of a ufunc's kernel makes: (which argument, why, bytes).

    Argument -1 is the result. None if the kernel is no ufunc's, or a function takes its place.
    """
    cdef PyObject* args[MAX_ARGS + 1]
    cdef ResultType state = no_operands()
    cdef Loops* loops
    cdef ndarray array
    cdef int code, out_code, own, i
    cdef list copies = []
    config, scales = _given(op, values, target, args)
    if config is None or scales is None:
        return None
    loops = &(<_Config>config).loops
    if scales:
        loops = <Loops*>loops.scaled
    for i in range(loops.nin):
        if is_tensor(args[i]):
            if i or loops.ints != MASK:
                add_tensor(&state, code_of[typenum_in(<Tensor>args[i])],
                           storage(<Tensor>args[i]).ndim)
        elif args[i] == <PyObject*>None:
            return None
        elif loops.ints != ALIKE and loops.ints != TENSORS:
            add_number(&state, <object>args[i])
    code = result_code(&state, loops.ints == Ints.FLOAT)
    if loops.loop[code] == NULL or (loops.ints >= NOBOOL and _refused(
            loops.ints, args, loops.nin)):
        return None
    out_code = loops.out[code]
    wide = code == FLOAT16 and _widens(loops, args, FLOAT16)
    for i in range(loops.nin):
        if not is_tensor(args[i]):
            continue
        array = storage(<Tensor>args[i])
        own = code_of[cnp.PyArray_TYPE(array)]
        if own != code and (i or loops.ints != MASK) and cnp.PyArray_SIZE(array) and not (
                wide and own == FLOAT16):
            copies.append((i, f"from {_name(own)} to {_name(code)}",
                           cnp.PyArray_SIZE(array) * _sizes[code]))
        elif target is not None and entangled(array, storage(<Tensor>target)):
            copies.append((i, "it shares memory with what is written",
                           cnp.PyArray_NBYTES(array)))
    if target is not None and code_of[typenum_in(<Tensor>target)] != out_code:
        array = storage(<Tensor>target)
        own = code_of[cnp.PyArray_TYPE(array)]
        copies.append((-1, f"from {_name(out_code)} to {_name(own)}, into what is written",
                       cnp.PyArray_SIZE(array) * _sizes[out_code]))
    return copies


def loops_of(CKernel kernel not None):
    """The ufunc whose loops a kernel runs, or None."""
    return (<_Config>kernel.config).ufunc if isinstance(kernel.config, _Config) else None


def ints_of(CKernel kernel not None):
    """In what dtype a kernel with loops computes integers: one of Ints."""
    return <Ints>(<_Config>kernel.config).loops.ints
