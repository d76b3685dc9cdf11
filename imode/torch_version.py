"""Versions that compare as versions do, not as texts."""

import re

from imode import __version__ as internal_version
from imode.errors import names_of as _names_of

__all__ = ["TorchVersion"]


def _key(version):
    """The numbers of a version, and where it comes before or after a release of these."""
    parts = version if isinstance(version, (tuple, list)) else str(version).partition("+")[0]
    if isinstance(parts, str):
        found = re.fullmatch(r"v?(\d+(?:\.\d+)*)[-_.]?(a|b|rc|dev|post)?\D*(\d*)", parts)
        if found is None:
            raise ValueError(version)
        numbers, phase, count = found.groups()
        parts = numbers.split(".")
    else:
        phase, count = None, ""
    numbers = [int(part) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    order = {"dev": -4, "a": -3, "b": -2, "rc": -1, None: 0, "post": 1}[phase]
    local = str(version).partition("+")[2] if isinstance(version, str) else ""
    return numbers, order, int(count or 0), local


class TorchVersion(str):
    """A version as text, which compares with others, and with tuples, number by number.

    >>> from imode.torch_version import TorchVersion
    >>> TorchVersion("2.13.0+cpu") > "2.2", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def _compare(self, other, compare):
        try:
            return compare(_key(str(self)), _key(other))
        except (ValueError, TypeError):  # no version: as texts
            return compare(str(self), str(other))

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def __eq__(self, other):
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


__version__ = TorchVersion(internal_version)

__getattr__ = _names_of(__name__)
