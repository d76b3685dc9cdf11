"""Schedules that go down and up again, some with the momentum in the opposite direction."""

import math
import types

from .base import LRScheduler, check_strategy, per_group

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


def _momentum_key(optimizer):
    """The name of the momentum in a group: "momentum", or "betas", of which it is the first."""
    for key in ("momentum", "betas"):
        if key in optimizer.defaults:
            return key
    raise ValueError(
        "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
    )


def _set_momentum(group, key, momentum):
    group[key] = (momentum, *group["betas"][1:]) if key == "betas" else momentum


def _cosine(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start, end, part):
    return (end - start) * part + start


def _phase(end, start_lr, end_lr, start_momentum, end_momentum):
    """A part of OneCycleLR: its last step, its first and last rate and momentum by their names."""
    return {
        "end_step": end,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` in `T_0` epochs, again and again.

    Each takes `T_mult` times as long as the one before. `step(epoch)` accepts fractions of epochs.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [1.0]
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = self.T_cur / self.T_i
        return [_cosine(base, self.eta_min, part) for base in self.base_lrs]

    def step(self, epoch=None):
        if epoch is not None and epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            passed = self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_cur, self.T_i = epoch - passed, self.T_0 * self.T_mult**restarts
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


class CyclicLR(LRScheduler):
    """From `base_lr` to `max_lr` and back, and the momentum in the opposite direction.

    `mode`: "triangular"; "triangular2": each cycle half as high; "exp_range": `gamma**step` times
    as high. Instead, `scale_fn` may give the height, for the cycle or the step (`scale_mode`).

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, 2, cycle_momentum=False)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        self._attach(optimizer)
        groups = optimizer.param_groups
        base_lrs = per_group("base_lr", base_lr, groups)
        if last_epoch == -1:
            for group, rate in zip(groups, base_lrs, strict=True):
                group["lr"] = rate
        self.max_lrs = per_group("max_lr", max_lr, groups)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "cycle"
        if scale_fn is None and mode == "exp_range":
            self.scale_mode = "iterations"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            key = _momentum_key(optimizer)
            self.use_beta1 = key == "betas"
            self.base_momentums = per_group("base_momentum", base_momentum, groups)
            self.max_momentums = per_group("max_momentum", max_momentum, groups)
            for group, low, high in zip(
                groups, self.base_momentums, self.max_momentums, strict=True
            ):
                if last_epoch == -1:
                    _set_momentum(group, key, high)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """The height of cycle or step `x`, relative to the full height."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        scale = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = scale * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            key = _momentum_key(self.optimizer)
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                _set_momentum(group, key, high - (high - low) * height)
        return [
            base + (top - base) * height
            for base, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self):
        """Everything to save, except the optimizer and a function; an object by its attributes."""
        state = super().state_dict()
        scale = state["_scale_fn_custom"]
        saved = None if scale is None or isinstance(scale, types.FunctionType) else vars(scale)
        state["_scale_fn_custom"] = saved and saved.copy()
        return state

    def load_state_dict(self, state_dict):
        """Load what `state_dict` returned."""
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if saved is not None:
            vars(self._scale_fn_custom).update(saved)


class OneCycleLR(LRScheduler):
    """Once up to `max_lr` and down to nearly 0, and the momentum in the opposite direction.

    There are `total_steps`, or `epochs * steps_per_epoch`, steps; one more raises ValueError.
    Defined in Smith and Topin, "Super-Convergence" (2018).

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 9, cycle_momentum=False)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.9944154354509117]
    """

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        self._attach(optimizer)
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        else:
            for name, count in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
                if count <= 0 or not isinstance(count, int):
                    raise ValueError(f"Expected positive integer {name}, but got {count}")
            self.total_steps = epochs * steps_per_epoch
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        check_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        peak, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        phases = [_phase(peak, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            down = _phase(2 * peak, "max_lr", "initial_lr", "base_momentum", "max_momentum")
            phases += [down, _phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            phases += [_phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases = phases
        groups = optimizer.param_groups
        if last_epoch == -1:
            for group, top in zip(groups, per_group("max_lr", max_lr, groups), strict=True):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            key = _momentum_key(optimizer)
            self.use_beta1 = key == "betas"
            highs = per_group("max_momentum", max_momentum, groups)
            lows = per_group("base_momentum", base_momentum, groups)
            if last_epoch == -1:
                for group, low, high in zip(groups, lows, highs, strict=True):
                    _set_momentum(group, key, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        anneal = _cosine if self._anneal_func_type == "cos" else _linear
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                momentum = anneal(first, last, part)
                _set_momentum(group, _momentum_key(self.optimizer), momentum)
        return rates
