"""Views: what they show, what they share, what they refuse, and their gradients."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imode


def address(t):
    return t.detach().numpy().__array_interface__["data"][0]


def shares_memory(a, b):
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


@st.composite
def geometries(draw):
    """A tensor of distinct values, as a random view of a contiguous one."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    t = imode.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    for _ in range(draw(st.integers(0, 3))):
        if t.dim() == 0:
            break
        dim = draw(st.integers(0, t.dim() - 1))
        kind = draw(st.sampled_from(["transpose", "slice", "step", "unsqueeze"]))
        if kind == "transpose":
            t = t.transpose(dim, draw(st.integers(0, t.dim() - 1)))
        elif kind == "slice":
            t = t[(slice(None),) * dim + (slice(draw(st.integers(0, 2)), None),)]
        elif kind == "step":
            t = t[(slice(None),) * dim + (slice(None, None, 2),)]
        else:
            t = t.unsqueeze(dim)
    return t


# What each shows, by NumPy's function of the same meaning.
SAME_AS_NUMPY = {
    "transpose": (lambda t, a, b: t.transpose(a, b), np.swapaxes),
    "select": (lambda t, a, b: t.select(a, b), lambda x, a, b: np.moveaxis(x, a, 0)[b]),
    "unsqueeze": (lambda t, a, b: t.unsqueeze(a), lambda x, a, b: np.expand_dims(x, a)),
    "squeeze": (lambda t, a, b: t.squeeze(), lambda x, a, b: np.squeeze(x)),
    "movedim": (lambda t, a, b: t.movedim(a, b), np.moveaxis),
    "diagonal": (lambda t, a, b: t.diagonal(1, a, b), lambda x, a, b: np.diagonal(x, 1, a, b)),
    "flip of dims": (
        lambda t, a, b: t.permute(tuple(reversed(range(t.dim())))),
        lambda x, a, b: x.transpose(),
    ),
    "unfold": (
        lambda t, a, b: t.unfold(a, 1, 1),
        lambda x, a, b: np.lib.stride_tricks.sliding_window_view(x, 1, a),
    ),
}


@settings(max_examples=60, deadline=None)
@given(geometries(), st.sampled_from(sorted(SAME_AS_NUMPY)), st.integers(0, 3), st.integers(0, 3))
def test_views_show_what_numpy_shows(t, name, a, b):
    ours, numpys = SAME_AS_NUMPY[name]
    if t.dim() == 0:
        return  # a scalar counts as having one dimension here, not in NumPy
    array = t.numpy().copy()
    try:
        expected = numpys(array, a, b)
    except (ValueError, IndexError):
        with pytest.raises((IndexError, RuntimeError)):
            ours(t, a, b)
        return
    if name == "unfold" and t.shape[a] == 0:
        return  # refused here, as in PyTorch
    result = ours(t, a, b)
    np.testing.assert_array_equal(result.numpy(), expected)
    assert result.numel() == 0 or shares_memory(result, t)
    assert result._is_view()


@settings(max_examples=60, deadline=None)
@given(geometries(), st.data())
def test_view_exists_exactly_where_no_copy_is_needed(t, data):
    factors, n = [], t.numel()
    while n > 1:
        divisors = [d for d in range(2, n + 1) if n % d == 0]
        factors.append(data.draw(st.sampled_from(divisors)))
        n //= factors[-1]
    shape = (*factors, 1) if t.numel() else (0, 2)
    array = t.numpy()
    try:
        expected = array.reshape(shape, copy=False)
    except (ValueError, TypeError):
        with pytest.raises(RuntimeError, match=r"^view size is not compatible"):
            t.view(shape)
        copied = t.reshape(shape)
        assert not shares_memory(copied, t)
        np.testing.assert_array_equal(copied.numpy(), array.reshape(shape))
        return
    result = t.view(shape)
    np.testing.assert_array_equal(result.numpy(), expected)
    assert result.numel() == 0 or address(result) == address(t)
    assert result.numel() == 0 or address(t.reshape(shape)) == address(t)


@settings(max_examples=40, deadline=None)
@given(geometries(), st.integers(0, 3), st.integers(1, 3))
def test_pieces_put_together_again(t, dim, size):
    if dim >= t.dim():
        return
    for pieces in (t.split(size, dim), t.chunk(size, dim), t.tensor_split(size, dim)):
        assert isinstance(pieces, tuple)
        assert imode.cat(pieces, dim).tolist() == t.tolist()
    assert len(t.unbind(dim)) == t.shape[dim]
    if t.shape[dim]:
        assert imode.stack(t.unbind(dim), dim).tolist() == t.tolist()


# ---- sharing ------------------------------------------------------------------------------------


def test_writes_go_both_ways_and_are_counted_once():
    base = imode.zeros(2, 3)
    column, flat = base.select(1, 0), base.view(6)
    column.add_(1)
    flat[1:2].fill_(5)
    assert base.tolist() == [[1, 5, 0], [1, 0, 0]]
    assert base._version == column._version == flat._version == 2
    assert column._base is flat._base is base


def test_detach_shares_the_version_and_data_does_not():
    x = imode.ones(2, requires_grad=True)
    detached, data = x.detach(), x.data
    detached.add_(1)
    assert x._version == detached._version == 1
    data.add_(1)
    assert (x._version, data._version) == (1, 1)
    assert x.tolist() == [3, 3]
    assert not detached.requires_grad
    assert not detached._is_view()


def test_reshape_that_copies_shares_nothing():
    x = imode.ones(2, 3)
    y = x.t().reshape(6)
    assert not y._is_view()
    y.add_(1)
    assert x._version == 0
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_those_that_have_nothing_to_do_return_the_tensor():
    x = imode.ones(3)
    assert x.flatten() is x
    assert x.real is x
    assert x.conj() is x


def test_inplace_forms_change_the_tensor_itself():
    x = imode.arange(6.0).reshape(2, 3).clone()
    assert x.t_() is x
    assert (x.shape, x.stride()) == ((3, 2), (1, 3))
    x.unsqueeze_(0).transpose_(0, 1).squeeze_()
    assert x.shape == (3, 2)
    assert x._version == 4
    with pytest.raises(IndexError):
        x.squeeze_(5)
    assert x._version == 4


def _result(x, name, *arguments):
    try:
        found = getattr(x, name)(*arguments)
    except RuntimeError as error:
        return str(error)
    return found.shape, found.stride(), found.data_ptr() - x.data_ptr()


@pytest.mark.parametrize("strides", [(3, 1, 1), (3, 1, 7), (9, 1, 1), (1, 2, 6), (0, 1, 1)])
@pytest.mark.parametrize("size", [(6,), (2, 3, 1), (1, 6), (3, 2), (6, 1), (7,), (2, 3, 0), ()])
def test_other_shapes_have_the_same_strides_in_every_mode(strides, size):
    x, other = imode.zeros(32).as_strided((2, 3, 1), strides), imode.zeros(size)
    with imode.inference_mode():
        y = imode.zeros(32).as_strided((2, 3, 1), strides)
        fast = [_result(y, "view_as", other), _result(y, "view", size)]
        if x.is_contiguous():
            fast += [_result(y, "reshape", size), _result(y, "flatten"), _result(y, "flatten", 1)]
    slow = [_result(x, "view_as", other), _result(x, "view", size)]
    if x.is_contiguous():
        slow += [_result(x, "reshape", size), _result(x, "flatten"), _result(x, "flatten", 1)]
    assert fast == slow


@pytest.mark.parametrize("size", [(2**62 + 4,), (2**61, 2, 4), (2**32, 2**32, 4), (2**63 - 1, 4)])
def test_sizes_whose_product_is_beyond_64_bits(size):
    with pytest.raises(RuntimeError, match="is invalid for input of size 4"):
        imode.ones(4).view(size)


def test_view_as_another_dtype():
    x = imode.tensor([1.0, -2.0])
    assert x.view(imode.int32).tolist() == [0x3F800000, -0x40000000]
    assert x.view(imode.float64).shape == (1,)
    assert x.view(imode.uint8).shape == (8,)
    x.view(imode.int32).zero_()
    assert x.tolist() == [0, 0]
    assert x._version == 1


def test_complex_parts():
    z = imode.tensor([1 + 2j, 3 - 4j])
    z.real.mul_(10)
    z.imag.zero_()
    assert z.tolist() == [10, 30]
    assert imode.view_as_complex(imode.view_as_real(z)).tolist() == z.tolist()


# ---- refused ------------------------------------------------------------------------------------

X = imode.arange(6.0).reshape(2, 3)
REFUSED = {
    "view(4)": (lambda: X.view(4), RuntimeError, "shape '[4]' is invalid for input of size 6"),
    "view(-1, -1)": (lambda: X.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    "view(-2, 3)": (
        lambda: X.view(-2, 3),
        RuntimeError,
        "invalid shape dimension -2 at index 0 of shape [-2, 3]",
    ),
    "t().view(6)": (
        lambda: X.t().view(6),
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead.",
    ),
    "transpose(0, 5)": (
        lambda: X.transpose(0, 5),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    "select(0, 2)": (
        lambda: X.select(0, 2),
        IndexError,
        "select(): index 2 out of range for tensor of size [2, 3] at dimension 0",
    ),
    "expand(2, 4)": (
        lambda: X.expand(2, 4),
        RuntimeError,
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]",
    ),
    "permute(0, 0)": (
        lambda: X.permute(0, 0),
        RuntimeError,
        "permute(): duplicate dims are not allowed.",
    ),
    "narrow": (
        lambda: X.narrow(1, 2, 2),
        RuntimeError,
        "start (2) + length (2) exceeds dimension size (3).",
    ),
    "as_strided beyond": (
        lambda: X.as_strided((7,), (1,)),
        RuntimeError,
        "setStorage: sizes [7], strides [1], storage offset 0, and itemsize 4 requiring a storage "
        "size of 28 are out of bounds for storage of size 24",
    ),
    "as_strided huge": (
        lambda: X.as_strided((2,), (2**62,)),
        RuntimeError,
        "Storage size calculation overflowed with sizes=[2] and strides=[4611686018427387904]",
    ),
    "expand huge": (
        lambda: imode.ones(1).expand(2**40, 2**40),
        RuntimeError,
        "numel: integer multiplication overflow",
    ),
    "imag": (
        lambda: X.imag,
        RuntimeError,
        "imag is not implemented for tensors with non-complex dtypes.",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).splitlines()[0] == message  # the rest: messages.txt


def test_dimensions_beyond_the_limit():
    x = imode.ones(1).view((1,) * 64)
    for call in (lambda: x.unsqueeze(0), lambda: x.expand((1,) * 65), lambda: x.unfold(0, 1, 1)):
        with pytest.raises(ValueError, match="at most 64 dimensions, got 65"):
            call()


# ---- gradients ----------------------------------------------------------------------------------


def test_as_strided_gradients_with_every_overlap():
    """Against the definition: elements of the result that share a place add up there."""
    for size, stride, offset in itertools.product(
        [(2, 2), (3,), (2, 3)], [(1, 1), (2, 1), (0, 1), (1, 0)], [0, 1]
    ):
        geometry = (size, stride[: len(size)], offset)
        x = imode.arange(8.0).requires_grad_()
        weights = imode.arange(1.0, 1.0 + float(np.prod(size))).reshape(size)
        x.as_strided(*geometry).backward(weights)
        expected = np.zeros(8, np.float32)
        for index in np.ndindex(*size):
            place = geometry[2] + sum(i * s for i, s in zip(index, geometry[1], strict=True))
            expected[place] += weights.numpy()[index]
        assert x.grad.tolist() == expected.tolist(), geometry


def test_multi_output_gradients_where_some_are_missing():
    x = imode.ones(5, requires_grad=True)
    first, _, last = x.split(2)
    (first.sum() * 2 + last.sum() * 3).backward()
    assert x.grad.tolist() == [2, 2, 0, 0, 3]
    x.grad = None
    x.unbind()[1].backward()
    assert x.grad.tolist() == [0, 1, 0, 0, 0]


def test_inplace_on_a_view_rewrites_the_base():
    x = imode.ones(3, requires_grad=True)
    y = x * 2
    y.narrow(0, 0, 1).mul_(10)
    y.view(3)[1:].add_(1)
    (y * imode.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [20, 3, 3]
    assert x.grad.tolist() == [20, 4, 6]


def test_views_of_views_twice_differentiated():
    x = imode.arange(6.0).requires_grad_()
    y = (x.view(2, 3).t().select(0, 1).unfold(0, 1, 1) ** 3).sum()
    (g,) = imode.autograd.grad(y, x, create_graph=True)
    (h,) = imode.autograd.grad(g.sum(), x)
    assert g.tolist() == [0, 3, 0, 0, 48, 0]
    assert h.tolist() == [0, 6, 0, 0, 24, 0]


@pytest.mark.parametrize("name", ["bool", *["uint8", "int8", "int16", "int32", "int64"]])
def test_an_integer_element_as_a_number(name):
    """All of them at their limits; a bool is a bool."""
    dtype = getattr(imode, name)
    limits = [0, 1] if name == "bool" else [imode.iinfo(dtype).min, 0, imode.iinfo(dtype).max]
    t = imode.tensor(limits, dtype=dtype)
    items = [t[i].item() for i in range(len(limits))]
    assert items == limits
    assert {type(item) for item in items} == {bool if name == "bool" else int}


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_floating_element_as_a_number(name):
    """Subnormal numbers, signed zeros, infinities and NaN keep their values."""
    values = np.array([0.0, -0.0, 1 / 3, -6e-8, 65504.0, np.inf, -np.inf, np.nan])
    kind = np.dtype(name)
    array = (values if kind.kind == "f" else values * (1 - 2j)).astype(kind)
    t = imode.from_numpy(array)
    assert [repr(x.item()) for x in t] == [repr(x) for x in array.tolist()]


def test_every_half_precision_number():
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    t = imode.from_numpy(bits)
    ours = [t[i].item() for i in range(0, 1 << 16, 7)]
    assert list(map(repr, ours)) == list(map(repr, bits[::7].tolist()))


def test_elements_at_odd_addresses():
    """Memory from outside may lie anywhere; a wider dtype then reads it byte by byte."""
    memory = np.frombuffer(bytearray(33), np.uint8, offset=1)
    t = imode.from_numpy(memory).view(imode.float64)
    t.fill_(1.5)
    assert (t + 1).tolist() == [2.5] * 4
    assert t[1].item() == 1.5


def test_indices_of_everything_make_an_alias():
    x = imode.ones(2, 3)
    for index in [(...,), (slice(None),), (slice(None), slice(0, 9))]:
        y = x[index]
        assert y is not x
        assert y._base is x
        assert y.stride() == (3, 1)


def test_chained_indices_count_their_operators():
    """A tuple of basic indices is one view operator per index that does something."""
    x = imode.ones(2, 3, 4)
    with imode.trace_dispatch() as trace:
        view = x[..., None, 1:3, 0]
    names = [entry[0] for entry in trace if str(entry[1]).endswith("CPU")]
    assert names == ["unsqueeze", "slice", "select"]
    assert (view.shape, view.stride(), view.storage_offset()) == ((2, 1, 2), (12, 12, 4), 4)


def test_apply_takes_kernels_of_one_view():
    from imode.kernels.shapes import split, views

    array = np.arange(6.0).reshape(2, 3)
    assert views.apply(views.select, array, 1, -1).tolist() == [2.0, 5.0]
    for kernel, arguments in [(split.split, (1, 0)), (views.select, (0,) * 30)]:
        with pytest.raises(TypeError, match="apply\\(\\): expected a kernel of one view"):
            views.apply(kernel, array, *arguments)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3, 1, 2), (0, 20000)])
def test_strides_of_empty_tensors(shape):
    """As if lengths of 0 were 1."""
    expected, step = [], 1
    for n in reversed(shape):
        expected.insert(0, step)
        step *= max(n, 1)
    assert imode.zeros(shape).stride() == tuple(expected)
    given = imode.from_numpy(np.zeros(shape, "f"))  # where NumPy says 0
    assert given.clone().stride() == given.stride() == (0,) * len(shape)
    assert (given + 1).stride() == tuple(expected)


def test_detach_shares_no_geometry():
    x = imode.ones(2, 3)
    y = x.detach()
    x.t_()
    assert (x.shape, y.shape) == ((3, 2), (2, 3))
    x.unsqueeze_(0)
    assert y.stride() == (3, 1)


@pytest.mark.parametrize(
    ("name", "arguments"), [("split", (2,)), ("split_with_sizes", ((2, 2),)), ("unbind", ())]
)
def test_copies_of_several_views_into_out(name, arguments):
    """The out= forms return nothing; those but of split resize."""
    copies = getattr(imode, f"{name}_copy")
    x = imode.arange(8.0).view(4, 2)
    views = getattr(x, name)(*arguments)
    fitting = [imode.zeros(view.shape) for view in views]
    assert copies(x, *arguments, out=fitting) is None
    assert [t.tolist() for t in fitting] == [t.tolist() for t in views]
    assert {t._version for t in fitting} == {1}
    with pytest.raises(RuntimeError, match=rf"expected an out= argument of size {len(views)}, got"):
        copies(x, *arguments, out=fitting[:-1])
    leaf = x.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        copies(leaf, *arguments, out=fitting)
    with pytest.raises(TypeError, match="must be tuple of Tensors"):
        copies(x, *arguments, out=fitting[0])
    if name != "split":
        empty = [imode.zeros(0) for _ in views]
        copies(x, *arguments, out=empty)
        assert [t.tolist() for t in empty] == [t.tolist() for t in views]
        assert {t._version for t in empty} == {2}
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float"):
            copies(x, *arguments, out=[t.long() for t in fitting])


def test_unsafe_pieces_share_memory_and_no_version():
    x = imode.zeros(5, 2)
    for pieces in (x.unsafe_split(2), x.unsafe_chunk(2), x.unsafe_split_with_sizes((1, 4))):
        before = x._version
        pieces[1].add_(1)
        assert shares_memory(x, pieces[0])
        assert (x._version, pieces[0]._version, pieces[1]._version) == (before, 0, 1)
        assert not pieces[0]._is_view()
    assert x.sum() == 2 * (2 + 2 + 4)
    with imode.inference_mode():
        piece = x.unsafe_split(2)[0]
        piece.add_(1)
    assert piece._is_view()
    assert x._version == 1


def test_a_narrow_copy_into_out():
    x = imode.arange(12.0).view(3, 4).t()
    out = imode.zeros(0)
    assert imode.narrow_copy(x, 1, -2, 2, out=out) is out
    assert out.tolist() == x[:, 1:].tolist()
    assert out._version == 1
    with pytest.raises(RuntimeError, match="unsupported operation"):
        imode.narrow_copy(x, 1, 0, 1, out=imode.zeros(1).expand(4, 1))
    with pytest.raises(RuntimeError, match="dtype"):
        imode.narrow_copy(x, 1, 0, 1, out=out.long())
    assert x[:, 1:].narrow_copy(0, 1, 2).is_contiguous()


@pytest.mark.parametrize(
    "layout",
    [
        lambda t: t,
        lambda t: t.t(),
        lambda t: t[:, ::2],
        lambda t: t[1:],
        lambda t: t[:1].expand(4, 6),
    ],
    ids=["rows", "transposed", "gaps", "offset", "expanded"],
)
@pytest.mark.parametrize("offset", [None, 7])
def test_gradients_of_a_copy_with_a_part_of_its_memory_replaced(layout, offset):
    from imode.autograd import gradcheck, gradgradcheck

    x = imode.rand(4, 6, dtype=imode.float64, requires_grad=True)
    part = imode.rand(2, 2, dtype=imode.float64, requires_grad=True)

    def replaced(x, part):
        return layout(x).as_strided_scatter(part, (2, 2), (6, 2), offset)

    assert gradcheck(replaced, (x, part))
    assert gradgradcheck(replaced, (x, part))


def test_copies_with_a_part_replaced_lie_as_their_tensor():
    x = imode.zeros(4, 6)
    for view in (x.t(), x[1:, ::2], x[:, 1]):
        result = view.select_scatter(imode.ones(view.shape[1:]), 0, 1)
        assert (result.stride(), result.storage_offset()) == (view.stride(), view.storage_offset())
        assert not shares_memory(result, x)
    assert x[:1].expand(4, 6).select_scatter(imode.ones(6), 0, 1).is_contiguous()
    assert x.sum() == 0
    assert imode.slice_scatter(x.t(), imode.ones(1, 4), 0, 0, 1, out=imode.zeros(0)).is_contiguous()


def test_broadcasting_a_view_of_another_dtype():
    x = imode.tensor([0, 1, 2], dtype=imode.complex64, requires_grad=True)
    y = imode.broadcast_to(x.real, (2, 3))
    z = imode.broadcast_to(imode.view_as_real(x), (2, 3, 2))
    assert y.tolist() == [[0, 1, 2]] * 2 and z.shape == (2, 3, 2)
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [4 + 2j] * 3
