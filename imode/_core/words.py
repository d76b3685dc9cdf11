"""How messages name and show things: dtypes by a word and by the C++ type, classes, values."""

WORDS = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
C_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def scalar_name(dtype):
    """The word for a dtype, imode's or NumPy's: float32 is Float."""
    return WORDS.get(dtype.name, dtype.name)


def c_name(dtype):
    """The C++ type of a dtype, imode's or NumPy's: int64 is long int."""
    return C_NAMES.get(dtype.name, dtype.name)


def tensor_type(dtype):
    """The type of a tensor of a dtype, imode's or NumPy's: float32 is torch.FloatTensor."""
    name = scalar_name(dtype)
    return f"CPU{name}Type" if name == "Bool" or "Complex" in name else f"torch.{name}Tensor"


_QUALIFIED = ("Size", "device", "dtype", "layout", "memory_format")


def class_name(value):
    """Return the name of a value's class as PyTorch's messages have it."""
    cls = type(value)
    if cls.__module__ == "numpy":
        return f"numpy.{cls.__name__}"
    return f"imode.{cls.__name__}" if cls.__name__ in _QUALIFIED else cls.__name__


def shown(value):
    """What a value looks like, in 80 characters, even if it does not want to be looked at."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return object.__repr__(value)


def not_implemented(kernel, dtype):
    """The error of a kernel, by PyTorch's name of it, that has no loop for a dtype."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")
