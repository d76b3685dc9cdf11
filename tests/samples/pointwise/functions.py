"""Samples of functions of one operand."""

from tests.samples import S, T

NAN, INF = float("nan"), float("inf")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, INF, -INF, NAN, 1e-40, 100.0, -100.0, 1e30]


def unary(*more, low=-2, high=2, ints=True, complexes=True, bools=True, special=True):
    """Calls that every function of one operand takes; [low, high] is where it is smooth."""

    def t(*shape, **options):
        return T(*shape, low=low, high=high, **options)

    samples = [
        S(t(2, 3)),
        S(input=t(3), variants=False),
        S(t()),
        S(t(0, 3)),
        S(t(2, 3, view="transposed")),
        S(t(4, view="strided")),
        S(t(2, 3, dtype="float64")),
        S(t(2, 3, dtype="float16"), grad=False),
        S(2.5, raises=TypeError, variants=False),
        S("a", raises=TypeError, variants=False),
    ]
    if special:
        samples.append(S(T(values=SPECIAL), grad=False))
        samples.append(S(T(values=SPECIAL, dtype="float64"), grad=False))
    if ints:
        samples += [S(T(2, 3, dtype=d, low=1)) for d in ("int64", "uint8", "int32")]
    if bools:
        samples.append(S(T(2, 3, dtype="bool")))
    if complexes:
        samples += [S(t(2, 3, dtype=d)) for d in ("complex64", "complex128")]
    return [*samples, *more]


def refused(dtype, error=NotImplementedError):
    return S(T(2, dtype=dtype), raises=error)


SAMPLES = {
    "reciprocal": unary(low=0.5),
    "exp": unary(),
    "exp2": unary(),
    "expm1": unary(),
    "log": unary(low=0.5),
    "log2": unary(low=0.5),
    "log10": unary(low=0.5),
    "log1p": unary(low=-0.5),
    "sqrt": unary(low=0.5),
    "rsqrt": unary(low=0.5),
    "sin": unary(special=False),
    "cos": unary(special=False),
    "tan": unary(low=-1, high=1, special=False),
    "asin": unary(low=-0.5, high=0.5),
    "acos": unary(low=-0.5, high=0.5),
    "atan": unary(),
    "sinh": unary(),
    "cosh": unary(),
    "tanh": unary(),
    "asinh": unary(),
    "acosh": unary(low=1.5, high=3),
    "atanh": unary(low=-0.5, high=0.5),
    "erf": unary(refused("complex64"), complexes=False),
    "erfc": unary(refused("complex64"), complexes=False),
    "sigmoid": unary(),
    "logit": unary(
        S(T(2, 3, low=0.1, high=0.9), 0.2, grad=False),
        S(T(2, 3, low=0.1, high=0.9), eps=0.01),
        low=0.1,
        high=0.9,
        complexes=False,
    ),
    "sinc": unary(low=0.5, special=False),
    "deg2rad": unary(complexes=False),
    "rad2deg": unary(complexes=False),
}
