"""Names that are PyTorch's and not imode's: what the sentence about them goes on with.

The list of PyTorch's names is imported by the first name that is not found, and what was said is
kept: `hasattr` in a loop costs a lookup.
"""

import sys

NOT_HERE = "{} is not in imode"
PAGE = "What is there, and what is not: docs/coverage.md"
_names = {}  # namespace -> its names in PyTorch
_said = {}  # (namespace, name) -> the end of its sentence; at most one for each name of PyTorch's


def ending(space, name, there):
    """Return what follows "has no attribute": nothing where PyTorch has no such name either.

    `space`: as in `torch.<space>`, "" for torch itself. `there`: a function that returns the names
    that there are.
    """
    if not _names:
        from .pytorch import NAMES

        _names.update((space, frozenset(names.split())) for space, names in NAMES.items())
    if name not in _names.get(space, ()):
        return ""
    if (space, name) not in _said:
        from difflib import get_close_matches

        public = [other for other in there() if not other.startswith("_")]
        nearest = get_close_matches(name, public, n=3, cutoff=0.7)
        path = ".".join(filter(None, ("torch", space, name)))
        _said[space, name] = (
            f": {NOT_HERE.format(path)}\n"
            + (f"Nearest: {', '.join(nearest)}. " if nearest else "")
            + PAGE
        )
    return _said[space, name]


def of_tensor(name):
    """Return the end of the sentence about a public name that tensors lack."""
    return ending("Tensor", name, lambda: dir(sys.modules["imode"].Tensor))


def of_module(module, name):
    """Return the end of the sentence about a public name that a module lacks."""
    if not module.startswith("imode"):
        return ""
    return ending(module[6:], name, lambda: dir(sys.modules[module]))
