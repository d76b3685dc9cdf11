"""Pooling: ties, NaN, borders, and where gradients go."""

import pytest

import imode
import imode.nn.functional as F

NAN = float("nan")


def test_the_first_of_equals_is_taken():
    values, indices = F.max_pool2d(imode.ones(1, 1, 4, 4), 2, return_indices=True)
    assert values.tolist() == [[[[1.0, 1.0], [1.0, 1.0]]]]
    assert indices.tolist() == [[[[0, 2], [8, 10]]]]
    _, indices = F.max_pool2d(imode.ones(1, 1, 3, 3), 3, return_indices=True)
    assert indices.item() == 0


@pytest.mark.parametrize("kernel", [2, 3])
def test_the_last_nan_is_taken(kernel):
    x = imode.tensor([[NAN, 1.0, 5.0], [2.0, NAN, 4.0], [0.0, 0.0, 9.0]]).view(1, 1, 3, 3)
    values, indices = F.max_pool2d(x, kernel, return_indices=True)
    assert imode.isnan(values).all()
    assert indices.item() == 4


def test_a_window_of_minus_infinity_has_its_first_place():
    x = imode.full((1, 1, 4, 4), -float("inf"))
    _, indices = F.max_pool2d(x, 2, padding=1, return_indices=True)
    assert indices.tolist() == [[[[0, 1, 3], [4, 5, 7], [12, 13, 15]]]]


def test_ceil_mode_adds_no_window_in_the_padding():
    x = imode.arange(49.0).view(1, 1, 7, 7)
    assert F.max_pool2d(x, 3, 2, 1, ceil_mode=True).shape == (1, 1, 4, 4)
    assert F.max_pool2d(x, 2, 2, ceil_mode=True).shape == (1, 1, 4, 4)
    assert F.max_pool2d(x, 2, 2).shape == (1, 1, 3, 3)


def test_gradients_of_overlapping_windows_add_up():
    x = imode.zeros(1, 1, 3, 3)
    x[0, 0, 1, 1] = 1
    x.requires_grad_()
    F.max_pool2d(x, 2, 1).sum().backward()
    assert x.grad.tolist() == [[[[0, 0, 0], [0, 4, 0], [0, 0, 0]]]]


def test_what_the_mean_divides_by():
    x = imode.ones(1, 1, 2, 2)
    assert F.avg_pool2d(x, 2, padding=1).tolist() == [[[[0.25, 0.25], [0.25, 0.25]]]]
    assert F.avg_pool2d(x, 2, padding=1, count_include_pad=False).sum().item() == 4.0
    assert F.avg_pool2d(x, 2, divisor_override=3).item() == pytest.approx(4 / 3)


def test_adaptive_windows_cover_everything():
    x = imode.arange(7.0).view(1, 1, 7)
    assert F.adaptive_avg_pool1d(x, 3).tolist() == [[[1.0, 3.0, 5.0]]]
    assert F.adaptive_max_pool1d(x, 3).tolist() == [[[2.0, 4.0, 6.0]]]
    x = imode.ones(1, 1, 7, 5, requires_grad=True)
    F.adaptive_avg_pool2d(x, (3, 2)).sum().backward()
    assert x.grad.sum().item() == pytest.approx(6.0)


def test_integers_have_no_gradient_but_maxima():
    x = imode.arange(16).view(1, 1, 4, 4)
    assert F.max_pool2d(x, 2).tolist() == [[[[5, 7], [13, 15]]]]
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.max_pool1d(x[0, 0], 2)


def test_node_names():
    x = imode.ones(1, 1, 4, 4, requires_grad=True)
    assert F.max_pool2d(x, 2).grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    assert F.avg_pool2d(x, 2).grad_fn.name() == "AvgPool2DBackward0"
    assert F.adaptive_avg_pool2d(x, 2).grad_fn.name() == "AdaptiveAvgPool2DBackward0"
    assert F.adaptive_avg_pool2d(x, 1).grad_fn.name().startswith("MeanBackward")


def test_window_of_padding_alone():
    x = imode.ones(1, 1, 1, requires_grad=True)
    y = F.max_pool1d(x, 2, stride=1, padding=1, dilation=2)
    assert y.tolist() == [[[float("-inf")]]]
    with pytest.raises(RuntimeError, match="an index lies outside of the input"):
        y.sum().backward()  # its maximum came from nowhere


@pytest.mark.parametrize("size", [2**31, 2**62, -(2**31) - 1])
@pytest.mark.parametrize("name", ["kernel_size", "stride", "padding", "dilation"])
def test_windows_beyond_32_bits_are_refused(name, size):
    for pool in (F.max_pool2d, F.avg_pool2d)[: 1 if name == "dilation" else 2]:
        with pytest.raises(RuntimeError, match="to type int without overflow"):
            pool(imode.ones(1, 4, 4), **{"kernel_size": 2, name: size})


@pytest.mark.parametrize("shape", [(3, 3), (1, 1, 2, 2), (1, 2, 2, 1), (2, 2, 2)])
def test_a_gradient_that_is_not_of_the_windows_is_refused(shape):
    kernel = imode.ops.avg_pool2d_backward
    with pytest.raises(RuntimeError, match=r"grad_output of the shape \[1, 2, 2, 2\]"):
        kernel(imode.ones(shape), imode.ones(1, 2, 4, 4), (2,), (), (0,), False, True, None)


def test_means_of_volumes_into_out():
    x = imode.arange(16.0).view(1, 2, 2, 4)
    expected = F.avg_pool3d(x, 2)
    out = imode.empty(0)
    assert F.avg_pool3d(x, 2, out=out) is out
    assert out.tolist() == expected.tolist() == [[[[6.5, 8.5]]]]
    lying = imode.empty(1, 1, 2, 1).transpose(2, 3)
    F.avg_pool3d(x, 2, out=lying)
    assert lying.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64, imode.int32])
@pytest.mark.parametrize("size", [(37, 41), (33, 300), (5, 700)])
def test_rows_of_windows(dtype, size):
    """Side by side or one by one, on one thread or two: each window alone gives the same."""
    imode.manual_seed(0)
    x = imode.randint(-4, 4, (5, 13, *size)).to(dtype)
    if dtype.is_floating_point:
        x.view(-1)[::29] = float("nan")
        x.view(-1)[::3] = float("-inf")
    before = imode.get_num_threads()
    try:
        for kernel, stride, padding, dilation in [
            (2, 2, 0, 1),
            (3, 2, 1, 1),
            (3, 1, 1, 2),
            (4, 5, 2, 1),
        ]:
            found = []
            for threads in (1, 2):
                imode.set_num_threads(threads)
                found.append(
                    F.max_pool2d(x, kernel, stride, padding, dilation, return_indices=True)
                )
            (most, at), again = found
            assert most.equal(again[0]) or most.isnan().equal(again[0].isnan())
            assert at.equal(again[1])
            taken = x.flatten(2).gather(2, at.flatten(2)).view_as(most)
            assert imode.equal(taken.nan_to_num(9), most.nan_to_num(9))
            fill = float("-inf") if dtype.is_floating_point else -100
            wide = F.pad(x, (padding,) * 4, value=fill)
            reach = dilation * (kernel - 1) + 1
            parts = wide.unfold(2, reach, stride).unfold(3, reach, stride)
            parts = parts[..., ::dilation, ::dilation].flatten(4)
            assert parts.amax(-1).nan_to_num(9).equal(most.nan_to_num(9))
            if dtype.is_floating_point and dilation == 1:
                finite = x.nan_to_num(1, neginf=2)
                means = []
                for threads in (1, 2):
                    imode.set_num_threads(threads)
                    means.append(F.avg_pool2d(finite, kernel, stride, padding))
                assert means[0].equal(means[1])
                zeros = F.pad(finite, (padding,) * 4)
                parts = zeros.unfold(2, kernel, stride).unfold(3, kernel, stride)
                imode.testing.assert_close(means[0], parts.mean((-1, -2)))
    finally:
        imode.set_num_threads(before)


@pytest.mark.parametrize("pool", [F.adaptive_avg_pool2d, F.adaptive_max_pool2d])
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0)])
def test_no_windows_of_large_planes(pool, size):
    assert pool(imode.ones(2, 4, 128, 128), size).shape == (2, 4, *size)


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
@pytest.mark.parametrize("size", [(8, 12), (6, 24), (24, 36), (2, 7), (0, 3)])
def test_adaptive_means_are_those_of_slices(size, dtype):
    """Also of windows that are all of one size, which take the loops of fixed ones."""
    x = imode.arange(2 * 24 * 72).remainder(37).view(2, 24, 72).to(dtype)
    found = F.adaptive_avg_pool2d(x, size)
    assert found.shape == (2, *size)
    for i in range(size[0]):
        for j in range(size[1]):
            rows = slice(i * 24 // size[0], -(-(i + 1) * 24 // size[0]))
            columns = slice(j * 72 // size[1], -(-(j + 1) * 72 // size[1]))
            part = x[:, rows, columns]
            wanted = part.sum((1, 2)) / part.shape[1] / part.shape[2]
            assert imode.equal(found[:, i, j], wanted)
