"""Samples of the gamma function's relatives."""

from tests.samples import S, T

from .arithmetic import C64, DOUBLE, HALF, INF, LONG, NAN, binary
from .functions import refused, unary

# Where every function of the family has a value that both libraries agree about.
PLACES = [0.0, -0.0, 1.0, 2.0, 0.5, -0.5, -2.5, INF, -INF, NAN, 1e-30, 7.9, 8.0, 100.0, 1e20]


def places(*before, after=()):
    """Calls at the places where functions change their form."""
    return [
        S(*before, T(values=PLACES, dtype=dtype), *after, grad=False)
        for dtype in ("float32", DOUBLE)
    ]


def of_two(*more, low=0.5):
    """Calls of two operands that are no numbers, of floats."""
    samples = binary(
        S(T(2, 3, low=low, dtype=HALF), T(3, low=low), grad=False),
        *more,
        low=low,
        ints=False,
        complexes=False,
        both=False,
    )
    samples[9].grad = False  # of mixed precision: PyTorch computes it in the other one
    return samples


def without_self(samples):
    """The calls, the first operand without a gradient, which there is not."""
    for sample in samples:
        if isinstance(sample.args[0], T):
            sample.args[0].requires_grad = False
    return samples


ORDERS = [
    S(0, T(2, 3, low=0.5)),
    S(1, T(2, 3, low=0.5)),
    S(2, T(2, 3, low=0.5)),
    S(3, T(4, low=0.5, view="strided")),
    S(1, T(2, 3, low=0.5, view="transposed")),
    S(2, T(2, 3, low=0.5, dtype=DOUBLE)),
    S(1, T(low=0.5)),
    S(1, T(0, 3)),
    S(1, T(2, 3, low=0.5, dtype=HALF), grad=False),
    S(1, T(2, 3, low=1, dtype=LONG)),
    S(2, T(3, dtype="bool", low=1)),
    S(2, T(values=[0.0, -0.0, 1.0, -1.0, -2.5, 1e10, NAN, INF, -INF]), grad=False),
    S(-1, T(3), raises=RuntimeError),
    S(1, T(3, dtype=C64), raises=NotImplementedError),
    S(0, T(3, dtype=C64), raises=NotImplementedError),
    S(T(3), 1, raises=TypeError),
    S(1.5, T(3), raises=TypeError),
]
SAMPLES = {
    "lgamma": unary(
        refused(C64), *places(), S(T(3, low=-0.9, high=-0.1)), S(T(3, low=2.5, high=20)),
        low=0.5, complexes=False, special=False,
    ),
    "digamma": unary(
        refused(C64), *places(), S(T(3, low=-0.9, high=-0.1)), S(T(3, low=2.5, high=20)),
        low=0.5, complexes=False, special=False,
    ),
    "polygamma": ORDERS,
    "mvlgamma": [
        S(T(2, 3, low=2.5, high=4), 3),
        S(T(2, 3, low=2.5, high=4), 1),
        S(T(2, 3, low=2.5, high=4, view="transposed"), p=2),
        S(T(2, low=2.5, high=4, dtype=DOUBLE), 4),
        S(T(0, 3), 2),
        S(T(low=2.5, high=4), 2),
        S(T(2, 3, low=3, high=9, dtype=LONG), 2),
        S(T(values=[0.25, -0.3, INF, NAN, 1.0]), 2, grad=False),
        S(T(2), 0, raises=RuntimeError),
        S(T(2, dtype="bool"), 2, raises=RuntimeError),
        S(T(2, dtype=C64), 2, raises=NotImplementedError),
        S(T(2), raises=TypeError),
    ],
    **{
        name: without_self(
            of_two(
                S(T(values=[0.0, 0.0, 1.0, INF, INF, 1.0, -1.0, 1.0, NAN, 1e-10, 100.0]),
                  T(values=[0.0, 1.0, 0.0, 1.0, INF, INF, 1.0, -1.0, 1.0, 0.5, 100.0]), grad=False),
                S(T(4, low=25, high=50), T(4, low=20, high=60)),
                S(T(4, low=0.1, high=0.5, dtype=DOUBLE), T(4, low=0.1, high=1)),
                S(T(2, dtype=LONG), T(2, dtype=LONG), raises=NotImplementedError),
                S(T(2), 2.0, raises=TypeError),
            )
        )
        for name in ("igamma", "igammac")
    },
    "special_zeta": without_self(
        binary(
            S(T(values=[2.0, 2.0, 1.0, 0.5, 2.0, 2.0, 3.0, 2.5, 200.0]),
              T(values=[INF, -INF, 2.0, 2.0, 0.0, -1.0, -1.5, -1.5, 100.0]), grad=False),
            S(T(3, dtype=LONG, low=2, high=4), T(2, 3, dtype=LONG, low=1, high=4)),
            S(T(3, dtype="int32", low=2, high=4), T(2, 3, low=1)),
            S(T(2, dtype=HALF), T(2, dtype=HALF), raises=NotImplementedError),
            low=1.2, ints=False, half=False, complexes=False, both=False,
        )
    ),
    "special_zeta.self_scalar": [S(2.5, T(2, 3, low=0.5)), S(3, T(3, dtype=LONG, low=1))],
    "special_zeta.other_scalar": without_self([S(T(2, 3, low=1.5), 2.5), S(T(3, low=1.5), 2)]),
}  # fmt: skip
