"""Saved tensors: what a node keeps of the forward computation, and the two checks.

An input is kept as the tensor object itself. A result of the saving node is kept as an alias
without its grad_fn, so that node and result make no reference cycle; unpacking connects a fresh
alias to the node again.

The inference check is here and nowhere else: an inference tensor has no version counter, so
nothing could tell that it was written to after it was saved.
"""
import weakref

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.tensor cimport (
    Tensor, alias_of, current, grad_fn_of, is_inference, requires_grad, version_of)
from imode._core.version cimport VersionCounter, add_saver, drop_saver, writer_of
from imode.places cimport users_line

from imode.errors import inference_saved, modified, saved_detached


@cython.final
@cython.freelist(256)      # one for most recorded operators
cdef class SavedTensor:
    """A tensor that a node keeps for backward; not made from Python."""

    def __dealloc__(self):
        if self.counter != NULL:
            drop_saver(<VersionCounter>self.counter)
            Py_DECREF(<object>self.counter)

    def __init__(self):
        raise TypeError("SavedTensor is made by the graph, not from Python")


cdef bint _keep_places = False


def keep_places(on):
    """Whether to remember the lines that save tensors: for anomaly detection. Returns what was."""
    global _keep_places
    before, _keep_places = _keep_places, bool(on)
    return before


cdef inline int _watch(SavedTensor self, VersionCounter counter) except -1:
    """Remember the version, and let writers know that somebody will compare with it."""
    self.version = current(counter)
    self.counter = <PyObject*>counter
    Py_INCREF(counter)
    add_saver(counter)
    if _keep_places:
        self.place = users_line()
    return 0


cdef SavedTensor save_input(Tensor tensor, str saver):
    if is_inference(tensor):
        raise inference_saved(tensor.guard_id, tensor.maker, saver)
    cdef SavedTensor self = SavedTensor.__new__(SavedTensor)
    self.tensor = tensor
    _watch(self, version_of(tensor))
    self.output_nr = -1
    self.recorded = tensor.grad_fn is not None
    return self


cdef SavedTensor save_result(Tensor tensor, int output_nr):
    if is_inference(tensor):
        raise inference_saved(tensor.guard_id, tensor.maker)
    cdef SavedTensor self = SavedTensor.__new__(SavedTensor)
    self.tensor = alias_of(tensor)
    _watch(self, version_of(tensor))
    self.output_nr = output_nr
    self.requires_grad = requires_grad(tensor)
    if tensor.view is not None and tensor.grad_fn is not None and self.requires_grad:
        # Written into a view: what the result leads to is the view's node, not the write's.
        self.view_node = weakref.ref(tensor.grad_fn)
    return self


cdef Tensor unpack(SavedTensor self, object node):
    cdef Tensor alias
    if self.recorded and self.tensor.grad_fn is None:
        raise saved_detached(node.name())
    if current(version_of(self.tensor)) != self.version:
        raise _modified(self, node)
    if self.output_nr < 0:
        return self.tensor
    alias = alias_of(self.tensor)
    if self.requires_grad:
        alias.grad_fn = _maker(self, node)
        alias.output_nr = self.output_nr
    return alias


cdef object _maker(SavedTensor self, object node):
    """The node of a saved result."""
    maker = None if self.view_node is None else self.view_node()
    return node if maker is None else maker


cdef object _modified(SavedTensor self, object node):
    cdef Tensor tensor = self.tensor
    maker = grad_fn_of(tensor)
    if self.output_nr >= 0:
        maker = _maker(self, node) if self.requires_grad else None
    output_nr = self.output_nr if self.output_nr >= 0 else tensor.output_nr
    return modified(
        f"imode.{_TYPE_NAMES[tensor.dtype.name]}", tensor.shape, output_nr,
        None if maker is None else maker.name(), current(tensor.version), self.version,
        saver=node.name(), saved_at=self.place, writer=writer_of(<VersionCounter>self.counter))


def type_name(Tensor tensor not None):
    """A tensor's type as PyTorch's messages have it, such as "imode.FloatTensor"."""
    name = _TYPE_NAMES[tensor.dtype.name]
    return f"CPU{name[:len(name) - 6]}Type" if name.startswith("Complex") else f"imode.{name}"


cdef dict _TYPE_NAMES = {
    "bool": "BoolTensor", "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor",
    "int32": "IntTensor", "int64": "LongTensor", "float16": "HalfTensor",
    "float32": "FloatTensor", "float64": "DoubleTensor", "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor"}
