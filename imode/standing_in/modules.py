"""The modules that `import torch` gives: imode's, under PyTorch's names."""

import functools
import importlib
import sys
import types
import typing

from imode import dtype
from imode._core.overriding import disabled
from imode._tensor.subclass import SubclassedMeta
from imode.errors import no_such_name
from imode.errors.pytorch import MODULES, NAMES, OPEN_MODULES
from imode.standing_in import VERSION
from imode.standing_in.missing import missing

_KNOWN = frozenset(MODULES.split())
_OPEN = frozenset(OPEN_MODULES.split())
# Programs ask these for a name before they use it, since PyTorch is built without them, too.
_OPTIONAL = frozenset(["torch.distributed.rpc"])
# Whose private names stand in which other files of the same folder.
_FILES = {
    "nn.modules.batchnorm": ("norm", "lazy"),
    "nn.modules.container": ("module",),
    "nn.modules.conv": ("lazy",),
    "nn.modules.module": ("_state",),
    "nn.modules.pooling": ("unpooling",),
}
_dict_of = types.ModuleType.__dict__["__dict__"].__get__  # a module's, as it is
# What may be kept in a module once it was looked up: it does not change.
_FIXED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, dtype)


def is_known(path):
    """Whether torch has a module: `path` without `torch.`."""
    return path in _KNOWN or path.partition(".")[0] in _OPEN or _find(path) is not None


@functools.cache
def _find(path):
    """Return imode's module of a name, None if there is none."""
    try:
        return importlib.import_module(f"imode.{path}" if path else "imode")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("imode"):
            raise
        return None


class Module(types.ModuleType):
    """A module of PyTorch's name, whose attributes are those of imode's module.

    What stands in another file here is found in the package around it: `nn.modules.batchnorm`'s
    classes are `nn`'s.
    """

    @property
    def __dict__(self):
        """The names, with all that imode's module lists, for programs that go through them."""
        for name in getattr(self, "__all__", ()):
            getattr(self, name)
        return _dict_of(self)

    def __init__(self, name):
        super().__init__(name)
        path = name.partition(".")[2]
        own = _find(path)
        folder = path.rpartition(".")[0]
        around = [_find(f"{folder}.{file}") for file in _FILES.get(path, ())]
        while "." in path and (own is None or "." in folder):
            path = path.rpartition(".")[0]
            if (found := _find(path)) is not None:
                around.append(found)
                break
        _dict_of(self).update(
            _own=own,
            _around=around,
            __path__=[],
            __doc__=None if own is None else own.__doc__,
        )
        if own is not None and hasattr(own, "__all__"):
            self.__all__ = list(own.__all__)
        _dict_of(self).update(_REPLACED.get(name, {}))
        if name == "torch":
            self.torch = self  # PyTorch's module imports itself, and some write torch.torch

    def __getattr__(self, name):
        value = self._look_up(name)
        if isinstance(value, types.ModuleType) and value.__name__.startswith("imode"):
            value = module_of(f"{self.__name__}.{name}")
        if isinstance(value, _FIXED):
            _dict_of(self)[name] = value
        return value

    def _look_up(self, name):
        own, around = _dict_of(self).get("_own"), _dict_of(self).get("_around", ())
        for module in (own, *around):
            if module is not None and hasattr(module, name):
                return getattr(module, name)
        if self.__name__ in _OPTIONAL:
            raise no_such_name(self.__name__, name)
        path = f"{self.__name__}.{name}"
        if path.partition(".")[2] in _KNOWN or path in _REPLACED:
            return module_of(path)
        space = self.__name__.partition(".")[2]
        theirs = space not in NAMES or name in NAMES[space].split()
        if not theirs or name[:2] == "__":
            raise no_such_name(self.__name__, name)
        return missing(self.__name__, name)

    def __setattr__(self, name, value):
        own = _dict_of(self).get("_own")
        if isinstance(value, Module) and callable(_dict_of(own or self).get(name)):
            return  # `import torch.multiprocessing.spawn`: the function of this name stays
        super().__setattr__(name, value)
        if own is not None and name[:2] != "__" and not isinstance(value, Module):
            setattr(own, name, value)  # torch.backends.cudnn.benchmark = True

    def is_there(self):
        """Whether imode has the module, the package around it, or names for it."""
        held = _dict_of(self)
        return bool(held["_own"] or held["_around"] or self.__name__ in _REPLACED)

    def __dir__(self):
        return sorted({*_dict_of(self), *(() if self._own is None else dir(self._own))})


def _save(obj, f, *args, **kwargs):
    """`imode.save`, in PyTorch's format unless the file's name ends in .safetensors."""
    import imode

    if not str(f).endswith(".safetensors"):
        kwargs.setdefault("format", "pytorch")
    return imode.save(obj, f, *args, **kwargs)


def _load_library(path):
    """Raise OSError, as PyTorch does for what cannot be loaded: a library needs PyTorch's C++.

    Packages that have compiled parts do without them then.
    """
    raise OSError(f"Could not load this library: {path}")


def _parse_to(*args, device=None, dtype=None, non_blocking=False, memory_format=None, **like):
    """Return what the arguments of `Module.to` name: device, dtype, non_blocking, memory format."""
    import imode

    args = [*args, *like.values()]  # tensor= or other=
    if args and isinstance(args[0], imode.Tensor):
        tensor = args.pop(0)
        device, dtype = tensor.device, tensor.dtype
    elif args and not isinstance(args[0], imode.dtype):
        device = args.pop(0)
    if args and (args[0] is None or isinstance(args[0], imode.dtype)):
        dtype = args.pop(0)
    if args:
        non_blocking = args.pop(0)
    device = None if device is None else imode.device(device)
    return device, dtype, bool(non_blocking), memory_format


class _Version(str):
    """A version, which can be compared with another's text."""

    __slots__ = ()

    def _parts(self):
        numbers = self.partition("+")[0].split(".")
        return tuple(int(n) if n.isdigit() else 0 for n in numbers[:3])

    def __lt__(self, other):
        return self._parts() < _Version(other)._parts()

    def __le__(self, other):
        return self._parts() <= _Version(other)._parts()

    def __gt__(self, other):
        return self._parts() > _Version(other)._parts()

    def __ge__(self, other):
        return self._parts() >= _Version(other)._parts()


def _get_tracing_state():
    """Return None: nothing is traced."""


def _is_tracing():
    """Return False: nothing is traced."""
    return False


def _log_api_usage_once(event):
    """Do nothing: what is used is not counted."""


_made = {}
_REPLACED = {
    "torch": {"__version__": _Version(f"{VERSION}+cpu"), "save": _save},
    "torch._C": {
        "_TensorMeta": SubclassedMeta,
        "_disabled_torch_function_impl": disabled,
        "_get_tracing_state": _get_tracing_state,
        "_is_tracing": _is_tracing,
        "_log_api_usage_once": _log_api_usage_once,
    },
    "torch._C._nn": {"_parse_to": _parse_to},
    "torch.ops": {"load_library": _load_library},
    "torch.serialization": {
        "save": _save,
        "DEFAULT_PROTOCOL": 2,
        "FILE_LIKE": typing.Any,
        "MAP_LOCATION": typing.Any,
        "FileLike": typing.Any,
    },
    "torch.version": {"__version__": _Version(f"{VERSION}+cpu"), "cuda": None, "hip": None},
}


def module_of(name):
    """Return the module of a name, the same one each time; where they stand in, it is imported."""
    found = sys.modules.get(name) or _made.get(name)
    if found is None:
        found = _made[name] = Module(name)
    if "torch" in sys.modules:
        sys.modules.setdefault(name, found)
    return found
