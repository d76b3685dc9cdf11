"""Memory that processes share: a file without a name, and tensors over it.

Nothing is named: the system frees the memory with the last descriptor and the last mapping of it,
however the processes end.
"""
import gc
import os
import tempfile

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from imode._core.allocator cimport Fields, fields, root, take_view
from imode._core.lending cimport Borrowed, borrow
from imode._core.making cimport new_tensor, replace_array
from imode._core.tensor cimport Tensor, is_inference, is_tensor, storage
from libc.errno cimport errno
from libc.string cimport memcpy
from numpy cimport import_array, ndarray
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, PROT_WRITE, mmap, munmap
from posix.unistd cimport close

from imode._core.lending import source_of

import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept


@cython.final
cdef class SharedMemory:
    """Bytes that all processes see which have its descriptor, or were forked from one that has.

    It owns the descriptor. Thread rule: as of any memory, the elements are the user's to guard.
    """

    cdef readonly int fd
    cdef readonly Py_ssize_t nbytes
    cdef void* address
    cdef object __weakref__

    def __cinit__(self, Py_ssize_t nbytes, int fd=-1):
        """New memory, of zeros, or what `fd` gives, which belongs to the object from now on."""
        self.fd = fd
        self.nbytes = nbytes
        if fd < 0:
            self.fd = _unnamed_file()
            os.ftruncate(self.fd, max(nbytes, 1))
        cdef void* mapped = mmap(
            NULL, max(nbytes, 1), PROT_READ | PROT_WRITE, MAP_SHARED, self.fd, 0)
        if mapped == MAP_FAILED:
            raise OSError(errno, f"cannot map {nbytes} bytes of shared memory: "
                          f"{os.strerror(errno)}")
        self.address = mapped

    def __dealloc__(self):
        if self.address != NULL:
            munmap(self.address, max(self.nbytes, 1))
        if self.fd >= 0:
            close(self.fd)            # not os.close, which is gone at exit

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.address, self.nbytes, False, flags)


def _unnamed_file():
    """A descriptor of an empty file that no folder lists."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("imode", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def memory_of(Tensor tensor not None):
    """The SharedMemory in which the tensor's storage lies, None if it lies elsewhere."""
    source = source_of(storage(tensor))
    return source if type(source) is SharedMemory else None


cdef Tensor _bytes_of(SharedMemory memory):
    return borrow(np.frombuffer(memory, np.uint8), memory)


def tensor_on(SharedMemory memory not None, dtype, shape, strides, offset):
    """A leaf tensor over a part of the memory; strides and offset in bytes.

    It is an inference tensor where a tensor over this memory is one already, or if the mode is on.
    """
    cdef Tensor whole = _bytes_of(memory)
    cdef Tensor made
    flat = storage(whole)
    # An empty tensor may begin beyond the end.
    part = np.ndarray(shape, dtype, flat, min(offset, flat.nbytes), strides)
    made = new_tensor(part, whole.keys)
    made.guard_id, made.maker = whole.guard_id, whole.maker
    return made


cdef list _tensors_over(Tensor tensor, ndarray owner):
    """All tensors whose memory `owner` owns. Only a search through all objects finds the others."""
    cdef PyObject* wanted = <PyObject*>owner      # which the caller and the tensor refer to
    if Py_REFCNT(wanted) == 2 and (tensor.array == wanted or Py_REFCNT(tensor.array) == 1):
        return [tensor]
    return [found for found in gc.get_objects()
            if is_tensor(<PyObject*>found) and (<Tensor>found).array != NULL
            and root((<Tensor>found).array) == wanted]


def share(Tensor tensor not None):
    """Move the tensor's storage to shared memory, if it is not there; return the memory.

    All tensors over the storage go with it. NumPy's arrays that looked at it keep the old memory.
    """
    memory = memory_of(tensor)
    if memory is not None:
        return memory
    owner = <ndarray>root(tensor.array)
    low = high = <size_t>fields(<PyObject*>owner).data
    if owner.size:
        low, high = np.lib.array_utils.byte_bounds(owner)
    memory = SharedMemory(high - low)
    _move(tensor, owner, memory, <char*><size_t>low)
    return memory


cdef int _move(Tensor tensor, ndarray owner, SharedMemory memory, char* low) except -1:
    cdef list tensors = _tensors_over(tensor, owner)
    cdef Tensor whole, moved
    cdef Borrowed borrowed
    cdef Fields* old
    cdef PyObject* new
    memcpy(memory.address, low, memory.nbytes)
    whole = _bytes_of(memory)
    borrowed = <Borrowed>fields(whole.array).base
    borrowed.inference = is_inference(tensor)     # not the mode's kind, but that of the tensors
    borrowed.guard_id, borrowed.maker = tensor.guard_id, tensor.maker
    for moved in tensors:
        old = fields(moved.array)
        new = take_view(whole.array, old.descr.type_num, old.nd, old.dimensions, old.strides,
                        <char*>memory.address + (old.data - low))
        replace_array(moved, <ndarray>new)
        Py_DECREF(<object>new)
    return 0
