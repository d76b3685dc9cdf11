"""Modules as functions of their parameters; functions that compute gradients of functions."""

from collections.abc import Sequence
from contextlib import ExitStack as _ExitStack
from functools import wraps as _wraps

import imode as _imode
from imode.errors import names_of as _names_of
from imode.nn.utils.stateless import call as _call
from imode.utils import _pytree as _tree

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacrev",
    "stack_module_state",
    "vjp",
]


def functional_call(
    module,
    parameter_and_buffer_dicts,
    args=None,
    kwargs=None,
    *,
    tie_weights=True,
    strict=False,
):
    """Call a module with other tensors in the places of its parameters and buffers.

    parameter_and_buffer_dicts: {name: tensor}, or a sequence of such with no name in two. args: a
    tuple, or the one argument. tie_weights: a tensor takes all places of the one that it replaces.
    strict: the names must be all that the module has.

    Gradients flow to the given tensors. A buffer that the module assigns anew is put into the dict.
    Raises RuntimeError where `strict` is not met, AttributeError for a name that is not there,
    ValueError for two values in places that are tied, or a name in two dicts.

    Thread-safety: the module holds the tensors meanwhile; do not call it from another thread.

    >>> layer = imode.nn.Linear(2, 1, bias=False)
    >>> imode.func.functional_call(layer, {"weight": imode.ones(1, 2)}, imode.ones(2))
    tensor([2.])
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        given = dicts
    elif isinstance(dicts, Sequence):
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
            )
        names = [name for d in dicts for name in d]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(
                f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional "
                "call is ambiguous"
            )
        given = {name: value for d in dicts for name, value in d.items()}
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    return _call(module, given, args, kwargs, tie_weights, strict)


# ---- gradients of functions ---------------------------------------------------------------------


def grad(func, argnums=0, has_aux=False):
    """Return the function that computes the gradient of `func`, whose result is one real number.

    argnums: the position of the argument to differentiate by, or a tuple of them; each is a tensor
    or a nested structure of tensors, and the gradient is likewise. has_aux: `func` gives a tuple of
    the number and anything else, which the new function returns beside the gradient.

    Raises RuntimeError where the result is no tensor of no dimensions, and for positions that are
    not there; ValueError where an argument to differentiate by is no tensor.

    >>> square = lambda x: (x * x).sum()
    >>> imode.func.grad(square)(imode.tensor([1.0, 2.0]))
    tensor([2., 4.])
    >>> imode.func.grad(imode.func.grad(lambda x: x**3))(imode.tensor(2.0))
    tensor(12.)
    """

    @_wraps(func)
    def gradient(*args, **kwargs):
        found, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func, argnums=0, has_aux=False):
    """Return the function that computes the gradient of `func` and its value; see `grad`.

    With `has_aux` the value is a tuple of the number and the rest.

    >>> imode.func.grad_and_value(lambda x: x * x)(imode.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @_wraps(func)
    def gradient_and_value(*args, **kwargs):
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return gradient_and_value


def vjp(func, *primals, has_aux=False):
    """Call `func`; return what it gives and the function from its gradients to the arguments'.

    That function takes tensors in the structure of the results and returns a tuple, an entry for
    each argument. has_aux: `func` gives a tuple of what is differentiated and anything else, which
    is returned last.

    Raises RuntimeError for results that are not floating point or complex tensors, and where the
    gradients are of another structure.

    >>> value, back = imode.func.vjp(lambda x: x * x, imode.tensor([1.0, 2.0]))
    >>> back(imode.ones(2))
    (tensor([2., 4.]),)
    """
    level, given, results, aux = _called(func, primals, range(len(primals)), has_aux)
    outputs, structure = _tree.tree_flatten(results)

    def back(cotangents, retain_graph=True, create_graph=None):
        """The gradients of the arguments, from those of the results."""
        grads, found = _tree.tree_flatten(cotangents)
        if found != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {found}, primal output: {structure}"
            )
        recorded = _imode.is_grad_enabled() if create_graph is None else create_graph
        with level:
            grads = [_normal(g) for g in grads]
            made = level.gradients(outputs, tuple(given), grads, retain_graph)
        return level.outside(made, recorded)

    results = level.outside(results)
    return (results, back, level.outside(aux)) if has_aux else (results, back)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """Return the function that computes the Jacobian of `func`, row by row.

    argnums, has_aux: as of `grad`. The Jacobian has the structure of the results, in each place
    that of the arguments; a tensor there has the dimensions of the one, then of the other.
    chunk_size: how many rows PyTorch computes at once; here it changes nothing.

    Raises RuntimeError for complex tensors and results that are not of floating point.

    >>> imode.func.jacrev(lambda x: x * x)(imode.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @_wraps(func)
    def jacobian(*args):
        _refuse_complex(_tree.tree_leaves(args), "inputs")
        places = _places(argnums, len(args))
        level, given, results, aux = _called(func, args, places, has_aux)
        outputs, structure = _tree.tree_flatten(results)
        _refuse_complex(outputs, "outputs")
        by = _chosen(given, argnums, places)
        with level:
            made = [_rows(level, output, by) for output in outputs]
        made = level.outside(_tree.tree_unflatten(made, structure))
        return (made, level.outside(aux)) if has_aux else made

    return jacobian


def hessian(func, argnums=0):
    """Return the function that computes the matrix of second derivatives of `func`.

    The Jacobian of the Jacobian: see `jacrev`, also for what is refused.

    >>> imode.func.hessian(lambda x: (x**3).sum())(imode.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)


def _rows(level, output, by):
    """The Jacobian of one tensor, in the structure of what it is differentiated by."""
    tensors, structure = _tree.tree_flatten(by)
    count = output.numel()
    basis = _imode.eye(count, dtype=output.dtype, device=output.device)
    rows = [
        _tree.tree_leaves(level.gradients([output], by, [row.view(output.shape)], True))
        for row in basis
    ]
    made = [
        _imode.stack(column).view(output.shape + x.shape)
        if count
        else x.new_zeros(output.shape + x.shape)
        for x, column in zip(tensors, zip(*rows) if count else tensors, strict=True)
    ]
    return _tree.tree_unflatten(made, structure)


def _refuse_complex(tensors, which):
    for i, tensor in enumerate(tensors):
        if isinstance(tensor, _imode.Tensor) and tensor.is_complex():
            raise RuntimeError(
                f"jacrev: Expected all {which} to be real but received complex tensor at flattened "
                f"input idx: {i}"
            )


def _called(func, args, places, has_aux):
    """Call a function on new leaves: its level, the arguments, its results, what is beside them."""
    what = "vjp(f, *primals)"
    with _Level() as level:
        args = list(args)
        for place in places:
            args[place] = level.differentiable(args[place])
        results, aux = _split(func(*args), has_aux, what)
        _check_results(results, what)
    return level, args, results, aux


def _check_results(results, what):
    outputs = _tree.tree_leaves(results)
    if not outputs:
        raise RuntimeError(
            f"{what}: Expected f to be a function that has non-empty output (got output = []) "
            f"but it gave {results!r}"
        )
    for output in outputs:
        if not isinstance(output, _imode.Tensor):
            raise RuntimeError(
                f"{what}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(output)}"
            )
        if not (output.is_floating_point() or output.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {output.dtype}"
            )


def _grad_and_value(func, argnums, has_aux, args, kwargs):
    what = "grad_and_value(f)(*args)"
    places = _places(argnums, len(args))
    with _Level() as level:
        args = list(args)
        for place in places:
            args[place] = level.differentiable(args[place])
        value, aux = _split(func(*args, **kwargs), has_aux, what)
        if not isinstance(value, _imode.Tensor):
            raise RuntimeError(f"{what}: Expected f(*args) to return a Tensor, got {type(value)}")
        if value.dim() != 0:
            raise RuntimeError(
                f"{what}: Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        found = level.gradients([value], _chosen(args, argnums, places))
    value = level.outside(value)
    return level.outside(found), (value, level.outside(aux)) if has_aux else value


def _split(result, has_aux, what):
    """The value of a function and what it gives beside it."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def _places(argnums, count):
    """The positions of the arguments to differentiate by, none negative."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    places = []
    for place in (argnums,) if isinstance(argnums, int) else argnums:
        if not isinstance(place, int):
            raise RuntimeError(f"argnum must be int, got: {type(place)}")
        if not -count <= place < count:
            raise RuntimeError(f"Got argnum={place}, but only {count} positional inputs")
        places.append(place % count)
    if not places:
        raise RuntimeError("argnums must be non-empty")
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(places)}")
    return places


def _normal(tensor):
    """The tensor, or a copy of an inference tensor, which cannot be saved for a gradient."""
    inference = isinstance(tensor, _imode.Tensor) and tensor.is_inference()
    return tensor.clone() if inference else tensor


def _chosen(args, argnums, places):
    """The argument to differentiate by, or the tuple of them."""
    return args[places[0]] if isinstance(argnums, int) else tuple(args[i] for i in places)


class _Level:
    """One function being differentiated: leaves are made for it, which nobody else knows of.

    A result requires grad outside where it depends on other leaves: the user's, or those of a level
    around. Those of levels that ended inside do not count. Recording is on inside, whatever the
    mode around.
    """

    def __init__(self):
        self.active = True
        self.recorded = _imode.is_grad_enabled()

    def __enter__(self):
        with _ExitStack() as guards:
            guards.enter_context(_imode.inference_mode(False))
            guards.enter_context(_imode.enable_grad())
            self.guards = guards.pop_all()
        return self

    def __exit__(self, *exc_info):
        self.active = False
        return self.guards.__exit__(*exc_info)

    def differentiable(self, structure):
        """Put tensors to differentiate by in the places of those in a structure."""
        return _tree.tree_map(self._leaf, structure)

    def _leaf(self, tensor):
        if not isinstance(tensor, _imode.Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if tensor.requires_grad and self.recorded:
            return tensor.view_as(tensor)
        leaf = _normal(tensor).detach().requires_grad_()
        leaf._level = self
        return leaf

    def gradients(self, outputs, structure, grads=None, retain=None):
        """The gradients of outputs by the tensors in a structure; zeros where none depends on it.

        Always recorded, so that they can be differentiated again: see `outside`.
        """
        by, shape = _tree.tree_flatten(structure)
        grads = [None] * len(outputs) if grads is None else grads
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if o.requires_grad]
        found = [None] * len(by)
        if pairs:
            outputs, grads = zip(*pairs, strict=True)
            found = _imode.autograd.grad(
                outputs, by, grads, retain_graph=retain, create_graph=True, allow_unused=True
            )
        made = [_imode.zeros_like(x) if g is None else g for x, g in zip(by, found, strict=True)]
        return _tree.tree_unflatten(made, shape)

    def outside(self, structure, recorded=True):
        """What the caller sees of tensors: without the graph where it leads to own leaves only."""
        kept = recorded and self.recorded

        def seen(x):
            if not isinstance(x, _imode.Tensor):
                raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
            return x if kept and self._leads_out(x) else x.detach()

        return _tree.tree_map(seen, structure)

    def _leads_out(self, tensor):
        """Whether a tensor depends on a leaf that its caller knows, or differentiates by."""
        if not tensor.requires_grad:
            return True  # nothing to take off
        if tensor.grad_fn is None:
            return self._is_outside(tensor)
        seen, waiting = set(), [tensor.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if type(node).__name__ == "AccumulateGrad" and self._is_outside(node.variable):
                return True
            waiting += [node for node, _ in node.next_functions]
        return False

    def _is_outside(self, leaf):
        level = getattr(leaf, "_level", None)
        return level is None or (level.active and level is not self)


# ---- models in one ------------------------------------------------------------------------------


def stack_module_state(models):
    """Stack the parameters of modules that are alike, and their buffers: two dicts by name.

    Each tensor has a new first dimension, along the models, and is a leaf. Raises RuntimeError for
    no models, or such of several classes, modes or settings of requires_grad.

    >>> models = [imode.nn.Linear(2, 1) for _ in range(3)]
    >>> parameters, buffers = imode.func.stack_module_state(models)
    >>> parameters["weight"].shape
    imode.Size([3, 1, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return tuple(
        {name: _stacked(name, [each[name] for each in tensors]) for name in tensors[0]}
        for tensors in (
            [dict(model.named_parameters()) for model in models],
            [dict(model.named_buffers()) for model in models],
        )
    )


def _stacked(name, tensors):
    if len({tensor.requires_grad for tensor in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return _imode.stack(tensors).detach().requires_grad_(tensors[0].requires_grad)


__getattr__ = _names_of(__name__)
