"""Guards that are used wrongly: entered twice, left in another thread."""

from imode._core.type_names import class_name, shown
from imode.errors.culprit import at, entered


def reentered(name, guard_id):
    """One guard object was entered while it was already on."""
    return RuntimeError(
        f"{name}: this guard is already on{entered(guard_id)}. "
        f"Make a new one for each block: `with imode.{name}(...):`."
    )


def not_entered(name):
    """A guard was left that was not on."""
    return RuntimeError(
        f"{name}: this guard is not on, so it cannot be left. "
        f"Use it as `with imode.{name}(...):`, or call __enter__ first."
    )


def wrong_thread(name, guard_id):
    """A guard was left in another thread than the one that entered it."""
    return RuntimeError(
        f"{name}: this guard was entered in another thread{at(guard_id)}. "
        "Modes are per thread: enter and leave a guard in the same one. Both threads keep theirs."
    )


def no_effect(name, guard_id):
    """The text of a warning: recording was turned on inside inference mode."""
    return (
        f"{name} has no effect inside inference_mode{entered(guard_id)}: nothing is recorded "
        "there. Use inference_mode(False) to record in part of the block."
    )


def argument(name, value):
    """A guard's argument is neither a bool nor something to decorate."""
    return TypeError(
        f"{name}(): argument 'mode' must be bool, not {class_name(value)}: {shown(value)}. "
        "Give it a bool(...); or, to decorate, a function."
    )
