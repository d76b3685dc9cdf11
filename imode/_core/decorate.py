"""Guards as decorators: on functions, methods, generators and coroutines.

A generator or coroutine runs in stretches, each from where it is resumed to where it yields or
awaits. The mode is on during the stretches and off between them, so that the caller of a generator
and the other tasks of an event loop never see it. `_drive` runs all of them, step by step.
"""

import functools
import inspect

from imode._core.type_names import shown
from imode._core.user_frames import warn

__all__ = ["decorate"]


def decorate(function, guard):
    """Return `function` changed so that a guard like `guard` is on while its body runs."""
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(decorate(function.__func__, guard))
    if not callable(function):
        raise TypeError(
            f"{type(guard).__name__}: expected a function to decorate, "
            f"got {shown(function)} ({type(function).__name__})"
        )
    if inspect.isclass(function):
        return _decorate_class(function, guard)
    plain = inspect.unwrap(function)
    while isinstance(plain, functools.partial):
        plain = plain.func
    body = guard._for_body(getattr(plain, "__code__", None))
    if inspect.isasyncgenfunction(function):
        return _async_generator(function, body)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, body)
    if inspect.isgeneratorfunction(function):
        return _generator(function, body)
    return _function(function, body)


def _decorate_class(cls, guard):
    warn(
        "Decorating classes is deprecated and will be disabled in future versions. You should only "
        f"decorate functions or methods: put @{type(guard).__name__} above `__init__`.",
        FutureWarning,
    )
    return decorate(lambda *args, **kwargs: cls(*args, **kwargs), guard)


def _function(function, body):
    again = body._again

    @functools.wraps(function)
    def guarded(*args, **kwargs):
        with again():
            return function(*args, **kwargs)

    return guarded


def _generator(function, body):
    @functools.wraps(function)
    def guarded(*args, **kwargs):
        return (yield from _drive(function(*args, **kwargs), body._again()))

    return guarded


def _coroutine(function, body):
    @functools.wraps(function)
    async def guarded(*args, **kwargs):
        return await _Driven(function(*args, **kwargs), body._again())

    return guarded


def _async_generator(function, body):
    @functools.wraps(function)
    async def guarded(*args, **kwargs):
        inner, guard = function(*args, **kwargs), body._again()
        step = inner.asend(None)
        try:
            while True:
                item = await _Driven(step, guard)
                try:
                    step = inner.asend((yield item))
                except GeneratorExit:
                    await _Driven(inner.aclose(), guard)
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
        except StopAsyncIteration:
            return

    return guarded


class _Driven:
    """An awaitable that drives another, `inner`, with `guard` on during its stretches."""

    __slots__ = ("guard", "inner")

    def __init__(self, inner, guard):
        self.inner, self.guard = inner, guard

    def __await__(self):
        return _drive(self.inner, self.guard)


def _drive(inner, guard):
    """Run `inner`, a generator or the like; pass on what it yields, returns, is sent and thrown."""
    step, value = inner.send, None
    try:
        while True:
            guard._resume()
            try:
                request = step(value)
            finally:
                guard._suspend()
            try:
                step, value = inner.send, (yield request)
            except GeneratorExit:
                guard._resume()
                try:
                    inner.close()
                finally:
                    guard._suspend()
                raise
            except BaseException as error:
                step, value = inner.throw, error
    except StopIteration as stop:
        return stop.value
