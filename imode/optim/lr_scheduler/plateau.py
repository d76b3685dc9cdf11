"""The schedule that depends on a metric."""

import math

from .base import LRScheduler, value

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a metric has not improved for more than `patience` steps.

    `step(metrics)` takes the metric. `mode`: whether "min" or "max" is better; `threshold`: the
    least improvement, relative ("rel") or absolute ("abs"); `cooldown`: steps to wait after a
    change.

    >>> weight = imode.nn.Parameter(imode.zeros(1))
    >>> optimizer = imode.optim.SGD([weight], lr=1.0)
    >>> schedule = imode.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    >>> for _ in range(4): schedule.step(0.5)
    >>> optimizer.param_groups[0]["lr"]
    0.1
    """

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self._attach(optimizer)
        groups = optimizer.param_groups
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(groups)
        if len(self.min_lrs) != len(groups):
            raise ValueError(f"expected {len(groups)} min_lrs, got {len(self.min_lrs)}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = [value(group["lr"]) for group in groups]
        self._reset()

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        """Whether it waits after a reduction."""
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether metric `a` is better than `best` by the threshold."""
        if self.threshold_mode == "rel":
            return a < best * (1 - self.threshold) if self.mode == "min" else (
                a > best * (1 + self.threshold)
            )  # fmt: skip
        return a < best - self.threshold if self.mode == "min" else a > best + self.threshold

    def step(self, metrics, epoch=None):
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _reduce(self):
        groups = len(self.optimizer.param_groups)
        if len(self.min_lrs) != groups:
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({groups}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a "
                    "new param group being added to the optimizer. Append its lowest rate to "
                    "`min_lrs`."
                )
            self.min_lrs = [self.default_min_lr] * groups
        rates = []
        for low, old in zip(self.min_lrs, self._rates(), strict=True):
            new = max(old * self.factor, low)
            rates.append(new if old - new > self.eps else old)
        self._set(rates)
