"""Modes: left out of order, and what their methods return."""

from imode._core.type_names import class_name, shown
from imode.errors.culprit import at, entered, text


def not_on(mode):
    """A mode was left that is not on in this thread."""
    name = class_name(mode)
    return RuntimeError(
        f"{name}: this mode is not on in this thread, so it cannot be left. "
        f"Use it as `with {name}(...):`, or call __enter__ first."
    )


def out_of_order(mode, line, inner, inner_line):
    """A mode was left while one was on that had been entered later."""
    name, later = class_name(mode), class_name(inner)
    return RuntimeError(
        text(
            f"{name} was left out of order{entered(line)}: {later}, entered later"
            f"{at(inner_line)}, is still on.",
            f"{name} is off now, and {later} stays on until it is left.",
            "Leave modes in the reverse order of entering: nested with blocks do.",
        )
    )


def wrong_result(op, mode, line, result, wanted):
    """What __torch_dispatch__ returned cannot be an operator's result."""
    method = f"{class_name(mode)}.__torch_dispatch__{entered(line)}"
    return RuntimeError(
        text(
            f"Unable to cast {shown(result)} to {wanted}.",
            f"{method} returned it, of class {class_name(result)}, for {op}.",
            "Return what func(*args, **(kwargs or {})) returns, or tensors in its place.",
        )
    )


def no_implementation(function, types):
    """All that could override a function answered NotImplemented."""
    own = getattr(function, "_own", function)  # of what stands for a method of Tensor
    module = getattr(own, "__module__", None) or "imode.Tensor"
    name = f"{module}.{getattr(own, '__name__', own)}"
    return TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned "
        "NotImplemented:\n\n" + "\n".join(f"  - tensor subclass {cls}" for cls in types)
    )
