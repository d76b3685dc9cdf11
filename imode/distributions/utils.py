"""What distributions are written with: broadcasting, probabilities and logits, triangles."""

import functools

import imode
from imode import Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060  # Euler and Mascheroni's


def broadcast_all(*values):
    """Return tensors of one shape of tensors and numbers.

    Numbers take the dtype of the first tensor, else the default one. Raises ValueError for others.

    >>> imode.distributions.utils.broadcast_all(imode.zeros(2), 1)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    for value in values:
        if type(value) is not Tensor:
            values = _as_tensors(values)
            break
    shape = values[0].shape
    for value in values:
        if value.shape != shape:
            return imode.broadcast_tensors(*values)
    return tuple(values)


def _as_tensors(values):
    like = None
    for value in values:
        if isinstance(value, Tensor):
            like = value if like is None else like
        elif not (isinstance(value, (int, float)) or hasattr(value, "__torch_function__")):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects "
                "implementing __torch_function__."
            )
    options = {"dtype": imode.get_default_dtype()} if like is None else _kind(like)
    return [imode.full((), v, **options) if isinstance(v, (int, float)) else v for v in values]


def _kind(like):
    """The dtype and device of a tensor, as arguments; a factory is faster where none is named."""
    if like.is_cpu:
        return {"dtype": like.dtype}
    return {"dtype": like.dtype, "device": like.device}


def _empty(shape, like):
    return imode.empty(shape, **_kind(like))


def _standard_normal(shape, dtype, device):
    options = {"device": device} if device.type != "cpu" else {}
    return imode.empty(shape, dtype=dtype, **options).normal_()


def _sum_rightmost(value, dim):
    """Sum the last `dim` axes."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def logits_to_probs(logits, is_binary=False):
    """Return probabilities: of two outcomes each, else of those along the last axis.

    >>> imode.distributions.utils.logits_to_probs(imode.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return imode.sigmoid(logits) if is_binary else imode.softmax(logits, dim=-1)


def clamp_probs(probs):
    """Keep probabilities away from 0 and 1, by the distance of two numbers beside 1.

    >>> imode.distributions.utils.clamp_probs(imode.tensor([0.0, 0.5])) > 0
    tensor([True, True])
    """
    eps = imode.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Return logarithms of probabilities, or log-odds where there are two outcomes.

    >>> imode.distributions.utils.probs_to_logits(imode.tensor(0.5), is_binary=True)
    tensor(0.)
    """
    probs = clamp_probs(probs)
    return probs.log() - (-probs).log1p() if is_binary else probs.log()


class lazy_property:
    """A property that is computed once, when first asked for, with gradients on.

    >>> class Circle:
    ...     @imode.distributions.utils.lazy_property
    ...     def area(self):
    ...         return imode.tensor(3.0)
    >>> Circle().area
    tensor(3.)
    """

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return self
        with imode.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _triangle(n, diag, device):
    """Where an n × n matrix is not above its diagonal number `diag`."""
    order = imode.arange(n, device=device)
    return order < order.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat, diag=0):
    """Return the elements up to a diagonal of matrices, row by row. Raises ValueError for others.

    >>> imode.distributions.utils.tril_matrix_to_vec(imode.ones(2, 2))
    tensor([1., 1., 1.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _triangle(n, diag, mat.device)]


def vec_to_tril_matrix(vec, diag=0):
    """Return square matrices of the elements up to a diagonal, with zeros above it.

    Raises ValueError where no matrix has so many elements there.

    >>> imode.distributions.utils.vec_to_tril_matrix(imode.ones(3))
    tensor([[1., 0.],
            [1., 1.]])
    """
    twice = 1 + 2 * diag
    n = (-twice + (twice**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > imode.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    n = round(n)
    mat = vec.new_zeros(vec.shape[:-1] + (n, n))
    mat[..., _triangle(n, diag, vec.device)] = vec
    return mat
