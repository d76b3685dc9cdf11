"""Inference tensors used where only a normal tensor is allowed."""

from imode._core.guard import why_not_inference
from imode.errors.culprit import entered, here, made_by, text, write_as_spelled


def saved(guard_id=0, maker=0, saver=None):
    """An inference tensor would have to be saved for backward."""
    saver = saver and saver.lstrip("_")
    needs = f"that {saver}{here()} needs for backward" if saver else "needed for backward"
    off = why_not_inference()
    move = (
        f"outside of the {off[0]} block{entered(off[1])}"
        if off
        else "inside an inference_mode block"
    )
    return RuntimeError(
        text(
            "Inference tensors cannot be saved for backward.",
            made_by(guard_id, maker, f"The tensor {needs}"),
            "Ways out: compute with its .clone() or its .normal(), which are normal tensors;",
            "make it under no_grad instead of inference_mode;",
            f"or, if no gradient is wanted, call {saver or 'this'} {move}.",
        )
    )


def write(guard_id=0, maker=0, writer=None):
    """An inference tensor would be written to outside the mode."""
    off = why_not_inference()
    move = (
        f"leave the {off[0]} block{entered(off[1])} first"
        if off
        else "write inside an inference_mode block"
    )
    return RuntimeError(
        text(
            "Inplace update to inference tensor outside InferenceMode is not allowed.",
            made_by(guard_id, maker, f"The tensor that {write_as_spelled(writer)}{here()} writes"),
            f"Ways out: {move};",
            "write to its .clone() or its .normal(), which are normal tensors;",
            "or make it under no_grad instead of inference_mode.",
        )
    )


def requires_grad(guard_id=0, maker=0):
    """``requires_grad`` would be set on an inference tensor outside the mode."""
    return RuntimeError(
        text(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
            made_by(guard_id, maker),
            "Ways out: t.clone().requires_grad_() or t.normal().requires_grad_(), normal tensors;",
            "or make it outside of the inference_mode block, or under no_grad.",
        )
    )


def version(guard_id=0, maker=0):
    """The version of an inference tensor was read."""
    return RuntimeError(
        text(
            "Inference tensors do not track version counter.",
            made_by(guard_id, maker),
            "Ways out: ask t.is_inference() first; .clone() outside of the mode, or .normal(),",
            "gives a tensor that has a version.",
        )
    )


_SHARED = "One of an inference tensor and a normal one would then see the other's writes."


# Also raised for tensors of two devices.
INCOMPATIBLE = (
    "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
    "incompatible tensor type."
)


def data(guard_id, maker, into_normal):
    """``.data`` would put an inference tensor's memory under a normal tensor, or the reverse."""
    way = "t.data = u.normal(); or" if into_normal else "t = u; or, inside the mode,"
    return RuntimeError(
        text(
            INCOMPATIBLE,
            made_by(guard_id, maker, "The one given" if into_normal else "The one set"),
            _SHARED,
            f"Ways out: {way} t.copy_(u), which copies the elements.",
        )
    )


def set_memory(guard_id, maker, into_normal):
    """``set_`` would put an inference tensor and a normal one onto the same memory."""
    return RuntimeError(
        text(
            "set_(): one of self and source is an inference tensor and the other is not.",
            made_by(guard_id, maker, "The source" if into_normal else "The one set"),
            _SHARED,
            f"Ways out: t.set_(u.{'normal' if into_normal else 'clone'}()); or t = u.",
        )
    )
