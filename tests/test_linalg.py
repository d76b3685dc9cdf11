"""Products: layouts and sizes against NumPy, the road that matmul and linear take, einsum."""

import itertools
import warnings

import numpy as np
import pytest

import imode
from imode.nn import functional as F

rng = np.random.default_rng(3)


def matrix(shape, dtype="float32", layout="c"):
    """A tensor and its array: "c", "t" (transposed memory), "s" (every second column)."""
    if dtype.startswith("int"):
        make = lambda s: rng.integers(-3, 4, s).astype(dtype)
    elif dtype.startswith("complex"):
        make = lambda s: (rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype)
    else:
        make = lambda s: rng.standard_normal(s).astype(dtype)
    if layout == "t":
        tensor = imode.from_numpy(make((*shape[:-2], shape[-1], shape[-2]))).transpose(-2, -1)
    elif layout == "s":
        tensor = imode.from_numpy(make((*shape[:-1], 2 * shape[-1])))[..., ::2]
    else:
        tensor = imode.from_numpy(make(shape))
    return tensor, tensor.numpy()


def close(seen, wanted):
    assert seen.shape == wanted.shape
    assert seen.numpy().dtype == wanted.dtype
    tolerance = 1e-4 if wanted.dtype.name in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(seen.numpy(), wanted, tolerance, tolerance)


# ---- every size class and layout ----

SIZES = [(1, 1, 1), (2, 3, 4), (1, 64, 64), (5, 17, 70), (33, 20, 9), (60, 64, 61)]
LAYOUTS = list(itertools.product("cts", "cts"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
@pytest.mark.parametrize("size", SIZES)
def test_matrices(size, dtype):
    n, k, m = size
    for first, second in LAYOUTS:
        a, x = matrix((n, k), dtype, first)
        b, y = matrix((k, m), dtype, second)
        v, z = matrix((k,), dtype)
        close(a.mm(b), x @ y)
        close(a @ b, x @ y)
        close(a.mv(v), x @ z)
        close(v @ b, z @ y)
        close(v.dot(v), z @ z)


@pytest.mark.parametrize("size", SIZES)
def test_stacks(size):
    n, k, m = size
    for first, second in LAYOUTS:
        a, x = matrix((3, n, k), layout=first)
        b, y = matrix((3, k, m), layout=second)
        c, z = matrix((k, m), layout=second)
        for mode in (imode.enable_grad, imode.inference_mode):
            with mode():
                close(a.bmm(b), x @ y)
                close(a @ b, x @ y)
                close(a @ c, x @ z)
                close(a[0] @ b, x[0] @ y)
                close(a.unsqueeze(1) @ b, x[:, None] @ y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_linear(size, dtype):
    n, k, m = size
    weight, w = matrix((m, k), dtype)
    bias, b = matrix((m,), dtype)
    for lead in ((), (n,), (2, n), (2, 1, n)):
        x, a = matrix((*lead, k), dtype)
        for mode in (imode.enable_grad, imode.inference_mode):
            with mode():
                close(F.linear(x, weight, bias), a @ w.T + b)
                close(F.linear(x, weight), a @ w.T)


@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (2, 1), (1, 0.5), (-1, 3)])
@pytest.mark.parametrize("addend", [(), (4,), (1,), (2, 1), (1, 4), (2, 4)])
def test_addmm(addend, beta, alpha):
    c, z = matrix(addend)
    a, x = matrix((2, 3))
    b, y = matrix((3, 4))
    wanted = (beta * z + alpha * (x @ y)).astype("float32")
    close(imode.addmm(c, a, b, beta=beta, alpha=alpha), wanted)


def test_beta_of_zero_hides_nan():
    nan = imode.full((2, 2), float("nan"))
    assert imode.addmm(nan, imode.ones(2, 2), imode.ones(2, 2), beta=0).tolist() == [[2, 2]] * 2


# ---- what is recorded ----


def nodes(tensor):
    names, fn = [], tensor.grad_fn
    while fn is not None and fn.name() != "torch::autograd::AccumulateGrad":
        names.append(fn.name())
        fn = fn.next_functions[0][0] if fn.next_functions else None
    return [name for name in names if "AccumulateGrad" not in name]


def test_matmul_is_made_of_what_fits():
    def grad(*shape):
        return imode.ones(*shape, requires_grad=True)

    assert nodes(grad(3) @ grad(3)) == ["DotBackward0"]
    assert nodes(grad(2, 3) @ grad(3)) == ["MvBackward0"]
    assert nodes(grad(2, 3) @ grad(3, 4)) == ["MmBackward0"]
    assert nodes(grad(5, 2, 3) @ grad(3, 4)) == [
        "UnsafeViewBackward0",
        "MmBackward0",
        "ViewBackward0",
    ]
    assert nodes(grad(5, 2, 3) @ grad(5, 3, 4))[:2] == ["UnsafeViewBackward0", "BmmBackward0"]


def test_linear_is_addmm_of_the_transposed_weight():
    x, weight, bias = imode.ones(2, 3), imode.ones(4, 3), imode.ones(4)
    out = F.linear(x, weight.requires_grad_(), bias.requires_grad_())
    assert out.grad_fn.name() == "AddmmBackward0"
    assert out.grad_fn.next_functions[2][0].name() == "TBackward0"


def test_nothing_recorded_is_nothing_composed():
    """Without gradients the products are computed at once; with a trace on they are not."""
    x, weight = imode.ones(5, 2, 3), imode.ones(4, 3)
    with imode.inference_mode():
        with imode.trace_dispatch() as trace:
            traced = F.linear(x, weight)
        assert any("mm" in str(step) for step in trace)
        assert F.linear(x, weight).tolist() == traced.tolist()


def test_a_replaced_kernel_is_used():
    calls = []

    def kernel(self, mat2):
        calls.append(1)
        return imode.zeros(self.shape[0], mat2.shape[1])

    before = imode.ops.mm.register("CPU", kernel)
    try:
        with imode.inference_mode():
            assert F.linear(imode.ones(2, 3), imode.ones(4, 3)).sum().item() == 0
            assert (imode.ones(2, 3) @ imode.ones(3, 4)).sum().item() == 0
    finally:
        imode.ops.mm.register("CPU", before)
    assert calls == [1, 1]


def test_copied_operands_live_as_long_as_the_product():
    a, x = matrix((70, 40), layout="s")
    b, y = matrix((40, 65), layout="s")
    for _ in range(20):
        close(a.mm(b), x @ y)


# ---- einsum ----


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("ij->ji", [(2, 3)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]),
        ("...i,...i->...", [(4, 3), (3,)]),
        ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("abc,cd,a->bd", [(2, 3, 4), (4, 5), (2,)]),
    ],
)
def test_einsum(equation, shapes):
    tensors, arrays = zip(*(matrix(shape) for shape in shapes), strict=True)
    wanted = np.einsum(equation, *arrays)
    close(imode.einsum(equation, *tensors), wanted)
    close(imode.einsum(equation, list(tensors)), wanted)


def test_einsum_with_lists_of_subscripts():
    a, x = matrix((2, 3))
    b, y = matrix((3, 4))
    close(imode.einsum(a, [0, 1], b, [1, 2], [0, 2]), x @ y)
    close(imode.einsum(a, [0, 1], b, [1, 2]), x @ y)


def test_einsum_needs_an_equation_and_an_operand():
    with pytest.raises(ValueError, match="must specify the equation string"):
        imode.einsum("ij")


# ---- the rest ----


def test_multi_dot_takes_the_cheapest_order():
    shapes = [(10, 30), (30, 5), (5, 60)]
    tensors, arrays = zip(*(matrix(shape) for shape in shapes), strict=True)
    close(imode.linalg.multi_dot(tensors), np.linalg.multi_dot(arrays))
    tensors[0].requires_grad_()
    inner = imode.linalg.multi_dot(tensors).grad_fn.next_functions[0][0]
    assert inner.next_functions[0][0].name() == "MmBackward0"  # (first @ second) @ third


def test_tensordot_and_kron():
    a, x = matrix((2, 3, 4))
    b, y = matrix((4, 3, 5))
    close(imode.tensordot(a, b, ([1, 2], [1, 0])), np.tensordot(x, y, ([1, 2], [1, 0])))
    c, z = matrix((2, 3))
    close(imode.kron(c, c), np.kron(z, z))


def test_distances():
    a, x = matrix((4, 3))
    b, y = matrix((5, 3))
    close(imode.cdist(a, b), np.sqrt(((x[:, None] - y) ** 2).sum(-1)))
    close(imode.dist(a, a + 1, 1), np.float32(12))


def test_chain_matmul_is_deprecated():
    x = imode.ones(2, 2)
    with pytest.warns(UserWarning, match="^imode.chain_matmul is deprecated and will be removed"):
        assert imode.chain_matmul(x, x).tolist() == (x @ x).tolist()


def test_kron_into_an_empty_out_lies_in_row_order():
    a, out = imode.rand(3, 4).t(), imode.empty(0)
    assert imode.kron(a, a, out=out).stride() == (9, 1)
    assert imode.equal(out, imode.kron(a, a))


def test_linear_into_out():
    linear = imode.nn.functional.linear
    weight = imode.rand(4, 3, requires_grad=True)
    for x in (imode.rand(2, 3), imode.rand(2, 5, 3), imode.rand(3)):
        for bias in (None, imode.rand(4)):
            with (
                imode.inference_mode(),
                warnings.catch_warnings(action="ignore"),
                imode.enable_grad(),
            ):
                out = linear(x, weight, bias, out=imode.empty(0))
            assert imode.equal(out, linear(x, weight, bias))
            with pytest.raises(RuntimeError, match=r"^linear\(\): functions with out="):
                linear(x, weight, bias, out=imode.empty(0))
    with pytest.raises(RuntimeError, match=r"^addmv input tensors must have the same"):
        linear(imode.rand(2, 3), imode.rand(3), out=imode.empty(2).double())


def test_addr_overflows_without_a_warning():
    big = imode.tensor([1e38, 0.0])
    assert imode.addr(imode.ones(2, 2), big, big).tolist() == [[float("inf"), 1], [1, 1]]


@pytest.mark.parametrize("n, k, m", [(4, 9, 8), (7, 16, 17), (24, 24, 24), (33, 5, 40), (9, 1, 8)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_products_in_tiles(n, k, m, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((3, n, k), (3, k, m)))
    wanted, close = a.astype("float64") @ b, 1e-4 if dtype == "float32" else 1e-12
    for right in (b, np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2)):
        found = imode.from_numpy(a) @ imode.from_numpy(right)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=close)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_every_width(dtype, turned):
    # The last columns and rows are parts of vectors and of tiles, or are computed once more.
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 7, 8, 13, 49):
        for m in range(1, 70):
            a = rng.integers(-9, 9, (2, n, 11)).astype(dtype)
            b = rng.integers(-9, 9, (2, m, 11) if turned else (2, 11, m)).astype(dtype)
            b = b.swapaxes(1, 2) if turned else b
            x, y = imode.from_numpy(a), imode.from_numpy(b)
            assert (x @ y).numpy().tolist() == (a @ b).tolist()
            assert (x[0] @ y[0]).numpy().tolist() == (a[0] @ b[0]).tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_products_of_integers_wrap_around(dtype):
    # NumPy's loop of Python's own order beside tiles, panels and dot products, cut in every way.
    rng = np.random.default_rng(0)
    limits = np.iinfo(dtype)

    def matrix(n, m, layout):
        x = rng.integers(limits.min, limits.max, (2 * n, 2 * m), dtype, endpoint=True)
        if layout == "turned":
            x = np.ascontiguousarray(x.T).T
        return x[:n, ::2] if layout == "strided" else x[:n, :m]

    sizes = [(1, 40, 300), (300, 40, 1), (1, 300, 7), (2, 70, 90), (3, 20, 65), (4, 33, 200)]
    sizes += [(9, 200, 33), (12, 9, 13), (17, 390, 31), (130, 20, 257), (101, 193, 66)]
    for n, k, m in sizes:
        for left, right in itertools.product(["plain", "turned", "strided"], repeat=2):
            a, b = matrix(n, k, left), matrix(k, m, right)
            wanted = np.einsum("ij,jk->ik", a, b)
            x, y = imode.from_numpy(a), imode.from_numpy(b)
            assert np.array_equal((x @ y).numpy(), wanted)
            assert np.array_equal(imode.mv(y.t(), x[0]).numpy(), wanted[0])
            assert np.array_equal(imode.addmm(x[:1, :1], x, y).numpy(), a[:1, :1] + wanted)
            stacks = imode.bmm(x.expand(3, n, k), imode.stack([y, y + 1, y]))
            assert np.array_equal(stacks[::2].numpy(), np.stack([wanted, wanted]))


def test_a_stack_may_hold_one_matrix_several_times():
    for shape in ((2, 1, 4, 3), (1, 2, 4, 3), (2, 3, 1, 4, 3), (2, 1, 3, 4, 3), (1, 2, 2, 4, 3)):
        full = (*[3 if size == 1 else size for size in shape[:-2]], 4, 3)
        x = imode.from_numpy(rng.standard_normal((*full[:-2], 5, 4)))
        y = imode.from_numpy(rng.standard_normal(shape)).expand(full)
        close(x @ y, x.numpy() @ y.numpy())
