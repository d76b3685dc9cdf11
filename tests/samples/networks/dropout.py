"""Dropout and random slopes."""

from tests.samples import S, T

SAMPLES = {
    "dropout": [
        S(T(3, 4), 0.5, True, values=False, grad=False),
        S(T(3, 4, view="expanded"), 0.5, True, grad=False),
        S(T(3, 4), 0.5, False),
        S(T(3, 4), 0.0, True),
        S(T(3, 4), 1.0, True),
        S(T(0), 0.5, True),
        S(T(3, 4), 2.0, True, raises=RuntimeError),
        S(T(3, 4), -1.0, True, raises=RuntimeError),
    ],
    "dropout_": [
        S(T(3, 4, requires_grad=False), 0.5, False, grad=False),
    ],
    "feature_dropout": [
        S(T(3, 4, 2), 0.5, True, values=False, grad=False),
        S(T(3, 4, 2), 0.5, False),
        S(T(3), 0.5, True, raises=RuntimeError),
    ],
    "feature_dropout_": [
        S(T(3, 4, 2, requires_grad=False), 0.5, False, grad=False),
    ],
    "alpha_dropout": [
        S(T(3, 4), 0.5, True, grad=False),
        S(T(3, 4), 0.5, False),
        S(T(3, 4), 1.0, True),
        S(T(0), 0.5, True),
        S(T(3, 4), 2.0, True, raises=RuntimeError),
    ],
    "alpha_dropout_": [S(T(3, 4, requires_grad=False), 0.5, True, grad=False)],
    "feature_alpha_dropout": [
        S(T(3, 4, 2), 0.5, True, grad=False),
        S(T(3, 4, 2), 0.5, False),
        S(T(3), 0.5, True, raises=RuntimeError),
    ],
    "feature_alpha_dropout_": [S(T(3, 4, 2, requires_grad=False), 0.5, True, grad=False)],
    "rrelu": [
        S(T(3, 4)),
        S(T(8, 8, dtype="float16", requires_grad=False), grad=False),
        S(T(3, 4), 0.25, 0.5, True, grad=False),
        S(T(3, 4, dtype="float64", view="transposed"), 0.25, 0.5, True, grad=False),
        S(T(), 0.25, 0.5, True, grad=False),
        S(T(3, 4), 0.5, 0.25, raises=RuntimeError),
        S(T(3, dtype="int64"), raises=NotImplementedError),
    ],
    "rrelu_": [S(T(3, 4, requires_grad=False), 0.25, 0.5, True, grad=False)],
}
