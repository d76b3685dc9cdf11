"""Search, membership, counts."""

from tests.samples import S, T
from tests.samples.sorting.sort import INTS, NAN

ROWS = T(values=[[3, 1], [1, 2], [3, 1]], dtype="int64")
EDGES = T(values=[1.0, 3.0, 5.0], requires_grad=False)

SAMPLES = {
    "searchsorted.Tensor": [
        S(EDGES, T(2, 3, low=0, high=6, requires_grad=False)),
        S(EDGES, EDGES, right=True),
        S(EDGES, EDGES, side="left", out_int32=True),
        S(ROWS, T(3, 2, dtype="int64", low=0, high=4)),
        S(T(values=[5, 1, 3], dtype="int64"), INTS, sorter=T(values=[1, 2, 0], dtype="int64")),
        S(EDGES, T(values=NAN, requires_grad=False)),
        S(EDGES, T(2, 0, requires_grad=False)),
        S(EDGES, EDGES, side="middle", raises=RuntimeError),
        S(EDGES, EDGES, side="left", right=True, raises=RuntimeError),
        S(T(requires_grad=False), EDGES, raises=RuntimeError),
        S(T(2, 3, requires_grad=False), EDGES, raises=RuntimeError),
        S(EDGES, EDGES, sorter=T(values=[0, 1], dtype="int64"), raises=RuntimeError),
        S(EDGES, EDGES, sorter=T(values=[0, 1, 9], dtype="int64"), raises=RuntimeError),
    ],
    "searchsorted.Scalar": [
        S(EDGES, 3.0),
        S(EDGES, 3, right=True),
        S(T(values=[1, 3], dtype="int64"), 2),
        S(T(2, 3, requires_grad=False), 1.0, raises=RuntimeError),
    ],
    "bucketize.Tensor": [
        S(T(2, 3, low=0, high=6, requires_grad=False), EDGES),
        S(EDGES, EDGES, right=True, out_int32=True),
        S(INTS, T(values=[1, 3], dtype="int64")),
        S(EDGES, T(2, 3, requires_grad=False), raises=RuntimeError),
    ],
    "bucketize.Scalar": [S(3.0, EDGES), S(3, EDGES, right=True)],
    "isin.Tensor_Tensor": [
        S(INTS, T(values=[1, 7], dtype="int64")),
        S(ROWS, T(values=[1], dtype="int64"), invert=True),
        S(T(values=[1.0, NAN], requires_grad=False), T(values=[NAN, 1.0], requires_grad=False)),
        S(INTS, T(0, dtype="int64")),
    ],
    "isin.Tensor_Scalar": [S(INTS, 3), S(ROWS, 3, invert=True)],
    "isin.Scalar_Tensor": [S(3, INTS), S(7, INTS, invert=True)],
    "bincount": [
        S(INTS),
        S(INTS, minlength=7),
        S(INTS, T(5, requires_grad=False)),
        S(INTS, T(5, dtype="float64", requires_grad=False), 2),
        S(INTS, weights=T(5, dtype="int64")),
        S(T(0, dtype="int64")),
        S(T(values=[0, 2], dtype="uint8")),
        S(T(values=[-1], dtype="int64"), raises=RuntimeError),
        S(ROWS, raises=RuntimeError),
        S(T(3), raises=NotImplementedError, grad=False),
        S(INTS, minlength=-1, raises=RuntimeError),
        S(INTS, T(2, requires_grad=False), raises=RuntimeError),
    ],
}
