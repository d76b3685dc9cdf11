"""Saved tensors: what a node keeps of the forward computation, and the two checks.

An input is kept as the tensor object itself. A result of the saving node is kept as an alias
without its grad_fn, so that node and result make no reference cycle; unpacking connects a fresh
alias to the node again.

The inference check is here and nowhere else: an inference tensor has no version counter, so
nothing could tell that it was written to after it was saved.
"""
cimport cython
from imode._core.tensor cimport (
    Tensor, alias_of, current, grad_fn_of, is_inference, requires_grad, version_of)
from imode.errors import inference_saved, modified


@cython.final
@cython.freelist(256)      # one for most recorded operators
cdef class SavedTensor:
    """A tensor that a node keeps for backward; not made from Python."""

    def __init__(self):
        raise TypeError("SavedTensor is made by the graph, not from Python")


cdef SavedTensor save_input(Tensor tensor, str saver):
    if is_inference(tensor):
        raise inference_saved(tensor.guard_id, None, saver)
    cdef SavedTensor self = SavedTensor.__new__(SavedTensor)
    self.tensor = tensor
    self.version = current(version_of(tensor))
    self.output_nr = -1
    return self


cdef SavedTensor save_result(Tensor tensor, int output_nr):
    if is_inference(tensor):
        raise inference_saved(tensor.guard_id)
    cdef SavedTensor self = SavedTensor.__new__(SavedTensor)
    self.tensor = alias_of(tensor)
    self.version = current(version_of(tensor))
    self.output_nr = output_nr
    self.requires_grad = requires_grad(tensor)
    return self


cdef Tensor unpack(SavedTensor self, object node):
    cdef Tensor alias
    if current(version_of(self.tensor)) != self.version:
        raise _modified(self, node)
    if self.output_nr < 0:
        return self.tensor
    alias = alias_of(self.tensor)
    if self.requires_grad:
        alias.grad_fn = node
        alias.output_nr = self.output_nr
    return alias


cdef object _modified(SavedTensor self, object node):
    cdef Tensor tensor = self.tensor
    maker = node if self.output_nr >= 0 else grad_fn_of(tensor)
    output_nr = self.output_nr if self.output_nr >= 0 else tensor.output_nr
    return modified(
        f"imode.{_TYPE_NAMES[tensor.dtype.name]}", tensor.shape, output_nr,
        None if maker is None else maker.name(), current(tensor.version), self.version,
        saver=node.name())


cdef dict _TYPE_NAMES = {
    "bool": "BoolTensor", "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor",
    "int32": "IntTensor", "int64": "LongTensor", "float16": "HalfTensor",
    "float32": "FloatTensor", "float64": "DoubleTensor", "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor"}
