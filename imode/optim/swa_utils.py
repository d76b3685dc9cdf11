"""Averages of a model's weights over training: their update, batch norm's statistics, the rate."""

import itertools
import math
from copy import deepcopy

from imode import ops
from imode.errors import names_of as _names_of
from imode.guards import no_grad, normal_mode
from imode.nn import Module
from imode.nn.modules.norm import _BatchNorm

from .lr_scheduler import LRScheduler
from .lr_scheduler.base import check_strategy, per_group
from .lr_scheduler.base import value as number

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

__getattr__ = _names_of(__name__)


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _blends(tensors):
    """Whether lerp knows the dtype."""
    return tensors[0].is_floating_point() or tensors[0].is_complex()


def get_ema_multi_avg_fn(decay=0.999):
    """An update of a list of averages: each keeps `decay` of itself, the new value gives the rest.

    Raises ValueError for a decay outside [0, 1].

    >>> average, value = imode.zeros(1), imode.ones(1)
    >>> imode.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [value], 1)
    >>> average
    tensor([0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def update(averages, values, count):
        blends = _blends(averages)
        for average, value in zip(averages, values, strict=True):
            if blends:
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return update


def get_swa_multi_avg_fn():
    """An update of a list of averages of equal weight: of `count` values, by one value more.

    >>> average, value = imode.zeros(1), imode.ones(1)
    >>> imode.optim.swa_utils.get_swa_multi_avg_fn()([average], [value], 3)
    >>> average
    tensor([0.2500])
    """

    @no_grad()
    def update(averages, values, count):
        blends = _blends(averages)
        for average, value in zip(averages, values, strict=True):
            if blends:
                average.lerp_(value, float(1 / (count + 1)))
            else:
                average.addcdiv_(value - average, ops.as_tensor(count + 1))

    return update


def get_ema_avg_fn(decay=0.999):
    """As `get_ema_multi_avg_fn`, for one tensor; returns the new average.

    >>> imode.optim.swa_utils.get_ema_avg_fn(0.75)(imode.zeros(1), imode.ones(1), 1)
    tensor([0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def update(average, value, count):
        return decay * average + (1 - decay) * value

    return update


def get_swa_avg_fn():
    """As `get_swa_multi_avg_fn`, for one tensor; returns the new average.

    >>> imode.optim.swa_utils.get_swa_avg_fn()(imode.zeros(1), imode.ones(1), 3)
    tensor([0.2500])
    """

    @no_grad()
    def update(average, value, count):
        return average + (value - average) / (count + 1)

    return update


class AveragedModel(Module):
    """A copy of a model, in `module`, whose parameters are averages over training: Izmailov et al.

    `avg_fn(average, value, count)` returns a new average, `multi_avg_fn(averages, values, count)`
    updates lists of one dtype in place; without them all values weigh the same. With `use_buffers`
    buffers are averaged, else copied. `n_averaged` counts the updates.

    >>> model = imode.nn.Linear(1, 1, bias=False)
    >>> averaged = imode.optim.swa_utils.AveragedModel(model)
    >>> for number in (1.0, 3.0):
    ...     _ = imode.nn.init.constant_(model.weight, number)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    2.0
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ops.tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take the values of `model` into the averages; the first time they are copied."""
        with normal_mode(), no_grad():
            self._update(model)

    def _update(self, model):
        ours, theirs = (self.parameters() if not self.use_buffers else None), model.parameters()
        if self.use_buffers:
            ours = itertools.chain(self.module.parameters(), self.module.buffers())
            theirs = itertools.chain(theirs, model.buffers())
        pairs = [
            (average.detach(), value.detach().to(average.device))
            for average, value in zip(ours, theirs, strict=False)
        ]
        if self.n_averaged == 0:
            for average, value in pairs:
                average.copy_(value)
        elif self.multi_avg_fn is None:
            update = self.avg_fn or get_swa_avg_fn()
            for average, value in pairs:
                average.copy_(update(average, value, self.n_averaged))
        else:
            alike = {}
            for average, value in pairs:
                lists = alike.setdefault((average.device, average.dtype), ([], []))
                lists[0].append(average)
                lists[1].append(value)
            for averages, values in alike.values():
                self.multi_avg_fn(averages, values, self.n_averaged)
        if not self.use_buffers:
            for ours, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                ours.detach().copy_(theirs.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the statistics of a model's batch norms anew, by one pass over the data.

    `loader` gives batches: tensors, or lists or tuples whose first element is the model's input.

    >>> model = imode.nn.BatchNorm1d(1)
    >>> imode.optim.swa_utils.update_bn([imode.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    momenta = {part: part.momentum for part in model.modules() if isinstance(part, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for part in momenta:
        part.reset_running_stats()
        part.momentum = None  # all batches weigh the same
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for part, momentum in momenta.items():
        part.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Leads the rate from where it is to `swa_lr` in `anneal_epochs`, along a cosine or a line.

    `swa_lr` is a number, or a list with one for each group; `anneal_strategy` "cos" or "linear".
    Raises ValueError for other strategies, for a negative or fractional number of epochs.

    >>> optimizer = imode.optim.SGD([imode.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = imode.optim.swa_utils.SWALR(optimizer, 0.5, 2, "linear")
    >>> optimizer.step(); schedule.step()
    >>> schedule.get_last_lr()
    [0.75]
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = per_group("swa_lr", swa_lr, optimizer.param_groups)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        check_strategy(anneal_strategy)
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, done):
        """How much of the way is done, by the share of its epochs."""
        return (1 - math.cos(math.pi * done)) / 2 if self._anneal_strategy == "cos" else done

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, epoch / max(1, self.anneal_epochs))))
            for epoch in (step - 1, step)
        )
        rates = []
        for group in self.optimizer.param_groups:
            lr, last = number(group["lr"]), number(group["swa_lr"])
            start = last if before == 1 else (lr - before * last) / (1 - before)
            rates.append(last * now + start * (1 - now))
        return rates
