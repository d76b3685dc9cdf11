"""`out=` and in-place targets that cannot hold the result."""

from imode.errors.culprit import DROP_OUT

# Of one whose dtype is not the result's; `Out` of `_core/out` tells the names in braces.
EXPECTED = "Expected out tensor to have dtype {wanted}, but got {found} instead"
FOUND = "Found dtype {Found} but expected {Wanted}"
SCALAR_TYPE_OF = "expected scalar type {Wanted} but found {Found}"
SCALAR_TYPE = "expected scalar_type {Wanted} but found {Found}"


def missing(name):
    """The operator of an out= form was called without it."""
    return TypeError(f"{name}() missing 1 required keyword-only argument: 'out'")


def requires_grad(op, called=None):
    """``out=`` was given while an argument requires grad; `op`: the operator that writes to it, in
    a call of `called`."""
    return RuntimeError(
        f"{op}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad.\n"
        + ("" if called in (None, op) else f"{called} hands its out= on to {op}.\n")
        + f"{DROP_OUT}; or call it under no_grad."
    )


def inplace_dtype(target, result):
    """An in-place operator's result has another dtype than its target; both by their C names."""
    return RuntimeError(
        f"Bad in-place call: input tensor dtype {target} and output tensor dtype {result} should "
        "match"
    )


def cannot_join(op, result, target):
    """The target's dtype cannot hold a joined result; dtypes are given by PyTorch's names."""
    return TypeError(
        f"torch.cat(): input types can't be cast to the desired output type {target}. "
        f"The result of {op}() is of type {result}."
    )


def wrong_shape(target, wanted):
    """A target that cannot be resized has another shape than the result."""
    return RuntimeError(
        f"output with shape {list(target)} doesn't match the broadcast shape {list(wanted)}"
    )


def resized(target, wanted):
    """The text of a warning: an `out=` that is not empty is resized."""
    return (
        f"An output with one or more elements was resized since it had shape {list(target)}, which "
        f"does not match the required output shape {list(wanted)}. Resize it to 0 elements first, "
        "with t.resize_(0), or give out= a tensor of the right shape."
    )
