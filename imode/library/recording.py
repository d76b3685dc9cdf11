"""The derivative of an operator of a library: its call as a custom function of autograd."""

from functools import partial

from imode import errors
from imode._core.dispatch import Kind
from imode._core.layers import signature
from imode._core.tensor import Tensor
from imode.autograd.function import Function
from imode.guards import AutoDispatchBelowAutograd

from .kernels import run_below

_generated = {}  # name of the node's class -> custom function


class Formula:
    """A derivative from outside: its two functions, and the line of the first."""

    __slots__ = ("backward", "setup_context", "where")

    def __init__(self, backward, setup_context, where):
        self.backward, self.setup_context, self.where = backward, setup_context, where


class _Call:
    """One call that is recorded: what its node needs besides the tensors."""

    __slots__ = ("args", "formula", "keys", "lengths", "op")

    def __init__(self, op, keys, args):
        self.op, self.keys, self.args = op, keys, args
        kinds = zip(op.kinds, args, strict=True)
        self.lengths = [len(value) if kind == Kind.TENSOR_LIST else None for kind, value in kinds]
        formulas = signature(op).formulas
        self.formula = formulas[-1] if formulas else None

    def tensors(self):
        """All tensors among the arguments, those in lists too."""
        found = []
        for kind, value in zip(self.op.kinds, self.args, strict=True):
            if kind == Kind.TENSOR_LIST:
                found.extend(value)
            elif kind <= Kind.OPERAND:
                found.append(value)
        return found

    def nested(self, flat):
        """One item per positional argument, from one per item of `tensors()`: for those that are
        no tensors False."""
        items, nested = iter(flat), []
        for kind, length in zip(self.op.kinds, self.lengths, strict=True):
            if length is not None:
                nested.append([next(items) for _ in range(length)])
            else:
                nested.append(next(items) if kind <= Kind.OPERAND else False)
        return tuple(nested[: self.op.n_positional])

    def gradients(self, given):
        """What `backward` returned, one per item of `tensors()`."""
        op, n = self.op, self.op.n_positional
        given = list(given) if isinstance(given, (tuple, list)) else [given]
        while len(given) > n and given[-1] is None:
            given.pop()
        if len(given) != n:
            raise errors.library.wrong_gradients(op, self.formula.where, n, len(given))
        flat = []
        for i, (kind, length) in enumerate(zip(op.kinds, self.lengths, strict=True)):
            gradient = given[i] if i < n else None
            if length is not None:
                several = [None] * length if gradient is None else gradient
                fits = isinstance(several, (list, tuple)) and len(several) == length
                flat.extend(several if fits else ())
                fits = fits and all(item is None or type(item) is Tensor for item in several)
            elif kind <= Kind.OPERAND:
                flat.append(gradient)
                fits = gradient is None or type(gradient) is Tensor
            else:
                fits = gradient is None
            if not fits:
                raise errors.library.wrong_gradient(op, self.formula.where, op.names[i], gradient)
        return flat


def record(op, keys, args):
    """Run an operator's kernel, of the highest of `keys`, and hang a node on its results."""
    call = _Call(op, keys, args)
    result = _function_of(op).apply(call, *call.tensors())
    return list(result) if signature(op).listed else result


def _forward(ctx, call, *tensors):
    with AutoDispatchBelowAutograd():
        result = run_below(call.op, call.keys, call.args)
        ctx._call = call
        ctx.needs_input_grad = call.nested(ctx.needs_input_grad[1:])
        if call.formula is not None and call.formula.setup_context is not None:
            _set_up(ctx, call, result)
    call.args = None  # what backward needs is saved, and checked for writes
    return tuple(result) if isinstance(result, list) else result


def _set_up(ctx, call, result):
    n = call.op.n_positional
    words = {"ctx": ctx, "inputs": call.args[:n], "output": result}
    if n < len(call.args):
        words["keyword_only_inputs"] = dict(zip(call.op.names[n:], call.args[n:], strict=True))
    _noted(call, "setup_context", call.formula.setup_context, words)


def _backward(ctx, *grads):
    call = ctx._call
    if call.formula is None:
        raise RuntimeError(errors.library.no_formula(call.op))
    if signature(call.op).listed:
        grads = (list(grads),)
    given = _noted(call, "backward", partial(call.formula.backward, ctx, *grads))
    return (None, *call.gradients(given))


def _noted(call, what, function, words=None):
    """Call a function of a derivative; an error in it names the operator."""
    try:
        return function(**(words or {}))
    except Exception as error:
        where = call.formula.where
        error.add_note(f"In the {what} of {call.op.outside}::{call.op.name}, at {where}.")
        raise


def _function_of(op):
    """The custom function whose node has the operator's name."""
    name = f"GeneratedBackwardFor_{op.outside}_{op.name}_{op.overload or 'default'}"
    found = _generated.get(name)
    if found is None:
        functions = {"forward": staticmethod(_forward), "backward": staticmethod(_backward)}
        found = _generated.setdefault(name, type(name, (Function,), functions))
    return found
