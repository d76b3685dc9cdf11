"""Samples of sparse tensors made and converted: those without one, which all suites can take.

What sparse tensors give is tested in test_sparse.py and conformance/test_sparse.py.
"""

from tests.samples import S, T

SAMPLES = {
    "sparse_coo_tensor": [
        S([[0, 1]], [3.0], (2,), raises=RuntimeError),
        S([[0, -1]], [3.0, 4.0], raises=RuntimeError),
        S([[0, 1]], [3.0, 4.0], (2, 3), raises=RuntimeError),
    ],
    "coalesce": [S(T(2, 3), raises=RuntimeError)],
    "values": [S(T(2, 3), raises=RuntimeError)],
    "indices": [S(T(2, 3), raises=RuntimeError)],
    "to_dense": [S(T(2, 3), variants=False), S(T(2, 3, dtype="int64"))],
    "to_sparse": [S(T(2, 3), 3, raises=RuntimeError), S(T(2, 3), 0, raises=RuntimeError)],
    "sparse_mask": [S(T(2, 3), T(2, 3), raises=NotImplementedError)],
    "sparse_resize_": [S(T(2, 3), (3, 4), 2, 0, raises=NotImplementedError)],
    "sparse_resize_and_clear_": [S(T(2, 3), (3, 4), 2, 0, raises=NotImplementedError)],
}
