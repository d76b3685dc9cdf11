"""Every message that is longer than a line, as functions that return the exception to raise.

The first sentence of each is PyTorch's, so that a search for it finds the same answers, and code
that matches on it keeps working. The lines after it name the culprit (operator, file, line,
versions) and end with the ways out that fit the case. No message is longer than five lines.

Nothing here runs unless something went wrong, so clarity beats speed. The module imports nothing of
the package: every layer may raise from it.
"""

__all__ = ["place", "place_id"]

# Where guards were entered: (file, line) by the small integer that a guard leaves in the
# thread-local state and that an inference tensor carries. Place 0 means that nothing is known.
_places = [None]
_place_ids = {}
_MAX_PLACES = 1 << 15  # a tensor carries 16 bits of it; programs have far fewer `with` lines


def place_id(filename, line):
    """Return the small integer that stands for ``filename:line`` (0 once the table is full)."""
    key = (filename, line)
    found = _place_ids.get(key)
    if found is None:
        if len(_places) >= _MAX_PLACES:
            return 0
        found = _place_ids[key] = len(_places)
        _places.append(key)
    return found


def place(guard_id):
    """Return ``"file:line"`` of the guard entry that `guard_id` stands for, or None."""
    known = _places[guard_id] if 0 < guard_id < len(_places) else None
    return None if known is None else f"{known[0]}:{known[1]}"


def place_parts(guard_id):
    """Return (file, line) of the guard entry that `guard_id` stands for."""
    known = _places[guard_id] if 0 < guard_id < len(_places) else None
    return ("<unknown>", 0) if known is None else known


def _lines(*lines):
    return "\n".join(line for line in lines if line)


def _made(guard_id, made_by, what="It"):
    """The culprit's line: which operator made the tensor, under which guard."""
    by = f"created by {made_by} " if made_by else "created "
    at = place(guard_id)
    return f"{what} was {by}inside inference_mode" + (f" entered at {at}." if at else ".")


# ---- inference tensors --------------------------------------------------------------------------


def inference_saved(guard_id=0, made_by=None, saver=None):
    """An inference tensor would have to be saved for backward."""
    return RuntimeError(
        _lines(
            "Inference tensors cannot be saved for backward. "
            + _made(guard_id, made_by, f"The tensor that {saver} needs" if saver else "The tensor"),
            "Ways out: use its .clone() or .normal() (normal tensors) in the recorded computation;",
            "make it under no_grad instead of inference_mode; or, if no gradient is wanted here,",
            "move this call into the inference_mode block.",
        )
    )


def inference_write(guard_id=0, made_by=None, writer=None):
    """An inference tensor would be written to outside the mode."""
    return RuntimeError(
        _lines(
            "Inplace update to inference tensor outside InferenceMode is not allowed. "
            + _made(guard_id, made_by, f"The tensor that {writer} writes" if writer else "It"),
            "Ways out: move the write into the inference_mode block; write to its .clone() or",
            ".normal() (normal tensors); or make it under no_grad instead of inference_mode.",
        )
    )


def inference_requires_grad(guard_id=0, made_by=None):
    """``requires_grad`` would be set on an inference tensor outside the mode."""
    return RuntimeError(
        _lines(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. "
            + _made(guard_id, made_by),
            "Ways out: t.clone().requires_grad_() or t.normal().requires_grad_(), which are normal",
            "tensors; or make the tensor outside the inference_mode block.",
        )
    )


def inference_version(guard_id=0, made_by=None):
    """The version of an inference tensor was read."""
    return RuntimeError(
        _lines(
            "Inference tensors do not track version counter. " + _made(guard_id, made_by),
            "Way out: .clone() made outside the mode has one; t.is_inference() tells them apart.",
        )
    )


# ---- views and in-place writes ------------------------------------------------------------------

_VIEW_MODES = {
    "no_grad": ("no_grad mode", "with grad mode enabled", "no_grad"),
    "inference": ("inference mode", "in normal mode", "inference_mode"),
}


def view_mode(mode, base_written=False, writer=None, view_op=None, output=None):
    """A view made under `mode` ("no_grad" or "inference") meets a tracked in-place write.

    `output`: (number, node name) where the view is one of a view made there.
    """
    first = "A view was created in"
    if output:
        number, node_name = output
        first = f"Output {number} of {_trim(node_name)} is a view of a view which was created in"
    made_in, written_in, guard = _VIEW_MODES[mode]
    what = "its base or another view of its base has been" if base_written else "is being"
    made = f"view made by {view_op}" if view_op else "view"
    write = f"write by {writer}" if writer else "in-place write"
    return RuntimeError(
        _lines(
            f"{first} {made_in} and {what} modified inplace {written_in}. "
            "Given that this use case is ambiguous and error-prone, it is forbidden.",
            f"Ways out: put both the {made} and the {write} inside the {guard} block (the write",
            "is then not recorded), or both outside it (it is recorded);",
            "or write to a .clone() of the view.",
        )
    )


def view_multi_output(output_nr, node_name, base_written=False, writer=None):
    """One of several views made by one call (split, unbind…) meets an in-place write."""
    name = _trim(node_name)
    what = "its base or another view of its base has been" if base_written else "is being"
    functional = writer[:-1] if writer and writer.endswith("_") else "the functional form"
    return RuntimeError(
        _lines(
            f"Output {output_nr} of {name} is a view and {what} modified inplace. "
            "This view is the output of a function that returns multiple views. "
            "Such functions do not allow the output views to be modified inplace.",
            f"The write is {writer}." if writer else "",
            f"Ways out: use {functional} and its result instead of the in-place write; or take the",
            "view by itself (x.select(dim, i), x.narrow(dim, start, length)) and write to that.",
        )
    )


def view_custom_function(output_nr, node_name, base_written=False):
    """A view made inside a custom function meets an in-place write."""
    what = "its base or another view of its base has been" if base_written else "is being"
    return RuntimeError(
        _lines(
            f"Output {output_nr} of {_trim(node_name)} is a view and {what} modified inplace. "
            "This view was created inside a custom Function (or because an input was returned",
            "as-is), and handling the write would override the function's own backward.",
            "Way out: return a .clone() of the output from the custom function's forward.",
        )
    )


def leaf_write(op=None, view=False):
    """A leaf that requires grad, or a view of one, would be written to while recording."""
    first = "a view of a leaf Variable" if view else "a leaf Variable"
    call = f"{op}(...)" if op else "the write"
    return RuntimeError(
        _lines(
            f"{first} that requires grad is being used in an in-place operation."
            + (f" The operation is {op}." if op else ""),
            f"Ways out: `with imode.no_grad():` around {call}, to set or update a parameter;",
            "use the functional form and its result; or write to a .clone() to record the write.",
        )
    )


def overlap_inside(op=None):
    """The tensor written to has several elements in one memory location."""
    return RuntimeError(
        _lines(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation.",
            f"The operation is {op}; the tensor is expanded or strided onto itself." if op else "",
        )
    )


def overlap_between(op=None):
    """The tensor written to shares part of its memory with one that is read."""
    return RuntimeError(
        _lines(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation.",
            f"The operation is {op}." if op else "",
        )
    )


def out_requires_grad(op):
    """``out=`` was given while an argument requires grad."""
    return RuntimeError(
        f"{op}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad.\n"
        "Ways out: drop out= and use the result; or call it under no_grad."
    )


def detach_view():
    """``detach_()`` of a view."""
    return RuntimeError(
        "Can't detach views in-place. Use detach() instead: it gives a tensor without history that "
        "shares the memory."
    )


# ---- backward -----------------------------------------------------------------------------------


def _trim(node_name):
    """``"SplitBackward0"`` -> ``"Split"``, ``"SqueezeBackward1"`` -> ``"Squeeze1"``: how messages
    name the operator of a node."""
    if node_name in ("CopyBackwards", "CopySlices"):
        return f"imode::autograd::{node_name}"
    name, _, number = node_name.partition("Backward")
    return name if number in ("", "0") else name + number


def modified(
    type_name,
    shape,
    output_nr,
    node_name,
    version,
    expected,
    saver=None,
    saver_line=None,
    writer=None,
    writer_line=None,
):
    """A saved tensor's version is not the one that was saved."""
    which = f", which is output {output_nr} of {_trim(node_name)}," if node_name else ""
    tensor = f"[{type_name} {list(shape)}]"
    saved = ""
    if saver:
        saved = (
            f"Saved by {saver}"
            + (f" at {saver_line}" if saver_line else "")
            + f", version {expected}."
        )
    wrote = ""
    if writer:
        wrote = f"Written by {writer}" + (f" at {writer_line}" if writer_line else "")
        wrote += f", now at version {version}."
    hint = "Ways out: use the functional form of the write, or write to a .clone()"
    hint += (
        "."
        if saver_line
        else "; imode.autograd.set_detect_anomaly(True) finds the line that saved."
    )
    return RuntimeError(
        _lines(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: {tensor}{which} is at version {version}; "
            f"expected version {expected} instead.",
            saved,
            wrote,
            hint,
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


def graph_freed(node_name=None):
    """Backward went through a part of the graph whose saved tensors were freed."""
    at = f" The part already freed is {node_name}." if node_name else ""
    return RuntimeError(
        _lines(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed)." + at,
            "Saved intermediate values of the graph are freed when you call .backward() or "
            "autograd.grad().",
            "Ways out: retain_graph=True in the earlier call; or run the forward pass again.",
        )
    )


def no_history(index=0, mode=None, guard_id=0):
    """Backward was asked of a tensor without history; `mode` is the mode that is on, if any."""
    first = f"element {index} of tensors does not require grad and does not have a grad_fn"
    if mode is None:
        return RuntimeError(
            _lines(
                first,
                "Ways out: make an input with requires_grad=True before computing from it;",
                "compute outside no_grad and inference_mode, for nothing is recorded in them.",
            )
        )
    at = place(guard_id)
    return RuntimeError(
        _lines(
            first,
            f"{mode} is on here"
            + (f" (entered at {at})" if at else "")
            + ": nothing is recorded in it.",
            f"Way out: move the forward pass out of the {mode} block.",
        )
    )


def change_requires_grad():
    """``requires_grad = False`` on a tensor that has a history."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach()."
    )


def deepcopy_non_leaf():
    """``copy.deepcopy`` of a tensor that has a history."""
    return RuntimeError(
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
        "at the moment. Use t.detach().clone() to copy the values, or t.clone() to copy the values "
        "and keep the history."
    )


# ---- .grad and .data ----------------------------------------------------------------------------

GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor."
)

# How PyTorch's messages name dtypes: a gradient's by its C++ type, a tensor's by a word.
_DTYPE_WORDS = {
    "bool": ("bool", "Bool"),
    "uint8": ("unsigned char", "Byte"),
    "int8": ("signed char", "Char"),
    "int16": ("short int", "Short"),
    "int32": ("int", "Int"),
    "int64": ("long int", "Long"),
    "float16": ("c10::Half", "Half"),
    "float32": ("float", "Float"),
    "float64": ("double", "Double"),
    "complex64": ("c10::complex<float>", "ComplexFloat"),
    "complex128": ("c10::complex<double>", "ComplexDouble"),
}


def grad_not_tensor(value):
    """Something else than a Tensor or None was assigned to .grad."""
    return TypeError(
        f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
    )


def grad_mismatch(grad_dtype, grad_shape, dtype, shape):
    """A gradient of another dtype or shape than its tensor's was assigned to .grad."""
    if grad_dtype != dtype:
        return RuntimeError(
            f"attempting to assign a gradient with dtype '{_DTYPE_WORDS[grad_dtype.name][0]}' to a "
            f"tensor with grad_dtype '{_DTYPE_WORDS[dtype.name][1]}'. The gradient must have the "
            "tensor's dtype; convert it with .to(tensor.dtype)"
        )
    return RuntimeError(
        f"attempting to assign a gradient of size '{list(grad_shape)}' to a tensor of size "
        f"'{list(shape)}'. Please ensure that the gradient and the tensor are the same size"
    )


def data_mismatch():
    """One of a tensor and what was assigned to its .data is an inference tensor."""
    return RuntimeError(
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
        "incompatible tensor type. One of them is an inference tensor and the other is not; "
        "clone() gives a normal tensor outside inference mode"
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
    at = place(guard_id)
    return RuntimeError(
        f"{name}: this guard is already on" + (f" (entered at {at})" if at else "") + ". "
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
    at = place(guard_id)
    return RuntimeError(
        f"{name}: this guard was entered in another thread" + (f" (at {at})" if at else "") + ". "
        "Modes are per thread: enter and leave a guard in the same one. Both threads keep theirs."
    )


def guard_argument(name, value):
    """A guard's argument is neither a bool nor something to decorate."""
    return TypeError(
        f"{name}(): argument 'mode' must be bool, not {type(value).__name__}: {value!r:.80}. "
        f"To decorate, give it a function."
    )
