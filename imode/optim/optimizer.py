"""Optimizer: the base class of all update rules."""

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain

from imode import errors, ops
from imode._core.tensor import Tensor
from imode._core.user_frames import warn
from imode.guards import enable_grad, no_grad, normal_mode
from imode.nn.modules.module import Module, clear_grad
from imode.nn.parameter import as_normal

from . import _hooks

__all__ = ["Optimizer", "required"]


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()  # the default of an option that every parameter group must give


def as_scalar(value):
    """A Python number, given as such or as a tensor."""
    return value.item() if isinstance(value, Tensor) else value


def as_real(*tensors):
    """Views of complex tensors as pairs of real numbers, updated separately; None stays."""
    return [None if tensor is None else ops.view_as_real(tensor) for tensor in tensors]


def check_lr(lr, refusal="Invalid learning rate"):
    """Raise for a learning rate that is negative, or a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"{refusal}: {lr}")


def check_options(*options):
    """Raise for options, given as (name, value), that are negative or NaN."""
    for name, value in options:
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas):
    """Raise for a rate of a running average that is not in [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def running_averages(param):
    """The state of rules that, as Adam does, average the gradient and its square."""
    return {
        "step": ops.tensor(0.0),
        "exp_avg": ops.zeros_like(param),
        "exp_avg_sq": ops.zeros_like(param),
    }


class Optimizer:
    """Holds parameter groups and the state of each parameter; subclasses define `step`.

    `params` is an iterable of tensors, of (name, tensor) pairs, or of dicts: one dict per group
    with its "params" and the options that differ from `defaults`.

    `foreach`, `fused` and `capturable` select an implementation in PyTorch; here there is only one,
    and they have no effect. A subclass overrides `_update(group)`, which is called with recording
    off, or the whole `step`.

    >>> class Signs(imode.optim.Optimizer):
    ...     def _update(self, group):
    ...         for param in group["params"]:
    ...             param.sub_(param.grad.sign(), alpha=group["lr"])
    >>> weight = imode.nn.Parameter(imode.tensor([1.0]))
    >>> (weight * 2).sum().backward()
    >>> Signs([weight], {"lr": 0.25}).step()
    >>> weight.item()
    0.75
    """

    _takes_sparse = False  # whether gradients may be sparse; else what the error says
    _refuses_sparse = "this optimizer does not support sparse gradients"
    _refuses_complex = None  # what the error for a complex parameter says
    _stepped = False  # whether step() was called: schedules warn if not

    def __init__(self, params, defaults):
        if isinstance(params, Module) and not hasattr(type(params), "__iter__"):
            raise errors.arguments.module_as_params(type(params).__name__)
        if isinstance(params, Tensor):
            raise errors.arguments.optimizer_params(params.type())
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        if defaults.get("differentiable"):
            raise NotImplementedError(
                f"{type(self).__name__}: differentiable=True is not supported, steps are never "
                "recorded"
            )
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def step(self, closure=None):
        """Update every parameter that has a gradient; returns what `closure` returns.

        The closure, which evaluates the model again, is called first, with recording on.
        """
        loss = None
        self._stepped = True
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group):
        raise NotImplementedError

    def _state_of(self, param, make):
        """The state of `param`; created by `make(param)` the first time."""
        state = self.state[param]
        if not state:
            with normal_mode():
                state.update(make(param))
        return state

    def _gradients(self, group):
        """Yield each (parameter, gradient), after the group's `maximize`."""
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if self._refuses_complex and param.is_complex():
                raise RuntimeError(self._refuses_complex)
            if grad.is_sparse and not self._takes_sparse:
                raise RuntimeError(self._refuses_sparse)
            yield param, -grad if group.get("maximize") else grad

    def _with_gradient(self, group):
        """Yield each (parameter, gradient), after the group's `maximize` and `weight_decay`."""
        for param, grad in self._gradients(group):
            decay = group["weight_decay"]
            if decay and grad.is_sparse:
                raise RuntimeError(
                    "weight_decay option is not compatible with sparse gradients\n"
                    "Give the parameters with sparse gradients a group of their own without it."
                )
            if decay and group.get("decoupled_weight_decay"):
                param.mul_(1 - as_scalar(group["lr"]) * decay)
            elif decay:
                grad = grad.add(param, alpha=decay)
            yield param, grad

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            if set_to_none:
                for param in group["params"]:
                    param.grad = None
            else:
                for param in group["params"]:
                    clear_grad(param, False)

    def add_param_group(self, param_group):
        """Add one group: a dict with "params" and the options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _split_names(param_group["params"])
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, "
                    f"but one of the params is {type(param).__name__}"
                )
            if not self.defaults.get("differentiable") and not (
                param.is_leaf or param.retains_grad
            ):
                raise errors.graph.optimizes_non_leaf(param.shape, param.grad_fn.name())
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
        seen = {id(param) for param in params}
        if len(seen) != len(params):
            warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error",
            )
        for group in self.param_groups:
            if bool(names) != ("param_names" in group):
                which = "with names" if names else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {which} to the optimizer"
                )
            if any(id(param) in seen for param in group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _patch_step_function(self):
        """Nothing: optimizers of others call it, and PyTorch profiles `step` by it."""

    # ---- state ----

    def state_dict(self):
        """Everything to save: {"state": ..., "param_groups": ...}, with numbers for parameters."""
        numbers = {}
        groups = []
        for group in self.param_groups:
            start = sum(len(packed["params"]) for packed in groups)
            for i, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), i)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            (numbers[id(key)] if isinstance(key, Tensor) else key): value
            for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Load what `state_dict` returned; changes nothing if the groups do not fit."""
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(group["params"]) != len(saved["params"])
            for group, saved in zip(self.param_groups, saved_groups, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group "
                "that doesn't match the size of optimizer's group"
            )
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        numbers = chain.from_iterable(saved["params"] for saved in saved_groups)
        by_number = dict(zip(numbers, params, strict=True))
        state = defaultdict(dict)
        with normal_mode():
            for key, value in state_dict["state"].items():
                param = by_number.get(key)
                if param is None:
                    state[key] = value
                else:
                    state[param] = _converted(value, param)
        for group, saved in zip(self.param_groups, saved_groups, strict=True):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved_groups})

    # ---- hooks ----

    def register_step_pre_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other arguments."""
        return _hooks.register(self, "step", "before", hook)

    def register_step_post_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _hooks.register(self, "step", "after", hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` before the state is collected."""
        return _hooks.register(self, "state_dict", "before", hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` after that; it may return another state dict."""
        return _hooks.register(self, "state_dict", "after", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` before it is loaded; it may return another one."""
        return _hooks.register(self, "load_state_dict", "before", hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` after a state dict was loaded."""
        return _hooks.register(self, "load_state_dict", "after", hook, prepend)

    def __getstate__(self):
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for group in self.param_groups:  # an older state may lack options
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self):
        groups = []
        for i, group in enumerate(self.param_groups):
            options = "".join(
                f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"
            )
            groups.append(f"\nParameter Group {i}\n{options}")
        return f"{type(self).__name__} ({''.join(groups)})"


def with_values(grad, values):
    """A sparse tensor with other values where a coalesced gradient has some."""
    return ops.sparse_coo_tensor(grad._indices(), values, grad.shape, is_coalesced=True)


def _split_names(params):
    """A list of tensors and a list of their names (empty if none were given)."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [param[0] for param in params if isinstance(param, tuple)]
    if names and len(names) != len(params):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    return [param[1] if isinstance(param, tuple) else param for param in params], names


def _converted(value, param, key=None):
    """`value` with its tensors converted to the dtype of `param`, except a step count."""
    if isinstance(value, Tensor):
        value = as_normal(value)
        keep = key == "step" or not param.is_floating_point()
        return value if keep else value.to(param.dtype)
    if isinstance(value, dict):
        return {k: _converted(v, param, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_converted(v, param) for v in value)
    return value
