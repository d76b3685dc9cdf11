"""Samples of the products of matrices of eight-bit floats that have scales."""

from tests.samples import D, S, T

BY_TENSOR, BY_ROW = [0], [1]


def eight(*shape, dtype="float8_e4m3fn", **words):
    return T(*shape, dtype=dtype, requires_grad=False, **words)


def _with_lists(first, second, scale_a, recipe_a, swizzle_a, scale_b, *rest, **words):
    import torch

    scales_a, scales_b = [scale_a], [scale_b]
    return torch._scaled_mm_v2(
        first, second, scales_a, recipe_a, swizzle_a, scales_b, *rest, **words
    )


def scaled(first, second, scale_a, scale_b, recipe=BY_TENSOR, more=(), out="float32", **words):
    """A call of the operator; `more` are the kinds of swizzle, the bias."""
    swizzle_a, swizzle_b, bias = (*more, *([], [], None)[len(more) :])
    out = out and D(out)
    arguments = (scale_a, recipe, swizzle_a, scale_b, recipe, swizzle_b, bias, out)
    return S(first, second, *arguments, grad=False, torch=_with_lists, **words)


def bad(*args, raises=ValueError, **words):
    return scaled(*args, raises=raises, **words)


ONE = T(low=0.5)
A, B = eight(4, 6), eight(6, 3, view="transposed")
ROWS, COLUMNS = T(4, 1, low=0.5), T(1, 3, low=0.5)

SAMPLES = {
    "_scaled_mm_v2": [
        scaled(A, B, ONE, ONE),
        scaled(A, eight(6, 3, dtype="float8_e5m2"), ONE, T(1, 1), out="bfloat16"),
        scaled(A, B, ONE, ONE, out=None),
        scaled(A, B, ONE, ONE, out="float8_e5m2"),
        scaled(A, B, ONE, ONE, out="float16", more=([], [], T(3, dtype="float16"))),
        scaled(A, B, ONE, ONE, out="bfloat16", more=([0], [0], T(1, 3, dtype="bfloat16"))),
        scaled(A, B, ROWS, COLUMNS, BY_ROW),
        scaled(A, B, ROWS, COLUMNS, BY_ROW, out="float64", more=([1], [], T(3)), tol=(1e-6, 1e-6)),
        scaled(eight(0, 6), B, ONE, ONE),
        scaled(eight(4, 0), eight(0, 3), ONE, ONE, more=([], [], T(3))),
        scaled(A, B, ONE, ONE, contraction_dim=[-1, 0], use_fast_accum=True),
        bad(T(4, 6), B, ONE, ONE),
        bad(A, B, T(2), ONE),
        bad(A, B, ONE, T(dtype="float64")),
        bad(A, B, ONE, ONE, recipe=[3]),
        bad(A, B, ONE, ONE, recipe=[0, 0]),
        bad(A, B, ROWS, ONE, recipe=BY_ROW),
        bad(A, B, ROWS, T(3), recipe=BY_ROW, raises=IndexError),
        bad(A, B, T(3, 1), COLUMNS, recipe=BY_ROW),
        bad(A, B, T(4, 1, 3), COLUMNS, recipe=BY_ROW),
        bad(A, B, ROWS, T(1, 4), recipe=BY_ROW),
        bad(A, B, ROWS, T(1, 3, view="strided"), recipe=BY_ROW),
        bad(A, B, ROWS, T(3, 1), recipe=BY_ROW, raises=RuntimeError),
        bad(A, B, ONE, ONE, more=([1], [0])),
        bad(A, B, ONE, ONE, more=([], [], T(4))),
        bad(A, B, ONE, ONE, more=([], [], T(3, dtype="float64"))),
        bad(A, B, ONE, ONE, more=([], [], T(1, 1, 3)), raises=RuntimeError),
        bad(eight(6), B, ONE, ONE),
        bad(A, eight(6), ONE, ONE),
        bad(A, A, ONE, ONE),
        bad(A, B, ONE, ONE, contraction_dim=[1]),
        bad(A, B, ONE, ONE, contraction_dim=[0, 1]),
        bad(A, eight(4, 3), ONE, ONE, contraction_dim=[0, 0], raises=RuntimeError),
    ],
}
