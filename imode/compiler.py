"""`compile` and what goes with it: nothing is compiled, functions are returned as they are."""

import contextlib as _contextlib

from imode.errors import names_of as _names_of

__all__ = [
    *("allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin"),
    *("disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset"),
    "set_stance",
]


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None,
            disable=False):  # fmt: skip
    """Return the model or function that was given; without one, a decorator that does.

    Raises AssertionError for what cannot be called.

    >>> @imode.compile(dynamic=True)
    ... def double(x):
    ...     return x * 2
    >>> double(imode.ones(2))
    tensor([2., 2.])
    """
    if model is None:
        return compile
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    return model


def disable(fn=None, recursive=True, *, reason=None):
    """Return the function; without one, a decorator that does.

    Raises AssertionError for what cannot be called.
    """
    if fn is None:
        return disable
    if not callable(fn):
        raise AssertionError("fn must be callable")
    return fn


def allow_in_graph(fn):
    """Return the function, or a list of functions."""
    return fn


def assume_constant_result(fn):
    """Return the function."""
    return fn


def is_compiling():
    """False.

    >>> imode.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling():
    """False."""
    return False


def is_exporting():
    """False."""
    return False


def list_backends(exclude_tags=("debug", "experimental")):
    """Return an empty list: there are no compilers."""
    return []


def reset():
    """Do nothing: nothing was compiled."""


def cudagraph_mark_step_begin():
    """Do nothing."""


class set_stance(_contextlib.ContextDecorator):
    """Change nothing: at once, in a block or as a decorator."""

    def __init__(self, stance="default", **options):
        self.stance = stance

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


__getattr__ = _names_of(__name__)
