"""Schedules made of schedules."""

import bisect

from .base import LRScheduler
from .plateau import ReduceLROnPlateau

__all__ = ["ChainedScheduler", "SequentialLR"]


def _check(name, what, schedulers, optimizer):
    if len(schedulers) < 1:
        raise ValueError(f"{name} expects at least one scheduler{what}, but got no scheduler.")
    owner = schedulers[0].optimizer if optimizer is None else optimizer
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                "kwargs to be specified when calling `step`, but got one at index "
                f"{i} in the given schedulers sequence."
            )
        if scheduler.optimizer is not owner:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is "
                f"different from {type(owner).__name__}."
            )
    return owner


class _Combined(LRScheduler):
    def _undo(self):
        """Undo the steps that the schedules took when they were created."""
        for scheduler in self._schedulers:
            if isinstance(scheduler, _Combined):
                scheduler._undo()
            else:
                scheduler.last_epoch -= 1

    def state_dict(self):
        """Everything to save, except the optimizer; each schedule as its own state dict."""
        state = super().state_dict()
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Load what `state_dict` returned."""
        state = dict(state_dict)
        for scheduler, own in zip(self._schedulers, state.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(own)
        self.__dict__.update(state)


class SequentialLR(_Combined):
    """One schedule after the other: schedule i + 1 takes over at epoch `milestones[i]`.

    >>> weight = imode.nn.Parameter(imode.zeros(1))
    >>> optimizer = imode.optim.SGD([weight], lr=1.0)
    >>> schedules = imode.optim.lr_scheduler
    >>> first = schedules.ConstantLR(optimizer, 0.5)
    >>> second = schedules.ExponentialLR(optimizer, 0.5)
    >>> whole = schedules.SequentialLR(optimizer, [first, second], milestones=[1])
    >>> for _ in range(2): optimizer.step(); whole.step()
    >>> whole.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        _check("SequentialLR", "", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # each schedule has taken its first step already
            group["lr"] = group["initial_lr"]
        self._undo()
        first = schedulers[bisect.bisect_right(milestones, 0)]
        first._first_step()
        self._last_lr = first.get_last_lr()

    def step(self):
        """Go on by one and set the rates."""
        self.last_epoch += 1
        i = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once, each applied to the rate that the previous one has set.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> halves = [imode.optim.lr_scheduler.StepLR(optimizer, 1, 0.5) for _ in range(2)]
    >>> schedule = imode.optim.lr_scheduler.ChainedScheduler(halves)
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, schedulers, optimizer=None):
        self.optimizer = _check("ChainedScheduler", " to be chained", schedulers, optimizer)
        self._schedulers = schedulers
        self._last_lr = self._rates()

    def step(self):
        """Go on by one and set the rates."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()
