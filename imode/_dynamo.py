"""The compiler's older names: decorators that return what they are given, and a config that keeps
what is set and changes nothing."""

from types import SimpleNamespace as _SimpleNamespace

from imode.compiler import (  # noqa: F401
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
)
from imode.errors import names_of as _names_of

__all__ = [
    *("allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph"),
    *("graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "optimize"),
    *("reset", "set_stance"),
]

config = _SimpleNamespace(
    suppress_errors=False,
    verbose=False,
    cache_size_limit=8,
    recompile_limit=8,
    capture_scalar_outputs=False,
    optimize_ddp=True,
)
disallow_in_graph = allow_in_graph


def optimize(*args, **kwargs):
    """Return a decorator that returns what it is given."""
    return compile


def graph_break(msg=""):
    """Do nothing."""


def mark_dynamic(t, index, **limits):
    """Do nothing: every size may change."""


def mark_static(t, index=None):
    """Do nothing: every size may change."""


__getattr__ = _names_of(__name__)
