"""Tables of measurements: tasks in rows, descriptions in columns."""

import enum
import math
from collections import defaultdict

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BOLD, _END = "\033[1m", "\033[0m"
# (from this multiple of the best time on, what is written before, and after); the last that fits
_COLORS = (
    (0, "\033[92m" + _BOLD, _END * 2),
    (1.01, "\033[34m" + _BOLD, _END * 2),
    (1.1, "", ""),
    (2, "\033[2m\033[91m", _END * 2),
    (5, "\033[31m" + _BOLD, _END * 2),
)
_NOTE = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"


class Colorize(enum.Enum):
    """Among which measurements the best one is looked for."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table for each label: rows by statement and number of threads, columns by description.

    >>> from imode.utils.benchmark import Compare, Measurement, TaskSpec
    >>> task = TaskSpec("x + 1", "pass", label="add", description="imode")
    >>> print(Compare([Measurement(1, [2e-6], task)]))
    [------- add -------]
                 |  imode
    1 threads: ----------
          x + 1  |   2.0
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results):
        self._results = []
        self.extend_results(results)
        self._trim = self._warn = False
        self._colorize = Colorize.NONE

    def extend_results(self, results):
        """Add measurements. ValueError for anything else."""
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self):
        """Show no more figures than mean something."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Color the best and the worst: of each column, or of each row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Mark measurements that differ much."""
        self._warn = True

    def print(self):
        """Print the tables."""
        print(str(self))

    def __str__(self):
        groups = defaultdict(list)
        for each in Measurement.merge(self._results):
            groups[each.label].append(each)
        return "\n".join(_Table(group, self).render() for group in groups.values())


class _Table:
    """Cells by (number of threads, environment, row name) and description."""

    def __init__(self, results, options):
        self.results, self.options = results, options
        self.unit, self.scale = select_unit(min(each.median for each in results))
        self.rows = ordered_unique((m.num_threads, m.env, m.as_row_name) for m in results)
        self.rows.sort(key=lambda row: (row[0], row[1] or ""))
        self.columns = ordered_unique(m.description for m in results)
        self.cells = {((m.num_threads, m.env, m.as_row_name), m.description): m for m in results}
        self.noisy = options._warn and any(m.has_warnings for m in results)

    def _number(self, m, column):
        """A time as text; all of one column have the same width."""
        others = [self.cells[row, column] for row in self.rows if (row, column) in self.cells]
        digits = [math.ceil(math.log10(other.median / self.scale)) for other in others]
        decimals = 1
        if self.options._trim:
            decimals = min(
                max(other.significant_figures - d, 0) for other, d in zip(others, digits)
            )
        width = max(digits) + decimals + bool(decimals)
        noisy = self.options._warn and any(other.has_warnings for other in others)
        if m is None:
            return " " * (max(width, 1 + decimals + bool(decimals)) + 7 * noisy)
        value = m.median / self.scale
        if self.options._trim:
            value = trim_sigfig(value, m.significant_figures)
        mark = f" (! {m.iqr / m.median * 100:.0f}%)" if noisy and m.has_warnings else ""
        return f"{value:>{width}.{decimals}f}{mark:>{7 if noisy else 0}}"

    def _names(self):
        """The first cells of the rows."""
        several = len({env for _, env, _ in self.rows}) > 1
        width = max(len(str(env)) for _, env, _ in self.rows) if several else 0
        before = None
        for threads, env, name in self.rows:
            shown = f"({env})" if several and before != (threads, env) else ""
            before = threads, env
            yield "  " + shown.ljust(width + 4) + name

    def _colored(self, text, row, column):
        m, how = self.cells.get((row, column)), self.options._colorize
        if m is None or how is Colorize.NONE:
            return text
        if how is Colorize.ROWWISE:
            group = [(row, other) for other in self.columns]
        else:
            group = [(other, column) for other in self.rows if other[0] == row[0]]
        best = min(self.cells[at].median for at in group if at in self.cells)
        multiple = 0 if m.median <= best + 1e-7 else m.median / best
        _, before, after = [color for color in _COLORS if multiple >= color[0]][-1]
        return before + text + after

    def render(self):
        lines = [["", *(str(column or "") for column in self.columns)]]
        for row, name in zip(self.rows, self._names()):
            numbers = [self._number(self.cells.get((row, c)), c) for c in self.columns]
            lines.append([name, *numbers])
        widths = [max(map(len, column)) for column in zip(*lines)]
        head = "  |  ".join(text.center(width) for text, width in zip(lines[0], widths))
        made, threads = [head], None
        for row, (name, *numbers) in zip(self.rows, lines[1:]):
            if row[0] != threads:
                threads = row[0]
                made.append(f"{threads} threads: ".ljust(len(head), "-"))
            cells = [text.center(width) for text, width in zip(numbers, widths[1:])]
            cells = [self._colored(t, row, c) for t, c in zip(cells, self.columns)]
            made.append("  |  ".join([name.ljust(widths[0]), *cells]))
        label = self.results[0].label or ""
        title = f"[{f' {label} '.center(len(head) - 2, '-')}]"
        unit = f"Times are in {unit_to_english(self.unit)}s ({self.unit}).\n"
        return "\n".join([title, *made, "", unit + (_NOTE if self.noisy else "")])
