"""Reductions of runs, and the hash of elements."""

from tests.samples import S, T

SAMPLES = {}

_DATA = T(4, 2, distinct=True)
_RUNS = T(dtype="int64", values=[2, 0, 2])
_NAN = T(values=[[1.0, float("nan")], [2, 0], [2, 5]], fixed=True)
_ZEROS = T(values=[[0.0, 0], [2, 0], [3, 5], [0, 1]], fixed=True)


def _runs(*arguments, **words):
    """A sample; of first derivatives alone there are tests in test_reduce.py."""
    return S(*arguments, variants=False, smooth=False, **words)


SAMPLES["segment_reduce"] = [
    *(_runs(_DATA, how, lengths=_RUNS) for how in ("sum", "mean", "max", "min", "prod")),
    *(
        _runs(_DATA, how, lengths=_RUNS, initial=0.5)
        for how in ("sum", "mean", "max", "min", "prod")
    ),
    *(_runs(_ZEROS, how, lengths=_RUNS) for how in ("max", "min", "prod")),
    *(_runs(_NAN, how, lengths=T(dtype="int64", values=[1, 2])) for how in ("sum", "max")),
    _runs(_DATA, "sum", offsets=T(dtype="int64", values=[0, 3, 3, 4])),
    _runs(_DATA, "mean", lengths=T(dtype="int64", values=[[1, 1], [2, 0], [0, 2], [1, 1]]), axis=1),
    _runs(_DATA, "max", lengths=T(dtype="int32", values=[1, 1]), unsafe=True),
    _runs(T(3, 4, view="transposed"), "sum", lengths=T(dtype="int64", values=[3]), axis=-2),
    _runs(_DATA, "none", lengths=_RUNS, raises=RuntimeError),
    _runs(_DATA, "sum", raises=RuntimeError),
    _runs(_DATA, "sum", indices=_RUNS, raises=RuntimeError),
    _runs(_DATA, "sum", lengths=T(dtype="int64", values=[2, 1]), raises=RuntimeError),
    _runs(_DATA, "sum", lengths=T(dtype="int64", values=[-1, 5]), raises=RuntimeError),
    _runs(_DATA, "sum", offsets=T(dtype="int64", values=[0, 3, 2, 4]), raises=RuntimeError),
    _runs(_DATA, "sum", lengths=_RUNS, axis=1, raises=RuntimeError),
    _runs(_DATA, "sum", lengths=T(dtype="float64", values=[2.0, 2]), raises=NotImplementedError),
    _runs(T(4, dtype="int64"), "sum", lengths=_RUNS, raises=NotImplementedError),
]

SAMPLES["_segment_reduce_backward"] = [
    *(
        _runs(T(3, 2), T(3, 2), _DATA, how, lengths=_RUNS, grad=False)
        for how in ("sum", "mean", "max", "prod")
    ),
]

SAMPLES["hash_tensor"] = [
    S(T(5)),
    S(T(2, 3), 0),
    S(T(2, 3), [0, 1], keepdim=True),
    S(T(2, 3, dtype="int16"), 1),
    S(T(4, dtype="bool")),
    S(T(3, dtype="float16", view="strided")),
    S(T()),
    S(T(0, 3), 1),
    S(T(2), mode=1, raises=RuntimeError),
    S(T(0), raises=RuntimeError),
    S(T(2, 0), 1, raises=IndexError),
    S(T(2), 3, raises=IndexError),
    S(T(2, dtype="complex64"), raises=NotImplementedError),
]
