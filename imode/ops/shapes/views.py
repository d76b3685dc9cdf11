"""Views of the whole tensor: another shape or order of dimensions over the same memory.

The kernels are `imode.kernels.shapes.views`'s; here are their schemas and derivatives, and the
operators that are compositions of them. Views of parts are in `slicing`. In-place forms change the
tensor's own shape and strides; they write no element, yet count as writes, as in PyTorch.

Derivatives follow PyTorch's derivatives.yaml: what each saves is what its parameters name.
"""

from imode import errors, ops
from imode.kernels.shapes import storage_views, views
from imode.kernels.shapes.views import wrap_dim
from imode.ops.composites_fast import passed_on
from imode.ops.schema import composite, conj, op
from imode.ops.shapes import composites_fast

# ---- gradients ----------------------------------------------------------------------------------


def _sum_to(grad, shape):
    """Sum an expanded gradient back to `shape`."""
    if not shape:
        return grad.sum()
    lead = grad.dim() - len(shape)
    dims = list(range(lead))
    dims += [i + lead for i, n in enumerate(shape) if n == 1 and grad.shape[i + lead] != 1]
    if dims:
        grad = grad.sum(dims, keepdim=True)
    return grad.reshape(shape) if lead else grad


def _unsqueeze_to(grad, shape, dims=None):
    """Put back the dimensions of length 1 that a squeeze of `shape` (over `dims`) dropped."""
    if not shape:
        return grad
    chosen = range(len(shape)) if dims is None else sorted(d % len(shape) for d in dims)
    for dim in chosen:
        if shape[dim] == 1:
            grad = grad.unsqueeze(dim)
    return grad


def _inverse(dims):
    """The permutation that undoes `dims`."""
    order = [d % len(dims) for d in dims]
    return tuple(order.index(i) for i in range(len(order)))


# ---- shape --------------------------------------------------------------------------------------

op(
    "view(Tensor(a) self, int[] size) -> Tensor(a)",
    views.view,
    derivative={"self": lambda grad, self_shape: grad.reshape(self_shape)},
    variants="method",
    doc="""Return the tensor as another shape over the same memory; one size may be -1.

    Raises RuntimeError where the strides do not allow it; `reshape` then copies.

    >>> imode.arange(6).view(2, -1).shape
    imode.Size([2, 3])
    """,
)

op(
    "view.dtype(Tensor(a) self, dtype dtype) -> Tensor(a)",
    storage_views.view_dtype,
    differentiable=False,
    variants="method",
    tracked=False,
    doc="""Return the tensor's bytes as elements of another dtype.

    Where the size of an element differs, the last dimension grows or shrinks; RuntimeError where
    shape, strides or offset do not allow it.
    """,
)

# A view of a copy that nobody else holds: not recorded as one.
op(
    "_unsafe_view(Tensor(a) self, int[] size) -> Tensor(a)",
    views.view,
    derivative={"self": lambda grad, self_shape: grad.reshape(self_shape)},
    tracked=False,
)

# What reshape calls a view that is not contiguous.
op(
    "_reshape_alias(Tensor(a) self, int[] size) -> Tensor(a)",
    views.view,
    derivative={"self": lambda grad, self_shape: grad.reshape(self_shape)},
)


@composite(
    "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    fast=composites_fast.reshape,
)
def reshape(self, shape):
    """Return the tensor as another shape: a view where the strides allow it, else a copy.

    >>> imode.arange(6).reshape(3, 2).shape
    imode.Size([3, 2])
    """
    if self.is_contiguous():
        return self.view(shape)
    if views.viewable(tuple(self.shape), self.stride(), shape):
        return ops._reshape_alias(self, shape)
    return ops._unsafe_view(self.contiguous(), shape)


@composite(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    variants="method",
    fast=composites_fast.view_as,
)
def view_as(self, other):
    """Return the tensor viewed as the shape of `other`.

    >>> imode.arange(4).view_as(imode.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.view(other.shape)


@composite(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    variants="method",
    fast=composites_fast.reshape_as,
)
def reshape_as(self, other):
    """Return the tensor reshaped to the shape of `other`.

    >>> imode.arange(4).reshape_as(imode.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.reshape(other.shape)


op(
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    views.expand,
    derivative={"self": lambda grad, self_shape: _sum_to(grad, self_shape)},
    variants="method",
    doc="""Return the tensor with dimensions of length 1 repeated without a copy; -1 keeps a size.

    >>> imode.ones(3, 1).expand(-1, 4).stride()
    (1, 0)
    """,
)


@composite(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    variants="method",
    fast=composites_fast.expand_as,
)
def expand_as(self, other):
    """Return the tensor expanded to the shape of `other`.

    >>> imode.arange(2).expand_as(imode.zeros(2, 2))
    tensor([[0, 1],
            [0, 1]])
    """
    return self.expand(other.shape)


@composite(
    "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
    fast=passed_on("expand"),
)
def broadcast_to(self, size):
    """Return the tensor broadcast to `size` without a copy.

    >>> imode.broadcast_to(imode.ones(3), (2, 3)).stride()
    (0, 1)
    """
    return self.expand(size)


@composite("sum_to_size(Tensor self, int[] size) -> Tensor", variants="method")
def sum_to_size(self, size):
    """Return the tensor summed to `size`, from which it may have been broadcast.

    Raises RuntimeError where `size` does not broadcast to its shape. What there is nothing to sum
    in is returned as it is.

    >>> imode.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    shape = tuple(self.shape)
    lead = len(shape) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    return _sum_to(self, size) if size else self.sum()


@composite(
    "flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    fast=composites_fast.flatten,
)
def flatten(self, start_dim, end_dim):
    """Return the tensor with dimensions `start_dim` to `end_dim` merged into one.

    >>> imode.ones(2, 3, 4).flatten(1).shape
    imode.Size([2, 12])
    """
    nd = self.dim()
    start, end = wrap_dim(start_dim, nd), wrap_dim(end_dim, nd)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if nd == 0:
        return self.reshape((1,))
    if start == end:
        return self
    sizes = tuple(self.shape)
    merged = 1
    for n in sizes[start : end + 1]:
        merged *= n
    return self.reshape(sizes[:start] + (merged,) + sizes[end + 1 :])


_UNFLATTEN = "unflatten got an unexpected error:\n"


@composite(
    "unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    fast=composites_fast.unflatten,
)
def unflatten(self, dim, sizes):
    """Return the tensor with `dim` cut into the dimensions `sizes`; one of them may be -1.

    >>> imode.ones(6, 2).unflatten(0, (2, -1)).shape
    imode.Size([2, 3, 2])
    """
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    at = wrap_dim(dim, self.dim())
    if self.dim() == 0:
        raise RuntimeError(f"{_UNFLATTEN}{errors.shapes.no_dimensions(0)}")
    shape, length = tuple(self.shape), self.shape[at]
    known = 1
    for n in sizes:
        known *= n if n != -1 else 1
    inferred = sizes.count(-1)
    if inferred > 1:
        raise errors.shapes.two_inferred(_UNFLATTEN)
    if min(sizes) < -1:
        index = next(i for i, n in enumerate(sizes) if n < -1)
        raise errors.shapes.invalid_size(sizes, index, _UNFLATTEN)
    if inferred and known == 0 and length == 0:
        raise errors.shapes.ambiguous_size(sizes, _UNFLATTEN)
    if (length % known if inferred and known else known != length) != 0:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} "
            f"({length}) in the input tensor"
        )
    filled = tuple(length // known if n == -1 else n for n in sizes)
    return self.view(shape[:at] + filled + shape[at + 1 :])


@composite("ravel(Tensor(a) self) -> Tensor(a)")
def ravel(self):
    """Return the tensor with all dimensions merged into one; a copy only where it must be.

    >>> imode.ones(2, 3).ravel().shape
    imode.Size([6])
    """
    return self.contiguous().view(-1)


_UNSQUEEZE = op(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    views.unsqueeze,
    derivative={"self": lambda grad, dim: grad.squeeze(dim)},
    doc="""Return the tensor with a dimension of length 1 put in before `dim`.

    >>> imode.ones(3).unsqueeze(0).shape
    imode.Size([1, 3])
    """,
)

_SQUEEZE = op(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    views.squeeze,
    derivative={"self": lambda grad, self_shape: _unsqueeze_to(grad, self_shape)},
    doc="""Return the tensor without its dimensions of length 1 (all, `dim`, or those of a tuple).

    >>> imode.ones(1, 3, 1).squeeze(0).shape
    imode.Size([3, 1])
    """,
)

_SQUEEZE_DIM = op(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    views.squeeze_dim,
    derivative={"self": lambda grad, self_shape, dim: _unsqueeze_to(grad, self_shape, (dim,))},
    name="SqueezeBackward1",
    doc="""Return the tensor without dimension `dim` if its length is 1.""",
)

_SQUEEZE_DIMS = op(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    views.squeeze_dims,
    derivative={"self": lambda grad, self_shape, dim: _unsqueeze_to(grad, self_shape, dim)},
    name="SqueezeBackward2",
    doc="""Return the tensor without those of `dim` whose length is 1.""",
)


def _in_place(view, node, doc, kernel=None):
    """Declare the form of a view that changes the tensor itself; `kernel`: where it is another."""
    op(
        view.schema.replace("Tensor(a)", "Tensor(a!)").replace(view.name, f"{view.name}_", 1),
        kernel or view.entry.kernel,
        derivative=view.entry.formulas,
        variants="method metadata",
        name=node,
        doc=doc,
    )


_in_place(
    _UNSQUEEZE,
    "UnsqueezeBackward1",
    "Put a dimension of length 1 into the tensor itself; see `unsqueeze`.",
)
_in_place(
    _SQUEEZE, "SqueezeBackward3", "Drop the tensor's own dimensions of length 1; see `squeeze`."
)
_in_place(
    _SQUEEZE_DIM,
    "SqueezeBackward4",
    "Drop dimension `dim` of the tensor itself if its length is 1.",
)
_in_place(
    _SQUEEZE_DIMS,
    "SqueezeBackward5",
    "Drop those of `dim` whose length is 1 from the tensor itself.",
)

# ---- order of dimensions ------------------------------------------------------------------------


op(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    views.permute,
    derivative={"self": lambda grad, dims: grad.permute(_inverse(dims))},
    doc="""Return the tensor with its dimensions in the order of `dims`.

    >>> imode.ones(2, 3, 4).permute(2, 0, 1).shape
    imode.Size([4, 2, 3])
    """,
)

_TRANSPOSE = op(
    "transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    views.transpose,
    derivative={"self": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)},
    doc="""Return the tensor with two dimensions exchanged.

    >>> imode.ones(2, 3).transpose(0, 1).shape
    imode.Size([3, 2])
    """,
)

_T = op(
    "t(Tensor(a) self) -> Tensor(a)",
    views.t,
    derivative={"self": lambda grad: grad.t()},
    doc="""Return the transpose of a matrix; scalars and vectors stay as they are.

    >>> imode.ones(2, 3).t().shape
    imode.Size([3, 2])
    """,
)


_in_place(_T, "TBackward1", "Transpose the tensor itself; see `t`.", views.t_in_place)
_in_place(
    _TRANSPOSE,
    "TransposeBackward1",
    "Exchange two dimensions of the tensor itself; see `transpose`.",
)


def _swap(self, dim0, dim1):
    """Return the tensor with two dimensions exchanged (NumPy's name of `transpose`).

    >>> imode.ones(2, 3).swapaxes(0, 1).shape
    imode.Size([3, 2])
    """
    return self.transpose(dim0, dim1)


composite(
    "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    fast=passed_on("transpose"),
)(_swap)
composite(
    "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    fast=passed_on("transpose"),
)(_swap)


def _movedim(self, source, destination):
    """Return the tensor with dimensions `source` moved to the places `destination`.

    >>> imode.ones(2, 3, 4).movedim(0, -1).shape
    imode.Size([3, 4, 2])
    """
    nd = self.dim()
    if len(source) != len(destination):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(source)} dims) should contain the same number of dims as destination "
            f"({list(destination)} dims)"
        )
    start = [wrap_dim(d, nd) for d in source]
    end = [wrap_dim(d, nd) for d in destination]
    for dims, given, name in ((start, source, "source"), (end, destination, "destination")):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if nd == 0:
        return ops.alias(self)
    order = [None] * nd
    for s, e in zip(start, end, strict=True):
        order[e] = s
    rest = (d for d in range(nd) if d not in start)
    return self.permute(tuple(next(rest) if d is None else d for d in order))


def _movedim_int(self, source, destination):
    """Return the tensor with dimension `source` moved to the place `destination`.

    >>> imode.ones(2, 3, 4).movedim(0, 2).shape
    imode.Size([3, 4, 2])
    """
    return _movedim(self, (source,), (destination,))


def _swap_(self, dim0, dim1):
    """Exchange two dimensions in place."""
    return self.transpose_(dim0, dim1)


composite(
    "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
    variants="method",
    fast=passed_on("transpose_"),
)(_swap_)
composite(
    "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    variants="method",
    fast=passed_on("transpose_"),
)(_swap_)


for _name in ("movedim", "moveaxis"):
    composite(
        f"{_name}.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        variants="function method",
        fast=composites_fast.movedim,
    )(_movedim_int)
    composite(
        f"{_name}(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        variants="function method",
    )(_movedim)


@composite("adjoint(Tensor(a) self) -> Tensor(a)")
def adjoint(self):
    """Return the conjugate of the tensor with its last two dimensions exchanged.

    >>> imode.adjoint(imode.tensor([[1j, 2]]))
    tensor([[0.-1.j],
            [2.-0.j]])
    """
    if self.dim() == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return conj(self if self.dim() == 0 else self.transpose(-2, -1))
