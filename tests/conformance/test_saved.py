"""What the nodes of every sampled operator save, and what a write after the forward then breaks."""

import re
import warnings
from fnmatch import fnmatchcase

import pytest

import imode
from tests.samples import load

from .calls import called, function, method, tensors_of
from .observe import attempt, dtype_name, node_name

RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
SAMPLES = called(load(of_pytorch=True), "saved")
# A recurrent layer is one node, of which other writes break backward (docs/differences.md).
ONE_NODE = {
    *(f"{name}.{form}" for name in RECURRENT for form in ("input", "data")),
    *(f"{name}_cell" for name in RECURRENT),
}
CASES = [
    (name, i)
    for name in sorted(SAMPLES.keys() - ONE_NODE)
    for i, sample in enumerate(SAMPLES[name])
    if not sample.raises
]

# What is said otherwise: (sample, attribute), each with wildcards.
OTHERWISE = {
    ("bilinear", "_saved_*"): "a product of its own, not the sum over any three factors",
    ("bilinear", "_raw_saved_*"): "likewise",
    ("embedding_bag*", "_saved_result*"): "what the mode has no use for is empty",
    ("grouped_mm", "_saved_*_sym_*"): "its tensors have their strides",
    ("istft", "_saved_end"): "the end of what is kept, counted from the start",
    ("quantile*", "_saved_mask"): "it broadcasts over the quantiles",
    ("rrelu", "_saved_noise"): "empty where nothing is drawn; there, memory as it was found",
    ("scaled_dot_product_attention", "_saved_attn_mask"): "a mask of bools, as it was given",
    ("conv2d.padding", "_saved_*padding"): "a padding, said for all dimensions at once",
    ("einsum", "_saved_dim*"): "the operands are brought into order by other steps",
    ("linalg_cond*", "_saved_inverse"): "what PyTorch writes to, and cannot be read there",
    ("pad", "_saved_*"): "what is cut away at both ends is cut in one step",
}

# Where the graph consists of other nodes (docs/differences.md, or a composition of its own).
OTHER_NODES = {
    "gradient": "differences of slices that end where the next begins",
    "gru*": "a recurrent layer is one node",
    "lstm*": "likewise",
    "quantile": "a tensor of quantiles is multiplied before it broadcasts",
    "rnn_*": "a recurrent layer is one node",
}

# Where a write breaks backward in PyTorch alone, and why.
KEPT = {
    "linalg_cond": "PyTorch writes to the inverse itself",
    "linalg_cond.p_str": "likewise",
    "linalg_vecdot": "the conjugate is a copy",
    "gru*": "a recurrent layer is one node, which reads other tensors",
    "lstm*": "likewise",
    "rnn_*": "likewise",
}
# Where a write breaks backward here alone, and why.
SAFER = {
    "kron": "PyTorch's gradient is wrong then (docs/differences.md)",
    "scaled_dot_product_attention": "a mask of bools is saved; PyTorch saves one of floats",
}
# What gives more than one result, of which only the first is what the node reads.
ONE_READ = {"embedding_bag*": "the others are copies; PyTorch gives what it has saved"}


def recorded(lib, name, sample, written=None, alone=None):
    """Return (tensor arguments, results) of a recorded call, or None where it raises.

    written: of the in-place form, on what this gives of a copy of the first argument.
    alone: the number of the one tensor that requires grad.
    """
    lib.manual_seed(0)
    args, kwargs, tensors = sample.make(lib, requires_grad=True)
    for i, tensor in enumerate(tensors):
        if alone not in (None, i) and tensor.is_leaf:
            tensor.requires_grad_(False)
    other = sample.torch if lib.__name__ == "torch" else None
    if written is not None:
        other = method(lib, name)
        if other is None or not args or not isinstance(args[0], lib.Tensor):
            return None
        args[0] = written(args[0].clone())
        tensors = [args[0], *tensors[1:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = (other or function(lib, name))(*args, **kwargs)
        except Exception:
            return None
    return tensors, tensors_of(result, lib)


def shown(lib, value):
    """Return a saved value as plain data; PyTorch shows negative numbers as unsigned ones."""
    if isinstance(value, lib.Tensor):
        return "Tensor", dtype_name(value), tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *(shown(lib, item) for item in value)
    if type(value).__name__ == "SavedTensor":
        return "SavedTensor"
    if isinstance(value, int) and value >= 1 << 63:
        value -= 1 << 64
    return type(value).__name__, re.sub(r"\b(torch|imode)\.", "", str(value))


def saved(lib, node):
    """Return {name: what is saved} of a node, whether its graph was freed or not."""
    names = [name for name in dir(node) if name.startswith(("_saved_", "_raw_saved_"))]
    return {name: attempt(lambda n=name: shown(lib, getattr(node, n))) for name in names}


def nodes(results):
    """Return the nodes of a graph, those nearest to the results first."""
    found, todo = [], [t.grad_fn for t in results]
    while todo:
        node = todo.pop(0)
        if node is not None and not any(node is other for other in found):
            found.append(node)
            todo += [other for other, _ in node.next_functions]
    return found


def among(name, table):
    return any(fnmatchcase(name, pattern) for pattern in table)


def said_otherwise(name, attribute):
    return any(fnmatchcase(name, n) and fnmatchcase(attribute, a) for n, a in OTHERWISE)


@pytest.mark.parametrize(("name", "index"), CASES, ids=[f"{n}-{i}" for n, i in CASES])
def test_what_is_saved(lib, torch, name, index):
    """All that the nodes of an operator show has PyTorch's names and values, before backward and
    after it, whichever of the tensors require grad."""
    sample = SAMPLES[name][index]
    for alone in (None, 0, 1, 2):
        ours, theirs = (recorded(each, name, sample, alone=alone) for each in (lib, torch))
        if ours is None or theirs is None or not any(t.requires_grad for t in theirs[1]):
            continue
        graphs = nodes(ours[1]), nodes(theirs[1])
        if among(name, OTHER_NODES):
            continue
        assert [node_name(n) for n in graphs[0]] == [node_name(n) for n in graphs[1]]
        same_saved(lib, torch, name, graphs)
        if name == "group_norm" and alone:
            continue  # PyTorch's backward ends the process where channels come last
        if backward(torch, theirs[1], 1) == backward(lib, ours[1], 1) == ["runs"]:
            same_saved(lib, torch, name, graphs)


def same_saved(lib, torch, name, graphs):
    for here, there in zip(*graphs):
        a, b = saved(lib, here), saved(torch, there)
        for key in a.keys() | b.keys():
            unused = key.endswith("_sym_strides") and b.get(key) == (
                "tuple",
            )  # empty in PyTorch alone
            if not unused and not said_otherwise(name, key):
                assert a.get(key, "missing") == b.get(key, "missing"), f"{node_name(here)}.{key}"


def outcomes(lib, name, sample, written=None):
    """Return what backward does after nothing, then each tensor in turn, was written to."""
    first = recorded(lib, name, sample, written)
    if first is None or not any(t.requires_grad for t in first[1]):
        return None
    found = [backward(lib, first[1])]
    for which in range(len(first[0]) + len(first[1])):
        tensors, results = recorded(lib, name, sample, written)
        target = (tensors + results)[which]
        try:
            target.detach().zero_()
        except RuntimeError:
            found.append("not written")
            continue
        found.append(backward(lib, results))
    return found


def backward(lib, results, times=2):
    """Return what running backward, so many times, does."""
    roots = [t for t in results if t.requires_grad]
    said = []
    for _ in range(times):
        try:
            lib.autograd.backward(roots, [lib.ones_like(t).detach() for t in roots])
            said.append("runs")
        except Exception as error:
            said.append(str(error).partition(":")[0][:60])
            break
    return said


def refused_there(outcomes):
    """Whether PyTorch's backward fails for reasons of its own."""
    said, words = str(outcomes), ("INTERNAL ASSERT", "Expected isFloatingType", "not implemented")
    return any(each in said for each in words)


@pytest.mark.parametrize(("name", "index"), CASES, ids=[f"{n}-{i}" for n, i in CASES])
def test_what_a_write_breaks(lib, torch, name, index):
    """A write to an input or a result breaks backward where it does in PyTorch, and nowhere else;
    a second backward finds what it needs, or does not."""
    sample = SAMPLES[name][index]
    ours, theirs = outcomes(lib, name, sample), outcomes(torch, name, sample)
    if refused_there(theirs):
        pytest.skip("PyTorch fails in an internal check")
    if ours is None or theirs is None or among(name, KEPT):
        return
    if among(name, ONE_READ):
        first = len(recorded(lib, name, sample)[0]) + 2  # backward alone, the arguments, a result
        ours, theirs = ours[:first], theirs[:first]
    if name in SAFER:
        differ = [(a, b) for a, b in zip(ours, theirs) if a != b]
        assert all("modified by an inplace" in str(a) or "needed for" in str(a) for a, _ in differ)
        return
    assert ours == theirs


FORMS = {"a tensor": lambda t: t, "a view": lambda t: t.view_as(t)}
WRITTEN = [(n, i) for n, i in CASES if SAMPLES[n][i].variants and method(imode, n)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "index"), WRITTEN, ids=[f"{n}-{i}" for n, i in WRITTEN])
def test_what_a_write_breaks_of_in_place_forms(lib, torch, name, index, form):
    """Likewise where the operator was itself a write, to a tensor or to a view of one."""
    sample, written = SAMPLES[name][index], FORMS[form]
    theirs = outcomes(torch, name, sample, written)
    if refused_there(theirs) or "inplace version of" in str(theirs):
        pytest.skip("PyTorch has no such gradient")
    ours = outcomes(lib, name, sample, written)
    if ours is not None and theirs is not None:
        assert ours == theirs
