"""Dtypes that another is computed for: bfloat16, integers without a sign, floats of eight bits."""

import io
import pickle

import numpy as np
import pytest

import imode

UNSIGNED = (imode.uint16, imode.uint32, imode.uint64)
EIGHT = (imode.float8_e4m3fn, imode.float8_e5m2)


def brain(*values):
    return imode.tensor(values, dtype=imode.bfloat16)


def test_numbers_are_rounded_to_the_nearest_even():
    assert brain(1 + 2**-8, 1 + 3 * 2**-8, 1e39, -0.0).tolist() == [1, 1 + 2**-6, np.inf, 0]
    assert brain(3e38).item() == (1 + 98 / 128) * 2**127
    assert imode.tensor(257).bfloat16().item() == 256
    assert np.isnan(brain(float("nan")).item())


def test_what_a_dtype_is():
    assert repr(imode.bfloat16) == "imode.bfloat16"
    assert (imode.bfloat16.itemsize, imode.bfloat16.is_floating_point) == (2, True)
    assert (imode.float8_e5m2.itemsize, imode.float8_e5m2.is_floating_point) == (1, True)
    assert not imode.uint32.is_signed and not imode.uint32.is_floating_point
    assert pickle.loads(pickle.dumps(imode.bfloat16)) is imode.bfloat16
    assert imode.finfo(imode.bfloat16).eps == 2**-7
    assert imode.finfo(imode.float8_e4m3fn).max == 448
    assert imode.iinfo(imode.uint64).max == 2**64 - 1
    assert brain(1.5).type() == "imode.BFloat16Tensor"
    assert isinstance(brain(1.5), imode.BFloat16Tensor)


def test_a_tensor_prints():
    assert repr(brain(1.5, 2)) == "tensor([1.5000, 2.0000], dtype=imode.bfloat16)"
    assert repr(imode.zeros(2, dtype=imode.uint16)) == "tensor([0, 0], dtype=imode.uint16)"
    assert "dtype=imode.float8_e5m2" in repr(imode.ones(2).to(imode.float8_e5m2))


def test_every_value_of_eight_bits_goes_to_float32_and_back():
    bits = imode.arange(256).to(imode.uint8)
    for dtype in EIGHT:
        t = bits.view(dtype)
        again = t.float().to(dtype).view(imode.uint8)
        assert (again == bits)[~t.float().isnan()].all()


def test_every_word_of_16_bits_goes_to_float32_and_back():
    bits = imode.arange(-(2**15), 2**15).to(imode.int16)
    t = bits.view(imode.bfloat16)
    assert ((t.float().bfloat16().view(imode.int16) == bits) | t.float().isnan()).all()
    numbers = t[~t.float().isnan()]
    assert (numbers.double() == numbers.float()).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", "float64"])
def test_conversions_go_by_way_of_float32(dtype):
    source = imode.tensor([0, 1, 3, 100]).to(getattr(imode, dtype))
    assert source.bfloat16().float().tolist() == source.float().tolist()
    assert source.bfloat16().to(source.dtype).tolist() == source.tolist()


def test_results_are_rounded_once():
    a, b = imode.randn(100).bfloat16(), imode.randn(100).bfloat16()
    for f in (imode.add, imode.mul, imode.div, imode.atan2, imode.maximum):
        assert imode.equal(f(a, b), f(a.float(), b.float()).bfloat16())
    for f in (imode.exp, imode.sum, imode.softmax, imode.cumsum, imode.sort):
        extra = () if f in (imode.exp, imode.sum, imode.sort) else (0,)
        here, there = f(a, *extra), f(a.float(), *extra)
        if f is imode.sort:
            here, there = here.values, there.values
        assert imode.equal(here, there.bfloat16())
    m = a.reshape(10, 10)
    assert imode.equal(m @ m, (m.float() @ m.float()).bfloat16())
    assert (a < b).dtype is imode.bool and a.argmax().dtype is imode.int64


def test_promotion():
    one = brain(1, 2)
    assert (one + 1).dtype is (one + 1.5).dtype is (one + imode.arange(2)).dtype is imode.bfloat16
    assert (one + one.half()).dtype is (one + one.float()).dtype is imode.float32
    assert (one + imode.tensor(1.0, dtype=imode.float64)).dtype is imode.bfloat16
    assert (
        imode.cat([one, one.half()]).dtype is imode.cat([one, one.float()]).dtype is imode.float32
    )
    assert imode.cat([one, imode.arange(2)]).tolist() == [1, 2, 0, 1]
    with pytest.raises(RuntimeError, match=r"c10::BFloat16 != c10::Half"):
        one.reshape(1, 2) @ one.half().reshape(2, 1)
    assert imode.promote_types(imode.bfloat16, imode.complex64) is imode.complex64
    assert imode.promote_types(imode.uint16, imode.bfloat16) is imode.bfloat16
    for a, b in ((imode.uint16, imode.int32), (imode.bool, imode.uint64)):
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types"):
            imode.promote_types(a, b)
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        imode.promote_types(imode.float8_e5m2, imode.float32)


def test_writes_in_place_and_out():
    t, other = brain(1, 2, 3), brain(3, 2, 1)
    seen = t.data_ptr()
    t += 1
    t.mul_(2).cumsum_(0)
    assert t.tolist() == [4, 10, 18] and t.data_ptr() == seen and t._version == 3
    imode.cumsum(other, 0, out=t)
    assert t.tolist() == [3, 5, 6]
    t[1:] = other[:-1]
    assert t.tolist() == [3, 3, 2]
    t[0] = 257
    assert t.tolist() == [256, 3, 2]
    t[1:].copy_(imode.tensor([1.0, 257.0]))
    assert t.tolist() == [256, 1, 256]


def test_gradients():
    x = brain(1, 2, 3).requires_grad_()
    (x.exp() * x).sum().backward()
    assert x.grad.dtype is imode.bfloat16 and x.grad.shape == x.shape
    model = imode.nn.Linear(3, 2).bfloat16()
    loss = model(imode.randn(4, 3).bfloat16()).square().mean()
    loss.backward()
    assert model.weight.grad.dtype is imode.bfloat16
    imode.optim.Adam(model.parameters(), 0.1).step()
    assert model.weight.dtype is imode.bfloat16


def test_a_layer_trains_by_the_default_dtype():
    imode.set_default_dtype(imode.bfloat16)
    try:
        assert imode.zeros(2).dtype is imode.tensor([1.0]).dtype is imode.bfloat16
        assert imode.rand(2).dtype is imode.arange(0, 1, 0.25).dtype is imode.bfloat16
        assert imode.tensor([4]).sqrt().dtype is imode.bfloat16
        assert imode.nn.Linear(2, 2)(imode.ones(1, 2)).dtype is imode.bfloat16
    finally:
        imode.set_default_dtype(imode.float32)


def test_random_numbers_are_those_of_float32_rounded():
    imode.manual_seed(0)
    drawn = imode.randn(40, dtype=imode.bfloat16)
    imode.manual_seed(0)
    assert imode.equal(drawn[:24], imode.randn(40)[:24].bfloat16())
    assert (imode.rand(4000, dtype=imode.bfloat16) < 1).all()


def test_moving_elements_keeps_their_bits():
    bits = imode.tensor([0x7F81, -0x41, 3, 4, 5, 6], dtype=imode.int16).reshape(2, 3)
    t = bits.view(imode.bfloat16)
    for move in (
        lambda x: x.flip(0),
        lambda x: x.t().contiguous(),
        lambda x: imode.cat([x, x]),
        lambda x: x[:, imode.tensor([2, 0])],
        lambda x: x.roll(1),
        lambda x: x.clone(),
        lambda x: x.gather(1, imode.tensor([[1], [0]])),
    ):
        assert imode.equal(move(t).view(imode.int16), move(bits))


@pytest.mark.parametrize("dtype", [imode.bfloat16, *UNSIGNED, *EIGHT])
def test_a_file_keeps_them(dtype):
    t = imode.arange(6).to(dtype).reshape(2, 3)
    file = io.BytesIO()
    imode.save({"whole": t, "part": t[:, 1:], "bits": t.view(-1)}, file)
    file.seek(0)
    loaded = imode.load(file)
    assert loaded["part"].dtype is dtype
    assert loaded["whole"].tolist() == t.tolist() and loaded["part"].tolist() == t[:, 1:].tolist()
    assert loaded["bits"].data_ptr() == loaded["whole"].data_ptr()
    assert pickle.loads(pickle.dumps(t)).tolist() == t.tolist()


def test_numpy_has_no_bfloat16():
    for t in (brain(1), imode.ones(2).to(imode.float8_e5m2)):
        with pytest.raises(TypeError, match=r"Got unsupported ScalarType (BFloat16|Float8_e5m2)"):
            t.numpy()
    assert imode.from_numpy(np.array([1, 2], np.uint16)).dtype is imode.uint16
    assert imode.zeros(2, dtype=imode.uint64).numpy().dtype == np.uint64


@pytest.mark.parametrize("dtype", [*UNSIGNED, *EIGHT])
def test_few_operators_take_the_others(dtype):
    t = imode.tensor([3, 1, 2]).to(dtype)
    assert imode.cat([t, t]).tolist() == [3, 1, 2, 3, 1, 2] and t.clone().dtype is dtype
    assert t[1:].tolist() == [1, 2] and t.reshape(3, 1).t().contiguous().tolist() == [[3, 1, 2]]
    assert imode.full((2,), 4, dtype=dtype).tolist() == [4, 4] and t.fill_(5).tolist() == [5] * 3
    for refused in (
        lambda: t + t,
        lambda: -t,
        lambda: t.max(),
        lambda: t.sort(),
        lambda: t @ t,
        lambda: imode.arange(3, dtype=dtype),
    ):
        with pytest.raises(NotImplementedError, match=r"not implemented for .(UInt|Float8)"):
            refused()


def test_integers_without_a_sign():
    t = imode.tensor([2**64 - 1, 1], dtype=imode.uint64)
    assert t.tolist() == [2**64 - 1, 1] and t[0].item() == 2**64 - 1
    assert (t * t).tolist() == [1, 1] and (t == t).all()
    small = imode.tensor([4, 9], dtype=imode.uint16)
    assert small.sqrt().tolist() == [2, 3] and (small + imode.ones(2)).dtype is imode.float32
    assert small.sum().dtype is imode.int64 and small.sum().item() == 13
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and Long"):
        small * imode.tensor([1, 2])


def test_on_meta():
    t = imode.ones(2, 3, dtype=imode.bfloat16, device="meta")
    assert (t @ t.t()).dtype is (t + 1).dtype is t.softmax(0).dtype is imode.bfloat16
    assert (t < 1).dtype is imode.bool and (t.sum(0).shape, t.mean().shape) == ((3,), ())


def test_keys():
    t = brain(1)
    assert imode.DispatchKey.Stored in t.key_set()
    assert imode.DispatchKey.Stored not in t.float().key_set()
    assert imode.DispatchKey.Stored not in t.view(imode.int16).key_set()
    t.data = imode.ones(1)
    assert imode.DispatchKey.Stored not in t.key_set()


def test_decompositions_refuse_it_as_they_do_float16():
    m = imode.eye(2).bfloat16()
    with pytest.raises(RuntimeError, match="BFloat16"):
        imode.linalg.inv(m)


def test_numbers_beyond_float16():
    large, small = 1e10, 1e-20
    t = brain(1, 2, 3)
    kept = [brain(large).item(), brain(small).item()]
    assert [t.fill_(x)[1].item() for x in (large, small)] == kept
    assert brain(1, 2, 3)[::2].fill_(70000).tolist() == [70144, 70144]
    assert imode.eye(2).bfloat16().fill_diagonal_(large).diagonal().tolist() == [kept[0]] * 2
    assert brain(1, 2).clamp(large).tolist() == [kept[0]] * 2
    assert brain(1, 2).clamp_(max=-large).tolist() == [-kept[0]] * 2
    assert (brain(1) ** 2147483648).item() == brain(1).pow(-large).item() == 1
    for refused in (1e39, -1e39):
        with pytest.raises(RuntimeError, match="to type c10::BFloat16 without overflow"):
            brain(1).clamp(refused)


def test_a_dtype_that_is_asked_for():
    short = imode.tensor([2, 3], dtype=imode.uint16)
    for run in (imode.sum, imode.prod, lambda x, **to: x.cumsum(0, **to)):
        assert run(short, dtype=imode.bfloat16).dtype is imode.bfloat16
        assert run(short, dtype=imode.float32).dtype is imode.float32
        assert run(short).dtype is imode.int64
        for x in (short, imode.ones(2), brain(1)):
            with pytest.raises(NotImplementedError, match="not implemented for 'UInt32'"):
                run(x, dtype=imode.uint32)
    for x, dtype in ((imode.ones(2), imode.bfloat16), (brain(1), imode.float32)):
        with pytest.raises(RuntimeError, match="Bad in-place call"):
            x.cumprod_(0, dtype=dtype)
    start = imode.tensor(1, dtype=imode.bfloat16, requires_grad=True)
    assert imode.linspace(start, 2, 3).dtype is imode.float32


def test_small_unsigned_integers_beside_complex_numbers():
    short = imode.tensor([2, 3], dtype=imode.uint16)
    assert (short * 1j).tolist() == [2j, 3j] and (short / 2j).dtype is imode.complex64
    assert imode.result_type(short, imode.tensor(1j).cdouble()) is imode.complex128
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and ComplexFloat"):
        imode.result_type(short, imode.tensor([1j]))
