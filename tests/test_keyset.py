"""DispatchKey and DispatchKeySet: order, set algebra, repr."""

import pickle

import pytest

import imode
from imode import DispatchKey, DispatchKeySet


def test_keys_are_ordered_by_priority():
    lower = ["CPU", "Meta", "PrivateUse1", "SparseCPU", "Stored"]
    higher = ["ADInplaceOrView", "Autograd", "Tracer", "Python"]
    assert [k.name for k in sorted(DispatchKey)] == lower + higher
    assert repr(DispatchKey.CPU) == "DispatchKey.CPU"


def test_algebra():
    a = DispatchKeySet("CPU", DispatchKey.Autograd)
    b = DispatchKeySet("CPU", "Meta")
    assert a | b == DispatchKeySet("CPU", "Meta", "Autograd")
    assert a & b == DispatchKeySet("CPU")
    assert a - b == DispatchKeySet("Autograd")
    assert ~a | a == DispatchKeySet.full()
    assert a & b <= a
    assert not a <= b
    assert a | DispatchKey.Meta == a | b
    assert len({a, DispatchKeySet("Autograd", "CPU")}) == 1


def test_members_iterate_from_the_highest_priority():
    keys = DispatchKeySet("CPU", "Autograd", "ADInplaceOrView")
    assert list(keys) == [DispatchKey.Autograd, DispatchKey.ADInplaceOrView, DispatchKey.CPU]
    assert keys.highest_priority() is DispatchKey.Autograd
    assert DispatchKeySet().highest_priority() is None
    assert len(keys) == 3
    assert DispatchKey.CPU in keys
    assert DispatchKey.Meta not in keys
    assert keys.add("Meta").has("Meta")
    assert not keys.remove("CPU").has("CPU")
    assert keys.below("Autograd") == DispatchKeySet("CPU", "ADInplaceOrView")


def test_repr_and_pickle():
    keys = DispatchKeySet("CPU", "Autograd")
    assert repr(keys) == "DispatchKeySet(Autograd, CPU)"
    assert repr(DispatchKeySet()) == "DispatchKeySet()"
    assert not DispatchKeySet()
    assert pickle.loads(pickle.dumps(keys)) == keys


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match="unknown dispatch key 'CUDA'; the keys are CPU, Meta"):
        DispatchKeySet("CUDA")
    with pytest.raises(TypeError, match="expected a DispatchKey, got int"):
        DispatchKeySet(3)
    with pytest.raises(TypeError):
        DispatchKeySet("CPU") | 3


def test_key_sets_of_tensors():
    normal = DispatchKeySet("CPU", "ADInplaceOrView")
    assert imode.ones(1, requires_grad=True).key_set() == normal | imode.DispatchKey.Autograd
    assert imode.ones(1).key_set() == normal
    with imode.no_grad():
        assert imode.ones(1).key_set() == normal
    with imode.inference_mode():
        assert imode.ones(1).key_set() == DispatchKeySet("CPU")
        assert imode.ones(1)[0].key_set() == DispatchKeySet("CPU")
