"""Exchange the contents of two tensors."""

import gc
import weakref

from imode._core.internals import swap_contents
from imode._core.tensor import Tensor

__all__ = ["swap_tensors"]

_INSIDE = ("imode._core.", "imode.autograd.")  # where graphs, views and `.grad` are kept


def swap_tensors(t1, t2):
    """Give each of two tensors the other's contents: elements, history, gradient, attributes.

    All names and containers see it; a Parameter is then one where the other was. RuntimeError if
    a graph, a view, another's `.grad` or a weak reference depends on one of them.

    >>> x, y = imode.ones(2), imode.zeros(3)
    >>> same = x
    >>> imode.utils.swap_tensors(x, y)
    >>> same
    tensor([0., 0., 0.])
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if type(tensor) is not Tensor:
            raise TypeError(f"swap_tensors: expected an imode.Tensor, got {type(tensor).__name__}")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    for name, tensor in (("t1", t1), ("t2", t2)):
        users = [
            user
            for user in gc.get_referrers(tensor)
            if type(user).__module__.startswith(_INSIDE) and type(user) is not type
        ]
        if users:
            kinds = ", ".join(sorted({type(user).__name__ for user in users}))
            raise RuntimeError(
                f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got "
                f"{1 + len(users)} make sure you are not holding references to the tensor in other "
                f"places.\nHere it is used by: {kinds}."
            )
    swap_contents(t1, t2)
    attributes = dict(vars(t1)), dict(vars(t2))
    for tensor, new in zip((t2, t1), attributes):
        vars(tensor).clear()
        vars(tensor).update(new)
