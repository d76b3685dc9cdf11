"""Distinct values."""

from tests.samples import S, T
from tests.samples.sorting.search import ROWS
from tests.samples.sorting.sort import INTS, NAN

SAMPLES = {
    "unique": [
        S(INTS),
        S(INTS, return_inverse=True, return_counts=True),
        S(INTS, True, False, True),
        S(ROWS, return_inverse=True),
        S(ROWS, dim=0, return_inverse=True, return_counts=True),
        S(ROWS, dim=1),
        S(T(values=[NAN, 1.0, NAN]), return_counts=True, grad=False),
        S(T(values=[True, False, True], dtype="bool")),
        S(T(values=2.0), return_inverse=True, return_counts=True, grad=False),
        S(T(0), return_inverse=True, grad=False),
        S(INTS, dim=1, raises=IndexError),
        S(T(0, 3), dim=1, raises=RuntimeError, grad=False),
        S(T(2, dtype="complex64"), raises=NotImplementedError, grad=False),
    ],
    "unique_consecutive": [
        S(T(values=[1, 1, 2, 1], dtype="int64")),
        S(T(values=[1, 1, 2, 1], dtype="int64"), return_inverse=True, return_counts=True),
        S(T(values=[[1, 1], [1, 1], [2, 1]], dtype="int64"), dim=0, return_counts=True),
        S(T(values=[[1, 1], [2, 2]], dtype="int64"), return_inverse=True),
        S(T(0), grad=False),
        S(T(values=2.0), grad=False),
    ],
}
