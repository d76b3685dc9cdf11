"""Tensors that need a history: saved tensors, graphs run twice, `requires_grad` and `.grad`."""

from imode._core.guard import last_inference, why_not_recording
from imode._core.provenance import location, operator_name
from imode._core.type_names import c_name, class_name, scalar_name
from imode._core.user_frames import line as user_line
from imode.errors.culprit import at, made_by, mode_now, node_title, text


def integer_result(node_name, dtype):
    """The result to be recorded has a dtype without derivatives: ``sum(dtype=imode.int64)``."""
    return RuntimeError(
        f"Autograd not support dtype: {scalar_name(dtype)}. The result of {node_title(node_name)} "
        "cannot be differentiated: detach() the input, or leave out dtype=."
    )


def modified(
    type_name,
    shape,
    output_nr,
    node_name,
    version,
    expected,
    saver=None,
    saved_at=0,
    writer=(0, 0),
):
    """A saved tensor's version is not the one that was saved; writer: (operator, line)."""
    which = f", which is output {output_nr} of {node_title(node_name)}," if node_name else ""
    tensor = f"[{type_name} {list(shape)}]"
    wrote = operator_name(writer[0])
    return RuntimeError(
        text(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: {tensor}{which} is at version {version}; "
            f"expected version {expected} instead.",
            f"Saved by {saver}{at(saved_at)} for its backward, at version {expected}."
            if saver
            else "",
            f"Written last by {wrote}{at(writer[1])}, to version {version}." if wrote else "",
            "Ways out: use the functional form of the write, write to a .clone(), or write after "
            "the backward.",
            ""
            if saved_at
            else "imode.autograd.set_detect_anomaly(True) shows the line that saved.",
        )
    )


def saved_detached(node_name=None):
    """A saved input lost its history after it was saved."""
    saver = f" ({node_title(node_name)} saved it)" if node_name else ""
    return RuntimeError(
        text(
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().",
            f"The graph still needs what it was computed from{saver}: use detach() and its result.",
        )
    )


_WHEN_FREED = (
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()."
)


def hooks_on_freed():
    """Hooks are registered on a saved tensor that has been freed."""
    return RuntimeError(
        "Calling register_hooks on a saved tensor after it has been freed. "
        f"{_WHEN_FREED} Specify retain_graph=True if you need to backward through the graph a "
        "second time or if you need to access saved variables after calling backward."
    )


def negative_slope(name):
    """An in-place activation with a slope for which the result does not determine the input."""
    return RuntimeError(
        f"In-place {name} backward calculation is triggered with a negative slope which is not "
        "supported. Call the function without inplace=True."
    )


def freed(node_name=None, freed_at=0):
    """Backward went through a part of the graph whose saved tensors were freed, at a line."""
    name = node_name and node_name.rpartition("::")[2]
    freed = f"{name} was freed already{at(freed_at, 'by the backward at ')}."
    again = user_line() == freed_at != 0
    return RuntimeError(
        text(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed).",
            _WHEN_FREED,
            freed if node_name else "",
            mode_now("a graph made before it can be run in it, but none is made"),
            "Ways out: retain_graph=True in the earlier call; or run the forward pass again"
            + (", outside of that block" if why_not_recording() else "")
            + ("; or detach() what one pass of the loop leaves to the next." if again else "."),
        )
    )


def result_missing(node_name, slot):
    """Backward needs a result that its node could not save, because a pack hook raised."""
    return RuntimeError(
        text(
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
            f"_saved_{slot} of {node_name}.",
            "It was not saved: a pack hook of saved_tensors_hooks raised an error there, or wrote "
            "to its argument. Run the forward pass again, with a hook that does neither.",
        )
    )


def without_grad(sentence, origin=None, ways=()):
    """Something was asked of a tensor that only a tensor which requires grad can do.

    `sentence`: PyTorch's. `origin`: (operator, line of entry, mode) if it was created without
    recording, the first two as numbers. `ways`: the other lines, if no mode is the cause.
    """
    now = mode_now()
    if origin and now and origin[2] != "inference_mode":
        origin = None  # probably created in the block that is on
    made = origin and made_by(origin[1], origin[0], mode=origin[2])
    if made or now:
        ways = ("Way out: compute it outside of that block.",)
    return RuntimeError(text(sentence, made, now, *ways))


def no_history(index=0, origin=None):
    """Backward was called on a tensor without history; `origin`: as in `without_grad`."""
    last = location(last_inference())
    return without_grad(
        f"element {index} of tensors does not require grad and does not have a grad_fn",
        origin,
        (
            last
            and f"Tensors made in inference_mode (entered last at {last}) have no history, "
            "nor has what is computed from them alone.",
            "Ways out: make an input with requires_grad=True before computing from it;",
            "compute outside no_grad and inference_mode, for nothing is recorded in them.",
        ),
    )


def no_gradient_function(why):
    """An edge of the graph was asked for, but there is none."""
    return AssertionError(f"Expected gradient function to be set. {why}")


def change_requires_grad():
    """``requires_grad = False`` on a tensor that has a history."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach()."
    )


def scalar_outputs(shape):
    """backward() without a gradient, from a tensor of several elements."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs\n"
        f"This one has shape {list(shape)}: reduce it with .sum() or .mean(), or pass gradient=, "
        "of the same shape."
    )


def optimizes_non_leaf(shape, node):
    """A parameter of an optimizer is a result."""
    return ValueError(
        f"can't optimize a non-leaf Tensor\nThe tensor of shape {list(shape)} is a result of "
        f"{node}: pass what it was computed from, or its .detach().requires_grad_()."
    )


def only_floats_require_grad(dtype, kinds="floating point dtype"):
    """requires_grad was set on a tensor of another dtype."""
    return RuntimeError(
        f"only Tensors of {kinds} can require gradients\n"
        f"This one is {dtype}: convert it first, with .float() or .to(dtype)."
    )


def integers_require_grad(
    more=". Convert it first, with .to(dtype), or pass requires_grad=False.",
):
    """A tensor of integers or booleans was to require grad; `more`: the text that follows."""
    return RuntimeError(
        f"Only Tensors of floating point and complex dtype can require gradients{more}"
    )


GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor."
)


def grad_not_tensor(value):
    """Something other than a Tensor or None was assigned to .grad."""
    return TypeError(
        f"assigned grad expected to be a Tensor or None but got grad of type {class_name(value)}"
    )


def grad_mismatch(grad_dtype, grad_shape, dtype, shape):
    """A gradient of another dtype or shape than its tensor's was assigned to .grad."""
    if grad_dtype != dtype:
        return RuntimeError(
            f"attempting to assign a gradient with dtype '{c_name(grad_dtype)}' to a "
            f"tensor with grad_dtype '{scalar_name(dtype)}'. The gradient must have the "
            "tensor's dtype; convert it with .to(tensor.dtype)"
        )
    return RuntimeError(
        f"attempting to assign a gradient of size '{list(grad_shape)}' to a tensor of size "
        f"'{list(shape)}'. Please ensure that the gradient and the tensor are the same size"
    )


def constant_argument(function, argument):
    """An argument requires grad, and the operator that is recorded has no derivative by it."""
    return RuntimeError(
        f"The function '{function}' is not differentiable with respect to argument '{argument}'. "
        "This input cannot have requires_grad True: pass its detach()."
    )


def no_derivative(name):
    """An operator can be recorded, but not differentiated."""
    return NotImplementedError(f"the derivative for '{name}' is not implemented.")
