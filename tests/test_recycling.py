"""Tensors and arrays are recycled (making, allocator): nothing of a dead one is seen again."""

import gc
import sys
import weakref

import numpy as np
import pytest

import imode
from imode._core.allocator import free_lists


def test_attributes_die_with_their_tensor():
    x = imode.ones(3)
    x.note = "mine"
    del x
    assert not any(hasattr(imode.ones(3), "note") for _ in range(600))


def test_a_dict_that_was_handed_out_stays_its_holders():
    x = imode.ones(3)
    held = x.__dict__
    del x
    others = [imode.ones(3) for _ in range(600)]
    held["late"] = 1
    assert not any(hasattr(other, "late") for other in others)


def test_weak_references_die_with_their_tensor():
    x = imode.ones(3)
    seen = weakref.ref(x)
    del x
    others = [imode.ones(3) for _ in range(600)]
    assert seen() is None
    assert others


def test_autograd_state_dies_with_its_tensor():
    x = imode.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    z = imode.zeros(3)
    z.add_(1)
    z.view(3)
    del x, y, z
    for made in [imode.ones(3) for _ in range(600)]:
        assert made.grad_fn is None
        assert made.grad is None
        assert made.is_leaf
        assert not made.requires_grad
        assert made._version == 0
        assert not made._is_view()


def test_nothing_of_a_dead_node_is_seen_again():
    x = imode.ones(2, 3, requires_grad=True)
    deep = imode.ones(1, 1, 1, 1, 2, requires_grad=True)

    def made():
        return [
            *imode.var_mean(x, 1),  # two results
            imode.cat([x, x, x, x]),  # four edges
            imode.nn.functional.avg_pool2d(x[None], 1),  # many saved values
            deep * 2,  # more dimensions than a node has room for
            x.exp(),
        ]

    for _ in range(300):
        results = made()
        results[-1].grad_fn.metadata["note"] = "mine"
        results[-1].grad_fn.register_hook(lambda *_: None)
        imode.autograd.backward([r.sum() for r in results])
        assert not hasattr(results[-2].grad_fn, "_saved_result")
        del results
    results = [made() for _ in range(300)]
    for *_, var_mean, joined, pooled, doubled, powers in results:
        assert len(var_mean.grad_fn.next_functions) == 1
        assert [next(iter(f)).variable is x for f in joined.grad_fn.next_functions] == [True] * 4
        assert pooled.grad_fn._saved_kernel_size == (1, 1)
        assert doubled.grad_fn._input_metadata[0].shape == [1, 1, 1, 1, 2]
        assert powers.grad_fn.metadata == {}
        assert powers.grad_fn._saved_result.equal(powers)
        assert type(powers.grad_fn).__name__ == "ExpBackward0"
        assert type(doubled.grad_fn).__name__ == "MulBackward0"
    assert len({id(r.grad_fn) for each in results for r in each}) == 5 * 300


def test_a_dead_nodes_weak_references_die_with_it():
    x = imode.ones(3, requires_grad=True)
    y = x * 2
    seen = weakref.ref(y.grad_fn)
    del y
    others = [x * 2 for _ in range(300)]
    assert seen() is None
    assert others


def test_cycles_through_attributes_are_collected():
    x = imode.ones(3)
    x.itself = x
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None


def test_more_than_are_kept():
    for _ in range(3):
        many = [imode.ones(2) for _ in range(2000)]
        assert all(t.sum().item() == 2 for t in many[::100])
        del many


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_freed_graphs_memory_serves_the_next():
    resource = pytest.importorskip("resource")

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def run():
        x = y = imode.ones(1, requires_grad=True)
        for _ in range(50_000):
            y = y + x
        y.backward()
        assert x.grad.item() == 50_001

    run()
    before = resident()
    for _ in range(8):
        run()
    assert resident() - before < 13e6  # one graph of the eight


def test_thousands_of_small_arrays_serve_the_next_ones():
    tensors = [imode.full((3,), float(i)) for i in range(5000)]
    views = [t[1:] for t in tensors]
    addresses = sorted(t.data_ptr() for t in tensors)
    waiting = free_lists()
    del tensors, views
    assert [now - before for now, before in zip(free_lists(), waiting)] == [5000, 5000]
    tensors = [imode.full((2,), float(i)) for i in range(5000)]  # of the same size class
    assert sorted(t.data_ptr() for t in tensors) == addresses
    assert all(t.tolist() == [i, i] for i, t in enumerate(tensors))


def test_a_full_collection_gives_back_what_waits():
    tensors = [imode.ones(3) for _ in range(1000)]
    large = imode.ones(MANY)
    blocks = sys.getallocatedblocks()
    del tensors, large
    gc.collect(0)
    assert free_lists()[0] >= 1000
    gc.collect()
    assert free_lists() == (0, 0)
    assert sys.getallocatedblocks() < blocks - 1000


def test_no_more_than_256_megabytes_of_small_arrays_wait():
    gc.collect()
    tensors = [imode.ones(64) for _ in range(700_000)]  # of 256 bytes, and a header
    del tensors
    assert 600_000 < free_lists()[0] < (1 << 20) * 256 // (256 + 96)
    gc.collect()


def test_a_node_is_four_cache_lines():
    node = (imode.ones(1, requires_grad=True) + 1).grad_fn
    assert sys.getsizeof(node) <= 256  # with the collector's header


# ---- large arrays (Note [Kept arrays]) ----

MANY = 1 << 18  # floats: large


def test_the_memory_of_a_large_tensor_serves_the_next():
    x = imode.ones(MANY)
    address = x.data_ptr()
    del x
    y = imode.ones(512, MANY // 512) * 2  # another number of dimensions: another array
    z = imode.ones(MANY)
    assert z.data_ptr() == address
    assert (y.stride(), z.stride()) == ((MANY // 512, 1), (1,))
    assert bool((y == 2).all())


def test_memory_that_somebody_looks_at_is_not_kept():
    x = imode.ones(MANY)
    array, view, seen = x.numpy(), imode.zeros(MANY), memoryview(imode.full((MANY,), 3.0))
    part = view[1:]
    address = view.data_ptr()
    del x, view
    made = [imode.full((MANY,), 7.0) for _ in range(20)]
    assert array[0] == 1
    assert part[0] == 0
    assert seen[0] == 3
    assert address not in [t.data_ptr() for t in made]


def test_no_more_than_64_megabytes_are_kept():
    x = [imode.zeros(1 << 22) for _ in range(8)]  # 16 MiB each
    addresses = {t.data_ptr() for t in x}
    del x
    again = [imode.empty(1 << 22) for _ in range(8)]
    assert len(addresses & {t.data_ptr() for t in again[:4]}) == 4


def test_read_only_and_borrowed_memory_is_not_kept():
    array = np.ones(MANY, np.float32)
    array.flags.writeable = False
    tensors = [imode.from_numpy(array), imode.from_numpy(np.ones(MANY, np.float32))]
    del tensors
    made = [imode.zeros(MANY) for _ in range(20)]
    assert array[0] == 1
    assert all(not t.any() for t in made)


@pytest.mark.parametrize("n", [1000, 5000, 100_000, 3_000_000])
def test_arrays_begin_at_lines_of_the_cache(n):
    made = [imode.empty(n), imode.ones(n) + 1, imode.empty(2, n, dtype=imode.int64)]
    assert all(x.data_ptr() % (512 if x.numel() * x.itemsize > 1 << 14 else 64) == 0 for x in made)


def test_an_array_with_a_line_of_its_own_can_be_resized():
    x = imode.arange(10_000)
    x.resize_(30_000)
    assert x[:10_000].equal(imode.arange(10_000))


def test_the_memory_of_a_large_tensor_serves_other_dtypes():
    x = imode.ones(300_000)
    at = x.data_ptr()
    del x
    y = imode.zeros(300_000, dtype=imode.int32)
    assert y.data_ptr() == at
    assert y.dtype == imode.int32
    assert not y.any()
