"""What is alive: objects by the counters of a debug build, memory blocks in any build."""

import gc
import sys

import pytest

from imode._core.allocator import free_lists
from imode._core.making import live_tensors
from imode._core.version import live_counters
from imode.autograd.node import live_nodes
from imode.autograd.saved import live_saved
from imode.autograd.views import live_views

COUNTERS = {
    "tensors": live_tensors,
    "version counters": live_counters,
    "nodes": live_nodes,
    "saved tensors": live_saved,
    "view records": live_views,
}
DEBUG_BUILD = live_tensors() is not None


def live():
    """How many objects of each class are alive; {} unless this is a debug build."""
    if not DEBUG_BUILD:
        return {}
    return {name: count() for name, count in COUNTERS.items()}


def grown(work, times=4, rounds=7):
    """Run `work()` over and over; return what each run leaves behind: {} if nothing.

    That is memory blocks, counted objects, and objects left to the cyclic collector, one or more
    per run. Caches fill up and stop, a leak goes on: so each round that saw growth is followed by
    one of twice as many runs.
    """
    enabled = gc.isenabled()
    gc.disable()
    work()
    gc.collect()
    gc.freeze()  # from here on a collection looks at new objects only; see `unfrozen`
    try:
        before = _count()
        for _ in range(rounds):
            for _ in range(times):
                work()
            cycles = gc.collect()  # empties the interpreter's own free lists, too
            now = _count()
            more = {name: now[name] - before[name] for name in now} | {"in cycles": cycles}
            more = {name: n / times for name, n in more.items() if n >= times}
            if not more:
                return {}
            before, times = now, 2 * times
        return more
    finally:
        if enabled:
            gc.enable()


@pytest.fixture(scope="module", autouse=True)
def unfrozen():
    """Undo `gc.freeze` once per file: looking at all objects again and again takes minutes."""
    yield
    gc.unfreeze()


def _count():
    arrays, views = free_lists()
    return {"blocks": sys.getallocatedblocks() - arrays - views, **live()}
