"""Adam and AdamW."""

from imode import ops
from imode._core.tensor import Tensor

from .optimizer import (
    Optimizer,
    as_real,
    as_scalar,
    check_betas,
    check_lr,
    check_options,
    running_averages,
)

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Scales steps by running averages of the gradient and of its square: Kingma and Ba.

    Weight decay is added to the gradient; with `decoupled_weight_decay` (AdamW) it shrinks the
    parameter itself. `amsgrad` divides by the largest average so far.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.Adam([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.5000], requires_grad=True)
    """

    _refuses_sparse = "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        check_lr(lr)
        mixed = len({isinstance(beta, Tensor) for beta in betas}) > 1
        betas = tuple(as_scalar(beta) for beta in betas)
        check_options(("epsilon", eps))
        check_betas(betas)
        check_options(("weight_decay", weight_decay))
        if mixed or not all(isinstance(beta, float) for beta in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        lr = as_scalar(group["lr"])
        beta1, beta2 = group["betas"]
        amsgrad = group["amsgrad"]
        make = _make_amsgrad if amsgrad else running_averages
        for param, grad in self._with_gradient(group):
            state = self._state_of(param, make)
            average, square = state["exp_avg"], state["exp_avg_sq"]
            count = state["step"].add_(1).item()
            largest = state["max_exp_avg_sq"] if amsgrad else square
            if param.is_complex():
                param, grad, average, square, largest = as_real(
                    param, grad, average, square, largest
                )
            average.lerp_(grad, 1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if amsgrad:
                ops.maximum(largest, square, out=largest)
            root = largest.sqrt().div_((1 - beta2**count) ** 0.5).add_(group["eps"])
            param.addcdiv_(average, root, value=-(lr / (1 - beta1**count)))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves: Loshchilov and Hutter.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.AdamW([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([0.4950], requires_grad=True)
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:  # a state saved by Adam says False
            group["decoupled_weight_decay"] = True


def _make_amsgrad(param):
    return {**running_averages(param), "max_exp_avg_sq": ops.zeros_like(param)}
