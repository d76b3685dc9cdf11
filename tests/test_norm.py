"""Normalisation: statistics, running ones above all, and what backward refuses."""

import numpy as np
import pytest

import imode
import imode.nn.functional as F


def numbers(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape) * 3 + 1
    return imode.from_numpy(values.astype("float32"))


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (4, 3, 5, 6), (2, 3, 2, 3, 4)])
def test_batch_norm_standardises_channels(shape):
    out = F.batch_norm(numbers(*shape), None, None, training=True)
    dims = [d for d in range(len(shape)) if d != 1]
    assert np.allclose(out.mean(dims).tolist(), 0, atol=1e-5)
    assert np.allclose(out.var(dims, correction=0).tolist(), 1, atol=1e-3)


def test_running_statistics_move_by_momentum():
    x = numbers(4, 3, 5)
    mean, var = imode.zeros(3), imode.ones(3)
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert np.allclose(mean.tolist(), (0.25 * x.mean((0, 2))).tolist(), atol=1e-6)
    unbiased = x.var((0, 2))
    assert np.allclose(var.tolist(), (0.75 + 0.25 * unbiased).tolist(), rtol=1e-5)


def test_running_statistics_are_written_without_a_version():
    x = numbers(4, 3).requires_grad_()
    mean, var = imode.zeros(3), imode.ones(3)
    first = F.batch_norm(x, mean, var, training=True)
    F.batch_norm(x, mean, var, training=True)
    assert (mean._version, var._version) == (0, 0)
    first.sum().backward()  # the second call did not disturb the first
    with imode.inference_mode():
        inside = imode.zeros(3), imode.ones(3)
    F.batch_norm(numbers(4, 3), *inside, training=True)
    assert inside[0].abs().sum().item() > 0


def test_running_statistics_written_by_others_are_noticed():
    x = numbers(4, 3).requires_grad_()
    mean, var = imode.zeros(3), imode.ones(3)
    out = F.batch_norm(x, mean, var)
    mean.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"weight": imode.ones(4)}, RuntimeError),
        ({"bias": imode.ones(2)}, RuntimeError),
        ({"weight": imode.ones(3, dtype=imode.float64)}, RuntimeError),
    ],
)
def test_nothing_is_written_where_it_raises(arguments, error):
    mean, var = imode.zeros(3), imode.ones(3)
    with pytest.raises(error):
        F.batch_norm(numbers(4, 3), mean, var, training=True, **arguments)
    assert mean.tolist() == [0, 0, 0]
    assert var.tolist() == [1, 1, 1]


def test_an_empty_batch_changes_nothing():
    mean, var, weight = imode.zeros(3), imode.ones(3), imode.ones(3, requires_grad=True)
    F.batch_norm(imode.ones(0, 3, 2), mean, var, weight, training=True).sum().backward()
    assert (mean.tolist(), var.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert weight.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("training", [False, True])
def test_many_channels_are_normalised_as_a_few_at_a_time(training):
    x, mean, var, weight, bias = numbers(4, 130), *(numbers(130).abs() + 1 for _ in range(4))
    whole = F.batch_norm(x, mean.clone(), var.clone(), weight, bias, training)
    parts = [
        F.batch_norm(x[:, c], mean[c].clone(), var[c].clone(), weight[c], bias[c], training)
        for c in (slice(0, 64), slice(64, 128), slice(128, 130))
    ]
    assert imode.cat(parts, 1).equal(whole)


def test_batch_norm_refuses():
    mean, var = imode.zeros(3), imode.ones(3)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        F.batch_norm(numbers(1, 3), mean, var, training=True)
    with pytest.raises(ValueError, match="must either both be None or neither be None"):
        F.batch_norm(numbers(4, 3), mean, None)
    with pytest.raises(RuntimeError, match="running_mean should contain 2 elements not 3"):
        F.batch_norm(numbers(4, 2), mean, var)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument"):
        F.batch_norm(numbers(4, 3), imode.zeros(3, requires_grad=True), var)


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_without_channels_takes_parameters_of_no_elements(training):
    x, two, none = imode.ones(2), imode.ones(2), imode.ones(0)
    with pytest.raises(RuntimeError, match="running_mean should contain 0 elements not 2"):
        F.batch_norm(x, two, two, training=training)
    with pytest.raises(RuntimeError, match="weight should contain 0 elements not 2"):
        F.batch_norm(x, none, none, two, two, training=training)
    with pytest.raises(IndexError, match=r"in range of \[-1, 0\], but got 1"):
        F.batch_norm(x, none, none, training=training)


def test_half_precision_keeps_its_dtype():
    x = numbers(8, 3).to(imode.float16)
    mean, var = imode.zeros(3), imode.ones(3)
    out = F.batch_norm(x, mean, var, training=True)
    assert out.dtype == imode.float16
    assert mean.abs().sum().item() > 0
    assert F.layer_norm(x, (3,)).dtype == imode.float16


def test_channels_last_stays():
    x = numbers(2, 5, 6, 3).permute(0, 3, 1, 2)
    out = F.batch_norm(x, None, None, training=True)
    assert out.stride() == x.stride()
    same = F.batch_norm(x.contiguous(), None, None, training=True)
    assert np.allclose(out.tolist(), same.tolist(), atol=1e-6)


def test_layer_norm_standardises_rows():
    out = F.layer_norm(numbers(4, 6), (6,))
    assert np.allclose(out.mean(1).tolist(), 0, atol=1e-5)
    assert np.allclose(out.var(1, correction=0).tolist(), 1, atol=1e-3)


def test_group_norm_between_layer_and_instance():
    x = numbers(2, 4, 5)
    layer = F.layer_norm(x, (4, 5))
    assert np.allclose(F.group_norm(x, 1).tolist(), layer.tolist(), atol=1e-5)
    each = F.layer_norm(x, (5,))
    assert np.allclose(F.group_norm(x, 4).tolist(), each.tolist(), atol=1e-5)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        F.group_norm(numbers(1, 4), 4)


def test_long_rows_are_summed_exactly_enough():
    x = imode.full((1, 1, 1 << 20), 1.0)
    x[..., ::2] = 1.0 + 2.0**-12
    mean = imode.zeros(1)
    F.batch_norm(x, mean, imode.ones(1), training=True, momentum=1.0)
    assert mean.item() == pytest.approx(1.0 + 2.0**-13, abs=1e-7)


def test_recorded_backward_has_a_graph():
    x = numbers(4, 3).requires_grad_()
    out = F.batch_norm(x, None, None, training=True)
    (grad,) = imode.autograd.grad(out.pow(3).sum(), x, create_graph=True)
    (again,) = imode.autograd.grad(grad.square().sum(), x)
    assert again.abs().sum().item() > 0


def test_node_names():
    x = numbers(4, 2).requires_grad_()
    assert F.batch_norm(x, None, None, training=True).grad_fn.name() == "NativeBatchNormBackward0"
    assert F.layer_norm(x, (2,)).grad_fn.name() == "NativeLayerNormBackward0"
    assert F.group_norm(x, 1).grad_fn.name() == "NativeGroupNormBackward0"


@pytest.mark.parametrize("mask", [[], (True, False), (1, 1, 1), "abc", None])
def test_a_mask_of_gradients_has_one_bool_each(mask):
    x = imode.ones(2, 3)
    given = (x, x, (3,), imode.zeros(2, 1), imode.ones(2, 1), None, None)
    with pytest.raises(RuntimeError, match="expected 3 bools, but got"):
        imode.ops.native_layer_norm_backward(*given, mask)


def test_dropout_with_its_mask_takes_a_bool():
    with pytest.raises(TypeError, match=r"argument 'train' .position 3. must be bool, not int"):
        imode.native_dropout(imode.ones(2), 0.5, 1)
