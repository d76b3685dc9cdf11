"""Images and their kin in other sizes."""

from tests.samples import S, T
from tests.samples.networks.conv import _channels_last


def _compiled(name):
    """The operator that PyTorch keeps for its own functions."""

    def call(*args, **kwargs):
        import torch

        return getattr(torch._C._nn, name)(*args, **kwargs)

    return call


_SHAPES = {1: (2, 3, 5), 2: (1, 2, 4, 5), 3: (1, 2, 3, 4, 2)}
_SIZES = {1: (7,), 2: (7, 3), 3: (5, 3, 3)}
_LAST = T(2, 4, 5, 3, view=_channels_last)


def _of(name, n, corners):
    """Samples of an operator over n dimensions of space; corners: whether it asks for them."""
    call = _compiled(name)
    x, size = T(*_SHAPES[n]), _SIZES[n]
    words = ((True,), (False,)) if corners else ((),)
    samples = [S(x, size, *word, torch=call) for word in words]
    samples.append(S(x, size, *words[-1], *[1.5] * n, torch=call))
    kept = (*size[:-1], _SHAPES[n][-1])  # a size that stays, whatever the factor
    samples.append(S(x, kept, *words[-1], *[1.5] * n, torch=call))
    same = size if name.endswith("aa") else _SHAPES[n][2:]
    samples.append(S(T(*_SHAPES[n], dtype="float64"), same, *words[-1], torch=call))
    if n == 2:
        samples.append(S(_LAST, size, *words[-1], torch=call))
    samples.append(S(T(0, *_SHAPES[n][1:]), size, *words[-1], torch=call))
    samples.append(S(x, (0,) * n, *words[-1], torch=call, raises=RuntimeError))
    samples.append(S(T(3), size, *words[-1], torch=call, raises=RuntimeError))
    samples.append(
        S(T(*_SHAPES[n], dtype="int64"), size, *words[-1], torch=call, raises=NotImplementedError)
    )
    return samples


_NAMES = {
    **{f"upsample_nearest{n}d": (n, False) for n in (1, 2, 3)},
    **{f"_upsample_nearest_exact{n}d": (n, False) for n in (1, 2, 3)},
    "upsample_linear1d": (1, True),
    "upsample_bilinear2d": (2, True),
    "upsample_trilinear3d": (3, True),
    "upsample_bicubic2d": (2, True),
    "_upsample_bilinear2d_aa": (2, True),
    "_upsample_bicubic2d_aa": (2, True),
}


def _by_size_or_factors(name, n, corners):
    """Samples of the overload that takes the one or the other."""
    call, x = _compiled(name), T(*_SHAPES[n])
    words = (True,) if corners else ()
    return [
        S(x, _SIZES[n], *words, None, torch=call),
        S(x, None, *words, [2.0] * n, torch=call),
        S(x, None, *words, None, torch=call, raises=RuntimeError),
    ]


SAMPLES = {name: _of(name, *of) for name, of in _NAMES.items()}
SAMPLES |= {f"{name}.vec": _by_size_or_factors(name, *of) for name, of in _NAMES.items()}
