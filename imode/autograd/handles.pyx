"""Tables of hooks, the handles that remove hooks from them, and calling the hooks."""
import weakref
from itertools import count

from imode._core.geometry cimport same_shape
from imode._core.tensor cimport Tensor, typenum

from imode._core.type_names import class_name, tensor_type

cdef object _ids = count()


class RemovableHandle:
    """Removes one hook from its table, by `remove()` or at the end of a `with`.

    `id` is the hook's key in the table. The handle refers to the table weakly, so it does not keep
    the hooks of a dead module or graph alive.
    """

    def __init__(self, hooks):
        self.id = next(_ids)
        self._hooks = weakref.ref(hooks)

    def remove(self):
        """Remove the hook; calling it again does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()

    def __getstate__(self):
        return self._hooks(), self.id

    def __setstate__(self, state):    # of a copy: its table is the copy's
        global _ids
        hooks, self.id = state
        self._hooks = _gone if hooks is None else weakref.ref(hooks)
        _ids = count(max(next(_ids), self.id + 1))


def _gone():
    """What a weak reference to a dead table gives; as that, it is called."""


cdef object add_hook(object table, object hook):
    if not callable(hook):
        raise TypeError(f"expected a callable hook, got {type(hook).__name__}")
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


cdef object checked(object before, object result, object hook):
    """What a hook returned to replace `before`; raises if it does not look like `before`."""
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if type(result) is not Tensor:
        raise TypeError(f"expected Variable, but hook returned '{class_name(result)}'. "
                        "A hook returns a Tensor, or None to leave the gradient as it is")
    name = getattr(hook, "__name__", "<unknown>")
    if typenum(<Tensor>before) != typenum(<Tensor>result):
        raise RuntimeError(f"hook '{name}' has changed the type of value (was "
                           f"{tensor_type(before.dtype)} got {tensor_type(result.dtype)})")
    if not same_shape(<Tensor>before, <Tensor>result):
        raise RuntimeError(f"hook '{name}' has changed the size of value. It was "
                           f"{list(before.shape)} and became {list(result.shape)}")
    return result


cdef object call_hooks(object table, object gradient):
    for hook in list(table.values()):
        result = hook(gradient)
        if result is not None:
            gradient = checked(gradient, result, hook)
    return gradient
