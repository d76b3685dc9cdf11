"""RAdam."""

from .optimizer import (
    Optimizer,
    as_real,
    as_scalar,
    check_betas,
    check_lr,
    check_options,
    running_averages,
)

__all__ = ["RAdam"]


class RAdam(Optimizer):
    """Adam that divides by the running average once its variance is known to be small: Liu et al.

    With `decoupled_weight_decay` the decay shrinks the parameter itself, as in AdamW. Raises
    ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.RAdam([weight], lr=0.25)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.5000], requires_grad=True)
    """

    _refuses_sparse = "RAdam does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        check_lr(lr)
        check_options(("epsilon", eps))
        check_betas(betas)
        check_options(("weight_decay", weight_decay))
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        beta1, beta2 = group["betas"]
        longest = 2 / (1 - beta2) - 1  # the length that the average's window tends to
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, running_averages)
            count = state["step"].add_(1).item()
            average, square = state["exp_avg"], state["exp_avg_sq"]
            if param.is_complex():
                param, grad, average, square = as_real(param, grad, average, square)
            average.lerp_(grad, 1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            bias = 1 - beta2**count
            length = longest - 2 * count * beta2**count / bias
            step = average.div(1 - beta1**count).mul_(lr)
            if length > 5.0:
                step.mul_(bias**0.5 / square.sqrt().add_(group["eps"]))
                step.mul_(_rectified(length, longest))
            param.sub_(step)


def _rectified(length, longest):
    """What the variance of a window of this length lacks: the paper's r."""
    numerator = (length - 4) * (length - 2) * longest
    return (numerator / ((longest - 4) * (longest - 2) * length)) ** 0.5
