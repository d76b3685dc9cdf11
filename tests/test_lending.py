"""Memory that arrays lead from one tensor to another: tensors over it are of one kind."""

import copy
import gc
import pickle
from pathlib import Path

import numpy as np
import pytest

import imode

# Ways from a tensor to another one over its memory, through what is not a tensor.
WAYS = {
    "from_numpy": lambda t: imode.from_numpy(t.numpy()),
    "a part": lambda t: imode.from_numpy(t.numpy()[1:]),
    "as_tensor": lambda t: imode.as_tensor(np.asarray(t)),
    "asarray": lambda t: imode.asarray(t.numpy().view()),
    "a buffer": lambda t: imode.frombuffer(memoryview(t), dtype=imode.float32),
    "a buffer of an array": lambda t: imode.frombuffer(t.numpy(), dtype=imode.float32),
    "DLPack": lambda t: imode.from_dlpack(t),
    "a capsule": lambda t: imode.from_dlpack(t.__dlpack__()),
    "an array's DLPack": lambda t: imode.from_dlpack(t.numpy()),
    "NumPy's DLPack": lambda t: imode.from_numpy(np.from_dlpack(t)),
    "twice": lambda t: imode.from_numpy(imode.from_numpy(t.numpy()).numpy()),
    "an array's pickle": lambda t: imode.from_numpy(by_buffer(t.numpy())),
    "copy.copy": copy.copy,
}


def by_buffer(value):
    """A copy through a pickle that leaves the memory where it is."""
    buffers = []
    return pickle.loads(pickle.dumps(value, 5, buffer_callback=buffers.append), buffers=buffers)


def shared(a, b):
    return np.shares_memory(a.numpy(force=True), b.numpy(force=True))


@pytest.mark.parametrize("way", WAYS)
def test_in_the_mode_memory_of_a_normal_tensor_stays_normal(way):
    x = imode.ones(4)
    with imode.inference_mode():
        y = WAYS[way](x)
    assert shared(x, y) and not y.is_inference()


@pytest.mark.parametrize("way", WAYS)
def test_outside_memory_of_an_inference_tensor_stays_that(way):
    with imode.inference_mode():
        x = imode.ones(4)
    y = WAYS[way](x)
    assert shared(x, y) and y.is_inference()
    with pytest.raises(RuntimeError, match=f"entered at .*{Path(__file__).name}"):
        y.add_(1)
    assert x.tolist() == [1] * 4


@pytest.mark.parametrize("made", [imode.inference_mode, imode.no_grad])
@pytest.mark.parametrize("used", [imode.inference_mode, imode.no_grad])
def test_the_kind_is_the_modes_where_no_tensor_is_left(made, used):
    with made():
        x = imode.ones(4)
        array, part = x.numpy(), x.numpy()[1:]
        del x
    with used():
        y = imode.from_numpy(array)
        assert y.is_inference() == imode.is_inference_mode_enabled()
    with made():
        assert imode.from_numpy(part).is_inference() == y.is_inference()  # as long as y lives
    view = y[1:]
    del y
    with made():
        assert imode.from_numpy(part).is_inference() == view.is_inference()
        del view
        assert imode.from_numpy(part).is_inference() == imode.is_inference_mode_enabled()


@pytest.mark.parametrize(
    "owner", [np.ones(4, np.float32), bytearray(16), memoryview(bytearray(16))]
)
def test_memory_of_others_has_one_kind_at_a_time(owner):
    def over(buffer):
        if isinstance(buffer, np.ndarray):
            return imode.from_numpy(buffer)
        return imode.frombuffer(buffer, dtype=imode.float32)

    with imode.inference_mode():
        x = over(owner)
        assert x.is_inference()
    part = owner[1:] if isinstance(owner, np.ndarray) else memoryview(owner)[4:]
    assert over(part).is_inference()
    y = over(owner)
    array = y.numpy()
    del x, y
    assert not over(owner).is_inference()  # the array counts no more than its owner
    x = imode.from_numpy(array)
    with imode.inference_mode():
        assert not over(owner).is_inference()
    del x
    with imode.inference_mode():
        assert over(owner).is_inference()


def test_data_and_detached_tensors_count():
    for alias in (imode.Tensor.detach, lambda t: t.data, lambda t: t[1:], imode.nn.Parameter):
        x = imode.ones(4)
        array, kept = x.numpy(), alias(x)
        del x
        with imode.inference_mode():
            assert not imode.from_numpy(array).is_inference()
            del kept
            assert imode.from_numpy(array).is_inference()


def test_what_is_saved_counts():
    w = imode.ones(4, requires_grad=True)
    x = imode.full((4,), 2.0)
    array = x.numpy()
    y = (w * x).sum()
    del x
    with imode.inference_mode():
        assert not imode.from_numpy(array).is_inference()
    y.backward()
    del y
    with imode.inference_mode():
        assert imode.from_numpy(array).is_inference()


def test_memory_is_kept_by_what_is_made_over_it():
    buffer = bytearray(b"\0" * 8)
    first = imode.frombuffer(buffer, dtype=imode.int32)
    second = imode.frombuffer(buffer, dtype=imode.int32)
    del first
    with pytest.raises(BufferError):
        buffer.append(0)
    assert second.tolist() == [0, 0]
    del second
    buffer.append(0)
    y = imode.from_numpy(imode.ones(1000).numpy())
    gc.collect()
    assert y.sum().item() == 1000


def test_handing_out_ends():
    with imode.inference_mode():
        x = imode.ones(4)
        array = x.numpy()
        assert x.normal() is not x  # the array looks at it
        del array
        assert x.normal() is x
    array = x.numpy()
    with imode.inference_mode():
        assert not imode.from_numpy(array).is_inference()


def test_thousands_of_memories_are_told_apart():
    arrays = [np.full(2, i, np.float32) for i in range(3000)]
    with imode.inference_mode():
        tensors = {i: imode.from_numpy(arrays[i]) for i in range(0, 3000, 3)}
    for i in list(tensors)[::2]:
        del tensors[i]
    again = [imode.from_numpy(array) for array in arrays]
    assert [t.is_inference() for t in again] == [i in tensors for i in range(3000)]
    handed = [t.numpy(force=True) for t in again]
    del tensors, again
    with imode.inference_mode():
        assert all(imode.from_numpy(array).is_inference() for array in handed)
    assert [array[0] for array in handed] == list(range(3000))


def test_an_unpickled_tensor_shares_with_nobody():
    x = imode.ones(4)
    y = by_buffer(x)
    y.zero_()
    assert x.tolist() == [1] * 4


def test_shallow_copies():
    x = imode.ones(4, requires_grad=True)
    y = copy.copy(x)
    assert shared(x, y) and y.requires_grad and y.is_leaf and y.grad is None
    p = imode.nn.Parameter(imode.ones(2))
    with imode.inference_mode():
        q = copy.copy(p)
    assert isinstance(q, imode.nn.Parameter) and shared(p, q) and q._version == 0
    z = copy.copy(x * 2)
    assert z.is_leaf and z.requires_grad
