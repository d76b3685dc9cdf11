"""Small helpers of the modules, and those that packages import from PyTorch's file."""

from collections.abc import Iterable

from imode import errors

__all__ = ["consume_prefix_in_state_dict_if_present"]


def ntuple(value, n):
    """`value` as a tuple: its items if it has several, `n` times the value if it is one number."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def _ntuple(n, name="parse"):
    def parse(x):
        return ntuple(x, n)

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1)
)


def _reverse_repeat_tuple(t, n):
    """Each item `n` times, the last first: the padding of `F.pad` from that of a convolution."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """The sizes, with the last of `defaults` where one is None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise errors.shapes.less_than_sizes(out_size)
    last = defaults[-len(out_size) :]
    return [d if v is None else v for v, d in zip(out_size, last, strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Take `prefix` from the names of a state dict, in place, and from those of its metadata.

    >>> state = {"module.weight": imode.ones(1), "step": imode.ones(1)}
    >>> imode.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> list(state)
    ['step', 'weight']
    """
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
