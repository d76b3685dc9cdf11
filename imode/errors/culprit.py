"""Lines that name the culprit: the operator, the line of the program, the guard that is on."""

from imode._core.guard import why_not_recording
from imode._core.provenance import ASSIGNMENT, location, operator_name
from imode._core.user_frames import assigning
from imode._core.user_frames import line as user_line

DROP_OUT = "Ways out: drop out= and use the result"


def text(*lines):
    """A message from those of its lines that are not empty."""
    return "\n".join(line for line in lines if line)


def at(number, before="at "):
    """``" at file:line"``; empty if the line is not known."""
    known = location(number)
    return f" {before}{known}" if known else ""


def here():
    return at(user_line())


def made_by(guard_id, maker, what="The tensor", mode="inference_mode"):
    """A line on which operator created the tensor, under which guard."""
    name = operator_name(maker)
    by = f"created by {name} " if name else "created "
    return f"{what} was {by}inside {mode}{at(guard_id, 'entered at ')}."


def mode_now(what="nothing is recorded in it"):
    """A line on the guard that keeps this thread from recording; empty if it records."""
    mode = why_not_recording()
    return f"{mode[0]} is on here{entered(mode[1])}: {what}." if mode else ""


def entered(number):
    known = location(number)
    return f" (entered at {known})" if known else ""


def write_as_spelled(writer):
    """A write as the user wrote it; `writer` is the operator, which may stem from an assignment."""
    return ASSIGNMENT if assigning() else writer.lstrip("_") if writer else "a write"


def node_title(node_name):
    """A node's operator, for messages: ``"SplitBackward0"`` -> ``"Split"``, ``"SqueezeBackward1"``
    -> ``"Squeeze1"``."""
    if "::" in node_name:
        return f"torch::autograd::{node_name.rpartition('::')[2]}"
    name, _, number = node_name.rpartition("Backward")
    return name if number in ("", "0") else name + number
