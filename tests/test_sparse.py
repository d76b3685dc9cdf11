"""Sparse COO tensors: what they are made of, what they compute, what they refuse."""

import copy
import gc
import pickle
import sys

import numpy as np
import pytest

import imode
from imode._core.dispatch import all_operators
from imode._core.sparse import parts

HAVE = imode.DispatchKeySet("SparseCPU", "ADInplaceOrView")


def sparse(n=6, shape=(4, 5), seed=0, dtype="float32"):
    """Return a sparse matrix of n elements, some at one place."""
    rng = np.random.default_rng(seed)
    indices = np.stack([rng.integers(0, size, n) for size in shape])
    values = rng.standard_normal(n).astype(dtype)
    return imode.sparse_coo_tensor(imode.from_numpy(indices), imode.from_numpy(values), shape)


def test_a_key_of_their_own():
    s = sparse()
    assert s.key_set() == HAVE and s.layout is imode.sparse_coo and s.is_sparse
    with imode.inference_mode():
        assert sparse().key_set() == imode.DispatchKeySet("SparseCPU")
    assert imode.ones(1).layout is imode.strided and not imode.ones(1).is_sparse
    assert repr(imode.sparse_csr) == "imode.sparse_csr"


def test_every_operator_has_a_kernel_for_the_key():
    """Else a call with a strided tensor beside a sparse one would run on the sparse one's array."""
    for name, op in all_operators().items():
        assert op.is_composite or op.has_kernel_for("SparseCPU"), name


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "int64", "bool"])
def test_coalesce_and_dense(dtype):
    s = sparse(20, dtype="float32").to(getattr(imode, dtype))
    dense = np.zeros((4, 5), dtype)
    for (i, j), value in zip(s._indices().T.tolist(), s._values().numpy(), strict=True):
        dense[i, j] = dense[i, j] | value if dtype == "bool" else dense[i, j] + value
    tolerance = 1e-2 if dtype == "float16" else 1e-6
    assert np.allclose(s.to_dense().numpy(), dense, tolerance, tolerance)
    c = s.coalesce()
    assert c.is_coalesced() and c.coalesce() is c and not s.is_coalesced()
    places = list(map(tuple, c.indices().T.tolist()))
    assert places == sorted(set(places)) and len(places) < 20
    assert np.allclose(c.to_dense().numpy(), dense, tolerance, tolerance)


def test_factories_in_a_layout():
    for made in (
        imode.zeros(2, 3, layout=imode.sparse_coo), imode.empty((2, 3), layout=imode.sparse_coo),
        imode.zeros_like(imode.ones(2, 3), layout=imode.sparse_coo),
        imode.ones(1).new_zeros(2, 3, layout=imode.sparse_coo),
    ):  # fmt: skip
        assert made.is_sparse and made.shape == (2, 3) and not made.to_dense().any()
    assert not imode.zeros_like(sparse(), layout=imode.strided).is_sparse
    assert not imode.ones(2, layout=imode.strided).is_sparse
    with pytest.raises(NotImplementedError, match="SparseCPU"):
        imode.ones(2, layout=imode.sparse_coo)
    with pytest.raises(NotImplementedError, match="sparse_csr"):
        imode.zeros(2, layout=imode.sparse_csr)
    with pytest.raises(TypeError, match="layout"):
        imode.zeros(2, layout=3)


def test_large_keys_are_sorted():
    rng = np.random.default_rng(1)
    indices = rng.integers(0, 1 << 28, (2, 1000))
    s = imode.sparse_coo_tensor(imode.from_numpy(indices), imode.ones(1000), (1 << 28, 1 << 28))
    order = np.lexsort(indices[::-1])
    assert s.coalesce().indices().tolist() == indices[:, order].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32", "float16"])
def test_products(dtype):
    a = sparse(9).to(getattr(imode, dtype))
    x = (imode.arange(10).reshape(5, 2) - 4).to(a.dtype)
    y = (imode.arange(8).reshape(2, 4) - 4).to(a.dtype)
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    for ours, dense in (
        (a @ x, a.to_dense() @ x), (y @ a, y @ a.to_dense()), (a @ x[:, 0], a.to_dense() @ x[:, 0]),
        (imode.spmm(a.t(), y.t()), a.to_dense().t() @ y.t()),
    ):  # fmt: skip
        assert ours.layout is imode.strided and imode.allclose(ours, dense, tolerance, tolerance)
    if dtype in ("float32", "float64", "complex128"):
        product = a @ a.t()
        assert product.is_sparse and product.is_coalesced()
        assert imode.allclose(product.to_dense(), a.to_dense() @ a.to_dense().t(), 1e-5, 1e-5)


FUNCTIONS = [
    lambda v, x: imode.sparse.mm(made(v), x),
    lambda v, x: made(v) @ x,
    lambda v, x: made(v).to_dense() * 2,
    lambda v, x: made(v).coalesce().values() ** 2,
    lambda v, x: (made(v) * made(v)).to_dense(),
    lambda v, x: imode.sparse.sum(made(v), 0).to_dense() ** 2,
    lambda v, x: imode.sparse.softmax(made(v), 1).to_dense(),
    lambda v, x: imode.sparse.log_softmax(made(v), 0).to_dense(),
    lambda v, x: x + imode.sparse_coo_tensor([[0, 2, 0]], v[:3].reshape(3, 1).expand(3, 2), (3, 2)),
    lambda v, x: imode.sparse.addmm(imode.ones(2, 2, dtype=v.dtype), made(v), x, alpha=2),
    lambda v, x: x.to_sparse().to_dense() * 2,
    lambda v, x: x.sparse_mask(imode.eye(3, 2).to_sparse()).to_dense() ** 2,
    lambda v, x: (made(v) @ made(v).t()).to_dense(),
    lambda v, x: imode.sparse.mm(made(v), made(v).t()).to_dense(),
]


def made(values):
    return imode.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], values, (2, 3))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives(function):
    v = imode.tensor([3.0, -4.0, 5.0, 1.0], dtype=imode.float64, requires_grad=True)
    x = imode.arange(1.0, 7, dtype=imode.float64).reshape(3, 2).requires_grad_()
    assert imode.autograd.gradcheck(function, (v, x))


TWICE = [f for i, f in enumerate(FUNCTIONS) if i not in (6, 7)]  # softmax has one derivative


@pytest.mark.parametrize("function", TWICE)
def test_second_derivatives(function):
    v = imode.tensor([3.0, -4.0, 5.0, 1.0], dtype=imode.float64, requires_grad=True)
    x = imode.arange(1.0, 7, dtype=imode.float64).reshape(3, 2).requires_grad_()
    assert imode.autograd.gradgradcheck(function, (v, x))


def test_gradients_of_both_layouts_add_up():
    table = imode.ones(4, 2, requires_grad=True)
    taken = imode.tensor([0, 2, 0])
    embedded = lambda: imode.nn.functional.embedding(taken, table, sparse=True).sum()
    embedded().backward()
    assert table.grad.is_sparse
    embedded().backward()
    assert table.grad.is_sparse and table.grad.to_dense().tolist()[0] == [4, 4]
    table.sum().backward()
    assert not table.grad.is_sparse and table.grad.tolist()[0] == [5, 5]
    embedded().backward()
    assert table.grad.tolist() == [[7, 7], [1, 1], [4, 4], [1, 1]]
    table.grad = None
    (embedded() + table.sum() + embedded()).backward()
    assert table.grad.tolist() == [[5, 5], [1, 1], [3, 3], [1, 1]]


def test_a_write_is_seen_by_what_was_saved():
    s = sparse().requires_grad_()
    x = imode.ones(5, 2)
    y = (s * 1) @ x.requires_grad_()
    with imode.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    t = sparse()
    y = t @ x
    t.mul_(2)
    assert t._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_write_leaves_others_as_they_were():
    s = sparse()
    before, shared = s.to_dense(), s.detach()
    s.mul_(2).add_(s)
    assert imode.equal(shared.to_dense(), before)
    assert imode.allclose(s.to_dense(), before * 4)
    with pytest.raises(RuntimeError, match="expected sizes"):
        s.add_(imode.eye(3).to_sparse())
    assert imode.allclose(s.to_dense(), before * 4)


@pytest.mark.parametrize("index", [-1, 4, 1 << 40, -(1 << 62)])
def test_places_outside_are_refused(index):
    for make in (
        lambda: imode.sparse_coo_tensor([[0, index]], [1.0, 2.0], (4,)),
        lambda: imode.sparse_coo_tensor([[0, index]], [1.0, 2.0], (4,), check_invariants=False),
    ):
        with pytest.raises(RuntimeError, match=r"negative index|inconsistent with indices"):
            make()


def test_indices_cannot_be_written_to():
    places = imode.tensor([[0, 1]])
    s = imode.sparse_coo_tensor(places, [1.0, 2.0], (2,))
    places.fill_(100)
    assert s.to_dense().tolist() == [1, 2]
    for given in (s._indices(), s.coalesce().indices(), s.unsqueeze(0)._indices()):
        with pytest.raises(RuntimeError):
            given.fill_(100)
    assert (s + s).to_dense().tolist() == [2, 4]


def test_sizes_that_overflow():
    for size in ((1 << 40, 1 << 40), (1 << 62, 4), (1 << 63, 1)):
        with pytest.raises((RuntimeError, TypeError, OverflowError)):
            imode.sparse_coo_tensor([[0], [0]], [1.0], size)
    wide = imode.sparse_coo_tensor([[0], [0]], [1.0], (1 << 30, 1 << 30))
    assert (wide + wide).coalesce().values().tolist() == [2.0]
    with pytest.raises((RuntimeError, MemoryError)):
        wide.to_dense()


def test_pickles_from_outside_are_checked():
    function, arguments = imode.eye(2).to_sparse().__reduce_ex__(2)
    indices, *rest = arguments
    for wrong in (indices + 5, indices[:1], indices.astype("int32"), indices[:, :1]):
        with pytest.raises(RuntimeError):
            function(wrong, *rest)


def test_copies():
    s = sparse().requires_grad_()
    for made in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s), copy.copy(s)):
        assert made.requires_grad and imode.equal(made.detach().to_dense(), s.detach().to_dense())


def test_normal_tensors_from_inference_mode():
    with imode.inference_mode():
        s = sparse()
    assert s.is_inference() and not s.normal().is_inference() and s.normal().is_sparse
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        s.mul_(2)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        s @ imode.ones(5, 2, requires_grad=True)


def test_arrays_are_freed():
    values = np.ones(3, "float32")
    s = imode.sparse_coo_tensor(imode.zeros(1, 3).long(), imode.from_numpy(values), (4,))
    held = parts(s)
    assert np.shares_memory(held.values, values)
    referred = sys.getrefcount(held)
    del s
    gc.collect()
    assert sys.getrefcount(held) == referred - 1


def test_the_switch_of_checks():
    checks = imode.sparse.check_sparse_tensor_invariants
    assert not checks.is_enabled()
    with checks():
        assert checks.is_enabled()
        with checks(False):
            assert not checks.is_enabled()
    checks.enable()
    assert checks.is_enabled()
    checks.disable()

    @checks()
    def inside():
        return checks.is_enabled()

    assert inside() and not checks.is_enabled()
    guard = checks()
    with guard, pytest.raises(RuntimeError, match="already activated"), guard:
        pass


def test_squares_and_which_mistake_of_a_concatenation_is_named():
    x = imode.tensor([[0.0, 3.0], [-2.0, 0.0]], requires_grad=True)
    y = x.to_sparse().square().to_dense()
    y.sum().backward()
    assert y.tolist() == [[0, 9], [4, 0]] and x.grad.tolist() == [[0, 6], [-4, 0]]
    other = imode.ones(2, 2, 1).to_sparse()
    with pytest.raises(RuntimeError, match=r"^All tensors must have the same shape: "):
        imode.cat([other, x.detach().to_sparse()], -1)


def test_nothing_is_selected_from_a_sparse_number():
    with pytest.raises(IndexError, match=r"^index_select\(\) cannot be applied to a 0-dim tensor"):
        imode.tensor(3.0).to_sparse().index_select(0, imode.tensor([0]))
