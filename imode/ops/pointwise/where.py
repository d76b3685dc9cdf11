"""Elements of one or the other by a condition: where, as a function and as a method."""

from imode import errors, ops
from imode._core.internals import install
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.ops.schema import Out, composite, op, ufunc


def _refuse_where(condition, self, other):
    raise errors.dtypes.not_a_mask(
        "where expected condition to be a boolean tensor, but got a tensor",
        scalar_name(condition.dtype),
    )


op(
    "where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
    ufunc(loops.where, ints="mask", fallback=_refuse_where, numbers="filled"),
    out=Out(
        lambda condition, self, other: result_type(self, other),
        "Expected out type to be {Wanted} but got {Found}",
    ),
    derivative={
        "self": lambda grad, condition: ops.where(condition, grad, 0),
        "other": lambda grad, condition: ops.where(condition, 0, grad),
    },
    variants="function out",
    overloads=3,
    doc="""Return elements of `self` where `condition` holds, else of `other`.

>>> imode.where(imode.tensor([True, False]), 1, imode.tensor([10, 20]))
tensor([ 1, 20])
""",
)


@composite("where.condition(Tensor condition) -> any", variants="function")
def where_condition(condition):
    """Return the coordinates of the elements that are not 0, one tensor per dimension.

    >>> imode.where(imode.tensor([False, True]))
    (tensor([1]),)
    """
    return ops.nonzero(condition, as_tuple=True)


def _where_method(self, /, *given, **named):
    """Return the elements where `condition` holds, else those of `other`.

    >>> imode.tensor([1, 2]).where(imode.tensor([True, False]), 0)
    tensor([1, 0])
    """
    arguments = dict(zip(("condition", "other"), given)) | named
    if len(given) + len(named) == len(arguments) == 2:
        try:
            return ops.where(self=self, **arguments)
        except TypeError:
            pass
    kinds = "(Tensor condition, Tensor other)", "(Tensor condition, Number other)"
    raise errors.arguments.invalid_combination("where", given, named, kinds)


_where_method.__name__ = _where_method.__qualname__ = "where"
install("where", _where_method)
