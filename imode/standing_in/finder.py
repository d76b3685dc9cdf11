"""Answers to Python's questions about torch: imports, where it is, which version."""

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys

from imode.standing_in import VERSION, children
from imode.standing_in.modules import Module, is_known, module_of

_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {VERSION}
Summary: imode, which stands in for it
"""


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` says of torch."""

    def read_text(self, filename):
        return _METADATA if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path):
        raise FileNotFoundError(f"{path}: imode stands in for torch, which has no files")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads `torch` and what is below it."""

    def find_spec(self, fullname, path=None, target=None):
        top, _, rest = fullname.partition(".")
        if top != "torch" or (rest and not is_known(rest)):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="imode", is_package=True)

    def create_module(self, spec):
        return module_of(spec.name)

    def exec_module(self, module):
        """Nothing: the module is made."""

    def find_distributions(self, context=None):
        name = getattr(context, "name", None)
        if name is None or name.lower() == "torch":
            yield _Distribution()


_finder = _Finder()


def is_ours(found):
    """Whether a module is one of those that stand in."""
    return isinstance(found, Module)


def install():
    """Answer from now on, and in the processes that multiprocessing starts."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        children.install()
