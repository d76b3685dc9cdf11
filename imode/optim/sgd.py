"""Stochastic gradient descent."""

from imode.guards import normal_mode

from .optimizer import Optimizer, as_scalar, check_lr

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, optionally with momentum (classical or Nesterov's) and weight decay.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.SGD([weight], lr=0.1)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> weight.item()
    0.800000011920929
    """

    _takes_sparse = True

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, group):
        down = -as_scalar(group["lr"])
        decay = group["weight_decay"]
        momentum = group["momentum"]
        if not (decay or momentum or group["maximize"]):
            for param in group["params"]:
                grad = param.grad
                if grad is not None:
                    param.add_(grad, alpha=down)
            return
        if not momentum:
            for param, grad in self._with_gradient(group):
                param.add_(grad, alpha=down)
            return
        # Looked up before any step, so that a parameter that occurs twice starts twice.
        buffers = [
            self.state[param].get("momentum_buffer")
            for param in group["params"]
            if param.grad is not None
        ]
        for (param, grad), buffer in zip(self._with_gradient(group), buffers, strict=True):
            param.add_(self._with_momentum(param, grad, buffer, group), alpha=down)

    def _with_momentum(self, param, grad, buffer, group):
        momentum = group["momentum"]
        if buffer is None:
            with normal_mode():
                buffer = self.state[param]["momentum_buffer"] = grad.detach().clone()
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        return grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
