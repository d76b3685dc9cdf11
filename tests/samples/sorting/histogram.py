"""Samples of `imode/ops/sorting/histogram.py`."""

from tests.samples import S, T

NAN, INF = float("nan"), float("inf")
EDGES = T(values=[-2.0, -0.5, 0.5, 2.0], requires_grad=False, fixed=True)
ROWS = T(20, 2, requires_grad=False)
FIXED = T(20, 2, requires_grad=False, fixed=True)


def _n(*args, **kwargs):
    return S(*args, grad=False, variants=False, **kwargs)


SAMPLES = {
    "histc": [
        S(T(50), 7, grad=False, variants=False),
        S(T(5, 4), 4, -1, 1, grad=False, variants=False),
        S(T(50, dtype="float64"), bins=10, min=-1.5, max=2, grad=False, variants=False),
        S(T(values=[1.0, 1.0]), 3, grad=False, variants=False),
        S(T(0), 3, grad=False, variants=False),
        S(T(values=[0.5, NAN]), 4, 0, 2, grad=False, variants=False),
        S(T(3), 0, raises=RuntimeError, grad=False, variants=False),
        S(T(3), 4, 3, 1, raises=RuntimeError, grad=False, variants=False),
        S(T(values=[1, 2, 3], dtype="int64"), raises=NotImplementedError),
    ],
    "histogram.bins_tensor": [
        _n(T(30), EDGES),
        _n(T(5, 6, dtype="float64"), T(values=[-1.0, 0.0, 1.0], dtype="float64", fixed=True)),
        _n(T(30), EDGES, weight=T(30, low=0)),
        _n(T(30), EDGES, density=True),
        _n(T(values=[0.5, NAN, INF]), EDGES),
        _n(T(0), EDGES),
        _n(T(), EDGES),
        _n(T(4), T(3, 2), raises=RuntimeError),
        _n(T(4), T(0), raises=RuntimeError),
        _n(T(4), T(1), raises=RuntimeError),
        _n(T(4), T(3, dtype="float64"), raises=RuntimeError),
        _n(T(4), EDGES, weight=T(3), raises=RuntimeError),
        _n(T(4, dtype="int64"), T(values=[0, 1], dtype="int64"), raises=NotImplementedError),
    ],
    "histogram.bin_ct": [
        _n(T(50), 7),
        _n(T(5, 4), 4, range=(-1.0, 1.0)),
        _n(T(50, dtype="float64"), bins=10, range=[-1, 2], density=True),
        _n(T(40)),
        _n(T(6), 3, weight=T(6)),
        _n(T(values=[1.0, 1.0]), 3),
        _n(T(0), 3),
        _n(T(0), 3, density=True),
        _n(T(4), 4, range=(3.0, 0.0), raises=RuntimeError),
        _n(T(4), 4, range=(3.0, INF), raises=RuntimeError),
        _n(T(4), 4, range=(3.0,), raises=RuntimeError),
        _n(T(values=[1.0, NAN]), 4, raises=RuntimeError),
        _n(T(3), 0, raises=RuntimeError),
        _n(T(3), 2, weight=T(3, dtype="float64"), raises=RuntimeError),
        _n(T(3, dtype="int64"), 2, raises=NotImplementedError),
        _n(T(3, dtype="float16"), 2, raises=NotImplementedError),
    ],
    "histogramdd": [
        _n(ROWS, [2, 3]),
        _n(T(4, 5, 2, dtype="float64"), [2, 3], density=True),
        _n(ROWS, [2, 3], range=[-1.0, 1.0, 0.0, 2.0]),
        _n(ROWS, [2, 3], weight=T(20)),
        _n(T(0, 2), [2, 3]),
        _n(T(2, 0), []),
        _n(ROWS, [2, 3], range=[0.0, 1.0, 0.0], raises=RuntimeError),
        _n(ROWS, [2], raises=RuntimeError),
        _n(ROWS, [0, 3], raises=RuntimeError),
        _n(ROWS, [2, 3], weight=T(19), raises=RuntimeError),
        _n(T(3), [3], raises=RuntimeError),
        _n(T(3, 1, dtype="int64"), [3], raises=NotImplementedError),
    ],
    "histogramdd.int_bins": [_n(ROWS, 3), _n(ROWS, 2, density=True)],
    "histogramdd.TensorList_bins": [
        _n(FIXED, [EDGES, EDGES]),
        _n(FIXED, [EDGES, EDGES], weight=T(20)),
        _n(FIXED, [EDGES], raises=RuntimeError),
    ],
    "_histogramdd_bin_edges": [_n(ROWS, [2, 3]), _n(ROWS, [2], raises=RuntimeError)],
    "_histogramdd_from_bin_cts": [_n(ROWS, [2, 3]), _n(ROWS, [2], raises=RuntimeError)],
    "_histogramdd_from_bin_tensors": [
        _n(FIXED, [EDGES, EDGES]),
        _n(FIXED, [EDGES, EDGES], density=True),
    ],
}
