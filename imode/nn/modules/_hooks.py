"""Hooks on modules, in a module of their own: calling a module without hooks costs nothing more."""

from collections.abc import MutableMapping
from functools import cache

from imode._core.dispatch import is_grad_enabled
from imode._core.tensor import Tensor
from imode._core.user_frames import warn
from imode.autograd.function import Function

__all__ = ["Hooks", "call_with_hooks"]


class HookTable(dict):
    """One kind of hook of one module: handle id to (hook, options...); can be weakly referenced."""


class Hooks:
    """All hooks of one module; `module._hooks` is None until the first one is registered.

    The entries of `forward_pre` are (hook, with_kwargs), those of `forward` (hook, with_kwargs,
    always_call), the others (hook,).
    """

    __slots__ = (
        "backward",
        "backward_pre",
        "forward",
        "forward_pre",
        "load_post",
        "load_pre",
        "state_post",
        "state_pre",
    )

    def __init__(self):
        for kind in Hooks.__slots__:
            setattr(self, kind, HookTable())

    def __reduce__(self):
        return _rebuild, tuple(dict(getattr(self, kind)) for kind in Hooks.__slots__)


def _rebuild(*tables):
    hooks = Hooks()
    for kind, table in zip(Hooks.__slots__, tables):  # older files have only the first four
        getattr(hooks, kind).update(table)
    return hooks


class WithoutModule:
    """A hook that is not given the module; of a class, so that it can be pickled and copied."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, module, *args):
        return self.hook(*args)


class MayReplace(WithoutModule):
    """A hook that may give another state dict, as those of older programs may."""

    def __call__(self, module, *args):
        return self.hook(module, *args)


# PyTorch's dictionaries of a module, as its pickles have them: where each belongs, and whether an
# entry of Hooks has options.
_PYTORCH = {
    "_backward_hooks": "backward",
    "_backward_pre_hooks": "backward_pre",
    "_forward_hooks": "forward",
    "_forward_pre_hooks": "forward_pre",
    "_load_state_dict_post_hooks": "load_post",
    "_load_state_dict_pre_hooks": "load_pre",
    "_state_dict_hooks": "state_post",
    "_state_dict_pre_hooks": "state_pre",
}
_OPTIONS = (
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
    "_is_full_backward_hook",
)


def hooks_of_pytorch(state):
    """Take PyTorch's dictionaries of hooks out of a module's state; return a Hooks, or None."""
    tables = {kind: state.pop(name, None) or {} for name, kind in _PYTORCH.items()}
    keywords, always, before, *_ = (state.pop(name, None) or {} for name in _OPTIONS)
    if not any(tables.values()):
        return None
    hooks = Hooks()
    for kind, table in tables.items():
        for key, hook in table.items():
            options = {"forward": (key in keywords, key in always), "forward_pre": (key in before,)}
            getattr(hooks, kind)[key] = (hook, *options.get(kind, ()))
    return hooks


class TableOfHooks(MutableMapping):
    """The hooks of one kind by the handle's number, as PyTorch's dictionaries have them."""

    def __init__(self, module, kind):
        self._module, self._kind = module, kind

    def _entries(self):
        hooks = self._module._hooks
        return {} if hooks is None else getattr(hooks, self._kind)

    def __getitem__(self, key):
        return self._entries()[key][0]

    def __setitem__(self, key, hook):
        if self._module._hooks is None:
            self._module.__dict__["_hooks"] = Hooks()
        options = {"forward": (False, False), "forward_pre": (False,)}
        self._entries()[key] = (hook, *options.get(self._kind, ()))

    def __delitem__(self, key):
        del self._entries()[key]

    def __iter__(self):
        return iter(list(self._entries()))

    def __len__(self):
        return len(self._entries())

    def __repr__(self):
        return repr(dict(self))


def add_tables_of_hooks(cls):
    """Give the class PyTorch's attributes `_forward_hooks` and others, which packages look into."""

    def table(kind):
        def replace(module, hooks):
            hooks = dict(hooks)
            mine = TableOfHooks(module, kind)
            mine.clear()
            mine.update(hooks)

        return property(lambda module: TableOfHooks(module, kind), replace)

    for name, kind in _PYTORCH.items():
        setattr(cls, name, table(kind))


def call_with_hooks(module, args, kwargs):
    """`module(*args, **kwargs)` for a module with hooks, which run in PyTorch's order."""
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
                    warn(
                        "module forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}",
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


@cache  # created on first use: most programs have no backward hook
def _function():
    class BackwardHookFunction(Function):
        """The identity of several tensors as one node; its results cannot be written in place."""

        @staticmethod
        def forward(ctx, *tensors):
            ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
            return tensors

        @staticmethod
        def backward(ctx, *grads):
            return grads

    return BackwardHookFunction


class _BackwardTaps:
    """Encloses one call of a module in a node at its inputs and a node at its outputs.

    `input_positions`, `output_positions`: which of them are tensors; None: there is no node.
    """

    def __init__(self, module, hooks):
        self.module = module
        self.hooks = [hook for (hook,) in hooks.backward.values()]
        self.pre_hooks = [hook for (hook,) in hooks.backward_pre.values()]
        self.grad_outputs = None
        self.inputs = self.outputs = 0
        self.input_positions = self.output_positions = None

    def wrap_inputs(self, args):
        self.inputs = len(args)
        args, self.input_positions = _tapped(args, self._at_inputs)
        return args

    def wrap_outputs(self, result):
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
            )
        results = result if isinstance(result, tuple) else (result,)
        self.outputs = len(results)
        results, self.output_positions = _tapped(results, self._at_outputs)
        return results if isinstance(result, tuple) else results[0]

    def _at_outputs(self, _, grads):
        full = _at_positions(self.output_positions, self.outputs, grads)
        for hook in self.pre_hooks:
            replaced = hook(self.module, full)
            if replaced is not None:
                full = _same_length(replaced, full, "pre hook", "grad_output")
        if self.input_positions is None:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. Its grad_input is all None.",
            )
            for hook in self.hooks:
                replaced = hook(self.module, (None,) * self.inputs, full)
                if replaced is not None and not (
                    isinstance(replaced, tuple) and all(g is None for g in replaced)
                ):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        else:
            self.grad_outputs = full
        return tuple(full[i] for i in self.output_positions)

    def _at_inputs(self, grads, _):
        if self.grad_outputs is None:  # the gradients did not come through the module's outputs
            return None
        full = _at_positions(self.input_positions, self.inputs, grads)
        for hook in self.hooks:
            replaced = hook(self.module, full, self.grad_outputs)
            if replaced is not None:
                full = _same_length(replaced, full, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(full[i] for i in self.input_positions)


def _tapped(values, react):
    """(The tuple behind a node whose gradients `react` may change, the positions of its tensors).

    (The tuple itself, None) if nothing is recorded.
    """
    positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in positions):
        return values, None
    tapped = list(values)
    results = _function().apply(*[values[i] for i in positions])
    for i, tensor in zip(positions, results, strict=True):
        tapped[i] = tensor
    node = next(tapped[i].grad_fn for i in positions if tapped[i].grad_fn is not None)

    def hook(given, arrived):  # messages show its name
        return react(given, arrived)

    node.register_hook(hook)
    return (tuple(tapped) if type(values) is tuple else type(values)(*tapped)), positions


def _at_positions(positions, count, grads):
    full = [None] * count
    for i, grad in zip(positions, grads, strict=True):
        full[i] = grad
    return tuple(full)


def _same_length(replaced, grads, kind, what):
    if len(replaced) != len(grads):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, "
            f"got {len(replaced)}, but expected {len(grads)}"
        )
    return replaced
