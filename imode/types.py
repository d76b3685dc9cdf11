"""Names for annotations."""

import builtins
import os
from collections.abc import Sequence
from typing import IO, TypeAlias, Union

from imode import Size, Tensor, UntypedStorage, device, dtype, layout
from imode.errors import names_of as _names_of

__all__ = ["Device", "FileLike", "Number", "Storage"]

_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_dtype, _device, _layout = dtype, device, layout
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_Number = (int, float, bool)
Number: TypeAlias = int | float | bool
Device: TypeAlias = Union[device, str, int, None]  # noqa: UP007, a class in Cython
FileLike: TypeAlias = Union[str, os.PathLike[str], IO[bytes]]  # noqa: UP007, as PyTorch prints it
Storage: TypeAlias = UntypedStorage

__getattr__ = _names_of(__name__)
