"""LBFGS: a quasi-Newton method with limited memory, and its search along a line."""

from typing import Any, NamedTuple

from imode import ops
from imode.guards import enable_grad, no_grad, normal_mode

from .optimizer import Optimizer, as_scalar, check_lr

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Newton's method with an inverse Hessian from the last gradients: Nocedal; Liu and Nocedal.

    All parameters form one group. `step(closure)` makes up to `max_iter` iterations and calls the
    closure, which computes the loss and its gradients, up to `max_eval` times (None: 5/4 of them).
    `line_search_fn` is None, for steps of length `lr`, or "strong_wolfe".

    Raises ValueError for several groups, RuntimeError in `step` for another search.

    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> optimizer = imode.optim.LBFGS([weight], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((weight - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(4., grad_fn=<SumBackward0>)
    >>> weight
    Parameter containing:
    tensor([3.], requires_grad=True)
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure):
        """Iterate until a tolerance or a limit is met; returns the first loss.

        `closure()` computes the loss anew, with its gradients; it is called with recording on.
        """
        self._stepped = True
        with no_grad(), normal_mode():
            return self._iterate(enable_grad()(closure), self.param_groups[0])

    def _iterate(self, closure, group):
        lr, most = as_scalar(group["lr"]), group["max_iter"]
        smallest, change = group["tolerance_grad"], group["tolerance_change"]
        params = _real(group["params"])
        state = self.state[group["params"][0]]  # of all: the first one stands for the group
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evaluated = float(first), 1
        state["func_evals"] += 1
        grad = _flat_grad(group["params"])
        flat = bool(grad.abs().max() <= smallest)
        if flat:
            return first
        for i in range(1, most + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=grad.neg(), t=None, old_dirs=[], old_stps=[], ro=[], H_diag=1)
                length = min(1.0, 1.0 / grad.abs().sum()) * lr
            else:
                _remember(state, grad, group["history_size"])
                state["d"] = _direction(state, grad, group["history_size"])
                length = lr
            state["t"] = length
            direction = state["d"]
            if state.get("prev_flat_grad") is None:
                state["prev_flat_grad"] = grad.clone()
            else:
                state["prev_flat_grad"].copy_(grad)
            state["prev_loss"] = before = loss
            slope = grad.dot(direction)
            if slope > -change:
                break
            calls = 0
            if group["line_search_fn"] is None:
                _move(params, direction, length)
                if i != most:  # the last iteration's gradient would not be used
                    loss, calls = float(closure()), 1
                    grad = _flat_grad(group["params"])
                    flat = bool(grad.abs().max() <= smallest)
            elif group["line_search_fn"] == "strong_wolfe":
                search = _Line(closure, group["params"], direction)
                start = _Point(0, loss, grad, slope)
                found = search.strong_wolfe(start, length, group["max_eval"] - evaluated)
                calls, loss, grad = search.calls, found.loss, found.grad
                state["t"] = length = found.length
                _move(params, direction, length)
                flat = bool(grad.abs().max() <= smallest)
            else:
                raise RuntimeError("only 'strong_wolfe' is supported")
            evaluated += calls
            state["func_evals"] += calls
            if evaluated >= group["max_eval"] or flat or abs(loss - before) < change:
                break
            if direction.mul(length).abs().max() <= change:
                break
        return first


def _real(params):
    """Complex parameters as pairs of real numbers, which share their memory."""
    return [ops.view_as_real(param) if param.is_complex() else param for param in params]


def _flat_grad(params):
    """The gradients of all parameters in one row; zeros where there is none."""
    rows = []
    for param in params:
        grad = ops.zeros_like(param) if param.grad is None else param.grad
        grad = grad.to_dense() if grad.is_sparse else grad
        rows.append((ops.view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
    return ops.cat(rows)


def _move(params, direction, length):
    """Add a multiple of a direction, given as one row, to the parameters."""
    parts = direction.split([param.numel() for param in params])
    for param, part in zip(params, parts, strict=True):
        param.add_(part.view_as(param), alpha=as_scalar(length))


def _remember(state, grad, most):
    """Add the last step and the change of the gradient to the history, where they curve up."""
    turned = grad.sub(state["prev_flat_grad"])
    moved = state["d"].mul(state["t"])
    curvature = turned.dot(moved)
    if curvature > 1e-10:
        history = (state["old_dirs"], state["old_stps"], state["ro"])
        if len(state["ro"]) == most:
            for entries in history:
                del entries[0]
        for entries, new in zip(history, (turned, moved, 1.0 / curvature), strict=True):
            entries.append(new)
        state["H_diag"] = curvature / turned.dot(turned)


def _direction(state, grad, most):
    """Minus the inverse Hessian times the gradient: Nocedal's recursion of two loops."""
    history = list(zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True))
    factors = state.setdefault("al", [None] * most)
    row = grad.neg()
    for i, (turned, moved, inverse) in reversed(list(enumerate(history))):
        factors[i] = moved.dot(row) * inverse
        row.add_(turned, alpha=-factors[i].item())
    row = row.mul(state["H_diag"])
    for factor, (turned, moved, inverse) in zip(factors, history, strict=False):
        row.add_(moved, alpha=(factor - turned.dot(row) * inverse).item())
    return row


# ---- the search along a line: Nocedal and Wright, algorithms 3.5 and 3.6 ----


class _Point(NamedTuple):
    """One point of a line: how far, the loss there, its gradient and its slope along the line."""

    length: Any
    loss: float
    grad: Any
    slope: Any


class _Line:
    """The loss along a direction from where the parameters are; counts the calls of the closure."""

    def __init__(self, closure, params, direction):
        self.closure = closure
        self.params = params
        self.direction = direction
        self.origin = [param.clone() for param in params]
        self.calls = 0

    def at(self, length):
        _move(_real(self.params), self.direction, length)
        loss = float(self.closure())
        grad = _flat_grad(self.params)
        for param, value in zip(self.params, self.origin, strict=True):
            param.copy_(value)
        self.calls += 1
        return _Point(length, loss, grad, grad.dot(self.direction))

    def strong_wolfe(self, start, length, most, decrease=1e-4, flatter=0.9, change=1e-9):
        """A point that meets the strong Wolfe conditions, or the best of `most` attempts."""

        def too_high(point):
            return point.loss > start.loss + decrease * point.length * start.slope

        def flat(point):
            return abs(point.slope) <= -flatter * start.slope

        before, point = start, self.at(length)
        tries = 0
        while tries < most:
            if too_high(point) or (tries > 1 and point.loss >= before.loss):
                break
            if flat(point):
                return point
            if point.slope >= 0:
                break
            bounds = (point.length + 0.01 * (point.length - before.length), point.length * 10)
            before, point = point, self.at(_lowest(before, point, bounds))
            tries += 1
        else:
            before = start
        ends = [before, point]
        low = 0 if before.loss <= point.loss else 1
        stuck = False
        while tries < most:
            width = max(end.length for end in ends) - min(end.length for end in ends)
            if width * self.direction.abs().max() < change:
                break
            length, stuck = _inside(_lowest(*ends), ends, stuck)
            point = self.at(length)
            tries += 1
            if too_high(point) or point.loss >= ends[low].loss:
                ends[1 - low] = point
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            done = flat(point)
            if not done and point.slope * (ends[1 - low].length - ends[low].length) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = point
            if done:
                break
        return ends[low]


def _inside(length, ends, stuck):
    """`length`, moved off the ends if it keeps close to them; and whether it was close to one."""
    low, high = min(end.length for end in ends), max(end.length for end in ends)
    margin = 0.1 * (high - low)
    if min(high - length, length - low) >= margin:
        return length, False
    if stuck or length >= high or length <= low:
        nearer_high = abs(length - high) < abs(length - low)
        return (high - margin if nearer_high else low + margin), False
    return length, True


def _lowest(a, b, bounds=None):
    """Where the cubic through two points with their slopes is lowest, within bounds."""
    if b.length < a.length:
        a, b = b, a
    low, high = bounds or (a.length, b.length)
    first = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = first**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square.sqrt()
    share = (b.slope + root - first) / (b.slope - a.slope + 2 * root)
    return min(max(b.length - (b.length - a.length) * share, low), high)
