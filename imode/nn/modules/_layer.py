"""Layer: the base of modules that are a function with options."""

from .module import Module

__all__ = ["Layer"]


class Layer(Module):
    """A module whose options are its attributes; `_shown` formats them for its repr."""

    _shown = ""

    def __init__(self, **options):
        super().__init__()
        for name, value in options.items():
            setattr(self, name, value)

    def extra_repr(self):
        return self._shown.format_map(vars(self))
