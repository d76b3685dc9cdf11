"""Sparse COO tensors beside PyTorch's: results, coordinates, flags, graphs, gradients, errors."""

import io
import pickle
import random
import re
import warnings

import numpy as np
import pytest

from .observe import attempt, failure, node_name

INDICES = [[0, 1, 1, 0], [2, 0, 2, 2]]
VALUES = [3.0, 4.0, 5.0, 1.0]
DTYPES = ("float32", "float64", "complex64", "int64")


def scope(lib, dtype="float32", grad=False):
    """Return what the programs name: sparse s, c (coalesced), h (hybrid); strided d, m, n, u, b."""
    kind = getattr(lib, dtype)
    rng = np.random.default_rng(3)

    def dense(*shape):
        made = lib.from_numpy(np.round(rng.standard_normal(shape) * 4)).to(kind)
        return made.requires_grad_(grad)

    def sparse(indices, values, size):
        values = values if isinstance(values, list) else values.tolist()
        made = lib.sparse_coo_tensor(indices, values, size, dtype=kind)
        return made.requires_grad_(grad)

    names = {"lib": lib, "torch": lib, "kind": kind, "v": lib.tensor(VALUES, dtype=kind)}
    names |= {"i": lib.tensor(INDICES), "e": lib.tensor([0, 2, 0]), "F": lib.nn.functional}
    names["s"] = sparse(INDICES, VALUES, (2, 3))
    names["c"] = sparse([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, -3.0], (2, 3))
    names["h"] = sparse([[1, 0, 1]], np.round(rng.standard_normal((3, 2)) * 4), (3, 2))
    names["c"] = names["c"].detach().coalesce().requires_grad_(grad)
    names |= {"d": dense(2, 3), "m": dense(3, 2), "n": dense(4, 2), "u": dense(3)}
    names["b"] = dense(2, 2)
    names["v"] = names["v"].requires_grad_(grad)
    return names


def seen(tensor, graph=True):
    """Return what is compared of a result."""
    if not hasattr(tensor, "layout"):
        return tuple(tensor) if isinstance(tensor, (tuple, list)) else tensor
    found = {
        "layout": str(tensor.layout).rpartition(".")[2],
        "dtype": str(tensor.dtype).rpartition(".")[2],
        "shape": tuple(tensor.shape),
        "requires_grad": tensor.requires_grad,
        "inference": tensor.is_inference(),
    }
    if graph:
        found |= {"node": node_name(tensor.grad_fn), "is_view": tensor._is_view()}
        found["version"] = attempt(lambda: tensor._version)
    if tensor.is_sparse:
        found |= {"dims": (tensor.sparse_dim(), tensor.dense_dim()), "nnz": tensor._nnz()}
        found["coalesced"] = tensor.is_coalesced()
        found["indices"] = tensor.detach()._indices().tolist()
        found["values"] = Near(tensor.detach()._values())
        tensor = tensor.detach().to_dense()
    found["dense"] = Near(tensor.detach())
    return found


class Near:
    """Numbers that are equal up to rounding."""

    def __init__(self, tensor):
        self.array = np.array(tensor.tolist())

    def __eq__(self, other):
        same = self.array.shape == other.array.shape
        return same and np.allclose(self.array, other.array, 1e-5, 1e-6, equal_nan=True)

    def __repr__(self):
        return repr(self.array.tolist())


def said(error):
    """The class and the first sentence of an error, without an operator's overload."""
    whole = re.sub(r"'aten::(\w+)[\w.]*'", r"'aten::\1'", str(error))
    text = failure(type(error)(whole))
    return "TypeError" if text.startswith("TypeError") else text


def run(lib, program, dtype="float32", grad=False):
    try:
        result = eval(program, scope(lib, dtype, grad))
        if isinstance(result, (tuple, list)) and result and hasattr(result[0], "layout"):
            return [seen(item) for item in result]
        return seen(result)
    except Exception as error:
        return said(error)


RESULTS = """\
torch.zeros(2, 3, layout=torch.sparse_coo); torch.zeros_like(d, layout=torch.sparse_coo)
torch.empty(2, layout=torch.sparse_coo, requires_grad=kind.is_floating_point)
s; c; h; s.coalesce(); c.coalesce() is c; h.coalesce(); s._indices(); s._values(); c.indices()
c.values(); h.coalesce().values(); s.to_dense(); h.to_dense(); c.to_dense(); s.t(); c.t(); s.T
s.mT; s.transpose(0, 1); s.transpose(-1, 0); s.transpose(1, 1); s.permute(1, 0); h.permute(0, 1)
s + s; s + c; c + c; c + s; h + h; d + s; d - s; s - c; c - s; torch.add(s, c, alpha=2)
torch.add(d, s, alpha=2); torch.sub(s, s, alpha=3); s * 2; 2 * s; s * 2.5; s * True; s * c
c * s; c * c; s * d; d * s; s * u; u * s; s * torch.tensor(2.0); h * 3
h * torch.ones(3, 2).to(kind); s / 2; s / torch.tensor(2.0); s // 2; c // 2; -s; s.neg()
s.abs(); c.abs(); s.sqrt(); c.sin(); s.sgn(); h.abs(); s ** 2; c.pow(3); c.tanh(); c.log1p()
c.expm1(); s.isnan(); s.relu(); c.asinh(); c.ceil(); c.floor(); c.round(); c.trunc(); c.sign()
s.sum(); c.sum(); h.sum(); s.sum(0); s.sum(1); s.sum(1, keepdim=True); s.sum((0, 1)); h.sum(0)
h.sum(1); torch.sparse.sum(s); torch.sparse.sum(s, 0); torch.sparse.sum(s, 1)
torch.sparse.sum(s, (0, 1)); torch.sparse.sum(h, 0); torch.sparse.sum(h, 1)
torch.sparse.sum(h, (0, 1)); torch.sparse.sum(s, -1)
torch.sparse.sum(s, 0, dtype=torch.float64); s.sum(0, dtype=torch.float64)
torch.sparse.sum(s, ()); s @ m; c @ m; n @ s; s @ u; torch.mv(s, u); torch.mm(s, m)
torch.mm(n, s); torch.mm(s, s.t()); s @ c.t(); torch.spmm(s, m); torch.sparse.mm(s, m)
torch.sparse.mm(n, s); torch.sparse.mm(s, s.t()); torch.sparse.mm(d, m)
torch.sparse.mm(s, m.t().contiguous().t()); torch.addmm(b, s, m)
torch.addmm(b, s, m, beta=2, alpha=3); torch.addmm(u[:2], s, m)
torch.sparse.addmm(b, s, m, beta=2, alpha=3); torch.sparse.addmm(b, c, m, beta=0)
torch.sparse.softmax(s, 1); torch.sparse.softmax(c, 0); torch.sparse.log_softmax(s, 0)
torch.sparse.log_softmax(c, 1); torch.sparse.softmax(h, 0); torch.sparse.softmax(h, 1)
torch.sparse.log_softmax(h, 1); torch.sparse.softmax(s, 1, dtype=torch.float64); s.select(0, 0)
s.select(1, 2); c.select(0, 1); s[0]; s[-1]; s[0, 2]; s[:, 0]; h[1]; h[:, 0]; h[1, 1]
s.unbind(); s.unsqueeze(0); s.unsqueeze(1); s.unsqueeze(-1); h.unsqueeze(2); h.unsqueeze(0)
torch.cat([s, c]); torch.cat([s, c], 1); torch.cat([h, h]); torch.cat([h, h], 1)
torch.stack([s, c]); torch.stack([c, c], 1); s.index_select(0, torch.tensor([1, 1]))
s.index_select(1, torch.tensor([2, 0])); h.index_select(1, torch.tensor([1]))
h.index_select(0, torch.tensor([2, 1])); s.narrow_copy(0, 0, 1); s.narrow_copy(1, 1, 2)
h.narrow_copy(1, 1, 1); s.clone(); s.detach(); s.data; s.to(torch.float64); s.double()
s.to("cpu"); s.cpu(); s.long(); s.to(torch.bool); torch.zeros_like(s); torch.empty_like(h)
s.new_zeros(2, 3); s.conj(); s.numel(); s.dim(); s.element_size(); len(s); s.is_same_size(d)
s.is_floating_point(); s.storage_offset(); s.stride(); s.is_contiguous(); d.to_sparse()
d.to_sparse(1); d.to_sparse(2); d.to_sparse(layout=torch.sparse_coo); s.to_sparse()
torch.tensor(2.0).to_sparse(); torch.zeros(2, 3).to_sparse(); torch.zeros(0, 3).to_sparse()
d.to_dense() is d; d.sparse_mask(c); d.sparse_mask(s); s.sparse_mask(c)
m.sparse_mask(h.coalesce()); d.dense_dim(); d.sparse_dim(); s.zero_(); s.mul_(2); s.mul_(c)
c.mul_(c); s.div_(2); s.add_(s); s.add_(c); s.sub_(c); s.neg_(); c.abs_(); c.sin_(); s.copy_(c)
s.t_(); c.t_(); s.transpose_(0, 1); d.add_(s); d.sub_(s); d.add_(s, alpha=3); d.t().add_(s.t())
s.sparse_resize_((3, 4), 2, 0); s.sparse_resize_and_clear_((3, 4), 1, 1)
torch.add(s, c, out=s.clone()); torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(size=(2, 3)); torch.sparse_coo_tensor(i, v)
torch.sparse_coo_tensor(i, v, (2, 3)); torch.sparse_coo_tensor(i, v, (4, 5))
torch.sparse_coo_tensor([[0, 1]], [1, 2])
torch.sparse_coo_tensor([[0, 1]], [1, 2], dtype=torch.float64)
torch.sparse_coo_tensor(i.int(), v, (2, 3))
torch.sparse_coo_tensor(i, v, (2, 3), requires_grad=kind.is_floating_point)
torch.sparse_coo_tensor((2, 3), dtype=torch.int32)
torch.sparse_coo_tensor(i[:, :0], torch.zeros(0)); torch.sparse_coo_tensor([[0]], 3.0)
torch.sparse_coo_tensor(i[:0, :1], torch.ones(1), ())
torch.sparse_coo_tensor([[0, 2]], [[1, 2], [3, 4]])
torch.sparse_coo_tensor(i[:, :2], v[:2], (2, 3), is_coalesced=True); s.any(); c.any()"""

MISTAKES = """\
s + 1; s + d; s + m; s + s.t(); u + s; s.t() + d; d.add_(s.t())
torch.ones(2, 3, dtype=torch.long).add_(s.to(torch.float32)); s * s.t(); s / s; s / d; s.exp()
s.cos(); s.max(); s == s; torch.equal(s, s); s.view(6); s.nonzero(); s.fill_(0)
s.values(); s.indices(); d.values(); d.indices(); d.coalesce(); d.is_coalesced(); d._indices()
d._values(); d._nnz(); s.numpy(); s.tolist(); s.item(); bool(s); s.data_ptr()
s.untyped_storage(); s.nbytes; s.abs_(); s.sin_(); torch.sparse.mm(s, d); s @ d
torch.mm(s, m.to(torch.float16)); torch.mv(s, u[:2]); torch.sparse.sum(d)
torch.sparse.sum(s, 3); torch.sparse.sum(s, (0, 0)); torch.sparse.softmax(d, 0)
torch.sparse.softmax(s, 2); s.transpose(0, 5); h.transpose(0, 1); h.t(); s.unsqueeze(5)
s.select(0, 7); s[5]; d.to_sparse(3); d.to_sparse(-1); d.to_sparse(0); s.to_sparse(1)
d.sparse_mask(d); m.sparse_mask(s); s.index_select(0, torch.tensor([5]))
s.index_select(5, torch.tensor([0])); torch.cat([s, d]); s.sparse_resize_((1, 1), 2, 0)
s.sparse_resize_((3, 4), 1, 1); s.copy_(d); d.copy_(s); s.add_(d)
torch.sparse_coo_tensor(i, v, (2, 3, 4)); torch.sparse_coo_tensor(i, v, (2,))
torch.sparse_coo_tensor(i, v[:3], (2, 3)); torch.sparse_coo_tensor(i[0], v, (2, 3))
torch.sparse_coo_tensor(i, v, (2**40, 2**40)); torch.sparse_coo_tensor(s, v)
torch.sparse_coo_tensor(i, s); torch.sparse_coo_tensor(i)
torch.sparse_coo_tensor(i, torch.tensor(2.0))
torch.sparse_coo_tensor(i, v, (2, 2), check_invariants=True)
torch.sparse_coo_tensor(-i, v, (2, 3), check_invariants=True)
torch.sparse_coo_tensor([[0, -1]], [1.0, 1])
torch.sparse_coo_tensor(i, v, (2, 3), check_invariants=True, is_coalesced=True)
s.long().requires_grad_(); torch.mm(s.to(torch.bool), m.to(torch.bool))
s.expand(2, 2, 3) if False else s.exp()
F.embedding(torch.tensor([0]), m.float(), sparse=True, scale_grad_by_freq=True).sum().backward()"""


def programs(text):
    return [p for line in text.splitlines() for p in line.split("; ")]


@pytest.mark.parametrize("dtype", DTYPES)
def test_results(lib, torch, dtype):
    different = []
    for program in programs(RESULTS):
        ours, theirs = run(lib, program, dtype), run(torch, program, dtype)
        if ours != theirs:
            different.append((program, ours, theirs))
    assert not different, "\n".join(map(str, different))


def test_mistakes(lib, torch):
    different = []
    for program in programs(MISTAKES):
        ours, theirs = run(lib, program), run(torch, program)
        assert isinstance(theirs, str), program
        if ours != theirs:
            different.append((program, ours, theirs))
    assert not different, "\n".join(map(str, different))


# ---- gradients ----------------------------------------------------------------------------------

DIFFERENTIATED = """\
s.to_dense(); c.to_dense(); h.to_dense(); s.coalesce().values(); c.values()
h.coalesce().values(); torch.sparse_coo_tensor(i, v, (2, 3)).to_dense()
torch.sparse_coo_tensor(i, v, (2, 3)).coalesce().values()
(torch.sparse_coo_tensor(i, v, (2, 3)) @ m)
torch.sparse.mm(torch.sparse_coo_tensor(i, v, (2, 3)), m); s.t().to_dense(); (s + c).to_dense()
(s - c).to_dense(); (s * 3).to_dense(); (s * c).to_dense(); (s * d).to_dense(); d + s; d - s
torch.add(d, s, alpha=2); (s / 2).to_dense(); (-s).to_dense(); s.abs().to_dense()
c.abs().to_dense(); (s ** 2).to_dense(); s.relu().to_dense(); s.sum(); torch.sparse.sum(s)
torch.sparse.sum(s, 0).to_dense(); torch.sparse.sum(h, 0); torch.sparse.sum(h, 1).to_dense()
s @ m; torch.mm(s, m); n @ s; s @ u; torch.mm(s, m.t().t()); torch.sparse.mm(s, m)
torch.sparse.mm(c, m); torch.sparse.mm(n, s); torch.sparse.mm(s, c.t()).to_dense()
(s @ c.t()).to_dense(); torch.addmm(b, s, m); torch.addmm(b, s, m, beta=2, alpha=3)
torch.sparse.addmm(b, s, m, beta=2, alpha=3); d.to_sparse().to_dense()
d.to_sparse(1).to_dense(); d.sparse_mask(c.detach()).to_dense()
torch.sparse.softmax(s, 1).to_dense(); torch.sparse.log_softmax(c, 1).to_dense()
torch.sparse.softmax(h, 1).to_dense(); torch.sparse.log_softmax(h, 0).to_dense()
s.to(torch.float64).to_dense(); s.clone().to_dense(); torch.stack([s, c]).to_dense()
s.conj().to_dense(); s.detach().to_dense() + d; F.embedding(e, m, sparse=True)
F.embedding(torch.tensor([[0, 2], [1, 0]]), m, padding_idx=0, sparse=True)
F.embedding_bag(e, m, torch.tensor([0, 2]), mode="sum", sparse=True)
F.embedding_bag(e, m, torch.tensor([0, 2]), mode="mean", sparse=True)
F.embedding_bag(e, m, torch.tensor([0, 2]), mode="sum", padding_idx=2, sparse=True)
m.sum() + F.embedding(e, m, sparse=True).sum()"""
INPUTS = ("s", "c", "h", "d", "m", "n", "u", "b", "v")


def gradients(lib, program, dtype, twice):
    names = scope(lib, dtype, True)
    try:
        result = eval(program, names)
        weight = lib.from_numpy(np.cos(np.arange(result.numel(), dtype="float64")) + 2)
        weight = weight.to(result.dtype).reshape(result.shape)
        (weight * result).sum().backward() if not result.is_complex() else (
            (weight * result).sum().abs().backward())  # fmt: skip
        if twice:
            (weight * result * result).sum().abs().backward()
    except Exception as error:
        return said(error)
    return {name: seen(names[name].grad, False) for name in INPUTS}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("program", [p for p in programs(DIFFERENTIATED) if p])
def test_gradients(lib, torch, program, dtype):
    """Layout and dense values: which places come several times is each library's own."""
    warnings.simplefilter("ignore")
    for twice in (False, True):
        ours, theirs = (gradients(x, program, dtype, twice) for x in (lib, torch))
        for found in (ours, theirs):
            for grad in found.values() if isinstance(found, dict) else ():
                for name in ("nnz", "coalesced", "indices", "values") if grad else ():
                    grad.pop(name, None)
        assert ours == theirs


# ---- random programs ----------------------------------------------------------------------------

STEPS = """\
{a}.coalesce(); {a} + {b}; {a} - {b}; {a} * {b}; {a} * 2; {a} / 2; -{a}; {a}.t().t().clone()
{a}.clone(); {a}.abs(); {a}.to_dense().to_sparse(); {a}.sparse_mask({b}).clone()
torch.cat([{a}, {b}]).narrow_copy(0, 1, 4); {a}.index_select(0, p); torch.sparse.softmax({a}, 1)
torch.sparse.mm({a}, {b}); {a} @ {b}.t(); {a}.add_({b}); {a}.mul_(3); {a}.clone().neg_()
{a}.unsqueeze(0).select(0, 0).clone(); torch.stack([{a}, {b}]).select(0, 1)
{a}.transpose(0, 1).clone(); {a}.zero_(); {a}.copy_({b})"""


def random_program(lib, seed):
    """Yield what is seen of every tensor after each step of a program."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    n = rng.choice([0, 1, 3, 9, 20])
    names = {"torch": lib, "p": lib.from_numpy(numbers.integers(0, 4, 4))}
    for name in "xyz":
        indices = lib.from_numpy(numbers.integers(0, 4, (2, n)))
        values = lib.from_numpy(np.round(numbers.standard_normal(n) * 4))
        names[name] = lib.sparse_coo_tensor(indices, values, (4, 4))
    for _ in range(12):
        step = rng.choice(programs(STEPS)).format(a=rng.choice("xyz"), b=rng.choice("xyz"))
        target = rng.choice("xyz")
        try:
            names[target] = eval(step, names)
        except Exception as error:
            yield step, said(error)
            return
        yield step, {name: seen(names[name], False) for name in "xyz"}


def is_coalesced(indices):
    places = list(zip(*indices, strict=True))
    return places == sorted(set(places))


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(lib, torch, seed):
    for ours, theirs in zip(random_program(lib, seed), random_program(torch, seed), strict=True):
        for name in "xyz" if isinstance(theirs[1], dict) else ():
            assert not ours[1][name]["coalesced"] or is_coalesced(ours[1][name]["indices"]), ours[0]
            for found in (ours, theirs):  # whether it is known to be coalesced, and so the rest
                for key in ("coalesced", "nnz", "indices", "values"):
                    found[1][name].pop(key)
        assert ours == theirs


# ---- the rest -----------------------------------------------------------------------------------

SHOWN = """\
s; c; h; s.t(); s.double(); s.long(); s * 2; s.requires_grad_() * 2
torch.sparse_coo_tensor((2, 3)); s.to(torch.bool)
torch.sparse_coo_tensor(i[:0, :1], torch.ones(1), ())
torch.sparse_coo_tensor((2, 3), dtype=torch.int32); torch.nn.Parameter(s); s.requires_grad_()
torch.sparse_coo_tensor((2, 3, 2)); torch.eye(1100).to_sparse(); s.to(torch.complex64)"""


def test_they_look_the_same(lib, torch):
    for program in programs(SHOWN):
        ours, theirs = (repr(eval(program, scope(x))) for x in (lib, torch))
        assert ours.replace("imode.", "torch.") == theirs, program


def test_copies_and_files(lib, torch, tmp_path):
    import copy

    def through_file(tensor, lib):
        file = io.BytesIO()
        lib.save({"a": tensor, "b": [tensor]}, file)
        file.seek(0)
        loaded = lib.load(file)
        assert loaded["a"] is loaded["b"][0] or lib is torch
        return loaded["a"]

    for name in ("s", "c", "h"):
        for grad in (False, True):
            ours, theirs = [], []
            for x, found in ((lib, ours), (torch, theirs)):
                tensor = scope(x, grad=grad)[name]
                made = [copy.deepcopy(tensor), copy.copy(tensor), through_file(tensor, x)]
                found += [seen(t) for t in [pickle.loads(pickle.dumps(tensor)), *made]]
            for found in (*ours, *theirs):
                found.pop("version")
            for found in (ours[0], theirs[0], *ours[2:], *theirs[2:]):  # PyTorch forgets it
                found.pop("requires_grad")
            assert ours == theirs, name


OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ("SparseAdam", {"lr": 0.1}),
    ("SparseAdam", {"lr": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "weight_decay": 0.1}),
]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("bag", [False, True])
def test_optimizers(lib, torch, name, options, bag):
    def trained(lib):
        table = (lib.nn.EmbeddingBag if bag else lib.nn.Embedding)(5, 3, sparse=True)
        with lib.no_grad():
            table.weight.copy_(lib.arange(15.0).reshape(5, 3).cos())
        optimizer = getattr(lib.optim, name)(table.parameters(), **options)
        try:
            for step in range(4):
                optimizer.zero_grad()
                given = lib.tensor([[step % 5, 2], [2, 4]])
                (table(given) ** 2).sum().backward()
                optimizer.step()
        except RuntimeError as error:
            return said(error)
        return seen(table.weight, False)

    assert trained(lib) == trained(torch)


INSIDE = ("s", "s + c", "s.t()", "s.coalesce()", "s @ m", "s.to_dense()", "s.mul_(2)")
OUTSIDE = ("s + c", "s @ m", "s.mul_(2)", "s.requires_grad_()")


@pytest.mark.parametrize("made_inside", [False, True])
def test_inference_mode(lib, torch, made_inside):
    """Versions of new tensors aside, and what fails in a check inside of PyTorch."""

    def of(lib):
        with lib.inference_mode(made_inside):
            names = scope(lib)
        found = []
        for inside, called in ((True, INSIDE), (False, OUTSIDE)):
            for program in called:
                with lib.inference_mode(inside):
                    try:
                        found.append((program, seen(eval(program, names))))
                        found[-1][1].pop("version")
                    except RuntimeError as error:
                        found.append((program, said(error)))
        return found

    for ours, theirs in zip(of(lib), of(torch), strict=True):
        assert ours == theirs or "version_counter" in theirs[1]


# ---- the older constructors ----------------------------------------------------------------------

OLDER = """
T.FloatTensor(i, v, lib.Size([2, 3]))
T.FloatTensor(i, v)
T.FloatTensor(indices=i, values=v, size=(2, 3))
T.FloatTensor(2, 3)
T.FloatTensor()
T.FloatTensor(lib.Size([2, 3]))
T.FloatTensor([2, 3])
T.FloatTensor(i, v.double(), [2, 3])
T.DoubleTensor(i, v.double(), (2, 3), device="cpu")
T.LongTensor(i, i[0])
T.FloatTensor(i, v.requires_grad_(), (2, 3))
T.FloatTensor(3.0)
T.FloatTensor(i, None)
[isinstance(s, each) for each in (T.FloatTensor, T.DoubleTensor, lib.FloatTensor)]
[isinstance(d, each) for each in (T.FloatTensor, lib.DoubleTensor, lib.FloatTensor)]
[T.HalfTensor.dtype is lib.float16, T.IntTensor.is_sparse, T.ByteTensor.is_cuda]
[str(each.layout).rpartition(".")[2] for each in (T.ShortTensor, lib.LongTensor)]
[T.CharTensor.__name__, issubclass(T.BFloat16Tensor, lib.Tensor)]
""".strip().splitlines()


@pytest.mark.parametrize("program", OLDER)
@pytest.mark.filterwarnings("ignore:torch.sparse.SparseTensor")
def test_older_constructors(lib, torch, program):
    def run(lib):
        try:
            return seen(eval(program, scope(lib) | {"T": lib.sparse}))
        except Exception as error:
            return type(error), str(error).split("\n")[0].split(" - ")[0]

    assert run(lib) == run(torch)
