# Fast cases of composite operators: what those of all families share. See composites_fast.pyx.
from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator, kernel_t, operator
from imode._core.keyset cimport keyset_t


# The fast case that calls these operators, by name.
cdef CKernel calling(kernel_t fn, list names)
# Whether nothing sees that a call is computed as one instead of by the operators in its list: no
# watcher, no kernel of a library, tensors on the CPU with these keys. Whether it is recorded, the
# caller asks.
cdef bint unseen(Operator op, keyset_t keys) except -1
# Call the first of them with as many of the composite's arguments as it takes, from the first on;
# of several results the first one is given.
cdef object pass_on(Operator op, keyset_t keys, PyObject** args)


cdef inline Operator callee(Operator op, Py_ssize_t i):
    """The i-th operator that a fast case calls, found when first needed."""
    cdef list names = <list>op.fast.config
    cdef object found = names[i]
    if type(found) is not Operator:
        found = names[i] = operator(found)
    return <Operator>found
