"""Modules as functions of their parameters."""

from collections.abc import Sequence

from imode.errors import names_of as _names_of
from imode.nn.utils.stateless import call as _call

__all__ = ["functional_call"]


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


__getattr__ = _names_of(__name__)
