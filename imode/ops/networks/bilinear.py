"""Bilinear forms of pairs of vectors."""

import math

import numpy as np

from imode import ops
from imode._core.type_names import c_name
from imode.kernels.creation.copy import as_half, cast
from imode.kernels.networks import bilinear as kernels
from imode.kernels.products.multiply import OneThread
from imode.ops.networks import composites_fast
from imode.ops.schema import composite, op


def _by_first(rows, weight):
    """rows[i] @ weight[k]: (rows, k, m), in one product."""
    k, n, m = weight.shape
    return rows.matmul(weight.transpose(0, 1).reshape((n, k * m))).view((rows.shape[0], k, m))


def _slopes(grad, rows, weight, others, needs):
    k, n, m = weight.shape
    by_rows = by_weight = by_others = None
    given = grad.unsqueeze(1)
    if needs[0]:
        by_rows = given.matmul(_by_first(others, weight.transpose(1, 2))).squeeze(1)
    if needs[1]:
        paired = (grad.unsqueeze(2) * rows.unsqueeze(1)).reshape((rows.shape[0], k * n))
        by_weight = paired.t().matmul(others).view((k, n, m))
    if needs[2]:
        by_others = given.matmul(_by_first(rows, weight)).squeeze(1)
    return by_rows, by_weight, by_others


@op(
    "_trilinear(Tensor rows, Tensor weight, Tensor others) -> Tensor",
    fast=kernels.trilinear,
    derivative={("rows", "weight", "others"): _slopes},
    real_only="_trilinear",
    variants="",
)
def _trilinear(rows, weight, others):
    k, n, m = weight.shape
    if rows.dtype == np.float16:  # rounded after each product
        rows, weight, others = (cast(x, np.float32) for x in (rows, weight, others))
        with OneThread():
            halfway = as_half(rows @ weight.transpose(1, 0, 2).reshape(n, k * m))
            found = halfway.reshape(len(rows), k, m) @ others[:, :, None]
        return cast(np.ascontiguousarray(found[..., 0]), np.float16)
    with OneThread():
        halfway = (rows @ weight.transpose(1, 0, 2).reshape(n, k * m)).reshape(len(rows), k, m)
        return np.ascontiguousarray((halfway @ others[:, :, None])[..., 0])


def _check(input1, input2, weight, bias):
    if not input1.dtype == input2.dtype == weight.dtype:
        kinds = zip(("input1", "input2", "weight"), (input1, input2, weight), strict=True)
        names = ", ".join(f"{name}: {c_name(given.dtype)}" for name, given in kinds)
        raise RuntimeError(f"All tensors must have the same dtype, got {names}")

    def differ(what, a, b):
        raise RuntimeError(f"bilinear(): {what}: got {a} and {b}")

    if input1.dim() != input2.dim():
        differ("input dimensions do not match", input1.dim(), input2.dim())
    for dim in range(input1.dim() - 1):
        if input1.shape[dim] != input2.shape[dim]:
            what = f"input batch dimensions do not match at dim {dim}"
            differ(what, input1.shape[dim], input2.shape[dim])
    for name, given, size in (("input1", input1, 1), ("input2", input2, 2)):
        if given.size(-1) != weight.size(size):
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {given.size(-1)} but "
                f"expected {weight.size(size)}"
            )
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected "
            f"{weight.size(0)}"
        )


@composite(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    fast=composites_fast.bilinear,
    variants="function nn",
)
def bilinear(input1, input2, weight, bias):
    """Return input1 @ weight[k] @ input2 for each k: (..., n), (..., m) to (..., k).

    `weight` is (k, n, m), `bias` (k). Raises RuntimeError where sizes do not fit.

    >>> imode.bilinear(imode.ones(1, 2), imode.ones(1, 3), imode.ones(1, 2, 3)).tolist()
    [[6.0]]
    """
    _check(input1, input2, weight, bias)
    k, n, m = weight.shape
    count = math.prod(input1.shape[:-1])
    rows, others = input1.reshape((count, n)), input2.reshape((count, m))
    result = ops._trilinear(rows, weight, others).reshape((*input1.shape[:-1], k))
    return result if bias is None else result + bias
