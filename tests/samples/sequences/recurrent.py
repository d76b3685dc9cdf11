"""Recurrent networks over sequences, and their cells."""

from tests.samples import S, T

_X, _H = T(3, 2, 4, low=-1, high=1), T(1, 2, 5, low=-1, high=1)
_HIDDEN = T(2, 5, low=-1, high=1)
_SIZES = T(values=[2, 2, 1], dtype="int64")


def _params(gates, features=4, hidden=5, layers=1, directions=1, bias=True):
    made = []
    for layer in range(layers):
        for _ in range(directions):
            width = hidden * directions if layer else features
            made += [T(gates * hidden, width), T(gates * hidden, hidden)]
            made += [T(gates * hidden), T(gates * hidden)] * bias
    return tuple(made)


def _of(gates, hx, one):
    """Samples of a network: hx, and of one step more than one layer."""
    rest = (0.0, False, False, False)
    deep = (0.0, False, True, True)
    return [
        S(_X, hx, _params(gates), True, 1, *rest),
        S(_X, hx, _params(gates, bias=False), False, 1, *rest),
        S(T(2, 3, 4), one, _params(gates, layers=2, directions=2), True, 2, *deep, grad=False),
        S(T(6, 2, 4), hx, _params(gates), True, 1, *rest, grad=False),
        S(T(0, 2, 4), hx, _params(gates), True, 1, *rest, raises=RuntimeError),
        S(_X, hx, _params(gates)[:3], True, 1, *rest, raises=RuntimeError),
    ]


def _packed(gates, hx):
    return [
        S(T(5, 4), _SIZES, hx, _params(gates), True, 1, 0.0, False, False),
        S(T(5, 4), _SIZES, hx, _params(gates)[:3], True, 1, 0.0, False, False,
          raises=RuntimeError),
    ]  # fmt: skip


_PAIR = (_H, T(1, 2, 5, low=-1, high=1))
_DEEP = T(4, 2, 5)


def _cell(gates, hx, other):
    w = (T(gates * 5, 4), T(gates * 5, 5))
    biases = (T(gates * 5), T(gates * 5))
    return [
        S(T(2, 4), hx, *w, *biases),
        S(T(2, 4), hx, *w),
        S(T(2, 4, dtype="float64"), other, *(T(*each.shape, dtype="float64") for each in w)),
        S(T(2, 3), hx, *w, raises=RuntimeError),
        S(T(1, 4), hx, *w, raises=RuntimeError),
        S(T(2, 4), hx, T(gates * 4, 4), w[1], raises=RuntimeError),
        S(T(2, 4), hx, w[0], T(gates * 4, 5), raises=RuntimeError),
        S(T(4), hx, *w, raises=IndexError),
    ]


_WIDE = T(2, 5, dtype="float64")
SAMPLES = {
    "lstm.data": _packed(4, _PAIR),
    "gru.data": _packed(3, _H),
    "rnn_tanh.data": _packed(1, _H),
    "rnn_relu.data": _packed(1, _H),
    "lstm.input": [
        *_of(4, _PAIR, (_DEEP, T(4, 2, 5))),
        S(_X, (_H,), _params(4), True, 1, 0.0, False, False, False, raises=RuntimeError),
    ],
    "gru.input": _of(3, _H, _DEEP),
    "rnn_tanh.input": _of(1, _H, _DEEP),
    "rnn_relu.input": _of(1, _H, _DEEP),
    "lstm_cell": [
        *_cell(4, (_HIDDEN, T(2, 5)), (_WIDE, _WIDE)),
        S(T(2, 4), (_HIDDEN,), T(20, 4), T(20, 5), raises=RuntimeError),
    ],
    "gru_cell": _cell(3, _HIDDEN, _WIDE),
    "rnn_tanh_cell": _cell(1, _HIDDEN, _WIDE),
    "rnn_relu_cell": _cell(1, _HIDDEN, _WIDE),
}
