"""Hooks of optimizers: around a step, around saving the state and around loading it.

The first hook puts an object in the place of the optimizer's method, on that optimizer alone:
others pay nothing for them, and a `step` that a subclass defines has them, too. As in PyTorch,
copies and pickles of the optimizer have none.
"""

from collections import OrderedDict
from functools import update_wrapper

from imode.utils.hooks import RemovableHandle


class Hooked:
    """A method of an optimizer, with the hooks that are called before it and after it."""

    def __init__(self, optimizer, method):
        self._optimizer, self.before, self.after = optimizer, OrderedDict(), OrderedDict()
        self.__func__ = method  # which schedules compare
        update_wrapper(self, method)


class _Step(Hooked):
    def __call__(self, *args, **kwargs):
        args = (self._optimizer, *args)
        for hook in list(self.before.values()):
            result = hook(self._optimizer, args, kwargs)
            if result is not None:
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(
                        f"{self.__func__} must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {result}."
                    )
                args, kwargs = result
        loss = self.__func__(*args, **kwargs)
        for hook in list(self.after.values()):
            hook(self._optimizer, args, kwargs)
        return loss


class _StateDict(Hooked):
    def __call__(self):
        for hook in list(self.before.values()):
            hook(self._optimizer)
        state = self.__func__(self._optimizer)
        for hook in list(self.after.values()):
            changed = hook(self._optimizer, state)
            state = state if changed is None else changed
        return state


class _LoadStateDict(Hooked):
    def __call__(self, state_dict):
        state_dict = state_dict.copy()
        for hook in list(self.before.values()):
            changed = hook(self._optimizer, state_dict)
            state_dict = state_dict if changed is None else changed
        self.__func__(self._optimizer, state_dict)
        for hook in list(self.after.values()):
            hook(self._optimizer)


_CLASSES = {"step": _Step, "state_dict": _StateDict, "load_state_dict": _LoadStateDict}


def register(optimizer, name, when, hook, prepend=False):
    """Add a hook to a method, "before" or "after" it; returns the handle that removes it."""
    found = optimizer.__dict__.get(name)
    if not isinstance(found, Hooked):
        method = getattr(type(optimizer), name)
        found = optimizer.__dict__[name] = _CLASSES[name](optimizer, method)
    table = getattr(found, when)
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
