"""Second derivatives of compiled operators: the same computed by operators that record."""

from imode import ops


def gradients_again(function, inputs, grads, needs):
    """The gradients of `function(*inputs)`, so that they can be differentiated themselves.

    For formulas with create_graph. `grads` are those of the function's results, None for one that
    has none; `needs` says of which inputs a gradient is wanted, the others get None.
    """
    from imode.autograd import grad

    # As views: an input may stand in two places, or in another input's history.
    fresh = [
        ops.view_as(given, given) if need else given
        for given, need in zip(inputs, needs, strict=True)
    ]
    results = function(*fresh)
    pairs = [
        (result, given)
        for result, given in zip(results, grads, strict=True)
        if given is not None and result.requires_grad
    ]
    wanted = [given for given, need in zip(fresh, needs, strict=True) if need]
    if not pairs or not wanted:
        return [None] * len(inputs)
    found = iter(
        grad(
            [result for result, _ in pairs],
            wanted,
            [given for _, given in pairs],
            create_graph=True,
            allow_unused=True,
        )
    )
    return [next(found) if need else None for need in needs]
