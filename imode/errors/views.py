"""In-place writes: to views, to leaves, to memory that overlaps."""

from imode._core.dispatch import last_operator
from imode._core.provenance import operator_name
from imode._core.tensor import Tensor
from imode._core.user_frames import assigning
from imode.errors.culprit import DROP_OUT, here, made_by, node_title, text, write_as_spelled

_VIEW_MODES = {  # PyTorch's words for the mode and its opposite, and the guard's name
    "no_grad": ("no_grad mode", "with grad mode enabled", "no_grad mode"),
    "inference": ("inference mode", "in normal mode", "inference_mode"),
}


def _write(writer, target):
    """The line on a refused write: the operator, the line of the program, the target."""
    return f"The write is {write_as_spelled(writer)}{here()}, to {target}."


def _spelled(name, target):
    """The call of an operator, or of a custom function's apply, as the user wrote it."""
    name = name.lstrip("_")
    if name.endswith(".apply"):
        return f"{name}({target}, ...)"
    if "::" in name:  # of a library
        return f"imode.ops.{name.replace('::', '.')}({target}, ...)"
    if hasattr(Tensor, name):
        return f"{target}.{name}(...)"
    return f"imode.nn.functional.{name.rstrip('_')}({target}, ..., inplace=True)"


def _call(writer, target):
    """The write as a statement."""
    return f"{target}[...] = v" if assigning() else _spelled(writer, target)


def _rewrite(writer):
    """A line that replaces a write to `t`: it makes a new `t`, of the same dtype."""
    if assigning():
        return "`t = t.clone(); t[...] = v`"
    return f"`t = {_spelled(writer, 't.clone()')}`"


def _sizes(shape):
    return f"of shape {list(shape)}"


# The writer is None if the write was not to this view, but to its base or another view of the base.
_BASE_WRITTEN = "its base or another view of its base has been"


def made_in_mode(mode, writer, output, shape, guard_id, maker):
    """A tracked in-place write to a view that was created under `mode` ("no_grad" or "inference").

    `output`: (number, node name) for a view of a view that was created there.
    """
    first = "A view was created in"
    if output:
        first = f"{_output(*output)} of a view which was created in"
    made_in, written_in, guard = _VIEW_MODES[mode]
    if writer is None:
        what = _BASE_WRITTEN
        lines = (
            "Ways out: make the view again, outside of that block: its history then has the write;",
            "or, if no gradient is wanted through it, use its .detach().",
        )
    else:
        what = "is being"
        lines = (
            f"The write is {write_as_spelled(writer)}{here()}.",
            "Ways out: view and write both inside that block (the write is not recorded), or both",
            "outside of it (it is recorded); or write to a .clone() of the view.",
        )
    return RuntimeError(
        text(
            f"{first} {made_in} and {what} modified inplace {written_in}. "
            "Given that this use case is ambiguous and error-prone, it is forbidden.",
            made_by(guard_id, maker, f"The view {_sizes(shape)}", guard),
            *lines,
        )
    )


def _output(number, node_name):
    return f"Output {number} of {node_title(node_name)} is a view"


def multi_output(output_nr, node_name, writer, shape, part):
    """An in-place write to one of several views that one call created (split, unbind…).

    `part`: the call on the base that makes only this view; None if no element is written.
    """
    if writer is None:
        what = _BASE_WRITTEN
        lines = (
            f"The view is {_sizes(shape)}.",
            f"Ways out: take the part by itself before the base is written: `t = x.{part}`.",
        )
    else:
        what = "is being"
        lines = (
            _write(writer, f"a view {_sizes(shape)}"),
            f"Ways out: {_rewrite(writer)}{';' if part else '.'}",
            part and f"or, to write to the whole x: `{_call(writer, f'x.{part}')}`.",
        )
    return RuntimeError(
        text(
            f"{_output(output_nr, node_name)} and {what} modified inplace. "
            "This view is the output of a function that returns multiple views. "
            "Such functions do not allow the output views to be modified inplace.",
            *lines,
        )
    )


def custom_function(output_nr, node_name, writer, shape):
    """An in-place write to a view that was created in a custom function."""
    way = "return a .clone() of the output from the custom function's forward"
    if writer is None:
        what = _BASE_WRITTEN
        lines = f"The view is {_sizes(shape)}.", f"Ways out: {way}."
    else:
        what = "is being"
        lines = (
            _write(writer, f"a view {_sizes(shape)}"),
            f"Ways out: {way};",
            f"or {_rewrite(writer)}.",
        )
    return RuntimeError(
        text(
            f"{_output(output_nr, node_name)} and {what} modified inplace. "
            "This view was created inside a custom Function (or because an input was returned "
            "as-is), and handling the write would override the function's own backward.",
            *lines,
        )
    )


def leaf(writer, shape, view=False):
    """A leaf that requires grad, or a view of one, would be written to while recording."""
    first = "a view of a leaf Variable" if view else "a leaf Variable"
    return RuntimeError(
        text(
            f"{first} that requires grad is being used in an in-place operation.",
            _write(writer, f"{'a view of ' if view else ''}a leaf {_sizes(shape)}"),
            f"To set or update it: `with imode.no_grad(): {_call(writer, 't')}`.",
            f"To record the write, on a tensor made from it: {_rewrite(writer)}.",
        )
    )


_CLONE = "Please clone() the tensor before performing the operation."


def overlap_inside(array):
    """Several elements of the tensor written to share memory; `array`: its ndarray."""
    strides = [step // array.itemsize for step in array.strides]
    writer = operator_name(last_operator()) or "write_"
    if writer.endswith("(out=)"):
        ways = f"{DROP_OUT}; or give it memory of its own: out=t.clone()"
    else:
        ways = f"Way out: {_rewrite(writer)}, which has memory of its own for each element."
    return RuntimeError(
        text(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            f"single memory location. {_CLONE}",
            _write(
                writer, f"a tensor {_sizes(array.shape)} and strides {strides}, as expand makes"
            ),
            ways,
        )
    )


def overlap_between():
    """The tensor written to shares part of its memory with a tensor that is read."""
    writer = operator_name(last_operator()) or "write_"
    if writer.endswith("(out=)"):
        ways = f"{DROP_OUT}; or clone() the argument that is read."
    else:
        ways = f"Way out: clone() the argument that is read: `t.{writer}(other.clone())`."
        if assigning():
            ways = "Way out: clone() what is read: `t[...] = v.clone()`."
    return RuntimeError(
        text(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            f"refer to a single memory location. {_CLONE}",
            _write(writer, "memory that it also reads, at another offset or in another order"),
            ways,
        )
    )


def detach():
    """``detach_()`` of a view."""
    return RuntimeError(
        "Can't detach views in-place. Use detach() instead: it gives a tensor without history that "
        "shares the memory."
    )


def read_only(writer=None):
    """The memory of the tensor written to is read-only."""
    before = f"{writer}(): " if writer else ""
    return RuntimeError(
        f"{before}the written-to tensor is over read-only memory; clone() it before writing"
    )
