"""Convolution: against sums written out, and what its gradients must satisfy."""

import itertools

import numpy as np
import pytest

import imode
import imode.nn.functional as F

GEOMETRIES = [
    # kernel, stride, padding, dilation, groups
    ((3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((1, 1), (1, 1), (0, 0), (1, 1), 2),
    ((2, 3), (2, 1), (1, 2), (1, 1), 2),
    ((3, 2), (3, 2), (0, 1), (2, 2), 1),
    ((3, 3), (1, 1), (4, 3), (1, 2), 4),
]


def written_out(x, w, b, stride, padding, dilation, groups):
    """The definition, one output element at a time."""
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    n, _, h, width = padded.shape
    oc, cg, kh, kw = w.shape
    oh = (h - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.empty((n, oc, oh, ow))
    for o, y, i in itertools.product(range(oc), range(oh), range(ow)):
        first = o // (oc // groups) * cg
        rows = slice(y * stride[0], y * stride[0] + dilation[0] * (kh - 1) + 1, dilation[0])
        columns = slice(i * stride[1], i * stride[1] + dilation[1] * (kw - 1) + 1, dilation[1])
        window = padded[:, first : first + cg, rows, columns]
        out[:, o, y, i] = (window * w[o]).sum((1, 2, 3)) + b[o]
    return out


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_definition(geometry, dtype):
    kernel, stride, padding, dilation, groups = geometry
    x, w, b = numbers(2, 4, 9, 8), numbers(4, 4 // groups, *kernel), numbers(4)
    found = imode.conv2d(
        *(imode.tensor(a.tolist(), dtype=dtype) for a in (x, w, b)),
        stride, padding, dilation, groups,
    )  # fmt: skip
    expected = written_out(x, w, b, stride, padding, dilation, groups)
    assert np.allclose(found.tolist(), expected, *((1e-4,) * 2 if dtype == imode.float32 else ()))


SIDES = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33]


def agrees(x, w, b, stride, padding, dilation, groups):
    found = imode.conv2d(
        *(imode.from_numpy(a.astype("float32")) for a in (x, w, b)),
        stride, padding, dilation, groups,
    )  # fmt: skip
    expected = written_out(x, w, b, stride, padding, dilation, groups)
    return np.allclose(found.numpy(), expected, 1e-4, 1e-4)


@pytest.mark.parametrize("width", SIDES)
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_one_channel_per_group(width, stride, padding, times):
    for kernel, dilation in ((1, 1), (3, 1), (5, 1), (3, 2)):
        reach = dilation * (kernel - 1)
        height = 1 + reach + width % 6
        x, w = numbers(2, 3, height, width + reach), numbers(3 * times, 1, kernel, kernel)
        assert agrees(x, w, numbers(3 * times), *((n, n) for n in (stride, padding, dilation)), 3)


@pytest.mark.parametrize("area", SIDES)
@pytest.mark.parametrize("outputs", [1, 4, 7, 13])
def test_one_element_kernels(area, outputs):
    for inputs in (1, 5, 40, 300):
        x, w = numbers(2, inputs, 1, area), numbers(outputs, inputs, 1, 1)
        assert agrees(x, w, numbers(outputs), (1, 1), (0, 0), (1, 1), 1)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_gradients_are_the_adjoint(geometry):
    """<grad, conv(v)> == <conv's gradient, v>, exactly what backward must return."""
    kernel, stride, padding, dilation, groups = geometry
    x = imode.tensor(numbers(2, 4, 9, 8).tolist(), dtype=imode.float64, requires_grad=True)
    w = numbers(4, 4 // groups, *kernel, seed=1).tolist()
    w = imode.tensor(w, dtype=imode.float64, requires_grad=True)
    rest = (None, stride, padding, dilation, groups)
    out = imode.conv2d(x, w, *rest)
    grad = imode.tensor(numbers(*out.shape, seed=2).tolist(), dtype=imode.float64)
    grad_x, grad_w = imode.autograd.grad(out, (x, w), grad)
    v = imode.tensor(numbers(*x.shape, seed=3).tolist(), dtype=imode.float64)
    u = imode.tensor(numbers(*w.shape, seed=4).tolist(), dtype=imode.float64)
    with imode.no_grad():
        assert np.isclose(
            (imode.conv2d(v, w, *rest) * grad).sum().item(), (grad_x * v).sum().item()
        )
        assert np.isclose(
            (imode.conv2d(x, u, *rest) * grad).sum().item(), (grad_w * u).sum().item()
        )


def test_one_dimension_is_two_with_height_one():
    x, w, b = imode.ones(2, 3, 7), imode.ones(4, 3, 3), imode.arange(4.0)
    flat = imode.conv1d(x, w, b, 2, 1)
    deep = imode.conv2d(x.unsqueeze(2), w.unsqueeze(2), b, (1, 2), (0, 1)).squeeze(2)
    assert flat.tolist() == deep.tolist()


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_keeps_the_size(kernel, dilation):
    x = imode.ones(1, 1, 9, 7)
    w = imode.ones(1, 1, kernel, kernel)
    assert F.conv2d(x, w, padding="same", dilation=dilation).shape == x.shape


def test_nan_stays_where_it_reaches():
    x = imode.zeros(1, 1, 6, 6)
    x[0, 0, 0, 5] = float("nan")
    out = imode.conv2d(x, imode.ones(1, 1, 3, 3), padding=1)
    reached = np.zeros((6, 6), bool)
    reached[:2, 4:] = True
    assert (np.isnan(np.array(out[0, 0].tolist())) == reached).all()
    w = imode.ones(1, 1, 3, 3, requires_grad=True)
    imode.conv2d(x, w).sum().backward()
    gone = np.isnan(np.array(w.grad[0, 0].tolist()))
    assert (gone == [[False, False, True], [False] * 3, [False] * 3]).all()


def test_channels_last_stays():
    x = imode.ones(2, 5, 6, 3).permute(0, 3, 1, 2)
    out = imode.conv2d(x, imode.ones(4, 3, 3, 3))
    assert out.stride() == (48, 1, 16, 4)
    assert out.tolist() == imode.conv2d(x.contiguous(), imode.ones(4, 3, 3, 3)).tolist()


def test_saved_tensors_are_guarded():
    x = imode.ones(1, 1, 4, 4, requires_grad=True)
    w = imode.ones(1, 1, 3, 3, requires_grad=True)
    out = imode.conv2d(x, w)
    with imode.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    with imode.inference_mode():
        made = imode.ones(1, 1, 4, 4)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        imode.conv2d(made, w)


def test_node_name():
    w = imode.ones(1, 1, 3, 3, requires_grad=True)
    assert imode.conv2d(imode.ones(1, 1, 4, 4), w).grad_fn.name() == "ConvolutionBackward0"
    assert imode.conv1d(imode.ones(1, 1, 4), w[:, :, 0]).grad_fn.name() == "ConvolutionBackward0"


def test_threads_share_nothing():
    """Calls at the same time, each with scratch memory of its own."""
    from concurrent.futures import ThreadPoolExecutor

    x = imode.from_numpy(numbers(4, 8, 20, 20).astype("float32"))
    w = imode.from_numpy(numbers(8, 8, 3, 3).astype("float32"))
    expected = imode.conv2d(x, w, padding=1).tolist()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: imode.conv2d(x, w, padding=1), range(16)):
            assert found.tolist() == expected


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_a_kernel_beyond_the_padded_input_is_refused(stride):
    for size, dilation in ((4, 1), (3, 2)):
        with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input"):
            imode.conv2d(imode.ones(1, 1, 3, 3), imode.ones(1, 1, size, 1), stride=stride,
                         dilation=dilation)  # fmt: skip


def test_threads_change_nothing_but_rounding():
    x = imode.from_numpy(numbers(6, 16, 28, 28).astype("float32")).requires_grad_()
    w = imode.from_numpy(numbers(32, 16, 3, 3, seed=1).astype("float32")).requires_grad_()
    seen, before = [], imode.get_num_threads()
    try:
        for threads in (1, 2, 4):
            imode.set_num_threads(threads)
            out = imode.conv2d(x, w, padding=1)
            grads = imode.autograd.grad(out.square().sum(), (x, w))
            seen.append([t.detach().numpy() for t in (out, *grads)])
    finally:
        imode.set_num_threads(before)
    for other in seen[1:]:
        for a, b in zip(seen[0], other, strict=True):
            assert np.allclose(a, b, rtol=1e-4, atol=1e-3 * np.abs(a).max())


@pytest.mark.parametrize(
    "inputs, outputs, side, kernel, stride, groups",
    [(96, 200, 14, 1, 1, 1), (16, 50, 61, 1, 1, 1), (20, 64, 33, 3, 1, 1), (12, 64, 65, 3, 2, 1),
     (300, 112, 7, 3, 1, 2), (150, 150, 28, 5, 1, 150), (150, 150, 29, 3, 2, 150)],
)  # fmt: skip
def test_a_result_has_the_same_bits_from_any_number_of_threads(
    inputs, outputs, side, kernel, stride, groups
):
    x = imode.from_numpy(numbers(1, inputs, side, side).astype("float32"))
    w = imode.from_numpy(numbers(outputs, inputs // groups, kernel, kernel).astype("float32"))
    seen, before = [], imode.get_num_threads()
    try:
        for threads in (1, 2, 3, 8):
            imode.set_num_threads(threads)
            padding = int(kernel > 1)
            seen.append(imode.conv2d(x, w, None, stride, padding, 1, groups).numpy())
    finally:
        imode.set_num_threads(before)
    for other in seen[1:]:
        assert np.array_equal(seen[0], other)


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64, imode.int64])
@pytest.mark.parametrize("length", [2**31, 2**61, 2**62 - 1, 2**62, 2**63 - 1])
@pytest.mark.parametrize("dims", [1, 2])
def test_sizes_that_cannot_be_counted_are_refused(dims, length, dtype):
    conv = (F.conv1d, F.conv2d)[dims - 1]
    x, w = imode.ones((2, 3, 7, 7)[: dims + 2], dtype=dtype), imode.ones(4, 3, *[3] * dims)
    w = w.to(dtype)
    assert conv(x, w, stride=length).shape == (2, 4, 1, 1)[: dims + 2]
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input size"):
        conv(x, w, dilation=length)
    for size in ({"padding": length}, {"dilation": length, "padding": "same"}):
        with pytest.raises((RuntimeError, MemoryError), match=r"padding to be at most|emory|alloc"):
            conv(x, w, **size)


def backward(grad, x, w, stride, padding, groups):
    """The gradients of x and of w."""
    rest = [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups
    return imode.ops.convolution_backward(grad, x, w, None, *rest, [True, True, False])[:2]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("side", "channels", "groups"), [(3, 32, 1), (8, 32, 2), (9, 17, 17)])
def test_images_together_and_alone(side, channels, groups, stride):
    """Small images are worked on together: results as of one after the other."""
    x = imode.from_numpy(numbers(37, channels, side, side).astype("f"))
    w = imode.from_numpy(numbers(channels, channels // groups, 3, 3, seed=1).astype("f"))
    together = F.conv2d(x, w, None, stride, 1, 1, groups)
    alone = [F.conv2d(image, w, None, stride, 1, 1, groups) for image in x.split(1)]
    assert imode.allclose(together, imode.cat(alone), 1e-4, 1e-4)
    grad = imode.from_numpy(numbers(*together.shape, seed=2).astype("f"))
    of_x, of_w = backward(grad, x, w, stride, 1, groups)
    parts = [
        backward(g, image, w, stride, 1, groups)
        for g, image in zip(grad.split(1), x.split(1), strict=True)
    ]
    assert imode.allclose(of_x, imode.cat([part[0] for part in parts]), 1e-4, 1e-4)
    assert imode.allclose(of_w, sum(part[1] for part in parts), 1e-4, 1e-3)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("side", "channels", "groups"), [(3, 64, 1), (30, 16, 1), (30, 24, 24)])
def test_gradients_do_not_depend_on_the_number_of_threads(side, channels, groups, stride):
    x, w = imode.randn(8, channels, side, side), imode.randn(channels, channels // groups, 3, 3)
    grad = imode.randn_like(F.conv2d(x, w, None, stride, 1, 1, groups))
    before = imode.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            imode.set_num_threads(threads)
            found.append(backward(grad, x, w, stride, 1, groups))
    finally:
        imode.set_num_threads(before)
    for other in found[1:]:
        assert all(imode.equal(a, b) for a, b in zip(found[0], other, strict=True))


def geometries(count):
    """Random arguments of transposed convolutions: of each stride, beyond kernels and images."""
    rng = np.random.default_rng(0)
    while count:
        dims, one = rng.integers(1, 4), rng.random() < 0.5
        kernel, stride = rng.integers(1, 6, dims), rng.choice([1, 2, 2, 3, 4, 16], dims)
        dilation, padding = rng.choice([1, 1, 2, 3], dims), rng.integers(0, 3, dims)
        side = rng.integers(1, (5 if dims == 3 else 20), dims)
        more = np.minimum(rng.integers(0, 3, dims), np.maximum(stride, dilation) - 1)
        size = (side - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1
        n, groups = int(rng.choice([1, 2, 16])), 1 if one else int(rng.choice([2, 4, 8]))
        made, given = (int(rng.choice(some)) for some in ([1, 2, 3, 16, 20], [1, 2, 16, 33]))
        if size.min() > 0 and size.prod() * n * groups * made < 1e5:
            count -= 1
            rest = stride.tolist(), padding.tolist(), more.tolist(), groups, dilation.tolist()
            yield (n, groups * given, *side), (groups * given, made, *kernel), rest


def test_transposed_is_exact_for_whole_numbers():
    """Also with few channels, which are computed without packing: as by sums over windows."""
    for x, w, rest in geometries(150):
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[len(x) - 3]
        x, w = (np.random.default_rng(1).integers(-4, 5, shape) for shape in (x, w))
        wanted = function(imode.from_numpy(x), imode.from_numpy(w), None, *rest).numpy()
        for dtype in "fd":
            floats = [imode.from_numpy(a.astype(dtype)) for a in (x, w)]
            assert np.array_equal(function(*floats, None, *rest).numpy(), wanted), (x.shape, rest)


def test_padding_alone_is_met():
    x, w = imode.ones(16, 4, 1, 3, 3), imode.ones(16, 4, 1, 3, 3)
    assert not F.conv3d(x, w, stride=(3, 1, 1), padding=(1, 1, 1)).any()


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("stride", [1, 2])
def test_few_channels_from_any_number_of_threads(channels, stride):
    x, w = imode.randn(2, 24, 37, 41), imode.randn(channels, 24, 3, 3)
    seen, before = [], imode.get_num_threads()
    try:
        for threads in (1, 2, 3):
            imode.set_num_threads(threads)
            seen.append(F.conv2d(x, w, stride=stride, padding=1))
    finally:
        imode.set_num_threads(before)
    assert all(imode.equal(seen[0], other) for other in seen[1:])
    wanted = F.conv2d(x.double(), w.double(), stride=stride, padding=1)
    assert imode.allclose(seen[0].double(), wanted, 1e-4, 1e-4)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_is_not_finite_stays_where_it_belongs(value, stride):
    """Vectors at the end of a row reach beyond it: what lies there does not count."""
    for side in range(3, 21):
        x, w = numbers(1, 1, side, side), numbers(1, 1, 3, 3, seed=1)
        out = (side - 3) // stride + 1
        grad = numbers(1, 1, out, out, seed=2)
        x[0, 0, 0, 0] = grad[0, 0, -1, -1] = value
        of_x, of_w = np.zeros_like(x), np.zeros_like(w)
        with np.errstate(invalid="ignore"):
            for k in np.ndindex(3, 3):
                window = [slice(i, i + stride * (out - 1) + 1, stride) for i in k]
                of_x[0, 0, window[0], window[1]] += grad[0, 0] * w[0, 0][k]
                of_w[0, 0][k] = (grad[0, 0] * x[0, 0, window[0], window[1]]).sum()
        found = backward(*map(imode.from_numpy, (grad, x, w)), stride, 0, 1)
        for a, b in zip(found, (of_x, of_w), strict=True):
            assert np.allclose(a.numpy(), b, equal_nan=True), side


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
@pytest.mark.parametrize("case", [
    {"size": (3, 3), "kernel": 3, "padding": 1},
    {"size": (6, 5), "kernel": 3, "padding": 1, "stride": 2},
    {"size": (4, 7), "kernel": (5, 2), "padding": (4, 1), "groups": 2},
    {"size": (8, 8), "kernel": 3, "padding": 2, "dilation": 2},
    {"size": (1, 1), "kernel": 3, "padding": 1},
    {"size": (2, 3), "kernel": 1, "padding": 3},
])  # fmt: skip
def test_small_images_side_by_side_are_as_each_alone(case, dtype):
    """Also their gradients, also where threads share them."""
    size, kernel = case["size"], case["kernel"]
    options = {k: v for k, v in case.items() if k not in ("size", "kernel")}
    groups = options.get("groups", 1)
    kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    imode.manual_seed(0)
    x = imode.randn(32, 50 * groups, *size, dtype=dtype, requires_grad=True)
    w = imode.randn(17 * groups, 50, *kernel, dtype=dtype)
    b = imode.randn(17 * groups, dtype=dtype)
    before, found = imode.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            imode.set_num_threads(threads)
            y = F.conv2d(x, w, b, **options)
            found.append((y.detach(), *imode.autograd.grad(y, x, y.detach())))
    finally:
        imode.set_num_threads(before)
    assert all(a.equal(c) for made in found[1:] for a, c in zip(made, found[0], strict=True))
    alone = imode.cat([F.conv2d(each, w, b, **options) for each in x.split(1)])
    scale = imode.finfo(dtype).eps * 1000
    imode.testing.assert_close(found[0][0], alone.detach(), rtol=scale, atol=scale)
    wanted = imode.autograd.grad(alone, x, alone.detach())[0]
    imode.testing.assert_close(found[0][1], wanted, rtol=scale, atol=10 * scale)


def test_the_gradient_where_the_stride_is_longer_than_the_only_window():
    x = imode.ones(1, 1, 400, 400, requires_grad=True)
    weight = imode.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    F.conv2d(x, weight, stride=400).sum().backward()
    assert x.grad[0, 0, :2, :2].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert x.grad.sum().item() == 10.0


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", [
    # images, channels, outputs, groups, size, kernel, stride, padding
    (1, 48, 40, 1, (3, 3), (3, 3), 1, 1),
    (1, 100, 65, 1, (6, 7), (3, 3), 2, 1),
    (1, 64, 96, 2, (5, 4), (3, 2), (2, 3), (1, 0)),
    (3, 33, 70, 1, (5, 5), (3, 3), 2, 1),
    (1, 130, 90, 1, (4, 4), (1, 1), 2, 0),
    (5, 40, 300, 1, (7, 7), (1, 1), 1, 0),
    (1, 17, 200, 1, (2, 3, 4), (2, 3, 3), (1, 2, 2), 1),
    (2, 3, 64, 1, (41, 27), (7, 7), 2, 3),
    (1, 6, 80, 2, (45,), (5,), 1, 0),
])  # fmt: skip
def test_gradients_where_the_weight_is_larger_than_the_image(case, threads, dtype):
    images, channels, outputs, groups, size, kernel, stride, padding = case
    convolve = getattr(F, f"conv{len(size)}d")
    rest = None, stride, padding, 1, groups
    rng = np.random.default_rng(0)

    def whole(*shape):
        return imode.from_numpy(rng.integers(-3, 4, shape)).to(dtype)

    x, other_x = whole(2, images, channels, *size)
    w, other_w = whole(2, outputs, channels // groups, *kernel)
    before = imode.get_num_threads()
    imode.set_num_threads(threads)
    try:
        x, w = (t.clone().requires_grad_() for t in (x, w))
        out = convolve(x, w, *rest)
        grad = whole(*out.shape)
        out.backward(grad)
    finally:
        imode.set_num_threads(before)
    with imode.no_grad():
        assert imode.equal(out.long(), convolve(x.long(), w.long(), *rest))
        for found, other, moved in (
            (x.grad, other_x, convolve(other_x, w, *rest)),
            (w.grad, other_w, convolve(x, other_w, *rest)),
        ):
            assert (found.double() * other).sum() == (moved.double() * grad).sum()
