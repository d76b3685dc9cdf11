"""Dtypes that are stored, and computed in another: bfloat16, wide unsigned integers, float8.

# Note [Stored dtypes]
NumPy has no loops for these dtypes, or imode's kernels no cases, so a tensor of one carries the key
Stored, above the backends' keys. Kernels that take any dtype (views, copies, conversion) have
nothing registered for it: their calls fall through, and other tensors' calls never come here.
Every other operator has a `stored_kernel` there. How it goes on, its entry says (`stored`):

- "loops": the inner loops of float32 run on bfloat16 in blocks (`_core/loops`);
- "served": the compiled kernel takes bfloat16 where that is all there is; else it is "widened";
- "beside": likewise, and where the first tensor is of it, others may be of float32, indices, or
  a mask;
- "moves": elements change places only, so the kernel moves a dtype of the same size instead;
- "widened", all others: the kernel gets copies in float32, and what it gives and what it wrote is
  rounded, once;
- "probed": likewise, if the kernel takes float16;
- "refused": not at all.

Where dtypes are mixed, or the kernel raises, what float16 in the same place would give decides
about dtypes and words: an operator treats both alike. So no operator is named here, and the
kernels know nothing of it. On "meta", where dtypes and shapes are all, float16 stands for bfloat16.
"""
import re

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Descr, empty, fields, root
from imode._core.allocator cimport view as array_view
from imode._core.dispatch cimport (
    DTYPE_OPT, FACTORY, FUNCTIONAL, GENERATOR_OPT, INPLACE, MAX_ARGS, OPERAND, OUT, SCALAR,
    SCALAR_OPT, TENSOR_LIST, CKernel, Operator, redispatch)
from imode._core.dtype cimport (
    BFLOAT16, BOOL, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32,
    INT64, NO_DTYPE, UINT16, UINT32, UINT64, code_of, default_code, dtype, dtype_from_code,
    is_stored, set_default_code, typenum_of)
from imode._core.elsewhere cimport run_inner
from imode._core.keyset cimport (
    BACKENDS, BIT_CPU, BIT_META, BIT_PRIVATEUSE1, BIT_SPARSE, BIT_STORED, STORED, below,
    highest_key, keyset_t)
from imode._core.making cimport new_tensor, replace_array, view_of, wrap
from imode._core.moving cimport convert_into
from imode._core.parallel cimport (
    Thread, give_up_gil, parallel_for, set_skipping, skipping, take_gil)
from imode._core.tensor cimport Tensor, is_tensor, storage, typenum
from numpy cimport ndarray, npy_intp

from imode import errors
from imode._core.type_names import c_name

cnp.import_array()

cdef extern from "wide.h" nogil:
    float v_from_brain(unsigned short bits)
    unsigned short v_to_brain(float x)
    void from_brain(float* to, const char* source, npy_intp step, npy_intp n)
    void to_brain(char* to, const float* source, npy_intp step, npy_intp n)

cdef extern from "numpy/arrayobject.h":
    PyObject* new_descr "PyArray_DescrFromType"(int typenum)

cdef enum:
    BRAIN = 1 << <int>BFLOAT16                # sets of Codes
    HALF = 1 << <int>FLOAT16
    SINGLE = 1 << <int>FLOAT32
    INDICES = 1 << <int>INT64
    MASKS = 1 << <int>BOOL
    FLOATS = 1 << <int>FLOAT16 | 1 << <int>FLOAT32 | 1 << <int>FLOAT64
    FEW = (1 << <int>UINT16 | 1 << <int>UINT32 | 1 << <int>UINT64
           | 1 << <int>FLOAT8_E4M3FN | 1 << <int>FLOAT8_E5M2)

cdef enum:
    GRAIN = 32768                 # fewest elements per thread

cdef enum Mode:                   # what stands in the place of a tensor of a stored dtype
    ALIKE = 0                     # its memory, as a dtype of the same size
    WIDE = 1                      # a copy in float32
    PROBE = 2                     # zeros in float16
    WHOLE = 3                     # a copy in int64


cdef int _alike(int code) noexcept:
    """The Code of the same size that stands for a stored one."""
    if code == BFLOAT16:
        return FLOAT16
    if code == UINT16:
        return INT16
    if code == UINT32:
        return INT32
    return INT64 if code == UINT64 else INT8


cdef double in_brain(object number) except? -1:
    return v_from_brain(v_to_brain(<float><double>float(number)))


# ---- which dtypes there are ----

cdef int _codes_in(object items) noexcept:
    cdef int seen = 0
    for t in <tuple>items:
        if type(t) is Tensor:
            seen |= 1 << code_of[typenum(<Tensor>t)]
    return seen


cdef int _codes(Operator op, PyObject** args) noexcept:
    """The set of the tensors' Codes."""
    cdef int seen = 0
    cdef int i
    for i in range(op.n_tensors):
        if is_tensor(args[op.tensors[i]]):
            seen |= 1 << code_of[typenum(<Tensor>args[op.tensors[i]])]
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            seen |= _codes_in(<object>args[op.tensors[i]])
    if args[op.nargs] != NULL:
        if is_tensor(args[op.nargs]):
            seen |= 1 << code_of[typenum(<Tensor>args[op.nargs])]
        else:
            seen |= _codes_in(<object>args[op.nargs])
    return seen


cdef bint has_stored(Operator op, PyObject** args) noexcept:
    return _codes(op, args) & (BRAIN | FEW) != 0


# ---- the kernel ----

cdef object _run_stored(Operator op, keyset_t keys, PyObject** args):
    cdef int seen
    keys &= below(STORED)
    if not keys & BACKENDS:
        keys |= BIT_CPU
    if keys & BIT_PRIVATEUSE1:
        return redispatch(op, keys, args)
    seen = _codes(op, args)
    if seen & FEW:
        return _run_few(op, keys, args, seen)
    if op.entry.stored == "refused":
        raise errors.dtypes.not_implemented(op.name, dtype_from_code(BFLOAT16))
    if op.entry.stored == "loops":
        return redispatch(op, keys, args)
    return run_widened(op, keys, args)


cdef object _run_plain(Operator op, keyset_t keys, PyObject** args):
    """Of an operator that only computes new tensors from its tensors, each one an argument."""
    if _codes(op, args) != BRAIN or keys & (BACKENDS & ~<keyset_t>BIT_CPU) or (
            args[op.nargs] != NULL):
        return _run_stored(op, keys, args)
    keys = keys & below(STORED) | BIT_CPU
    try:
        return _widened(op, keys, args)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        _probe(op, keys, args)
        raise _renamed(error, "Float")


cdef object _run_served(Operator op, keyset_t keys, PyObject** args):
    """Of an operator whose kernel, or whose loops, take bfloat16, too."""
    if _codes(op, args) != BRAIN or keys & (BACKENDS & ~<keyset_t>BIT_CPU) or (
            args[op.nargs] != NULL):
        return _run_stored(op, keys, args)
    return redispatch(op, keys & below(STORED) | BIT_CPU, args)


cdef object _run_beside(Operator op, keyset_t keys, PyObject** args):
    """The same of an operator that takes parameters in float32, indices or a mask beside it."""
    cdef PyObject* first = args[op.tensors[0]]
    cdef int others = MASKS if op.names[op.nargs - 2] == "mask" else SINGLE | INDICES
    if not _codes(op, args) & ~(BRAIN | others) and args[op.nargs] == NULL and (
            is_tensor(first) and code_of[typenum(<Tensor>first)] == BFLOAT16) and not (
            keys & (BACKENDS & ~<keyset_t>BIT_CPU)):
        return redispatch(op, keys & below(STORED) | BIT_CPU, args)
    return _run_served(op, keys, args)


cdef bint _is_plain(Operator op) noexcept:
    """Whether it only computes new tensors from its tensors, each one an argument."""
    cdef int i
    for i in range(op.nargs):
        if op.kinds[i] == DTYPE_OPT or op.kinds[i] == TENSOR_LIST:
            return False
    return op.role == FUNCTIONAL and not op.entry.writes


cdef object run_otherwise(Operator op, keyset_t keys, PyObject** args):
    if has_stored(op, args):
        if _is_plain(op):
            return _run_plain(op, keys, args)
        return run_widened(op, keys, args)
    return run_general(op, keys, args)


cdef object _widened(Operator op, keyset_t keys, PyObject** args):
    """Run the kernel on copies in float32, and round what it gives."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef tuple copies = ()
    cdef int i, k, at
    for i in range(op.nargs + 1):
        values[i] = args[i]
    for i in range(op.n_tensors):
        at = op.tensors[i]
        for k in range(i):
            if args[op.tensors[k]] == args[at]:
                values[at] = values[op.tensors[k]]
        if values[at] == args[at] and is_tensor(args[at]):
            made = new_tensor(_in_code(storage(<Tensor>args[at]), FLOAT32), (<Tensor>args[at]).keys)
            copies += (made,)
            values[at] = <PyObject*>made
    return _rounded(op, redispatch(op, keys, values), None)


cdef str _where = "computed in another dtype"
cdef CKernel _STORED = CKernel.new(_run_stored, None, NULL, _where)
cdef CKernel _PLAIN = CKernel.new(_run_plain, None, NULL, _where)
cdef str _in_blocks = "in blocks, computed in another dtype"
cdef CKernel _SERVED = CKernel.new(_run_served, None, NULL, _in_blocks)
cdef CKernel _BESIDE = CKernel.new(_run_beside, None, NULL, _in_blocks)


def stored_kernel(Operator op not None):
    """The kernel of an operator for tensors of these dtypes."""
    if op.entry.stored in ("served", "loops") and op.role == FUNCTIONAL:
        return _SERVED
    if op.entry.stored == "beside" and op.role == FUNCTIONAL:
        return _BESIDE
    if op.entry.stored != "widened" or not _is_plain(op):
        return _STORED
    return _PLAIN


cdef object _run_few(Operator op, keyset_t keys, PyObject** args, int seen):
    """Of dtypes that few operators take."""
    cdef int few = seen & FEW
    cdef int code = 0
    cdef bint takes
    cdef Mode mode
    while not few >> code & 1:
        code += 1
    takes = dtype_from_code(code).name in op.entry.takes
    if op.entry.stored == "loops" and (takes or code <= UINT64 and seen & (FLOATS | BRAIN)):
        return redispatch(op, keys, args)         # in float32, or in loops of its own
    if takes and few == 1 << code and not seen & (FLOATS | BRAIN) and _one_dtype(op, args):
        mode = Mode.WHOLE if code <= UINT64 else Mode.WIDE
        return _stand(
            op, keys, args, Mode.ALIKE if op.entry.stored == "moves" else mode, seen, None)
    raise errors.dtypes.not_implemented(op.name.strip("_"), dtype_from_code(code))


cdef bint _one_dtype(Operator op, PyObject** args) noexcept:
    """Whether all tensors but indices and masks are of one dtype."""
    cdef int i
    cdef int seen = 0
    for i in range(op.n_tensors):
        if op.names[op.tensors[i]] in ("index", "indices", "mask"):
            continue
        if is_tensor(args[op.tensors[i]]):
            seen |= 1 << code_of[typenum(<Tensor>args[op.tensors[i]])]
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            seen |= _codes_in(<object>args[op.tensors[i]])
    if args[op.nargs] != NULL and is_tensor(args[op.nargs]):
        seen |= 1 << code_of[typenum(<Tensor>args[op.nargs])]
    return seen & (seen - 1) == 0


cdef object _without_loops(Operator op, keyset_t keys, PyObject** args, int seen):
    """Of integers without a sign, for which a ufunc has no loops of their own."""
    cdef int few = seen & FEW
    cdef int code = 0
    cdef int i
    cdef bint numbers = False
    while not few >> code & 1:
        code += 1
    if few == 1 << code and not seen & (FLOATS | BRAIN) and (
            dtype_from_code(code).name in op.entry.takes):
        for i in range(op.n_tensors):
            numbers = numbers or not is_tensor(args[op.tensors[i]])
        if not numbers:
            return _stand(op, keys, args, Mode.ALIKE, seen, None)
        if code != UINT64:
            result = _stand(op, keys, args, Mode.WHOLE, seen, None)
            if type(result) is Tensor and typenum(<Tensor>result) == cnp.NPY_BOOL:
                return result     # a comparison
    raise errors.dtypes.not_implemented(op.name.strip("_"), dtype_from_code(code))


cdef object run_widened(Operator op, keyset_t keys, PyObject** args):
    cdef int seen = _codes(op, args)
    cdef str how = op.entry.stored
    cdef list found = None
    cdef int before
    if seen & FEW:
        return _without_loops(op, keys, args, seen)
    if not seen & BRAIN:          # integers, whose float dtype is bfloat16 by default
        before = default_code()
        set_default_code(FLOAT32)
        try:
            return _rounded(op, redispatch(op, keys, args), None)
        finally:
            set_default_code(before)
    if keys & BIT_META and seen & HALF:
        raise errors.dtypes.not_implemented(op.name.strip("_"), dtype_from_code(BFLOAT16))
    if keys & BIT_META or (how == "moves" and not seen & FLOATS and _one_dtype(op, args)):
        return _stand(op, keys, args, Mode.ALIKE, seen, None)
    if (how == "probed" or how == "loops" or seen & FLOATS) and not seen & HALF:
        found = _probe(op, keys, args)
    try:
        return _stand(op, keys, args, Mode.WIDE, seen, found)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        if found is None and not seen & HALF:
            _probe(op, keys, args)
        raise _renamed(error, "Float")


# ---- what stands in the place of what ----

cdef class _Pair:
    # One tensor of a stored dtype.
    cdef Tensor own
    cdef ndarray array            # of `other`, before the kernel ran; dropped before it, so that
    cdef Tensor other             # what the kernel is given dies as its array's sole owner


cdef ndarray _at(ndarray like, int code, npy_intp shift, ndarray memory):
    """An array of another Code in other memory, its elements in the same places."""
    cdef npy_intp dims[64]
    cdef npy_intp strides[64]
    cdef npy_intp own = cnp.PyArray_ITEMSIZE(like)
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(memory)
    cdef int i
    for i in range(like.ndim):
        dims[i] = like.shape[i]
        strides[i] = like.strides[i] // own * item
    return array_view(memory, like.ndim, dims, strides, <char*>cnp.PyArray_DATA(memory) + (
        shift // own * item))


cdef ndarray _beside(ndarray array, int code):
    """A new array of another Code with the same strides, in elements; values undefined."""
    cdef npy_intp n = 1
    cdef npy_intp own = cnp.PyArray_ITEMSIZE(array)
    cdef int i
    if cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_SIZE(array):
        return empty(typenum_of[code], array.ndim, array.shape)
    for i in range(array.ndim):
        if array.shape[i] == 0:
            n = 0
            break
        n += (array.shape[i] - 1) * (array.strides[i] // own)
    return _at(array, code, 0, empty(typenum_of[code], 1, &n))


cdef ndarray _elements(Tensor t):
    """The array of a result, which is not sparse."""
    if t.keys & BIT_SPARSE:
        raise errors.sparse.stored_dtype(dtype_from_code(BFLOAT16))
    return storage(t)


cdef struct Halves:               # bfloat16 to float32, or back
    char* source
    char* to


cdef void _widen(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Halves* h = <Halves*>context
    from_brain(<float*>h.to + begin, h.source + 2 * begin, 2, end - begin)


cdef void _narrow(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Halves* h = <Halves*>context
    to_brain(h.to + 2 * begin, <float*>h.source + begin, 2, end - begin)


cdef ndarray _in_code(ndarray array, int code):
    """A copy in another Code with the same strides."""
    cdef ndarray copy = _beside(array, code)
    cdef Halves halves
    cdef int own = code_of[cnp.PyArray_TYPE(array)]
    cdef npy_intp n = cnp.PyArray_SIZE(array)
    cdef Thread* thread
    if cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_IS_C_CONTIGUOUS(copy) and (
            (own == BFLOAT16 and code == FLOAT32) or (own == FLOAT32 and code == BFLOAT16)):
        halves.source, halves.to = <char*>cnp.PyArray_DATA(array), <char*>cnp.PyArray_DATA(copy)
        thread = give_up_gil(n)
        parallel_for(n, GRAIN, _widen if own == BFLOAT16 else _narrow, &halves)
        take_gil(thread)
        return copy
    convert_into(copy, array)
    return copy


cdef Tensor _stand_in(list pairs, Tensor t, Mode mode, ndarray shared, PyObject* memory):
    """What the kernel is given for a tensor. `memory`: that is written to, `shared`: as float32."""
    cdef int code = code_of[typenum(t)]
    cdef _Pair pair
    cdef ndarray array = storage(t)
    if not is_stored(code):
        return t
    for pair in pairs:
        if pair.own is t:
            return pair.other
    pair = _Pair.__new__(_Pair)
    pair.own = t
    if mode == Mode.ALIKE:
        pair.other = view_of(
            t, typenum_of[_alike(code)], array.ndim, array.shape, array.strides,
            <char*>cnp.PyArray_DATA(array))
    else:
        if mode == Mode.PROBE:
            made = _beside(array, FLOAT16)
            cnp.PyArray_FillWithScalar(made, 0)
        elif shared is not None and root(t.array) == memory:
            made = _at(array, FLOAT32, <char*>cnp.PyArray_DATA(array) - (
                <char*>cnp.PyArray_DATA(<ndarray>memory)), shared)
        else:
            made = _in_code(array, INT64 if mode == Mode.WHOLE else FLOAT32)
        if not cnp.PyArray_ISWRITEABLE(array):
            cnp.PyArray_CLEARFLAGS(made, cnp.NPY_ARRAY_WRITEABLE)
        pair.other = new_tensor(made, t.keys)
    pair.array = storage(pair.other)
    pairs.append(pair)
    return pair.other


cdef tuple _stand_ins(list pairs, tuple tensors, Mode mode, ndarray shared, PyObject* memory):
    return tuple([
        _stand_in(pairs, t, mode, shared, memory) if type(t) is Tensor else t for t in tensors])


cdef int _replace(Operator op, PyObject** args, PyObject** values, list pairs, list keep,
                  Mode mode, ndarray shared, PyObject* memory) except -1:
    """Fill in the arguments that the kernel is given."""
    cdef int i, at
    for i in range(op.nargs + 1):
        values[i] = args[i]
    for i in range(op.n_tensors + 1):
        at = op.tensors[i] if i < op.n_tensors else op.nargs
        if args[at] == NULL:
            continue
        if is_tensor(args[at]):
            made = _stand_in(pairs, <Tensor>args[at], mode, shared, memory)
        elif isinstance(<object>args[at], tuple) and (
                at == op.nargs or op.kinds[at] == TENSOR_LIST):
            made = _stand_ins(pairs, <tuple>args[at], mode, shared, memory)
        else:
            continue
        keep.append(made)
        values[at] = <PyObject*>made
    return 0


cdef ndarray _shared_memory(Operator op, PyObject** args):
    """All of the memory that is written to, as float32, if an operand lies there, too."""
    cdef PyObject* target = args[op.nargs] if args[op.nargs] != NULL else args[0]
    cdef ndarray memory
    cdef npy_intp n
    cdef npy_intp step = 2
    cdef int i
    cdef bint shares = False
    if (op.role != OUT and op.role != INPLACE) or not is_tensor(target) or (
            code_of[typenum(<Tensor>target)] != BFLOAT16):
        return None
    memory = <ndarray>root((<Tensor>target).array)
    for i in range(op.n_tensors):
        if args[op.tensors[i]] != target and is_tensor(args[op.tensors[i]]) and (
                root((<Tensor>args[op.tensors[i]]).array) == <PyObject*>memory):
            shares = True
    if not shares or not cnp.PyArray_IS_C_CONTIGUOUS(memory):
        return None
    n = cnp.PyArray_NBYTES(memory) // step
    words = array_view(
        storage(<Tensor>target), 1, &n, &step, <char*>cnp.PyArray_DATA(memory))
    return _in_code(words, FLOAT32)


cdef object _stand(Operator op, keyset_t keys, PyObject** args, Mode mode, int seen, list found):
    """Run the kernel on stand-ins. `found`: the Codes of results by a probe."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef list pairs = []
    cdef list keep = []
    cdef ndarray shared = _shared_memory(op, args) if mode == Mode.WIDE else None
    cdef PyObject* target = args[op.nargs] if args[op.nargs] != NULL else args[0]
    cdef _Pair pair
    # Beside float16 the common dtype is float32, and that of a factory is the default one.
    cdef bint rounds = mode == Mode.WIDE and not seen & HALF and op.role != FACTORY
    cdef int i
    _replace(op, args, values, pairs, keep, mode, shared,
             NULL if shared is None else root((<Tensor>target).array))
    for i in range(op.nargs):
        if op.kinds[i] == DTYPE_OPT and args[i] != <PyObject*>None:
            rounds = (<dtype>args[i]).code == BFLOAT16
            if op.role == INPLACE and (<dtype>args[i]).code != code_of[typenum(<Tensor>args[0])]:
                raise errors.out.inplace_dtype(
                    c_name(dtype_from_code(code_of[typenum(<Tensor>args[0])])),
                    c_name(<object>args[i]))
            if rounds:
                made = dtype_from_code(FLOAT16 if mode == Mode.ALIKE else FLOAT32)
                keep.append(made)
                values[i] = <PyObject*>made
    try:
        result = redispatch(op, keys, values)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        if mode != Mode.ALIKE:
            raise
        raise _renamed(error, "Half" if seen & BRAIN else "")
    for pair in pairs:
        if storage(pair.other) is not pair.array:
            replace_array(pair.own, _back(pair, mode))
        elif mode == Mode.WIDE and _written(op, args, pair.own):
            convert_into(storage(pair.own), pair.array)
    if mode == Mode.ALIKE:
        return _retagged(op, result, pairs, seen)
    return _rounded(op, result, pairs, rounds, found)


cdef ndarray _back(_Pair pair, Mode mode):
    """The new array of a tensor whose stand-in got another."""
    cdef ndarray array = storage(pair.other)
    cdef int code = code_of[typenum(pair.own)]
    if mode == Mode.WIDE:
        return _in_code(array, code)
    return (<object>array).view(dtype_from_code(code).numpy)


cdef bint _written(Operator op, PyObject** args, Tensor t):
    """Whether the operator may have written to the tensor."""
    cdef int i
    if args[op.nargs] != NULL:
        if args[op.nargs] == <PyObject*>t:
            return True
        if isinstance(<object>args[op.nargs], tuple):
            for other in <tuple>args[op.nargs]:
                if other is t:
                    return True
    if op.role == INPLACE and args[0] == <PyObject*>t:
        return True
    for i in range(op.n_tensors):
        if args[op.tensors[i]] == <PyObject*>t and op.names[op.tensors[i]] in op.entry.writes:
            return True
    return False


# ---- results ----

cdef object _rounded(Operator op, object result, list pairs, bint rounds=True, list found=None):
    """Results in float32, as bfloat16; those of stand-ins, as what they stand for."""
    cdef _Pair pair
    cdef Py_ssize_t i
    if type(result) is Tensor:
        if pairs is not None:
            for pair in pairs:
                if pair.other is result:
                    return pair.own
        if code_of[typenum(<Tensor>result)] == FLOAT32 and (
                rounds if found is None else found[0] == FLOAT16):
            return wrap(_in_code(_elements(<Tensor>result), BFLOAT16))
        if code_of[typenum(<Tensor>result)] == FLOAT32 and found is not None and (
                found[0] == FLOAT64):
            return wrap(_in_code(_elements(<Tensor>result), FLOAT64))
        return result
    if not isinstance(result, (tuple, list)):
        return result
    items = [
        _rounded(op, item, pairs, rounds, None if found is None else [found[i]])
        for i, item in enumerate(result)]
    return _as_before(op, result, items)


cdef object _as_before(Operator op, object result, list items):
    if type(result) is list:
        return items
    return tuple(items) if type(result) is tuple else op.result_type(tuple(items))


cdef object _retagged(Operator op, object result, list pairs, int seen):
    """Results of a dtype of the same size, as the one that it stood for."""
    cdef _Pair pair
    cdef int own = BFLOAT16
    if type(result) is Tensor:
        for pair in pairs:
            own = code_of[typenum(pair.own)]
            if pair.other is result:
                return pair.own
        if code_of[typenum(<Tensor>result)] == _alike(own):
            _retag(_elements(<Tensor>result), own)
            (<Tensor>result).keys |= BIT_STORED
        return result
    if not isinstance(result, (tuple, list)):
        return result
    return _as_before(op, result, [_retagged(op, item, pairs, seen) for item in result])


cdef int _retag(ndarray array, int code) except -1:
    """Make a new array, and the one whose memory it alone has, one of another dtype."""
    cdef PyObject* before = <PyObject*>fields(<PyObject*>array).descr
    cdef PyObject* base = fields(<PyObject*>array).base
    fields(<PyObject*>array).descr = <Descr*>new_descr(typenum_of[code])
    Py_XDECREF(before)
    if base != NULL and type(<object>base) is ndarray and (
            cnp.PyArray_ITEMSIZE(<ndarray>base) == cnp.PyArray_ITEMSIZE(array)):
        _retag(<ndarray>base, code)
    return 0


# ---- what float16 would give ----

cdef double _MOST_OF_HALF = 65504
cdef double _MOST_OF_BRAIN = (2 - 2.0**-7) * 2.0**127


cdef object _within_half(object number):
    """What stands for a number that bfloat16 can hold, and float16 cannot; else None."""
    if type(number) is not float and type(number) is not int:
        return None
    if not _MOST_OF_HALF < abs(number) <= _MOST_OF_BRAIN:
        return None
    return type(number)(_MOST_OF_HALF if number > 0 else -_MOST_OF_HALF)


cdef list _probe(Operator op, keyset_t keys, PyObject** args):
    """The Codes of the results where float16 stands for bfloat16; raises what that raises."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef list pairs = []
    cdef list keep = []
    cdef bint before
    cdef int i
    for i in range(op.nargs):
        if op.kinds[i] == GENERATOR_OPT:      # random numbers are drawn once
            return None
    _replace(op, args, values, pairs, keep, Mode.PROBE, None, NULL)
    for i in range(op.nargs):
        if op.kinds[i] == DTYPE_OPT and args[i] != <PyObject*>None and (
                (<dtype>args[i]).code == BFLOAT16):
            keep.append(dtype_from_code(FLOAT16))
            values[i] = <PyObject*>keep[len(keep) - 1]
        elif args[i] != NULL and (
                op.kinds[i] == OPERAND or op.kinds[i] == SCALAR or op.kinds[i] == SCALAR_OPT):
            made = _within_half(<object>args[i])
            if made is not None:
                keep.append(made)
                values[i] = <PyObject*>made
    for i in (0, op.nargs):       # what is written to
        if values[i] != NULL and values[i] == args[i] and is_tensor(values[i]) and (
                op.role == INPLACE or i):
            made = new_tensor(_in_code(storage(<Tensor>args[i]), code_of[
                typenum(<Tensor>args[i])]), (<Tensor>args[i]).keys)
            keep.append(made)
            values[i] = <PyObject*>made
    if op.role == INPLACE and args[op.nargs] == args[0]:
        values[op.nargs] = values[0]
    # Loops that are left out raise nothing.
    before = set_skipping(op.entry.stored == "loops" or skipping())
    try:
        result = redispatch(op, keys, values)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise _renamed(error, "Half")
    finally:
        set_skipping(before)
    if type(result) is Tensor:
        return [code_of[typenum(<Tensor>result)]]
    if isinstance(result, (tuple, list)):
        return [code_of[typenum(<Tensor>t)] if type(t) is Tensor else NO_DTYPE for t in result]
    return [NO_DTYPE]


cdef object _renamed(error, str word):
    """The error, with the name of bfloat16 in place of the dtype's that stood for it."""
    if not word or len(error.args) != 1 or type(error.args[0]) is not str:
        return error
    text = re.sub(rf"(?<!Complex){word}(?=\b|Tensor)", "BFloat16", error.args[0])
    if word == "Float":           # its C++ type, where that is named
        text = re.sub(r"(?<=got: )float\b|(?<=!= )float\b", "c10::BFloat16", text)
    if word == "Half":
        text = re.sub(r"\bfloat16\b", "bfloat16", text)
    if text == error.args[0]:
        return error
    made = type(error)(text)
    return made.with_traceback(error.__traceback__)


# ---- factories, and what computes in a dtype that is given ----

cdef object _dtype_first(Operator op, keyset_t keys, PyObject** args):
    """Look at the argument `dtype` before the kernel does."""
    cdef CKernel kernel = <CKernel>op.kernels[highest_key(keys)]
    cdef int at = 0
    cdef int code = NO_DTYPE
    while op.kinds[at] != DTYPE_OPT:
        at += 1
    if args[at] != <PyObject*>None:
        code = (<dtype>args[at]).code
    elif op.n_tensors == 0:
        code = default_code()
    if not is_stored(code):
        return run_inner(kernel, kernel.inner, op, keys, args)
    return _in_stored(op, kernel, keys, args, at, code)


cdef object _in_stored(Operator op, CKernel kernel, keyset_t keys, PyObject** args, int at,
                       int code):
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int before = default_code()
    cdef int i
    cdef int wide = FLOAT32 if code >= FLOAT8_E4M3FN else INT64
    cdef Tensor made
    for i in range(op.nargs + 1):
        values[i] = args[i]
    if code != BFLOAT16 and dtype_from_code(code).name not in op.entry.takes:
        raise errors.dtypes.not_implemented(op.name.strip("_"), dtype_from_code(code))
    if op.device_arg < 0:         # the operand is converted first
        if op.role == INPLACE and code_of[typenum(<Tensor>args[0])] != code:
            raise errors.out.inplace_dtype(
                c_name(dtype_from_code(code_of[typenum(<Tensor>args[0])])),
                c_name(dtype_from_code(code)))
        if UINT16 <= code <= UINT64:
            raise errors.dtypes.not_implemented(op.name.strip("_"), dtype_from_code(code))
        if code_of[typenum(<Tensor>args[0])] != code:
            operand = wrap(_in_code(storage(<Tensor>args[0]), code))
            values[0] = <PyObject*>operand
        values[at] = <PyObject*>None
        return run_widened(op, keys, values)
    if args[at] == <PyObject*>None:
        set_default_code(FLOAT32)
    else:
        given = dtype_from_code(wide)
        values[at] = <PyObject*>given
    try:
        made = run_inner(kernel, kernel.inner, op, keys, values)
    finally:
        set_default_code(before)
    if code_of[typenum(made)] != wide:        # a default that did not count
        return made
    return wrap(_in_code(_elements(made), code))


DTYPE_FIRST = CKernel.new(_dtype_first)
