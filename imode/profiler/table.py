"""The table of a profile, with PyTorch's columns."""

from ..errors import no_attribute

_FIELDS = (
    *("cpu_time_total", "self_cpu_time_total", "cpu_time", "count"),
    *("cpu_memory_usage", "self_cpu_memory_usage"),
)
_WIDTH, _GAP = 12, 2


def table(
    events,
    sort_by=None,
    row_limit=100,
    header=None,
    top_level_events_only=False,
    max_name_column_width=55,
    max_shapes_column_width=80,
    max_src_column_width=75,
):
    """Return the text; `EventList.table` says what the arguments are."""
    if not events:
        return ""
    if sort_by is not None and sort_by not in _FIELDS:
        raise AttributeError(
            f"{no_attribute(type(events[0]).__name__, sort_by)}. "
            f"A table is sorted by one of {', '.join(_FIELDS)}"
        )
    rows = [e for e in events if not (top_level_events_only and getattr(e, "cpu_parent", None))]
    if sort_by is not None:
        rows = sorted(rows, key=lambda event: getattr(event, sort_by), reverse=True)
    total = events[0].total or events.self_cpu_time_total
    columns = [
        ("Name", _fitted([e.key for e in rows], max_name_column_width)),
        ("Self CPU %", [_percent(e.self_cpu_time_total, total) for e in rows]),
        ("Self CPU", [time_text(e.self_cpu_time_total) for e in rows]),
        ("CPU total %", [_percent(e.cpu_time_total, total) for e in rows]),
        ("CPU total", [time_text(e.cpu_time_total) for e in rows]),
        ("CPU time avg", [time_text(e.cpu_time) for e in rows]),
    ]
    if events.profile_memory:
        columns += [
            ("CPU Mem", [memory_text(e.cpu_memory_usage) for e in rows]),
            ("Self CPU Mem", [memory_text(e.self_cpu_memory_usage) for e in rows]),
        ]
    columns.append(("# of Calls", [str(e.count) for e in rows]))
    if events.by_shape:
        shapes = _fitted([str(e.input_shapes) for e in rows], max_shapes_column_width)
        columns.append(("Input Shapes", shapes))
    if events.with_stack:
        places = [" ".join(e.stack) for e in rows]
        columns.append(("Source Location", _fitted(places, max_src_column_width, end=True)))
    if row_limit >= 0:
        columns = [(title, cells[:row_limit]) for title, cells in columns]
    return _drawn(columns, header, total)


def _drawn(columns, header, total):
    widths = [max(_WIDTH, len(title), *map(len, [*cells, ""])) for title, cells in columns]
    gap = " " * _GAP
    rule = gap.join("-" * width for width in widths) + gap
    line = lambda cells: gap.join(c.rjust(w) for c, w in zip(cells, widths, strict=True)) + gap
    lines = [rule, line([title for title, _ in columns]), rule]
    lines += [line(cells) for cells in zip(*[cells for _, cells in columns], strict=True)]
    if header is not None:
        lines[:0] = ["=" * len(rule), header]
    return "\n".join([*lines, rule, f"Self CPU time total: {time_text(total)}", ""])


def _fitted(texts, most, end=False):
    """The texts, cut to a width: at their end, or, of a place, at its beginning."""
    if most is None:
        return texts
    cut = lambda text: f"...{text[3 - most :]}" if end else f"{text[: most - 3]}..."
    return [text if len(text) <= most else cut(text) for text in texts]


def _percent(part, whole):
    return f"{100 * part / whole if whole else 0:.2f}%"


def time_text(us):
    """A time given in microseconds."""
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def memory_text(nbytes):
    """A number of bytes."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"
