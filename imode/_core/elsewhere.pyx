"""Tensors whose elements are not in the CPU's memory: "meta", and devices from outside.

# Note [Shapes without elements]
A tensor on "meta" has an array like any other, over zeros that the system gives memory for only
when they are touched (`lazy.h`). So all that reads geometry works on it unchanged, a stray read is
no crash, and the kernel that computes shapes, dtypes and strides is the CPU's own: `SHAPES_ALONE`
runs it while `skipping()` is on. Loops over many elements are then not entered, and random numbers
not drawn; over few elements a loop simply computes. What it wrote is made zeros again, so that
indices that come from such results are in bounds. A kernel in Python gets arrays that leave
NumPy's loops out as well: Note [Hollow arrays], `hollow.py`. An operator whose result's shape
depends on elements says so in its entry (`by_values=True`) and is refused.

A tensor on a device from outside has the same array for its geometry; at the root of its views
lies a Memory, in which the device's backend keeps the elements. Views need nothing from the
backend: the CPU's kernels make them.
"""
cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.allocator cimport fields, root
from imode._core.device cimport CPU_DEVICE, META_DEVICE, as_device, backend_of, device
from imode._core.dispatch cimport (
    MAX_ARGS, OUT, TENSOR_LIST, TLS, CKernel, Operator, call, inplace_target, kernel_t, tls)
from imode._core.keyset cimport (
    BACKENDS, BIT_AD, BIT_AUTOGRAD, BIT_CPU, BIT_META, BIT_PRIVATEUSE1, BIT_SPARSE, CPU,
    keyset_t)
from imode._core.making cimport wrap
from imode._core.parallel cimport set_skipping, skipping
from imode._core.tensor cimport Tensor, is_tensor, storage, typenum
from libc.stdint cimport uint64_t
from numpy cimport ndarray, npy_intp

import numpy as np

from imode import errors

cnp.import_array()

cdef extern from "lazy.h":
    object lazy_capsule "imode_lazy_capsule"()
    void make_zero "imode_make_zero"(ndarray)
    object PyDataMem_SetHandler(object)

_lazy = lazy_capsule()        # NumPy's handler of memory for arrays without elements


@cython.binding(False)
@cython.final
cdef class Memory:
    """A storage on a device from outside; made by `new_memory`."""

    def __init__(self):
        raise TypeError("Memory is made by imode.backends, not from Python")


cdef device place_of(Tensor t):
    if t.keys & BIT_META:
        return META_DEVICE
    return memory_of(t).place if t.keys & BIT_PRIVATEUSE1 else CPU_DEVICE


cpdef Memory memory_of(Tensor t):
    """The storage of a tensor on a device from outside; None for others."""
    cdef PyObject* base = fields(root(t.array)).base
    return <Memory>base if base != NULL and type(<object>base) is Memory else None


cdef Tensor on_cpu(Tensor t, bint item):
    if t.keys & BIT_META:
        raise errors.devices.item() if item else errors.devices.no_elements()
    if t.keys & BIT_SPARSE:
        raise errors.sparse.no_storage()
    return <Tensor?>memory_of(t).backend.to_cpu(t)


cdef ndarray values_of(Tensor t):
    return storage(t if t.keys & BIT_CPU else on_cpu(t, False))


def elements_of(Tensor tensor not None):
    """The ndarray of a tensor's elements; of a copy on the CPU where they are elsewhere.

    Raises NotImplementedError for a tensor on meta.
    """
    return values_of(tensor)


# ---- checks ----

cdef tuple _ON_CPU = ("batch_sizes", "lengths")     # arguments that are there, in PyTorch too


cdef int _check_places(Operator op, PyObject** args) except -1:
    """Refuse tensors of several devices, but for numbers, indices and the source of a copy."""
    cdef device place = None
    cdef int i
    if op.name == "copy_":
        if is_tensor(args[1]) and (<Tensor>args[1]).keys & BIT_META and not (
                (<Tensor>args[0]).keys & BIT_META):
            raise errors.devices.no_elements()
        return 0
    for i in range(op.n_tensors):
        if op.names[op.tensors[i]] in _ON_CPU:
            continue
        if op.kinds[op.tensors[i]] != TENSOR_LIST:
            place = _agree(op, place, args[op.tensors[i]])
        elif op.names[op.tensors[i]] != "indices":      # those may be on the CPU
            for item in <tuple>args[op.tensors[i]]:
                place = _agree(op, place, <PyObject*>item)
        else:
            _check_indices(op, place, <tuple>args[op.tensors[i]])
    if op.role == OUT:
        for item in <tuple>args[op.nargs] if type(<object>args[op.nargs]) is tuple else (
                <object>args[op.nargs],):
            if place is not None and place_of(item) != place:
                raise errors.devices.out(op.name, place, place_of(item))
    return 0


cdef int _check_indices(Operator op, device place, tuple indices) except -1:
    for index in indices:
        if type(index) is not Tensor:
            continue
        if not (<Tensor>index).keys & BIT_CPU and place_of(index) != place:
            raise errors.devices.mixed(op.name, place, place_of(index))
        if place is META_DEVICE and typenum(<Tensor>index) in (cnp.NPY_BOOL, cnp.NPY_UINT8):
            raise errors.devices.by_values(op.qualified_name)
    return 0


cdef device _agree(Operator op, device place, PyObject* arg):
    cdef device own
    if not is_tensor(arg):
        return place
    own = place_of(<Tensor>arg)
    if own is CPU_DEVICE and storage(<Tensor>arg).ndim == 0:
        return place
    if place is None or own == place:
        return own
    raise errors.devices.mixed(op.name, place, own)


# ---- meta ----

cdef general_t _general = NULL       # of `_core/adapter`, which is loaded later


cdef int set_general_case(general_t function) noexcept:
    global _general
    _general = function
    return 0


cdef object run_inner(CKernel kernel, kernel_t fn, Operator op, keyset_t keys, PyObject** args):
    if skipping() and op.entry.kernel is kernel.general and not isinstance(kernel.general, CKernel):
        return _general(op, kernel.general, args)    # the case for few elements would compute
    return fn(op, keys, args)


cdef object _run_meta(Operator op, keyset_t keys, PyObject** args):
    _check_places(op, args)
    if op.n_results == 0 or op.entry.by_values:
        raise errors.devices.by_values(op.qualified_name)
    return geometry(op, args, BIT_META)


cdef object geometry(Operator op, PyObject** args, keyset_t backend):
    """What the operator's CPU kernel gives, without the elements; see the Note."""
    cdef CKernel kernel = <CKernel>(op.kernels if op.own is None else op.own)[<int>CPU]
    cdef bint before
    if kernel is None:
        raise errors.dispatcher.missing_kernel(op.qualified_name, "Meta", [])
    before = set_skipping(True)
    handler = PyDataMem_SetHandler(_lazy)
    try:
        if kernel.inner == NULL:
            result = run_inner(kernel, kernel.fn, op, BIT_CPU, args)
        else:
            result = kernel.fn(op, BIT_CPU, args)
    finally:
        PyDataMem_SetHandler(handler)
        set_skipping(before)
    if type(result) is Tensor:
        _settle(<Tensor>result, backend)
    elif isinstance(result, (tuple, list)):
        for item in result:
            if type(item) is Tensor:
                _settle(<Tensor>item, backend)
    return result


cdef int _settle(Tensor t, keyset_t backend) except -1:
    """Make a result of a CPU kernel one of a backend, of zeros."""
    if t.keys & BIT_CPU:
        t.keys = t.keys & ~<keyset_t>BIT_CPU | backend
    if backend == BIT_META:
        make_zero(<ndarray>root(t.array))
    return 0


SHAPES_ALONE = CKernel.new(_run_meta, None, NULL, "shapes alone")


# ---- devices from outside ----

cdef object _run_outside(Operator op, keyset_t keys, PyObject** args):
    """Hand a call to the backend of its tensors' device: `backend.run(op, args, out)`."""
    cdef list values = []
    cdef int i
    _check_places(op, args)
    for i in range(op.nargs):
        values.append(<object>args[i])
    out = None if op.role != OUT else <object>args[op.nargs]
    cdef TLS* state = tls()
    cdef uint64_t before = state.excluded
    state.excluded = before | BIT_AUTOGRAD | BIT_AD
    try:
        return _backend(op, args, out).run(op, values, out)
    finally:
        state.excluded = before


cdef object _backend(Operator op, PyObject** args, object out):
    """The backend of a call: of `device=`, or of the first tensor on a device from outside."""
    cdef int i
    if op.device_arg >= 0 and args[op.device_arg] != <PyObject*>None and (
            args[op.device_arg] != <PyObject*>CPU_DEVICE):
        return backend_of(as_device(<object>args[op.device_arg]))
    for i in range(op.n_tensors):
        found = <object>args[op.tensors[i]]
        for item in found if type(found) is tuple else (found,):
            if type(item) is Tensor and (<Tensor>item).keys & BIT_PRIVATEUSE1:
                return memory_of(item).backend
    return memory_of(out).backend


def shapes_of(Operator op not None, list values not None, out):
    """What an operator gives on a device from outside, without the elements: for its backend.

    New tensors among the results have no Memory yet: see `give_memory`.
    """
    cdef PyObject* args[MAX_ARGS + 1]
    cdef int i
    if op.entry.by_values or op.n_results == 0:
        raise errors.devices.by_values(op.qualified_name)
    for i in range(op.nargs):
        args[i] = <PyObject*>values[i]
    args[op.nargs] = <PyObject*>out if out is not None else inplace_target(op, args)
    return geometry(op, args, BIT_PRIVATEUSE1)


def call_with(Operator op not None, list values not None, out):
    """Call an operator with the arguments of its schema, as `backend.run` is given them."""
    cdef PyObject* args[MAX_ARGS + 1]
    cdef int i
    for i in range(op.nargs):
        args[i] = <PyObject*>values[i]
    args[op.nargs] = <PyObject*>out if out is not None else inplace_target(op, args)
    return call(op, args)


def new_memory(tuple shape not None, tuple strides not None, dtype, device place not None, backend):
    """A new tensor on a device from outside; strides in bytes. Its Memory has no elements yet."""
    cdef npy_intp last = 1
    cdef Tensor made
    if 0 not in shape:
        last += sum([(n - 1) * step for n, step in zip(shape, strides)]) // dtype.itemsize
    handler = PyDataMem_SetHandler(_lazy)
    try:
        flat = np.empty(0 if 0 in shape else last, dtype)
    finally:
        PyDataMem_SetHandler(handler)
    made = wrap(np.ndarray(shape, dtype, flat, 0, strides))
    give_memory(made, place, backend)
    return made


def give_memory(Tensor tensor not None, device place not None, backend):
    """Make the storage of a new tensor one of a device from outside; returns its Memory."""
    cdef ndarray array = <ndarray>root(tensor.array)
    cdef Memory memory = Memory.__new__(Memory)
    memory.place, memory.backend = place, backend
    if fields(<PyObject*>array).base != NULL:
        raise RuntimeError("give_memory(): the tensor's memory is another object's")
    Py_INCREF(memory)
    cnp.PyArray_SetBaseObject(array, <PyObject*>memory)
    tensor.keys = tensor.keys & ~<keyset_t>BACKENDS | BIT_PRIVATEUSE1
    return memory


ON_THE_DEVICE = CKernel.new(_run_outside, None, NULL, "the device's backend")
