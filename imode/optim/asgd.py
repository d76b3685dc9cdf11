"""Averaged stochastic gradient descent."""

from imode import ops

from .optimizer import Optimizer, as_real, as_scalar, check_lr, check_options

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Gradient descent that keeps the average of the parameters, "ax" in the state: Polyak.

    The rate falls as `lr / (1 + lambd * lr * t) ** alpha`; the average starts after `t0` steps.
    Raises ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.ASGD([weight], lr=0.25)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> optimizer.state[weight]["ax"]
    tensor([0.5000])
    """

    _refuses_sparse = "ASGD does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_lr(lr)
        check_options(("weight_decay", weight_decay))
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr, lambd = as_scalar(group["lr"]), group["lambd"]

        def make(param):
            return {
                "step": ops.zeros(()),
                "eta": ops.tensor(float(lr)),
                "mu": ops.ones(()),
                "ax": ops.zeros_like(param),
            }

        for param, grad in self._with_gradient(group):
            state = self._state_of(param, make)
            count = state["step"].add_(1).item()
            rate, share, average = state["eta"], state["mu"], state["ax"]
            if param.is_complex():
                param, grad, average = as_real(param, grad, average)
            now = rate.item()
            param.mul_(1 - lambd * now).add_(grad, alpha=-now)
            if share.item() == 1:
                average.copy_(param)
            else:
                average.add_(param.sub(average).mul_(share))
            rate.fill_(lr / (1 + lambd * lr * count) ** group["alpha"])
            share.fill_(1 / max(1, count - group["t0"]))
