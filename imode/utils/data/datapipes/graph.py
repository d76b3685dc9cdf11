"""What a DataLoader tells the steps of its pipeline: to shuffle, with which seeds, which share."""

from imode import Generator, int64, ops
from imode.utils.data.graph_settings import warn_of_no_shuffler

from .datapipe import IterDataPipe, MapDataPipe, Shuffling
from .iter import Shuffler

_KINDS = (IterDataPipe, MapDataPipe)


def steps(pipe):
    """A step and all that it takes samples from, each once: the last one first."""
    found = {}

    def visit(value):
        if isinstance(value, _KINDS):
            if id(value) not in found:
                found[id(value)] = value
                visit(tuple(vars(value).values()))
        elif isinstance(value, (list, tuple)):
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            visit(tuple(value.values()))

    visit(pipe)
    return list(found.values())


def with_shuffling(pipe, shuffle):
    """Let all steps that can shuffle do so, or not; return the pipeline, which may be longer."""
    shufflers = [step for step in steps(pipe) if isinstance(step, Shuffling)]
    if shuffle and not shufflers:
        warn_of_no_shuffler()
        pipe = Shuffler(pipe)
        shufflers = [pipe]
    for step in shufflers:
        step.set_shuffle(shuffle)
    return pipe


def seed(pipe, generator):
    """Give each step that draws random numbers a seed of its own."""
    shared = Generator()
    shared.manual_seed(int(ops.empty((), dtype=int64).random_(generator=generator).item()))
    for step in steps(pipe):
        if hasattr(type(step), "set_seed"):
            step.set_seed(int(ops.empty((), dtype=int64).random_(generator=shared).item()))


def shard(pipe, count, number):
    """Leave one of `count` processes its share, where a step can."""
    for step in steps(pipe):
        if hasattr(type(step), "is_shardable") and step.is_shardable():
            step.apply_sharding(count, number)
