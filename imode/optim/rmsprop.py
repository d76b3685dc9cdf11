"""RMSprop."""

from imode import ops

from .optimizer import Optimizer, as_real, as_scalar, check_lr, check_options

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Divides steps by a running root mean square of the gradient: Tieleman and Hinton.

    `centered` subtracts the running mean, which makes the divisor a standard deviation.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.RMSprop([weight], lr=0.5)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight
    Parameter containing:
    tensor([-4.0000], requires_grad=True)
    """

    _refuses_sparse = "RMSprop does not support sparse gradients"

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        check_options(
            ("epsilon", eps),
            ("momentum", momentum),
            ("weight_decay", weight_decay),
            ("alpha", alpha),
        )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        down = -as_scalar(group["lr"])
        alpha = group["alpha"]

        def make(param):
            state = {"step": ops.zeros(()), "square_avg": ops.zeros_like(param)}
            if group["momentum"] > 0:
                state["momentum_buffer"] = ops.zeros_like(param)
            if group["centered"]:
                state["grad_avg"] = ops.zeros_like(param)
            return state

        for param, grad in self._with_gradient(group):
            state = self._state_of(param, make)
            state["step"].add_(1)
            square, mean = state["square_avg"], state.get("grad_avg")
            buffer = state.get("momentum_buffer")
            if param.is_complex():
                param, grad, square, mean, buffer = as_real(param, grad, square, mean, buffer)
            square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
            if mean is None:
                root = square.sqrt()
            else:
                mean.lerp_(grad, 1 - alpha)
                root = square.addcmul(mean, mean, value=-1).sqrt_()
            root.add_(group["eps"])
            if buffer is None:
                param.addcdiv_(grad, root, value=down)
            else:
                buffer.mul_(group["momentum"]).addcdiv_(grad, root)
                param.add_(buffer, alpha=down)
