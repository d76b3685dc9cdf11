"""Samples of `imode/ops/sort.py`: order, distinct values, search, counts."""

from tests.samples import S, T

NAN = float("nan")
INTS = T(values=[3, 1, 2, 1, 3], dtype="int64")
ROWS = T(values=[[3, 1], [1, 2], [3, 1]], dtype="int64")
EDGES = T(values=[1.0, 3.0, 5.0], requires_grad=False)
MIXED = T(values=[1.0, NAN, -2.0, float("inf"), 0.0])


def _unique_dim(x, dim):
    import torch

    return torch.ops.aten.unique_dim(x, dim)


SORT = [
    S(T(3, 4, distinct=True)),
    S(T(3, 4, distinct=True), 0, True),
    S(T(3, 4, distinct=True), dim=-2),
    S(T(3, 4, distinct=True, view="transposed"), 0),
    S(INTS),
    S(INTS, descending=True),
    S(MIXED, grad=False),
    S(MIXED, descending=True, grad=False),
    S(T(3, dtype="bool")),
    S(T(4, dtype="float16", distinct=True)),
    S(T()),
    S(T(2, 0)),
    S(T(3), 1, raises=IndexError),
    S(T(3, dtype="complex64"), raises=RuntimeError, grad=False),
]
TOPK = [
    S(T(3, 5, distinct=True), 2),
    S(T(3, 5, distinct=True), 2, 0),
    S(T(3, 5, distinct=True), 3, largest=False),
    S(T(3, 5, distinct=True, view="transposed"), 1, -1),
    S(T(400, distinct=True), 7),
    S(T(400, distinct=True), 7, largest=False),
    S(T(2, 300, distinct=True), k=3, dim=1),
    S(MIXED, 2, grad=False),
    S(MIXED, 2, largest=False, grad=False),
    S(T(values=[3, 1, 2], dtype="int64"), 3),
    S(T(), 1),
    S(T(3), 0),
    S(T(3), 4, raises=RuntimeError),
    S(T(3), -1, raises=RuntimeError),
    S(T(3), 1, 1, raises=IndexError),
    S(T(3, dtype="bool"), 1, raises=RuntimeError),
]

SAMPLES = {
    "sort": SORT,
    "sort.stable": [
        S(T(3, 4, distinct=True), stable=True),
        S(INTS, stable=True, dim=0, descending=True),
        S(T(values=[2.0, 1.0, 2.0, 1.0]), stable=True, grad=False),
    ],
    "msort": [S(T(3, 2, distinct=True)), S(INTS)],
    "argsort": [
        S(T(3, 4, distinct=True)),
        S(T(3, 4, distinct=True), 0, True),
        S(T(values=[3, 1, 2], dtype="int64"), dim=0),
        S(T(3), 1, raises=IndexError),
    ],
    "argsort.stable": [S(INTS, stable=True), S(INTS, stable=True, descending=True)],
    "topk": TOPK,
    "kthvalue": [
        S(T(3, 5, distinct=True), 2),
        S(T(3, 5, distinct=True), 2, 0),
        S(T(3, 5, distinct=True), k=1, dim=1, keepdim=True),
        S(T(values=[1.0, NAN]), 2, grad=False),
        S(T(), 1),
        S(T(3), 0, raises=RuntimeError),
        S(T(3), 4, raises=RuntimeError),
        S(T(3, 0), 1, raises=IndexError),
    ],
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
    "unique_dim": [
        S(ROWS, 0, torch=_unique_dim),
    ],
    "unique_consecutive": [
        S(T(values=[1, 1, 2, 1], dtype="int64")),
        S(T(values=[1, 1, 2, 1], dtype="int64"), return_inverse=True, return_counts=True),
        S(T(values=[[1, 1], [1, 1], [2, 1]], dtype="int64"), dim=0, return_counts=True),
        S(T(values=[[1, 1], [2, 2]], dtype="int64"), return_inverse=True),
        S(T(0), grad=False),
        S(T(values=2.0), grad=False),
    ],
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
    "histc": [
        S(T(50), 7, grad=False),
        S(T(5, 4), 4, -1, 1, grad=False),
        S(T(50, dtype="float64"), bins=10, min=-1.5, max=2, grad=False),
        S(T(values=[1.0, 1.0]), 3, grad=False),
        S(T(0), 3, grad=False),
        S(T(values=[0.5, NAN]), 4, 0, 2, grad=False),
        S(T(3), 0, raises=RuntimeError, grad=False),
        S(T(3), 4, 3, 1, raises=RuntimeError, grad=False),
        S(INTS, raises=NotImplementedError),
        S(T(values=[float("inf")]), raises=RuntimeError, grad=False),
    ],
}
