"""What all learning rate schedules share: the count of steps and the rates of the groups."""

import warnings

from imode._core.tensor import Tensor

from ..optimizer import Optimizer


class LRScheduler:
    """Sets the learning rate of every parameter group; subclasses define `get_lr`.

    `last_epoch` counts the steps; -1 starts afresh, another value resumes. `get_lr` gives a rate
    for each group, from the group's present "lr" and `base_lrs`, the rates it started with.

    >>> class Halves(imode.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halves(optimizer)
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

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
        """The present rate of each group."""
        return self._last_lr

    def step(self, epoch=None):
        """Go on by one (or to `epoch`) and set the rates."""
        if self._step_count == 1 and not self._is_initial:
            self._check_order()
        self._step_count += 1
        self._update(epoch)

    def _check_order(self):
        """Warn where the optimizer has not made a step before, or may do so unseen."""
        optimizer = self.optimizer
        if _function(optimizer.step) is not getattr(optimizer, "_watched_step", None):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Call it before `lr_scheduler.step()`, which cannot check that.",
                stacklevel=3,
            )
        # A step of the class's own may not set _stepped.
        elif type(optimizer).step is Optimizer.step and not optimizer._stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. The first value "
                "of the learning rate schedule is skipped: call `optimizer.step()` before it.",
                stacklevel=3,
            )

    def _update(self, epoch=None):
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", self.get_lr)
            rates = closed()
        self._set(rates)

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        self._last_lr = [value(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self):
        """Everything to save, the optimizer excepted."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def _rates(self):
        return [value(group["lr"]) for group in self.optimizer.param_groups]


def value(rate):
    return rate.item() if isinstance(rate, Tensor) else rate


def _function(method):
    return getattr(method, "__func__", method)
