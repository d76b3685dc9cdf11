"""The memory behind tensors: who shares it, and in which order it is read."""

import pytest

import imode


def test_a_storage_is_the_memory_of_a_tensor_and_its_views():
    x = imode.zeros(2, 3)
    mine = x.untyped_storage()
    assert mine == x[1].untyped_storage() == x.detach().untyped_storage()
    assert hash(mine) == hash(x.data.untyped_storage())
    assert mine != x.clone().untyped_storage()
    assert mine != "memory"
    assert (mine.nbytes(), mine.size(), len(mine), mine.element_size()) == (24, 24, 24, 1)
    assert mine.data_ptr() == x.data_ptr() == x[1].untyped_storage().data_ptr()
    assert mine.device == imode.device("cpu")
    assert repr(mine) == "imode.UntypedStorage(device=cpu) of size 24"


def test_empty_tensors_share_no_storage():
    x, y = imode.zeros(0), imode.zeros(0)
    assert x.untyped_storage() != y.untyped_storage()
    assert x.untyped_storage() == x.view(0, 1).untyped_storage()
    assert x.untyped_storage().data_ptr() == x.untyped_storage().nbytes() == 0


def test_a_storage_keeps_its_memory():
    address = imode.ones(1000).untyped_storage()
    assert imode.ones(1000).untyped_storage() != address


def test_is_set_to():
    x = imode.zeros(2, 3)
    assert x.is_set_to(x.view(2, 3))
    assert not x.is_set_to(x.view(3, 2))
    assert not x.is_set_to(x.clone())
    assert imode.zeros(0).set_(x).is_set_to(x)


def test_is_contiguous_in_a_format():
    x = imode.ones(2, 3, 4, 5)
    last = x.contiguous(memory_format=imode.channels_last)
    assert last.is_contiguous(memory_format=imode.channels_last)
    assert not x.is_contiguous(memory_format=imode.channels_last)
    assert not last.is_contiguous(memory_format=imode.contiguous_format)
    assert x.is_contiguous(memory_format=imode.preserve_format)
    assert not x[0].is_contiguous(memory_format=imode.channels_last)
    with pytest.raises(TypeError, match=r"must be imode\.memory_format, not int"):
        x.is_contiguous(memory_format=3)


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.to(memory_format=imode.channels_last),
        lambda x: x.to(imode.float64, memory_format=imode.channels_last),
        lambda x: x.to(copy=True, memory_format=imode.channels_last),
        lambda x: x.double(memory_format=imode.channels_last),
        lambda x: x.cpu(memory_format=imode.channels_last),
        lambda x: x.type(imode.float64, memory_format=imode.channels_last),
        lambda x: imode.zeros(0).resize_as_(x, memory_format=imode.channels_last),
        lambda x: imode.nn.ParameterList([x]).to(memory_format=imode.channels_last)[0],
    ],
    ids=["to", "to dtype", "to copy", "double", "cpu", "type", "resize_as_", "module"],
)
def test_conversions_obey_a_memory_format(convert):
    assert convert(imode.ones(2, 3, 4, 5)).stride() == (60, 1, 15, 3)


def test_what_lies_in_the_format_already_is_not_copied():
    last = imode.ones(2, 3, 4, 5).to(memory_format=imode.channels_last)
    assert last.to(memory_format=imode.channels_last) is last
    assert last.float(memory_format=imode.preserve_format) is last
    assert last.float(memory_format=imode.contiguous_format) is not last
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        last[0].to(memory_format=imode.channels_last)
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
        last.to(memory_format=3)


def test_sum_to_size_undoes_a_broadcast():
    x = imode.ones(2, 3)
    assert x.sum_to_size(1, 3).tolist() == [[2, 2, 2]]
    assert x.sum_to_size(()).item() == 6
    assert x.sum_to_size(2, 3) is x
    with pytest.raises(RuntimeError, match=r"size \{\[2\]\} is not expandable to size \{\[2, 3\]"):
        x.sum_to_size(2)


def test_a_tensors_layout_is_the_one_there_is():
    assert imode.ones(1).layout is imode.strided
    assert imode.ones(1).get_device() == -1


def test_same_size():
    assert imode.is_same_size(imode.ones(2), imode.zeros(2))
    assert not imode.ones(2).is_same_size(imode.ones(2, 1))
    with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not int"):
        imode.is_same_size(imode.ones(2), 3)


def test_pinned_memory_is_refused_as_without_an_accelerator():
    x = imode.ones(2)
    packed = imode.nn.utils.rnn.pack_sequence([x])
    for pin in (x.pin_memory, x.untyped_storage().pin_memory, packed.pin_memory):
        with pytest.raises(RuntimeError, match=r"^Cannot access accelerator device when none is"):
            pin()
    with pytest.raises(RuntimeError, match=r"^cannot pin 'MetaFloatType' only dense CPU tensors"):
        x.to("meta").pin_memory()
    for place, said in (
        ("cpu", "^CPU device type not an accelerator"),
        ("cuda", "^Cannot initialize CUDA without ATen_cuda library"),
    ):
        deprecated = pytest.warns(DeprecationWarning, match="'device' of Tensor.pin_memory")
        with deprecated, pytest.raises(RuntimeError, match=said):
            x.pin_memory(place)
    assert not x.is_pinned() and not x.untyped_storage().is_pinned()
    with pytest.warns(DeprecationWarning, match="'device' of Tensor.is_pinned"):
        assert not x.is_pinned("cuda")


@pytest.mark.parametrize(
    "make",
    [
        lambda **words: imode.empty(2, **words),
        lambda **words: imode.zeros(2, **words),
        lambda **words: imode.tensor([1.0], **words),
        lambda **words: imode.rand(2, **words),
        lambda **words: imode.arange(2, **words),
        lambda **words: imode.ones(1).new_empty(2, **words),
        lambda **words: imode.ones_like(imode.ones(1), **words),
    ],
)
def test_factories_refuse_pinned_memory(make):
    make(pin_memory=False, requires_grad=False)
    with pytest.raises(RuntimeError, match=r"^pin_memory=True requires a CUDA or other acceler"):
        make(pin_memory=True)
