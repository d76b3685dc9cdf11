"""Rprop."""

from imode import ops

from .optimizer import Optimizer, as_real, as_scalar, check_lr

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Steps by the sign of the gradient, each element with a length of its own: Riedmiller, Braun.

    A length grows by `etas[1]` while the sign stays, shrinks by `etas[0]` where it turns, and stays
    within `step_sizes`. Raises ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.Rprop([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.5000], requires_grad=True)
    """

    _refuses_sparse = "Rprop does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        shrink, grow = group["etas"]

        def make(param):
            start = complex(lr, lr) if param.is_complex() else lr
            return {
                "step": ops.zeros(()),
                "prev": ops.zeros_like(param),
                "step_size": ops.full_like(param.grad, start),
            }

        for param, grad in self._gradients(group):
            state = self._state_of(param, make)
            state["step"].add_(1)
            before, length = state["prev"], state["step_size"]
            if param.is_complex():
                param, grad, before, length = as_real(param, grad, before, length)
            product = grad * before
            turned = product < 0
            factor = product.sign().masked_fill_(turned, shrink).masked_fill_(product > 0, grow)
            length.mul_(factor.masked_fill_(factor == 0, 1)).clamp_(*group["step_sizes"])  # and NaN
            before.copy_(grad).masked_fill_(turned, 0)
            param.addcmul_(before.sign(), length, value=-1)
