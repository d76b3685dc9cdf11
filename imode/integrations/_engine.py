"""The functions of `tasks` on an engine: `engine=` is one of a module's own if none is given."""

import functools
import importlib

from . import tasks


def package(name, extra):
    """Import the package of an engine, when one is made. ImportError without it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(
            f"this engine needs the package {name}: pip install imode[{extra}]"
        ) from None


def functions_of(Engine, module):
    """Return `backward`, `federated`, `map_batches` and `search` for the module of an engine."""
    names = ("backward", "federated", "map_batches", "search")
    return [_on(Engine, getattr(tasks, name), module) for name in names]


def _on(Engine, function, module):
    @functools.wraps(function)
    def on_engine(*args, engine=None, **options):
        return function(engine or Engine(), *args, **options)

    del on_engine.__wrapped__  # whose first parameter is the engine
    on_engine.__module__ = module
    return on_engine
