"""A module called with other tensors in the places of its own."""

from imode._core.tensor import Tensor
from imode._core.user_frames import warn

__all__ = ["functional_call"]


def _places(module):
    """{name: (table, key, tensor)} of all parameters and buffers, tied ones under each name."""
    found = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for table in (owner._parameters, owner._buffers):
            for key, tensor in table.items():
                if tensor is not None:
                    found[f"{prefix}.{key}".lstrip(".")] = table, key, tensor
    return found


def _with_tied(given, places):
    """The given tensors, also under the other names of the tensors whose places they take."""
    names = {}
    for name, (_, _, tensor) in places.items():
        names.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for name, value in given.items():
        if name not in places:
            continue
        for other in names[id(places[name][2])]:
            if result.setdefault(other, value) is not value:
                tied = sorted(n for n in names[id(places[name][2])] if n in given)
                raise ValueError(
                    f"functional_call got multiple values for keys {tied}, which are tied. "
                    "Consider using tie_weights=False"
                )
    return result


def _attribute(module, name):
    """(table, key, tensor or None) of an attribute that is neither parameter nor buffer."""
    *path, last = name.split(".")
    owner = module.get_submodule(".".join(path))
    value = getattr(owner, last, None)
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{name}: {value} is not an instance of torch.Tensor")
    return vars(owner), last, value


def call(module, parameters_and_buffers, args, kwargs, tie_weights=True, strict=False):
    """Call a module with the given tensors in the places that their names say."""
    places = _places(module)
    given = parameters_and_buffers
    wanted = _with_tied(given, places) if tie_weights else dict(given)
    unexpected = [name for name in wanted if name not in places]
    missing = [name for name in places if name not in wanted]
    if strict and (unexpected or missing):
        lines = ["Unexpected key(s): " + ", ".join(unexpected)] if unexpected else []
        lines += ["Missing key(s): " + ", ".join(missing)] if missing else []
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(lines)
        )
    for name in unexpected:  # an attribute that is not registered, or not there at all
        places[name] = _attribute(module, name)
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    swapped = {name: places[name] for name in wanted}
    for name, (table, key, _) in swapped.items():
        table[key] = wanted[name]
    try:
        return module(*args, **(kwargs or {}))
    finally:
        for name, (table, key, tensor) in swapped.items():
            if name in given and key in table:  # a buffer that the module assigned anew
                given[name] = table[key]
            if tensor is None:
                table.pop(key, None)
            else:
                table[key] = tensor


def functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Call a module with other tensors in the places of its own.

    As `imode.func.functional_call`, which is to be preferred.
    """
    warn(
        "This API is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use torch.func.functional_call instead which is a drop-in replacement "
        "for this API.",
        FutureWarning,
    )
    return call(module, parameters_and_buffers, args, kwargs, tie_weights, strict)
