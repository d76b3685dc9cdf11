"""Operators as programs that were taken apart call them: what their samples do not show."""

import pytest

import imode

aten = imode.ops.aten


def test_dropout_gives_the_mask_of_what_is_kept():
    x = imode.ones(1000, requires_grad=True)
    result, mask = imode.native_dropout(x, 0.25, True)
    assert 600 < mask.sum() < 900 and not mask.requires_grad
    assert (result == mask / 0.75).all()
    result.sum().backward()
    assert (x.grad == result).all()
    imode.manual_seed(3)
    drawn = imode.empty(1000, dtype=imode.bool).bernoulli_(0.75)
    imode.manual_seed(3)
    assert (imode.native_dropout(x, 0.25, True)[1] == drawn).all()


def test_overloads_by_pytorchs_names():
    x = imode.ones(3, 4)
    assert aten.slice.Tensor(x, 0, 1, 2).shape == (1, 4)
    assert aten.index.Tensor(x, [None, imode.tensor([0])]).shape == (3, 1)
    assert aten.sym_size.int(x, 1) == 4 and aten.sym_size.default(x) == [3, 4]
    assert aten.sym_stride.int(x, 0) == 4 and aten.sym_numel.default(x) == 12
    assert aten.sym_storage_offset.default(x[1:]) == 4
    assert aten.sym_is_contiguous.default(x, imode.contiguous_format)
    assert aten._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 0.0)[1].tolist() == [
        *[1.0] * 4
    ]
    assert aten._local_scalar_dense.default(imode.tensor([2, 3])) == 2


@pytest.mark.parametrize("call", [
    lambda: aten.reflection_pad1d_backward(imode.ones(5, 6), imode.ones(5, 6), (1, 1)),
    lambda: aten.embedding_dense_backward(imode.ones(4, 3), imode.tensor([0, 1]), 5, -1, False),
    lambda: aten.avg_pool2d_backward(
        imode.ones(1, 2, 3), imode.ones(1, 4, 4), 2, 2, 0, False, True, None),
    lambda: aten.max_pool2d_with_indices_backward(
        imode.ones(1, 2, 2), imode.ones(1, 4, 4), 2, 2, 0, 1, False, imode.tensor([[[0, 3]]])),
    lambda: aten.native_group_norm_backward(
        imode.ones(2, 4), imode.ones(2, 4), imode.ones(2, 2), imode.ones(2, 2), None, 2, 4, 1, 3,
        (True, False, False)),
])  # fmt: skip
def test_gradients_that_do_not_fit_are_refused(call):
    with pytest.raises(RuntimeError):
        call()


def test_a_mode_sees_layers_by_pytorchs_names():
    from imode.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.name)
            return func(*args, **kwargs or {})

    layers = imode.nn.Sequential(imode.nn.LayerNorm(4), imode.nn.GroupNorm(3, 3))
    with Names(), imode.no_grad():
        layers(imode.ones(2, 3, 4))
        imode.nn.functional.pad(imode.ones(2, 3, 4), (1, 1), "reflect")
    assert [name.partition(".")[0].rpartition("::")[2] for name in seen if "_" in name] == [
        *("native_layer_norm", "native_group_norm", "reflection_pad1d")
    ]
