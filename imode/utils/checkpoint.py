"""Checkpointing: backward recomputes what forward did not keep, to save memory.

With `use_reentrant=False`, hooks on saved tensors put a holder in place of each tensor that the
function saves. The first holder that backward unpacks runs the function again; the tensors that
this second run saves belong, in order, to the holders. They are valid only for this call of
backward: with retain_graph the next call recomputes them. With `use_reentrant=True` the function is
one node, whose backward runs the function again, recorded, and then backward through that graph.
"""

import contextlib
import weakref
from collections import defaultdict

from imode._core.user_frames import warn

from .. import enable_grad, get_rng_state, is_grad_enabled, no_grad, set_rng_state
from .._core.tensor import Tensor
from ..autograd import Function, backward
from ..autograd.engine import current_task_id, runs_whole_graph
from ..autograd.graph import saved_tensors_hooks
from ..ops import empty

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """The second run of the function saved other tensors than the first."""


class _AllSaved(Exception):
    pass


def noop_context_fn():
    """The default `context_fn` of `checkpoint`: two blocks that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


# ---- what checkpoints of others call ------------------------------------------------------------


def detach_variable(inputs):
    """Return a tuple's tensors as leaves that require grad as they did, the rest as it is."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(map(_detached, inputs))


def check_backward_validity(inputs):
    """Warn where no tensor requires grad."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


def get_device_states(*args):
    """Return two empty lists: devices with generators of their own, and their states."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Do nothing: the CPU's generator is not among them."""


# ---- random numbers -----------------------------------------------------------------------------


@contextlib.contextmanager
def _random_state(state):
    """In this block random numbers continue from `state`; afterwards the old state is restored."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


# ---- one node -----------------------------------------------------------------------------------


def _detached(value):
    if not isinstance(value, Tensor):
        return value
    return value.detach().requires_grad_(value.requires_grad)


class CheckpointFunction(Function):
    """The function of `checkpoint(use_reentrant=True)` as one node."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        """Run the function without recording, and keep its arguments."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Run the function again, recorded, and run backward through that graph."""
        if not runs_whole_graph():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). Pass use_reentrant=False, or call "
                ".backward() without `inputs`."
            )
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        args = [_detached(a) for a in args]
        with _random_state(ctx.state), enable_grad():
            outputs = ctx.run_function(*args)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        recorded = [
            (output, grad)
            for output, grad in zip(outputs, grads)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not recorded:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward(*zip(*recorded, strict=True))
        return None, None, *(a.grad if isinstance(a, Tensor) else None for a in args)


# ---- holders of saved tensors -------------------------------------------------------------------


class _KeepInputs(Function):
    """Saves tensors as an operator does, so that a write to one is noticed."""

    @staticmethod
    def forward(ctx, dummy, *tensors):
        ctx.save_for_backward(*tensors)
        return empty((0,))

    @staticmethod
    def backward(ctx, *grads):
        raise AssertionError("this node is in no graph")


class _Handle:
    """The key of a saved tensor in one call of backward."""


class _Holder:
    """Saved in place of a tensor."""

    def __init__(self):
        self.handles = {}  # call of backward -> _Handle; None: the tensor was used


class _Frame:
    """One call of `checkpoint`: how to run the function again, and what it saved."""

    def __init__(self, run, early_stop, describe):
        self.run, self.early_stop, self.describe = run, early_stop, describe
        self.holders = []  # weak references, in the order of saving
        self.descriptions = []  # of their tensors
        self.complete = False  # forward has ended
        self.backward_inside = False  # the function itself ran backward: counts may differ
        # Per call of backward: what the second run saved, how much, and whether it has ended.
        self.tensors = defaultdict(weakref.WeakKeyDictionary)
        self.counts = defaultdict(int)
        self.done = set()

    def keep(self, args):
        """Keep the arguments until the function runs again."""
        self.others = [None if isinstance(a, Tensor) else a for a in args]
        self.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        dummy = empty((0,), requires_grad=True)
        self.kept = _KeepInputs.apply(dummy, *(args[i] for i in self.places)).grad_fn

    def arguments(self):
        """The arguments, as they were given."""
        args = list(self.others)
        for place, tensor in zip(self.places, self.kept.saved_tensors, strict=True):
            args[place] = tensor
        return args

    def pack(self, tensor):
        """In forward: a holder in place of the tensor."""
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.descriptions.append(self.describe(tensor))
        return holder

    def unpack(self, holder):
        """In backward: the tensor that the second run saved at the holder's position."""
        call = current_task_id()
        if call == -1:
            call = object()
        if call not in self.done:
            with contextlib.suppress(_AllSaved):
                hooks = saved_tensors_hooks(_repacking(weakref.ref(self), call), lambda kept: kept)
                with hooks, enable_grad():
                    self.run(*self.arguments())
            self.done.add(call)
            self.compare(call)
        handle = holder.handles.get(call)
        if handle is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. Read ctx.saved_tensors once in a custom function's backward."
            )
        holder.handles[call] = None
        return self.tensors[call].pop(handle)

    def repack(self, tensor, call):
        """In the second run: keep a tensor for the holder at its position; returns the tensor."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        place = self.counts[call]
        self.counts[call] += 1
        if place >= len(self.holders):
            if not self.complete:
                self.backward_inside = True
                return tensor
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                f"during the original forward pass. That saved {len(self.holders)}."
            )
        holder = self.holders[place]()
        if holder is not None:  # else its graph has been freed
            handle = holder.handles[call] = _Handle()
            self.tensors[call][handle] = tensor
        if self.early_stop and self.counts[call] == len(self.holders):
            raise _AllSaved
        return tensor

    def compare(self, call):
        """Raise if the second run saved other tensors than the first."""
        if self.backward_inside:
            return
        if len(self.holders) != self.counts[call]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {self.counts[call]}."
            )
        different = []
        for place, (holder, before) in enumerate(zip(self.holders, self.descriptions, strict=True)):
            if holder() is None:
                continue
            after = self.describe(self.tensors[call][holder().handles[call]])
            if after != before:
                different.append(
                    f"tensor at position {place}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {after}\n"
                )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass.\n" + "".join(different)
            )


def _repacking(frame, call):
    """The pack hook of a second run; it does not keep the frame alive."""
    return lambda tensor: frame().repack(tensor, call)


def _describe(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS = {"default": _describe, "none": lambda tensor: None}
_early_stop = None  # from set_checkpoint_early_stop, for all threads; None: use the argument


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Set, for a block, whether second runs stop after the last tensor that is needed.

    It overrides the argument in calls of `checkpoint(use_reentrant=False)` in the block.

    >>> with imode.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = imode.utils.checkpoint.checkpoint(imode.sin, imode.ones(1), use_reentrant=False)
    """
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def _with_holders(
    function, preserve, context_fn, determinism_check, debug, early_stop, args, kwargs
):
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}"
        )
    first, second = context_fn()
    state = get_rng_state() if preserve else None
    if not is_grad_enabled():
        return function(*args, **kwargs)

    def run(*args):
        with _random_state(state), second:
            function(*args, **kwargs)

    early_stop = early_stop if _early_stop is None else _early_stop
    frame = _Frame(run, early_stop, _CHECKS[determinism_check])
    frame.keep(args)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. There is no result to return"
        )
    return result


# ---- public functions ---------------------------------------------------------------------------


def _reentrant(name, use_reentrant):
    if use_reentrant is not None:
        return use_reentrant
    warn(
        f"{name}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
        "recommended; without it, use_reentrant=True is taken.",
    )
    return True


def _refuse_others(kwargs):
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """Return `function(*args, **kwargs)`; backward recomputes what the function would save.

    use_reentrant: False: hooks on saved tensors, for any graph and for `autograd.grad`; True: one
    node, whose backward calls backward: only tensors directly in `args` get gradients, and keywords
    raise ValueError. context_fn: returns two context managers, for the first and the second run.
    determinism_check: "none": do not compare what the second run saves. early_stop: stop the second
    run after the last tensor that is needed. preserve_rng_state=False: the second run may draw
    other random numbers than the first. debug: has no effect.

    Raises CheckpointError in backward if the second run saves other tensors.

    >>> x = imode.ones(1, requires_grad=True)
    >>> y = imode.utils.checkpoint.checkpoint(lambda x: x.exp().log(), x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor([1.])
    """
    use_reentrant = _reentrant("torch.utils.checkpoint", use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _with_holders(
            function, preserve, context_fn, determinism_check, debug, early_stop, args, kwargs
        )
    _refuse_others(kwargs)
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)


def _run_all(functions):
    def forward(input):
        for function in functions:
            input = function(input)
        return input

    return forward


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Run a Sequential or a list of functions in `segments` parts, all but the last checkpointed.

    use_reentrant, preserve_rng_state: as in `checkpoint`; ValueError for other keywords.

    >>> x = imode.ones(1, requires_grad=True)
    >>> parts = [imode.sin, imode.cos, imode.exp]
    >>> y = imode.utils.checkpoint.checkpoint_sequential(parts, 2, x, use_reentrant=False)
    """
    from ..nn import Sequential  # which itself imports imode.utils

    name = "torch.utils.checkpoint.checkpoint_sequential"
    use_reentrant = _reentrant(name, use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    _refuse_others(kwargs)
    if isinstance(functions, Sequential):
        functions = list(functions.children())
    length = len(functions) // segments
    end = 0
    for start in range(0, length * (segments - 1), length):
        end = start + length
        input = checkpoint(
            _run_all(functions[start:end]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _run_all(functions[end:])(input)
