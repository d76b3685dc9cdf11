"""Models that a folder offers: the functions of its `hubconf.py`. Nothing is downloaded."""

import importlib.util
import os
import sys

from imode.errors import names_of as _names_of

__all__ = ["get_dir", "help", "list", "load", "set_dir"]

_dir = None


def get_dir():
    """Return the folder that `set_dir` named, else `$TORCH_HOME/hub` or `~/.cache/torch/hub`."""
    return _dir or os.path.join(_get_torch_home(), "hub")


def _get_torch_home():
    """Where PyTorch keeps what it downloads; other packages ask."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d):
    """Set what `get_dir` returns."""
    global _dir
    _dir = os.path.expanduser(d)


def _entries(folder, source):
    """Run the folder's `hubconf.py`; return its module."""
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise RuntimeError(
            f"imode.hub downloads nothing, so {folder!r} cannot be had from GitHub.\n"
            'Clone the repository and pass the folder with source="local".'
        )
    path = os.path.join(folder, "hubconf.py")
    with open(path):  # so that a missing file is named as such
        pass
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    missing = [
        name for name in getattr(module, "dependencies", ()) if not importlib.util.find_spec(name)
    ]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module, name):
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True):
    """Return the names of what `load` takes; `github` is a folder's path here."""
    module = _entries(github, "local" if os.path.isdir(github) else "github")
    return [name for name in dir(module) if callable(getattr(module, name)) and name[0] != "_"]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None):
    """Return the docstring of an entry; `github` is a folder's path here."""
    module = _entries(github, "local" if os.path.isdir(github) else "github")
    return _entry(module, model).__doc__


def load(
    repo_or_dir,
    model,
    *args,
    source="github",
    trust_repo=None,
    force_reload=False,
    verbose=True,
    skip_validation=False,
    **kwargs,
):
    """Return what the function `model` of the folder's `hubconf.py` returns for the arguments.

    Only `source="local"`: RuntimeError for "github", ValueError for others, FileNotFoundError where
    the folder has no such file. The file is run: it can do whatever a program can.
    """
    return _entry(_entries(repo_or_dir, source), model)(*args, **kwargs)


__getattr__ = _names_of(__name__)
