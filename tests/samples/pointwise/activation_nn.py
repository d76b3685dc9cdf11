"""Gates."""

from tests.samples import S, T
from tests.samples.pointwise.activation import REFUSED, VALUES, functional

SAMPLES = {
    "glu": functional(
        [
            S(T(4, 6, low=-2, high=2)),
            S(T(4, 6, low=-2, high=2), 0),
            S(T(6, 4, view="transposed"), dim=-2),
            S(T(2, 4, dtype="float64")),
            S(T(8, dtype="float16"), grad=False),
            S(T(values=VALUES), grad=False),
            S(T(0, 4)),
            S(T(), raises=RuntimeError),
            S(T(3), raises=RuntimeError),
            S(T(2), 1, raises=IndexError),
            S(T(2, dtype="int64"), raises=REFUSED),
            S(T(2, dtype="complex64"), raises=REFUSED),
        ]
    ),
}
