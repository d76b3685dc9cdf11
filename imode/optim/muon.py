"""Muon."""

import math

from imode import ops

from .optimizer import Optimizer, as_scalar, check_lr

__all__ = ["Muon"]


class Muon(Optimizer):
    """Steps by the orthogonal matrix nearest to the momentum, for matrices alone: Jordan.

    Newton and Schulz's iteration, `ns_steps` times in bfloat16, makes it; `ns_coefficients` are
    those of its odd polynomial. `adjust_lr_fn` makes steps of matrices of different shapes alike:
    "original" (the default) or "match_rms_adamw". Weight decay shrinks the parameter itself.

    Raises ValueError for options out of their range and for parameters that are no matrices.

    >>> weight = imode.nn.Parameter(imode.eye(2))
    >>> optimizer = imode.optim.Muon([weight], lr=0.25)
    >>> (weight * 2).sum().backward()
    >>> optimizer.step()
    >>> list(optimizer.state[weight])
    ['momentum_buffer']
    """

    _refuses_sparse = "Muon does not support sparse gradients"
    _refuses_complex = "Muon does not support complex parameters"

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.7750, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        check_lr(lr, "Learning rate should be >= 0 but is")
        for name, value in (("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter "
                        f"with size: {param.size()}"
                    )

    def _update(self, group):
        lr, momentum = as_scalar(group["lr"]), group["momentum"]
        for param, grad in self._gradients(group):
            buffer = self._state_of(param, _make)["momentum_buffer"]
            buffer.lerp_(grad, 1 - momentum)
            step = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
            step = _orthogonal(step, group["ns_coefficients"], group["ns_steps"], group["eps"])
            param.mul_(1 - lr * group["weight_decay"])
            param.add_(step, alpha=-lr * _scale(group["adjust_lr_fn"], *param.shape))


def _make(param):
    return {"momentum_buffer": ops.zeros_like(param.grad)}


def _orthogonal(matrix, coefficients, steps, eps):
    """The matrix with singular values near 1: some steps of x -> ax + bx^3 + cx^5."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)  # the smaller of the two products with itself is taken
    x = matrix.bfloat16()
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        square = x @ x.T
        x = ops.addmm(x, ops.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def _scale(how, rows, columns):
    """What the learning rate is multiplied by, for a matrix of this shape."""
    if how == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
