"""Copies of views: what `view`, `permute`, `split` and their kin show, in memory of its own.

Each is derived from the view's entry: it has the view's kernel and formula, and its graph node the
view's name with "_copy" behind it. Copies lie in row order.
"""

from functools import partial

from imode import errors, ops
from imode._core.hollow import hollow
from imode._core.internals import array_of, wrap_array
from imode._core.layout import solid
from imode._core.parallel import skipping
from imode.kernels.shapes.views import apply, slice_dim, viewable
from imode.ops.creation.copy import copy_elements
from imode.ops.creation.create import strided
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, op, published, recorded
from imode.ops.shapes import slicing

# ---- one view -----------------------------------------------------------------------------------


def _copying(view):
    return lambda self, *rest: apply(view.entry.kernel, self, *rest).copy()


def _copying_whole(view):
    return lambda self: self.copy()


def _reshaping(view):
    def reshaped(self, size):
        strides = tuple(step // self.itemsize for step in self.strides)
        fits = viewable(self.shape, strides, size)
        return apply(view.entry.kernel, self if fits else self.copy(), size).copy()

    return reshaped


def _overload(name):
    """A declared operator by its "name" or "name.overload"."""
    bare, _, overload = name.partition(".")
    ops.find(bare)  # imports its entry
    operator = published()[bare]
    while operator.overload != overload:
        operator = operator.next_overload
    return operator


def _declare(kernel, view, node, call="", shown="", formulas=None, real_only=False, out=None):
    """Declare the copy of a view; returns its operator.

    kernel: gives the kernel, from the view. node: the view's graph node. call, shown: an example.
    formulas: where they are not the view's. real_only: not differentiable for complex numbers.
    """
    view = _overload(view)
    bare = view.name.lstrip("_")
    name = f"{bare}_copy"
    formulas = formulas or view.entry.formulas
    example = f"\n\n>>> imode.{call}\n{shown}\n" if call else ""
    return op(
        name + view.schema.replace("Tensor(a)", "Tensor").removeprefix(view.name),
        kernel(view),
        derivative=formulas,
        differentiable=formulas is not None,
        variants="function out",
        out=out or Out("same", name=f"aten::{name}"),
        name=node if node is None or "::" in node else f"{node}_copy",
        real_only=name if real_only else None,
        doc=f"Return what `{bare}` shows as a copy in row order.{example}",
    )


_COLUMN = "tensor([[1],\n        [2]])"
_TWICE = "tensor([[1, 2],\n        [1, 2]])"
_PAIR = "tensor([1, 2])"

# View, its node, an example: a call and what it gives.
for _row in (
    (
        "as_strided",
        "AsStridedBackward0",
        "as_strided_copy(imode.tensor([1, 2]), (2, 2), (0, 1))",
        _TWICE,
    ),
    ("diagonal", "DiagonalBackward0", "diagonal_copy(imode.tensor([[1, 3], [4, 2]]))", _PAIR),
    ("expand", "ExpandBackward0", "expand_copy(imode.tensor([1, 2]), (2, 2))", _TWICE),
    ("permute", "PermuteBackward0", "permute_copy(imode.tensor([[1, 2]]), (1, 0))", _COLUMN),
    ("squeeze", "SqueezeBackward0", "squeeze_copy(imode.tensor([[1, 2]]))", _PAIR),
    ("squeeze.dim", "SqueezeBackward1"),
    ("squeeze.dims", "SqueezeBackward2"),
    ("t", "TBackward0", "t_copy(imode.tensor([[1, 2]]))", _COLUMN),
    ("transpose", "TransposeBackward0", "transpose_copy(imode.tensor([[1, 2]]), 0, 1)", _COLUMN),
    ("unfold", "UnfoldBackward0", "unfold_copy(imode.tensor([1, 2]), 0, 1, 1)", _COLUMN),
    ("unsqueeze", "UnsqueezeBackward0", "unsqueeze_copy(imode.tensor([1, 2]), 1)", _COLUMN),
    (
        "view_as_real",
        "ViewAsRealBackward0",
        "view_as_real_copy(imode.tensor([1 + 2j]))",
        "tensor([[1., 2.]])",
    ),
):
    _declare(_copying, *_row)

for _row in (
    ("select", "SelectBackward0", "select_copy(imode.tensor([[1, 2], [3, 4]]), 0, 0)", _PAIR),
    ("slice", "SliceBackward0", "slice_copy(imode.tensor([1, 2, 3]), 0, 0, 2)", _PAIR),
    (
        "view_as_complex",
        "ViewAsComplexBackward0",
        "view_as_complex_copy(imode.tensor([[1.0, 2.0]]))",
        "tensor([1.+2.j])",
    ),
):
    _declare(_copying, *_row, real_only=True)

_declare(_reshaping, "view", "ViewBackward0", "view_copy(imode.tensor([1, 2]), (2, 1))", _COLUMN)
_declare(_copying, "view.dtype", None)
_declare(_copying_whole, "alias", "AliasBackward0", "alias_copy(imode.tensor([1, 2]))", _PAIR)
_declare(
    _copying_whole,
    "detach",
    "torch::autograd::NotImplemented",
    "detach_copy(imode.tensor([1, 2]))",
    _PAIR,
    formulas={"self": no_derivative("detach_copy")},
)


def _narrow_copy(self, dim, start, length):
    if dim >= self.ndim > 0:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false. "
            f"narrow_copy() got dim={dim} of {self.ndim} dimensions"
        )
    start, size = slicing.first_of(self.shape, dim, start)
    slicing.check_end(start, length, size)
    return apply(slice_dim, self, dim, start, start + length, 1).copy()


op(
    "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor",
    _narrow_copy,
    derivative={
        "self": lambda grad, self_shape, dim, start, length: ops._slice_backward(
            grad, self_shape, dim, start, start + length, 1
        )
    },
    variants="function method out",
    out=Out("same"),
    doc="""Return `length` indices of `dim`, from `start` on, as a copy in row order.

    >>> imode.arange(5).narrow_copy(0, 1, 3)
    tensor([1, 2, 3])
    """,
)

# ---- several views ------------------------------------------------------------------------------


def _copying_all(view):
    def copies(self, *rest):
        views = [array_of(t) for t in view(wrap_array(solid(self)), *rest)]
        return [(hollow(v) if skipping() else v).copy() for v in views]

    return copies


def _write_all(*arguments, view, named, write):
    """Copy what a view shows into the tensors of out=, in turn; returns nothing, as PyTorch.

    named: the operator in the message about too many or too few. write: copies one.
    """
    *arguments, out = arguments
    if recorded((*arguments, *out)):
        raise errors.out.requires_grad(f"{view.name}_copy")
    pieces = view(*arguments)
    if len(out) != len(pieces):
        raise RuntimeError(
            f"{named} expected an out= argument of size {len(pieces)}, got size {len(out)}"
        )
    for piece, target in zip(pieces, out, strict=True):
        write(piece, target)


_PIECE = Out("same")


def _fit(piece, target):
    _PIECE.refuse(piece.dtype, target.dtype)
    if piece.shape != target.shape:
        _PIECE.write(ops.empty_like(piece), target, "out=")
    target.copy_(piece)


for _view, _node, _call, _named, _write in (
    (
        "split",
        "SplitBackward0",
        "split_copy(imode.tensor([1, 2]), 1)",
        "split_copy_Tensor_out()",
        lambda piece, target: target.copy_(piece),
    ),
    (
        "split_with_sizes",
        "SplitWithSizesBackward0",
        "split_with_sizes_copy(imode.tensor([1, 2]), (1, 1))",
        "split_with_sizes_copy_out",
        _fit,
    ),
    (
        "unbind",
        "UnbindBackward0",
        "unbind_copy(imode.tensor([[1], [2]]))",
        "unbind_copy_int_out",
        _fit,
    ),
):
    _into = partial(_write_all, view=published()[_view], named=_named, write=_write)
    _shown = "(tensor([1]), tensor([2]))"
    _declare(_copying_all, _view, _node, _call, _shown, out=Out(into=_into))


# ---- a copy of one tensor in the form of another ------------------------------------------------


@op(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    derivative={("self", "src"): no_derivative("copy")},
    name="torch::autograd::NotImplemented",
    variants="out",
)
def _copied(self, src, non_blocking):
    """Return the elements of `src`, as a tensor of the shape, dtype and strides of `self`.

    >>> imode.ops.copy(imode.zeros(2), imode.tensor([1, 2]))
    tensor([1., 2.])
    """
    if any(n > 1 and not step for n, step in zip(self.shape, self.strides, strict=True)):
        made = self.copy()  # elements that share a place get one each
    else:
        strides = tuple(step // self.itemsize for step in self.strides)
        made = strided(self.shape, self.dtype, strides)
    copy_elements(made, src, non_blocking)
    return made
