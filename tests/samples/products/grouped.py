"""Samples of the products of groups of matrices: 2D and 3D, aligned and not."""

from tests.samples import D, S, T


def ends(*values, dtype="int32"):
    return T(values=values, dtype=dtype, fixed=True)


def _pair(first, second, *offs, dtype="float32", **words):
    """A sample; differences take no float64 here."""
    if offs:
        words["offs"] = ends(*offs)
    return S(T(*first, dtype=dtype), T(*second, dtype=dtype), smooth=False, **words)


def _bad(*args, **words):
    return S(*args, raises=RuntimeError, **words)


SAMPLES = {
    "grouped_mm": [
        _pair((5, 8), (2, 8, 12), 2, 5),
        _pair((5, 8), (3, 8, 4), 2, 2, 5),
        _pair((2, 5, 8), (8, 12), 4, 12),
        _pair((5, 12), (12, 8), 4, 8, 12),
        _pair((2, 5, 8), (2, 8, 4)),
        _pair((5, 8), (2, 8, 16), 2, 5, dtype="bfloat16"),
        _pair((5, 16), (16, 8), 8, 16, dtype="bfloat16"),
        _pair((2, 5, 8), (2, 8, 8), dtype="float16"),
        S(T(4, 8, view="transposed"), T(2, 8, 4, view="transposed"), offs=ends(1, 4), smooth=False),
        S(T(4, 8), T(2, 8, 3, view="transposed"), offs=ends(1, 4), grad=False),
        _pair((5, 8), (2, 8, 12), 2, 5, out_dtype=D("float32")),
        _pair((0, 8), (2, 8, 12), 0, 0),
        _bad(T(5, 8, dtype="float64"), T(2, 8, 8), offs=ends(1, 5)),
        _bad(T(5, 8), T(2, 8, 8, dtype="int64"), offs=ends(1, 5)),
        _bad(T(8), T(2, 8, 8)),
        _bad(T(2, 8, 8), T(8)),
        _bad(T(2, 4, 8), T(2, 4, 8)),
        _bad(T(2, 4, 8), T(3, 8, 8)),
        _bad(T(4, 8), T(3, 8, 8)),
        _bad(T(2, 4, 8), T(2, 8, 8), offs=ends(2, 4)),
        _bad(T(4, 8), T(3, 8, 8), offs=ends(2, 4)),
        _bad(T(4, 8), T(2, 8, 8), offs=ends(2, 4, dtype="int64")),
        _bad(T(4, 8), T(2, 8, 8), offs=ends((2, 4))),
        _bad(T(4, 6), T(2, 6, 8), offs=ends(2, 4)),
        _bad(T(4, 4, view="strided"), T(2, 4, 8), offs=ends(2, 4)),
        _bad(T(4, 8, view="expanded"), T(2, 8, 8), offs=ends(2, 4)),
        _bad(T(2, 4, 8), T(2, 8, 8), bias=T(8)),
        _bad(T(2, 4, 8), T(2, 8, 8), out_dtype=D("bfloat16")),
        _bad(T(2, 4, 8), T(2, 8, 8, dtype="bfloat16")),
        _bad(T(4, 8), T(2, 8, 8, dtype="float16"), offs=ends(1, 4)),
        _bad(T(4, 8), T(12, 8), offs=ends(4, 12)),
    ],
}
