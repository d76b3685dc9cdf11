"""NAdam."""

from imode import ops

from .optimizer import (
    Optimizer,
    as_real,
    as_scalar,
    check_betas,
    check_lr,
    check_options,
    running_averages,
)

__all__ = ["NAdam"]


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, which grows from half of `betas[0]` to the whole: Dozat.

    With `decoupled_weight_decay` the decay shrinks the parameter itself, as in AdamW. Raises
    ValueError for options out of their range.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.NAdam([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.4718], requires_grad=True)
    """

    _refuses_sparse = "NAdam does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
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
        check_options(("weight_decay", weight_decay), ("momentum_decay", momentum_decay))
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, _make)
            count = state["step"].add_(1).item()
            average, square = state["exp_avg"], state["exp_avg_sq"]
            if param.is_complex():
                param, grad, average, square = as_real(param, grad, average, square)
            now, after = (
                beta1 * (1.0 - 0.5 * 0.96 ** (step * decay)) for step in (count, count + 1)
            )
            product = state["mu_product"].mul_(now).item()
            average.lerp_(grad, 1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            root = square.div(1 - beta2**count).sqrt_().add_(group["eps"])
            param.addcdiv_(grad, root, value=-lr * (1.0 - now) / (1.0 - product))
            param.addcdiv_(average, root, value=-lr * after / (1.0 - product * after))


def _make(param):
    state = running_averages(param)
    return {"step": state.pop("step"), "mu_product": ops.tensor(1.0), **state}
