"""The graph from outside: nodes, edges, saved tensors and hooks on several tensors at once."""

import contextlib
import functools
import threading
import weakref

from imode import errors
from imode.errors import names_of as _names_of

from .drawing import Picture, draw
from .edges import GradientEdge
from .engine import current_task_id, will_run
from .entry import gradient_edge, increment_version
from .node import Node
from .saved import disable_hooks, observe_writes, pop_hooks, push_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "Picture",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "draw",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor):
    """Where the gradient of `tensor` is computed: a `GradientEdge` to give `grad` or `backward`.

    `grad(loss, edge)` gives what `grad(loss, tensor)` gives, without keeping the tensor alive.
    Raises RuntimeError for a tensor that does not require grad.

    >>> import imode
    >>> x = imode.tensor(2.0, requires_grad=True)
    >>> edge = imode.autograd.graph.get_gradient_edge(x)
    >>> imode.autograd.grad(x * x, edge)
    (tensor(4.),)
    """
    return GradientEdge(*gradient_edge(tensor))


# ---- saved tensors ----


class saved_tensors_hooks:
    """In this block, keep `pack_hook(tensor)` in place of every tensor that is saved for backward.

    `unpack_hook`, called with what `pack_hook` returned, must give a Tensor of the same content,
    each time it is needed; anything else raises TypeError. The hooks apply to this thread; in
    nested blocks, those of the innermost. A pack hook runs once, unrecorded, and must not write to
    its argument (RuntimeError).

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> with imode.autograd.graph.saved_tensors_hooks(imode.Tensor.half, imode.Tensor.float):
    ...     y = x.exp()
    >>> y.grad_fn._raw_saved_result.data.dtype
    imode.float16
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc_info):
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU. They are there already, so this changes nothing.

    For scripts that are also run on other devices. Both arguments are ignored.

    >>> x = imode.ones(1, requires_grad=True)
    >>> with imode.autograd.graph.save_on_cpu(pin_memory=True):
    ...     y = x * x
    >>> imode.autograd.grad(y, x)
    (tensor([2.]),)
    """

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(
            lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0])
        )


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """In this block, `saved_tensors_hooks` raises RuntimeError(error_message), in this thread.

    >>> with imode.autograd.graph.disable_saved_tensors_hooks("none here"):
    ...     imode.ones(1, requires_grad=True).exp()
    tensor([2.7183], grad_fn=<ExpBackward0>)
    """
    before = disable_hooks(error_message)
    try:
        yield
    finally:
        disable_hooks(before)


# ---- writing to what was saved ----


class _Snapshot:
    """A saved tensor as it was when saved: becomes a copy when its storage is about to change."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor):
        self.tensor = tensor


def _memory(tensor):
    """A number that a tensor, its views and its `.data` have in common: that of their memory."""
    return tensor.untyped_storage().data_ptr()


class _Mutations:
    """The tensors saved in one block, by their memory."""

    def __init__(self):
        self._snapshots = {}
        self._open = True

    def pack(self, tensor):
        snapshot = _Snapshot(tensor.detach())
        self._snapshots.setdefault(_memory(tensor), weakref.WeakSet()).add(snapshot)
        return snapshot

    def unpack(self, snapshot):
        if not self._open:
            # "contextin" is how the sentence is known.
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin "
                "which the graph was originally recorded."
            )
        return snapshot.tensor

    def before_write(self, tensor):
        for snapshot in self._snapshots.pop(_memory(tensor), ()):
            snapshot.tensor = snapshot.tensor.clone()

    def clear(self):
        self._snapshots.clear()
        self._open = False


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """In this block, tensors that were saved for backward may be written to in place.

    A tensor is copied when a write is about to change it. Backward, which must run in the same
    block, uses the copy; outside of such a block it raises. Blocks do not nest (RuntimeError).

    >>> import imode
    >>> x = imode.tensor([3.0], requires_grad=True)
    >>> with imode.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y**2).sum()
    ...     _ = y.sin_()
    ...     z.backward()
    >>> x.grad
    tensor([6.])
    """
    mutations = _Mutations()
    before = observe_writes(mutations.before_write)
    if before is not None:
        observe_writes(before)
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    try:
        with saved_tensors_hooks(mutations.pack, mutations.unpack):
            yield mutations
    finally:
        observe_writes(None)
        mutations.clear()


# ---- hooks on several tensors ----


class _Handles:
    """The handles of the hooks that one call has registered."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Remove all of the hooks; calling it again does nothing."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` when the gradients of several tensors have been computed; returns a handle.

    `mode="all"`: once per backward, with the list of their gradients, None for tensors that this
    backward does not reach. `mode="any"`: with the first gradient of any tensor that requires
    grad. Raises ValueError for another mode, and with "all" AssertionError for a tensor that does
    not require grad.

    >>> import imode
    >>> x, y = imode.ones(2, requires_grad=True), imode.ones(2, requires_grad=True)
    >>> handle = imode.autograd.graph.register_multi_grad_hook([x, y], print)
    >>> (x * 2).sum().backward()
    [tensor([2., 2.]), None]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return _Handles(_first_of(tensors, fn))
    return _Handles(_all_of(tuple(tensors), fn))


def _first_of(tensors, fn):
    lock = threading.Lock()
    done = {}

    @functools.wraps(fn)
    def hook(grad):
        with lock:
            # One number per call of backward; only the last few calls can still be running.
            task = current_task_id()
            if task in done:
                return
            done[task] = None
            while len(done) > 1000:
                del done[next(iter(done))]
        fn(grad)

    return [tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad]


def _all_of(tensors, fn):
    nodes = []
    for tensor in tensors:
        if not tensor.requires_grad:
            raise errors.graph.no_gradient_function(
                "register_multi_grad_hook waits for tensors that require grad."
            )
        nodes.append(gradient_edge(tensor)[0])
    lock = threading.Lock()
    running = {}  # task -> [how many gradients are still to come, the gradients]

    def hook_of(index):
        def hook(grad):
            task = current_task_id()
            with lock:
                if task not in running:
                    running[task] = [sum(map(will_run, nodes)), [None] * len(nodes)]
                state = running[task]
                state[0] -= 1
                state[1][index] = grad
                if state[0]:
                    return
                del running[task]
            fn(state[1])

        return hook

    return [tensor.register_hook(hook_of(index)) for index, tensor in enumerate(tensors)]


__getattr__ = _names_of(__name__)
