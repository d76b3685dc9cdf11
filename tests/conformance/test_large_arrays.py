"""Loops over many elements, here and in PyTorch: the same values, dtypes, strides and errors."""

import numpy as np
import pytest

DRAW = np.random.default_rng(0)
ARRAYS = {
    "x": DRAW.standard_normal(2000).astype("float32"),
    "A": DRAW.standard_normal((40, 50)).astype("float32"),
    "R": DRAW.standard_normal((1, 50)).astype("float32"),
    "K": DRAW.standard_normal((40, 1)).astype("float32"),
    "C": DRAW.uniform(0.05, 1, (40, 50)).astype("float32"),
    "i": DRAW.integers(-(2**40), 2**40, 2000),
    "j": DRAW.integers(1, 2**20, 2000),
    "s": DRAW.integers(-100, 100, 2000),
    "z": DRAW.integers(0, 3, 2000),
    "e": np.argsort(DRAW.random((40, 50)), 1),
    "p": DRAW.permutation(40),
    "u": DRAW.integers(-2000, 2000, 2000),
    "m": DRAW.random((40, 50)) > 0.5,
    "b": np.sort(DRAW.standard_normal(77)).astype("float32"),
}
PROGRAMS = (
    *("i // j", "i % j", "L.fmod(i, j)", "i // -7", "i % -7", "s // j.int()", "s.int() % 9"),
    *("i // 2.5", "s.to(L.uint8) // 7", "L.div(i, j, rounding_mode='floor')", "7 // j", "i // 0"),
    *("L.div(i, j, rounding_mode='trunc')", "i // z", "i % z", "i // z.bool()", "i[:5] // j"),
    *("s.to(L.uint8) // 256", "s.to(L.uint8) % L.tensor(256)", "i[:0] // 0", "i.remainder_(z)"),
    *("L.floor_divide(i, j, out=x.double())", "L.floor_divide(i, j, out=x.int())", "x // 0"),
    *("i.floor_divide_(2.5)", "i.bool() // i.bool()", "i.bool() % i.bool()"),
    *("L.searchsorted(b, A)", "L.searchsorted(b, A, right=True)", "L.bucketize(A, b)"),
    *("L.searchsorted(s.sort()[0], j)", "L.bucketize(x, b, out_int32=True)"),
    *("L.searchsorted(b, L.tensor([float('nan'), float('inf')]))",),
    *("A.rot90()", "A.t().rot90(-1)", "A.rot90(2)", "A.t().contiguous()", "A.flip(1).t().clone()"),
    *("A.copy_(R)", "A.copy_(K)", "A.copy_(R[0])", "A.t().copy_(K[:, 0])", "A.copy_(R.double())"),
    *("A.copy_(R[:, :7])", "A.copy_(i)", "A.copy_(L.tensor(3))", "R.copy_(A)", "A.fill_(2)"),
    *("L.diag(b)", "L.diag_embed(A, 1).shape", "L.arange(0.3, 200, 0.1)", "L.full_like(A, 2)"),
    *("x.take(u)", "x.take(u.int())", "x.take(u + 5000)", "A.take(u)", "x[:0].take(u)"),
    *("x.put(u[:1], x[:1])", "A.scatter(1, e, C)", "A.scatter_add(1, e, C)"),
    "A.scatter(0, e % 40, 2.)",
    *("A.index_copy(0, p, C)", "A.index_copy(0, p, C.double())", "A.index_copy(0, p[:3], C)"),
    *("A[m]", "A.masked_fill(m, 2)", "L.where(m, A, R)", "i.unique()", "s.bincount()"),
    *("s.unique(return_counts=True)", "s.unique(return_inverse=True)", "j.bincount()[:99]"),
    *("s.sort(stable=True)", "s.sort(descending=True, stable=True)", "x.sort()", "A.topk(7, 1)"),
    *("A.kthvalue(7, 1)", "i.float()", "i.double()", "x.bool()", "x.double()", "m.float()"),
    *("L.copysign(A, R)", "L.clamp(A, R, K)", "s.clamp(-3, 4)", "L.nn.functional.glu(A)"),
    *("L.nn.functional.glu(A, 0)", "L.nn.functional.glu(A[:, :7])", "x.sin()", "x.cos()"),
    *("C.multinomial(8)", "C.multinomial(50)", "C[0].multinomial(3)", "C.double().multinomial(9)"),
    *("L.nn.functional.embedding_bag(e[:, :8] % 40, A)",),
)


def run(library, code):
    """What a program gives: the error, or dtypes, shapes, strides and values of its results."""
    names = {name: library.from_numpy(array.copy()) for name, array in ARRAYS.items()}
    library.manual_seed(0)
    try:
        result = eval(code, names | {"L": library})
    except Exception as error:
        return type(error).__name__, str(error).split(". ")[0].split("\n")[0], names
    several = result if isinstance(result, tuple) and hasattr(result[0], "stride") else (result,)
    return several, names


@pytest.mark.parametrize("code", PROGRAMS)
def test_programs_give_the_same(lib, torch, code):
    *own, names = run(lib, code)
    *other, others = run(torch, code)
    if len(other) == 2 or len(own) == 2:
        assert own == other
    else:
        for a, b in zip(own[0], other[0], strict=True):
            if not hasattr(a, "stride"):
                assert tuple(a) == tuple(b)
                continue
            assert str(a.dtype).partition(".")[2] == str(b.dtype).partition(".")[2]
            assert (a.shape, a.stride()) == (tuple(b.shape), b.stride())
            exact = not a.is_floating_point() or "multinomial" in code
            rtol, atol = (0, 0) if exact else (2e-6, 1e-6)
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol, atol)
    for name in ARRAYS:  # also after an error
        if not (len(other) == 2 and code == "i.remainder_(z)"):  # PyTorch has written some
            np.testing.assert_allclose(names[name].numpy(), others[name].numpy(), 2e-6, 1e-6)
