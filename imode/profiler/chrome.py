"""Events as JSON for chrome://tracing and Perfetto, and as stacks for flame graphs."""

import gzip
import json
import os
import threading

from .recorder import Kind

_CATEGORIES = {Kind.OPERATOR: "cpu_op", Kind.BLOCK: "user_annotation", Kind.NODE: "cpu_op"}


def write(events, path):
    """Write a trace; gzipped if the path ends in .gz."""
    process, thread = os.getpid(), threading.get_native_id()
    rows = []
    for event in events:
        arguments = {"External id": event.id, "Line": f"{event.line[0]}:{event.line[1]}"}
        if event.input_shapes:
            arguments["Input Dims"] = event.input_shapes
        if event.cpu_memory_usage:
            arguments["Bytes"] = event.cpu_memory_usage
        rows.append(
            {
                "ph": "X",
                "cat": _CATEGORIES[event.kind],
                "name": event.name,
                "pid": process,
                "tid": thread,
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "args": arguments,
            }
        )
    trace = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": rows}
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        json.dump(trace, file)


def write_stacks(events, path, metric="self_cpu_time_total"):
    """Write ``file:line;outer;inner microseconds`` for each path of names."""
    if metric != "self_cpu_time_total":
        raise ValueError(
            f"metric should be one of: ['self_cpu_time_total'], not {metric!r}. "
            "There is no device but the CPU"
        )
    totals = {}
    for event in events:
        names, outer = [], event
        while outer is not None:
            names.append(outer.name)
            outer = outer.cpu_parent
        line = f"{event.line[0]}:{event.line[1]}"
        stack = ";".join(part.replace(";", ",").replace(" ", "_") for part in [line, *names[::-1]])
        totals[stack] = totals.get(stack, 0.0) + event.self_cpu_time_total
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {round(us)}\n" for stack, us in totals.items())
