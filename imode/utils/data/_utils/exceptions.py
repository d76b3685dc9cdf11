"""Exceptions that are raised again in another process."""

import sys
import traceback

__all__ = ["ExceptionWrapper", "KeyErrorMessage"]


class KeyErrorMessage(str):
    """A message that a KeyError shows as it is, in lines."""

    __slots__ = ()

    def __repr__(self):
        return self


class ExceptionWrapper:
    """The exception that is being handled, as text: tracebacks cannot be sent.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     wrapped = imode.utils.data._utils.ExceptionWrapper(where="in a worker")
    >>> wrapped.reraise()
    Traceback (most recent call last):
    ZeroDivisionError: Caught ZeroDivisionError in a worker.
    Original Traceback (most recent call last):
    ...
    """

    def __init__(self, exc_info=None, where="in background"):
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raise an exception of the same class, whose message ends with the traceback.

        RuntimeError, if the class does not take a message.
        """
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        try:
            if getattr(self.exc_type, "message", None):
                exception = self.exc_type(message=message)
            else:
                exception = self.exc_type(message)
        except Exception:
            exception = RuntimeError(message)
        raise exception from None
