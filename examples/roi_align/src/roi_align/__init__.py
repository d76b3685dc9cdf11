"""ROIAlign for imode: `roi_align`, an operator with kernels in Cython, in a package of its own.

Source: He, Gkioxari, Dollár, Girshick, "Mask R-CNN" (2017), section 3.
"""

import imode

from . import kernels

__all__ = ["library", "roi_align"]

library = imode.library.Library("vision", "FRAGMENT")
library.define(
    "roi_align(Tensor input, Tensor boxes, int[2] output_size, float spatial_scale=1.0, "
    "int sampling_ratio=-1, bool aligned=False) -> Tensor"
)
library.define(
    "_roi_align_backward(Tensor grad, Tensor boxes, int[] input_shape, float spatial_scale, "
    "int sampling_ratio, bool aligned) -> Tensor"
)
library.impl("roi_align", kernels.forward, "CPU")
library.impl("_roi_align_backward", kernels.backward, "CPU")


@imode.library.register_fake("vision::roi_align", lib=library)
def _shape(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    return input.new_empty((boxes.shape[0], input.shape[1], *output_size))


@imode.library.register_fake("vision::_roi_align_backward", lib=library)
def _shape_of_gradient(grad, boxes, input_shape, spatial_scale, sampling_ratio, aligned):
    return grad.new_empty(tuple(input_shape))


def _keep(ctx, inputs, output):
    input, boxes, _, *ctx.how = inputs
    ctx.shape = tuple(input.shape)
    ctx.save_for_backward(boxes)


def _backward(ctx, grad):
    (boxes,) = ctx.saved_tensors
    slope = imode.ops.vision._roi_align_backward(grad, boxes, ctx.shape, *ctx.how)
    return slope, None, None, None, None, None


def _keep_again(ctx, inputs, output):
    grad, boxes, _, *ctx.how = inputs
    ctx.size = tuple(grad.shape[2:])
    ctx.save_for_backward(boxes)


def _backward_again(ctx, grad):  # the gradient is linear in `grad`: its own is the operator
    (boxes,) = ctx.saved_tensors
    return imode.ops.vision.roi_align(grad, boxes, ctx.size, *ctx.how), None, None, None, None, None


imode.library.register_autograd("vision::roi_align", _backward, setup_context=_keep, lib=library)
imode.library.register_autograd(
    "vision::_roi_align_backward", _backward_again, setup_context=_keep_again, lib=library
)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Return the means of the bins of boxes in images, interpolated between pixels.

    input: images, (N, C, H, W), float32 or float64. boxes: (K, 5), of the same dtype, each the
    image's number and x1, y1, x2, y2 in pixels of the image that `input` has scaled by
    `spatial_scale`; or a list of (L, 4), one for each image. output_size: bins by height and width,
    or one int for both. sampling_ratio: samples by height and width of each bin; -1: as many as it
    has pixels. aligned: pixels are points in the middle of their squares.

    Gives (K, C, *output_size), differentiable twice by `input`. Raises RuntimeError for other
    dtypes and shapes, IndexError for an image that is not there.

    >>> x = imode.arange(16.0).view(1, 1, 4, 4)
    >>> roi_align(x, [imode.tensor([[0.0, 0.0, 3.0, 3.0]])], 1, aligned=True)
    tensor([[[[5.]]]])
    """
    if isinstance(boxes, (list, tuple)):
        numbers = [imode.full((len(b), 1), float(i), dtype=b.dtype) for i, b in enumerate(boxes)]
        boxes = imode.cat([imode.cat([n, b], 1) for n, b in zip(numbers, boxes, strict=True)])
    size = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    return imode.ops.vision.roi_align(input, boxes, size, spatial_scale, sampling_ratio, aligned)
