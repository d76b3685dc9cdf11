"""Samples of `imode/ops/indexing/masks.py`: masks, flat positions, elements that are not zero."""

from tests.samples import S, T, inplace

MASK = T(values=[[True, False, True], [False, False, True]], dtype="bool")
ROW = T(values=[True, False, True], dtype="bool")
ZEROS = T(values=[[0.0, 1.5, 0.0], [2.0, 0.0, float("nan")]])


def L(*values):
    """An int64 tensor of these values."""
    return T(values=list(values), dtype="int64")


MASKED_FILL = [
    S(T(2, 3), MASK, 1.5),
    S(T(2, 3), ROW, 0),
    S(T(2, 3, view="transposed"), MASK, -1.0),
    S(T(2, 1), ROW, 3.0),
    S(T(2, 3, dtype="int64"), MASK, 2.9),
    S(T(2, 3, dtype="bool"), MASK, True),
    S(T(2, 3, dtype="float16"), MASK, float("inf"), grad=False),
    S(T(2, 3, dtype="complex64"), MASK, 1j),
    S(T(), T(values=True, dtype="bool"), 1.0),
    S(T(0, 3), T(0, 3, dtype="bool"), 1.0),
    S(T(2, 3), mask=MASK, value=float("nan"), grad=False),
    S(T(2, 3), T(2, 3, dtype="uint8", low=0, high=1), 1.0, raises=RuntimeError),
    S(T(2, 3), T(2, dtype="bool"), 1.0, raises=RuntimeError),
    S(T(2, 3), MASK, 1j, raises=RuntimeError),
]
MASKED_FILL_TENSOR = [
    S(T(2, 3), MASK, T()),
    S(T(2, 3), ROW, T(requires_grad=False)),
    S(T(2, 3), MASK, T(1), raises=RuntimeError),
]
MASKED_SCATTER = [
    S(T(2, 3), MASK, T(3)),
    S(T(2, 3), ROW, T(2, 4)),
    S(T(2, 3, view="transposed"), MASK, T(3)),
    S(T(2, 3, dtype="int64"), MASK, T(3, dtype="int64")),
    S(T(), T(values=True, dtype="bool"), T(1)),
    S(T(2, 3), MASK, T(2), raises=RuntimeError),
    S(T(2, 3), MASK, T(3, dtype="int64"), raises=RuntimeError),
    S(T(2, 3), T(2, 3, dtype="int64"), T(6), raises=RuntimeError),
]
PUT = [
    S(T(2, 3), L(0, 5), T(2)),
    S(T(2, 3), L(1, 1), T(2), True),
    S(T(2, 3), L(-1), T(1), accumulate=False),
    S(T(2, 3, view="transposed"), L(1), T(1)),
    S(T(3, dtype="int64"), L(1), T(1, dtype="int64")),
    S(T(2, 3), L(6), T(1), raises=IndexError),
    S(T(2, 3), L(0), T(2), raises=IndexError),
    S(T(2, 3), L(0), T(1, dtype="int64"), raises=RuntimeError),
    S(T(2, 3), T(1), T(1), raises=RuntimeError),
]

SAMPLES = {
    "masked_select": [
        S(T(2, 3), MASK),
        S(T(2, 3), ROW),
        S(T(2, 1), ROW),
        S(T(2, 3, view="transposed"), MASK),
        S(T(2, 3, dtype="int64"), MASK),
        S(T(2, 3, dtype="complex64"), MASK),
        S(T(), T(values=True, dtype="bool")),
        S(T(0), T(0, dtype="bool")),
        S(T(2, 3), T(2, dtype="bool"), raises=RuntimeError),
        S(T(2, 3), T(2, 3, dtype="int64"), raises=RuntimeError),
    ],
    "take": [
        S(T(2, 3), L(0, 5, 0)),
        S(T(2, 3), T(values=[[1], [-2]], dtype="int64")),
        S(T(2, 3, view="transposed"), L(1)),
        S(T(3, dtype="bool"), L(1)),
        S(T(), L(0)),
        S(T(2, 3), T(0, dtype="int64")),
        S(T(2, 3), L(6), raises=IndexError),
        S(T(0), L(0), raises=IndexError),
        S(T(2, 3), T(1), raises=RuntimeError),
    ],
    "nonzero_static": [
        S(ZEROS, size=5, grad=False),
        S(ZEROS, size=1, fill_value=7, grad=False),
        S(MASK, size=2),
        S(T(values=3.0), size=2, grad=False),
        S(T(2, 0), size=2, grad=False),
        S(T(2, 3, 2, dtype="int64", low=0, high=1), size=20),
        S(ZEROS, size=0, grad=False),
        S(ZEROS, size=-1, grad=False, raises=RuntimeError),
        S(ZEROS, grad=False, raises=TypeError),
    ],
    "unravel_index": [
        S(T(2, 3, dtype="int64", low=0, high=11), (3, 4)),
        S(T(3, dtype="int32", low=0, high=5), 6),
        S(T(values=7, dtype="uint8"), [2, 2, 2]),
        S(T(3, dtype="int64", low=0, high=50), (3, 4)),
        S(T(3, dtype="int64"), (3, 4)),
        S(T(0, dtype="int64"), (3, 4)),
        S(T(3, requires_grad=False), (3, 4), raises=TypeError),
        S(T(3, dtype="bool"), (3, 4), raises=TypeError),
        S(T(3, dtype="int64"), (3, -4), raises=ValueError),
        S(T(3, dtype="int64"), (3, 4.0), raises=TypeError),
        S(T(3, dtype="int64"), 2.5, raises=TypeError),
    ],
    "nonzero": [
        S(ZEROS, grad=False),
        S(MASK),
        S(T(values=3.0), grad=False),
        S(T(values=0, dtype="int64")),
        S(T(2, 0), grad=False),
        S(T(2, 3, 2, dtype="int64", low=0, high=1)),
    ],
    "nonzero.tuple": [
        S(ZEROS, as_tuple=True, grad=False, variants=False),
        S(T(values=3.0), as_tuple=True, grad=False, variants=False),
        S(MASK, as_tuple=False, variants=False),
    ],
    "argwhere": [S(ZEROS, grad=False), S(MASK), S(T(values=3.0), grad=False)],
    "one_hot": [
        S(L(0, 2, 1)),
        S(T(values=[[0], [1]], dtype="int64"), 3),
        S(T(values=2, dtype="int64")),
        S(T(0, dtype="int64"), num_classes=2),
        S(L(0, 2), 2, raises=RuntimeError),
        S(L(-1), raises=RuntimeError),
        S(T(0, dtype="int64"), raises=RuntimeError),
        S(T(2), raises=RuntimeError),
    ],
}
for _name, _samples in {
    "masked_fill.Scalar": MASKED_FILL,
    "masked_fill.Tensor": MASKED_FILL_TENSOR,
    "masked_scatter": MASKED_SCATTER,
    "put": PUT,
}.items():
    SAMPLES[_name] = _samples
    _base, _dot, _overload = _name.partition(".")
    SAMPLES[f"{_base}_{_dot}{_overload}"] = [inplace(s) for s in _samples if not s.raises][:3]
