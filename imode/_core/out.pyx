"""What the tensor of out= may be, and how results get into it: decided here for all operators.

An entry whose out= is not like the others says so in the words of `Out`. Mistakes are found in
PyTorch's order. Of a pointwise operator (`_core/loops`): elements of out= that share memory, memory
that it shares with an operand, shapes that do not broadcast, then dtypes. Of all others:

1. that the call would be recorded (autograd's kernel, before this one),
2. what `arguments` refuses,
3. where the entry has a `shape` or a dtype that is known beforehand: what `shape` finds wrong with
   the arguments, the dtype, the memory;
4. what the kernel finds wrong with the arguments,
5. the dtype of each result, then the memory of each, as it will be once it is resized.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.allocator cimport root
from imode._core.dispatch cimport (
    DTYPE_OPT, MAX_ARGS, OUT, TENSOR_LIST, CKernel, Operator, call2, operator, tls)
from imode._core.dtype cimport (
    INT64, code_from_object, code_of, dtype_from_code, is_complex, is_integral)
from imode._core.dtype cimport dtype as Dtype
from imode._core.elsewhere cimport run_inner
from imode._core.keyset cimport BIT_AUTOGRAD, highest_key, keyset_t
from imode._core.making cimport replace_array
from imode._core.moving cimport convert_into
from imode._core.overlap cimport refuse_self_overlap
from imode._core.promotion cimport casts
from imode._core.tensor cimport Tensor, is_tensor, requires_grad, storage
from numpy cimport ndarray, npy_intp

import numpy as np

from imode._core.overlap import refuse_partial, refuse_shared
from imode._core.type_names import c_name, scalar_name, tensor_type
from imode._core.user_frames import warn
from imode import errors

cnp.import_array()

cdef dict _DTYPES = {"cast": CAST, "same": SAME, "self": SELF, "floating": FLOATING, "own": OWN}
cdef dict _ORDERS = {"result": RESULT, "rows": ROWS, "complex rows": COMPLEX_ROWS,
                     "integer rows": INTEGER_ROWS}
cdef dict _SHARES = {"any": (ANY, ANY), "part": (WHOLE, ANY), "rest": (WHOLE, NOTHING),
                     "first": (NOTHING, WHOLE), "all": (NOTHING, NOTHING)}


@cython.final
@cython.binding(False)
cdef class Out:
    """What an operator's out= may be, in words; what is not said is the first of each.

    `dtype`: "cast", any that the result can be cast to; "same", the result's; "floating", of
    floating point or complex numbers. Looked at before anything is computed: "self", that of the
    first argument; names of dtypes, one of these; a function of the arguments that gives it. "own":
    the operator computes in it, if its argument `dtype` does not say another.
    `says`: the sentence that refuses another one, with the names {Wanted} and {Found} (Float), or
    {wanted} and {found} (float), or {wanted_tensor} and {found_tensor} (torch.FloatTensor); a tuple
    of them where there are several results; a function of both dtypes.
    `layout`: how one that is resized lies: as the "result"; in "rows"; in "complex rows", where
    complex numbers give real ones; in "integer rows", where integers are computed.
    `overlap`: which memory it may not share: of a pointwise operator a part of an operand's, else
    none; "any", it may share any; "part", a part of the first argument's; "rest", likewise, and any
    of the others'; "first", any of the first one's and a part of the others'; "all", any of any.
    `shape`: a function of the arguments, tensors being ndarrays. It raises what is wrong with them
    before out= is looked at, and gives the result's shape, or None: as out= lies it may share
    nothing where it may not share any, and a part is looked at when it is written to.
    `arguments`: a function of out= and the arguments, for what PyTorch's out= form does otherwise
    than the operator: it raises, or gives arguments in their places, or None.
    `into`: a function of the arguments and out=, where it is no form of the operator at all.
    `name`: the operator that refuses to be recorded, if another, as PyTorch has it.

    A composite operator whose function has an argument `out` hands it on, and the operator that it
    ends in says the rest.
    """

    def __init__(self, dtype="cast", says=None, *, layout="result", overlap=None, shape=None,
                 arguments=None, into=None, name=None):
        self.dtype, self.says, self.shape = dtype, says, shape
        self.arguments, self.into, self.name = arguments, into, name
        self.takes = ASKED if callable(dtype) else _DTYPES.get(dtype, NAMED)
        self.order = _ORDERS[layout]
        self.first, self.others = _SHARES[overlap or "any"]
        self.free = overlap == "any"
        if self.takes == NAMED:
            self.dtype = tuple([np.dtype(name) for name in dtype.split()])

    def kernel(self, CKernel plain not None):
        """The kernel of the out= form: `plain`, after what has to be looked at before it runs."""
        late = self.arguments is None and self.shape is None and self.takes in (CAST, SAME)
        return plain if late else plain.after(_BEFORE)

    def refuse(self, Dtype wanted not None, Dtype found not None, int place=0):
        """Raise RuntimeError where a result of one dtype does not go into another."""
        _refuse(self, wanted.code, found.code, place)

    def write(self, Tensor result not None, Tensor out not None, str name not None,
              bint quiet=False):
        """Copy a composite operator's result, a tensor, into its out= tensor, resized to fit.

        quiet: without the warning that resizing it is no good habit.
        """
        cdef ndarray array = storage(result)
        cdef ndarray target = storage(out)
        if recorded((out, result)):
            raise errors.out.requires_grad(name)
        _refuse(self, code_of[cnp.PyArray_TYPE(array)], code_of[cnp.PyArray_TYPE(target)], 0)
        if not quiet and cnp.PyArray_SIZE(target) and not cnp.PyArray_SAMESHAPE(array, target):
            message = errors.out.resized(_sizes(target), _sizes(array))
            warn(message)
        made = (<object>result).contiguous() if self.order == ROWS else <object>result
        return call2(operator("_assign_"), out, made.detach())


cdef Out _PLAIN = Out()


def recorded(arguments):
    """Whether autograd records a call with these arguments."""
    if tls().no_grad or tls().excluded & BIT_AUTOGRAD:
        return False
    for argument in arguments:
        for t in argument if isinstance(argument, (list, tuple)) else (argument,):
            if type(t) is Tensor and requires_grad(<Tensor>t):
                return True
    return False


def composite_out(function, entry, str name not None):
    """The out= form of a composite operator that does not hand it on: the result, copied."""
    def into(*arguments):
        cdef Out accepts = entry.out
        *given, out = arguments
        if out is None:           # the operator of the out= form, called by its own name
            raise errors.out.missing(name)
        if recorded(arguments):
            raise errors.out.requires_grad(accepts.name or name, name)
        result = function(*given)
        if not isinstance(result, tuple):
            _refuse_memory_of(accepts, given, out, result)
            return accepts.write(result, out, name)
        pairs = zip(result, out, strict=True)
        return type(result)([accepts.write(r, o, name) for r, o in pairs])

    return into


# ---- before the kernel ----

cdef object _before(Operator op, keyset_t keys, PyObject** args):
    cdef Out accepts = <Out>op.accepts
    cdef CKernel kernel = <CKernel>op.kernels[highest_key(keys)]
    cdef PyObject* values[MAX_ARGS + 1]
    cdef object target = <object>args[op.nargs]
    cdef object given = None      # and what keeps it alive
    cdef ndarray array
    cdef int i
    cdef list read
    for i in range(op.nargs + 1):
        values[i] = args[i]
    if accepts.arguments is not None:
        given = accepts.arguments(target, *[<object>args[i] for i in range(op.nargs)])
        if given is not None:
            for i in range(op.nargs):
                values[i] = PyTuple_GET_ITEM(given, i)
    if accepts.takes == OWN:
        _compute_in(op, values, <Tensor>target)
    elif accepts.takes == FLOATING:
        array = storage(<Tensor>target)
        if is_integral(code_of[cnp.PyArray_TYPE(array)]):
            _raise_dtype(accepts, INT64, code_of[cnp.PyArray_TYPE(array)], 0)
    elif accepts.shape is None and accepts.takes != ASKED:
        if accepts.takes != SAME and accepts.takes != CAST:
            _check_early(accepts, values, None, storage(<Tensor>target))
    else:
        read = [_over_arrays(<object>values[i]) for i in range(op.nargs)]
        shape = None if accepts.shape is None else accepts.shape(*read)
        for t in (target,) if type(target) is Tensor else <tuple>target:
            array = storage(<Tensor>t)
            _check_early(accepts, values, read, array)
            if accepts.shape is not None:
                _refuse_memory(op, values, array, array if shape is None else _of_shape(
                    array, shape), shape is not None)
    return run_inner(kernel, kernel.inner, op, keys, values)


cdef CKernel _BEFORE = CKernel.new(_before)


cdef int _check_early(Out accepts, PyObject** args, list read, ndarray target) except -1:
    """The dtype of out=, where the result's is known before anything is computed."""
    cdef int found = code_of[cnp.PyArray_TYPE(target)]
    cdef int wanted = found
    if accepts.takes == SELF:
        wanted = code_of[cnp.PyArray_TYPE(storage(<Tensor>args[0]))]
    elif accepts.takes == NAMED:
        if target.dtype not in accepts.dtype:
            wanted = code_from_object(accepts.dtype[0])
    elif accepts.takes == ASKED:
        wanted = code_from_object(accepts.dtype(*read))
    return 0 if wanted == found else _raise_dtype(accepts, wanted, found, 0)


cdef int _compute_in(Operator op, PyObject** args, Tensor target) except -1:
    """Make out's dtype the one that is computed in; one that is stated must be it."""
    cdef int found = code_of[cnp.PyArray_TYPE(storage(target))]
    cdef int own = code_of[cnp.PyArray_TYPE(storage(<Tensor>args[0]))]
    cdef int at = op.nargs - 1
    cdef Dtype computed = dtype_from_code(found)     # which lives for ever
    while op.kinds[at] != DTYPE_OPT:
        at -= 1
    if args[at] != <PyObject*>None:
        if (<Dtype>args[at]).code != found:
            _raise_dtype(<Out>op.accepts, (<Dtype>args[at]).code, found, 0)
    elif found != (INT64 if is_integral(own) else own):
        args[at] = <PyObject*>computed
    return 0


cdef object _over_arrays(object argument):
    """An argument as functions over ndarrays have it."""
    if type(argument) is Tensor:
        return storage(<Tensor>argument)
    if type(argument) is tuple and argument and type((<tuple>argument)[0]) is Tensor:
        return [storage(<Tensor>t) for t in <tuple>argument]
    return argument


# ---- dtypes ----

cdef int check_dtype(Operator op, Tensor target, int code, bint halves=False, int place=0,
                     bint exact=True) except -1:
    cdef int found = code_of[cnp.PyArray_TYPE(storage(target))]
    if found == code:
        return 0
    return _refuse(<Out>op.accepts if op.role == OUT else _PLAIN, code, found, place, halves, exact)


cdef int _refuse(Out accepts, int wanted, int found, int place, bint halves=False,
                 bint exact=True) except -1:
    if wanted == found or accepts.takes == NAMED:
        return 0
    if exact and accepts.takes in (SAME, SELF, ASKED):
        return _raise_dtype(accepts, wanted, found, place)
    if casts(wanted, found):
        return 0
    if accepts.takes == CAST and accepts.says is not None:
        return _raise_dtype(accepts, wanted, found, place)
    raise errors.dtypes.cannot_cast(
        "ComplexHalf" if halves else scalar_name(dtype_from_code(wanted)),
        scalar_name(dtype_from_code(found)))


cdef int _raise_dtype(Out accepts, int wanted, int found, int place) except -1:
    says = accepts.says or errors.out.EXPECTED
    if type(says) is tuple:
        says = (<tuple>says)[place]
    first, second = dtype_from_code(wanted), dtype_from_code(found)
    if callable(says):
        raise RuntimeError(says(first, second))
    raise RuntimeError(says.format(
        Wanted=scalar_name(first), Found=scalar_name(second),
        wanted=c_name(first), found=c_name(second),
        wanted_tensor=tensor_type(first), found_tensor=tensor_type(second)))


# ---- memory ----

cdef ndarray _of_shape(ndarray target, object shape, ndarray result=None):
    """The target in the shape of the result, for its range alone: its memory may end before."""
    cdef npy_intp[64] dims
    cdef npy_intp[64] strides
    cdef npy_intp step = cnp.PyArray_ITEMSIZE(target)
    cdef int i, nd = len(shape)
    if (<object>target).shape == tuple(shape):
        return target
    for i in reversed(range(nd)):
        dims[i], strides[i] = shape[i], step
        step *= dims[i]
    if result is not None:
        for i in range(nd):
            strides[i] = result.strides[i] // cnp.PyArray_ITEMSIZE(result) * (
                cnp.PyArray_ITEMSIZE(target))
    return cnp.PyArray_New(
        ndarray, nd, dims, cnp.PyArray_TYPE(target), strides, cnp.PyArray_DATA(target), 0, 0, None)


cdef int _refuse_memory(Operator op, PyObject** args, ndarray target, ndarray fitted,
                        bint parts=True) except -1:
    """Memory that out= may not share, in itself or with the arguments; `fitted`: as it will be."""
    cdef Out accepts = <Out>op.accepts
    cdef PyObject* arg
    cdef int i, how
    if fitted is target:          # no elements share memory in one that is resized
        refuse_self_overlap(target)
    for i in range(op.n_tensors):
        how = accepts.first if op.tensors[i] == 0 else accepts.others
        arg = args[op.tensors[i]]
        if how == ANY or how == WHOLE and not parts:
            continue
        if is_tensor(arg):
            _refuse_shared(how, target, fitted, storage(<Tensor>arg))
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            for t in <tuple>arg:
                if t is not None:
                    _refuse_shared(how, target, fitted, storage(<Tensor>t))
    return 0


cdef int _refuse_memory_of(Out accepts, list given, Tensor out, Tensor result) except -1:
    """The same of a composite operator, once its result is known."""
    cdef ndarray target = storage(out)
    cdef ndarray fitted
    if accepts.first or accepts.others:
        fitted = _of_shape(target, (<object>storage(result)).shape)
        for i, t in enumerate(given):
            if type(t) is Tensor and (accepts.others if i else accepts.first):
                _refuse_shared(accepts.others if i else accepts.first, target, fitted,
                               storage(<Tensor>t))
    return 0


cdef int _refuse_shared(int how, ndarray target, ndarray fitted, ndarray read) except -1:
    if fitted is not target and root(<PyObject*>target) != root(<PyObject*>read):
        return 0                  # it may reach beyond its memory, and gets another then
    if how == NOTHING:
        refuse_shared(fitted, read)
    elif read.ndim >= fitted.ndim:         # one that is expanded may lie anywhere
        refuse_partial(fitted, read)
    return 0


cdef int check_writeable(Operator op, Tensor target) except -1:
    if not cnp.PyArray_ISWRITEABLE(storage(target)):
        raise errors.views.read_only(op.name)
    return 0


# ---- delivery ----

cdef object deliver_into(Operator op, object result, object target, PyObject** args):
    cdef ndarray array
    if isinstance(target, Tensor):
        if isinstance(result, tuple):
            raise TypeError(f"{op.name}(): expected a tuple of {len(result)} out tensors, got one")
        array = np.asarray(result)
        if op.role != OUT:            # the shape before the dtype, unless it may change
            refuse_self_overlap(storage(<Tensor>target))
            fit_target(op, <Tensor>target, array.ndim, array.shape, False)
        check_dtype(op, <Tensor>target, code_of[cnp.PyArray_TYPE(array)])
        _deliver_one(op, <Tensor>target, array, args)
        return target
    arrays = [np.asarray(item) for item in result]
    if len(target) != len(arrays):
        raise TypeError(f"{op.name}() expected a tuple of {len(arrays)} elements but got "
                        f"{len(target)}")
    for place, (item, array) in enumerate(zip(target, arrays)):
        check_dtype(op, item, code_of[cnp.PyArray_TYPE(array)], False, place)
    for item, array in zip(target, arrays):
        _deliver_one(op, item, array, args)
    return target if op.result_type is None else op.result_type(target)


cdef int _deliver_one(Operator op, Tensor target, ndarray result, PyObject** args) except -1:
    """Fit the target; one that had to be resized takes over the order of the result's strides."""
    cdef ndarray before = storage(target)
    cdef bint same = cnp.PyArray_SAMESHAPE(before, result)
    cdef Out accepts = <Out>op.accepts
    if op.role == OUT and (accepts.first or accepts.others):
        _refuse_memory(op, args, before, before if same else _of_shape(
            before, (<object>result).shape, result))
    elif same:
        refuse_self_overlap(before)
    check_writeable(op, target)
    if not same:
        fit_target(op, target, result.ndim, result.shape, op.role == OUT)
        if not (cnp.PyArray_IS_C_CONTIGUOUS(result) or cnp.PyArray_SIZE(result) == 0 or in_rows(
                op, code_of[cnp.PyArray_TYPE(result)], code_of[cnp.PyArray_TYPE(before)])):
            axes = sorted(range(result.ndim), key=lambda i: -abs(result.strides[i]))
            shape = [result.shape[i] for i in axes]
            flat = storage(target).reshape(shape)    # contiguous, as resizing left it
            replace_array(target, flat.transpose(np.argsort(axes)))
    return copy_into(target, result)


cdef bint in_rows(Operator op, int code, int target) noexcept:
    cdef Out accepts = <Out>op.accepts
    if accepts.order == COMPLEX_ROWS:
        return is_complex(code) and not is_complex(target)
    return accepts.order == ROWS or accepts.order == INTEGER_ROWS and is_integral(code)


cdef list _sizes(ndarray array):
    return list((<object>array).shape)


cdef int fit_target(Operator op, Tensor target, int nd, npy_intp* dims, bint resize) except -1:
    cdef ndarray array = storage(target)
    if array.ndim == nd and cnp.PyArray_CompareLists(array.shape, dims, nd):
        return 0
    wanted = [dims[i] for i in range(nd)]
    if not resize:
        raise errors.out.wrong_shape(_sizes(array), wanted)
    if cnp.PyArray_SIZE(array) != 0:
        warn(errors.out.resized(_sizes(array), wanted))
    return _resize_storage(target, nd, dims)


cdef int _resize_storage(Tensor target, int nd, npy_intp* dims) except -1:
    """A C-contiguous array of the shape, over the same storage where that is large enough."""
    cdef ndarray before = storage(target)
    cdef ndarray owner = <ndarray>root(target.array)
    cdef npy_intp need = cnp.PyArray_ITEMSIZE(before)
    cdef npy_intp have = (<char*>cnp.PyArray_DATA(owner) + cnp.PyArray_NBYTES(owner)
                          - <char*>cnp.PyArray_DATA(before))
    cdef int i
    shape = tuple([dims[i] for i in range(nd)])
    for i in range(nd):
        need *= dims[i]
    if need <= have and cnp.PyArray_IS_C_CONTIGUOUS(owner):
        after = np.ndarray(shape, before.dtype, owner.reshape(-1).view(np.uint8),
                           <char*>cnp.PyArray_DATA(before) - <char*>cnp.PyArray_DATA(owner))
    else:
        # Memory of its own, with the elements at the offset that they had.
        offset = (<char*>cnp.PyArray_DATA(before) - <char*>cnp.PyArray_DATA(owner)) // (
            cnp.PyArray_ITEMSIZE(before))
        after = np.zeros(offset + need // cnp.PyArray_ITEMSIZE(before), before.dtype)
        after = after[offset:].reshape(shape)
    replace_array(target, after)
    return 0


cdef int copy_into(Tensor target, ndarray result) except -1:
    return convert_into(storage(target), result)
