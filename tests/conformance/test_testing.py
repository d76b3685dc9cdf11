"""assert_close and make_tensor: what passes, and the whole text of what does not."""

import importlib

import numpy as np
import pytest

from tests.conformance.side_by_side import run, same

CALLS = [
    *("A(1, 1)", "A(1, 2)", "A(1.0, 1.0 + 1e-8)", "A(1.0, 1.1)", "A(0.0, 1.0)", "A(1.0, 0.0)"),
    *("A(1, 1.0)", "A(1, 1.0, check_dtype=False)", "A(1, 2.5, check_dtype=False)"),
    *("A(1+2j, 1+3j)", "A(nan, nan)", "A(nan, nan, equal_nan=True)", "A(inf, inf)", "A(inf, 1.0)"),
    *("A(True, True)", "A(True, False)", "A(True, 1)", "A(np.bool_(1), True)", "A(None, None)"),
    *("A(None, 1)", "A(1, None)", "A('a', 'a')", "A(object(), 1)", "A(np.float32(1), 1.0)"),
    *("A(np.float32(1), 2.0)", "A([1, 2], [1, 2])", "A([1, 2], (1, 2))", "A([1, 2], [1, 3])"),
    *("A([1], [1, 2])", "A({'a': 1}, {'a': 1})", "A({'a': 1}, {'b': 1})", "A({'a': 1}, {'a': 2})"),
    *("A({'a': [t.ones(2), 1]}, {'a': [t.ones(2), 2]})", "A({1: 2, 'a': 3}, {1: 2, 'a': 4})"),
    *("A(t.ones(2), t.ones(2))", "A(t.ones(2), t.ones(3))", "A(t.ones(2), t.ones(2) + 1e-7)"),
    *("A(t.ones(2, 3), t.ones(2, 3) * 2)", "A(t.ones(2), t.ones(2).double())"),
    *("A(t.ones(2), t.ones(2).double(), check_dtype=False)", "A(t.ones(2), [1.0, 1.0])"),
    *("A(t.arange(6).view(2, 3), t.arange(6).view(2, 3) + (t.arange(3) == 1))",),
    *("A(t.tensor(1.0), t.tensor(2.0))", "A(t.tensor(1), t.tensor(3))", "A(t.ones(2), None)"),
    *("A(t.ones(2), t.zeros(2))", "A(t.zeros(2), t.ones(2), rtol=0, atol=0)"),
    *("A(t.zeros(2), t.ones(2), rtol=0.1)", "A(t.zeros(2), t.ones(2), atol=0.1)"),
    *("A(t.zeros(2), t.ones(2), rtol=1, atol=1)", "A(t.ones(2), t.ones(2) * 3, rtol=1, atol=0.5)"),
    *("A(t.tensor([nan, 1]), t.tensor([nan, 1]))", "A(t.tensor([nan]), t.tensor([1.0]))"),
    *("A(t.tensor([nan, 1]), t.tensor([nan, 1]), equal_nan=True)", "A(t.ones(0), t.ones(0))"),
    *(
        "A(t.tensor([True, False]), t.tensor([True, True]))",
        "A(t.ones(2).half(), t.ones(2).half())",
    ),
    *("A(t.ones(2).half(), t.ones(2).half() + 0.1)", "A(t.ones(2).bfloat16(), t.ones(2) * 1.1)"),
    *("A(t.ones(2).bfloat16(), t.ones(2).bfloat16() * 1.1)", "A(t.ones(2, 2).t(), t.ones(2, 2))"),
    *("A(t.ones(2, 3).t(), t.ones(3, 2), check_stride=True)", "A(t.ones(2) * 1j, t.ones(2) * 2j)"),
    *("A(t.tensor([1, 2], dtype=t.uint8), t.tensor([255, 2], dtype=t.uint8))",),
    *(
        "A(t.ones(2, device='meta'), t.ones(2))",
        "A(t.ones(2, device='meta'), t.zeros(2).to('meta'))",
    ),
    *("A(t.eye(2).to_sparse(), t.eye(2).to_sparse())", "A(t.eye(2).to_sparse(), t.eye(2))"),
    *("A(t.eye(2).to_sparse(), t.eye(2), check_layout=False)",),
    *("A(t.eye(2).to_sparse(), (t.eye(2) * 2).to_sparse())",),
    *("A(t.eye(2).to_sparse(), t.ones(2, 2).to_sparse())",),
    *("A(t.eye(2).to_sparse(), t.eye(2).flip(0).to_sparse())",),
    *("A(t.ones(2).to(t.float8_e5m2), t.ones(2).to(t.float8_e5m2))",),
    *("A(t.ones(2).to(t.float8_e5m2), t.zeros(2).to(t.float8_e5m2))",),
    *("A(t.ones(2).to(t.float8_e5m2), t.ones(2).to(t.float8_e5m2), rtol=1, atol=1)",),
    *("A(1, 2, msg='mine')", "A([1], [2], msg=lambda text: 'more: ' + text)"),
    *("A(np.ones(2), np.ones(2))", "A(np.ones(2), np.ones(2) * 2)", "A(np.ones(2), t.ones(2))"),
    *("A(t.ones(1, requires_grad=True), t.ones(1) * 2)", "A(t.nn.Parameter(t.ones(1)), t.ones(1))"),
    *("A(t.tensor([1], dtype=t.uint16), t.tensor([2], dtype=t.uint32), check_dtype=False)",),
    *("O(t.ones(2), [1.0, 1.0001])", "O([1.0], [2.0])", "O(t.ones(2).half(), t.ones(2))"),
    *("O([1.0], [2.0], msg='mine')", "O(1.0, 1.0, rtol=1)"),
]


@pytest.mark.parametrize("call", CALLS)
def test_comparisons(lib, torch, call):
    def program(t):
        testing = importlib.import_module(f"{t.__name__}.testing")
        names = {"A": testing.assert_close, "O": testing.assert_allclose, "t": t, "np": np}
        try:
            eval(call, {**names, "nan": float("nan"), "inf": float("inf")})
        except Exception as raised:
            text = str(raised).replace("nn.parameter.Parameter", "Tensor")
            if "unexpected exception" in text or "object at" in text:
                text = text[:30]
            return [type(raised).__name__, text]
        return ["passes"]

    same(run(program, lib), run(program, torch))


MADE = [
    *("2, 3, dtype=t.float32", "(4,), dtype=t.int64", "[2, 2], dtype=t.bool", "dtype=t.float64"),
    *("3, dtype=t.complex64", "5, dtype=t.uint8", "5, dtype=t.uint8, low=-3, high=300"),
    *("4, dtype=t.float16", "4, dtype=t.float32, low=1, high=2", "4, dtype=t.int8, low=3, high=4"),
    *("2, 3, dtype=t.float32, noncontiguous=True", "100, dtype=t.int64, low=0, exclude_zero=True"),
    *("2, dtype=t.float32, requires_grad=True", "2, dtype=t.int32, requires_grad=True"),
    *("2, 3, 4, 5, dtype=t.float32, memory_format=t.channels_last", "0, 3, dtype=t.float32"),
    *("2, dtype=t.float32, low=2, high=1", "2, dtype=t.float32, low=float('nan')"),
    *("2, dtype=t.uint8, low=300, high=301", "3, dtype=t.float32, low=2, high=2"),
    *("2, dtype=t.float32, noncontiguous=True, memory_format=t.contiguous_format",),
    *("3, dtype=t.float32, low=-3e38, high=3e38", "3, dtype=t.int64, low=-(2**63), high=2**63 - 1"),
]


@pytest.mark.parametrize("arguments", MADE)
def test_make_tensor(lib, torch, arguments):
    def program(t):
        testing = importlib.import_module(f"{t.__name__}.testing")
        try:
            x = eval(f"f({arguments}, device='cpu')", {"f": testing.make_tensor, "t": t})
        except Exception as raised:
            return [type(raised).__name__, str(raised)]
        return [x, list(x.stride())]

    same(run(program, lib), run(program, torch))
