"""Names for annotations of what layers take: one number, or one for each dimension."""

from typing import Optional, TypeAlias, TypeVar

from imode import Tensor
from imode.errors import names_of as _names_of

_T = TypeVar("_T")
_scalar_or_tuple_any_t: TypeAlias = _T | tuple[_T, ...]
_scalar_or_tuple_1_t: TypeAlias = _T | tuple[_T]
_scalar_or_tuple_2_t: TypeAlias = _T | tuple[_T, _T]
_scalar_or_tuple_3_t: TypeAlias = _T | tuple[_T, _T, _T]
_scalar_or_tuple_4_t: TypeAlias = _T | tuple[_T, _T, _T, _T]
_scalar_or_tuple_5_t: TypeAlias = _T | tuple[_T, _T, _T, _T, _T]
_scalar_or_tuple_6_t: TypeAlias = _T | tuple[_T, _T, _T, _T, _T, _T]

_size_any_t: TypeAlias = _scalar_or_tuple_any_t[int]
_size_1_t: TypeAlias = _scalar_or_tuple_1_t[int]
_size_2_t: TypeAlias = _scalar_or_tuple_2_t[int]
_size_3_t: TypeAlias = _scalar_or_tuple_3_t[int]
_size_4_t: TypeAlias = _scalar_or_tuple_4_t[int]
_size_5_t: TypeAlias = _scalar_or_tuple_5_t[int]
_size_6_t: TypeAlias = _scalar_or_tuple_6_t[int]

_size_any_opt_t: TypeAlias = _scalar_or_tuple_any_t[Optional[int]]  # noqa: UP045, as it is printed
_size_2_opt_t: TypeAlias = _scalar_or_tuple_2_t[Optional[int]]  # noqa: UP045
_size_3_opt_t: TypeAlias = _scalar_or_tuple_3_t[Optional[int]]  # noqa: UP045

_ratio_any_t: TypeAlias = _scalar_or_tuple_any_t[float]
_ratio_2_t: TypeAlias = _scalar_or_tuple_2_t[float]
_ratio_3_t: TypeAlias = _scalar_or_tuple_3_t[float]

_tensor_list_t: TypeAlias = Tensor | list[Tensor]
_maybe_indices_t: TypeAlias = _scalar_or_tuple_2_t[Tensor]

__getattr__ = _names_of(__name__)
