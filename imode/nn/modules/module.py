"""Module: the base class of all layers and models."""

from imode import errors, ops
from imode._core.device import device
from imode._core.internals import is_parameter
from imode._core.tensor import Tensor
from imode._core.user_frames import warn
from imode.guards import no_grad, normal_mode
from imode.utils.hooks import RemovableHandle

from ..parameter import Buffer, Parameter, as_normal
from . import _state
from ._hooks import (
    Hooks,
    MayReplace,
    WithoutModule,
    add_tables_of_hooks,
    call_with_hooks,
    hooks_of_pytorch,
)
from ._registry import Registry

__all__ = ["Module"]  # straight_call and clear_grad are for the package


TYPE_CHECKING = False  # type checkers treat the name as True; this saves importing typing
if TYPE_CHECKING:
    from typing import Any

_TABLES = ("_parameters", "_buffers", "_modules")


def _typename(value):
    if isinstance(value, Tensor):
        return value.type()
    named = value if hasattr(value, "__qualname__") else type(value)
    module = getattr(named, "__module__", None)
    in_module = f"{module}." if module not in (None, "builtins") else ""
    return in_module + named.__qualname__


def _unset(table, kind, name, value, expected):
    """Assign None, which keeps the name; any value that the table accepts was handled before."""
    if value is not None:
        raise TypeError(
            f"cannot assign '{_typename(value)}' as {kind} '{name}' ({expected} or None expected)"
        )
    table[name] = None


def _attribute(module, name):
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _as_module(name, value):
    if not isinstance(value, Module):
        raise AttributeError(f"`{name}` is not an nn.Module")
    return value


def _default(method):
    method._is_default = True  # not overridden: the module has no extra state
    return method


def _table(module, entries=()):
    """A table of parameters, buffers or children. See Note [Mirrored attributes]."""
    mirrored = type(module).__getattr__ is Module.__getattr__
    return Registry(module, entries) if mirrored else dict(entries)


def _parameters_of(module):
    return module.__dict__["_parameters"].items()


def _buffers_of(module):
    return module.__dict__["_buffers"].items()


def _addindent(s_, numSpaces):
    """Indent all lines of a text but the first, and empty ones."""
    first, *rest = s_.split("\n")
    return "\n".join([first, *(numSpaces * " " + line if line.strip() else "" for line in rest)])


class Module:
    """Base class of layers and models: create the parts in `__init__`, and define `forward`.

    A Parameter, Module or Buffer that is assigned to an attribute is registered: then
    `parameters()`, `state_dict()`, `to()`, `train()` and others include it. Parameters and buffers
    are normal tensors even if the module is created in inference mode.

    >>> class Net(imode.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = imode.nn.Linear(2, 3)
    ...     def forward(self, x):
    ...         return self.fc(x).relu()
    >>> Net()(imode.ones(1, 2)).shape
    imode.Size([1, 3])
    """

    _version = 1  # saved in state dicts; a subclass increases it when its entries change

    def __init__(self):
        entries = self.__dict__
        entries["training"] = True
        # See Note [Straight calls]: a Hooks if a hook is registered or __call__ is overridden.
        entries["_hooks"] = None if type(self).__call__ is straight_call else Hooks()
        entries["_non_persistent_buffers_set"] = set()
        # See Note [Mirrored attributes]
        entries["_parameters"] = _table(self)
        entries["_buffers"] = _table(self)
        entries["_modules"] = _table(self)

    def forward(self, *args, **kwargs):
        """Compute the module's output; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args, **kwargs):
        # See Note [Straight calls]
        if self._hooks is not None:
            return call_with_hooks(self, args, kwargs)
        if len(args) == 1 and not kwargs:
            return self.forward(args[0])
        return self.forward(*args, **kwargs)

    _call_impl = _wrapped_call_impl = __call__  # by which wrappers call a module

    # ---- registration ----

    def register_parameter(self, name, param):
        """Add a parameter (or None, which keeps the name) under `name`."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not is_parameter(param):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                "(imode.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is state, not a parameter; with `persistent=False` it is not saved."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                "(imode Tensor or None required)"
            )
        self._buffers[name] = as_normal(tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child module (or None, which keeps the name) under `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind, name, table):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        got = f", got: {name}" if kind == "module" else ""
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in table and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def __setattr__(self, name, value):
        entries = self.__dict__
        parameters = entries.get("_parameters")
        modules = entries.get("_modules")
        buffers = entries.get("_buffers")
        if is_parameter(value):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, parameters)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            _unset(parameters, "parameter", name, value, "imode.nn.Parameter")
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, modules)
            modules[name] = value
        elif modules is not None and name in modules:
            _unset(modules, "child module", name, value, "imode.nn.Module")
        elif isinstance(value, Buffer):
            self.register_buffer(name, value.data, value.persistent)
        elif buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_typename(value)}' as buffer '{name}' "
                    "(imode.nn.Buffer, imode.Tensor or None expected)"
                )
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        elif name in _TABLES and name in entries:
            value = dict(value)  # a copy, since it may be the table itself
            entries[name].clear()  # See Note [Mirrored attributes]
            entries[name].update(value)
        else:
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:  # buffers, and modules given to add_module

        def __getattr__(self, name: str) -> Any: ...

    def __getattr__(self, name):
        # Attributes are in the module's own dictionary (Note [Mirrored attributes]): this is for
        # what is missing, for those who call it by its name, and for classes that extend it.
        for table in _TABLES:
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def _forget(self, name, keep):
        """Remove `name` from every table except `keep`, and from the other attributes."""
        for table in (self._parameters, self._buffers, self._modules):
            if table is not keep:
                table.pop(name, None)
        if name not in keep:
            self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_hooks" not in state:  # a pickle of PyTorch's
            hooks = hooks_of_pytorch(self.__dict__)
            if hooks is None and type(self).__call__ is not straight_call:
                hooks = Hooks()
            self.__dict__["_hooks"] = hooks
            self.__dict__.setdefault("_non_persistent_buffers_set", set())
        for table in _TABLES:
            self.__dict__[table] = _table(self, self.__dict__[table])

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__}
        names.update(*[self.__dict__.get(table, ()) for table in _TABLES])
        return sorted(name for name in names if not name[:1].isdigit())

    # ---- walking the tree ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yield (dotted name, module) for the module itself and all below it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, below, remove_duplicate)

    def modules(self):
        """Yield the module itself and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """Yield (name, module) for the direct children, each once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self):
        """Yield the direct children, each once."""
        for _, child in self.named_children():
            yield child

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield (dotted name, parameter) of the module and, with `recurse`, of all below it."""
        return self._named_members(_parameters_of, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """Yield the parameters, for an optimizer."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield (dotted name, buffer) of the module and, with `recurse`, of all below it."""
        return self._named_members(_buffers_of, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """Yield the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target):
        """The module under a dotted name; "" is the module itself."""
        module = self
        for part in target.split(".") if target else ():
            module = _as_module(part, _attribute(module, part))
        return module

    def set_submodule(self, target, module, strict=False):
        """Put `module` under a dotted name; with `strict` the name must exist already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            _as_module(name, _attribute(parent, name))
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter under a dotted name."""
        _, name, value = self._get_member(target)
        if not is_parameter(value):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return value

    def get_buffer(self, target):
        """The buffer under a dotted name."""
        module, name, value = self._get_member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return value

    def _get_member(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        return module, name, _attribute(module, name)

    # ---- changing the whole tree ----

    def apply(self, fn):
        """Call `fn` on every module below, and then on this one; returns self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Switch Dropout, BatchNorm and the like to training behaviour, or back; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        """Switch to evaluation behaviour; the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` of every parameter; returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def share_memory(self):
        """Move the parameters and buffers to memory that processes share; returns self."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of all parameters, or fill them with zeros."""
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def _apply(self, fn, recurse=True):
        for child in self.children() if recurse else ():
            child._apply(fn)  # of it alone: classes define it with one argument
        # The results must be normal tensors even in inference mode.
        with normal_mode(), no_grad():
            for name, param in self._parameters.items():
                if param is None:
                    continue
                made = fn(param)
                if made.device == param.device:
                    param.data = made
                    if param.grad is not None:
                        param.grad.data = fn(param.grad)
                else:  # a parameter stays on its device: another takes its place
                    self._parameters[name] = Parameter(made, param.requires_grad)
                    if param.grad is not None:
                        self._parameters[name].grad = fn(param.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = as_normal(fn(buffer))
        return self

    def to(self, *args, **kwargs):
        """Convert parameters and buffers: `to(dtype)`, `to(device)`, `to(tensor)`; returns self.

        A dtype applies only to floating point and complex tensors.
        """
        if kwargs.get("copy"):
            raise RuntimeError(".to() does not accept copy argument. copy.deepcopy() the module")
        dtype = _wanted_dtype(args, kwargs)
        order = kwargs.pop("memory_format", None)
        if order is not None:
            self._apply(lambda t: t.to(memory_format=order) if t.dim() in (4, 5) else t)
        if dtype is None:
            return self._apply(lambda t: _moved(t, *args, **kwargs))
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, "
                f"but got desired dtype={dtype}"
            )
        if dtype.is_complex:
            warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors "
                "as parameters or buffers.",
            )
        convertible = lambda t: t.is_floating_point() or t.is_complex()
        place = _wanted_device(args, kwargs)
        return self._apply(lambda t: _moved(t, place, dtype if convertible(t) else None))

    def to_empty(self, *, device, recurse=True):
        """Give parameters and buffers new, uninitialised memory; returns self."""
        return self._apply(lambda t: ops.empty_like(t, device=device), recurse)

    def cpu(self):
        """Move parameters and buffers to the CPU; returns self."""
        return self.to("cpu")

    def cuda(self, device=None):
        """Raise, as a tensor's `cuda` does: there is only the CPU."""
        return self._apply(lambda t: t.cuda(device))

    def type(self, dst_type):
        """Convert every parameter and buffer to `dst_type`; returns self."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Convert floating point parameters and buffers to float32; returns self."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Convert floating point parameters and buffers to float64; returns self."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        """Convert floating point parameters and buffers to float16; returns self."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Convert floating point parameters and buffers to bfloat16; returns self."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    # ---- state ----

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Everything to save, as an OrderedDict from dotted name to (detached) tensor."""
        if args:
            warn(
                "Positional args are being deprecated, use kwargs instead. "
                "Refer to the documentation of Module.state_dict for details.",
                FutureWarning,
            )
            rest = (destination, prefix, keep_vars)[len(args) :]
            destination, prefix, keep_vars = (*args, *rest)
        return _state.collect(self, destination, prefix, keep_vars)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Write a state dict into the module; returns the missing and the unexpected keys.

        With `strict` such keys are an error; a wrong shape always is. Either everything is written
        or nothing. `assign=True` uses the tensors themselves, not their values.
        """
        return _state.load(self, state_dict, strict, assign)

    # Methods for the entries of one module, without its children; modules may override them.
    _save_to_state_dict = _state.save_to_state_dict
    _load_from_state_dict = _state.load_from_state_dict

    @_default
    def get_extra_state(self):
        """Override this and `set_extra_state` to save more than tensors."""
        raise RuntimeError("get_extra_state: this module defines no extra state")

    @_default
    def set_extra_state(self, state):
        """Called by `load_state_dict` with what `get_extra_state` returned."""
        raise RuntimeError("set_extra_state: this module defines no extra state")

    # ---- hooks ----

    def _register_hook(self, kind, entry, prepend):
        if self._hooks is None:
            self.__dict__["_hooks"] = Hooks()
        table = getattr(self._hooks, kind)
        handle = RemovableHandle(table)
        if prepend:
            later = dict(table)
            table.clear()
            table[handle.id] = entry
            table.update(later)
        else:
            table[handle.id] = entry
        return handle

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call `hook(module, args)` before forward; what it returns replaces the arguments."""
        return self._register_hook("forward_pre", (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call `hook(module, args, output)` after forward; what it returns replaces the output."""
        return self._register_hook("forward", (hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call `hook(module, grad_output)` before the module's backward; may replace it."""
        return self._register_hook("backward_pre", (hook,), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call `hook(module, grad_input, grad_output)` after the module's backward."""
        return self._register_hook("backward", (hook,), prepend)

    def register_state_dict_pre_hook(self, hook):
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected."""
        return self._register_hook("state_pre", (hook,), False)

    def register_state_dict_post_hook(self, hook):
        """Call `hook(module, state_dict, prefix, local_metadata)` after that; returning None."""
        return self._register_hook("state_post", (hook,), False)

    def _register_state_dict_hook(self, hook):
        """The same for hooks of older programs, which may return another state dict."""
        return self._register_hook("state_post", (MayReplace(hook),), False)

    def register_load_state_dict_pre_hook(self, hook):
        """Call a hook before the module's entries are checked and loaded.

        Its arguments are `(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        """The same for hooks of older programs, which do not expect the module."""
        entry = hook if with_module else WithoutModule(hook)
        return self._register_hook("load_pre", (entry,), False)

    def register_load_state_dict_post_hook(self, hook):
        """Call `hook(module, incompatible_keys)` after loading; it may change these lists."""
        return self._register_hook("load_post", (hook,), False)

    # ---- printing ----

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The text in the brackets of the module's repr, for subclasses to override."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        lines = list(extra_lines)
        for name, child in self._modules.items():
            lines.append(f"({name}): {_addindent(repr(child), 2)}")
        if len(extra_lines) == 1 and len(lines) == 1:
            return f"{self._get_name()}({extra})"
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"


# Note [Straight calls]
# A call must cost little compared with an operator of 50 ns. A module without hooks has a `_hooks`
# of None, and `module(x)` is `module.forward(x)`. A separate case for one argument, which is not
# packed again, saves 40 of the 180 ns of a call. Sequential calls `forward` of such children
# directly, which saves 120 ns each; but not if Module.__call__ was replaced, as profilers do.
straight_call = Module.__call__
add_tables_of_hooks(Module)


def clear_grad(param, set_to_none):
    """Drop the gradient of one tensor, or detach it and fill it with zeros."""
    grad = param.grad
    if grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _moved(tensor, *args, **kwargs):
    if not tensor.is_meta:
        return tensor.to(*args, **kwargs)
    try:
        return tensor.to(*args, **kwargs)
    except NotImplementedError:
        raise errors.devices.moved_from_meta() from None


def _wanted_device(args, kwargs):
    for arg in (*args, kwargs.get("tensor"), kwargs.get("other")):
        if isinstance(arg, Tensor):
            return arg.device
        if isinstance(arg, (str, device)):
            return arg
    return kwargs.get("device")


def _wanted_dtype(args, kwargs):
    if "dtype" in kwargs:
        return kwargs["dtype"]
    for arg in args:
        if isinstance(arg, Tensor):
            return arg.dtype
        if hasattr(arg, "is_floating_point"):
            return arg
    other = kwargs.get("tensor", kwargs.get("other"))
    return None if other is None else other.dtype
