"""Products of matrices and vectors. What they are composed into is in contract.py."""

from functools import partial

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_for
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode._core.type_names import c_name, scalar_name
from imode.kernels.creation.copy import cast
from imode.kernels.products import matmul
from imode.kernels.products.multiply import OneThread
from imode.kernels.shapes import views
from imode.ops.pointwise.common import check_scale, no_bool
from imode.ops.reductions import dims
from imode.ops.schema import Out, alias, conj, op

# ---- checks ----


def _shape(x):
    return "x".join(map(str, x.shape))


def _target(self, shape, dtype, inplace):
    """The addend broadcast to the result's shape; written in place, it must have that already."""
    if inplace and self.dtype != dtype:
        raise errors.out.inplace_dtype(c_name(self.dtype), c_name(dtype))
    if inplace and self.shape != shape:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(self.shape)} and output tensor size "
            f"{list(shape)} should match"
        )
    return views.apply(views.expand, self, shape)


def _no_bool_sum(kernel, x, y, addend, beta):
    """`no_bool` where `beta` times something is added: the number is no bool."""
    no_bool(kernel, x, y)
    if x.dtype.kind == "b" and addend.size and beta != 0:
        kind = "Float" if isinstance(beta, float) else "Long"
        raise RuntimeError(f"result type {kind} can't be cast to the desired output type Bool")


def _batch_kernel(name, batch1, batch2):
    """The name of what multiplies the batches: large ones are taken matrix by matrix."""
    rows, inner, columns = *batch1.shape[1:], batch2.shape[2]
    return name if rows * inner * columns < 400 else "addmm_impl_cpu_"


def _check_multiply(mat1, mat2):
    if mat1.shape[1] != mat2.shape[0]:
        raise errors.shapes.cannot_multiply(mat1.shape, mat2.shape)


def _check_batches(batch1, batch2):
    if batch1.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if batch2.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")


def _check_batch_sizes(batch1, batch2):
    want = (batch1.shape[0], batch1.shape[2])
    if batch2.shape[:2] != want:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"{list(want)} but got: {list(batch2.shape[:2])}."
        )


# ---- the arithmetic ----


@dims.quiet
def _wide_product(a, b):
    """np.matmul; of float16 in float32."""
    if a.dtype == np.float16:
        a, b = cast(a, np.float32), cast(b, np.float32)
    product = matmul.product_of(a, b) if a.dtype.kind in "iu" else None
    if product is not None:
        return product
    with OneThread():
        return np.matmul(a, b)


@dims.quiet
def _product(a, b):
    """np.matmul, contiguous; of float16 computed in float32."""
    return np.asarray(_wide_product(a, b), a.dtype, order="C", like=a)


def _number(value, dtype):
    """A factor as an element of a dtype, which must hold it."""
    return dtype.type(number_as(value, dtype))


def _factor(value, dtype):
    """A factor of matrices; of float16 a float32."""
    return _number(value, np.dtype(np.float32) if dtype == np.float16 else dtype)


@dims.quiet
def _scaled(self, beta):
    """beta * self, which is all there is where the matrices have no elements."""
    dtype = self.dtype
    if beta != 0 and self.size and isinstance(beta, float) and dtype.kind in "iu":
        raise errors.dtypes.cannot_cast("Float", dtype)
    if beta == 0:
        return np.zeros(self.shape, dtype)
    return np.asarray(self * np.array(beta).astype(dtype), dtype, order="C")


@dims.quiet
def _add(product, self, beta, alpha, number=_factor):
    """beta * self + alpha * product, with `self` not looked at where beta is 0.

    A product of float16 comes in float32, and the sum is rounded once.
    """
    dtype = self.dtype
    if alpha != 1:
        product = product * number(alpha, dtype)
    if beta == 0:
        return np.asarray(product, dtype, order="C", like=self)
    addend = self if beta == 1 else self * number(beta, dtype)
    return np.asarray(addend + product, dtype, order="C", like=self)


# ---- kernels ----


def mm(self, mat2):
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_multiply(self, mat2)
    if self.dtype != mat2.dtype:
        raise errors.dtypes.products(c_name(self.dtype), c_name(mat2.dtype))
    no_bool("addmm_impl_cpu_", self, mat2)
    return _product(self, mat2)


def bmm(self, mat2):
    _check_batches(self, mat2)
    _check_batch_sizes(self, mat2)
    no_bool(_batch_kernel("bmm", self, mat2), self, mat2)
    if self.dtype != mat2.dtype:
        if not self.size or not mat2.size:  # the result is of the second one's dtype
            return np.zeros((*self.shape[:2], mat2.shape[2]), mat2.dtype)
        raise errors.dtypes.expected_scalar(self.dtype, mat2.dtype)
    return _product(self, mat2)


def _mv(self, vec):
    _check_mv((dims.size(self, 0),), self, vec)
    no_bool("addmv_impl_cpu", self, vec)
    return _product(self, vec)


def _check_mv(size, mat, vec, self=None):
    given = vec.ndim if self is None else self.ndim
    if mat.ndim != 2 or vec.ndim != 1 or (self is not None and self.ndim > 1):
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {given if self is not None else 1}, "
            f"{mat.ndim}, {vec.ndim}"
        )
    if mat.shape[1] != vec.shape[0] or (self is not None and size[0] not in (1, mat.shape[0])):
        rows = size[0] if self is None else dims.size(self, 0)
        raise RuntimeError(
            f"size mismatch, got input ({rows}), mat ({_shape(mat)}), vec ({vec.shape[0]})"
        )
    of_self = vec.dtype if self is None else self.dtype
    if not of_self == mat.dtype == vec.dtype:
        raise RuntimeError(_unlike(of_self, mat.dtype, vec.dtype))


def _unlike(self, mat, vec):
    return (
        "addmv input tensors must have the same dtype, but got "
        f"{scalar_name(self)}, {scalar_name(mat)}, and {scalar_name(vec)}"
    )


def _check_dot(self, other):
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype != other.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_name(self.dtype)} and {scalar_name(other.dtype)}"
        )
    if self.size != other.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{other.size}] to "
            f"have the same number of elements, but got {self.size} and {other.size} elements "
            "respectively"
        )
    if self.dtype.kind == "b":
        raise errors.dtypes.not_implemented("dot", self.dtype)


def _dot(self, tensor):
    _check_dot(self, tensor)
    return np.asarray(_product(self, tensor))


def _vdot(self, other):
    _check_dot(self, other)
    return np.asarray(_product(np.conj(self), other))


def _same(first, second, names):
    if first.dtype != second.dtype:
        raise errors.dtypes.not_the_same(names, first.dtype, second.dtype)


def _addmm(self, mat1, mat2, beta, alpha, inplace=False):
    _same(self, mat2, "self and mat2")
    _same(mat1, mat2, "mat1 and mat2")
    for name, mat in (("mat1", mat1), ("mat2", mat2)):
        if mat.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {mat.ndim}-D tensor")
    _check_multiply(mat1, mat2)
    addend = _target(self, (mat1.shape[0], mat2.shape[1]), mat2.dtype, inplace)
    _no_bool_sum("addmm_impl_cpu_", mat1, mat2, addend, beta)
    if not mat1.shape[1]:
        return _scaled(addend, beta)
    return _add(_wide_product(mat1, mat2), addend, beta, alpha)


def _baddbmm(self, batch1, batch2, beta, alpha, inplace=False):
    shape = dims.size(batch1, 0), dims.size(batch1, 1), dims.size(batch2, 2)
    addend = views.apply(views.expand, self, shape)
    if self.dtype != batch1.dtype:
        names = [c_name(x.dtype) for x in (self, batch1, batch2)]
        raise RuntimeError(
            "Input dtypes must be the same, got: "
            f"input {names[0]}, batch1: {names[1]}, batch2: {names[2]}"
        )
    _check_batches(batch1, batch2)
    _check_batch_sizes(batch1, batch2)
    _target(self, shape, batch2.dtype, inplace)
    if batch1.dtype != batch2.dtype:
        raise errors.dtypes.expected_scalar(batch1.dtype, batch2.dtype)
    _no_bool_sum(_batch_kernel("baddbmm", batch1, batch2), batch1, batch2, addend, beta)
    if not batch1.shape[2]:
        return _scaled(addend, beta)
    return _add(_wide_product(batch1, batch2), addend, beta, alpha)


@dims.quiet
def _addbmm(self, batch1, batch2, beta, alpha):
    addend = views.apply(views.expand, self, (dims.size(batch1, 1), dims.size(batch2, 2)))
    _check_batches(batch1, batch2)
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and "
            f"{batch2.shape[1]}x{batch2.shape[2]})"
        )
    _same(self, batch2, "self and mat2")
    _same(batch1, batch2, "mat1 and mat2")
    _no_bool_sum("addmm_impl_cpu_", batch1, batch2, addend, beta)
    if not batch1.shape[0] or not batch1.shape[2]:
        return _scaled(addend, beta)
    for product in _wide_product(batch1, batch2):  # one after the other, each sum rounded
        addend, beta = _add(product, addend, beta, alpha), 1
    return addend


@dims.quiet
def _addmv(self, mat, vec, beta, alpha, inplace=False):
    _check_mv(self.shape if self.ndim else (1,), mat, vec, self)
    addend = _target(self, mat.shape[:1], vec.dtype, inplace)
    no_bool("addmv_impl_cpu", mat, vec)
    if not mat.size and beta != 0:
        return _scaled(self, _factor(beta, self.dtype))  # in its own shape
    return _add(_wide_product(mat, vec), addend, beta, alpha, _number)


def _check_vectors(self, vec1, vec2, *rest):
    for name, vec in (("vec1", vec1), ("vec2", vec2)):
        if vec.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vec.ndim}-D")


@dims.quiet
def _addr(self, vec1, vec2, beta, alpha, inplace=False):
    _check_vectors(self, vec1, vec2)
    if inplace and self.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {self.ndim}D tensor for input")
    if inplace and self.shape != vec1.shape + vec2.shape:
        sizes = [f"{n}: {list(x.shape)}" for n, x in (("v1", vec1), ("v2", vec2))]
        raise RuntimeError(f"size mismatch, input: {list(self.shape)}, {', '.join(sizes)}")
    addend = views.apply(views.expand, self, (vec1.size, vec2.size))
    dtype = result_type(self.dtype, vec1.dtype, vec2.dtype)
    check_scale(dtype, "beta", beta)
    check_scale(dtype, "alpha", alpha)
    result = empty_for((addend, vec1[:, None], vec2[None]), addend.shape, dtype)
    vec1, vec2 = vec1.astype(dtype, copy=False), vec2.astype(dtype, copy=False)
    left = vec1 if alpha == 1 else vec1 * _number(alpha, dtype)
    product = np.multiply.outer(left, vec2)
    result[...] = _add(product, addend.astype(dtype, copy=False), beta, 1, _number)
    return result


# ---- gradients ----


def _times(grad, factor):
    return grad if factor == 1 else grad * conj(factor)


def _beside(grad, vec):
    """The conjugate of a vector, complex where the gradient is. `mv` refuses two float dtypes."""
    both = grad.is_complex() and not vec.is_complex()
    return vec.to(grad.dtype) if both else conj(vec)


def _mh(x):
    return conj(x.transpose(-2, -1))


def _by_columns(matrix):
    """Whether what was saved of a matrix (autograd/kernels.pyx) says that it has no gaps and lies
    column by column."""
    return type(matrix) is int and matrix < 0


def _sizes(matrix):
    """The shape of a matrix of which that was saved."""
    if type(matrix) is tuple:
        return tuple(matrix[0])
    return divmod(-1 - matrix if matrix < 0 else matrix, 2**32)


def _strides(matrix, wanted):
    """The strides of a matrix of which that was saved; none where it wants no gradient."""
    if not wanted:
        return ()
    if type(matrix) is tuple:
        return matrix[1]
    rows, columns = _sizes(matrix)
    return (1, rows) if matrix < 0 else (columns, 1)


def _left_gradient(grad, mat1_matrix, mat2, alpha):
    """The gradient of alpha * (mat1 @ mat2) with respect to mat1, stored column by column where
    mat1 is."""
    by_columns = _by_columns(mat1_matrix)
    product = conj(mat2).mm(grad.t()).t() if by_columns else grad.mm(conj(mat2.t()))
    return _times(product, alpha)


def _right_gradient(grad, mat1, mat2_matrix, alpha):
    """The gradient with respect to mat2, stored column by column where mat2 is: the gradient of a
    layer's weight, whose transpose is mat2, then needs no copy."""
    by_columns = _by_columns(mat2_matrix)
    product = grad.t().mm(conj(mat1)).t() if by_columns else conj(mat1.t()).mm(grad)
    return _times(product, alpha)


_mm_op = op(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    mm,
    fast=matmul.mm,
    derivative={
        "self": lambda grad, self_matrix, mat2: _left_gradient(grad, self_matrix, mat2, 1),
        "mat2": lambda grad, self, mat2_matrix: _right_gradient(grad, self, mat2_matrix, 1),
    },
    shows={
        "self_sym_sizes": lambda self_matrix: _sizes(self_matrix),
        "self_sym_strides": lambda self_matrix, needs: _strides(self_matrix, needs[0]),
        "mat2_sym_sizes": lambda mat2_matrix: _sizes(mat2_matrix),
        "mat2_sym_strides": lambda mat2_matrix, needs: _strides(mat2_matrix, needs[1]),
    },
    out=Out("same"),
    variants="function method out",
    overloads="longer functions",
    doc="""Multiply two matrices of the same dtype.

    Raises RuntimeError where their shapes or dtypes do not fit together.

    >>> imode.mm(imode.ones(2, 3), imode.ones(3, 1))
    tensor([[3.],
            [3.]])
    """,
)
alias("spmm", _mm_op, variants="function")
op(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    bmm,
    fast=matmul.bmm,
    derivative={
        "self": lambda grad, mat2: grad.bmm(_mh(mat2)),
        "mat2": lambda grad, self: _mh(self).bmm(grad),
    },
    out=Out("same"),
    variants="function method out",
    overloads="longer functions",
    doc="""Multiply two batches of matrices, (b, n, m) and (b, m, p), one by one.

    >>> imode.bmm(imode.ones(5, 2, 3), imode.ones(5, 3, 4)).shape
    imode.Size([5, 2, 4])
    """,
)


def refuse_mv_out(out, mat, vec, operand=False):
    """Refuse an out= of another dtype; `operand`: PyTorch computes with it, as what is added to,
    which it does with one of the result's size anyway."""
    operand = operand or (out.dim() < 2 and out.numel() in (1, mat.size(0)))
    dtypes = [t.dtype.numpy for t in (out, mat, vec)]
    if operand and len(set(dtypes)) > 1:
        raise RuntimeError(_unlike(*dtypes))
    if mat.dtype == vec.dtype:
        ops.mm.accepts.refuse(mat.dtype, out.dtype)


def _check_mv_out(out, mat, vec):
    if mat.dim() == 2 and tuple(vec.shape) == (mat.size(1),):
        refuse_mv_out(out, mat, vec)


_OF_VECTORS = Out("self", "result dtype {Found} does not match input dtype {Wanted}")
op(
    "mv(Tensor self, Tensor vec) -> Tensor",
    _mv,
    fast=matmul.mv,
    derivative={
        "self": lambda grad, vec: grad.ger(conj(vec)),
        "vec": lambda grad, self: conj(self).t().mv(grad),
    },
    out=Out(arguments=_check_mv_out),
    variants="function method out",
    doc="""Multiply a matrix and a vector.

    >>> imode.mv(imode.ones(2, 3), imode.ones(3))
    tensor([3., 3.])
    """,
)
op(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    _dot,
    fast=matmul.dot,
    derivative={
        "self": lambda grad, tensor: grad * conj(tensor),
        "tensor": lambda grad, self: grad * conj(self),
    },
    out=_OF_VECTORS,
    variants="function method out",
    doc="""Return the sum of the products of the elements of two vectors.

    >>> imode.dot(imode.tensor([1.0, 2.0]), imode.tensor([3.0, 4.0]))
    tensor(11.)
    """,
)
op(
    "vdot(Tensor self, Tensor other) -> Tensor",
    _vdot,
    fast=matmul.vdot,
    derivative={
        "self": lambda grad, other: conj(grad) * other,
        "other": lambda grad, self: grad * self,
    },
    out=_OF_VECTORS,
    variants="function method out",
    doc="""Return the dot product of two vectors, the first one conjugated.

    >>> imode.vdot(imode.tensor([1.0, 2.0]), imode.tensor([3.0, 4.0]))
    tensor(11.)
    """,
)
op(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    _addmm,
    fast=matmul.addmm,
    derivative={
        "self": lambda grad, beta: grad if beta == 1 else grad * conj(beta),
        "mat1": _left_gradient,
        "mat2": _right_gradient,
    },
    shows={
        "mat1_sym_sizes": lambda mat1_matrix: _sizes(mat1_matrix),
        "mat1_sym_strides": lambda mat1_matrix, needs: _strides(mat1_matrix, needs[1]),
        "mat2_sym_sizes": lambda mat2_matrix: _sizes(mat2_matrix),
        "mat2_sym_strides": lambda mat2_matrix, needs: _strides(mat2_matrix, needs[2]),
    },
    variants="function method inplace out",
    older="beta self alpha mat1 mat2, beta self mat1 mat2",
    overloads="longer functions",
    out=Out("same", overlap="part"),
    inplace_kernel=partial(_addmm, inplace=True),
    doc="""Return beta * self + alpha * (mat1 @ mat2); `self` broadcasts.

    Where beta is 0 `self` is not looked at: a NaN in it does not spread.

    >>> imode.addmm(imode.ones(1), imode.ones(1, 2), imode.ones(2, 2))
    tensor([[3., 3.]])
    """,
)
op(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    _baddbmm,
    fast=matmul.baddbmm,
    derivative={
        "self": lambda grad, beta: _times(grad, beta),
        "batch1": lambda grad, batch2, alpha: _times(grad.bmm(_mh(batch2)), alpha),
        "batch2": lambda grad, batch1, alpha: _times(_mh(batch1).bmm(grad), alpha),
    },
    variants="function method inplace out",
    older="beta self alpha batch1 batch2, beta self batch1 batch2",
    overloads="longer functions",
    out=Out("same", overlap="part"),
    inplace_kernel=partial(_baddbmm, inplace=True),
    doc="""Return beta * self + alpha * bmm(batch1, batch2); `self` broadcasts.

    >>> imode.baddbmm(imode.zeros(1), imode.ones(5, 2, 3), imode.ones(5, 3, 4)).shape
    imode.Size([5, 2, 4])
    """,
)


def _spread(grad, batch, other):
    return grad.unsqueeze(0).expand((batch[0], batch[1], other[2]))


op(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    _addbmm,
    derivative={
        "self": lambda grad, beta: _times(grad, beta),
        "batch1": lambda grad, batch2, alpha, batch1_shape, batch2_shape: _times(
            _spread(grad, batch1_shape, batch2_shape).bmm(_mh(batch2)), alpha
        ),
        "batch2": lambda grad, batch1, alpha, batch1_shape, batch2_shape: _times(
            _mh(batch1).bmm(_spread(grad, batch1_shape, batch2_shape)), alpha
        ),
    },
    shows={
        "batch1_sym_sizes": None,
        "batch2_sym_sizes": None,
        "batch1_sym_argsize_0": lambda batch1_shape: batch1_shape[0],
        "batch1_sym_argsize_1": lambda batch1_shape: batch1_shape[1],
        "batch2_sym_argsize_2": lambda batch2_shape: batch2_shape[2],
    },
    variants="function method inplace out",
    older="beta self alpha batch1 batch2, beta self batch1 batch2",
    out=Out(
        "same",
        "self and mat2 must have the same dtype, but got {Found} and {Wanted}",
        overlap="part",
    ),
    doc="""Return beta * self + alpha * the sum over the batch of batch1 @ batch2.

    >>> imode.addbmm(imode.zeros(1), imode.ones(5, 2, 3), imode.ones(5, 3, 1))
    tensor([[15.],
            [15.]])
    """,
)
op(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    _addmv,
    fast=matmul.addmv,
    derivative={
        "self": lambda grad, beta: _times(grad, beta),
        "mat": lambda grad, vec, alpha: _times(grad.ger(conj(vec)), alpha),
        "vec": lambda grad, mat, alpha: _times(conj(mat.t()).mv(grad), alpha),
    },
    variants="function method inplace out",
    older="beta self alpha mat vec, beta self mat vec",
    out=Out("same", overlap="part"),
    inplace_kernel=partial(_addmv, inplace=True),
    doc="""Return beta * self + alpha * (mat @ vec).

    >>> imode.addmv(imode.ones(2), imode.ones(2, 3), imode.ones(3))
    tensor([4., 4.])
    """,
)
op(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    _addr,
    derivative={
        "self": lambda grad, beta: _times(grad, beta),
        "vec1": lambda grad, vec2, alpha: _times(grad.mv(_beside(grad, vec2)), alpha),
        "vec2": lambda grad, vec1, alpha: _times(grad.t().mv(_beside(grad, vec1)), alpha),
    },
    variants="function method inplace out",
    older="beta self alpha vec1 vec2, beta self vec1 vec2",
    out=Out(overlap="rest", shape=_check_vectors),
    inplace_kernel=partial(_addr, inplace=True),
    doc="""Return beta * self + alpha * outer(vec1, vec2).

    >>> imode.addr(imode.zeros(1), imode.ones(2), imode.ones(2))
    tensor([[1., 1.],
            [1., 1.]])
    """,
)
