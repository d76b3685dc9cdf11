"""ROIAlign against a reference in NumPy, in both orders of gradient, in training and inference."""

import math

import numpy as np
import pytest
from roi_align import library, roi_align

import imode

BOXES = [[0, 0.3, 0.7, 5.2, 4.9], [1, -3.0, 1.0, 2.5, 9.0], [1, 2.0, 2.0, 2.2, 2.1]]


def reference(image, boxes, size, scale, ratio, aligned):
    """The definition, sample by sample."""
    _, channels, height, width = image.shape
    shift, bins = (0.5 if aligned else 0.0), np.zeros((len(boxes), channels, *size))

    def pixel(plane, y, x):
        if not (-1 <= y <= height and -1 <= x <= width):
            return np.zeros(channels)
        y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
        y0, x0 = int(y), int(x)
        y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
        above = plane[:, y0, x0] * (1 - x + x0) + plane[:, y0, x1] * (x - x0)
        beneath = plane[:, y1, x0] * (1 - x + x0) + plane[:, y1, x1] * (x - x0)
        return above * (1 - y + y0) + beneath * (y - y0)

    for k, (n, x1, y1, x2, y2) in enumerate(boxes):
        left, top = x1 * scale - shift, y1 * scale - shift
        sides = np.array([y2 * scale - shift - top, x2 * scale - shift - left])
        step = (sides if aligned else np.maximum(sides, 1)) / size
        count = [ratio if ratio > 0 else math.ceil(s) for s in step]
        for i, j in np.ndindex(*size):
            for a, b in np.ndindex(*count):
                y = top + (i + (a + 0.5) / count[0]) * step[0]
                x = left + (j + (b + 0.5) / count[1]) * step[1]
                bins[k, :, i, j] += pixel(image[int(n)], y, x)
        bins[k] /= max(count[0] * count[1], 1)
    return bins


@pytest.fixture
def image():
    return imode.tensor(np.random.default_rng(0).standard_normal((2, 3, 7, 6)))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_values_are_those_of_the_definition(image, aligned, ratio, scale):
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    ours = roi_align(image, boxes, (3, 2), scale, ratio, aligned)
    theirs = reference(image.numpy(), BOXES, (3, 2), scale, ratio, aligned)
    np.testing.assert_allclose(ours.numpy(), theirs, atol=1e-12)
    single = roi_align(image.float(), boxes.float(), (3, 2), scale, ratio, aligned)
    assert single.dtype == imode.float32
    np.testing.assert_allclose(single.numpy(), theirs, atol=1e-5)


def test_layouts_and_lists_of_boxes(image):
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    plain = roi_align(image, boxes, 2)
    strided = image.transpose(2, 3).contiguous().transpose(2, 3)
    assert roi_align(strided, boxes, 2).equal(plain)
    assert roi_align(image, [boxes[:1, 1:], boxes[1:, 1:]], 2).equal(plain)
    assert roi_align(image, boxes[:0], 2).shape == (0, 3, 2, 2)


def test_gradients_of_both_orders(image):
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    image.requires_grad_()
    assert imode.autograd.gradcheck(lambda x: roi_align(x, boxes, (3, 2)), image)
    assert imode.autograd.gradgradcheck(lambda x: roi_align(x, boxes, (3, 2)), image)


def test_inference_mode_runs_beneath_autograd(image):
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    with imode.inference_mode():
        inside = imode.empty_like(image).copy_(image)
        with imode.counters() as counts:
            result = roi_align(inside, boxes, 2)
    assert result.is_inference() and result.equal(roi_align(image, boxes, 2))
    assert counts.nodes == 0 and counts.hops == 1


def test_training_learns_the_image(image):
    boxes = imode.tensor(BOXES[:2], dtype=image.dtype)
    wanted = roi_align(image, boxes, 3)
    guess = imode.zeros_like(image).requires_grad_()
    optimizer = imode.optim.SGD([guess], lr=20.0)
    for _ in range(200):
        optimizer.zero_grad()
        loss = (roi_align(guess, boxes, 3) - wanted).square().mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-3


def test_what_pytorch_would_check_of_an_operator(image):
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    image.requires_grad_()
    imode.library.opcheck(imode.ops.vision.roi_align, (image, boxes, (2, 2)))


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"boxes": [[2, 0, 0, 1, 1]]}, IndexError, "images from 0 to 1"),
        ({"boxes": [[math.nan, 0, 0, 1, 1]]}, IndexError, "images from 0 to 1"),
        ({"boxes": [[0, 0, 0, math.inf, 1]]}, RuntimeError, "finite"),
        ({"boxes": [[0, 0, 0, 1]]}, RuntimeError, "4 numbers"),
        ({"size": (0, 2)}, RuntimeError, "output_size is positive"),
        ({"scale": math.nan}, RuntimeError, "spatial_scale"),
        ({"dtype": imode.int64}, RuntimeError, "float32 or float64"),
    ],
)
def test_bad_input(image, change, error, says):
    given = {"boxes": BOXES, "size": (2, 2), "scale": 1.0, "dtype": image.dtype} | change
    boxes = imode.tensor(given["boxes"], dtype=image.dtype)
    with pytest.raises(error, match=says):
        roi_align(image.to(given["dtype"]), boxes, given["size"], given["scale"])


def test_closing_takes_the_operators_back(image):
    assert "vision" in str(library)
    boxes = imode.tensor(BOXES, dtype=image.dtype)
    with library:
        pass
    with pytest.raises(Exception, match="roi_align"):
        roi_align(image, boxes, 2)
