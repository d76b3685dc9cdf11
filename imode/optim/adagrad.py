"""Adagrad."""

from imode import ops
from imode.guards import normal_mode

from .optimizer import Optimizer, as_real, as_scalar, check_lr, check_options, with_values

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Divides steps by the root of the sum of all squared gradients so far: Duchi et al.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.Adagrad([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.5000], requires_grad=True)
    """

    _takes_sparse = True

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        check_options(
            ("lr_decay", lr_decay),
            ("weight_decay", weight_decay),
            ("initial_accumulator_value", initial_accumulator_value),
            ("epsilon", eps),
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        with normal_mode():
            for group in self.param_groups:
                for param in group["params"]:
                    self.state[param] = self._make(param)

    def _make(self, param):
        start = self.defaults["initial_accumulator_value"]
        start = complex(start, start) if param.is_complex() else start
        return {"step": ops.tensor(0.0), "sum": ops.full_like(param, start)}

    def _update(self, group):
        lr = as_scalar(group["lr"])
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, self._make)
            count = state["step"].add_(1).item()
            total = state["sum"]
            if grad.is_sparse:
                rate = lr / (1 + (count - 1) * group["lr_decay"])
                _update_rows(param, grad.coalesce(), total, rate, group["eps"])
                continue
            if param.is_complex():
                param, grad, total = as_real(param, grad, total)
            total.addcmul_(grad, grad, value=1)
            root = total.sqrt().add_(group["eps"])
            param.addcdiv_(grad, root, value=-(lr / (1 + (count - 1) * group["lr_decay"])))


def _update_rows(param, grad, total, rate, eps):
    """The step of a sparse gradient: of what it has alone."""
    values = grad._values()
    if not values.numel():
        return
    total.add_(with_values(grad, values.pow(2)))
    root = total.sparse_mask(grad)._values().sqrt_().add_(eps)
    param.add_(with_values(grad, values / root), alpha=-rate)
