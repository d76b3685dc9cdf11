"""backward() and grad(): check the arguments and hand them to the engine."""
from collections.abc import Mapping
from operator import index as to_index

from cpython.ref cimport Py_DECREF
from imode._core.allocator cimport empty
from imode._core.dispatch cimport operator, tls
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.keyset cimport BIT_CPU
from imode._core.size cimport new_size
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, grad_fn_of, requires_grad, storage, typenum
from imode.autograd.engine cimport run
from imode.autograd.hooks import retain_grad
from imode.autograd.leaves cimport node_edge
from imode.autograd.node cimport (
    Edge, Node, OutputMeta, meta_shape, n_outputs, name_of, outputs_of)
from imode.autograd.views cimport count_write
from numpy cimport import_array, ndarray, npy_intp

from imode._core.internals import origin_of
from imode._core.overriding import held
from imode._core.provenance import operator_id
from imode._core.user_frames import warn
from imode.autograd.edges import GradientEdge
from imode import errors

import_array()
cdef int _BACKWARD = operator_id("backward")
cdef int _WRITTEN = operator_id("increment_version")


# ---- what is differentiated ----

cdef tuple _outputs(object value):
    """The tensors and edges to start from."""
    if type(value) is Tensor or isinstance(value, GradientEdge):
        return (value,)
    value = held(value)
    items = (value,) if type(value) is Tensor else tuple(value)
    for item in items:
        if type(item) is not Tensor and not isinstance(item, GradientEdge):
            raise AssertionError("Expected output to be a torch.Tensor: backward() and grad() "
                                 f"start from Tensors and GradientEdges, got {type(item).__name__}")
    return items


cdef tuple _inputs(object value, str function):
    """The tensors and edges whose gradients are wanted."""
    if type(value) is Tensor or isinstance(value, GradientEdge):
        return (value,)
    if type(value) is dict:
        value = value.values()
    elif isinstance(value, Mapping):
        raise TypeError(f"`inputs` argument to `{function}()` must be a dict, not "
                        f"{type(value).__name__}. Other Mapping types are not supported.")
    value = held(value)
    items = (value,) if type(value) is Tensor else held(tuple(value))
    if not items:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return items


cdef tuple _edge_of(object item):
    """Where a tensor's gradient goes, as (node, result); None: nowhere."""
    cdef Edge edge
    if type(item) is not Tensor:
        return _checked_edge(item)
    if not node_edge(<Tensor>item, &edge):
        return None
    node = <object>edge.node
    Py_DECREF(node)
    return node, edge.input_nr


cdef tuple _checked_edge(object edge):
    """A GradientEdge's node and result, each read once: it may be the user's own object, whose
    `node` changes from one reading to the next."""
    cdef object node = edge.node
    cdef object number
    if not isinstance(node, Node):
        raise RuntimeError("GradientEdge's first object must be an autograd.graph.Node but got "
                           + type(node).__name__)
    number = to_index(edge.output_nr)
    if not 0 <= number < n_outputs(<Node>node):
        raise RuntimeError(f"{name_of(node)} has no result {number}")
    return node, number


cdef list _roots(tuple outputs, list grads):
    cdef list roots = []
    for number, output in enumerate(outputs):
        root = _edge_of(output)
        if root is None or grads[number] is None:
            raise errors.graph.no_history(number, origin_of(output))
        roots.append(root)
    return roots


# ---- the gradients to start from ----

cdef OutputMeta* _look(tuple edge) except NULL:
    """What the gradient of an edge looks like: borrowed from the edge, which was checked."""
    cdef Node node = edge[0]
    cdef int number = edge[1]
    if outputs_of(node)[number].typenum < 0:
        raise RuntimeError(f"result {number} of {node.label()} is not differentiable")
    return &outputs_of(node)[number]


cdef list _root_grads(tuple outputs, object grads, bint batched=False):
    """The gradients to start from: as given, or 1 for a scalar; if `batched`, several of each."""
    gradients = []
    if grads is None:
        grads = (None,) * len(outputs)
    elif type(grads) is Tensor:
        grads = (grads,)
    grads = held(grads)
    grads = (grads,) if type(grads) is Tensor else tuple(grads)
    for index, (output, gradient) in enumerate(zip(outputs, grads)):
        if gradient is None:
            gradients.append(_implicit(output))
        elif type(gradient) is Tensor:
            _check_gradient(index, output, <Tensor>gradient, batched)
            gradients.append(gradient)
        else:
            raise TypeError("gradients can be either Tensors or None, but got "
                            + type(gradient).__name__)
        if batched and gradients[index] is not None and gradients[index].dim() == 0:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input "
                "is a Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0. "
                "With is_grads_batched=True each output needs a gradient that says how many.")
    if len(grads) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    return gradients


cdef Tensor _implicit(object output):
    """The gradient 1 of a real scalar."""
    cdef OutputMeta* meta
    cdef ndarray array
    if type(output) is not Tensor:
        edge = _checked_edge(output)
        meta = _look(edge)
        return _one(meta.typenum, meta.nd, meta_shape(meta))
    if not requires_grad(<Tensor>output):
        return None                   # _roots raises
    array = storage(<Tensor>output)
    if not (<Tensor>output).keys & BIT_CPU and array.size == 1:
        return operator("ones_like")((<object>output).detach())
    return _one(typenum(<Tensor>output), array.ndim, array.shape)


cdef Tensor _one(int number, int nd, npy_intp* shape):
    cdef ndarray array
    cdef int d, i
    for d in range(nd):
        if shape[d] != 1:
            raise errors.graph.scalar_outputs([shape[i] for i in range(nd)])
    if is_complex(code_of[number]):
        raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                           f"{dtype_from_typenum(number)}")
    array = empty(number, nd, shape)
    array.fill(1)
    tls().operator_id = _BACKWARD
    return wrap(array)


cdef int _check_gradient(int index, object output, Tensor gradient, bint batched) except -1:
    cdef OutputMeta* meta
    cdef int number
    if type(output) is Tensor:
        shape, number = output.shape, typenum(<Tensor>output)
    else:
        edge = _checked_edge(output)
        meta = _look(edge)
        shape = new_size(meta.nd, meta_shape(meta))
        number = meta.typenum
    given = (gradient[0] if batched else gradient).shape
    if given != shape and batched:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            "the batch dimension. The sizes of the remaining dimensions are expected to match the "
            f"shape of corresponding output, but a mismatch was detected: grad_output[{index}] has "
            f"a shape of {given} and output[{index}] has a shape of {shape}.")
    if given != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {given} and "
            f"output[{index}] has a shape of {shape}.")
    if gradient.is_complex() != bool(is_complex(code_of[number])):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {gradient.dtype} "
            f"and output[{index}] has a dtype of {dtype_from_typenum(number)}.")
    return 0


# ---- the calls ----

def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    `tensors`: a Tensor, a `graph.GradientEdge`, or a sequence of them. `grad_tensors`: the
    gradients to start from, one of each tensor's shape; None for a scalar. `retain_graph`: keep
    what the graph has saved, to run it again. `create_graph`: record the computation of the
    gradients. `inputs`: only these tensors, or a dict's values, get a gradient; a non-leaf among
    them keeps it in `.grad`.
    Raises RuntimeError if a tensor does not require grad, if a gradient's shape is wrong, or if
    the graph was freed.

    >>> import imode
    >>> x = imode.tensor([1.0, 2.0], requires_grad=True)
    >>> imode.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    cdef list roots, grads
    cdef object wanted = None
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.",
             FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _inputs(inputs, "backward")
    outputs = _outputs(tensors)
    grads = _root_grads(outputs, grad_tensors)
    roots = _roots(outputs, grads)
    if inputs is not None:
        wanted = []
        for item in inputs:
            _check_input(item)
            if type(item) is Tensor and grad_fn_of(<Tensor>item) is not None:
                retain_grad(item)
            elif type(item) is Tensor and not requires_grad(<Tensor>item):
                retain_grad(item)           # raises
            wanted.append(_edge_of(item))
    _run(roots, grads, retain_graph, create_graph, wanted, True)


cdef list _run(list roots, list grads, retain_graph, create_graph, wanted, bint accumulate):
    if retain_graph is None:
        retain_graph = create_graph
    return run(roots, grads, to_index(retain_graph) != 0, to_index(create_graph) != 0, wanted,
               accumulate)


cdef int _check_input(object item) except -1:
    if type(item) is not Tensor and not isinstance(item, GradientEdge):
        raise RuntimeError("all inputs have to be Tensors or GradientEdges, but got "
                           + type(item).__name__)
    return 0


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Return the gradients of `outputs` with respect to `inputs`: a tuple of Tensors.

    `outputs`, `inputs`: Tensors or `graph.GradientEdge`s, one or a sequence; `inputs` may be a
    dict, and then the result has its keys. `grad_outputs`: the gradients to start from; None for
    scalars. `allow_unused`: None in the result for an input that the outputs do not depend on
    (RuntimeError otherwise); `materialize_grads`: zeros there. `retain_graph`: keep what the graph
    has saved. `create_graph`: record the computation of the gradients. `is_grads_batched`: each of
    `grad_outputs` has one more dimension, the first, and so have the results: one backward for each
    index there. Only what the inputs' gradients need is computed, and no `.grad` changes.
    Raises as `backward`, and RuntimeError for an input that does not require grad.

    >>> import imode
    >>> x = imode.tensor(3.0, requires_grad=True)
    >>> imode.autograd.grad(x ** 2, x)
    (tensor(6.),)
    """
    cdef list roots, grads, wanted, found
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warn("only_inputs argument is deprecated and is ignored now (defaults to True). "
             "To accumulate gradient for other parts of the graph, please use "
             "imode.autograd.backward.", FutureWarning)
    allowed = to_index(materialize_grads if allow_unused is None else allow_unused) != 0
    starts = _outputs(outputs)
    items = _inputs(inputs, "grad")
    grads = _root_grads(starts, grad_outputs, is_grads_batched)
    roots = _roots(starts, grads)
    wanted = []
    for item in items:
        _check_input(item)
        if type(item) is Tensor and not requires_grad(<Tensor>item):
            raise errors.graph.without_grad(
                "One of the differentiated Tensors does not require grad", origin_of(item))
        wanted.append(_edge_of(item))
    if is_grads_batched:
        found = _batched(roots, grads, retain_graph, create_graph, wanted)
    else:
        found = _run(roots, grads, retain_graph, create_graph, wanted, False)
    for index, (item, gradient) in enumerate(zip(items, found)):
        if gradient is None:
            found[index] = _unused(item, index, allowed, materialize_grads, create_graph)
    return dict(zip(inputs, found)) if type(inputs) is dict else tuple(found)


cdef list _batched(list roots, list grads, retain_graph, create_graph, list wanted):
    """One backward for each index into the first dimension of the gradients; the results stacked.
    An input without a gradient has none in any of them."""
    sizes = [gradient.shape[0] for gradient in grads]
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sizes} for the mapped dimension")
    rows = []
    for k in range(sizes[0]):
        last = k == sizes[0] - 1
        rows.append(_run(roots, [gradient[k] for gradient in grads],
                         retain_graph if last else True, create_graph, wanted, False))
    return [None if column[0] is None else operator("stack")(list(column)) for column in zip(*rows)]


cdef object _unused(object item, int index, bint allowed, bint materialize, create_graph):
    if materialize:
        if type(item) is not Tensor:
            raise RuntimeError(
                "materialize_grads cannot be used when the given input is a GradientEdge")
        return operator("zeros_like")(item, requires_grad=create_graph)
    if not allowed:
        raise RuntimeError(
            f"The differentiated Tensor at index {index} appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior.")
    return None


# ---- what autograd.graph offers ----

def gradient_edge(Tensor tensor not None):
    """Where the gradient of a tensor goes, as (node, result); RuntimeError if nowhere."""
    if not requires_grad(tensor):
        raise errors.graph.without_grad(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients",
            origin_of(tensor))
    edge = _edge_of(tensor)
    if edge is None:
        raise errors.graph.no_gradient_function(
            "The tensor is a view that was made without recording: it leads nowhere")
    return edge


def increment_version(tensors):
    """Count a write, to a tensor or to each of several, that imode could not see.

    A backward for which the old content was saved then raises. Inference tensors count no writes.

    >>> import imode
    >>> x = imode.zeros(2)
    >>> imode.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if type(tensors) is Tensor:
        tensors = (tensors,)
    try:
        tensors = tuple(tensors)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input. It got "
                           + type(tensors).__name__ + "; a Tensor alone will do") from None
    for tensor in tensors:
        if type(tensor) is not Tensor:
            raise RuntimeError("increment_version expects each element of the iterable to be a "
                               f"tensor. One is of type {type(tensor).__name__}")
        count_write(_WRITTEN, <Tensor>tensor)
