"""Dispatch modes: classes whose method sees every operator below autograd."""

import contextlib

from imode._core.watchers import dispatch_modes, enter_mode, leave_mode

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """A block in which a method of one's own sees every operator that its thread runs.

    `__torch_dispatch__(func, types, args, kwargs)` is called instead of the kernel: below autograd,
    which records what it records anyway, and after composite operators have called their parts.
    `func` is the operator; `func(*args, **kwargs)` runs it. What the method returns is the result.
    While it runs, the mode is off, and modes around it are on. Modes are per thread.

    Leaving a mode before one that was entered later raises RuntimeError, and turns it off.

    >>> class Names(imode.utils._python_dispatch.TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x = imode.ones(2, 2)
    >>> with Names():
    ...     y = (x @ x).relu()
    aten.mm.default
    aten.relu.default
    """

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise TypeError(
                f"{type(self).__name__}(): a mode is below autograd, of whatever dispatch key; "
                "drop the argument _dispatch_key"
            )

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(
            f"{type(self).__name__} has no method __torch_dispatch__(self, func, types, args=(), "
            "kwargs=None): define it"
        )

    def __enter__(self):
        enter_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        leave_mode(self)

    @classmethod
    def push(cls, *args, **kwargs):
        """The same as the class: an older spelling of `with`."""
        return cls(*args, **kwargs)


def _get_current_dispatch_mode_stack():
    """The modes that are on in this thread, the outermost first."""
    return dispatch_modes()


def _get_current_dispatch_mode():
    """The innermost mode that is on in this thread, or None."""
    modes = dispatch_modes()
    return modes[-1] if modes else None


@contextlib.contextmanager
def _disable_current_modes():
    """A block in which the modes that are on now are off; gives a list of them."""
    modes = dispatch_modes()
    for mode in reversed(modes):
        leave_mode(mode)
    try:
        yield modes
    finally:
        for mode in modes:
            enter_mode(mode)
