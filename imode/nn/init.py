"""Starting values for parameters: each function fills its tensor in place and returns it.

Recording is off while a tensor is filled. With the same seed the values are PyTorch's.
"""

import math

import numpy as np

from imode import ops
from imode._core.user_frames import warn
from imode.errors import names_of as _names_of
from imode.guards import no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    **dict.fromkeys(("linear", "sigmoid"), 1),
    **{f"conv{kind}{n}d": 1 for kind in ("", "_transpose") for n in (1, 2, 3)},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity shrinks a standard deviation; `param` is its slope.

    >>> imode.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


# ---- distributions ----


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill from the uniform distribution over [a, b).

    >>> x = imode.nn.init.uniform_(imode.empty(100), 2.0, 3.0)
    >>> bool((x >= 2).all() and (x < 3).all())
    True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill from the normal distribution.

    >>> imode.nn.init.normal_(imode.empty(2), mean=3.0, std=0.0)
    tensor([3., 3.])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill from the normal distribution cut off outside [a, b].

    >>> bool(imode.nn.init.trunc_normal_(imode.empty(100)).abs().max() <= 2)
    True
    """

    def below(x):
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
        )
    with no_grad():
        if below(b) - below(a) > 0.3:
            _reject_normal(tensor, mean, std, a, b, generator)
        else:
            _reject_uniform(tensor, mean, std, a, b, generator)
    return tensor


def _reject_normal(tensor, mean, std, a, b, generator):
    # Draw, and redraw the values outside of [a, b]: cheap if most are inside.
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            break
        again = ops.empty_like(result).normal_(mean, std, generator=generator)
        result = ops.where(outside, again, result)
    if result is not tensor:
        tensor.copy_(result)


def _reject_uniform(tensor, mean, std, a, b, generator):
    # Few normal values lie in [a, b]: draw uniformly, and accept in proportion to the density.
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(drawn):
        likely = (drawn - mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return ops.empty_like(drawn).uniform_(generator=generator).log_().gt(likely)

    result = tensor.uniform_(a, b, generator=generator)
    pending = refused(result)
    while pending.any():
        drawn = ops.empty_like(tensor).uniform_(a, b, generator=generator)
        result = ops.where(pending, drawn, result)
        pending = ops.where(pending, refused(drawn), pending)
    if result is not tensor:
        tensor.copy_(result)


# ---- constants ----


def constant_(tensor, val):
    """Fill with one value.

    >>> imode.nn.init.constant_(imode.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fill with ones.

    >>> imode.nn.init.ones_(imode.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fill with zeros.

    >>> imode.nn.init.zeros_(imode.empty(2))
    tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def _check_matrix(tensor):
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


def eye_(tensor):
    """Make a matrix the identity.

    >>> imode.nn.init.eye_(imode.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check_matrix(tensor)
    with no_grad():
        return tensor.copy_(ops.eye(*tensor.shape))


def dirac_(tensor, groups=1):
    """Make the weight of a convolution pass its input channels through.

    >>> imode.nn.init.dirac_(imode.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


# ---- scaled to the number of inputs and outputs ----


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def _xavier_std(tensor, gain):
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fill uniformly in plus or minus gain * sqrt(6 / (fan_in + fan_out)): Glorot and Bengio.

    >>> bool(imode.nn.init.xavier_uniform_(imode.empty(3, 3)).abs().max() <= 1)
    True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fill from the normal distribution with std gain * sqrt(2 / (fan_in + fan_out)).

    >>> imode.nn.init.xavier_normal_(imode.empty(3, 5)).shape
    imode.Size([3, 5])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """The standard deviation; None, with a warning, if there is nothing to fill."""
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill uniformly in plus or minus gain * sqrt(3 / fan): He et al.

    >>> bool(imode.nn.init.kaiming_uniform_(imode.empty(4, 6)).abs().max() <= 1)
    True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill from the normal distribution with std gain / sqrt(fan): He et al.

    >>> imode.nn.init.kaiming_normal_(imode.empty(3, 5), nonlinearity="relu").shape
    imode.Size([3, 5])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


# ---- structured ----


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with a matrix whose rows or columns are orthonormal, times gain: Saxe et al.

    >>> q = imode.nn.init.orthogonal_(imode.empty(3, 3))
    >>> imode.allclose(q @ q.T, imode.eye(3), atol=1e-5)
    True
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator).numpy()
        q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
        q = q * np.sign(np.diagonal(r))  # so that all orthogonal matrices are equally likely
        q = np.ascontiguousarray(q.T if rows < columns else q)
        tensor.copy_(ops.from_numpy(q).view(tensor.shape))
        return tensor.mul_(gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix from the normal distribution, then a share of each column with zeros.

    >>> (~imode.nn.init.sparse_(imode.empty(4, 2), 0.5).bool()).sum(0)
    tensor([2, 2])
    """
    _check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[ops.randperm(rows)[:zeros], column] = 0
    return tensor


# ---- older names ---------------------------------------------------------------------------------


def _older(function):
    """The function of the same name without the underscore at its end, which warns."""
    name = function.__name__

    def older(*args, **kwargs):
        warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
        )
        return function(*args, **kwargs)

    older.__name__ = older.__qualname__ = name[:-1]
    older.__doc__ = f"As `{name}`, by its older name."
    return older


constant, dirac, eye, normal, orthogonal = map(
    _older, (constant_, dirac_, eye_, normal_, orthogonal_)
)
sparse, uniform = map(_older, (sparse_, uniform_))
kaiming_normal, kaiming_uniform = map(_older, (kaiming_normal_, kaiming_uniform_))
xavier_normal, xavier_uniform = map(_older, (xavier_normal_, xavier_uniform_))


__getattr__ = _names_of(__name__)
