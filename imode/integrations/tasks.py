"""What the engines have in common: inference, training and searches as tasks that keep nothing.

An engine has `put(value)`, a reference that a task gets the value of; `submit(function, *args)`, a
future; `gather(futures)`, their results in order; `as_completed(futures)`, them as they end. Since
a task keeps nothing, an engine runs it again on another worker when its own one dies.

Guards travel: a task runs in the modes of the thread that submitted it.
"""

import copy
import pickle
import uuid
from collections import deque
from itertools import islice

from imode import autograd, guards, inference_mode, ops
from imode._core.dispatch import is_grad_enabled, is_inference_mode_enabled
from imode._tensor import copying

_KEPT = 8  # values that were sent: a worker keeps the last few, a model among them
_arrived = {}  # token -> value


class Sent:
    """A value as it is sent: a task gets the value itself, and its tensors are not copied.

    They lie over the memory in which they came, which can be read-only: the engine's, shared by
    all workers of a machine. `own=True` gives each task a copy of its own instead, to write;
    `keep=True` has a worker unpack the value once for all tasks.
    """

    def __init__(self, value, own=False, keep=False):
        self.value, self.own, self.token = value, own, uuid.uuid4().hex if keep else ""

    def __reduce_ex__(self, protocol):
        buffers = []
        data = _dumps(self.value, buffers.append)
        return _receive, (self.own, self.token, data, buffers)


class Packed:
    """A value in one piece of bytes, which a task unpacks: for engines that would copy it whole."""

    def __init__(self, value):
        self.data = _dumps(value)


def itself(value):
    """The argument: a task whose result lies on the workers."""
    return value


def _dumps(value, callback=None):
    """Functions and classes of the main program are pickled as code: it is not on the workers."""
    try:
        import cloudpickle
    except ImportError:
        from ray import cloudpickle
    return cloudpickle.dumps(value, 5, callback)


def _receive(own, token, data, buffers):
    if token in _arrived:
        return _arrived[token]
    if own:
        return pickle.loads(data, buffers=[bytearray(each) for each in buffers])
    with copying.lent():
        value = pickle.loads(data, buffers=buffers)
    if token:
        while len(_arrived) >= _KEPT:
            _arrived.pop(next(iter(_arrived)), None)
        _arrived[token] = value
    return value


def _there(value):
    """What a task gets: unpacked, or, in the process that sends, what was never pickled."""
    if type(value) is Packed:
        return pickle.loads(value.data)
    if type(value) is not Sent:
        return value
    return copy.deepcopy(value.value) if value.own else value.value


def modes():
    """The modes of this thread, to be sent along."""
    return is_inference_mode_enabled(), is_grad_enabled()


def run(modes, function, *args):
    """Call a function in the modes that a task brings, in the worker."""
    with inference_mode(modes[0]), guards.set_grad_enabled(modes[1] and not modes[0]):
        return function(*map(_there, args))


# ---- inference ----


def _predict(model, batches):
    model = model.eval()
    with inference_mode():
        return [model(batch) for batch in batches]


def map_batches(engine, model, batches, in_flight=8, per_task=1):
    """Yield `model(batch)` of each batch, in order, computed in inference mode on the workers.

    Each worker has the model once, in evaluation mode. `in_flight` tasks are on the way at most, of
    `per_task` batches each: give more than one where a batch takes less than some 50 ms, for an
    engine takes a few ms for a task, whatever is in it.
    """
    model, waiting, batches = engine.put(Sent(model, keep=True)), deque(), iter(batches)
    while group := list(islice(batches, per_task)):
        waiting.append(engine.submit(_predict, model, Sent(group)))
        if len(waiting) >= in_flight:
            yield from engine.gather([waiting.popleft()])[0]
    while waiting:
        yield from engine.gather([waiting.popleft()])[0]


# ---- training ----


def _gradients(model, loss, inputs, target):
    with guards.enable_grad():
        value = loss(model(inputs), target)
        wanted = [p for p in model.parameters() if p.requires_grad]
        return value.detach(), autograd.grad(value, wanted, allow_unused=True)


def backward(engine, model, loss, inputs, target, parts):
    """Add the gradients of `loss(model(inputs), target)` to the parameters' `.grad`; return it.

    The batch is cut into `parts`, one task each. `loss` must be a mean over the batch: the parts'
    gradients are averaged by their sizes, which gives the whole batch's, to rounding. What the
    model writes in forward, such as the statistics of a batch norm, stays in the tasks.
    """
    model_there = engine.put(Sent(model, own=True))
    pieces = list(zip(inputs.chunk(parts), target.chunk(parts), strict=True))
    futures = [engine.submit(_gradients, model_there, loss, *map(Sent, piece)) for piece in pieces]
    total = ops.zeros(())
    with guards.no_grad():
        wanted = [p for p in model.parameters() if p.requires_grad]
        for (x, _), (value, found) in zip(pieces, engine.gather(futures), strict=True):
            share = len(x) / len(inputs)
            total = total + value * share
            for parameter, gradient in zip(wanted, found, strict=True):
                if gradient is not None:
                    gradient = gradient * share
                    before = parameter.grad
                    parameter.grad = gradient if before is None else before + gradient
    return total


def _train_client(model, train, data):
    with guards.enable_grad():
        said = train(model, data)
    return model.state_dict(), said


def federated(engine, model, train, clients, rounds=1):
    """Train by federated averaging; yield after each round what `train` returned for each client.

    In a round `train(model, data)` trains a copy of the model for each of `clients`, on a worker;
    the model then gets their average, weighted by `len(data)`. Integers are the largest of all.
    McMahan et al., "Communication-Efficient Learning of Deep Networks", 2017.
    """
    share = [len(data) / sum(map(len, clients)) for data in clients]
    clients = [engine.put(Sent(data, own=True)) for data in clients]
    for _ in range(rounds):
        there = engine.put(Sent(model, own=True))
        futures = [engine.submit(_train_client, there, train, data) for data in clients]
        states, said = zip(*engine.gather(futures), strict=True)
        with guards.no_grad():
            mean = {name: _mean([s[name] for s in states], share) for name in states[0]}
        model.load_state_dict(mean)
        yield list(said)


def _mean(values, share):
    if not values[0].is_floating_point():
        return ops.stack(values).amax(0)
    return sum(value * part for value, part in zip(values, share, strict=True))


def search(engine, function, trials):
    """Yield (trial, `function(**trial)`) of each trial, a dict of hyperparameters, as they end."""
    futures = {engine.submit(_call, function, trial): trial for trial in trials}
    for future in engine.as_completed(list(futures)):
        yield futures[future], engine.gather([future])[0]


def _call(function, trial):
    return function(**trial)
