"""Fast cases of composite operators.

A composite operator is a Python function over other operators, and for a few elements the function
costs more than they do. Its fast case serves the arguments that need no rule and no message, by
calling the same operators; for anything else it gives NotImplemented, and the function runs.

Those of one family stand in `composites_fast` of its folder; here, those that any one can have.
"""
from cpython.object cimport PyObject
from imode._core.dispatch cimport (
    INPLACE, MAX_ARGS, TLS, CKernel, Operator, call, kernel_t, tls, unrecorded)
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_CPU, keyset_t
from imode._core.tensor cimport Tensor, requires_grad


cdef CKernel calling(kernel_t fn, list names):
    return CKernel.new(fn, names)


cdef bint unseen(Operator op, keyset_t keys) except -1:
    cdef TLS* state = tls()
    cdef Operator other
    cdef Py_ssize_t i
    if state.watcher != NULL or keys & ~<keyset_t>(BIT_CPU | BIT_AD | BIT_AUTOGRAD) or (
            state.included & ~<keyset_t>BIT_AD or state.excluded & ~<keyset_t>BIT_AUTOGRAD):
        return False
    for i in range(len(<list>op.fast.config)):
        other = callee(op, i)
        if other.cases is not None:
            return False
        if other.layers is not None:
            for layers in other.layers:
                if layers:
                    return False
    return True


cdef object pass_on(Operator op, keyset_t keys, PyObject** args):
    cdef Operator other = callee(op, 0)
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    cdef object result
    for i in range(other.nargs):
        values[i] = args[i]
    values[other.nargs] = args[0] if other.role == INPLACE else NULL
    result = call(other, values)
    return (<tuple>result)[0] if other.n_results > 1 else result


cdef object _second_of(Operator op, keyset_t keys, PyObject** args):
    cdef PyObject* values[MAX_ARGS + 1]
    cdef Operator other = callee(op, 0)
    cdef int i
    for i in range(other.nargs):
        values[i] = args[i]
    values[other.nargs] = NULL
    return (<tuple>call(other, values))[1]


def second_of(str name not None):
    """The fast case that is the second result of another operator, with the same arguments."""
    return calling(_second_of, [name])


cdef object _spread(Operator op, keyset_t keys, PyObject** args):
    cdef object correction = 1 if <object>args[2] is True else 0
    cdef PyObject** corrected = [args[0], args[1], <PyObject*>correction, args[3], NULL]
    return call(op.next_overload, corrected)


spread = calling(_spread, [])   # var.dim and its kin: the overload with a correction, which is next


def passed_on(str name not None):
    """The fast case that is a call of another operator, with the same arguments."""
    return calling(pass_on, [name])


cdef object _unrecorded(Operator op, keyset_t keys, PyObject** args):
    if requires_grad(<Tensor>args[0]) and not unrecorded(tls()):
        return NotImplemented
    return call(callee(op, 0), args)


def where_unrecorded(Operator plain not None):
    """Of an operator of one tensor that looks at the graph: `plain`, where there is no graph."""
    return calling(_unrecorded, [plain])
