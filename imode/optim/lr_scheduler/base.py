"""The base of all learning rate schedules: the count of steps and the rates of the groups."""

from imode._core.tensor import Tensor
from imode._core.user_frames import warn

from ..optimizer import Optimizer

__all__ = ["LRScheduler"]


class LRScheduler:
    """Sets the learning rate of every parameter group; subclasses define `get_lr`.

    `last_epoch` counts the steps; -1 starts from the beginning, another value resumes. `get_lr`
    returns a rate per group, computed from its present "lr" and its initial rate in `base_lrs`.

    >>> class Halves(imode.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halves(optimizer)
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False  # get_lr of others' schedules asks for it

    def __init__(self, optimizer, last_epoch=-1):
        self._attach(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", value(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in "
                    f"param_groups[{i}] when resuming scheduler with last_epoch >= 0."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        optimizer._watched_step = _function(optimizer.step)
        self._first_step()

    def _first_step(self):
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _attach(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer

    def get_lr(self):
        """The next rate of each group."""
        raise NotImplementedError

    def get_last_lr(self):
        """The current rate of each group."""
        return self._last_lr

    def step(self, epoch=None):
        """Advance by one epoch (or to `epoch`) and set the rates."""
        if self._step_count == 1 and not self._is_initial:
            self._check_order()
        self._step_count += 1
        self._update(epoch)

    def _check_order(self):
        """Warn if the optimizer has made no step yet, or its steps cannot be noticed."""
        optimizer = self.optimizer
        if _function(optimizer.step) is not getattr(optimizer, "_watched_step", None):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Call it before `lr_scheduler.step()`, which cannot check that.",
            )
        # A step() that a subclass defines may not set _stepped.
        elif type(optimizer).step is Optimizer.step and not optimizer._stepped:
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. The first value "
                "of the learning rate schedule is skipped: call `optimizer.step()` before it.",
            )

    def _update(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            self._set(self._next(epoch))
        finally:
            del self._get_lr_called_within_step

    def _next(self, epoch):
        if epoch is None:
            self.last_epoch += 1
            return self.get_lr()
        self.last_epoch = epoch
        return getattr(self, "_get_closed_form_lr", self.get_lr)()

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        self._last_lr = self._rates()

    def state_dict(self):
        """Everything to save, except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Load what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def _rates(self):
        return [value(group["lr"]) for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The name of LRScheduler in older code."""


class Factor(LRScheduler):
    """A schedule that multiplies the rates by `_step_factor()`; None leaves them unchanged.

    `_whole_factor()` is the factor of the initial rates, for `step(epoch)`.
    """

    def get_lr(self):
        factor = self._step_factor()
        return self._rates() if factor is None else [rate * factor for rate in self._rates()]

    def _get_closed_form_lr(self):
        factor = self._whole_factor()
        return [base * factor for base in self.base_lrs]


def per_group(name, given, groups):
    """One value per parameter group, from a number or a list."""
    if not isinstance(given, (list, tuple)):
        given = [given] * len(groups)
    elif len(given) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups")
    return [each.clone() if isinstance(each, Tensor) else each for each in given]


def value(rate):
    return rate.item() if isinstance(rate, Tensor) else rate


def _function(method):
    return getattr(method, "__func__", method)


def check_strategy(anneal_strategy):
    """Raise where the way from one rate to another is neither of the two."""
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
        )
