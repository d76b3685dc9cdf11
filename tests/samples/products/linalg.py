"""Samples of the products of matrices and vectors."""

from tests.samples import S, T

NAN = float("nan")


def typed(dtype, *shapes):
    return [T(*shape, dtype=dtype) for shape in shapes]


def _cross(self, other, *, dim=-1):
    import torch

    return torch.linalg.cross(self, other, dim=dim)


SAMPLES = {
    "mm": [
        S(T(2, 3), T(3, 4)),
        S(T(1, 1), T(1, 1)),
        S(T(2, 3), T(3, 4, view="transposed")),
        S(T(2, 3, view="transposed"), T(3, 4, view="transposed")),
        S(T(2, 3, view="strided"), T(3, 4, view="expanded")),
        S(T(20, 30), T(30, 40)),
        S(T(70, 40, view="strided"), T(40, 65)),
        S(T(2, 0), T(0, 3)),
        S(T(0, 3), T(3, 4)),
        *(
            S(*typed(dtype, (2, 3), (3, 4)))
            for dtype in ("float64", "complex64", "complex128", "int64", "int32", "uint8")
        ),
        S(*typed("float16", (2, 3), (3, 4)), grad=False),
        S(T(2, 3), T(4, 5), raises=RuntimeError),
        S(T(2, 3), T(3), raises=RuntimeError),
        S(T(3), T(3, 2), raises=RuntimeError),
        S(T(2, 3), T(3, 4, dtype="float64"), raises=RuntimeError),
        S(T(2, 3, dtype="int64"), T(3, 4), raises=RuntimeError),
        S(*typed("bool", (2, 3), (3, 4)), raises=NotImplementedError),
    ],
    "bmm": [
        S(T(5, 2, 3), T(5, 3, 4)),
        S(T(5, 2, 3), T(5, 3, 4, view="transposed")),
        S(T(5, 2, 3, view="permuted"), T(5, 3, 4)),
        S(T(1, 1, 1), T(1, 1, 1)),
        S(T(2, 20, 30), T(2, 30, 40)),
        S(T(0, 2, 3), T(0, 3, 4)),
        S(T(5, 2, 0), T(5, 0, 4)),
        *(S(*typed(dtype, (2, 2, 3), (2, 3, 4))) for dtype in ("float64", "complex64", "int64")),
        S(*typed("float16", (2, 2, 3), (2, 3, 4)), grad=False),
        S(T(5, 2, 3), T(6, 3, 4), raises=RuntimeError),
        S(T(5, 2, 3), T(5, 2, 3), raises=RuntimeError),
        S(T(5, 2, 3), T(3, 4), raises=RuntimeError),
        S(T(2, 3), T(5, 3, 4), raises=RuntimeError),
        S(T(5, 2, 3), T(5, 3, 4, dtype="float64"), raises=RuntimeError),
    ],
    "mv": [
        S(T(2, 3), T(3)),
        S(T(2, 3, view="transposed"), T(3, view="strided")),
        S(T(40, 70), T(70)),
        S(T(0, 3), T(3)),
        S(T(2, 0), T(0)),
        *(S(*typed(dtype, (2, 3), (3,))) for dtype in ("float64", "complex64", "int64")),
        S(T(2, 3), T(5), raises=RuntimeError),
        S(T(2, 3), T(2, 3), raises=RuntimeError),
        S(T(3), T(3), raises=RuntimeError),
        S(T(2, 3), T(3, dtype="float64"), raises=RuntimeError),
    ],
    "dot": [
        S(T(3), T(3)),
        S(T(100), T(100, view="strided")),
        S(T(0), T(0)),
        *(S(*typed(dtype, (3,), (3,))) for dtype in ("float64", "complex64", "int64", "uint8")),
        S(T(3), T(4), raises=RuntimeError),
        S(T(3), T(2, 3), raises=RuntimeError),
        S(T(3), T(3, dtype="float64"), raises=RuntimeError),
    ],
    "vdot": [
        S(T(3), T(3)),
        *(S(*typed(dtype, (3,), (3,))) for dtype in ("float64", "complex64", "int64")),
        S(T(3), T(4), raises=RuntimeError),
        S(T(3), T(3, dtype="float64"), raises=RuntimeError),
    ],
    "addmm": [
        S(T(2, 4), T(2, 3), T(3, 4)),
        S(T(4), T(2, 3), T(3, 4), variants=False),
        S(T(), T(2, 3), T(3, 4), variants=False),
        S(T(2, 1), T(2, 3), T(3, 4), variants=False),
        S(T(4), T(2, 3), T(3, 4, view="transposed"), variants=False),
        S(T(2, 4), T(2, 3), T(3, 4), beta=2),
        S(T(2, 4), T(2, 3), T(3, 4), beta=0.5, alpha=-2),
        S(T(2, 4), T(2, 3), T(3, 4), alpha=3),
        S(T(values=[[NAN] * 4] * 2), T(2, 3), T(3, 4), beta=0, grad=False),
        S(T(2, 4), T(2, 0), T(0, 4)),
        S(T(4), T(0, 3), T(3, 4), variants=False),
        *(S(*typed(dtype, (2, 4), (2, 3), (3, 4)), beta=2) for dtype in ("float64", "int64")),
        S(*typed("complex64", (2, 4), (2, 3), (3, 4)), beta=2, alpha=1j),
        S(*typed("int64", (2, 4), (2, 3), (3, 4)), beta=1.5),
        S(T(4), T(2, 3), T(4, 5), raises=RuntimeError),
        S(T(3), T(2, 3), T(3, 4), raises=RuntimeError),
        S(T(4), T(2, 3), T(3), raises=RuntimeError),
        S(T(4), T(3), T(3, 4), raises=RuntimeError),
        S(T(4), T(2, 3), T(3, 4, dtype="float64"), raises=RuntimeError),
        S(T(4, dtype="float64"), T(2, 3), T(3, 4), raises=RuntimeError),
        S(T(4), T(2, 3), T(3, 4), alpha=1j, raises=RuntimeError),
    ],
    "baddbmm": [
        S(T(5, 2, 4), T(5, 2, 3), T(5, 3, 4)),
        S(T(4), T(5, 2, 3), T(5, 3, 4), variants=False),
        S(T(5, 2, 4), T(5, 2, 3), T(5, 3, 4), beta=2, alpha=0.5),
        S(T(5, 2, 4), T(5, 2, 3), T(5, 3, 4), beta=0, grad=False),
        S(*typed("int64", (5, 2, 4), (5, 2, 3), (5, 3, 4))),
        S(*typed("complex64", (5, 2, 4), (5, 2, 3), (5, 3, 4))),
        S(T(4), T(5, 2, 3), T(6, 3, 4), raises=RuntimeError),
        S(T(3), T(5, 2, 3), T(5, 3, 4), raises=RuntimeError),
        S(T(4, dtype="float64"), T(5, 2, 3), T(5, 3, 4), raises=RuntimeError),
    ],
    "addbmm": [
        S(T(2, 4), T(5, 2, 3), T(5, 3, 4)),
        S(T(4), T(5, 2, 3), T(5, 3, 4), beta=2, alpha=0.5, variants=False),
        S(*typed("int64", (2, 4), (5, 2, 3), (5, 3, 4))),
        S(T(4), T(5, 2, 3), T(6, 3, 4), raises=RuntimeError),
        S(T(3), T(5, 2, 3), T(5, 3, 4), raises=RuntimeError),
    ],
    "addmv": [
        S(T(2), T(2, 3), T(3)),
        S(T(2), T(2, 3), T(3), beta=2, alpha=0.5),
        S(T(2), T(2, 3, view="transposed"), T(3), beta=0, grad=False),
        S(*typed("int64", (2,), (2, 3), (3,))),
        S(*typed("complex64", (2,), (2, 3), (3,))),
        S(T(5), T(2, 3), T(3), raises=RuntimeError),
        S(T(2), T(2, 3), T(5), raises=RuntimeError),
        S(T(2, dtype="float64"), T(2, 3), T(3), raises=RuntimeError),
    ],
    "addr": [
        S(T(3, 4), T(3), T(4)),
        S(T(4), T(3), T(4), beta=2, alpha=0.5, variants=False),
        S(T(3, 4), T(3), T(4), beta=0, grad=False),
        S(*typed("int64", (3, 4), (3,), (4,))),
        S(T(3, 4), T(5), T(4), raises=RuntimeError),
        S(T(3, 4), T(2, 3), T(4), raises=RuntimeError),
    ],
    "trace": [
        S(T(3, 3)),
        S(T(2, 3)),
        S(T(3, 2, view="transposed")),
        S(T(0, 3)),
        *(S(T(3, 3, dtype=dtype)) for dtype in ("float64", "complex64", "int64")),
        S(T(3, 3, dtype="bool"), raises=NotImplementedError),
        S(T(3), raises=RuntimeError),
    ],
    "linalg_cross": [
        S(T(3), T(3), torch=_cross),
        S(T(2, 3), T(2, 3), torch=_cross),
        S(T(3, 2), T(3, 2), dim=0, torch=_cross),
        S(T(2, 3), T(1, 3), torch=_cross),
        S(T(2, 3, dtype="complex64"), T(2, 3, dtype="complex64"), torch=_cross),
        S(T(2, 3, dtype="int64"), T(2, 3, dtype="int64"), torch=_cross),
        S(T(2, 3), T(2, 4), torch=_cross, raises=RuntimeError),
    ],
    "cross": [
        S(T(3), T(3)),
        S(T(2, 3), T(2, 3)),
        S(T(3, 2), T(3, 2), 0),
        S(T(4, 2), T(4, 2), raises=RuntimeError),
    ],
}
