"""Samples of the composed products: matmul, linear, outer, inner, tensordot, kron."""

from tests.samples import S, T


def typed(dtype, *shapes):
    return [T(*shape, dtype=dtype) for shape in shapes]


def constant(*shape):
    return T(*shape, requires_grad=False)


def _multi_dot(tensors):
    import torch

    return torch.linalg.multi_dot(tensors)


SAMPLES = {
    "matmul": [
        S(T(3), T(3)),
        S(T(2, 3), T(3)),
        S(T(3), T(3, 4)),
        S(T(2, 3), T(3, 4)),
        S(T(5, 2, 3), T(3, 4)),
        S(T(5, 2, 3), T(3)),
        S(T(2, 3), T(5, 3, 4)),
        S(T(3), T(5, 3, 4)),
        S(T(5, 2, 3), T(5, 3, 4)),
        S(T(2, 5, 2, 3), T(5, 3, 4)),
        S(T(2, 5, 2, 3), T(3, 4)),
        S(T(2, 5, 2, 3), T(3)),
        S(T(1, 2, 3), T(5, 3, 4)),
        S(T(5, 2, 3), T(1, 3, 4)),
        S(T(1, 2, 3), T(1, 3, 4)),
        S(T(2, 5, 2, 3), T(2, 1, 3, 4)),
        S(constant(5, 2, 3), T(3, 4)),
        S(T(5, 2, 3), constant(3, 4)),
        S(constant(2, 3), T(5, 3, 4)),
        S(T(2, 3), constant(5, 3, 4)),
        S(constant(3), T(5, 3, 4)),
        S(T(3), constant(5, 3, 4)),
        S(T(1, 2, 3), constant(5, 3, 4)),
        S(constant(1, 2, 3), T(5, 3, 4)),
        S(T(5, 2, 3, view="permuted"), constant(3, 4)),
        S(T(5, 2, 3, view="permuted"), T(3, 4)),
        S(T(5, 2, 3, view="permuted"), constant(3)),
        S(T(5, 2, 3), T(5, 3, 4, view="transposed")),
        S(T(20, 30), T(30, 40)),
        S(T(2, 0), T(0, 3)),
        S(T(0, 2, 3), T(3, 4)),
        *(S(*typed(dtype, (2, 3), (3, 4))) for dtype in ("float64", "complex64", "int64")),
        S(*typed("complex64", (5, 2, 3), (5, 3, 4))),
        S(*typed("int64", (5, 2, 3), (3, 4))),
        S(*typed("float16", (2, 3), (3, 4)), grad=False),
        S(T(2, 3), T(), raises=RuntimeError),
        S(T(2, 3), T(4, 5), raises=RuntimeError),
        S(T(3), T(5), raises=RuntimeError),
        S(T(2, 3), T(5), raises=RuntimeError),
        S(T(5, 2, 3), T(6, 3, 4), raises=RuntimeError),
        S(T(5, 2, 3), T(4, 5), raises=RuntimeError),
        S(T(2, 3), T(3, 4, dtype="float64"), raises=RuntimeError),
        S(*typed("bool", (2, 3), (3, 4)), raises=NotImplementedError),
    ],
    "linear": [
        S(T(2, 3), T(4, 3), T(4)),
        S(T(2, 3), T(4, 3)),
        S(T(3), T(4, 3), T(4)),
        S(T(3), T(4, 3)),
        S(T(5, 2, 3), T(4, 3), T(4)),
        S(T(5, 2, 3), T(4, 3)),
        S(T(2, 5, 2, 3), T(4, 3), bias=T(4)),
        S(T(5, 2, 3, view="permuted"), T(4, 3), T(4)),
        S(T(5, 2, 3, view="permuted"), T(4, 3)),
        S(T(2, 3), T(4, 3, view="transposed"), T(4)),
        S(T(2, 3, view="transposed"), T(4, 3), T(4)),
        S(T(2, 3), T(3)),
        S(T(3), T(3)),
        S(T(40, 64), T(32, 64), T(32)),
        S(T(0, 3), T(4, 3), T(4)),
        *(S(*typed(dtype, (2, 3), (4, 3), (4,))) for dtype in ("float64", "complex64", "int64")),
        S(T(2, 3), T(4, 5), raises=RuntimeError),
        S(T(2, 3), T(4, 5), T(4), raises=RuntimeError),
        S(T(2, 3), T(4, 3), T(3), raises=RuntimeError),
        S(T(2, 3), T(4, 3, dtype="float64"), raises=RuntimeError),
        S(T(2, 3), T(4, 3), T(4, dtype="float64"), raises=RuntimeError),
        S(T(), T(4, 3), raises=RuntimeError),
    ],
    "outer": [
        S(T(2), T(3)),
        S(T(2), T(3, dtype="float64")),
        S(T(0), T(3)),
        S(T(2, dtype="int64"), T(3, dtype="int64")),
        S(T(2, dtype="complex64"), T(3, dtype="complex64")),
        S(T(2, 3), T(3), raises=RuntimeError),
        S(T(2), T(2, 3), raises=RuntimeError),
    ],
    "ger": [S(T(2), T(3)), S(T(2, 3), T(3), raises=RuntimeError)],
    "inner": [
        S(T(3), T(3)),
        S(T(2, 3), T(3)),
        S(T(2, 3), T(4, 3)),
        S(T(5, 2, 3), T(3)),
        S(T(2, 3), T(5, 2, 3)),
        S(T(), T(2, 3)),
        S(T(2, 3, dtype="int64"), T(3, dtype="int64")),
        S(T(2, 3), T(5), raises=RuntimeError),
        S(T(3), T(3, dtype="float64"), raises=RuntimeError),
    ],
    "tensordot": [
        S(T(2, 3), T(3, 4), 1),
        S(T(2, 3), T(2, 3)),
        S(T(2, 3), T(3, 4), dims=0),
        S(T(5, 2, 3), T(5, 2, 3), dims=([0, 2], [0, 2])),
        S(T(5, 2, 3), T(4, 3), dims=([2], [1])),
        S(T(1, 3), T(3, 1), 1),
        S(T(2, 3, dtype="int64"), T(3, 4, dtype="int64"), 1),
        S(T(2, 3), T(4, 5), 1, raises=RuntimeError),
        S(T(2, 3), T(3, 4), dims=([1], [0, 1]), raises=RuntimeError),
        S(T(2, 3), T(3, 4, dtype="float64"), 1, raises=RuntimeError),
    ],
    "kron": [
        S(T(2), T(3)),
        S(T(2, 3), T(3, 2)),
        S(T(2, 3), T()),
        S(T(2, 3), T(2)),
    ],
    "linalg_multi_dot": [
        S([T(2, 3), T(3, 4)], torch=_multi_dot),
        S([T(2, 3), T(3, 4), T(4, 3)], torch=_multi_dot),
        S([T(3), T(3, 4), T(4)], torch=_multi_dot),
        S([T(10, 3), T(3, 20), T(20, 2), T(2, 5)], torch=_multi_dot),
        S([T(2, 3)], torch=_multi_dot, raises=RuntimeError),
        S([T(), T(2, 2)], torch=_multi_dot, raises=RuntimeError),
        S([T(2, 2), T(2, 2), T(2, 2, 2)], torch=_multi_dot, raises=RuntimeError),
        S([T(2, 2), T(2), T(2, 2)], torch=_multi_dot, raises=RuntimeError),
        S([T(2, 2), T(2, 2, dtype="float64")], torch=_multi_dot, raises=RuntimeError),
        S([T(2, 2), T(3, 2)], torch=_multi_dot, raises=RuntimeError),
    ],
}
