"""Layers that learn their inputs from the first batch; functions of `torch` by older names."""

import copy
import pickle

import pytest

import imode
from imode import nn


def test_a_lazy_layer_becomes_what_it_stands_for():
    layer = nn.LazyLinear(3)
    weight = layer.weight
    assert nn.parameter.is_lazy(weight) and isinstance(weight, nn.UninitializedParameter)
    assert layer(imode.ones(4, 2)).shape == (4, 3) and type(layer) is nn.Linear
    assert layer.weight is weight and weight.shape == (3, 2) and not nn.parameter.is_lazy(weight)
    assert not hasattr(weight, "materialize")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_wait_too(again):
    for layer, shape in ((nn.LazyConv1d(2, 3), (1, 4, 5)), (nn.LazyBatchNorm1d(), (3, 4))):
        other = again(layer)
        assert other.has_uninitialized_params()
        other(imode.ones(shape))
        other(imode.ones(shape))  # its own hooks are gone
        assert layer.has_uninitialized_params() and type(other) is type(layer).cls_to_become


def test_lazy_layers_load_what_is_there():
    full, lazy = nn.Linear(5, 3), nn.LazyLinear(3)
    assert nn.parameter.is_lazy(lazy.state_dict()["weight"])
    lazy.load_state_dict(full.state_dict())
    x = imode.ones(2, 5)
    assert lazy(x).equal(full(x)) and lazy.in_features == 5
    other = nn.LazyLinear(3)
    other.load_state_dict(full.state_dict())
    with pytest.raises(AssertionError, match="inferred from input: 4 is not equal to in_features"):
        other(imode.ones(2, 4))
    waiting = nn.LazyLinear(3)
    waiting.load_state_dict(nn.LazyLinear(3).state_dict())  # nothing is there yet
    assert waiting.has_uninitialized_params() and waiting(x).shape == (2, 3)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        full.load_state_dict(nn.LazyLinear(3).state_dict())


def test_what_is_refused():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="device type could not be determined"):
        nn.parallel.data_parallel(nn.Linear(1, 1), imode.ones(1))
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"):
        nn.attention.sdpa_kernel("math").__enter__()
    with pytest.raises(TypeError, match="unexpected kwargs"):
        nn.factory_kwargs({"x": 1})
    with pytest.raises(ValueError, match="expected at least 2D input"):
        nn.SyncBatchNorm(3)(imode.ones(3))
    with pytest.raises(RuntimeError, match="Invalid value of device"):
        imode.get_device_module(3)
    with pytest.raises(NotImplementedError, match="Could not run"):
        imode.native_norm(imode.ones(2))


def test_functions_by_older_names():
    with pytest.warns(UserWarning, match=r"torch\.range is deprecated"):
        assert imode.range(1, 2, 0.5).tolist() == [1.0, 1.5, 2.0]
    with pytest.warns(UserWarning, match="set_default_tensor_type"):
        imode.set_default_tensor_type(imode.FloatTensor)
    with pytest.warns(DeprecationWarning, match="get_autocast_dtype\\('cpu'\\)"):
        assert imode.get_autocast_cpu_dtype() is imode.bfloat16
    assert imode.typename(imode.ones(1)) == "imode.FloatTensor"
