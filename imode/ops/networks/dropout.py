"""Dropout, of elements and of channels; and what else draws in training: rrelu, gumbel_softmax.

Functions whose signature in `imode.nn.functional` is not that of `imode.<name>` are functions of
their own there, as in PyTorch.
"""

import math

import numpy as np

from imode import errors, ops
from imode._core.user_frames import warn
from imode.autograd.views import write_as
from imode.kernels.pointwise import loops
from imode.kernels.random import choices, distributions_fast
from imode.ops.composites_fast import replayed, varies
from imode.ops.schema import composite, functional, inplace_doc, op

op(
    "_dropout_mask(Tensor self, float p) -> Tensor",
    lambda self, p: choices.dropout_mask(self, p),
    fast=distributions_fast.dropout_mask,
    differentiable=False,
)


def _refuse(input):
    if input.is_complex():
        raise errors.dtypes.not_implemented("bernoulli_scalar_cpu_", input.dtype)
    raise errors.dtypes.cannot_cast("Float", input.dtype)


def _drop(input, p, shape, inplace, alpha):
    """Zero elements with probability p, or slices where `shape` has ones, and scale the rest."""
    if p == 1:
        noise = ops.zeros((), dtype=input.dtype)
    elif alpha:
        return _drop_to_negative(input, p, shape, inplace)
    else:
        if not input.is_floating_point():
            _refuse(input)
        noise = ops._dropout_mask(input if shape is None else input.new_empty(shape), p)
    if inplace:
        return write_as("dropout_" if shape is None else "feature_dropout_", ops.mul_, input, noise)
    return input * noise


_SATURATION = 1.7580993408473766  # what selu tends to, with the sign changed


def _drop_to_negative(input, p, shape, inplace):
    """Set elements to where selu saturates, and keep the mean and the variance of all."""
    if not input.is_floating_point():
        _refuse(input)
    kept = ops.empty_like(input) if shape is None else input.new_empty(shape)
    kept.bernoulli_(1 - p)
    a = 1 / math.sqrt((_SATURATION * _SATURATION * p + 1) * (1 - p))
    shift = kept.add(-1).mul_(_SATURATION * a).add_(_SATURATION * a * p)
    kept.mul_(a)
    if inplace:
        name = "alpha_dropout_" if shape is None else "feature_alpha_dropout_"
        return write_as(name, ops.add_, write_as(name, ops.mul_, input, kept), shift)
    return (input * kept).add_(shift)


def _dropout(input, p, train, inplace, features, alpha=False):
    if not 0 <= p <= 1:
        raise errors.numbers.dropout_probability(f"{p:g}", RuntimeError)
    if p == 0 or not train or not input.numel():
        return input
    shape = None
    if features:
        if input.dim() < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = [*input.shape[:2], *[1] * (input.dim() - 2)]
    return _drop(input, p, shape, inplace, alpha)


_ZERO = "Zero {} with probability `p` where `train`; scale the others by 1 / (1 - p)."
_SATURATE = (
    "Set {} to the limit of selu with probability `p`\n    where `train`; "
    "scale and shift all to keep mean and variance."
)
_CHANNELS = "channels of (n, channels, ...)"
for _name, _features, _alpha, _text in (
    ("dropout", False, False, _ZERO.format("elements")),
    ("feature_dropout", True, False, _ZERO.format(_CHANNELS)),
    ("alpha_dropout", False, True, _SATURATE.format("elements")),
    ("feature_alpha_dropout", True, True, _SATURATE.format(_CHANNELS)),
):
    _doc = f"""{_text}

    Raises RuntimeError unless `p` is within [0, 1].

    >>> imode.{_name}(imode.ones(2, 2), 0.5, False).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    _schema = "(Tensor input, float p, bool train) -> Tensor"

    def _outside(input, p, train, features=_features, alpha=_alpha):
        return _dropout(input, p, train, False, features, alpha)

    def _inside(input, p, train, features=_features, alpha=_alpha):
        return _dropout(input, p, train, True, features, alpha)

    composite(_name + _schema, variants="function", doc=_doc)(_outside)
    composite(
        _name + "_" + _schema.replace("Tensor input", "Tensor self"),
        variants="function",
        doc=inplace_doc(_name) + f"\n    >>> imode.{_name}_(imode.ones(2, 2), 0.0, True)."
        "sum().item()\n    4.0\n    ",
    )(_inside)


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise errors.numbers.dropout_probability(p)


def _warn_of_dims(name, dim):
    warn(
        f"{name}: Received a {dim}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To drop elements one by one, use dropout.",
    )


@functional("dropout")
def dropout_functional(input, p=0.5, training=True, inplace=False):
    """Zero elements with probability `p` in training; scale the others by 1 / (1 - p).

    Raises ValueError unless `p` is within [0, 1].

    >>> imode.nn.functional.dropout(imode.ones(2), 0.5, training=False).tolist()
    [1.0, 1.0]
    """
    _check_probability(p)
    return _dropout(input, p, training, inplace, False)


@functional("dropout1d")
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zero channels of (n, channels, length) or (channels, length); otherwise as `dropout`.

    >>> imode.nn.functional.dropout1d(imode.ones(1, 2), 0.5, training=False).tolist()
    [[1.0, 1.0]]
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with 1 spatial "
            "dimension, a channel dimension, and an optional batch dimension."
        )
    if input.dim() == 3:
        return _dropout(input, p, training, inplace, True)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _dropout(batch, p, training, inplace, True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


@functional("dropout2d")
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zero channels of (n, channels, height, width); otherwise as `dropout`.

    >>> imode.nn.functional.dropout2d(imode.ones(1, 1, 1, 2), 0.5, training=False).tolist()
    [[[[1.0, 1.0]]]]
    """
    _check_probability(p)
    if input.dim() not in (3, 4):
        _warn_of_dims("dropout2d", input.dim())
    elif input.dim() == 3:
        warn(
            "dropout2d: Received a 3-D input to dropout2d and assuming that channel-wise 1-D "
            "dropout behavior is desired - input is interpreted as shape (N, C, L). Use dropout1d "
            "to say so.",
        )
    return _dropout(input, p, training, inplace, True)


@functional("dropout3d")
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zero channels of (n, channels, depth, height, width); otherwise as `dropout`.

    >>> imode.nn.functional.dropout3d(imode.ones(1, 1, 1, 1, 2), 0.5, training=False).sum().item()
    2.0
    """
    _check_probability(p)
    if input.dim() not in (4, 5):
        _warn_of_dims("dropout3d", input.dim())
    if input.dim() == 5:
        return _dropout(input, p, training, inplace, True)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _dropout(batch, p, training, inplace, True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _saturating(name, features, text):
    @functional(name)
    def function(input, p=0.5, training=False, inplace=False):
        _check_probability(p)
        return _dropout(input, p, training, inplace, features, True)

    function.__doc__ = f"""{_SATURATE.format(text).replace("`train`", "`training`")}

    Raises ValueError unless `p` is within [0, 1].

    >>> imode.nn.functional.{name}(imode.ones(1, 2)).tolist()
    [[1.0, 1.0]]
    """


_saturating("alpha_dropout", False, "elements")
_saturating("feature_alpha_dropout", True, _CHANNELS)


# ---- random slopes ------------------------------------------------------------------------------


def _slopes(self, noise, lower, upper, training):
    if self.dtype.kind != "f" or (training and self.dtype == np.float16):
        name = "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu"
        raise errors.dtypes.not_implemented(name, self.dtype)
    if training:
        return np.asarray(np.multiply(self, noise, dtype=self.dtype), order="C")
    wide = np.float32 if self.dtype == np.float16 else self.dtype
    result = loops.leaky_relu(self, np.array((lower + upper) / 2, wide))
    return np.asarray(result, self.dtype, order="C")


def _slope(grad, self, noise, lower, upper, training):
    if training:
        return noise * grad
    return ops.where(self > 0, grad, grad * ((lower + upper) / 2))


op(
    "_rrelu_with_noise(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training) "
    "-> Tensor",
    _slopes,
    fast=distributions_fast.slopes,
    derivative={"self": _slope},
    inplace_derivative={
        "self": lambda grad, result, noise, lower, upper, training: _slope(
            grad, result, noise, lower, upper, training
        )
    },
    variants="inplace",
)


def _drawn_slopes(self, lower, upper, training):
    """Ones, and where elements are not positive, in their order, slopes drawn in training."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not (training and self.is_floating_point()):
        return self.new_empty(0)
    varies()
    if self.is_meta:
        return ops.empty_like(self)
    flat = self.detach().reshape(-1)
    drops = flat <= 0
    drawn = drops.new_empty(int(drops.sum().item()), dtype=float).double().uniform_(lower, upper)
    noise = ops.ones_like(flat)
    noise.masked_scatter_(drops, drawn.to(self.dtype))
    return noise.view(self.shape)


@replayed
def _rrelu(self, lower, upper, training):
    noise = _drawn_slopes(self, lower, upper, training)
    return ops._rrelu_with_noise(self, noise, lower, upper, training)


def _rrelu_inside(self, lower, upper, training):
    noise = _drawn_slopes(self, lower, upper, training)
    return ops._rrelu_with_noise_(self, noise, lower, upper, training)


composite(
    "rrelu(Tensor input, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False) -> Tensor",
    variants="function",
    doc="""Return positive elements, and others times a slope: in training drawn for each of them.

    Slopes are uniform in [lower, upper), otherwise their mean. Raises RuntimeError where `lower` is
    above `upper`.

    >>> imode.rrelu(imode.tensor([1.0, -1.0]), 0.25, 0.75).tolist()
    [1.0, -0.5]
    """,
)(_rrelu)
composite(
    "rrelu_(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False) -> Tensor",
    variants="function nn",
    doc=inplace_doc("rrelu"),
)(_rrelu_inside)


@functional("rrelu")
def rrelu_functional(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """Return positive elements, and others times a slope; see `imode.rrelu`.

    >>> imode.nn.functional.rrelu(imode.tensor([1.0, -1.0]), 0.25, 0.75).tolist()
    [1.0, -0.5]
    """
    return (_rrelu_inside if inplace else _rrelu)(input, lower, upper, training)


@functional("gumbel_softmax")
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Draw from the Gumbel-softmax distribution along `dim`, at the temperature `tau`.

    With `hard` the result is one-hot, and its gradient that of the soft one.

    >>> imode.nn.functional.gumbel_softmax(imode.zeros(2, 3), hard=True).sum(1).tolist()
    [1.0, 1.0]
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    drawn = -logits.new_empty(logits.shape).exponential_().log()
    soft = ((logits + drawn) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    chosen = logits.new_zeros(logits.shape).scatter_(dim, index, 1.0)
    return chosen - soft.detach() + soft
