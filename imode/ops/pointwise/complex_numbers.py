"""Complex numbers: parts as views, angles and conjugates, numbers made of two tensors."""

import numpy as np

from imode import errors, ops
from imode._core import layout
from imode._core.broadcast import broadcast_shape
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.kernels.shapes import storage_views
from imode.ops.pointwise.common import OF_ITS_DTYPE, zeros
from imode.ops.schema import Out, composite, op, ufunc
from imode.ops.schema import conj as conjugate
from imode.ops.shapes import composites_fast

# ---- parts, angle, conjugates -------------------------------------------------------------------

op(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    storage_views.view_as_real,
    derivative={"self": lambda grad: ops.view_as_complex(grad.contiguous())},
    variants="function",
    doc="""Return a complex tensor as pairs (real, imaginary) along a new last dimension.

    >>> imode.view_as_real(imode.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """,
)

op(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    storage_views.view_as_complex,
    derivative={"self": lambda grad: ops.view_as_real(grad.contiguous())},
    variants="function",
    doc="""Return a tensor whose last dimension holds pairs (real, imaginary) as a complex one.

    >>> imode.view_as_complex(imode.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """,
)


@composite("real(Tensor(a) self) -> Tensor(a)", variants="function", fast=composites_fast.part)
def real(self):
    """Return the real part: a view of a complex tensor, a real tensor itself.

    >>> imode.real(imode.tensor([1 + 2j]))
    tensor([1.])
    """
    return ops.view_as_real(self).select(self.dim(), 0) if self.is_complex() else self


@composite("imag(Tensor(a) self) -> Tensor(a)", variants="function", fast=composites_fast.part)
def imag(self):
    """Return the imaginary part of a complex tensor, as a view.

    >>> imode.imag(imode.tensor([1 + 2j]))
    tensor([2.])
    """
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return ops.view_as_real(self).select(self.dim(), 1)


@composite("isreal(Tensor self) -> Tensor")
def isreal(self):
    """Return whether every element's imaginary part is zero.

    >>> imode.isreal(imode.tensor([1 + 1j, 2]))
    tensor([False,  True])
    """
    return imag(self) == 0 if self.is_complex() else ops.ones_like(self, dtype=bool)


def _angle_backward(grad, self):
    if not self.is_complex():
        return zeros(self)
    square = self.abs().square()
    return ops.where(self == 0, 0, grad * self / square * 1j)


op(
    "angle(Tensor self) -> Tensor",
    ufunc(loops.angle, ints="float", layout="parts"),
    derivative={"self": _angle_backward},
    variants="function method out",
    doc="""Return the angle of every complex number; 0 or pi for real ones.

>>> imode.angle(imode.tensor([1j]))
tensor([1.5708])
""",
)

op(
    "_conj(Tensor self) -> Tensor",
    ufunc(np.conjugate, layout="like"),
    derivative={"self": lambda grad: grad.conj()},
)
op(
    "_conj_physical(Tensor self) -> Tensor",
    ufunc(np.conjugate, layout="like"),
    derivative={"self": lambda grad: grad.conj_physical()},
)


@composite("conj(Tensor(a) self) -> Tensor(a)")
def conj(self):
    """Return the complex conjugate (a copy); a real tensor itself.

    >>> imode.conj(imode.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return ops._conj(self) if self.is_complex() else self


@composite("conj_physical(Tensor self) -> Tensor", variants="function method out", out=OF_ITS_DTYPE)
def conj_physical(self):
    """Return the complex conjugate (a copy); a real tensor itself.

    >>> imode.conj_physical(imode.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return ops._conj_physical(self) if self.is_complex() else self


@op(
    "conj_physical_(Tensor(a!) self) -> Tensor(a!)",
    derivative={"self": lambda grad: grad.conj_physical()},
    name="ConjPhysicalBackward1",
)
def _conj_in_place(self):
    """Conjugate the tensor's elements in place, and return it."""
    if self.dtype.kind == "c":
        np.conjugate(self, out=self)


@composite("resolve_conj(Tensor(a) self) -> Tensor(a)")
def resolve_conj(self):
    """Return the tensor itself: conjugation is never left pending.

    >>> imode.tensor([1 + 2j]).conj().resolve_conj()
    tensor([1.-2.j])
    """
    return self


@composite("resolve_neg(Tensor(a) self) -> Tensor(a)")
def resolve_neg(self):
    """Return the tensor itself: negation is never left pending.

    >>> imode.ones(1).neg().resolve_neg()
    tensor([-1.])
    """
    return self


# ---- from two parts -----------------------------------------------------------------------------


def _check_parts(first, second):
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{scalar_name(first.dtype)} and {scalar_name(second.dtype)}"
        )
    if first.dtype != second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_name(first.dtype)} but got scalar type "
            f"{scalar_name(second.dtype)} for second argument"
        )


def _pair(first, second):
    """An empty complex array of the two parts' common shape."""
    _check_parts(first, second)
    shape = broadcast_shape(first.shape, second.shape)
    dtype = np.dtype(np.complex128 if first.dtype.itemsize == 8 else np.complex64)
    return layout.empty_for((first, second), shape, dtype)


_PAIRED = Out(
    lambda first, second: np.result_type(first, np.complex64),
    "Expected object of scalar type {Wanted} but got scalar type {Found} for argument 'out'",
    shape=lambda first, second: _check_parts(first, second),
)


def _complex(real, imag):
    made = _pair(real, imag)
    np.copyto(made.real, real)
    np.copyto(made.imag, imag)
    return made


def _polar(abs, angle):
    made = _pair(abs, angle)
    if abs.dtype.itemsize == 2:
        raise errors.dtypes.not_implemented("polar_cpu", abs.dtype)
    np.copyto(made.real, abs * np.cos(angle))
    np.copyto(made.imag, abs * np.sin(angle))
    return made


def _polar_backward(grad, result, needs):
    turned = conjugate(grad)
    size = ops.real(turned * ops.sgn(result)) if needs[0] else None
    angle = ops.real(turned * (result * 1j)) if needs[1] else None
    return size, angle


op(
    "complex(Tensor real, Tensor imag) -> Tensor",
    _complex,
    out=_PAIRED,
    # PyTorch saves each part for its gradient, though the gradient does not depend on it.
    derivative={
        "real": lambda grad, real: ops.real(grad),
        "imag": lambda grad, imag: ops.imag(grad),
    },
    variants="function out",
    doc="""Return complex numbers of the given real and imaginary parts.

    >>> imode.complex(imode.ones(1), imode.zeros(1))
    tensor([1.+0.j])
    """,
)
op(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    _polar,
    out=_PAIRED,
    derivative={("abs", "angle"): _polar_backward},
    variants="function out",
    doc="""Return complex numbers of the given absolute values and angles.

    >>> imode.polar(imode.ones(1), imode.zeros(1))
    tensor([1.+0.j])
    """,
)
