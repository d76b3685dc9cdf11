"""Copies of views."""

import copy

from tests.samples import D, S, T

_ROWS = [
    S(T(2, 3)),
    S(T(2, 3, view="transposed")),
    S(T(2, 3, dtype="int64")),
    S(T(2, 3, dtype="complex64")),
    S(T(0, 3)),
]
_SPLIT = [
    S(T(5, 2), 2),
    S(T(5, 2), 5),
    S(T(4, 3), 2, 1),
    S(T(4, 3, view="transposed"), split_size=3, dim=-2),
    S(T(0, 2), 2),
    S(T(3, dtype="complex64"), 2),
    S(T(3, dtype="bool"), 2),
    S(T(5), 0, raises=RuntimeError),
    S(T(5), -1, raises=RuntimeError),
    S(T(), 1, raises=RuntimeError),
    S(T(5), 2, 1, raises=IndexError),
    S(T(5), "x", raises=TypeError),
]
_SPLIT_WITH_SIZES = [
    S(T(5, 2), (2, 3)),
    S(T(5, 2), (1, 0, 4)),
    S(T(4, 3, view="transposed"), (1, 2), 1),
    S(T(5, 2, dtype="int64"), split_sizes=[5], dim=0),
    S(T(5), (2, 2), raises=RuntimeError),
    S(T(5), (6, -1), raises=RuntimeError),
    S(T(), (1,), raises=RuntimeError),
]


def _but(samples, **options):
    """The samples with other options."""
    made = [copy.copy(sample) for sample in samples]
    for sample in made:
        vars(sample).update(options)
    return made


SAMPLES = {
    # It can be recorded, and not differentiated: tests/conformance/named/nodes.py.
    "detach_copy": _but([*_ROWS, S(T()), S(T(3, dtype="bool"))], grad=False),
    "alias_copy": [*_ROWS, S(T()), S(2.5, raises=TypeError)],
    "as_strided_copy": [
        S(T(2, 3), (2, 2), (3, 1)),
        S(T(2, 3), (2,), (2,), 1),
        S(T(2, 3), (3, 2), (1, 1)),
        S(T(2, 3, view="transposed"), (2, 2), (1, 2)),
        S(T(2, 3, view="offset"), (2,), (1,)),
        S(T(2, 3), size=(), stride=(), storage_offset=2),
        S(T(2, 3, dtype="complex64"), (3,), (2,)),
        S(T(2, 3), (9,), (1,), raises=RuntimeError),
        S(T(2, 3), (2,), (1, 1), raises=RuntimeError),
    ],
    "expand_copy": [
        S(T(3, 1), (3, 4)),
        S(T(3, 1), (2, -1, 4)),
        S(T(), (2,)),
        S(T(1, 3, dtype="int64"), size=(2, 3)),
        S(T(1, 2, dtype="complex64"), (3, 2), implicit=True),
        S(T(3), (2, 4), raises=RuntimeError),
    ],
    "permute_copy": [
        S(T(2, 3, 4), (2, 0, 1)),
        S(T(2, 3), dims=(-1, 0)),
        S(T(), ()),
        S(T(2, 3, dtype="complex64"), (1, 0)),
        S(T(2, 3), (0, 0), raises=RuntimeError),
        S(T(2, 3), (0, 2), raises=IndexError),
    ],
    "select_copy": [
        S(T(2, 3), 0, 1),
        S(T(2, 3, 4, view="permuted"), 2, -1),
        S(T(3), dim=0, index=0),
        S(T(2, 3, dtype="int64"), 1, 1),
        S(T(2, 3, dtype="complex64"), 1, 1, grad=False),
        S(T(2, 3), 0, 2, raises=IndexError),
        S(T(2, 3), 2, 0, raises=IndexError),
        S(T(), 0, 0, raises=IndexError),
    ],
    "slice_copy": [
        S(T(4, 3)),
        S(T(4, 3), 0, 1, 3),
        S(T(4, 3), 1, -2),
        S(T(4, 3), dim=0, start=0, end=4, step=2),
        S(T(4, 3, view="transposed"), 0, 1, None, 2),
        S(T(4, 3, dtype="complex64"), 1, 1, grad=False),
        S(T(4, 3), 0, 3, 1),
        S(T(4, 3), 0, 1, 3, 0, raises=RuntimeError),
        S(T(4, 3), 2, raises=IndexError),
        S(T(), 0, raises=IndexError),
    ],
    "squeeze_copy": [S(T(1, 3, 1)), S(T(2, 3, view="transposed")), S(T(1, dtype="complex64"))],
    "squeeze_copy.dim": [
        S(T(1, 3, 1), 0),
        S(T(1, 3, 1), dim=1),
        S(T(1, 3), 2, raises=IndexError),
    ],
    "squeeze_copy.dims": [
        S(T(1, 3, 1), (0, 2)),
        S(T(1, 3), ()),
        S(T(1, 3), (0, 0), raises=RuntimeError),
    ],
    "t_copy": [*_ROWS, S(T(3)), S(T()), S(T(2, 3, 4), raises=RuntimeError)],
    "transpose_copy": [
        S(T(2, 3, 4), 0, 2),
        S(T(2, 3), dim0=-1, dim1=0),
        S(T(), 0, -1),
        S(T(2, 3, dtype="complex64"), 0, 1),
        S(T(2, 3), 0, 2, raises=IndexError),
    ],
    "unfold_copy": [
        S(T(5), 0, 2, 1),
        S(T(3, 5), dimension=1, size=3, step=2),
        S(T(3, 5, view="transposed"), 0, 2, 2),
        S(T(5, dtype="int64"), 0, 2, 3),
        S(T(5), 0, 6, 1, raises=RuntimeError),
        S(T(5), 0, 2, 0, raises=RuntimeError),
    ],
    "unsqueeze_copy": [
        S(T(2, 3), 0),
        S(T(2, 3, view="transposed"), -1),
        S(T(), dim=0),
        S(T(2, 3), 3, raises=IndexError),
    ],
    "view_copy": [
        S(T(2, 3), (3, 2)),
        S(T(2, 3), (-1,)),
        S(T(2, 3, view="transposed"), (6,)),
        S(T(2, 3, 4, view="permuted"), size=(4, -1)),
        S(T(), (1, 1)),
        S(T(4, dtype="complex64"), (2, 2)),
        S(T(2, 3), (4,), raises=RuntimeError),
        S(T(2, 3), (-1, -1), raises=RuntimeError),
    ],
    "view_copy.dtype": [
        S(T(2, 4), D("int32")),
        S(T(2, 4), D("float64"), grad=False),
        S(T(2, 4), dtype=D("int16")),
        S(T(3), D("float64"), raises=RuntimeError),
    ],
    "view_as_real_copy": [
        S(T(2, 3, dtype="complex64")),
        S(T(2, 3, dtype="complex128", view="transposed")),
        S(T(2), raises=RuntimeError),
    ],
    "view_as_complex_copy": [
        S(T(3, 2), grad=False),
        S(T(3, 2, dtype="float64"), grad=False),
        S(T(2, 3), raises=RuntimeError),
        S(T(2, dtype="int64"), raises=RuntimeError),
    ],
    "diagonal_copy": [
        S(T(3, 4)),
        S(T(3, 4), 1),
        S(T(2, 3, 4), offset=-1, dim1=2, dim2=1),
        S(T(3, 4, view="transposed")),
        S(T(0, 3)),
        S(T(3, 3, dtype="int64")),
        S(T(3), raises=IndexError),
    ],
    # PyTorch writes past the end of an out= of another layout: tests/test_views.py.
    "narrow_copy": _but(
        [
            S(T(5), 0, 1, 3),
            S(T(3, 4), 1, -3, 2),
            S(T(3, 4, view="transposed"), dim=-2, start=1, length=2),
            S(T(3, 4), 0, 3, 0),
            S(T(3, dtype="int64"), 0, 0, 3),
            S(T(3, dtype="complex64"), 0, 1, 1),
            S(T(0, 3), 0, 0, 0),
            S(T(3), 0, 1, 5, raises=RuntimeError),
            S(T(3), 0, 1, -1, raises=RuntimeError),
            S(T(3), 0, 4, 0, raises=IndexError),
            S(T(3), -2, 0, 1, raises=IndexError),
            S(T(3), 1, 0, 1, raises=RuntimeError),
            S(T(), 0, 0, 1, raises=RuntimeError),
        ],
        variants=False,
    ),
    # Their out= forms return nothing: tests/test_views.py.
    "split_copy": _but(_SPLIT, variants=False),
    "split_with_sizes_copy": _but(_SPLIT_WITH_SIZES, variants=False),
    "unbind_copy": [
        S(T(3, 2), variants=False),
        S(T(3, 2), 1, variants=False),
        S(T(3, 2, view="transposed"), dim=-1, variants=False),
        S(T(0, 2), variants=False),
        S(T(2, 2, dtype="complex64"), variants=False),
        S(T(), raises=IndexError),
        S(T(3), 1, raises=IndexError),
    ],
}

SAMPLES["copy"] = [
    S(T(2, 3), T(2, 3), grad=False),
    S(T(2, 3), T(3, dtype="int64"), grad=False),
    S(T(2, 3, dtype="int64"), T(3), grad=False),
    S(T(2, 3, view="transposed"), T(2, 3), grad=False),
    S(T(2, 3, view="strided"), T(2, 3), grad=False),
    S(T(2, 3, view="expanded"), T(3), grad=False),
    S(T(2, 3), T(2), raises=RuntimeError),
]
