"""What was measured, and how long it took."""

import contextlib
import math
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from imode import get_num_threads, set_num_threads

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_MOST_FIGURES = 4
_LEAST_INTERVAL = 25e-9  # seconds: what one call of the timer takes
_SPREAD, _LARGE_SPREAD = 0.1, 0.25  # of the quartiles, as a part of the median: worth a warning
_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond")}
_UNITS["s"] = (1, "second")


@dataclass(frozen=True)
class TaskSpec:
    """What a Timer runs, and how tables call it."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, or else the statement."""
        more = f": {self.sub_label}" if self.sub_label else ""
        if self.label is not None:
            return self.label + more
        if "\n" not in self.stmt:
            return self.stmt + more
        more = f" ({self.sub_label})" if self.sub_label else ""
        return f"stmt:{more}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self):
        """The statements that run before, as text."""
        if not self.setup or self.setup == "pass":
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self):
        """The title, the description and the setup, each on lines of its own."""
        sections = filter(None, (self.title, self.description or "", self.setup_str()))
        return "\n".join(f"{text}\n" if "\n" in text else text for text in sections)


_OF_TASK = {each.name for each in fields(TaskSpec)}


@dataclass(repr=False)
class Measurement:
    """Times of one task: `raw_times` in seconds, each of `number_per_run` runs.

    >>> task = imode.utils.benchmark.TaskSpec("x + 1", "pass")
    >>> found = imode.utils.benchmark.Measurement(10, [2e-6, 3e-6, 4e-6], task)
    >>> round(found.median * 1e9), found.stmt
    (300, 'x + 1')
    """

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict | None = field(default=None)

    def __getattr__(self, name):
        if name in _OF_TASK:
            return getattr(self.task_spec, name)
        return object.__getattribute__(self, name)  # which raises

    @property
    def times(self):
        """Seconds for each run."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    def _quantile(self, q):
        return float(np.quantile(self.times, q)) if self.raw_times else -1.0

    @property
    def median(self):
        """The median of the times."""
        return self._quantile(0.5)

    @property
    def mean(self):
        """The mean of the times."""
        return float(np.mean(self.times)) if self.raw_times else -1.0

    @property
    def iqr(self):
        """The distance between the quartiles."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self):
        """How many figures of the median mean something: from 1 to 4."""
        count = len(self.times)
        middle = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        interval = 1.645 * float(np.std(middle)) / math.sqrt(len(middle))
        figures = math.floor(math.log10(self.median / max(interval, _LEAST_INTERVAL)))
        return min(max(figures, 1), _MOST_FIGURES)

    def meets_confidence(self, threshold=_SPREAD):
        """Whether the quartiles lie close together, relative to the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self):
        """Whether the times differ much."""
        return bool(self._warning())

    def _warning(self):
        if not self.raw_times or self.meets_confidence(_SPREAD):
            return ""
        cause = (
            "This could indicate system fluctuation."
            if self.meets_confidence(_LARGE_SPREAD)
            else "This suggests significant environmental influence."
        )
        return (
            f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median "
            f"measurement.\n           {cause}"
        )

    @property
    def title(self):
        """The title of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self):
        """What a row of a table is called."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self):
        count = len(self.raw_times)
        unit, scale = select_unit(self.median)
        low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
        several = count > 1
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if several else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            spread = f"{self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})"
            lines.append(f"  IQR:    {spread}")
        runs = f"{self.number_per_run} runs {'per measurement,' if several else ','}"
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        lines.append(f"  {count} measurement{'s' * several}, {runs} {threads}")
        lines.append(self._warning())
        return "\n".join(lines).strip()

    @staticmethod
    def merge(measurements):
        """Join the measurements of each task to one."""
        groups = defaultdict(list)
        for each in measurements:
            groups[each.task_spec] += each.times
        return [Measurement(1, times, task) for task, times in groups.items()]


def select_unit(t):
    """Return the unit in which seconds are best read, and how long it is.

    >>> imode.utils.benchmark.select_unit(3e-5)
    ('us', 1e-06)
    """
    power = math.floor(math.log10(t) / 3) if t > 0 else 0
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(power, "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u):
    """Return the word for a unit.

    >>> imode.utils.benchmark.unit_to_english("us")
    'microsecond'
    """
    return _UNITS[u][1]


def trim_sigfig(x, n):
    """Round to n significant figures.

    >>> imode.utils.benchmark.trim_sigfig(1234.5, 2)
    1200.0
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10.0 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements: Any):
    """Return the different elements in their order.

    >>> imode.utils.benchmark.ordered_unique("abca")
    ['a', 'b', 'c']
    """
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n):
    """Let kernels use n threads in a block.

    >>> with imode.utils.benchmark.set_torch_threads(1):
    ...     imode.get_num_threads()
    1
    """
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)
