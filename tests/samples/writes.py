"""Samples of the writes that other operators are made of: copy_, fill_, zero_, resize_, set_."""

from tests.samples import S, Storage, T

SAMPLES = {
    "copy_": [
        S(T(2, 3), T(2, 3)),
        S(T(2, 3), T(3)),
        S(T(2, 3), T()),
        S(T(2, 3, view="transposed"), T(2, 3)),
        S(T(2, 3), T(2, 3, view="transposed")),
        S(T(2, 3, dtype="float64"), T(2, 3)),
        S(T(2, 3), T(2, 3, dtype="float16")),
        S(T(4, dtype="int64"), T(4)),
        S(T(4), T(4, dtype="bool")),
        S(T(4, dtype="bool"), T(values=[0.0, 1.5, -2.0, 0.0])),
        S(T(3, dtype="complex64"), T(3)),
        S(T(3, dtype="uint8"), T(3, dtype="int32", low=0, high=9)),
        S(T(0, 3), T(0, 3)),
        S(T(), T()),
        S(T(4, view="strided"), T(4), non_blocking=True),
        S(T(3), 2.5),
        S(T(2, 3), T(2), raises=RuntimeError),
        S(T(3), T(2, 3), raises=RuntimeError),
        S(T(2, 3, view="expanded", requires_grad=False), T(2, 3), raises=RuntimeError),
    ],
    "fill_.Scalar": [
        S(T(2, 3), 1.5),
        S(T(2, 3, view="transposed"), -2),
        S(T(2, 3, dtype="int64"), 2.75),
        S(T(4, dtype="bool"), 3),
        S(T(3, dtype="complex64"), 1 + 2j),
        S(T(3), True),
        S(T(), 7),
        S(T(0), 7),
        S(T(3), float("nan"), grad=False),
        S(T(2, 3, view="expanded", requires_grad=False), 4.0),
        S(T(3, dtype="int64"), 1j, raises=RuntimeError),
    ],
    "fill_.Tensor": [
        S(T(2, 3), T()),
        S(T(2, 3), T(dtype="int64")),
        S(T(2, 3), T(1), raises=RuntimeError),
    ],
    "zero_": [
        S(T(2, 3)),
        S(T(2, 3, view="strided")),
        S(T(3, dtype="int64")),
        S(T(3, dtype="complex128")),
        S(T(0)),
        S(T()),
        S(T(2, 3, view="expanded", requires_grad=False)),
    ],
    "resize_": [
        S(T(2, 3), (3, 2), grad=False),
        S(T(2, 3), (2,), grad=False),
        S(T(2, 3), (1, 2, 3), grad=False),
        S(T(2, 3), (0,), grad=False),
    ],
    "resize_as_": [
        S(T(2, 3), T(3, 2), grad=False),
        S(T(2, 3), T(1, 2, 2), grad=False),
    ],
    "set_": [S(T(2, 3), grad=False)],
    "set_.source_Tensor": [
        S(T(2, 3), T(4), grad=False),
        S(T(2, 3), T(3, 2, view="transposed"), grad=False),
        S(T(2, 3), T(4, dtype="float64"), grad=False, raises=RuntimeError),
    ],
    # What PyTorch refuses too: where it makes the memory larger, ours says that it is too small.
    "set_.source_Tensor_storage_offset": [
        S(T(2, 3), T(4), -1, (2,), grad=False, raises=RuntimeError),
        S(T(2, 3), T(4), 0, (2,), (1, 1), grad=False, raises=RuntimeError),
    ],
    "set_.source_Storage": [S(T(2, 3), Storage(T(4)), grad=False)],
    "set_.source_Storage_storage_offset": [
        S(T(2, 3), Storage(T(4)), -1, (2,), grad=False, raises=RuntimeError),
        S(T(2, 3), Storage(T(4)), 0, (2,), (1, 1), grad=False, raises=RuntimeError),
    ],
}
