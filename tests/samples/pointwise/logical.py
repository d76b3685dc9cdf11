"""Samples of logical and bitwise operators."""

from tests.samples import S, T

from .compare import BOOL, LONG, VALUES, test


def logical():
    return [
        S(T(2, 3), T(3)),
        S(T(2, 3, dtype=BOOL), T(2, 3, dtype=BOOL)),
        S(T(values=VALUES), T(6, dtype=LONG, low=0, high=1)),
        S(T(2, 3, dtype="complex64"), T(3)),
        S(T(), T(0, 3)),
        S(T(2, 3, view="transposed"), T(2, 3)),
        S(T(2), T(3), raises=RuntimeError),
        S(T(2), 1, raises=TypeError, variants=False),
    ]


def bitwise(bools=True):
    samples = [
        S(T(2, 3, dtype=LONG, low=0, high=9), T(3, dtype=LONG, low=0, high=9)),
        S(T(2, 3, dtype="uint8", high=9), T(2, 3, dtype="uint8", high=5)),
        S(T(2, 3, dtype="int8", low=0), 3),
        S(T(2, 3, dtype="int32", low=-9, view="transposed"), T(2, 3, dtype="int16", low=0)),
        S(T(2, dtype=LONG, low=0), T(0, 2, dtype=LONG, low=0), variants=False),
        S(T(2), T(2), raises=NotImplementedError),
        S(T(2, dtype=LONG), 1.5, raises=NotImplementedError),
    ]
    if bools:
        samples.append(S(T(2, 3, dtype=BOOL), T(3, dtype=BOOL)))
        samples.append(S(T(2, 3, dtype=BOOL), True))
    else:
        samples.append(S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError))
    return samples


SAMPLES = {
    "logical_and": logical(),
    "logical_or": logical(),
    "logical_xor": logical(),
    "logical_not": test(),
    "bitwise_and": bitwise(),
    "bitwise_or": bitwise(),
    "bitwise_xor": bitwise(),
    "bitwise_left_shift": bitwise(False),
    "bitwise_right_shift": bitwise(False),
    "bitwise_and.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_or.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_xor.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_left_shift.Scalar_Tensor": [S(6, T(3, dtype=LONG, low=0))],
    "bitwise_right_shift.Scalar_Tensor": [S(6, T(3, dtype=LONG, low=0))],
    "bitwise_not": [
        S(T(2, 3, dtype=LONG)),
        S(T(2, 3, dtype="uint8", view="transposed")),
        S(T(3, dtype=BOOL)),
        S(T(0, dtype="int8")),
        S(T(2), raises=NotImplementedError),
    ],
}
