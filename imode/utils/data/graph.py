"""Which steps a pipeline is made of, as a graph: {id: (step, {of the steps before it})}."""

from imode._core.user_frames import warn
from imode.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

_KINDS = IterDataPipe, MapDataPipe


def traverse_dps(datapipe):
    """Return the graph of a step: it, and all that its attributes and their collections hold.

    Raises RuntimeError for what is no step.

    >>> source = imode.utils.data.datapipes.iter.IterableWrapper([1, 2])
    >>> graph = imode.utils.data.graph.traverse_dps(source.batch(2))
    >>> [(step, list(before)) == (step, [id(source)]) for step, before in graph.values()]
    [True]
    """
    return _traverse(datapipe, set())


def traverse(datapipe, only_datapipe=None):
    """Return the graph of a step. The older name of `traverse_dps`, with a FutureWarning."""
    text = (
        "`traverse` function is deprecated and will be removed after 1.13. Please use "
        "`traverse_dps` instead."
    )
    if not only_datapipe:
        text += " And, the behavior will be changed to the equivalent of `only_datapipe=True`."
    warn(text, FutureWarning)
    return _traverse(datapipe, set())


def _traverse(datapipe, path):
    """The graph of a step, without the steps of the path that leads to it."""
    if not isinstance(datapipe, _KINDS):
        raise RuntimeError(
            f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found"
        )
    if id(datapipe) in path:
        return {}
    path = path | {id(datapipe)}
    before = {}
    for step in _held(datapipe.__getstate__(), path):
        before.update(_traverse(step, path))
    return {id(datapipe): (datapipe, before)}


def _held(state, path):
    """The steps that a state holds, in itself and in collections, each once."""
    found, seen = {}, set()

    def visit(value):
        if isinstance(value, _KINDS):
            if id(value) not in path:
                found.setdefault(id(value), value)
        elif isinstance(value, (list, tuple, set, frozenset, dict)) and id(value) not in seen:
            seen.add(id(value))
            for item in (*value, *value.values()) if isinstance(value, dict) else value:
                visit(item)

    visit(state)
    return found.values()
