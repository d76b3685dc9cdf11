"""What the dispatcher has done: exact counts, and a trace of the kernels entered."""

from imode._core.dispatch import read_counters
from imode._core.watchers import Trace


class counters:
    """Count this thread's work between entering and leaving a `with` block.

    `hops`: kernels entered; `nodes`: graph nodes made; `views`: view records made;
    `version_bumps`: in-place writes counted. The numbers grow while the block runs and stop when it
    is left.

    >>> with imode.counters() as c:
    ...     y = imode.ones(2) + 1
    >>> c.nodes, c.version_bumps
    (0, 0)
    """

    __slots__ = ("_end", "_start")

    def __init__(self):
        self._start = self._end = None

    def __enter__(self):
        self._end = None
        self._start = read_counters()
        return self

    def __exit__(self, *exc_info):
        self._end = read_counters()

    def _count(self, i):
        if self._start is None:
            return 0
        return (self._end or read_counters())[i] - self._start[i]

    @property
    def hops(self):
        """Kernels entered, one per dispatch key that an operator call went through."""
        return self._count(0)

    @property
    def nodes(self):
        """Graph nodes made."""
        return self._count(1)

    @property
    def views(self):
        """View records made."""
        return self._count(2)

    @property
    def version_bumps(self):
        """In-place writes counted by version counters."""
        return self._count(3)

    def __repr__(self):
        return (
            f"counters(hops={self.hops}, nodes={self.nodes}, views={self.views}, "
            f"version_bumps={self.version_bumps})"
        )


class Entries(list):
    """What `trace_dispatch` has recorded: a list of (operator, key), and a tree."""

    def __init__(self):
        self._steps = []

    def tree(self):
        """Return the same as a text in which what was entered within a kernel stands below it.

        The calls of composite operators, which have no kernels, are lines without a key.
        """
        lines = []
        for depth, name, key in self._steps:
            lines.append(f"{'  ' * depth}{name}{'' if key is None else f': {key.name}'}")
        return "\n".join(lines)


class trace_dispatch:
    """Record every kernel that this thread enters in a `with` block: a list of (operator, key).

    `print(trace.tree())` shows which was entered within which.

    >>> with imode.trace_dispatch() as trace:
    ...     y = imode.ones(2) + 1
    >>> trace[-1]
    ('add', DispatchKey.CPU)
    >>> x = imode.ones(2, 2)
    >>> with imode.inference_mode(), imode.trace_dispatch() as trace:
    ...     y = imode.nn.functional.linear(x, x)
    >>> print(trace.tree())
    linear
      t: ADInplaceOrView
        t: CPU
      mm: CPU
    """

    __slots__ = ("_trace",)

    def __enter__(self):
        entries = Entries()
        self._trace = Trace(entries, entries._steps)
        self._trace.start()
        return entries

    def __exit__(self, *exc_info):
        self._trace.stop()
