"""Samples of norms and distances."""

from tests.samples import D, S, T

INF = float("inf")


def _vector_norm(*args, **kwargs):
    import torch

    return torch.linalg.vector_norm(*args, **kwargs)


def _matrix_norm(*args, **kwargs):
    import torch

    return torch.linalg.matrix_norm(*args, **kwargs)


def _norm(*args, **kwargs):
    import torch

    return torch.linalg.norm(*args, **kwargs)


SAMPLES = {
    "linalg_vector_norm": [
        *(S(T(2, 3), ord, torch=_vector_norm) for ord in (2, 1, 0, 3, 0.5, 1.5, INF, -INF, -1)),
        S(T(2, 3), torch=_vector_norm),
        S(T(), torch=_vector_norm),
        S(T(2, 3), 2, 0, torch=_vector_norm),
        S(T(2, 3), 1, dim=1, keepdim=True, torch=_vector_norm),
        S(T(2, 3, 4), 2, (0, 2), torch=_vector_norm),
        S(T(2, 3, 4, view="permuted"), 2, 1, torch=_vector_norm),
        S(T(40, 70), 2, 0, torch=_vector_norm),
        S(T(40, 70), 1, 1, torch=_vector_norm),
        S(T(values=[0.0, 0.0]), 2, torch=_vector_norm, smooth=False),
        S(T(values=[1e-30, 1e-30]), 2, torch=_vector_norm, grad=False),
        S(T(values=[1.0, INF, 2.0]), 2, torch=_vector_norm, grad=False),
        S(T(0), torch=_vector_norm),
        S(T(2, 3, dtype="float64"), 3, torch=_vector_norm),
        S(T(2, 3, dtype="complex64"), torch=_vector_norm),
        S(T(2, 3, dtype="float16"), torch=_vector_norm, grad=False),
        S(T(2, 3), dtype=D("float64"), torch=_vector_norm),
        S(T(0), INF, torch=_vector_norm, raises=RuntimeError),
        S(T(2, 3, dtype="int64"), torch=_vector_norm, raises=RuntimeError),
        S(T(2, 3), 2, 3, torch=_vector_norm, raises=IndexError),
        S(T(2, 3), dtype=D("int64"), torch=_vector_norm, raises=RuntimeError),
    ],
    "linalg_matrix_norm": [
        *(S(T(2, 3), ord, torch=_matrix_norm) for ord in (1, -1, INF, -INF)),
        S(T(4, 2, 3), 1, (0, 1), True, torch=_matrix_norm),
        S(T(4, 2, 3), INF, (2, 0), torch=_matrix_norm),
        *(S(T(2, 3, fixed=True), ord, torch=_matrix_norm) for ord in (2, -2)),
        S(T(4, 2, 3, fixed=True), 2, (0, 1), True, torch=_matrix_norm),
        S(T(2, 3, fixed=True), 2, dtype=D("float64"), torch=_matrix_norm),
        S(T(2, 3), 3, torch=_matrix_norm, raises=RuntimeError),
    ],
    "linalg_matrix_norm.str_ord": [
        S(T(2, 3), "fro", torch=_matrix_norm),
        S(T(4, 2, 3), torch=_matrix_norm),
        S(T(2, 3, fixed=True), "nuc", torch=_matrix_norm),
        S(T(4, 2, 3, fixed=True), "nuc", (2, 0), torch=_matrix_norm),
        S(T(2, 3, dtype="complex64", fixed=True), "nuc", torch=_matrix_norm),
        S(T(3), torch=_matrix_norm, raises=RuntimeError),
    ],
    "linalg_norm": [
        S(T(2, 3), torch=_norm),
        S(T(3), 3, torch=_norm),
        S(T(2, 3), 1, torch=_norm),
        S(T(2, 3), dim=1, torch=_norm),
        S(T(2, 3), INF, 0, True, torch=_norm),
        S(T(4, 2, 3), torch=_norm),
        S(T(4, 2, 3), 2, torch=_norm, raises=RuntimeError),
    ],
    "linalg_norm.ord_str": [S(T(2, 3), "fro", torch=_norm)],
    "norm": [
        *(S(T(2, 3), p) for p in ("fro", 2, 1, 0, 3, INF, -INF)),
        S(T(2, 3)),
        S(T()),
        S(T(2, 3), dim=0),
        S(T(2, 3), 2, 0, True),
        S(T(2, 3), p=2, dim=(0, 1)),
        S(T(2, 3), "fro", dim=(0, 1)),
        S(T(2, 3), dtype=D("float64")),
        S(T(2, 3, dtype="complex64")),
        S(T(2, 3, dtype="int64"), raises=RuntimeError),
        S(T(2, 3), 2, 3, raises=IndexError),
    ],
    "dist": [
        S(T(2, 3), T(2, 3, low=-1)),
        S(T(2, 3), T(3), 1),
        S(T(2, 3), T(2, 3, low=-1), 3),
        S(T(2, 3), T(2, 3, low=-1), p=INF),
        S(T(2, 3, dtype="float64"), T(2, 3, dtype="float64", low=0), 0.5),
    ],
    "cdist": [
        S(T(2, 3), T(4, 3)),
        S(T(2, 3), T(4, 3), 1),
        S(T(2, 3), T(4, 3), 2.0, "use_mm_for_euclid_dist"),
        S(T(5, 2, 3), T(5, 4, 3), p=3.0),
        S(T(2, 3, dtype="float64"), T(4, 3, dtype="float64"), INF),
        S(T(2, 3), T(4, 4), raises=RuntimeError),
        S(T(3), T(4, 3), raises=RuntimeError),
    ],
    "renorm": [
        S(T(3, 4), 2, 0, 1.0),
        S(T(3, 4), 2, -1, 2.0),
        S(T(2, 3, 4), 1, 1, 3),
        S(T(3, 4, view="transposed"), 3.0, 0, 1.0),
        S(T(3, 4, distinct=True), INF, 0, 1.0),
        S(T(3, 4), 2, 0, 100),
        S(T(3, 4, dtype="float16"), 2, 0, 1.0, grad=False),
        S(T(0, 4), 2, 1, 1.0),
        S(T(3), 2, 0, 1.0, raises=RuntimeError),
        S(T(3, 4), 0, 0, 1.0, raises=RuntimeError),
        S(T(3, 4), 2, 0, -1.0, raises=RuntimeError),
        S(T(3, 4, dtype="int64"), 2, 0, 1.0, raises=RuntimeError),
        S(T(3, 4), 2, 2, 1.0, raises=IndexError),
    ],
}
