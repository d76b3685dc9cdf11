"""Custom functions: operations whose backward is written by the user."""

from imode._core.user_frames import warn

from .call import apply
from .custom import (
    FunctionCtx,
    FunctionNode,
    backward,
    backward_of,
    once_differentiable,
    setup_context,
)

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class BackwardCFunction(FunctionNode, FunctionCtx):
    """The base of the classes of contexts: `MyFunctionBackward` for a custom `MyFunction`."""

    def __init__(self):
        pass

    def apply(self, *args):
        """Call the custom function's `backward` with gradients of its results."""
        run = backward_of(self)
        return run(self, list(args)) if self._forward_cls.boxed_grads_call else run(self, *args)


class FunctionMeta(type):
    """Gives each custom function the class of its contexts."""

    def __init__(cls, name, bases, attrs):
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": __name__}
        )
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base class of operations with their own backward; call a derived class with `apply`.

    `forward(ctx, *args)` computes the results from tensors and anything else, unrecorded;
    `backward(ctx, *grads)` takes a gradient per result and returns one, or None, per argument.
    `backward` is recorded under `create_graph`, so what it computes from `ctx.saved_tensors` can be
    differentiated again. Alternatively `forward(*args)` takes no `ctx`, and
    `setup_context(ctx, inputs, output)` is called after it.

    >>> import imode
    >>> class Exp(imode.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (result,) = ctx.saved_tensors
    ...         return grad * result
    >>> x = imode.zeros(2, requires_grad=True)
    >>> Exp.apply(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    generate_vmap_rule = False  # imode has no vmap: nothing reads it
    clear_saved_tensors_on_access = False  # whether reading saved_tensors frees them
    boxed_grads_call = False  # backward(ctx, grads) takes one list, which it may empty

    def __init__(self, *args, **kwargs):
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself.",
            DeprecationWarning,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Make forward "
            f"and backward static methods, and call {type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the results; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    setup_context = staticmethod(setup_context)
    backward = staticmethod(backward)
    vjp = backward  # another name for it: override either

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward mode, which imode does not have: nothing calls it."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD. imode has no forward mode AD: nothing calls it."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """Batching, which imode does not have: nothing calls it."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True. imode has no vmap: nothing calls it."
        )

    apply = apply


class InplaceFunction(Function):
    """A Function that knows whether to work in place; for old scripts."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace
