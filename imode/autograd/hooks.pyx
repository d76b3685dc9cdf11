"""Hooks on tensors: register_hook, retain_grad, register_post_accumulate_grad_hook."""
import weakref

from imode._core.tensor cimport Tensor, grad_fn_of, meta_of, requires_grad
from imode.autograd.node cimport Node

from imode.autograd.node import add_hook


def register_hook(Tensor self not None, hook):
    """Call `hook(grad)` whenever the gradient of this tensor is computed.

    The hook may return a Tensor to use in its place. Returns a handle with `remove()`. Raises
    RuntimeError if the tensor does not require grad.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> x.sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    cdef Node node
    if not requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    grad_fn = grad_fn_of(self)
    if grad_fn is None:
        if meta_of(self).hooks is None:
            self.meta.hooks = {}
        return add_hook(self.meta.hooks, hook)
    node = <Node>grad_fn
    if node.tensor_hooks is None:
        node.tensor_hooks = {}
    return add_hook(node.tensor_hooks.setdefault(self.output_nr, {}), hook)


def register_post_accumulate_grad_hook(Tensor self not None, hook):
    """Call `hook(tensor)` after backward has added to a leaf's `.grad`.

    Returns a handle with `remove()`. Raises RuntimeError unless the tensor is a leaf that requires
    grad.
    """
    if not requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if grad_fn_of(self) is not None:
        raise RuntimeError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors")
    if meta_of(self).post_hooks is None:
        self.meta.post_hooks = {}
    return add_hook(self.meta.post_hooks, hook)


def retain_grad(Tensor self not None):
    """Keep the gradient of a non-leaf in its `.grad`; nothing to do for a leaf.

    Raises RuntimeError if the tensor does not require grad.
    """
    cdef Node node
    if not requires_grad(self):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    # As it was recorded: a view that is out of date is not looked at where there is nothing to do.
    if self.grad_fn is None or meta_of(self).retains_grad:
        return
    node = <Node>grad_fn_of(self)
    if node.retained is None:
        node.retained = {}
    node.retained[self.output_nr] = weakref.ref(self)
    self.meta.retains_grad = True
