"""Each fast case and the general case beside it, on every sample: the same results and errors.

A fast case runs with the general one counted, which it must not always hand over to; then the
general one runs alone. In the normal mode and in inference mode, where some are fast only. Both
cases of a ufunc are compiled, and not counted.
"""

from contextlib import contextmanager

import numpy as np
import pytest

import imode
from imode._core import loops
from imode._core.adapter import general_case
from imode._core.dispatch import CKernel, all_operators
from imode._core.keyset import DispatchKey
from imode.kernels.creation.from_data_fast import borrowing
from imode.ops.networks import functional_fast
from tests.samples import D, S, T, load

ALL = all_operators()
SAMPLES = load()
CPU = DispatchKey.CPU

# What no sample calls by its own name, or not where a fast case serves.
_MATRIX = T(values=[[2.0, 1.0], [1.0, 3.0]])
_PLACES = T(values=[2, 0], dtype="int64")
_CLASSES = T(values=[1, 0, 1], dtype="int64")
_BAGS = T(values=[2, 0, 1, 1, 2], dtype="int64")
_FIRST = T(values=[0, 2, 2], dtype="int64")
_SHARES = T(values=[0.0, 0.25, 1.0])
INF, NAN = float("inf"), float("nan")
MORE = {
    "_index": [S(T(3, 4), (_PLACES,)), S(T(2), (T(values=[True, False], dtype="bool"),))],
    "_index_backward": [S(None, T(2, 4), (3, 4), (_PLACES,), None)],
    "_to_copy": [
        S(T(2, 3), D("float64")),
        S(T(300), D("float16")),
        S(T(2, 3, dtype="int64"), D("bool")),
    ],
    "_softmax_backward_data": [S(T(2, 3), T(2, 3), 1, D("float32"))],
    "_log_softmax_backward_data": [S(T(2, 3), T(2, 3), 0, D("float32"))],
    "_unique2": [S(T(values=[3, 1, 3, 2], dtype="int64")), S(T(5)), S(T(2, 2), True, True)],
    "_row_norm": [S(T(3, 4), 2, (1,), False), S(T(3, 4), 1.0, (1,), True)],
    "_linalg_det": [S(_MATRIX)],
    "_linalg_slogdet": [S(_MATRIX)],
    "_linalg_eigvals": [S(_MATRIX)],
    "_linalg_eigvalsh": [S(_MATRIX)],
    "_linalg_svdvals": [S(_MATRIX)],
    "_linalg_matrix_rank": [S(_MATRIX)],
    "_linalg_pinv": [S(_MATRIX, 0.0, 1e-6), S(T(2, 3, 4, dtype="float64"), 0.0, 1e-6)],
    "_linalg_solve_ex": [S(_MATRIX, T(2, 3))],
    "_rrelu_with_noise": [
        S(T(5), T(0), 0.25, 0.5, False),
        S(T(2, 3, dtype="float64"), T(0, dtype="float64"), 0, 1, False),
        S(T(5), T(5), 0.25, 0.5, True),
    ],
    "_rrelu_with_noise_": [S(T(5), T(0), 0.25, 0.5, False)],
    "_dropout_mask": [S(T(5), 0.5), S(T(5, dtype="float64"), 0.25)],
    "_trilinear": [S(T(3, 2), T(4, 2, 5), T(3, 5)), S(T(1, 3), T(2, 3, 1), T(1, 1))],
    "_max_pool1d": [
        S(T(2, 3, 9), (3,), (2,), (1,), (1,), True),
        S(T(3, 9), *[(2,)] * 2, (0,), (3,), False),
    ],
    "_euclidean_dist": [
        S(T(30, 11), T(3, 11)),
        S(T(2, 3, 150, dtype="float64"), T(2, 4, 150, dtype="float64")),
    ],
    "_cdist_forward": [
        *[S(T(4, 11), T(3, 11), p, None) for p in (0.0, 1.0, 1.5, 2.0, INF)],
        S(T(2, 3, 5), T(2, 4, 5), 2.0, None),
        S(T(2, 3, 5), T(4, 5), 2.0, None),
        S(T(values=[[NAN, 1.0]]), T(2, 2), INF, None),
    ],
    "_pdist_forward": [S(T(5, 3), 2.0), S(T(4, 2, dtype="float64"), 0.0), S(T(3, 0), 1.0)],
    **{
        name: [
            S(T(*n, dtype=dtype), T(*n, dtype=dtype), kind, 0.7)
            for n in ((0,), (4,), (3, 200), (2, 257))
            for dtype in ("float32", "float64", "float16")
            for kind in range(3)
        ]
        for name in ("_smooth_l1_loss", "_huber_loss")
    },
    "_binary_cross_entropy": [
        *[S(_SHARES, _SHARES, weight, kind) for weight in (None, T(3)) for kind in range(3)],
        S(T(values=[0.5, 1.5]), T(values=[0.5, 0.5]), None, 1, raises=RuntimeError),
        S(T(values=[0.5]), T(values=[NAN]), None, 1, raises=RuntimeError),
    ],
    "_binary_cross_entropy_with_logits": [
        S(T(3, 200), T(3, 200), weight, None, kind)
        for weight in (None, T(200))
        for kind in range(3)
    ],
    "_soft_margin_loss": [S(T(n), T(n), kind) for n in (4, 256, 257) for kind in range(3)],
    "_multi_margin_loss": [
        *[S(T(3, 4), _CLASSES, p, 1.0, None, kind) for p in (1, 2) for kind in range(3)],
        S(T(3, 2, dtype="float64"), _CLASSES, 1, 0.5, T(2, dtype="float64"), 1),
        S(T(4), T(values=2, dtype="int64"), 1, 1.0, None, 0),
        S(T(4), T(values=4, dtype="int64"), 1, 1.0, None, 1, raises=RuntimeError),
    ],
    "_safe_softmax": [S(T(2, 3), -1), S(T(2, 3), 0), S(T(values=[[-INF, -INF], [0.0, NAN]]), 1)],
    "_embedding_bag": [
        *[S(T(3, 2), _BAGS, _FIRST, False, mode, False, None, False, -1) for mode in range(3)],
        S(T(3, 2), _BAGS, _FIRST, False, 0, False, T(5), True, 1),
        S(T(2, 2), _BAGS, _FIRST, False, 0, False, None, False, -1, raises=RuntimeError),
        S(T(3, 2), _BAGS, _BAGS, False, 0, False, None, False, -1, raises=RuntimeError),
    ],
}

# Sizes on both sides of where a fast case hands over to the general one.
SIZES = {
    "sort": [S(T(2, 32)), S(T(2, 33)), S(T(33, dtype="int64"))],
    "sort.stable": [S(T(2, 32), stable=True), S(T(33, 2), stable=True, dim=0, descending=True)],
    "_unique2": [S(T(32)), S(T(33))],
    "median": [S(T(64)), S(T(70, dtype="int64", low=0, high=3)), S(T(9, 9, dtype="int32"))],
    "median.dim": [S(T(3, 100), 1), S(T(70, 3, dtype="int64", low=0, high=3), 0)],
    "nanmedian.dim": [S(T(3, 100), 1, True), S(T(values=[NAN] * 70), 0)],
    "mode": [S(T(16)), S(T(3, 40, dtype="int64", low=0, high=5)), S(T(values=[NAN, NAN]))],
    "cummax": [S(T(3, 4, dtype="int32"), 0), S(T(values=[1.0, NAN, 2.0]), 0)],
    "tensor": [S([0.5] * 1024), S([0.5] * 1025), S([3] * 1025)],
    "zeros": [S(65536), S(65537)],
    "eye": [S(127), S(128)],
    "eye.m": [S(127, 3), S(3, 128)],
    "rand": [S(4096), S(4097)],
    "randn": [S(15), S(16), S(4096), S(4097)],
    "randint": [S(9, (4096,)), S(9, (4097,))],
    "randperm": [S(4096), S(4097)],
    "rand_like": [S(T(4096)), S(T(4097))],
    "bernoulli": [S(T(4096, low=0, high=1)), S(T(4097, low=0, high=1))],
    "cauchy_": [S(T(4096)), S(T(4097, dtype="float64"), 1.0, 0.5)],
    "exponential_": [S(T(4096)), S(T(5, dtype="float64"), 2.0), S(T(5, dtype="float16"))],
    "geometric_": [S(T(4096), 0.25), S(T(5, dtype="int64"), 0.25)],
    "log_normal_": [S(T(4096)), S(T(5, dtype="float64"), 0.5, 0.25)],
    "poisson": [S(T(4096, low=0, high=30)), S(T(4097, low=0, high=30))],
    "uniform_": [S(T(4096)), S(T(4097))],
    "normal_": [S(T(4096)), S(T(4097, dtype="float64"))],
    "multinomial": [S(T(64, low=0.1), 3), S(T(65, low=0.1), 3), S(T(2, 40, low=0.1), 1)],
    "sum": [S(T(32767)), S(T(32769, dtype="float64")), S(T(200, 200, view="transposed"))],
    "sum.dim": [S(T(3, 5), 0), S(T(200, 200), 0), S(T(200, 200), 1), S(T(4, 90, 100), (0, 2))],
    "mean.dim": [S(T(300, 120), 0), S(T(300, 120), 1, True)],
    "amax": [S(T(300, 120), 0), S(T(300, 120), 1)],
    "argmax": [S(T(40, 33, distinct=True), 0), S(T(40, 33, distinct=True), 1)],
    "softmax": [S(T(300, 120), 0), S(T(300, 120), 1), S(T(3, 5, 7), 1)],
    "log_softmax": [S(T(300, 120), 0), S(T(300, 120), 1)],
    "cumsum": [S(T(30, 12), 0), S(T(30, 12), 1), S(T(300, 120, dtype="float64"), 0)],
    "mm": [S(T(33, 34), T(34, 35)), S(T(7, 9, view="transposed"), T(9, 8))],
    "matmul": [S(T(4, 33, 34), T(34, 35)), S(T(4, 5, 6), T(4, 6, 7)), S(T(6), T(6, 7))],
    "linear": [S(T(33, 34), T(35, 34), T(35)), S(T(2, 3, 34), T(5, 34), T(5))],
    "addmm": [S(T(35), T(33, 34), T(34, 35)), S(T(33, 35), T(33, 34), T(34, 35), beta=2, alpha=3)],
    "pixel_shuffle": [S(T(2, 4, 32, 33), 2), S(T(2, 9, 3, 2, dtype="bool"), 3)],
    "max_pool1d": [S(T(2, 3, 900), 3, 2), S(T(3, 40, dtype="float16"), 2)],
    "im2col": [
        S(T(2, 3, 30, 31), (3, 2), (1, 2), (1, 0), (2, 1)),
        S(T(3, 5, 4), *[(1, 1)] * 2, (0, 0), (1, 1)),
    ],
    "upsample_bicubic2d": [
        S(T(1, 2, 5, 7), (9, 3), False, None, 0.5),
        S(T(2, 2, 40, 41), (50, 60), True),
    ],
    "upsample_nearest3d": [S(T(1, 2, 3, 4, 2), (3, 2, 5)), S(T(1, 2, 3, 4, 2), (3, 4, 2))],
    "copy_": [S(T(255), T(255, dtype="float16")), S(T(257), T(257, dtype="float16"))],
    "cat": [S((T(300, 2), T(300, 3)), 1), S((T(2, 300), T(3, 300)))],
    "gather": [S(T(70, 90), 1, T(70, 90, dtype="int64", low=0, high=89))],
    "index_select": [S(T(70, 90), 1, T(40, dtype="int64", low=0, high=89))],
    "nonzero": [S(T(300, 7)), S(T(2100, dtype="bool"))],
    "index_reduce": [
        S(T(3, 4, 2), 1, _PLACES, T(3, 2, 2), how, include_self=own)
        for how in ("prod", "mean", "amax", "amin")
        for own in (True, False)
    ],
    "masked_fill.Scalar": [
        S(T(3, 4, view="transposed"), T(4, 3, dtype="bool"), 2),
        S(T(3, 4, view="expanded"), T(3, 4, dtype="bool"), 2),
    ],
    "renorm": [S(T(32, 32), 2, 0, 1.5), S(T(32, 33), 2, 0, 1.5), S(T(2, 3, 4), 1, 1, 2.0)],
    "histc": [S(T(1024), 5), S(T(1025), 5), S(T(9, dtype="float64"), 1025, -1, 1)],
    "histogram.bin_ct": [S(T(1024), 1024), S(T(1025), 5), S(T(3, 3, dtype="float64"), 2)],
    "linalg_cross": [S(T(2, 3, 5), T(2, 3, 5), dim=1), S(T(3, dtype="int64"), T(3, dtype="int64"))],
    "block_diag": [S((T(2, 3), T(4), T(2, 1))), S((T(2, 2, view="transposed"), T()))],
    "quantile": [
        S(T(3, 64), T(values=0.3), 1, interpolation=how)
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    ]
    + [S(T(3, 65), T(values=0.3), 1), S(T(4, 5), T(values=[0.1, 0.9])), S(T(4), T(), keepdim=True)],
    "quantile.scalar": [S(T(values=[1.0, NAN, 0.5]), 0.5), S(T(2, 3, 4, dtype="float64"), 0.4, 1)],
    "nanquantile": [
        S(T(values=[[1.0, NAN, 0.5], [NAN, NAN, NAN]]), T(values=0.5), 1, True),
        S(T(5, dtype="float64"), T(values=[0.25, 1.0], dtype="float64"), 0),
    ],
    "linalg_matrix_norm.str_ord": [S(T(2, 3, 4), "fro", (0, -1), True)],
    "linalg_matrix_exp": [S(T(8, 8)), S(T(9, 9)), S(T(16, 8, 8)), S(T(2, 3, 3, low=9, high=20))],
    "linalg_pinv.atol_rtol_tensor": [S(_MATRIX), S(T(2, 33, 3))],
    "linalg_matrix_power": [S(T(3, 3), n) for n in (2, 3, 4, 5, 7)],
    "linalg_vecdot": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(3, dtype="float32"), dim=-1)],
    "combinations": [S(T(6), r, own) for r in (1, 2, 4) for own in (True, False)]
    + [S(T(91)), S(T(92)), S(T(2, dtype="int64"), 3)],
    "cartesian_prod": [S((T(2), T(3), T(4))), S((T(64), T(32))), S((T(64), T(33)))],
    "unravel_index": [
        S(T(values=[[5, -1], [17, 3]], dtype="int64"), (2, 3)),
        S(T(1025, dtype="int64", low=0, high=9), [2, 5]),
    ],
    "topk": [S(T(64, distinct=True), 3), S(T(65, distinct=True), 3), S(T(700, distinct=True), 5)],
}
# Those that samples can call: out= forms run their operator's kernels.
FAST = sorted(
    name
    for name, op in ALL.items()
    if op.entry is not None and op.entry.fast is not None and not op.overload.endswith("out")
)
UFUNCS = sorted(
    name
    for name, op in ALL.items()
    if not op.is_composite
    and not op.overload.endswith("out")
    and isinstance(getattr(op.kernel_of(CPU), "config", None), loops._Config)
)
UNINITIALISED = ("empty", "empty_like", "new_empty")


def samples(name):
    """Return the calls of an operator; of an in-place form, those of the functional one."""
    found = SAMPLES.get(name, []) + MORE.get(name, []) + SIZES.get(name, [])
    if not found and ALL[name].functional is not None:
        base = ALL[name].functional.qualified_name
        found = [s for s in SAMPLES.get(base, []) + SIZES.get(base, []) if s.variants]
    return found


@contextmanager
def run_by(op, fast, general):
    """Let an operator run these cases: a CKernel or None, and a function (or a CKernel)."""
    if op.is_composite:
        before = op._swap_cases(fast, general)
    elif fast is not None:
        before = op.register(CPU, fast.beside(general, "test"))
    else:
        alone = isinstance(general, CKernel)
        before = op.register(CPU, general if alone else general_case.beside(general, "test"))
    try:
        yield
    finally:
        if op.is_composite:
            op._swap_cases(*before)
        else:
            op.register(CPU, before)


def cases(op, calls):
    """Return an operator's fast and general case; the latter notes its calls."""
    general = op.kernel_of(CPU).general if not op.is_composite else op.entry.kernel
    function = general.config if isinstance(general, CKernel) else general

    def counted(*args):
        calls.append(args)
        return function(*args)

    return op.entry.fast, borrowing(counted) if function is not general else counted


def outcome(op, sample):
    """Return what a call gives and leaves in its arguments, or what it raises, and its warnings."""
    imode.manual_seed(0)
    args, kwargs, tensors = sample.make(imode)
    try:
        result = op(*args, **kwargs)
    except Exception as error:
        return type(error), str(error), [described(t) for t in tensors]
    results = result if isinstance(result, (tuple, list)) else [result]
    return [described(t) for t in [*results, *tensors]]


def described(value):
    if not isinstance(value, imode.Tensor):
        return value
    return value.dtype, value.shape, value.stride(), value.is_inference(), np.array(value.tolist())


def check_same(a, b, sample, values=True):
    """Compare outcomes; floats as far as sums in another order agree."""
    assert type(a) is type(b) and len(a) == len(b), (a, b)
    for x, y in zip(a, b, strict=True):
        if not isinstance(x, tuple) or not isinstance(x[-1], np.ndarray):
            if isinstance(x, list):
                check_same(x, y, sample, values)
            else:
                assert x == y or x != x, (x, y)
            continue
        assert x[:-1] == y[:-1]
        if values:
            half = x[0] == imode.float16
            rtol, atol = sample.tol or ((2e-3, 2e-3) if half else (1e-5, 1e-5))
            np.testing.assert_allclose(x[-1], y[-1], rtol, atol, equal_nan=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAST)
def test_fast_and_general_case_agree(name):
    op, calls, served = ALL[name], [], 0
    fast, general = cases(op, calls)
    values = name not in UNINITIALISED
    for sample in samples(name):
        for mode in (imode.enable_grad, imode.inference_mode):
            with mode():
                with run_by(op, fast, general):
                    tried = outcome(op, sample)
                served += not calls
                with run_by(op, None, general):
                    check_same(tried, outcome(op, sample), sample, values)
                calls.clear()
    assert served, f"{name}: no sample is served by the fast case"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UFUNCS)
def test_both_cases_of_a_ufunc_agree(name):
    op, before = ALL[name], ALL[name].kernel_of(CPU)
    for sample in samples(name):
        for mode in (imode.enable_grad, imode.inference_mode):
            with mode():
                tried = outcome(op, sample)
                with run_by(op, None, loops.general_case(before)):
                    check_same(tried, outcome(op, sample), sample)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in UFUNCS if ALL[n].functional is None and n in SAMPLES])
def test_loops_over_rows_and_over_strides_agree(name):
    """`ufunc_kernel` serves contiguous operands itself, and leaves others to its general case."""
    op = ALL[name]
    for sample in SAMPLES[name]:
        args, kwargs, tensors = sample.make(imode)
        if sample.raises or not all(t.is_contiguous() and t.dim() for t in tensors):
            continue
        result = described(op(*args, **kwargs))
        apart = [strided(a) if isinstance(a, imode.Tensor) else a for a in args]
        again = described(op(*apart, **kwargs))
        check_same([(result[0], result[1], result[-1])], [(again[0], again[1], again[-1])], sample)


def strided(tensor):
    """The same elements, every other one of a longer last dimension."""
    wide = tensor.new_zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]))
    wide[..., ::2] = tensor
    return wide[..., ::2]


def test_a_composite_that_is_computed_as_one_hides_no_kernel():
    x = imode.tensor([3.0, 1.0, 2.0])
    with imode.inference_mode():
        before = imode.quantile(x, 0.5).item(), imode.combinations(x).tolist()
        assert before == (2.0, [[3.0, 1.0], [3.0, 2.0], [1.0, 2.0]])
        with imode.library.Library("aten", "IMPL") as lib:
            lib.impl("gather", lambda self, dim, index: imode.full(index.shape, 7.0), "CPU")
            lib.impl("masked_select", lambda self, mask: imode.zeros(1), "CPU")
            assert imode.quantile(x, 0.5).item() == 7.0
            assert imode.combinations(x).tolist() == [[0.0, 0.0]]


# ---- functions that are no operators ----

_IMAGE, _COLUMN = T(2, 3, 4, 5), T(2, 3, 4)
FUNCTIONS = {
    "interpolate": [
        (S(_IMAGE, scale_factor=2), True),
        (S(_IMAGE, (3, 7), mode="bilinear", align_corners=True), True),
        (S(_IMAGE, scale_factor=(0.5, 1.5), mode="bicubic"), True),
        (S(_COLUMN, 9, mode="linear"), True),
        (S(_COLUMN, scale_factor=1.3, mode="nearest-exact"), True),
        (S(_COLUMN, 9, mode="bilinear", raises=NotImplementedError), False),
        (S(_IMAGE, 9, mode="nearest", align_corners=True, raises=ValueError), False),
        (S(_IMAGE, scale_factor=2.0, recompute_scale_factor=True), False),
        (S(_IMAGE, raises=ValueError), False),
    ],
    "unfold": [
        (S(_IMAGE, 2, padding=1), True),
        (S(_IMAGE, (1, 3), (2, 1), (0, 2), 2), True),
        (S(_IMAGE, 9, raises=RuntimeError), True),
        (S(_IMAGE, [2, 2]), False),
    ],
    "fold": [
        (S(T(2, 12, 6), (3, 4), 2), True),
        (S(T(12, 6), (3, 4), [2, 2]), False),
    ],
    "instance_norm": [
        (S(_IMAGE), True),
        (S(_IMAGE, weight=T(3), bias=T(3), eps=0.1), True),
        (S(_IMAGE, T(3), T(3, low=1)), True),
        (S(T(2, 3, 1), raises=ValueError), False),
    ],
    "embedding_bag": [
        (S(_BAGS, T(3, 2), _FIRST), True),
        (S(_BAGS, T(3, 2), _FIRST, mode="max", padding_idx=-1), True),
        (S(_BAGS, T(3, 2), _FIRST, include_last_offset=True, mode="sum"), True),
        (S(_BAGS, T(3, 2), raises=ValueError), False),
    ],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fast_and_general_case_of_a_function_agree(name, monkeypatch):
    function, fast = getattr(imode.nn.functional, name), getattr(functional_fast, name)
    served = []

    def tried(*args):
        result = fast(*args)
        served.append(result is not NotImplemented)
        return result

    for sample, serves in FUNCTIONS[name]:
        for mode in (imode.enable_grad, imode.inference_mode):
            served.clear()
            with mode():
                monkeypatch.setattr(functional_fast, name, tried)
                result = outcome(function, sample)
                monkeypatch.setattr(functional_fast, name, lambda *args: NotImplemented)
                check_same(result, outcome(function, sample), sample)
            assert served in ([serves], []), sample  # an error of an operator leaves none
