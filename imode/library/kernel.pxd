# Kernels for imode in a Cython module of another package: `from imode.library.kernel cimport ...`.
# Compile with the folders of `imode.library.get_include()` and `numpy.get_include()`. What each
# does is said in imode_kernel.h.
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from numpy cimport ndarray

cdef extern from "imode_kernel.h":
    ctypedef uint64_t keyset_t "imode_keys"
    # args: borrowed, normalised to the schema
    ctypedef object (*kernel_t "imode_kernel")(object op, keyset_t keys, PyObject** args)

    const keyset_t CPU "IMODE_CPU"
    const keyset_t META "IMODE_META"
    const keyset_t PRIVATEUSE1 "IMODE_PRIVATEUSE1"
    const keyset_t SPARSECPU "IMODE_SPARSECPU"
    const keyset_t ADINPLACEORVIEW "IMODE_ADINPLACEORVIEW"
    const keyset_t AUTOGRAD "IMODE_AUTOGRAD"

    object new_kernel "imode_new_kernel"(kernel_t fn, const char* where)
    bint is_tensor "imode_is_tensor"(PyObject* value)
    object empty "imode_empty"(int typenum, int nd, Py_ssize_t* shape)
    object deliver "imode_deliver"(object op, object result, PyObject** args)
    PyObject* out_of "imode_out"(object op, PyObject** args)
    object redispatch "imode_redispatch"(object op, keyset_t keys, PyObject** args)
    keyset_t below "imode_below"(keyset_t key) noexcept
    keyset_t exclude "imode_exclude"(keyset_t keys)
    void restore "imode_restore"(keyset_t before) noexcept
    PyObject* _array "imode_array"(PyObject* tensor)


cdef inline ndarray array_of(PyObject* tensor):
    """The ndarray of a tensor argument; TypeError of anything else."""
    cdef PyObject* array = _array(tensor)
    if array == NULL:
        raise TypeError(f"expected a Tensor, got {type(<object>tensor).__name__}")
    return <ndarray>array
