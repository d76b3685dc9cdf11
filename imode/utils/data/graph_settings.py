"""What all steps of a pipeline are told at once: to shuffle, with which seeds, which share."""

import inspect

from imode import int64, ops
from imode._core.user_frames import warn

from .graph import traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph):
    """Return the steps of a graph of `traverse_dps`, each once: the last one first."""
    found = {}

    def visit(graph):
        for number, (step, before) in graph.items():
            if number not in found:
                found[number] = step
                visit(before)

    visit(graph)
    return list(found.values())


def _has(step, *names):
    return all(inspect.ismethod(getattr(step, name, None)) for name in names)


def apply_sharding(datapipe, num_of_instances, instance_id, sharding_group=None):
    """Leave each of several processes its share of the samples; return the pipeline.

    Steps with a method `apply_sharding` do it, one on each way to the source: raises RuntimeError
    for two.

    >>> pipe = imode.utils.data.datapipes.iter.IterableWrapper(range(5)).sharding_filter()
    >>> list(imode.utils.data.graph_settings.apply_sharding(pipe, 2, 1))
    [1, 3]
    """

    def visit(graph, applied):
        for step, before in graph.values():
            at = applied
            if _has(step, "apply_sharding"):
                if applied is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause "
                        f"data loss. Sharding already applied to {applied} while trying to apply "
                        f"to {step}"
                    )
                groups = {} if sharding_group is None else {"sharding_group": sharding_group}
                step.apply_sharding(num_of_instances, instance_id, **groups)
                at = step
            visit(before, at)

    visit(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe, shuffle=None):
    """Let all steps that can shuffle do so, or not; return the pipeline.

    None changes nothing. Where none can, a step is added, with a warning.
    """
    if shuffle is None:
        return datapipe
    steps = get_all_graph_pipes(traverse_dps(datapipe))
    shufflers = [step for step in steps if _has(step, "set_shuffle", "set_seed")]
    if not shufflers and shuffle:
        warn_of_no_shuffler()
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for step in shufflers:
        step.set_shuffle(shuffle)
    return datapipe


def warn_of_no_shuffler():
    """Warn that a pipeline gets a step that shuffles."""
    warn(
        "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the "
        "end. Be aware that the default buffer size might not be sufficient for your task.",
    )


def apply_random_seed(datapipe, rng):
    """Give each step that draws random numbers a seed, drawn from a generator; return the pipeline.

    >>> pipe = imode.utils.data.datapipes.iter.IterableWrapper(range(3)).shuffle()
    >>> rng = imode.Generator().manual_seed(0)
    >>> sorted(imode.utils.data.graph_settings.apply_random_seed(pipe, rng))
    [0, 1, 2]
    """
    for step in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has(step, "set_seed"):
            step.set_seed(int(ops.empty((), dtype=int64).random_(generator=rng).item()))
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """Do what `apply_random_seed` does, with a FutureWarning."""
    warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. "
        "Please use `apply_random_seed` instead.",
        FutureWarning,
    )
    return apply_random_seed(datapipe, rng)
