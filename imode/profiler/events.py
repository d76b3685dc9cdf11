"""Events, nested, with their own times; and their averages by name, shapes and line."""

from .._core.provenance import location_parts
from .recorder import Kind
from .table import table

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]


class Interval:
    """From `start` to `end`, in microseconds from the first event."""

    __slots__ = ("end", "start")

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        """How long it is, in microseconds."""
        return self.end - self.start


class _Times:
    """What events and averages share: times in microseconds, memory in bytes."""

    @property
    def cpu_time(self):
        """The time of a call, in microseconds: the average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def self_cpu_percent(self):
        """Its own time, relative to that of all: filled in by the list that holds it."""
        return 100 * self.self_cpu_time_total / (self.total or 1)


class FunctionEvent(_Times):
    """One call of an operator, one block or one node of the graph.

    `name`, and the same as `key`; `kind`: a recorder.Kind; `time_range`: an Interval;
    `cpu_time_total`, `self_cpu_time_total`: with and without the events inside of it, microseconds;
    `cpu_memory_usage`, `self_cpu_memory_usage`: new memory in results, bytes; `input_shapes`: one
    list per argument; `line`: ``(file, number)`` of the program; `stack`: the same as text, where
    the profile was made `with_stack`; `cpu_parent`, `cpu_children`.
    """

    count = 1
    total = 0.0

    def __init__(self, number, name, kind, time_range, line, nbytes, shapes, stack):
        self.id, self.name, self.kind, self.time_range = number, name, kind, time_range
        self.cpu_time_total = self.self_cpu_time_total = time_range.elapsed_us()
        self.cpu_memory_usage = self.self_cpu_memory_usage = nbytes
        self.input_shapes, self.line, self.stack = shapes, line, stack
        self.cpu_parent, self.cpu_children = None, []

    @property
    def key(self):
        return self.name

    def _adopt(self, child):
        child.cpu_parent = self
        self.cpu_children.append(child)

    def _subtract_children(self):
        """Find its own time and memory; those of its children are known."""
        inside = sum(child.cpu_memory_usage for child in self.cpu_children)
        self.self_cpu_memory_usage = max(0, self.cpu_memory_usage - inside)
        self.cpu_memory_usage = self.self_cpu_memory_usage + inside
        self.self_cpu_time_total -= sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self):
        return (
            f"<FunctionEvent {self.name} cpu_time_total={self.cpu_time_total:.3f}us "
            f"line={self.line[0]}:{self.line[1]}>"
        )


class FunctionEventAvg(_Times):
    """Events of one `key` added up: the fields of FunctionEvent, and `count`."""

    def __init__(self, event):
        self.key, self.kind = event.key, event.kind
        self.input_shapes, self.stack, self.line = event.input_shapes, event.stack, event.line
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = self.total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0

    def add(self, event):
        """Add an event, or another average; returns this one."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        return self

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} "
            f"self_cpu_time={self.self_cpu_time_total:.3f}us cpu_time={self.cpu_time:.3f}us>"
        )


class EventList(list):
    """Events, or averages of them. `str` of it is its table."""

    def __init__(self, items=(), profile_memory=False, with_stack=False, by_shape=False):
        super().__init__(items)
        self.profile_memory, self.with_stack, self.by_shape = profile_memory, with_stack, by_shape

    @classmethod
    def of(cls, recorder, prof):
        """The events of a recorder, nested."""
        events = cls(profile_memory=prof.profile_memory, with_stack=prof.with_stack)
        rows = recorder.rows()
        first = rows[0][2] if rows else 0
        path = []
        for number, (what, kind, start, end, depth, location, nbytes, shapes) in enumerate(rows):
            name = what
            if kind == Kind.OPERATOR:
                name = f"{getattr(what, 'namespace', 'aten')}::{what.name}"
            line = location_parts(location)
            time_range = Interval((start - first) / 1e3, (end - first) / 1e3)
            event = FunctionEvent(
                number,
                name,
                Kind(kind),
                time_range,
                line,
                nbytes,
                [_listed(shape) for shape in shapes or ()],
                [f"{line[0]}({line[1]})"] if prof.with_stack else [],
            )
            del path[depth:]
            if path:
                path[-1]._adopt(event)
            path.append(event)
            events.append(event)
        for event in reversed(events):  # those inside come after what they are inside of
            event._subtract_children()
        return events

    @property
    def self_cpu_time_total(self):
        """The time of all events together, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        """The events added up by name, and by shapes or line if wanted; in the order of their first
        call."""
        found = {}
        for event in self:
            key = (
                event.key,
                str(event.input_shapes) if group_by_input_shapes else "",
                event.line if group_by_stack_n else None,
            )
            if key not in found:
                found[key] = FunctionEventAvg(event)
            found[key].add(event)
        total = self.self_cpu_time_total
        for average in found.values():
            average.total = total
        return EventList(
            found.values(),
            self.profile_memory,
            bool(group_by_stack_n) and self.with_stack,
            bool(group_by_input_shapes),
        )

    def total_average(self):
        """All events added up: their own times are the total."""
        total = FunctionEventAvg(self[0]) if self else None
        for event in self:
            total.add(event)
        if total is not None:
            total.key = "Total"
        return total

    def by_line(self):
        """Lines of the program and what ran there: {(file, number): an EventList by name}."""
        lines = {}
        for event in self:
            lines.setdefault(event.line, EventList()).append(event)
        return {line: events.key_averages() for line, events in lines.items()}

    def table(
        self, sort_by=None, row_limit=100, header=None, top_level_events_only=False, **widths
    ):
        """A table as PyTorch's.

        `sort_by`: a field, from its largest value: "cpu_time_total", "self_cpu_time_total",
        "cpu_time", "count", "cpu_memory_usage", "self_cpu_memory_usage". `row_limit`: how many rows
        at most, -1: all. `header`: a line above it. Widths: `max_name_column_width`,
        `max_shapes_column_width`, `max_src_column_width`.
        """
        return table(self, sort_by, row_limit, header, top_level_events_only, **widths)

    def export_chrome_trace(self, path):
        """Write the events as JSON for chrome://tracing or Perfetto; gzipped if it ends in .gz."""
        from .chrome import write

        write(self, path)

    __str__ = table


def _listed(shape):
    """A shape, or those of a list of tensors, as lists."""
    return [_listed(item) if isinstance(item, tuple) else item for item in shape]
