"""Adadelta."""

from imode import ops

from .optimizer import Optimizer, as_real, as_scalar, check_lr, check_options

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Scales steps by the ratio of two running sizes, of past steps and of gradients: Zeiler.

    `rho` is the rate of both averages. Raises ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.Adadelta([weight])
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.9968], requires_grad=True)
    """

    _refuses_sparse = "Adadelta does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(("epsilon", eps), ("weight_decay", weight_decay))
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        down = -as_scalar(group["lr"])
        rho, eps = group["rho"], group["eps"]
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, _make)
            state["step"].add_(1)
            of_grads, of_steps = state["square_avg"], state["acc_delta"]
            if param.is_complex():
                param, grad, of_grads, of_steps = as_real(param, grad, of_grads, of_steps)
            of_grads.mul_(rho).addcmul_(grad, grad, value=1 - rho)
            step = of_steps.add(eps).sqrt_().div_(of_grads.add(eps).sqrt_()).mul_(grad)
            of_steps.mul_(rho).addcmul_(step, step, value=1 - rho)
            param.add_(step, alpha=down)


def _make(param):
    return {
        "step": ops.zeros(()),
        "square_avg": ops.zeros_like(param),
        "acc_delta": ops.zeros_like(param),
    }
