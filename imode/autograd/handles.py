"""The handle that registering a hook gives back."""

import itertools
import weakref

__all__ = ["RemovableHandle"]

_ids = itertools.count()


class RemovableHandle:
    """Takes one hook out of the table it was put in: by `remove()` or at the end of a `with`.

    `id` is its key in the table. The table is held weakly, so that a handle does not keep the
    hooks of a dead module or graph alive.
    """

    def __init__(self, hooks):
        self.id = next(_ids)
        self._hooks = weakref.ref(hooks)

    def remove(self):
        """Take the hook out; doing it twice is harmless."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()
