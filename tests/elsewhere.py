"""The samples on other devices: how their arguments get there, and what is compared."""

import numpy as np

import imode
from tests.operators import SAMPLES, flat, public, writes


def moved(value, move):
    """Arguments with each tensor exchanged by `move`, which keeps strides."""
    if isinstance(value, imode.Tensor):
        return move(value.detach()).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, move) for item in value)
    if isinstance(value, dict):
        return {key: moved(item, move) for key, item in value.items()}
    return value


def to_meta(tensor):
    """A tensor on meta with the geometry of another."""
    return imode.empty_strided(
        tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta"
    )


def outcome(name, index, move=None, grad=False, seen=None):
    """Call a sample with its tensors moved: ("ok", what `seen` sees) or ("raised", class, text)."""
    imode.manual_seed(0)
    args, kwargs, _ = SAMPLES[name][index].make(imode, requires_grad=grad)
    if move is not None:
        args, kwargs = moved(args, move), moved(kwargs, move)
    leaves = [t for t in flat([args, list(kwargs.values())]) if _wants_grad(t)]
    if writes(name) and args and _wants_grad(args[0]):
        args[0] = args[0].clone()
    try:
        result = flat(public(name)(*args, **kwargs))
        given = [t for t in args if isinstance(t, imode.Tensor)]
        outputs = [t for t in result if _wants_grad(t)]
        if grad and outputs and leaves:
            weights = [imode.ones_like(t.detach()) for t in outputs]
            result += imode.autograd.grad(outputs, leaves, weights, allow_unused=True)
    except Exception as error:
        return "raised", type(error), str(error).partition("\n")[0]
    return "ok", [seen(t) for t in (*result, *given)]


def _wants_grad(value):
    return isinstance(value, imode.Tensor) and value.requires_grad


def geometry(value):
    """Shape, dtype, strides and what autograd knows of a tensor; other values: their type."""
    if not isinstance(value, imode.Tensor):
        return type(value)
    node = type(value.grad_fn).__name__
    return tuple(value.shape), value.dtype, value.stride(), value.requires_grad, node


def contents(value):
    """The geometry of a tensor and its elements as an array."""
    if not isinstance(value, imode.Tensor):
        return value
    return geometry(value), np.asarray(value.detach().cpu().numpy())


def same_contents(a, b):
    """Whether two observations by `contents` agree; what float16 rounds to may differ."""
    if not isinstance(a, tuple):
        return a == b or (a != a and b != b)
    if a[0] != b[0]:
        return False
    coarse = a[1].dtype == np.float16
    return np.allclose(a[1], b[1], 2e-2 if coarse else 1e-5, 2e-3 if coarse else 2e-6, True)
