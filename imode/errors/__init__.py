"""The errors of imode, by theme: functions that return the exception to raise.

`raise errors.views.leaf(...)`: here are all messages longer than a line, and those that are raised
at several points of the code. Other messages are where they are raised.

The first sentence of each message is PyTorch's, so that a search finds the same answers and code
that matches on it keeps working. The following lines name the culprit (operator, file, line,
versions) and end with the ways out of this case. No message is longer than five lines.

Nothing here runs unless something went wrong, so clarity is more important than speed. A theme is
imported by its first error. Every layer may raise from here, so of the package only `_core` is
imported.
"""

import atexit
import sys

from imode._core.importing import import_late

THEMES = {
    "arguments": "calls whose arguments do not fit: missing, unexpected, of a wrong type",
    "dtypes": "dtypes that an operator does not take, or that do not go together",
    "inference": "inference tensors where only a normal one can be",
    "views": "writes in place: to views, to leaves, to memory that overlaps",
    "out": "out= and in-place results that cannot take what is computed",
    "numbers": "numbers that 64 bits or a dtype cannot hold, probabilities out of range",
    "shapes": "shapes, dimensions, sizes and indices that do not fit",
    "linalg": "matrices that are singular, indefinite or not square; factorizations that fail",
    "graph": "saved tensors, graphs that are run twice, tensors without history, .grad",
    "guards": "guards that are used wrongly, in the wrong thread or twice",
    "modes": "modes left out of order, and what their methods return",
    "devices": "devices without a backend, tensors of several, elements that do not exist",
    "sparse": "sparse tensors where only strided ones can be, coordinates that do not fit",
    "dispatcher": "kernels that are missing, local keys that cannot be",
    "library": "operators from outside: schemas, kernels, results, libraries that are closed",
    "missing": "names of PyTorch's that imode lacks",
}


_missing = None  # the module, once it is needed: hasattr() asks for it in loops


def _ending(look, *where):
    global _missing
    if _missing is None:
        _missing = import_late(".missing", __name__)
    return getattr(_missing, look)(*where)


def no_such_name(module, name):
    """A module has no attribute of a name that was looked up."""
    text = f"module {module!r} has no attribute {name!r}"
    return AttributeError(text if name[:1] == "_" else text + _ending("of_module", module, name))


def no_such_method(name):
    """A tensor has no attribute of a name that is PyTorch's."""
    more = _ending("of_tensor", name)
    return AttributeError(f"'Tensor' object has no attribute {name!r}{more}")


def names_of(module):
    """Return the `__getattr__` of a module that has all its names: it tells which are missing."""

    def __getattr__(name):
        raise no_such_name(module, name)

    return __getattr__


def no_attribute(cls, name):
    """An object of a class, by its name, has no attribute of a name that was looked up."""
    return AttributeError(f"{cls!r} object has no attribute {name!r}")


def __getattr__(name):
    if name in THEMES:
        return import_late(f".{name}", __name__)
    raise no_such_name(__name__, name)


def __dir__():
    return sorted({*globals(), *THEMES})


@atexit.register
def _import_all():
    """For errors in finalizers, which run when nothing can be imported any more."""
    for name in THEMES if "imode" in sys.modules else ():
        import_late(f".{name}", __name__)
