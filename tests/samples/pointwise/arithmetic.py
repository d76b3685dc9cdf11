"""Samples of arithmetic with two or more operands."""

from tests.samples import S, T

NAN, INF = float("nan"), float("inf")
BOOL, LONG, HALF, DOUBLE = "bool", "int64", "float16", "float64"
C64, C128 = "complex64", "complex128"


def by_overload(name, samples, numbers=""):
    """Split samples by whether the second argument is a tensor: {name.Tensor: ..., name: ...}."""
    tensors = [s for s in samples if isinstance([*s.args[1:], *s.kwargs.values()][0], T)]
    return {f"{name}.Tensor": tensors, name + numbers: [s for s in samples if s not in tensors]}


def binary(*more, low=-2, numbers=(2, 2.5), ints=True, complexes=True, half=True, both=True):
    """Calls that every operator of two operands takes; `low` keeps them where it is smooth."""

    def t(*shape, **options):
        return T(*shape, low=low, **options)

    samples = [
        S(t(2, 3), t(2, 3)),
        S(t(2, 3), t(3)),
        S(t(2, 1), t(1, 3)),
        S(t(2, 3), t()),
        S(t(), t()),
        S(t(0, 3), t(1)),
        S(t(2, 3, view="transposed"), t(2, 3)),
        S(t(4, view="strided"), other=t(4, view="offset")),
        S(t(2, 3, dtype=DOUBLE), t(2, 3)),
        S(t(2, 3), t(2, 3, dtype=DOUBLE)),
        S(t(2, 3), t(4), raises=RuntimeError),
    ]
    if both:
        samples += [S(t(2, 3), number, grad=isinstance(number, float)) for number in numbers]
    if half:
        samples.append(S(t(2, 3, dtype=HALF), t(3, dtype=HALF), grad=False))
    if ints:
        samples.append(S(t(2, 3, dtype=LONG), T(3, dtype=LONG, low=1, high=4)))
        samples.append(S(t(2, 3, dtype="int32"), T(2, 3, low=1, high=2)))
        samples.append(S(T(3, dtype="uint8"), T(3, dtype="int8", low=1)))
        samples.append(S(t(2, dtype=LONG), T(dtype=DOUBLE, low=1)))
        if both:
            samples.append(S(t(2, 3, dtype=LONG), 2.5))
    if complexes:
        samples.append(S(t(2, 3, dtype=C64), t(3, dtype=C64)))
        samples.append(S(t(2, 3, dtype=C128), t(3)))
    return [*samples, *more]


SAMPLES = {
    "add": binary(
        S(T(2, 3), T(3), alpha=2),
        S(T(2, 3, dtype=LONG), 3, alpha=2),
        S(T(2, 3, dtype=BOOL), T(3, dtype=BOOL)),
        S(T(2, 3, dtype=BOOL), 1),
        S(T(2, 3, dtype=C64), T(3, dtype=C64), alpha=1 + 2j),
        S(T(2, dtype=LONG), T(2, dtype=LONG), alpha=1.5, raises=RuntimeError),
        S(T(2, dtype=LONG), T(2, dtype=LONG), alpha=True, raises=RuntimeError),
        S(T(2), T(2), alpha=2j, raises=RuntimeError),
        S(2, T(3), variants=False),
    ),
    "sub": binary(
        S(T(2, 3), T(3), alpha=2),
        S(T(2, 3, dtype=LONG), 3, alpha=2),
        S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=RuntimeError),
        S(T(2, dtype=LONG), T(2, dtype=BOOL), raises=RuntimeError),
        S(T(2), True, raises=RuntimeError),
        S(2, T(3), variants=False),
    ),
    "rsub": [
        S(T(2, 3), 2.5),
        S(T(2, 3, dtype=LONG), 2, 3),
        S(T(2, dtype=BOOL), 1, raises=RuntimeError),
    ],
    "rsub.Tensor": [S(T(2, 3), T(3)), S(T(2, 3), T(2, 3), alpha=2)],
    "mul": binary(
        S(T(2, 3, dtype=BOOL), T(3, dtype=BOOL)),
        S(T(2, 3), True),
        S(T(2, 3, dtype=C64), 2j),
        S(3, T(2), variants=False),
    ),
    "true_divide": binary(S(T(2, 3, dtype=LONG), 2), low=0.5),
    "div": binary(
        S(T(2, 3), T(values=[0.0, -0.0, NAN]), grad=False),
        S(T(2, dtype=BOOL), T(2, dtype=BOOL)),
        S(T(2, 3, dtype=LONG), 0),
        low=0.5,
    ),
    "div.mode": [
        S(T(2, 3), T(3, low=0.5), rounding_mode=None),
        S(T(2, 3), T(3, low=0.5), rounding_mode="floor"),
        S(T(2, 3), T(3, low=0.5), rounding_mode="trunc"),
        S(T(2, 3, dtype=LONG), T(3, dtype=LONG, low=2), rounding_mode="floor"),
        S(T(2, 3, dtype=LONG, low=-9), -2, rounding_mode="trunc"),
        S(T(2, 3, dtype=HALF), 0.3, rounding_mode="trunc", grad=False),
        S(T(2, dtype=LONG), 0, rounding_mode="floor", raises=RuntimeError),
        S(T(2, dtype=C64), 2, rounding_mode="floor", raises=NotImplementedError),
        S(T(2), 2, rounding_mode="up", raises=RuntimeError),
    ],
    "floor_divide": [
        S(T(2, 3), T(3, low=0.5), grad=False),
        S(T(2, 3, view="transposed"), 0.3, grad=False),
        S(T(2, 3, dtype=LONG, low=-9, high=9), -4),
        S(T(values=[-7, 7, 0], dtype=LONG), T(values=[2, -2, 5], dtype=LONG)),
        S(T(values=[1.0, -1.0, 0.0, INF, NAN]), 0.0, grad=False),
        S(T(2, dtype=LONG), 0, raises=RuntimeError),
        S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError),
    ],
    **by_overload(
        "remainder",
        binary(
            S(T(values=[-7, 7, 0], dtype=LONG), T(values=[2, -2, 5], dtype=LONG)),
            S(
                T(values=[5.0, -5.0, INF, NAN, 3.0]),
                T(values=[-3.0, 3.0, 2.0, 1.0, INF]),
                grad=False,
            ),
            S(T(values=[1e30, -1e30, 12345.678]), 0.7, grad=False),
            S(T(2, dtype=LONG), 0, raises=RuntimeError),
            S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError),
            S(T(2, dtype=C64), 2, raises=NotImplementedError),
            low=0.5,
            complexes=False,
        ),
    ),
    "lerp.Tensor": [
        S(T(2, 3), T(3), T(2, 3)),
        S(T(2, 3), T(3), T()),
        S(T(3, dtype=C64), T(3, dtype=C64), T(dtype=C64)),
    ],
    "remainder.Scalar_Tensor": [
        S(7, T(3, low=0.5), grad=False),
        S(-7, T(values=[2, 3], dtype=LONG)),
    ],
    **by_overload(
        "fmod",
        binary(
            S(T(values=[-7, 7, 0], dtype=LONG), T(values=[2, -2, 5], dtype=LONG)),
            S(
                T(values=[5.0, -5.0, INF, NAN, 3.0]),
                T(values=[-3.0, 3.0, 2.0, 1.0, INF]),
                grad=False,
            ),
            S(T(2, dtype=LONG), 0, raises=RuntimeError),
            S(T(2, dtype=C64), 2, raises=NotImplementedError),
            low=0.5,
            complexes=False,
        ),
    ),
    "lerp": [
        S(T(2, 3), T(2, 3), 0.3),
        S(T(2, 3), T(3), 0.7),
        S(T(2, 3), T(2, 3), weight=2),
        S(T(0, 3), T(3), 0.5),
        S(T(3, dtype=C64), T(3, dtype=C64), 0.3),
        S(T(3, dtype=HALF), T(3, dtype=HALF), 0.3, grad=False),
        S(T(3), T(3, dtype=DOUBLE), 0.5, raises=RuntimeError),
        S(T(3, dtype=LONG), T(3, dtype=LONG), 0.5, raises=NotImplementedError),
    ],
    "addcmul": [
        S(T(2, 3), T(2, 3), T(2, 3)),
        S(T(2, 3), T(3), T(2, 1), value=0.5),
        S(T(3, dtype=LONG), T(3, dtype=LONG), T(3, dtype=LONG), value=2),
        S(T(3, dtype=C64), T(3, dtype=C64), T(3, dtype=C64)),
        S(T(2, 3), T(2, 3, dtype=LONG), T(3)),
        S(T(2), T(3), T(4), raises=RuntimeError),
    ],
    "addcdiv": [
        S(T(2, 3), T(2, 3), T(2, 3, low=0.5)),
        S(T(2, 3), T(3), T(2, 1, low=0.5), value=0.5),
        S(T(3, dtype=C64), T(3, dtype=C64), T(3, dtype=C64, low=0.5)),
        S(
            T(3, dtype=C64),
            T(values=[1 + 1j, 2j, 0j], dtype=C64),
            T(values=[0j, 0j, 0j], dtype=C64),
            grad=False,
        ),
        S(T(3, dtype=LONG), T(3, dtype=LONG), T(3, dtype=LONG), raises=RuntimeError),
    ],
}
