"""Parameters as one vector, and back."""

from imode import ops
from imode._core.tensor import Tensor
from imode.guards import normal_mode

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """All parameters flattened and joined into one 1-D tensor.

    >>> imode.nn.utils.parameters_to_vector([imode.ones(2), imode.zeros(1, 2)])
    tensor([1., 1., 0., 0.])
    """
    return ops.cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec, parameters):
    """Make each parameter a part of `vec`, in order; they share its memory afterwards.

    If `vec` is an inference tensor, they share a copy: parameters are normal tensors.

    >>> x = imode.zeros(1, 2)
    >>> imode.nn.utils.vector_to_parameters(imode.arange(2.0), [x])
    >>> x
    tensor([[0., 1.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected imode.Tensor, but got: {type(vec).__name__}")
    if vec.is_inference():
        with normal_mode():
            vec = vec.clone()
    start = 0
    for param in parameters:
        end = start + param.numel()
        param.data = vec[start:end].view_as(param).data
        start = end
