"""Products composed of mm, bmm, mv and dot: matmul, linear, tensordot and their kin.

Which operators they call, and the views in between, are visible in the graph, so they are called
as PyTorch calls them.
"""

import math
from operator import itemgetter

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dispatch import is_grad_enabled
from imode._core.keyset import DispatchKey, DispatchKeySet
from imode._core.tensor import Tensor
from imode._core.type_names import c_name, class_name
from imode._core.user_frames import warn
from imode.ops.products import composites_fast
from imode.ops.products.linalg import refuse_mv_out
from imode.ops.reductions import dims
from imode.ops.schema import Out, composite, functions, recorded

# ---- matmul ----


def _folds(tensor1, tensor2):
    """Whether a stack times a matrix or vector is done as one product of the folded stack.

    It always is where the smaller one requires grad, because its gradient would otherwise be as
    large as the stack; else only where folding needs no copy.
    """
    first_larger = tensor1.dim() >= tensor2.dim()
    larger, smaller = (tensor1, tensor2) if first_larger else (tensor2, tensor1)
    if larger.dim() < 3 or smaller.dim() > 2:
        return False
    if smaller.requires_grad:
        return True
    if tensor1.dim() == 2:
        return False
    if larger.numel() == 0:
        return True
    shape, strides = list(larger.shape), list(larger.stride())
    if not first_larger:  # folded as its transpose
        shape[-2:], strides[-2:] = shape[:-3:-1], strides[:-3:-1]
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _folded(tensor1, tensor2):
    transpose = tensor2.dim() > tensor1.dim()
    if transpose:
        larger = tensor2.transpose(-2, -1)
        smaller = tensor1.t() if tensor1.dim() == 2 else tensor1
    else:
        larger, smaller = tensor1, tensor2
    lead = tuple(larger.shape)[:-1]
    flat = larger.reshape((math.prod(lead), larger.size(-1)))
    if smaller.dim() == 1:
        return ops._unsafe_view(flat.mv(smaller), lead)
    output = ops._unsafe_view(flat.mm(smaller), (*lead, smaller.size(1)))
    return output.transpose(-2, -1).contiguous() if transpose else output


def _batched(tensor1, tensor2):
    n = tensor1.size(-2) if tensor1.dim() > 1 else 1
    p = tensor2.size(-1) if tensor2.dim() > 1 else 1
    batch1, batch2 = tuple(tensor1.shape)[:-2], tuple(tensor2.shape)[:-2]
    if tensor1.dim() == tensor2.dim() == 3 and batch1 != batch2:
        # Folded for the gradient's sake, as above.
        if batch1 == (1,) and tensor1.requires_grad:
            return _matmul(tensor1.squeeze(0), tensor2)
        if batch2 == (1,) and tensor2.requires_grad:
            return _matmul(tensor1, tensor2.squeeze(0))
    batch = broadcast_shape(batch1, batch2)
    count, m = math.prod(batch), tensor1.size(-1)
    left = tensor1.expand((*batch, n, m)).reshape((count, n, m))
    if tensor2.dim() == 1:
        k = tensor2.size(0)
        right = tensor2.expand((*batch, k)).reshape((count, k)).unsqueeze(2)
        return ops._unsafe_view(left.bmm(right).squeeze(-1), (*batch, n))
    k = tensor2.size(-2)
    right = tensor2.expand((*batch, k, p)).reshape((count, k, p))
    shape = (*batch, p) if tensor1.dim() == 1 else (*batch, n, p)
    return ops._unsafe_view(left.bmm(right), shape)


def _check_dims(self, other):
    dim1, dim2 = self.dim(), other.dim()
    if not dim1 or not dim2:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {dim1}D and {dim2}D"
        )
    return dim1, dim2


def _matmul(self, other):
    dim1, dim2 = _check_dims(self, other)
    if dim1 == 1 and dim2 == 1:
        return self.dot(other)
    if dim1 == 2 and dim2 == 1:
        return self.mv(other)
    if dim1 == 1 and dim2 == 2:
        return self.unsqueeze(0).mm(other).squeeze_(0)
    if dim1 == 2 and dim2 == 2:
        return self.mm(other)
    if _folds(self, other):
        return _folded(self, other)
    return _batched(self, other)


def _refuse_product(first, second, out):
    """What PyTorch's products say of an out= of another dtype, where shapes fit."""
    if first.dim() == second.dim() == 1:
        ops.dot.accepts.refuse(first.dtype, out.dtype)
    elif first.size(-1) != second.size(max(second.dim() - 2, 0)):
        return
    elif max(first.dim(), second.dim()) == 2:
        if second.dim() == 2:
            ops.mm.accepts.refuse(first.dtype, out.dtype)
        else:
            refuse_mv_out(out, first, second)
    elif not _folds(first, second):
        ops.bmm.accepts.refuse(second.dtype, out.dtype)
    else:
        larger, smaller = sorted((first, second), key=lambda t: -t.dim())
        if smaller.dim() == 2:
            ops.mm.accepts.refuse(larger.dtype, out.dtype)
        else:
            refuse_mv_out(out, larger, smaller, True)


def _matmul_into(first, second, out):
    _check_dims(first, second)  # before what requires grad is refused
    if not recorded((first, second, out)):  # refused anyway
        _refuse_product(first, second, out)
    if not is_grad_enabled():  # then what requires grad does not decide how it is computed
        first, second = first.detach(), second.detach()
    elif any(t.requires_grad for t in (first, second, out)):  # also where inference mode is around
        raise errors.out.requires_grad("matmul")
    return ops.matmul.accepts.write(_matmul(first, second), out, "matmul")


composite(
    "matmul(Tensor self, Tensor other) -> Tensor",
    fast=composites_fast.matmul,
    variants="function method out",
    out=Out(into=_matmul_into),
    doc="""Multiply matrices, vectors or stacks of matrices, whose leading dimensions broadcast.

    A vector is a row on the left and a column on the right, and leaves no dimension behind.
    Raises RuntimeError where shapes or dtypes do not fit together.

    >>> imode.matmul(imode.ones(5, 2, 3), imode.ones(3, 4)).shape
    imode.Size([5, 2, 4])
    """,
)(_matmul)

# ---- linear ----


def _linear(input, weight, bias):
    dim1, dim2 = input.dim(), weight.dim()
    if not dim1 or not dim2:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {dim1}D and {dim2}D"
        )
    if bias is None:
        return ops.matmul(input, weight.t())
    if dim1 == 2:
        return ops.addmm(bias, input, weight.t())
    lies_in_a_row = bias.dim() == 1 or sum(size != 1 for size in bias.shape) == 1
    if lies_in_a_row and bias.is_contiguous() and input.is_contiguous():
        flat = input.view((math.prod(input.shape[:-1]), input.size(-1)))
        output = ops.addmm(bias, flat, weight.t())
        return output.view((*input.shape[:-1], output.size(1)))
    return ops.matmul(input, weight.t()).add_(bias)


def _linear_into(input, weight, bias, out):
    if recorded((input, weight, bias, out)):
        raise errors.out.requires_grad("linear")
    weight = weight.detach().t()
    if input.dim() == 2 and bias is not None:
        return ops.addmm(bias, input, weight, out=out)
    if bias is None:
        return ops.matmul(input, weight, out=out)
    result = ops.matmul(input, weight, out=out.new_empty((0,)))
    return Out().write(result.add_(bias), out, "linear")  # which counts as one write


composite(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    fast=composites_fast.linear,
    variants="nn out",
    out=Out(into=_linear_into),
    compiled=True,
    doc="""Return input @ weight.T + bias, for inputs of any number of leading dimensions.

    >>> imode.nn.functional.linear(imode.ones(2, 3), imode.ones(1, 3), imode.ones(1))
    tensor([[4.],
            [4.]])
    """,
)(_linear)

# ---- outer, inner, tensordot ----


@composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    fast=composites_fast.outer,
    variants="function method out",
)
def outer(self, vec2, out=None):
    """Return the matrix of the products of each element of one vector with each of another.

    >>> imode.outer(imode.tensor([1.0, 2.0]), imode.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, vec in (("self", self), ("vec2", vec2)):
        if vec.dim() != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vec.dim()}-D")
    return ops.mul(self.reshape((self.size(0), 1)), vec2, out=out)


@composite("ger(Tensor self, Tensor vec2) -> Tensor", variants="function method out")
def ger(self, vec2, out=None):
    """An older name of outer.

    >>> imode.ger(imode.ones(1), imode.ones(2))
    tensor([[1., 1.]])
    """
    return ops.outer(self, vec2, out=out)


def _copied(result, out):
    """Into out=, by a copy that autograd records: the gradient follows."""
    if out is None:
        return result
    if out.requires_grad and out.shape != result.shape:
        raise RuntimeError(
            "tensordot(): the 'out' tensor was specified and requires gradients, and its shape "
            f"does not match the expected result. It has the shape {list(out.shape)}, the result "
            f"{list(result.shape)}: pass one that fits, or its .detach()"
        )
    if not recorded((result, out)):
        return _COPIED.write(result, out, "tensordot")
    _COPIED.refuse(result.dtype, out.dtype)
    if out.shape != result.shape:  # which is no write of its own
        ops._resize_.redispatch(_BELOW, out, result.shape)
    return out.copy_(result)


_BELOW = DispatchKeySet(DispatchKey.CPU)
_COPIED = Out(
    "same",
    "tensordot: Expected the output tensor to have dtype {Wanted}, but got an output tensor with "
    "dtype {Found}",
)


@composite("inner(Tensor self, Tensor other) -> Tensor", variants="function method out")
def inner(self, other, out=None):
    """Return the sums of products along the last dimension of both; a 0-dim tensor multiplies.

    >>> imode.inner(imode.ones(2, 3), imode.ones(3))
    tensor([3., 3.])
    """
    if self.dim() == 0 or other.dim() == 0:
        return ops.mul(self, other, out=out)
    if self.size(-1) != other.size(-1):
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    return _copied(_tensordot(self, other, (-1,), (-1,)), out)


def _tensordot(self, other, dims1, dims2):
    if len(dims1) != len(dims2):
        raise RuntimeError("both dimension lists should have same length")
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    contracted = 1
    first, second = self, other
    for dim1, dim2 in zip(dims1, dims2, strict=True):
        size1, size2 = first.size(dim1), second.size(dim2)
        if size2 == 1:
            first = first.sum(dim1, keepdim=True, dtype=first.dtype)
        elif size1 == 1:
            second = second.sum(dim2, keepdim=True, dtype=second.dtype)
        elif size1 != size2:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {size1} in dim {dim1} "
                f"and second has size {size2} in dim {dim2}"
            )
        else:
            contracted *= size1
    given1, given2 = dims1, dims2
    dims1 = dims.wrap_all(dims1, self.dim()) if dims1 else ()
    dims2 = dims.wrap_all(dims2, other.dim()) if dims2 else ()
    rest1 = [i for i in range(self.dim()) if i not in dims1]
    rest2 = [i for i in range(other.dim()) if i not in dims2]
    shape = [first.size(i) for i in rest1] + [second.size(i) for i in rest2]
    rows, columns = (
        math.prod(tensor.size(i) for i in rest)
        for tensor, rest in ((first, rest1), (second, rest2))
    )
    first, order = first.permute((*rest1, *given1)), (*given2, *rest2)
    if rows == columns == 1:
        second = second.permute(order)
        if first.is_contiguous() and second.is_contiguous():
            return first.flatten().dot(second.flatten()).reshape(shape)
        return (first.squeeze() * second.squeeze()).sum(dtype=first.dtype).reshape(shape)
    first = first.reshape((rows, contracted))
    return first.mm(second.permute(order).reshape((contracted, columns))).reshape(shape)


@composite("tensordot(Tensor a, Tensor b, any dims=2) -> Tensor", variants="function out")
def tensordot(a, b, along, out=None):
    """Sum products over dimensions of both: the last and first `dims`, or two lists of them.

    >>> imode.tensordot(imode.ones(2, 3), imode.ones(3, 4), 1).shape
    imode.Size([2, 4])
    """
    if isinstance(along, int):
        if along < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={along}")
        if along > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={along}")
        return _copied(_tensordot(a, b, tuple(range(-along, 0)), tuple(range(along))), out)
    if hasattr(along, "tolist"):
        if along.dim() == 0 or along.size(0) != 2:
            size = along.size(0) if along.dim() else 0
            raise AssertionError(f"dims tensor must have size 2 in first dimension, got {size}")
        along = along.tolist()
    if not isinstance(along, (tuple, list)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or "
            f"list[list[int]] containing two lists, but got dims={along}"
        )
    dims1, dims2 = (d.tolist() if hasattr(d, "tolist") else d for d in along)
    dims1, dims2 = ((d,) if isinstance(d, int) else tuple(d) for d in (dims1, dims2))
    return _copied(_tensordot(a, b, dims1, dims2), out)


@composite(
    "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    variants="function out",
    out=Out(
        "same", "multi_dot(): expected out tensor to have dtype {wanted} but got {found}", name="mm"
    ),
)
def linalg_multi_dot(tensors):
    """Multiply matrices in the order that takes the fewest multiplications.

    The first may be a row vector and the last a column vector.

    >>> imode.linalg_multi_dot([imode.ones(2, 3), imode.ones(3, 4), imode.ones(4, 1)])
    tensor([[12.],
            [12.]])
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    _check_chain(tensors)
    matrices, shape = list(tensors), []
    if matrices[0].dim() == 1:
        matrices[0] = matrices[0].unsqueeze(0)
    else:
        shape.append(matrices[0].size(0))
    if matrices[-1].dim() == 1:
        matrices[-1] = matrices[-1].unsqueeze(-1)
    else:
        shape.append(matrices[-1].size(-1))
    return _chain(matrices).view(shape)


def _check_chain(tensors):
    """Refuse what is no chain of matrices, in PyTorch's order: the ends, dimensions, sizes."""
    last = len(tensors) - 1
    for which, i in (("first", 0), ("last", last)):
        if tensors[i].dim() not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {which} tensor must be 1D or 2D but got {tensors[i].dim()}D"
            )
    first = tensors[0].dtype
    for i, tensor in enumerate(tensors):
        if 0 < i < last and tensor.dim() != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensor.dim()}D")
        if tensor.dtype != first:
            names = c_name(first.numpy), c_name(tensor.dtype.numpy)
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{names[0]} and tensor {i} {names[1]}"
            )
    for i in range(last):
        if tensors[i].size(-1) != tensors[i + 1].size(0):
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(tensors[i + 1].shape)} cannot be multiplied"
            )


def _chain(matrices):
    """The product of matrices, in the cheapest order: of every run of them the best split.

    Of equally good splits PyTorch takes the first, but of three matrices the last.
    """
    sizes = [matrix.size(0) for matrix in matrices] + [matrices[-1].size(1)]
    count = len(matrices)
    order = -1 if count == 3 else 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            cost[i, j], split[i, j] = min(
                (
                    (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                    for k in range(i, j)[::order]
                ),
                key=itemgetter(0),
            )

    return _multiply(matrices, split, 0, count - 1)


def _multiply(matrices, split, i, j):
    """The product of matrices i to j, split as the table says."""
    if i == j:
        return matrices[i]
    k = split[i, j]
    return _multiply(matrices, split, i, k).mm(_multiply(matrices, split, k + 1, j))


def chain_matmul(*matrices, out=None):
    """An older form of linalg_multi_dot, of matrices one by one.

    >>> imode.chain_matmul(imode.ones(2, 3), imode.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    warn(
        "imode.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "imode.linalg.multi_dot instead, which takes one list of matrices.",
    )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for i, matrix in enumerate(matrices):
        if not isinstance(matrix, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {class_name(matrix)}"
            )
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if len(matrices) > 1:
        return ops.linalg_multi_dot(matrices, out=out)
    copy = matrices[0].clone()
    return copy if out is None else Out().write(copy, out, "chain_matmul")


functions["chain_matmul"] = chain_matmul


@composite(
    "kron(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    out=Out(layout="rows", overlap="all", name="mul"),
)
def kron(self, other):
    """Return the Kronecker product: each element of `self` times the whole of `other`.

    >>> imode.kron(imode.tensor([1.0, 2.0]), imode.ones(2))
    tensor([1., 1., 2., 2.])
    """
    ndim = max(self.dim(), other.dim())
    shape1 = (1,) * (ndim - self.dim()) + tuple(self.shape)
    shape2 = (1,) * (ndim - other.dim()) + tuple(other.shape)
    left = ops._unsafe_view(self, [n for size in shape1 for n in (size, 1)])
    right = ops._unsafe_view(other, [n for size in shape2 for n in (1, size)])
    shape = [a * b for a, b in zip(shape1, shape2, strict=True)]
    return ops._unsafe_view(left * right, shape)
