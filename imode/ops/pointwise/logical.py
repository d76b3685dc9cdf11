"""Logical operators, of the truth of elements, and bitwise ones, of integers."""

import numpy as np

from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import OF_ITS_DTYPE, no_derivative, refusing
from imode.ops.schema import op, ufunc

_ALL = "function method inplace out"

# ---- logical ------------------------------------------------------------------------------------


def _logical(name, floats, function, example):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(loops.joined((floats, "efd"), (function, "?bBhHiIlLFD"))),
        differentiable=False,
        inplace_only=True,
        variants=_ALL,
        doc=f"""Combine the truth of elements (not zero); the result is bool.

>>> imode.{name}(imode.tensor([0, 1, 2]), imode.tensor([1, 1, 0]))
tensor([{example}])
""",
    )


_logical("logical_and", loops.both, np.logical_and, "False,  True, False")
_logical("logical_or", loops.either, np.logical_or, "True, True, True")
_logical("logical_xor", loops.one_of_two, np.logical_xor, " True, False,  True")
op(
    "logical_not(Tensor self) -> Tensor",
    ufunc(loops.joined((loops.flip, "?"), (loops.is_zero, "efd"), (np.logical_not, "bBhHiIlLFD"))),
    differentiable=False,
    inplace_only=True,
    variants=_ALL,
    doc="""Return whether every element is zero.

>>> imode.logical_not(imode.tensor([0, 2]))
tensor([ True, False])
""",
)

# ---- bitwise ------------------------------------------------------------------------------------


def _bitwise(name, function, kernel, kinds, example):
    op(
        f"{name}(Tensor self, Tensor|Scalar other) -> Tensor",
        ufunc(loops.select(function, kinds), fallback=refusing(kernel)),
        # Of floats, which are refused, the graph is looked at first.
        derivative=dict.fromkeys(("self", "other"), no_derivative(name)),
        inplace_derivative=dict.fromkeys(("self", "other"), no_derivative(f"{name}_")),
        name="torch::autograd::NotImplemented",
        variants=_ALL,
        overloads="number",
        doc=f"""Combine the bits of integers ({name}); floats raise NotImplementedError.

>>> imode.{name}(imode.tensor([6]), imode.tensor([3]))
tensor([{example}])
""",
    )
    op(
        f"{name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        ufunc(loops.select(function, kinds), fallback=refusing(kernel)),
        differentiable=False,
        variants="function",
        doc=f"""Combine the bits of a number with those of every element ({name}).

>>> imode.{name}(6, imode.tensor([3]))
tensor([{example}])
""",
    )


_bitwise("bitwise_and", np.bitwise_and, "bitwise_and_cpu", "?bBhil", 2)
_bitwise("bitwise_or", np.bitwise_or, "bitwise_or_cpu", "?bBhil", 7)
_bitwise("bitwise_xor", np.bitwise_xor, "bitwise_xor_cpu", "?bBhil", 5)
_bitwise("bitwise_left_shift", np.left_shift, "lshift_cpu", "bBhil", 48)
_bitwise("bitwise_right_shift", np.right_shift, "rshift_cpu", "bBhil", 0)
op(
    "bitwise_not(Tensor self) -> Tensor",
    ufunc(
        loops.joined((loops.flip, "?"), (np.invert, "bBhil")), fallback=refusing("bitwise_not_cpu")
    ),
    out=OF_ITS_DTYPE,
    # Of what is refused the graph is looked at first.
    derivative={"self": no_derivative("bitwise_not")},
    inplace_derivative={"self": no_derivative("bitwise_not_")},
    name="torch::autograd::NotImplemented",
    variants=_ALL,
    doc="""Flip every bit of an integer, or a bool; floats raise NotImplementedError.

>>> imode.bitwise_not(imode.tensor([0, 5]))
tensor([-1, -6])
""",
)
