"""The gradients of convolutions, by their input and by their weight."""

from imode import ops
from imode.errors import names_of as _names_of

from .modules.utils import ntuple

__all__ = [f"conv{n}d_{what}" for n in (1, 2, 3) for what in ("input", "weight")]


def _gradients(n, grad, input, weight, stride, padding, dilation, groups, which):
    given = (ntuple(value, n) for value in (stride, padding, dilation))
    wanted = (which == 0, which == 1, False)
    rest = (False, (0,) * n, groups, wanted)
    return ops.convolution_backward(grad, input, weight, None, *given, *rest)[which]


def _declare(n):
    def by_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        input = grad_output.new_empty(1).expand(input_size)
        return _gradients(n, grad_output, input, weight, stride, padding, dilation, groups, 0)

    def by_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        weight = grad_output.new_empty(1).expand(weight_size)
        return _gradients(n, grad_output, input, weight, stride, padding, dilation, groups, 1)

    for function, what in ((by_input, "input"), (by_weight, "weight")):
        name = f"conv{n}d_{what}"
        function.__name__ = function.__qualname__ = name
        given = ("x.shape, x", "x, x.shape")[what == "weight"]
        function.__doc__ = f"""Return the gradient of `conv{n}d` by its {what}, given its shape.

    >>> x = imode.ones({(1, 1) + (3,) * n})
    >>> imode.nn.grad.{name}({given}, imode.ones({(1, 1) + (1,) * n})).sum().item()
    {3.0**n}
    """
        globals()[name] = function


for _n in (1, 2, 3):
    _declare(_n)

__getattr__ = _names_of(__name__)
