"""`Tensor.normal()`: normal tensors from inference regions, and why that is safe."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imode
from imode._core.internals import array_of


def assigned(t):
    other = imode.zeros(4)
    other.data = t
    return other


# What may look at a tensor's memory besides it: each gives something to keep alive.
ALIASES = {
    "nothing": lambda t: None,
    "the tensor again": lambda t: t,
    "a view": lambda t: t.view(-1),
    "an index": lambda t: t[0],
    "views": lambda t: t.unbind(),
    "detach": lambda t: t.detach(),
    "data": lambda t: t.data,
    "numpy": lambda t: t.detach().numpy(),
    "asarray": lambda t: np.asarray(t.detach()),
    "memoryview": lambda t: memoryview(t.detach()),
    "dlpack": lambda t: t.detach().__dlpack__(),
    "from_dlpack": lambda t: np.from_dlpack(t.detach()),
    "an iterator": lambda t: list(t),
    "an array of an array": lambda t: np.frombuffer(t.detach().numpy()[1:], np.float32),
    "an array of it": lambda t: np.frombuffer(t.detach(), np.float32),
    "a slice of a memoryview": lambda t: memoryview(t.detach())[1:],
    "a weak reference": lambda t: weakref.ref(array_of(t)),
    "a storage": lambda t: t.untyped_storage(),
    "a tensor set to it": lambda t: imode.empty(0).set_(t),
    "a tensor whose data it is": assigned,
    "a transpose of a view": lambda t: t.view(-1).view(2, 2).t(),
}
SOLE = {"nothing", "the tensor again"}


def shared(t):
    return t.detach().numpy().__array_interface__["data"][0]


@pytest.mark.parametrize("name", ALIASES)
def test_copies_exactly_where_something_else_looks_at_the_memory(name):
    with imode.inference_mode():
        t = imode.arange(4.0) * 2
        kept = ALIASES[name](t)
    where = shared(t)
    gc.collect()
    n = t.normal()
    assert not n.is_inference()
    assert n.tolist() == [0, 2, 4, 6]
    assert n._version == 0
    assert (n is t) == (name in SOLE)
    assert (shared(n) == where) == (name in SOLE)
    assert t.is_inference() == (name not in SOLE)
    n.add_(1)
    assert n._version == 1
    if name not in SOLE:
        assert t.tolist() == [0, 2, 4, 6]
    del kept


@pytest.mark.parametrize("name", sorted(set(ALIASES) - {"the tensor again"}))
def test_an_alias_that_is_gone_does_not_matter(name):
    with imode.inference_mode():
        t = imode.ones(4) * 2
        ALIASES[name](t)
    gc.collect()
    assert t.normal() is t


def test_normal_tensors_are_returned_unchanged():
    x = imode.ones(2, requires_grad=True)
    assert x.normal() is x
    y = x * 2
    assert y.normal() is y
    assert y.grad_fn is not None


@pytest.mark.parametrize("alias", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_requires_grad_is_kept(alias, inside):
    with imode.inference_mode():
        t = imode.ones(2, requires_grad=True)
        kept = t.view(2) if alias else None
        n = t.normal() if inside else None
    n = t.normal() if n is None else n
    assert n.requires_grad
    assert n.is_leaf
    (n * n).sum().backward()
    assert n.grad.tolist() == [2, 2]
    del kept


def test_a_view_is_copied_and_its_base_stays():
    with imode.inference_mode():
        base = imode.arange(4.0)
        view = base[1:3]
    n = view.normal()
    assert n is not view
    n.zero_()
    assert base.tolist() == [0, 1, 2, 3]
    assert base.is_inference()


def test_of_what_is_no_tensor():
    with pytest.raises(TypeError):
        imode.Tensor.normal(3)


# ---- the invariants, over random programs ----

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["make", "view", "index", "detach", "data", "add_", "normal", "drop", "save"]
            + ["set_", "set data", "numpy", "memoryview", "dlpack", "forget"]
        ),
        st.integers(0, 7),
        st.booleans(),
    ),
    min_size=3,
    max_size=14,
)


EXPORTS = {
    "numpy": lambda t: array(t)[1:],
    "memoryview": lambda t: memoryview(t.detach()),
    "dlpack": lambda t: np.from_dlpack(t.detach()),
}
WRITE = "Inplace update to inference tensor"
REFUSALS = {
    "add_": WRITE,
    "save": "Inference tensors cannot",
    "set_": (WRITE, "set_(): one of self and source is an inference tensor"),
    "set data": "Attempted to call `variable.set_data(tensor)`",
}


def array(t):
    return t.detach().numpy()


def same_memory(a, b):
    return np.shares_memory(array(a), array(b))


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_no_program_makes_an_inference_tensor_share_memory_with_a_normal_one(steps):
    tensors, exports, frozen, losses = [], [], [], []
    weight = imode.ones(4, requires_grad=True)
    for kind, which, inside in steps:
        with imode.inference_mode(inside):
            if kind == "make" or not tensors:
                tensors.append(imode.ones(4) * (which + 1))
                continue
            t = tensors[which % len(tensors)]
            try:
                if kind == "view":
                    tensors.append(t.view(-1))
                elif kind == "index":
                    tensors.append(t[1:])
                elif kind == "detach":
                    tensors.append(t.detach())
                elif kind == "data" and t.is_inference():  # a normal one's is not checked for, ever
                    tensors.append(t.data)
                elif kind == "add_":
                    t.add_(1)
                elif kind == "normal":
                    tensors[which % len(tensors)] = t = t.normal()
                    # What was exported of an inference tensor is not the memory of a normal one.
                    assert not any(np.shares_memory(np.asarray(e), array(t)) for e in exports)
                elif kind in ("set_", "set data"):
                    other = tensors[(which + 1) % len(tensors)]
                    # Two normal ones would share memory, not the count of writes: in PyTorch too;
                    # `.data =` outside of the mode gives another memory, not other values.
                    one = t.is_inference() != other.is_inference()
                    if kind == "set_" and (one or t.is_inference()):
                        t.set_(other)
                    elif kind == "set data" and t.is_inference() and (one or inside):
                        t.data = other
                elif kind in EXPORTS and t.is_inference():
                    exports.append(EXPORTS[kind](t))
                elif kind == "forget" and exports:
                    exports.pop(which % len(exports))
                elif kind == "drop":
                    tensors.pop(which % len(tensors))
                elif kind == "save" and t.shape == (4,):
                    losses.append(((weight * t).sum(), t.tolist()))
            except RuntimeError as error:
                first = str(error)
                assert first.startswith(REFUSALS[kind])
                assert kind in ("set_", "set data") or not inside
            del t
        for a in tensors:
            for b in tensors:
                assert a.is_inference() == b.is_inference() or not same_memory(a, b)
        if not inside:  # outside of the mode no inference tensor's values have changed
            for t, values in frozen:
                assert not t.is_inference() or t.tolist() == values
        frozen = [(t, t.tolist()) for t in tensors if t.is_inference()]
    for loss, values in losses:  # a right gradient, or an error
        if not loss.requires_grad:
            continue
        weight.grad = None
        try:
            loss.backward()
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
        else:
            assert weight.grad.tolist() == values
