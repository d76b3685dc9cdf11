"""Samples of sign, magnitude and rounding."""

from tests.samples import S, T

from .functions import refused, unary

ROUNDING = unary(
    S(T(values=[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), grad=False),
    S(T(2, 3, dtype="int64", view="expanded"), variants=False),
    refused("bool"),
    refused("complex64"),
    low=0.1,
    high=0.4,
    bools=False,
    complexes=False,
)

SAMPLES = {
    "neg": unary(refused("bool", RuntimeError), bools=False),
    "positive": [S(T(2, 3)), S(T(3, dtype="int64")), refused("bool", RuntimeError)],
    "abs": unary(refused("bool"), low=0.5, bools=False, complexes=False)
    + [S(T(2, 3, dtype="complex64", low=0.5), variants=False)],
    "sign": unary(refused("complex64"), low=0.5, complexes=False),
    "sgn": unary(low=0.5),
    "floor": ROUNDING,
    "ceil": ROUNDING,
    "trunc": ROUNDING,
    "round": ROUNDING,
    "round.decimals": [
        S(T(2, 3, low=0.1, high=0.4), decimals=1, grad=False),
        S(T(values=[15.0, 25.0, 123.0]), decimals=-1, grad=False),
        S(T(2, dtype="int64"), decimals=1, raises=NotImplementedError),
    ],
    "frac": unary(refused("int64"), low=0.1, high=0.4, ints=False, bools=False, complexes=False),
}
