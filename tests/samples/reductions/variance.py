"""Samples of variance and standard deviation, and both with the mean."""

from tests.samples import S, T

NAN = float("nan")

SPREAD = [
    S(T(2, 3)),
    S(T(5, dtype="float64")),
    S(T(2, 3, 4, view="permuted")),
    S(T(50, 70)),
    S(T(2, 3, dtype="float16"), grad=False),
    S(T(2, 3, dtype="complex64"), grad=False),
    S(T(2, 3), 0),
    S(T(2, 3), (0, 1)),
    S(T(2, 3), dim=1, keepdim=True),
    S(T(2, 3, 4), dim=(0, 2), correction=0),
    S(T(2, 3, 4), correction=2),
    S(T(2, 3, 4), correction=0.5),
    S(T(2, 3, 4, view="permuted"), 1, correction=0, keepdim=True),
    S(T(4, 6, view="transposed"), 0),
    S(T(40, 70), 0),
    S(T(2, 3), None, keepdim=True),
    S(T(values=[1.0, NAN, 2.0]), smooth=False),
    S(T(2, 3), 2, raises=IndexError),
    S(T(2, 3), (0, 0), raises=RuntimeError),
    S(T(2, 3, dtype="int64"), raises=RuntimeError),
    S(T(2, 3, dtype="bool"), 0, raises=RuntimeError),
]
UNBIASED = [
    S(T(2, 3), True),
    S(T(2, 3), False),
    S(T(2, 3), unbiased=False),
    S(T(2, 3, dtype="int64"), False, raises=RuntimeError),
]
UNBIASED_ALONG = [
    S(T(2, 3), 0, False),
    S(T(2, 3), 1, True, True),
    S(T(2, 3), dim=0, unbiased=False),
    S(T(2, 3, 4), (0, 2), unbiased=True, keepdim=True),
]

SAMPLES = {
    "var": UNBIASED,
    "var.correction": SPREAD,
    "var.dim": UNBIASED_ALONG,
    "std": UNBIASED,
    "std.correction": SPREAD,
    "std.dim": UNBIASED_ALONG,
    "var_mean": UNBIASED,
    "var_mean.correction": SPREAD,
    "var_mean.dim": UNBIASED_ALONG,
    "std_mean": UNBIASED,
    "std_mean.correction": SPREAD,
    "std_mean.dim": UNBIASED_ALONG,
}
