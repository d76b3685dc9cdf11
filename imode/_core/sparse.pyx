"""Sparse COO tensors: coordinates and values instead of elements, and how a call reaches them.

# Note [Sparse tensors]
A sparse tensor has the key SparseCPU instead of CPU. Its array is for what reads geometry: of the
tensor's shape and dtype, read-only, all strides 0 over a zero of nobody's. The array's base is the
tensor's Coordinates. Both never change: a write in place gives the tensor another array, so that
what shares it (detach(), saved tensors, views) keeps what it had.

Every operator's kernel for the key is `ON_COORDINATES`, which looks for a function of the
operator's name in a table that `imode.backends.sparse` fills when the first sparse tensor is
computed with, and refuses the call where there is none. Those functions take and give tensors. A
call that mixes sparse and strided tensors comes here too, since the key is the higher one: no
operator on strided tensors pays for any of this.
"""
cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.allocator cimport fields
from imode._core.dispatch cimport OUT, TLS, VIEW, CKernel, Operator, tls
from imode._core.dtype cimport code_of, is_stored
from imode._core.keyset cimport BACKENDS, BIT_AD, BIT_AUTOGRAD, BIT_CPU, BIT_SPARSE, keyset_t
from imode._core.making cimport replace_array, wrap, wrap_view
from imode._core.tensor cimport Tensor, storage
from libc.stdint cimport uint64_t
from numpy cimport ndarray, npy_intp

from imode import errors
from imode._core.importing import import_late

cnp.import_array()

cdef char _zero[16]                # what the arrays of sparse tensors lie over
cdef object _run = None            # imode.backends.sparse.calls.run


@cython.binding(False)
@cython.final
cdef class Coordinates:
    """Where the elements of a sparse tensor are, and what they are; made by `sparse_tensor`."""

    def __init__(self):
        raise TypeError("Coordinates are made by imode.sparse_coo_tensor, not from Python")


cdef Coordinates coordinates_of(Tensor t):
    if not t.keys & BIT_SPARSE:
        raise TypeError("expected a sparse tensor, got a strided one")
    return <Coordinates>fields(t.array).base


def parts(Tensor tensor not None):
    """The Coordinates of a sparse tensor; TypeError for others."""
    return coordinates_of(tensor)


def is_sparse(Tensor tensor not None):
    """Whether a tensor is sparse."""
    return bool(tensor.keys & BIT_SPARSE)


cdef ndarray _over(ndarray indices, ndarray values, tuple shape, bint coalesced):
    """The array of a sparse tensor, whose base are new Coordinates."""
    cdef Coordinates made = Coordinates.__new__(Coordinates)
    cdef npy_intp dims[64]
    cdef npy_intp strides[64]
    cdef int i
    if len(shape) > 64:
        raise errors.shapes.too_many_elements()
    if is_stored(code_of[cnp.PyArray_TYPE(values)]):
        raise errors.sparse.stored_dtype((<object>values).dtype)
    for i in range(len(shape)):
        dims[i], strides[i] = shape[i], 0
    # Loops rely on indices that are in bounds: nobody writes to them.
    cnp.PyArray_CLEARFLAGS(indices, cnp.NPY_ARRAY_WRITEABLE)
    made.indices, made.values, made.coalesced = indices, values, coalesced
    try:
        array = cnp.PyArray_New(
            ndarray, len(shape), dims, cnp.PyArray_TYPE(values), strides, _zero, 0, 0, None)
    except ValueError:                # more bytes than 64 bits can count
        raise errors.shapes.too_many_elements() from None
    Py_INCREF(made)
    cnp.PyArray_SetBaseObject(array, <PyObject*>made)
    return array


def sparse_tensor(ndarray indices not None, ndarray values not None, tuple shape not None,
                  bint coalesced):
    """A new sparse tensor; the caller has looked at all arguments, and nobody else has `indices`.
    """
    cdef Tensor made = wrap(_over(indices, values, shape, coalesced))
    made.keys = made.keys & ~<keyset_t>BACKENDS | BIT_SPARSE
    return made


def rewrite(Tensor tensor not None, ndarray indices not None, ndarray values not None,
            tuple shape not None, bint coalesced):
    """Give a sparse tensor other coordinates and values, and another shape."""
    coordinates_of(tensor)
    replace_array(tensor, _over(indices, values, shape, coalesced))


def part_of(Tensor base not None, ndarray array not None):
    """A strided tensor that is a view of a sparse one's indices or values."""
    cdef Tensor made = wrap_view(array, base)
    made.keys = made.keys & ~<keyset_t>BACKENDS | BIT_CPU
    return made


cdef object _on_coordinates(Operator op, keyset_t keys, PyObject** args):
    cdef list values = []
    cdef TLS* state = tls()
    cdef uint64_t before = state.excluded
    cdef int i
    global _run
    if _run is None:
        _run = import_late(".backends.sparse.calls", "imode").run
    for i in range(op.nargs):
        values.append(<object>args[i])
    out = None if op.role != OUT else <object>args[op.nargs]
    state.excluded = before | BIT_AUTOGRAD | BIT_AD
    try:
        result = _run(op, values, out)
    finally:
        state.excluded = before
    if op.role == VIEW and type(result) is Tensor:
        return _view(<Tensor>result, <Tensor>args[op.tensors[0]])
    if op.role == VIEW:
        return tuple([_view(<Tensor?>item, <Tensor>args[op.tensors[0]]) for item in result])
    return result


cdef Tensor _view(Tensor result, Tensor base):
    cdef Tensor view = wrap_view(storage(result), base)
    view.keys = view.keys & ~<keyset_t>BACKENDS | result.keys & BACKENDS
    return view


ON_COORDINATES = CKernel.new(_on_coordinates, None, NULL, "sparse tensors")
