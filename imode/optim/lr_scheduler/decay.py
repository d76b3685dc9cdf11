"""Schedules by a formula of the epoch."""

import collections
import math
from types import FunctionType

from .base import Factor, LRScheduler

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]


class _ByFunction(LRScheduler):
    """By a function of the epoch; one function, or one per group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def _scaled(self, rates):
        return [
            rate * scale(self.last_epoch)
            for scale, rate in zip(self.lr_lambdas, rates, strict=True)
        ]

    def state_dict(self):
        """Everything to save, except the optimizer; of callable objects, their attributes."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if isinstance(scale, FunctionType) else scale.__dict__.copy()
            for scale in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict):
        """Load what `state_dict` returned."""
        state = dict(state_dict)
        for scale, own in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if own is not None:
                scale.__dict__.update(own)
        self.__dict__.update(state)


class LambdaLR(_ByFunction):
    """The initial rate times `lr_lambda(epoch)`; one function, or one per group.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def get_lr(self):
        return self._scaled(self.base_lrs)


class MultiplicativeLR(_ByFunction):
    """The current rate times `lr_lambda(epoch)`; one function, or one per group.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def get_lr(self):
        return self._rates() if self._is_initial else self._scaled(self._rates())


class StepLR(Factor):
    """The rate times `gamma` every `step_size` epochs.

    >>> weight = imode.nn.Parameter(imode.zeros(1))
    >>> optimizer = imode.optim.SGD([weight], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else None

    def _whole_factor(self):
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(Factor):
    """The rate times `gamma` at each epoch in `milestones`.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1], gamma=0.5)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = collections.Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        times = self.milestones[self.last_epoch]
        return self.gamma**times if times else None

    def _whole_factor(self):
        return self.gamma ** sum(
            times for epoch, times in self.milestones.items() if epoch <= self.last_epoch
        )


class ExponentialLR(Factor):
    """The rate times `gamma` every epoch.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        return None if self._is_initial else self.gamma

    def _whole_factor(self):
        return self.gamma**self.last_epoch


class ConstantLR(Factor):
    """The rate times `factor` until epoch `total_iters`, then the full rate.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=4)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        if self.last_epoch == 0:
            return self.factor
        return None if self.last_epoch != self.total_iters else 1.0 / self.factor

    def _whole_factor(self):
        return 1.0 if self.last_epoch >= self.total_iters else self.factor


class LinearLR(Factor):
    """The rate times a factor that goes linearly from start_factor to end_factor.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=4)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.75]
    """

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return 1.0 + rise / before

    def _whole_factor(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part


class PolynomialLR(Factor):
    """The initial rate times a power of the share of `total_iters` epochs that is left.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _step_factor(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return ((1.0 - self.last_epoch / self.total_iters) / before) ** self.power

    def _whole_factor(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return left**self.power


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to `eta_min` in `T_max` epochs along half a cosine, and back.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> for _ in range(2): optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.0]
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and t > 0:
            scale = (1 + math.cos(t * math.pi / self.T_max)) / 2
            return [low + (base - low) * scale for base in self.base_lrs]
        if (t - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            rates = zip(self._rates(), self.base_lrs, strict=True)
            return [rate + (base - low) * rise for rate, base in rates]
        # As a factor of the current rate, which other schedules may have changed.
        now = 1 + math.cos(math.pi * t / self.T_max)
        last = 1 + math.cos(math.pi * (t - 1) / self.T_max)
        return [now / last * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self):
        scale = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * scale / 2 for base in self.base_lrs]
