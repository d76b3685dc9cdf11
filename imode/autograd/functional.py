"""Jacobians, Hessians and their products with vectors, of Python functions of tensors.

All six take a function and its inputs, a tensor or a tuple, and return tuples where inputs or
outputs are tuples. The function is called with new tensors in place of the inputs: a dependence on
an input that it captures otherwise does not count. `create_graph` makes the results differentiable
with respect to the inputs. Where something does not depend on an input, the result is zeros, or,
with `strict`, an error.
"""

import contextlib

import imode
from imode.errors import names_of as _names_of

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (func(*inputs), the product of the vector `v` and the Jacobian).

    v: a tensor or a tuple, like the outputs; not needed for a single output of one element. The
    product has the inputs' shapes and dtypes.

    Raises TypeError for anything but tensors, RuntimeError for a `v` of the wrong shape and, with
    `strict`, for an output that does not depend on an input.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.autograd.functional.vjp(lambda x: x * x, x, imode.ones(2))[1]
    tensor([2., 4.])
    """
    with _recording(True):
        several_in, inputs = _renewed(inputs, "inputs", "vjp", create_graph, True)
        several_out, outputs = _outputs(func(*inputs), "vjp", strict)
        missing = "the user-provided function returns a single Tensor with a single element"
        v = _vector(v, outputs, several_out, "vjp", create_graph, missing)
    with _recording(create_graph or imode.is_grad_enabled()):
        product = _grad(outputs, inputs, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "jacobian", _OUTPUT)
    return _given(outputs, several_out, create_graph), _given(product, several_in, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (func(*inputs), the product of the Jacobian and the vector `v`).

    v: a tensor or a tuple, like the inputs; not needed for a single input of one element. The
    product has the outputs' shapes. It is computed as the gradient of a vjp with respect to the
    vjp's vector, so the function must be twice differentiable.

    Raises as `vjp`.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.autograd.functional.jvp(lambda x: x * x, x, imode.ones(2))[1]
    tensor([2., 4.])
    """
    with _recording(True):
        several_in, inputs = _renewed(inputs, "inputs", "jvp", create_graph, True)
        v = _vector(v, inputs, several_in, "jvp", create_graph, _ONE_INPUT)
        several_out, outputs = _outputs(func(*inputs), "jvp", strict)
        # A vjp is linear in its vector: any finite vector will do.
        weights = tuple(imode.zeros_like(t, requires_grad=True) for t in outputs)
        grads = _grad(outputs, inputs, weights, True)
        _check_recorded(grads, strict, _GRADIENT)
    with _recording(create_graph or imode.is_grad_enabled()):
        product = _grad(grads, weights, v, create_graph)
        product = _filled(product, outputs, strict, create_graph, "jacobian", _WEIGHT)
    return _given(outputs, several_out, create_graph), _given(product, several_out, create_graph)


def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """Return the Jacobian of `func` at `inputs`.

    A tensor for one input and one output, of the output's shape followed by the input's; a tuple
    of these where inputs or outputs are a tuple, a tuple of tuples (by output, then by input) where
    both are. Each row takes one run of backward; vectorize=True asks for all of them in one call of
    `grad` (is_grads_batched), which runs backward as often.
    strategy: "forward-mode" (with vectorize=True, for real tensors) gives the same numbers.

    Raises TypeError for anything but tensors, RuntimeError with `strict` where something does not
    depend on an input, AssertionError for an unknown strategy, NotImplementedError for what
    "forward-mode" cannot do.

    >>> imode.autograd.functional.jacobian(lambda x: x * x, imode.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    hint = ' Hint: "reverse-mode" runs backward once for each element of the outputs.'
    _check_strategy(strategy, hint)
    forward = strategy == "forward-mode"
    if forward:
        _check_forward(inputs, create_graph, strict, vectorize)
    with _recording(True):
        several_in, inputs = _renewed(inputs, "inputs", "jacobian", create_graph, True)
        several_out, outputs = _outputs(func(*inputs), None if forward else "jacobian", strict)
        if forward and any(t.is_complex() for t in inputs + outputs):
            raise NotImplementedError(
                'jacobian: strategy="forward-mode" of complex tensors is not there: it would give '
                'the derivative by z, not by its conjugate. Use strategy="reverse-mode".'
            )
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        if vectorize:
            result = _all_rows(outputs, inputs, create_graph)
        else:
            result = tuple(
                _rows(i, output, inputs, create_graph, strict) for i, output in enumerate(outputs)
            )
    result = tuple(_given(row, several_in, create_graph) for row in result)
    return result if several_out else result[0]


def hessian(
    func,
    inputs,
    create_graph=False,
    strict=False,
    vectorize=False,
    outer_jacobian_strategy="reverse-mode",
):
    """Return the matrix of second derivatives of `func`, whose result has one element.

    A tensor whose shape is the input's twice; for a tuple of inputs a tuple of tuples, where [i][j]
    has the shape of input i followed by that of input j. The options are those of `jacobian`.

    Raises as `jacobian`, and RuntimeError for a result that is not one tensor of one element.

    >>> imode.autograd.functional.hessian(lambda x: (x**3).sum(), imode.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    several, inputs = _tensors(inputs, "inputs", "hessian")
    _check_strategy(outer_jacobian_strategy)

    def scalar(*values):
        several_out, outputs = _outputs(func(*values), "hessian", strict)
        return _one_element(several_out, outputs, "hessian").squeeze()

    def gradients(*values):
        grads = jacobian(scalar, values, create_graph=True)
        _check_recorded(grads, strict, _JACOBIAN)
        return grads

    result = jacobian(gradients, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (func(*inputs), the product of the vector `v` and the Hessian).

    func returns one tensor of one element. v: a tensor or a tuple, like the inputs; not needed for
    a single input of one element. The product has the inputs' shapes.

    Raises as `hessian`.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.autograd.functional.vhp(lambda x: (x**3).sum(), x, imode.ones(2))[1]
    tensor([ 6., 12.])
    """
    several, inputs, v, output, grads = _first_order(func, inputs, v, "vhp", create_graph, strict)
    with _recording(create_graph or imode.is_grad_enabled()):
        product = _grad(grads, inputs, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "hessian", _JACOBIAN_OF)
    return _given((output,), False, create_graph), _given(product, several, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (func(*inputs), the product of the Hessian and the vector `v`).

    As `vhp`, at the cost of one more backward. The two products are equal where the second
    derivatives are continuous, and `vhp` is faster.

    Raises as `hessian`.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.autograd.functional.hvp(lambda x: (x**3).sum(), x, imode.ones(2))[1]
    tensor([ 6., 12.])
    """
    several, inputs, v, output, grads = _first_order(func, inputs, v, "hvp", create_graph, strict)
    with _recording(True):
        weights = tuple(imode.zeros_like(t, requires_grad=True) for t in inputs)
        twice = _grad(grads, inputs, weights, True)
    with _recording(create_graph or imode.is_grad_enabled()):
        product = _grad(twice, weights, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "hessian", _ENTRY)
    return _given((output,), False, create_graph), _given(product, several, create_graph)


def _first_order(func, inputs, v, name, create_graph, strict):
    """What vhp and hvp share: the function's one element, and its gradients with a graph."""
    with _recording(True):
        several, inputs = _renewed(inputs, "inputs", name, create_graph, True)
        v = _vector(v, inputs, several, name, create_graph, _ONE_INPUT)
        several_out, outputs = _outputs(func(*inputs), name, strict)
        output = _one_element(several_out, outputs, name)
        grads = _grad(outputs, inputs, None, True)
        _check_recorded(grads, strict, _JACOBIAN)
    return several, inputs, v, output, grads


# ---- arguments and results ----

_ONE_INPUT = "the input to the user-provided function is a single Tensor with a single element"


def _tensors(value, what, name):
    """Return (whether `value` is a tuple, the tuple); TypeError if an item is not a tensor."""
    several = isinstance(value, tuple)
    for i, item in enumerate(value if several else (value,)):
        if not isinstance(item, imode.Tensor):
            which = f"the value at index {i}" if several else f"the given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"{which} has type {type(item)}."
            )
    return several, value if several else (value,)


def _renewed(value, what, name, create_graph, requires_grad):
    """As `_tensors`, with new tensors: views with history if asked for, else leaves."""
    several, tensors = _tensors(value, what, name)
    made = [
        t.view_as(t)
        if create_graph and t.requires_grad
        else t.detach().requires_grad_(requires_grad)
        for t in tensors
    ]
    return several, tuple(made)


def _outputs(result, name, strict):
    # Forward mode passes no name: PyTorch's sentence has "outputs given to None" there.
    what = "outputs" if name is None else "outputs of the user-provided function"
    several, outputs = _tensors(result, what, name)
    _check_recorded(outputs, strict, _RESULT)
    return several, outputs


def _one_element(several, outputs, name):
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]


def _vector(v, like, several, name, create_graph, missing):
    """The vector to multiply with, as a tuple that fits `like`; None stands for a single 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {missing}.")
        return None
    _, v = _renewed(v, "v", name, create_graph, False)
    if len(v) != len(like):
        if not several:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
        )
    for i, (item, other) in enumerate(zip(v, like, strict=True)):
        if item.shape != other.shape:
            raise RuntimeError(
                f"{f'Entry {i} in ' if several else ''}v has invalid size: "
                f"should be {other.shape} but got {item.shape}."
            )
    return v


def _given(tensors, several, create_graph):
    """Results as the caller gets them: one or a tuple, without history unless asked for."""
    tensors = tensors if create_graph else tuple(t.detach() for t in tensors)
    return tensors if several else tensors[0]


# ---- gradients ----


def _recording(on):
    """A block that is recorded or not; in inference mode nothing is recorded."""
    if imode.is_inference_mode_enabled():
        return contextlib.nullcontext()
    return imode.set_grad_enabled(on)


def _grad(outputs, inputs, weights, create_graph, retain_graph=None, is_grads_batched=False):
    """`autograd.grad` of the outputs that require grad; None for an input without gradient."""
    if weights is None:
        weights = (None,) * len(outputs)
    differentiable = [
        (t, w) for t, w in zip(outputs, weights, strict=True) if t is not None and t.requires_grad
    ]
    if not differentiable:
        return (None,) * len(inputs)
    return imode.autograd.grad(
        [t for t, _ in differentiable],
        inputs,
        [w for _, w in differentiable],
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=retain_graph,
        is_grads_batched=is_grads_batched,
    )


def _rows(i, output, inputs, create_graph, strict):
    """The Jacobians of output number `i` by every input, a backward for each element."""
    rows = [[] for _ in inputs]
    for k in range(output.numel()):
        grads = _grad((output.reshape(-1)[k],), inputs, None, create_graph, retain_graph=True)
        for j, (row, grad, leaf) in enumerate(zip(rows, grads, inputs, strict=True)):
            if strict and grad is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {j}."
                    f"{_NOT_STRICT}."
                )
            if strict and create_graph and not grad.requires_grad:
                raise _not_differentiable("jacobian", i)
            row.append(imode.zeros_like(leaf) if grad is None else grad)
    return tuple(
        imode.stack(row).view(output.shape + leaf.shape)
        for row, leaf in zip(rows, inputs, strict=True)
    )


def _all_rows(outputs, inputs, create_graph):
    """The Jacobians of all outputs by every input, in one batch; outputs may be empty or
    complex."""
    lengths = [t.numel() for t in outputs]
    ones = imode.eye(sum(lengths)).split(lengths, 1) if sum(lengths) else None
    grads = (None,) * len(inputs)
    if ones:
        flat = [t.reshape(-1) for t in outputs]
        weights = [w.to(t.dtype) for w, t in zip(ones, outputs, strict=True)]
        grads = _grad(flat, inputs, weights, create_graph, is_grads_batched=True)
    columns = []
    for grad, leaf in zip(grads, inputs, strict=True):
        if grad is None:
            grad = leaf.new_zeros(leaf.shape).expand(sum(lengths), *leaf.shape)
        parts = zip(grad.split(lengths), outputs, strict=True)
        columns.append([part.view(output.shape + leaf.shape) for part, output in parts])
    return tuple(zip(*columns, strict=True))


def _check_forward(inputs, create_graph, strict, vectorize):
    for option, given, error in (
        ("create_graph", create_graph, NotImplementedError),
        ("strict", strict, RuntimeError),
    ):
        if given:
            raise error(
                f"torch.autograd.functional.jacobian: `{option}=True` and "
                '`strategy="forward-mode"` are not supported together (yet). Please either set '
                f'`{option}=False` or `strategy="reverse-mode"`.'
            )
    _, inputs = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        # "isonly" is how the sentence is known.
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
            "implemented for `vectorize=True`."
        )
    if not inputs:
        raise AssertionError("Expected at least one tensor. The tuple of inputs is empty.")
    for t in inputs:
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {t.dtype}")


# ---- strict mode: what does not depend on what ----

_NOT_STRICT = " This is not allowed in strict mode"
_RESULT = (
    "Output {i} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode."
)
_GRADIENT = (
    "The gradient with respect to input {i} is independent of the inputs of the user-provided "
    f"function.{_NOT_STRICT}."
)
_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {i} is independent of the input."
    f"{_NOT_STRICT}. The function has to be twice differentiable and not linear in the input."
)
_OUTPUT = f"The output of the user-provided function is independent of input {{i}}.{_NOT_STRICT}."
_WEIGHT = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when "
    f"using the double backward trick to compute forward mode gradients.{_NOT_STRICT}."
)
_JACOBIAN_OF = (
    f"The jacobian of the user-provided function is independent of input {{i}}.{_NOT_STRICT}."
)
_ENTRY = (
    "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian."
    f"{_NOT_STRICT}, where the product is a gradient by that entry."
)


def _not_differentiable(what, i):
    return RuntimeError(
        f"The {what} of the user-provided function is independent of input {i}."
        f"{_NOT_STRICT} when create_graph=True."
    )


def _check_strategy(strategy, hint=""):
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode".{hint} '
            f"Got {strategy!r}."
        )


def _check_recorded(tensors, strict, message):
    for i, t in enumerate(tensors if strict else ()):
        if t is None:
            raise RuntimeError(_OUTPUT.format(i=i))
        if not t.requires_grad:
            raise RuntimeError(message.format(i=i))


def _filled(grads, like, strict, create_graph, what, message):
    """Gradients, with zeros for what has none; with `strict`, those raise."""
    for i, grad in enumerate(grads if strict else ()):
        if grad is None:
            raise RuntimeError(message.format(i=i))
        if create_graph and not grad.requires_grad:
            raise _not_differentiable(what, i)
    return tuple(imode.zeros_like(t) if g is None else g for g, t in zip(grads, like, strict=True))


__getattr__ = _names_of(__name__)
