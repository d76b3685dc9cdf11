"""Adafactor."""

from imode import ops
from imode._tensor.limits import finfo

from .optimizer import Optimizer, as_scalar, check_lr

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adam's divisor from means of rows and columns, with memory for these alone: Shazeer, Stern.

    `eps` is (least of the divisor, least of the parameter's size), the first None for the dtype's;
    `d` bounds the step's root mean square. Raises ValueError for options out of their range,
    RuntimeError in `step` for complex parameters.

    >>> weight = imode.nn.Parameter(imode.ones(2, 3))
    >>> optimizer = imode.optim.Adafactor([weight], lr=0.25)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> list(optimizer.state[weight])
    ['step', 'row_var', 'col_var']
    """

    _refuses_sparse = "Adafactor does not support sparse gradients"
    _refuses_complex = "Adafactor does not support complex parameters"

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        check_lr(lr, "Learning rate should be >= 0 but is")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for i, least in enumerate(eps):
            if not (i == 0 and least is None) and not least >= 0.0:
                raise ValueError(f"epsilon{i + 1} should be >= 0 but is: {least}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        least, least_size = group["eps"]
        for param, grad in self._gradients(group):
            state = self._state_of(param, _make)
            if least is None:  # from here on for the whole group, as PyTorch has it
                least = finfo(param.dtype).eps
            count = state["step"].add_(1).item()
            rate = max(least_size, _size(param)) * min(lr, 1 / count**0.5)
            if group["weight_decay"] != 0:
                param.mul_(1 - lr * group["weight_decay"])
            step = _divisor(state, grad, count ** group["beta2_decay"], least)
            step.clamp_(min=least * least).rsqrt_().mul_(grad)
            param.add_(step, alpha=-rate / max(1.0, _size(step) / group["d"]))


def _size(tensor):
    """The root mean square of all elements."""
    return tensor.norm(2).item() / tensor.numel() ** 0.5


def _divisor(state, grad, weight, least):
    """The square of the divisor, from the averages in the state, which are brought up to date."""
    if grad.dim() < 2:
        return state["variance"].lerp_(grad * grad, weight).clone()
    for name, dim in (("row_var", -1), ("col_var", -2)):
        mean = grad.norm(dim=dim, keepdim=True).square_().div_(grad.size(dim))
        state[name].lerp_(mean, weight)
    rows, columns = state["row_var"], state["col_var"]
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))


def _make(param):
    grad = param.grad
    state = {"step": ops.tensor(0.0)}
    if grad.dim() < 2:
        return {**state, "variance": ops.zeros_like(grad)}
    *rest, rows, columns = grad.shape
    state["row_var"] = grad.new_zeros([*rest, rows, 1])
    state["col_var"] = grad.new_zeros([*rest, 1, columns])
    return state
