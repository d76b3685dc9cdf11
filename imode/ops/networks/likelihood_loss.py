"""Negative log-likelihoods of counts and of normal distributions."""

import math

from imode import ops
from imode.guards import no_grad
from imode.ops.networks.reduction import reduce_losses, reduction_number
from imode.ops.schema import composite, functional


@composite(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
    "int reduction) -> Tensor",
    variants="function",
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Return minus the log-likelihood of counts `target` under Poisson distributions.

    `input` holds the rates, or with `log_input` their logarithms; `full` adds Stirling's formula.
    `reduction` is 0 (none), 1 (mean) or 2 (sum).

    >>> imode.poisson_nll_loss(imode.zeros(1), imode.ones(1), True, False, 1e-8, 1).item()
    1.0
    """
    if log_input:
        losses = input.exp() - target * input
    else:
        losses = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses.add_(stirling.masked_fill(target <= 1, 0))
    return reduce_losses(losses, reduction)


@functional("poisson_nll_loss")
def poisson_nll_functional(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """Return minus the log-likelihood of counts `target` under Poisson distributions.

    `input` holds the rates, or with `log_input` their logarithms; `full` adds Stirling's formula.
    Raises ValueError for another reduction than "mean", "sum" and "none".

    >>> imode.nn.functional.poisson_nll_loss(imode.zeros(1), imode.ones(1)).item()
    1.0
    """
    number = reduction_number(size_average, reduce, reduction)
    return ops.poisson_nll_loss(input, target, log_input, full, eps, number)


def _spread(input, var):
    """The variance in a shape that broadcasts to the input's."""
    if var.shape == input.shape:
        return var
    if input.shape[:-1] == var.shape:
        return var.unsqueeze(-1)
    if input.dim() == var.dim():
        pairs = zip(input.shape, var.shape, strict=True)
        if sum(of_var for size, of_var in pairs if size != of_var) == 1:
            return var
    raise ValueError("var is of incorrect size")


@functional("gaussian_nll_loss")
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Return minus the log-likelihood of `target` under normal distributions, up to a constant.

    `input` holds the means, `var` the variances, of its shape, without its last dimension, or with
    one of size 1; below `eps` they count as that. `full` adds the constant. Raises ValueError for
    negative variances and other shapes.

    >>> x = imode.zeros(2)
    >>> imode.nn.functional.gaussian_nll_loss(x, x + 2, imode.ones(2)).item()
    2.0
    """
    negative = var < 0 if isinstance(var, float) else (var < 0).any()
    if isinstance(var, float):
        var = var * ops.ones_like(input)
    if negative:
        raise ValueError("var has negative entry/entries")
    var = _spread(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses += 0.5 * math.log(2 * math.pi)
    return reduce_losses(losses, reduction_number(None, None, reduction))
