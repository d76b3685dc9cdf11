"""Adamax."""

from imode import ops

from .optimizer import Optimizer, as_real, as_scalar, check_betas, check_lr, check_options

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam that divides by a decaying maximum of the gradient's sizes: Kingma and Ba.

    Raises ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.Adamax([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.5000], requires_grad=True)
    """

    _refuses_sparse = "Adamax does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
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
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        beta1, beta2 = group["betas"]
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, _make)
            count = state["step"].add_(1).item()
            average, largest = state["exp_avg"], state["exp_inf"]
            if param.is_complex():
                param, grad, average, largest = as_real(param, grad, average, largest)
            average.lerp_(grad, 1 - beta1)
            ops.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"]), out=largest)
            param.addcdiv_(average, largest, value=-(lr / (1 - beta1**count)))


def _make(param):
    return {
        "step": ops.tensor(0.0),
        "exp_avg": ops.zeros_like(param),
        "exp_inf": ops.zeros_like(param),
    }
