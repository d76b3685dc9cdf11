"""state_dict and load_state_dict: what they save, what they check, and when they write.

Loading is all or nothing: each module only checks its entries and plans its writes
(`local_metadata["writes"]`), which are done after the whole dictionary has been checked. Before a
hook that runs after loading a module, the writes planned so far are done, so the hook sees them.
"""

from collections import OrderedDict, namedtuple

from imode._core.internals import is_parameter
from imode._core.tensor import Tensor
from imode.guards import no_grad, normal_mode

from ..parameter import Parameter, as_normal, is_lazy
from ._hooks import MayReplace

__all__ = ["collect", "load", "load_from_state_dict", "save_to_state_dict"]

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def collect(module, destination, prefix, keep_vars):
    """Fill `destination` with the state of `module` and of all modules below it."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in _hooks(module, "state_pre"):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(
                destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    for hook in _hooks(module, "state_post"):
        result = hook(module, destination, prefix, local_metadata)
        if result is not None:
            if type(hook) is not MayReplace:
                raise RuntimeError("state_dict post-hook must return None")
            destination = result  # of the module that was asked, not of those below it
    return destination


def _hooks(module, kind):
    """The hooks of one kind on a module, copied: a hook may register others."""
    return (
        [] if module._hooks is None else [hook for (hook,) in getattr(module._hooks, kind).values()]
    )


def _write(writes):
    with normal_mode(), no_grad():
        for write in writes:
            write()
    writes.clear()


def load(module, state_dict, strict, assign):
    """Check all of `state_dict` against `module`, then write it into the module."""
    if not hasattr(state_dict, "keys"):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None) or {}
    state_dict = OrderedDict(state_dict)  # a module may change it while it loads
    missing_keys, unexpected_keys, errors, writes = [], [], [], []

    def visit(module, state, prefix):
        local_metadata = dict(metadata.get(prefix[:-1], {}))
        local_metadata["writes"] = writes
        if assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, local_metadata, True, missing_keys, unexpected_keys, errors
        )
        for name, child in module._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                visit(child, {k: v for k, v in state.items() if k.startswith(start)}, start)
        for hook in _hooks(module, "load_post"):
            _write(writes)
            if hook(module, _IncompatibleKeys(missing_keys, unexpected_keys)) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if incompatible_keys need to be modified, it should be "
                    "done inplace."
                )

    visit(module, state_dict, "")
    if strict:
        problems = []
        if missing_keys:
            problems.append(f"Missing key(s) in state_dict: {_quoted(missing_keys)}. ")
        if unexpected_keys:
            problems.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected_keys)}. ")
        errors[:0] = problems
    if errors:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(errors)
        )
    _write(writes)
    return _IncompatibleKeys(missing_keys, unexpected_keys)


def _quoted(keys):
    return ", ".join(f'"{key}"' for key in keys)


def load_from_state_dict(
    self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    """Check the entries of one module, without its children, and plan their writes."""
    problems = strict, missing_keys, unexpected_keys, error_msgs
    for hook in _hooks(self, "load_pre"):
        hook(self, state_dict, prefix, local_metadata, *problems)
    writes = local_metadata.get("writes")
    later = writes is not None
    writes = writes if later else []
    assign = local_metadata.get("assign_to_params_buffers", False)
    local = _entries(self)
    for name, target in local.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        value = state_dict[key]
        if not isinstance(value, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected imode.Tensor or Tensor-like '
                f"object from checkpoint but received {type(value)}"
            )
            continue
        if is_lazy(target) and is_lazy(value):
            continue
        if target.dim() == 0 and value.dim() == 1 and value.shape[0] == 1:
            value = value[0]  # from a checkpoint older than 0-dim tensors
        if value.shape != target.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {target.shape}."
            )
            continue
        if assign:
            floating = value.is_floating_point() or value.is_complex()
            if is_parameter(target) and target.requires_grad and not floating:
                error_msgs.append(
                    f'"{key}": a parameter that requires grad cannot be {value.dtype}.'
                )
                continue
            writes.append(_assigner(self, name, target, value))
        else:
            writes.append(_copier(key, target, value))
    _plan_extra(self, state_dict, prefix, strict, missing_keys, unexpected_keys, writes)
    if strict:
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
                continue
            first, *rest = key[len(prefix) :].split(".", 1)
            if first not in self._modules if rest else first not in local:
                unexpected_keys.append(key)
    if not later:  # called directly, not by load(): write now
        _write(writes)


def _plan_extra(module, state_dict, prefix, strict, missing, unexpected, writes):
    key = prefix + EXTRA_STATE
    own = type(module).set_extra_state
    if getattr(own, "_is_default", False):
        if strict and key in state_dict:
            unexpected.append(key)
    elif key in state_dict:
        writes.append(lambda: module.set_extra_state(state_dict[key]))
    elif strict:
        missing.append(key)


def _copier(key, target, value):
    def write():
        try:
            target.copy_(value)
        except Exception as error:
            raise RuntimeError(
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{target.shape} and whose dimensions in the checkpoint are {value.shape}, an "
                f"exception occurred : {error.args}."
            ) from error

    return write


def _assigner(module, name, target, value):
    def write():
        if not is_parameter(target):
            module._buffers[name] = as_normal(value)
        elif is_parameter(value):
            module._parameters[name] = value.requires_grad_(target.requires_grad)
        else:
            module._parameters[name] = Parameter(value, requires_grad=target.requires_grad)

    return write


def _entries(module):
    """What is saved of one module: its parameters and persistent buffers that are not None."""
    skipped = module._non_persistent_buffers_set
    buffers = {name: value for name, value in module._buffers.items() if name not in skipped}
    both = {**module._parameters, **buffers}
    return {name: value for name, value in both.items() if value is not None}


def save_to_state_dict(self, destination, prefix, keep_vars):
    """Put the entries of one module, without its children, into `destination`."""
    for name, value in _entries(self).items():
        destination[prefix + name] = value if keep_vars else value.detach()
    if not getattr(type(self).get_extra_state, "_is_default", False):
        destination[prefix + EXTRA_STATE] = self.get_extra_state()
