"""How messages name dtypes (by a word or the C++ type) and classes, and show values."""

from imode._core import library_name
from imode._core.dtype import names_of


def scalar_name(dtype):
    """The word for a dtype, imode's or NumPy's: float32 is Float."""
    return names_of(dtype)[0]


def c_name(dtype):
    """The C++ type of a dtype, imode's or NumPy's: int64 is long int."""
    return names_of(dtype)[1]


def tensor_type(dtype):
    """The type of a tensor of a dtype, imode's or NumPy's: float32 is torch.FloatTensor."""
    name = scalar_name(dtype)
    odd = name in ("Bool", "BFloat16") or "Complex" in name
    return f"CPU{name}Type" if odd else f"torch.{name}Tensor"


_QUALIFIED = ("Size", "device", "dtype", "layout", "memory_format")
_IMMUTABLE = 1 << 8  # a flag of classes implemented in C


def class_name(value):
    """Return the name of a value's class as PyTorch's messages have it."""
    return name_of(type(value))


def name_of(cls):
    """The name of a class; with its module for imode's classes and those implemented in C."""
    name, module = cls.__name__, str(cls.__module__)
    if module.partition(".")[0] in ("imode", library_name.name):
        return f"{library_name.name}.{name}" if name in _QUALIFIED else name
    return f"{module}.{name}" if cls.__flags__ & _IMMUTABLE and module != "builtins" else name


def shown(value):
    """The repr of a value, in at most 80 characters, even if its __repr__ raises."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return object.__repr__(value)
