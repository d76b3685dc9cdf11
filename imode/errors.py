"""Every message that is longer than a line, as functions that return the exception to raise.

The first sentence of each is PyTorch's, so that a search for it finds the same answers, and code
that matches on it keeps working. The lines after it name the culprit (operator, file, line,
versions) and end with the ways out that fit the case. No message is longer than five lines.

Nothing here runs unless something went wrong, so clarity beats speed. Every layer may raise from
it, so it imports nothing of the package but `origins`, what the numbers of tensors stand for, and
`words` for types and values.
"""

from imode._core.origins import ASSIGNMENT, Now, operator_name, place
from imode._core.words import c_name, class_name, scalar_name, shown


def _lines(*lines):
    return "\n".join(line for line in lines if line)


def _at(number, before="at "):
    """``" at file:line"``, or nothing where the place is not known."""
    known = place(number)
    return f" {before}{known}" if known else ""


def _here():
    return _at(Now.line())


def _made(guard_id, maker, what="The tensor", mode="inference_mode"):
    """The culprit's line: which operator made the tensor, under which guard."""
    name = operator_name(maker)
    by = f"created by {name} " if name else "created "
    return f"{what} was {by}inside {mode}{_at(guard_id, 'entered at ')}."


def _mode_now(what="nothing is recorded in it"):
    """A line on the guard that keeps this thread from recording; empty where it records."""
    mode = Now.not_recording()
    return f"{mode[0]} is on here{_entered(mode[1])}: {what}." if mode else ""


def _entered(number):
    known = place(number)
    return f" (entered at {known})" if known else ""


# ---- inference tensors --------------------------------------------------------------------------


def inference_saved(guard_id=0, maker=0, saver=None):
    """An inference tensor would have to be saved for backward."""
    saver = saver and saver.lstrip("_")
    needs = f"that {saver}{_here()} needs for backward" if saver else "needed for backward"
    off = Now.not_inference()
    move = (
        f"outside of the {off[0]} block{_entered(off[1])}"
        if off
        else "inside an inference_mode block"
    )
    return RuntimeError(
        _lines(
            "Inference tensors cannot be saved for backward.",
            _made(guard_id, maker, f"The tensor {needs}"),
            "Ways out: compute with its .clone() or its .normal(), which are normal tensors;",
            "make it under no_grad instead of inference_mode;",
            f"or, if no gradient is wanted, call {saver or 'this'} {move}.",
        )
    )


def inference_write(guard_id=0, maker=0, writer=None):
    """An inference tensor would be written to outside the mode."""
    off = Now.not_inference()
    move = (
        f"leave the {off[0]} block{_entered(off[1])} first"
        if off
        else "write inside an inference_mode block"
    )
    return RuntimeError(
        _lines(
            "Inplace update to inference tensor outside InferenceMode is not allowed.",
            _made(guard_id, maker, f"The tensor that {_as_written(writer)}{_here()} writes"),
            f"Ways out: {move};",
            "write to its .clone() or its .normal(), which are normal tensors;",
            "or make it under no_grad instead of inference_mode.",
        )
    )


def inference_requires_grad(guard_id=0, maker=0):
    """``requires_grad`` would be set on an inference tensor outside the mode."""
    return RuntimeError(
        _lines(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
            _made(guard_id, maker),
            "Ways out: t.clone().requires_grad_() or t.normal().requires_grad_(), normal tensors;",
            "or make it outside of the inference_mode block, or under no_grad.",
        )
    )


def inference_version(guard_id=0, maker=0):
    """The version of an inference tensor was read."""
    return RuntimeError(
        _lines(
            "Inference tensors do not track version counter.",
            _made(guard_id, maker),
            "Ways out: ask t.is_inference() first; .clone() outside of the mode, or .normal(),",
            "gives a tensor that has a version.",
        )
    )


def inference_data(guard_id, maker, into_normal):
    """``.data`` would put an inference tensor's memory under a normal tensor, or the reverse."""
    way = "t.data = u.normal(); or" if into_normal else "t = u; or, inside the mode,"
    return RuntimeError(
        _lines(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
            "incompatible tensor type.",
            _made(guard_id, maker, "The one given" if into_normal else "The one set"),
            "One of an inference tensor and a normal one would then see the other's writes.",
            f"Ways out: {way} t.copy_(u), which copies the elements.",
        )
    )


def inference_set(guard_id, maker, into_normal):
    """``set_`` would put an inference tensor and a normal one onto the same memory."""
    return RuntimeError(
        _lines(
            "set_(): one of self and source is an inference tensor and the other is not.",
            _made(guard_id, maker, "The source" if into_normal else "The one set"),
            "One of an inference tensor and a normal one would then see the other's writes.",
            f"Ways out: t.set_(u.{'normal' if into_normal else 'clone'}()); or t = u.",
        )
    )


# ---- views and in-place writes ------------------------------------------------------------------

_VIEW_MODES = {  # what PyTorch calls the mode and its opposite, and what a user calls it
    "no_grad": ("no_grad mode", "with grad mode enabled", "no_grad mode"),
    "inference": ("inference mode", "in normal mode", "inference_mode"),
}


def _as_written(writer):
    """A write as the user wrote it; `writer` is the operator, by which assignments are made too."""
    return ASSIGNMENT if Now.assigning() else writer.lstrip("_") if writer else "a write"


def _write(writer, target):
    """The line on a write that is refused: what, where, to what."""
    return f"The write is {_as_written(writer)}{_here()}, to {target}."


def _spelled(name, target):
    """The call of an operator, or of a custom function's apply, as a user writes it."""
    name = name.lstrip("_")
    if name.endswith(".apply"):
        return f"{name}({target}, ...)"
    if Now.is_method(name):
        return f"{target}.{name}(...)"
    return f"imode.nn.functional.{name.rstrip('_')}({target}, ..., inplace=True)"


def _call(writer, target):
    """The write as a statement."""
    return f"{target}[...] = v" if Now.assigning() else _spelled(writer, target)


def _rewrite(writer):
    """A write to `t` as one line that makes a new `t`, of the same dtype."""
    if Now.assigning():
        return "`t = t.clone(); t[...] = v`"
    return f"`t = {_spelled(writer, 't.clone()')}`"


def _sizes(shape):
    return f"of shape {list(shape)}"


# The writer is None where not the view was written to, but its base or another view of that.
_BASE_WRITTEN = "its base or another view of its base has been"


def view_mode(mode, writer, output, shape, guard_id, maker):
    """A view made under `mode` ("no_grad" or "inference") meets a tracked in-place write.

    `output`: (number, node name) where the view is one of a view made there.
    """
    first = "A view was created in"
    if output:
        number, node_name = output
        first = f"Output {number} of {_trim(node_name)} is a view of a view which was created in"
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
            f"The write is {_as_written(writer)}{_here()}.",
            "Ways out: view and write both inside that block (the write is not recorded), or both",
            "outside of it (it is recorded); or write to a .clone() of the view.",
        )
    return RuntimeError(
        _lines(
            f"{first} {made_in} and {what} modified inplace {written_in}. "
            "Given that this use case is ambiguous and error-prone, it is forbidden.",
            _made(guard_id, maker, f"The view {_sizes(shape)}", guard),
            *lines,
        )
    )


def view_multi_output(output_nr, node_name, writer, shape, part):
    """One of several views made by one call (split, unbind…) meets an in-place write.

    `part`: the call that gives it alone, of what was split; None where no element is written.
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
        _lines(
            f"Output {output_nr} of {_trim(node_name)} is a view and {what} modified inplace. "
            "This view is the output of a function that returns multiple views. "
            "Such functions do not allow the output views to be modified inplace.",
            *lines,
        )
    )


def view_custom_function(output_nr, node_name, writer, shape):
    """A view made inside a custom function meets an in-place write."""
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
        _lines(
            f"Output {output_nr} of {_trim(node_name)} is a view and {what} modified inplace. "
            "This view was created inside a custom Function (or because an input was returned "
            "as-is), and handling the write would override the function's own backward.",
            *lines,
        )
    )


def leaf_write(writer, shape, view=False):
    """A leaf that requires grad, or a view of one, would be written to while recording."""
    first = "a view of a leaf Variable" if view else "a leaf Variable"
    return RuntimeError(
        _lines(
            f"{first} that requires grad is being used in an in-place operation.",
            _write(writer, f"{'a view of ' if view else ''}a leaf {_sizes(shape)}"),
            f"To set or update it: `with imode.no_grad(): {_call(writer, 't')}`.",
            f"To record the write, on a tensor made from it: {_rewrite(writer)}.",
        )
    )


def overlap_inside(array):
    """The tensor written to has several elements in one memory location; its ndarray."""
    strides = [step // array.itemsize for step in array.strides]
    writer = operator_name(Now.operator()) or "write_"
    if writer.endswith("(out=)"):
        ways = "Ways out: drop out= and use the result; or give it memory of its own: out=t.clone()"
    else:
        ways = f"Way out: {_rewrite(writer)}, which has memory of its own for each element."
    return RuntimeError(
        _lines(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation.",
            _write(
                writer, f"a tensor {_sizes(array.shape)} and strides {strides}, as expand makes"
            ),
            ways,
        )
    )


def overlap_between():
    """The tensor written to shares part of its memory with one that is read."""
    writer = operator_name(Now.operator()) or "write_"
    if writer.endswith("(out=)"):
        ways = "Ways out: drop out= and use the result; or clone() the argument that is read."
    else:
        ways = f"Way out: clone() the argument that is read: `t.{writer}(other.clone())`."
        if Now.assigning():
            ways = "Way out: clone() what is read: `t[...] = v.clone()`."
    return RuntimeError(
        _lines(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation.",
            _write(writer, "memory that it also reads, at another offset or in another order"),
            ways,
        )
    )


def out_requires_grad(op, called=None):
    """``out=`` was given while an argument requires grad; `op` writes it for what was `called`."""
    return RuntimeError(
        f"{op}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad.\n"
        + ("" if called in (None, op) else f"{called} hands its out= on to {op}.\n")
        + "Ways out: drop out= and use the result; or call it under no_grad."
    )


def inplace_of_wrong_dtype(target, result):
    """An in-place operator's result in another dtype than its target; both as C names them."""
    return RuntimeError(
        f"Bad in-place call: input tensor dtype {target} and output tensor dtype {result} should "
        "match"
    )


def out_of_wrong_dtype(op, result, target):
    """A result that the dtype of its target, named as PyTorch names dtypes, cannot hold."""
    if op in ("cat", "stack", "hstack", "vstack", "dstack", "column_stack"):
        return TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {target}. "
            f"The result of {op}() is of type {result}."
        )
    return RuntimeError(f"result type {result} can't be cast to the desired output type {target}")


def detach_view():
    """``detach_()`` of a view."""
    return RuntimeError(
        "Can't detach views in-place. Use detach() instead: it gives a tensor without history that "
        "shares the memory."
    )


def integer_result(node_name, dtype):
    """What would be recorded has a dtype without derivatives: ``sum(dtype=imode.int64)``."""
    return RuntimeError(
        f"Autograd not support dtype: {scalar_name(dtype)}. The result of "
        f"{_trim(node_name)} cannot be differentiated: detach() the input, or leave out dtype=."
    )


# ---- backward -----------------------------------------------------------------------------------


def _trim(node_name):
    """``"SplitBackward0"`` -> ``"Split"``, ``"SqueezeBackward1"`` -> ``"Squeeze1"``: how messages
    name the operator of a node."""
    if "::" in node_name:
        return f"torch::autograd::{node_name.rpartition('::')[2]}"
    name, _, number = node_name.rpartition("Backward")
    return name if number in ("", "0") else name + number


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
    """A saved tensor's version is not the one that was saved; writer: (operator, place)."""
    which = f", which is output {output_nr} of {_trim(node_name)}," if node_name else ""
    tensor = f"[{type_name} {list(shape)}]"
    wrote = operator_name(writer[0])
    return RuntimeError(
        _lines(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: {tensor}{which} is at version {version}; "
            f"expected version {expected} instead.",
            f"Saved by {saver}{_at(saved_at)} for its backward, at version {expected}."
            if saver
            else "",
            f"Written last by {wrote}{_at(writer[1])}, to version {version}." if wrote else "",
            "Ways out: use the functional form of the write, write to a .clone(), or write after "
            "the backward.",
            ""
            if saved_at
            else "imode.autograd.set_detect_anomaly(True) shows the line that saved.",
        )
    )


def saved_detached(node_name=None):
    """A saved input lost its history after it was saved."""
    saver = f" ({_trim(node_name)} saved it)" if node_name else ""
    return RuntimeError(
        _lines(
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().",
            f"The graph still needs what it was computed from{saver}: use detach() and its result.",
        )
    )


def graph_freed(node_name=None, freed_at=0):
    """Backward went through a part of the graph whose saved tensors were freed, at a place."""
    name = node_name and node_name.rpartition("::")[2]
    freed = f"{name} was freed already{_at(freed_at, 'by the backward at ')}."
    again = Now.line() == freed_at != 0
    return RuntimeError(
        _lines(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed).",
            "Saved intermediate values of the graph are freed when you call .backward() or "
            "autograd.grad().",
            freed if node_name else "",
            _mode_now("a graph made before it can be run in it, but none is made"),
            "Ways out: retain_graph=True in the earlier call; or run the forward pass again"
            + (", outside of that block" if Now.not_recording() else "")
            + ("; or detach() what one pass of the loop leaves to the next." if again else "."),
        )
    )


def result_missing(node_name, slot):
    """Backward needs a result that its node could not save, since a pack hook raised."""
    return RuntimeError(
        _lines(
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
            f"_saved_{slot} of {node_name}.",
            "It was not saved: a pack hook of saved_tensors_hooks raised an error there, or wrote "
            "to its argument. Run the forward pass again, with a hook that does neither.",
        )
    )


def without_grad(sentence, origin=None, ways=()):
    """Something was asked of a tensor that only one which requires grad can do.

    `sentence`: PyTorch's. `origin`: (operator, place of entry, mode) where it was made without
    recording, the first two as they are numbered. `ways`: the rest where no mode is to blame.
    """
    now = _mode_now()
    if origin and now and origin[2] != "inference_mode":
        origin = None  # made in the block that is on, most likely
    made = origin and _made(origin[1], origin[0], mode=origin[2])
    if made or now:
        ways = ("Way out: compute it outside of that block.",)
    return RuntimeError(_lines(sentence, made, now, *ways))


def no_history(index=0, origin=None):
    """Backward was asked of a tensor without history; `origin`: as in `without_grad`."""
    last = place(Now.last_inference())
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


def change_requires_grad():
    """``requires_grad = False`` on a tensor that has a history."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach()."
    )


def integers_require_grad():
    """A new tensor of integers or booleans that should require grad."""
    return RuntimeError(
        "Only Tensors of floating point and complex dtype can require gradients. Convert it first, "
        "with .to(dtype), or pass requires_grad=False."
    )


# ---- .grad ----------------------------------------------------------------------------------

GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor."
)


def grad_not_tensor(value):
    """Something else than a Tensor or None was assigned to .grad."""
    return TypeError(
        f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
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


# ---- dispatcher ---------------------------------------------------------------------------------


def missing_kernel(op, key, available):
    """No kernel of `op` is registered for `key`."""
    have = ", ".join(available) if available else "none"
    return NotImplementedError(
        f"Could not run '{op}' with arguments from the '{key}' backend. "
        f"'{op}' has kernels for: {have}.\n"
        f"Register one for {key}, or move the arguments to a backend of that list."
    )


def illegal_state():
    """ADInplaceOrView would be dropped from the included set while Autograd is not excluded."""
    return RuntimeError(
        "illegal thread-local state: ADInplaceOrView cannot be dropped from the included set while "
        "Autograd is not excluded.\n"
        "With Autograd on, writes must go past the version counter, or a saved tensor could change "
        "unseen.\n"
        "Ways out: inference_mode drops both; AutoDispatchBelowADInplaceOrView excludes both."
    )


# ---- guards -------------------------------------------------------------------------------------


def guard_reentered(name, guard_id):
    """One guard object was entered while it was already on."""
    return RuntimeError(
        f"{name}: this guard is already on{_entered(guard_id)}. "
        f"Make a new one for each block: `with imode.{name}(...):`."
    )


def guard_not_entered(name):
    """A guard was left that is not on."""
    return RuntimeError(
        f"{name}: this guard is not on, so it cannot be left. "
        f"Use it as `with imode.{name}(...):`, or call __enter__ first."
    )


def guard_wrong_thread(name, guard_id):
    """A guard was left in another thread than it was entered in."""
    return RuntimeError(
        f"{name}: this guard was entered in another thread{_at(guard_id)}. "
        "Modes are per thread: enter and leave a guard in the same one. Both threads keep theirs."
    )


def no_effect(name, guard_id):
    """Recording was turned on inside of inference mode: a warning's text."""
    return (
        f"{name} has no effect inside inference_mode{_entered(guard_id)}: nothing is recorded "
        "there. Use inference_mode(False) to record in part of the block."
    )


def guard_argument(name, value):
    """A guard's argument is neither a bool nor something to decorate."""
    return TypeError(
        f"{name}(): argument 'mode' must be bool, not {class_name(value)}: {shown(value)}. "
        "Give it a bool(...); or, to decorate, a function."
    )
