"""The older constructors: `imode.sparse.FloatTensor(indices, values, size)`.

They make what `imode.sparse_coo_tensor` makes, of the dtype of the values, or a tensor without
elements from sizes. New code writes that.
"""

from imode import errors, ops
from imode._core.dtype import all_dtypes
from imode._core.formats import sparse_coo
from imode._core.size import Size
from imode._core.tensor import Tensor
from imode._tensor.legacy import LegacyType, legacy_type

_PARAMETERS = ("indices", "values", "size")
_SIGNATURES = [
    "(*, device = None)",
    "(Tensor indices, Tensor values, *, device = None)",
    "(Tensor indices, Tensor values, tuple of ints size, *, device = None)",
    "(tuple of ints size, *, device = None)",
]


class _SparseType(LegacyType):
    def __call__(cls, *args, device=None, **kwargs):
        if args and all(type(arg) is int for arg in args):
            args = (Size(args),)
        if not args and not kwargs:
            args = (Size((0,)),)
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            if not isinstance(args[0], Size):
                raise errors.sparse.sequence_of_sizes()
            args, kwargs = (), {"size": args[0], **kwargs}
        given = {**dict(zip(_PARAMETERS, args)), **kwargs}
        if list(given) == ["size"]:
            return ops.empty(*given.values(), dtype=cls.dtype, layout=cls.layout, device=device)
        parts = isinstance(given.get("indices"), Tensor), isinstance(given.get("values"), Tensor)
        if not all(parts) or given.keys() - {*_PARAMETERS} or len(args) > 3:
            raise errors.arguments.invalid_combination("new", args, kwargs, _SIGNATURES)
        return ops.sparse_coo_tensor(*given.values(), device=device)


def _sparse_type(dtype):
    doc = f"Sparse tensors of dtype {dtype.name}; called, makes one of indices and values."
    return legacy_type(_SparseType, dtype, sparse_coo, "imode.sparse", doc)


ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor = map(_sparse_type, all_dtypes()[1:6])
BFloat16Tensor, HalfTensor, FloatTensor, DoubleTensor = map(_sparse_type, all_dtypes()[11:15])
