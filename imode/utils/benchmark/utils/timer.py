"""Run a statement often enough to know how long it takes."""

import enum
import statistics
import textwrap
import timeit
from timeit import default_timer as timer

import imode

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

_MOST_RUNS = 2**31 - 1


class Language(enum.Enum):
    """The language of a statement: only PYTHON can be run."""

    PYTHON = 0
    CPP = 1


def _trimmed(source):
    return textwrap.dedent(source).removeprefix("\n").rstrip()


class Timer:
    """Measures a statement in Python, given as text, as `timeit.Timer` does.

    setup: runs once before. globals: names that the statement uses; `torch` and `imode` are the
    library. num_threads: of kernels, meanwhile. label, sub_label, description, env: how `Compare`
    calls it.

    >>> timer = imode.utils.benchmark.Timer("x + 1", globals={"x": imode.ones(3)})
    >>> timer.timeit(100).number_per_run
    100
    """

    def __init__(
        self,
        stmt="pass",
        setup="pass",
        global_setup="",
        timer=timer,
        globals=None,
        label=None,
        sub_label=None,
        description=None,
        env=None,
        num_threads=1,
        language=Language.PYTHON,
    ):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("imode.utils.benchmark compiles no C++: time it from Python")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply "
                "be moved to `setup`."
            )
        names = {"torch": imode, "imode": imode, **(globals or {})}
        stmt, setup = _trimmed(stmt), _trimmed(setup)
        self._timer = timeit.Timer(stmt, setup, timer, names)
        names = {"label": label, "sub_label": sub_label, "description": description, "env": env}
        self._task_spec = TaskSpec(stmt, setup, **names, num_threads=num_threads)

    def _seconds(self, number):
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number, times):
        return Measurement(number, times, self._task_spec)

    def timeit(self, number=1_000_000):
        """Measure `number` runs once."""
        with set_torch_threads(self._task_spec.num_threads):
            self._seconds(max(number // 100, 2))  # warm up
            return self._measured(number, [self._seconds(number)])

    def repeat(self, repeat=-1, number=-1):
        """Refused, as in PyTorch: use `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        """Refused, as in PyTorch: use `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time):
        """How many runs make reading the clock negligible."""
        overhead = statistics.median(self._seconds(0) for _ in range(5))
        number = 1
        while True:
            taken = self._seconds(number)
            enough = overhead / taken <= 1e-4 and taken >= min_run_time / 1000
            if enough or taken > min_run_time or number * 10 > _MOST_RUNS:
                return number
            number *= 10

    def _blocks(self, number, callback, goes_on):
        """Times of blocks of `number` runs, while `goes_on(times)`."""
        times = []
        while goes_on(times):
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measure blocks of runs, of a size that is found first, for `min_run_time` seconds.

        callback: called with the size and the time of each block.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            return self._blocks(
                number, callback, lambda times: not times or sum(times) < min_run_time
            )

    def adaptive_autorange(
        self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None
    ):
        """Measure blocks until the quartiles lie within `threshold` of the median, relatively."""

        def goes_on(times):
            total = sum(times)
            if max_run_time and total > max_run_time:
                return False
            if total < min_run_time or len(times) <= 3:
                return True
            return not self._measured(number, times).meets_confidence(threshold)

        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(0.05)
            return self._blocks(number, callback, goes_on)
