"""Products of groups of matrices, and of matrices whose numbers have scales. Without PyTorch."""

import pickle

import pytest

import imode
from imode.nn.functional import (
    ScalingType,
    SwizzleType,
    grouped_mm,
    scaled_grouped_mm,
    scaled_mm,
)


def ends(*values):
    return imode.tensor(values, dtype=imode.int32)


def eight(*values):
    return imode.tensor(values).to(imode.float8_e4m3fn)


def test_groups_are_multiplied_each_by_its_matrix():
    rows, experts = imode.randn(7, 8), imode.randn(3, 8, 4)
    rows.requires_grad_()
    experts.requires_grad_()
    made = grouped_mm(rows, experts, offs=ends(2, 2, 5))
    wanted = imode.cat([rows[:2] @ experts[0], rows[2:5] @ experts[2]])
    assert imode.allclose(made[:5], wanted) and not made[5:].any()
    found = imode.autograd.grad((made**3).sum(), (rows, experts), create_graph=True)
    expected = imode.autograd.grad((wanted**3).sum(), (rows, experts), create_graph=True)
    for a, b in zip(found, expected, strict=True):
        assert imode.allclose(a, b, 1e-4, 1e-4)
    again = [
        imode.autograd.grad(sum((g * g).sum() for g in first), (rows, experts))
        for first in (found, expected)
    ]
    for a, b in zip(*again, strict=True):
        assert imode.allclose(a, b, 1e-3, 1e-3 * float(b.detach().abs().max()))


def test_a_gradient_that_lies_nowhere_is_refused():
    made = grouped_mm(imode.ones(2, 4, requires_grad=True), imode.ones(1, 4, 4), offs=ends(2))
    with pytest.raises(RuntimeError, match=r"Invalid strides/sizes, got \[0, 0\] for strides"):
        made.sum().backward()


def test_shapes_on_meta():
    made = grouped_mm(imode.ones(2, 3, 8, device="meta"), imode.ones(2, 8, 4, device="meta"))
    assert made.device.type == "meta" and made.shape == (2, 3, 4)


def test_scales_of_matrices_and_of_rows():
    a, b = eight([1.0, 2.0], [3.0, 4.0]), eight([1.0, 0.5], [2.0, 1.0])
    one, way = imode.tensor(0.5), ScalingType.TensorWise
    made = scaled_mm(a, b, one, way, [one], [way], bias=imode.ones(2))
    assert made.dtype == imode.bfloat16 and made.tolist() == [[2.25, 1.625], [3.75, 2.375]]
    rows, columns = imode.tensor([[1.0], [2.0]]), imode.tensor([[4.0, 2.0]])
    way = ScalingType.RowWise
    made = scaled_mm(a, b, rows, way, columns, way, output_dtype=imode.float32)
    assert made.tolist() == [[20.0, 5.0], [88.0, 22.0]]
    assert scaled_mm(a, b, rows, way, columns, way, output_dtype=None).dtype == a.dtype


def test_what_is_refused():
    a, one, way = eight([1.0]), imode.tensor(1.0), ScalingType.TensorWise
    with pytest.raises(ValueError, match="Invalid scaling configuration") as raised:
        scaled_mm(a, a, [], [], one, way)
    assert "scale_a=None, mat_b.dtype()=Float8_e4m3fn, scale_b.dtype()=Float" in str(raised.value)
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 2, but got int"):
        scaled_mm(a, a, 1, way, one, way)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'value'"):
        scaled_mm(a, a, one, 0, one, way)
    bias = imode.ones(1, requires_grad=True)
    made = scaled_mm(a, a, one, way, one, way, bias=bias)
    with pytest.raises(RuntimeError, match="derivative for aten::_scaled_mm_v2 is not implemented"):
        made.sum().backward()
    with pytest.raises(NotImplementedError, match="Could not run 'aten::_scaled_grouped_mm_v2'"):
        scaled_grouped_mm(a, a, one, way, one, way)


def test_kinds_of_scales_are_named_numbers():
    assert int(ScalingType.BlockWise1x32) == 3 and [7, 8][SwizzleType.SWIZZLE_32_4_4] == 8
    assert ScalingType.TensorWise != 0 and ScalingType(1) is ScalingType.RowWise
    assert str(ScalingType.RowWise) == "ScalingType.RowWise"
    assert repr(SwizzleType.NO_SWIZZLE) == "<SwizzleType.NO_SWIZZLE: 0>"
    assert pickle.loads(pickle.dumps(ScalingType.RowWise)) is ScalingType.RowWise
