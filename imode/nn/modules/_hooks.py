"""Hooks on modules: kept out of the way of a call to a module that has none."""

import warnings
from functools import cache

from imode._core.dispatch import is_grad_enabled
from imode._core.tensor import Tensor
from imode.ops.schema import op

__all__ = ["Hooks", "call_with_hooks"]


class HookTable(dict):
    """One kind of hook of one module: from handle id to (hook, options...); weakly referable."""


class Hooks:
    """All hooks of one module; `module._hooks` is None until the first one is registered."""

    __slots__ = ("backward", "backward_pre", "forward", "forward_pre")

    def __init__(self):
        self.forward_pre = HookTable()  # (hook, with_kwargs)
        self.forward = HookTable()  # (hook, with_kwargs, always_call)
        self.backward_pre = HookTable()  # (hook,)
        self.backward = HookTable()  # (hook,)

    def __reduce__(self):
        return _rebuild, tuple(dict(getattr(self, kind)) for kind in Hooks.__slots__)


def _rebuild(*tables):
    hooks = Hooks()
    for kind, table in zip(Hooks.__slots__, tables, strict=True):
        getattr(hooks, kind).update(table)
    return hooks


def call_with_hooks(module, args, kwargs):
    """`module(*args, **kwargs)` for a module with hooks, in the order PyTorch runs them."""
    hooks = module._hooks
    done = set()
    result = None
    try:
        args, kwargs = _run_forward_pre(module, hooks, args, kwargs)
        taps = None
        if hooks.backward or hooks.backward_pre:
            taps = _BackwardTaps(module, hooks)
            args = taps.wrap_inputs(args)
        result = module.forward(*args, **kwargs)
        for handle, entry in list(hooks.forward.items()):
            done.add(handle)
            replaced = _run_forward(module, entry, args, kwargs, result)
            if replaced is not None:
                result = replaced
        if taps is not None:
            result = taps.wrap_outputs(result)
        return result
    except Exception:
        for handle, entry in list(hooks.forward.items()):
            if entry[2] and handle not in done:
                try:
                    _run_forward(module, entry, args, kwargs, result)
                except Exception as error:
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}",
                        stacklevel=3,
                    )
        raise


def _run_forward_pre(module, hooks, args, kwargs):
    for hook, with_kwargs in list(hooks.forward_pre.values()):
        if with_kwargs:
            replaced = hook(module, args, kwargs)
            if replaced is None:
                continue
            if not (isinstance(replaced, tuple) and len(replaced) == 2):
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple "
                    f"of (new_args, new_kwargs), but got {replaced}."
                )
            args, kwargs = replaced
        else:
            replaced = hook(module, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
    return args, kwargs


def _run_forward(module, entry, args, kwargs, result):
    hook, with_kwargs, _ = entry
    return hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)


# ---- backward ----


@cache  # made when the first backward hook runs: most programs have none
def _tap():
    """The identity of several tensors as one node, whose backward `react` may change."""
    return op(
        "_module_hook(Tensor[] tensors, any react) -> Tensor[]",
        lambda tensors, react: [tensor.copy() for tensor in tensors],
        derivative={"tensors": lambda grads, react: react(grads)},
        name="BackwardHookFunctionBackward",
        variants="",
    )


class _BackwardTaps:
    """Brackets one call of a module with taps on its inputs and on its outputs."""

    def __init__(self, module, hooks):
        self.module = module
        self.hooks = hooks
        self.grad_outputs = None
        self.inputs = 0  # how many positional arguments
        self.input_tapped = False

    def wrap_inputs(self, args):
        self.inputs = len(args)
        places, tensors = _tensors_of(args)
        if not tensors or not is_grad_enabled():
            return args
        self.input_tapped = True
        return _replace(args, places, _tap()(tensors, lambda g: self._at_inputs(places, g)))

    def wrap_outputs(self, result):
        single = isinstance(result, Tensor)
        if not single and not isinstance(result, tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
            return result
        outputs = (result,) if single else result
        places, tensors = _tensors_of(outputs)
        if not tensors or not is_grad_enabled():
            return result
        count = len(outputs)
        tapped = _tap()(tensors, lambda g: self._at_outputs(places, count, g))
        outputs = _replace(outputs, places, tapped)
        return outputs[0] if single else outputs

    def _at_outputs(self, places, count, grads):
        full = _spread(places, count, grads)
        for (hook,) in list(self.hooks.backward_pre.values()):
            replaced = hook(self.module, full)
            if replaced is not None:
                full = _same_length(replaced, full, "pre hook", "grad_output")
        self.grad_outputs = full
        if not self.input_tapped:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. Its grad_input is all None.",
                UserWarning,
                stacklevel=2,
            )
            for (hook,) in list(self.hooks.backward.values()):
                replaced = hook(self.module, (None,) * self.inputs, full)
                if replaced is not None and any(g is not None for g in replaced):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        return tuple(full[place] for place in places)

    def _at_inputs(self, places, grads):
        full = _spread(places, self.inputs, grads)
        if self.grad_outputs is not None:
            for (hook,) in list(self.hooks.backward.values()):
                replaced = hook(self.module, full, self.grad_outputs)
                if replaced is not None:
                    full = _same_length(replaced, full, "hook", "grad_input")
            self.grad_outputs = None
        return tuple(full[place] for place in places)


def _tensors_of(values):
    """Where the tensors that require grad stand, and themselves."""
    places = [
        i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad
    ]
    return places, [values[i] for i in places]


def _replace(values, places, tensors):
    values = list(values)
    for place, tensor in zip(places, tensors, strict=True):
        values[place] = tensor
    return tuple(values)


def _spread(places, count, grads):
    full = [None] * count
    for place, grad in zip(places, grads, strict=True):
        full[place] = grad
    return tuple(full)


def _same_length(replaced, grads, kind, what):
    if not isinstance(replaced, tuple):
        replaced = (replaced,)
    if len(replaced) != len(grads):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, "
            f"got {len(replaced)}, but expected {len(grads)}"
        )
    return replaced
