"""Datasets, samplers, collating and the DataLoader."""

import os
import threading

import numpy as np
import pytest

import imode
from imode.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)
from imode.utils.data._utils import collate


def lists(batches):
    return [batch.tolist() for batch in batches]


def test_batches_in_order():
    assert lists(DataLoader(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert lists(DataLoader(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(DataLoader(range(5), 2)) == 3 and len(DataLoader(range(5), 2, drop_last=True)) == 2


def test_shuffle_follows_the_seed():
    def epochs(seed):
        loader = DataLoader(
            range(20), 20, shuffle=True, generator=imode.Generator().manual_seed(seed)
        )
        return lists(loader) + lists(loader)

    first, second = epochs(1)
    assert first != second and sorted(first) == list(range(20)) == sorted(second)
    assert epochs(1) == [first, second] and epochs(2) != [first, second]


def test_rows_of_tensors_are_taken_at_once():
    class Slow(TensorDataset):
        pass  # a subclass may index in its own way: sample by sample

    tensors = imode.arange(12.0).view(6, 2), imode.arange(6)
    for kind in (TensorDataset, Slow):
        x, y = next(iter(DataLoader(Subset(kind(*tensors), [5, 1, 3]), 2)))
        assert x.tolist() == [[10, 11], [2, 3]] and y.tolist() == [5, 1]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(imode.ones(2), imode.ones(3))


def test_own_samplers():
    assert lists(DataLoader(range(9), sampler=[3, 1])) == [[3], [1]]
    assert lists(DataLoader(range(9), batch_sampler=[[3, 1], [2]])) == [[3, 1], [2]]
    assert sorted(RandomSampler(range(5))) == [0, 1, 2, 3, 4]
    assert len(list(RandomSampler(range(5), num_samples=12))) == 12
    assert set(RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
    assert sorted(SubsetRandomSampler([7, 8])) == [7, 8]
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0], 5)) == {1}
    assert list(BatchSampler(range(3), 2, True)) == [[0, 1]]


def test_iterable_dataset():
    class Count(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert lists(DataLoader(Count(), 2)) == [[0, 1], [2, 3], [4]]
    assert lists(DataLoader(Count(), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(), batch_size=None)) == [0, 1, 2, 3, 4]


def test_split_and_concat():
    parts = random_split(range(10), [7, 3])
    assert sorted(i for part in parts for i in part) == list(range(10))
    assert [len(part) for part in random_split(range(10), [0.55, 0.45])] == [6, 4]
    both = ConcatDataset([range(3), range(10, 12)])
    assert [both[i] for i in range(5)] == [0, 1, 2, 10, 11] and both[-1] == 11
    with pytest.raises(ValueError, match="does not equal the length of the input dataset"):
        random_split(range(3), [1, 1])


def test_collate_nests():
    batch = default_collate([{"a": (1, 2.5), "b": ["x"]}, {"a": (3, 4.5), "b": ["y"]}])
    assert batch["a"][0].tolist() == [1, 3] and batch["a"][1].dtype is imode.float64
    assert batch["b"] == [("x", "y")]
    arrays = default_collate([np.ones(2, "f4"), np.zeros(2, "f4")])
    assert arrays.tolist() == [[1, 1], [0, 0]] and arrays.dtype is imode.float32
    assert default_collate([True, False]).dtype is imode.bool


def test_stacked_datasets():
    pairs = StackDataset("abc", Subset(range(10), [4, 5, 6]))
    assert pairs[1] == ("b", 5) and len(pairs) == 3
    assert pairs.__getitems__([0, 2]) == [("a", 4), ("c", 6)]
    assert StackDataset(x="abc", y=[1, 2, 3]).__getitems__([1]) == [{"x": "b", "y": 2}]

    class Short(list):
        def __getitems__(self, indices):
            return []

    with pytest.raises(ValueError, match=r"output size mismatch\. Expected 1, got 0"):
        StackDataset(Short("ab")).__getitems__([1])


def test_each_rank_has_its_share():
    shares = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert shares == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    sampler = DistributedSampler(range(10), 3, 1, drop_last=True, seed=4)
    first, again = list(sampler), list(sampler)
    sampler.set_epoch(1)
    assert first == again != list(sampler) and len(first) == len(sampler) == 3
    assert list(DistributedSampler(range(2), 5, 4, shuffle=False)) == [0]


def test_a_loader_without_workers_loads_in_the_calling_thread():
    class Threads(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            assert get_worker_info() is None
            return threading.get_ident(), os.getpid()

    for threads, processes in DataLoader(Threads(), batch_size=2):
        assert threads.tolist() == [threading.get_ident()] * 2
        assert processes.tolist() == [os.getpid()] * 2


def test_collate_with_functions_of_ones_own():
    def joined(samples, *, collate_fn_map):
        return "".join(samples)

    functions = {**collate.default_collate_fn_map, str: joined}
    batch = collate.collate([{"a": "x", "b": 1}, {"a": "y", "b": 2}], collate_fn_map=functions)
    assert batch["a"] == "xy" and batch["b"].tolist() == [1, 2]


def test_what_is_fixed_once_a_loader_is_made():
    loader = DataLoader(range(3))
    loader.timeout = 0
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader"):
        loader.batch_size = 2


def test_a_loader_warns_of_pinning_and_of_a_wrong_length():
    class Longer(IterableDataset):
        def __iter__(self):
            return iter(range(3))

        def __len__(self):
            return 2

    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no acc") as told:
        list(DataLoader(range(3), pin_memory=True))
    assert told[0].filename == __file__
    loader = DataLoader(Longer(), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match=r"was reported to be 2.*but 3 samples have been fetched"):
        list(loader)


@pytest.mark.parametrize(
    "action, error, text",
    [
        (lambda: default_collate([object()]), TypeError, "found <class 'object'>"),
        (lambda: default_collate([[1], [1, 2]]), RuntimeError, "should be of equal size"),
        (lambda: default_collate([imode.ones(1), imode.ones(2)]), RuntimeError, "equal size"),
        (lambda: DataLoader(range(3), num_workers=-1), ValueError, "should be non-negative"),
        (lambda: DataLoader(range(3), 0), ValueError, "batch_size should be a positive integer"),
        (lambda: DataLoader(range(3), shuffle=True, sampler=[1]), ValueError, "mutually exclusive"),
        (lambda: DataLoader([], shuffle=True), ValueError, "num_samples should be a positive"),
        (lambda: StackDataset(), ValueError, "At least one dataset should be passed"),
        (lambda: StackDataset([1], a=[1]), ValueError, "but both types are given"),
        (lambda: StackDataset([1], [1, 2]), ValueError, "Size mismatch between datasets"),
        (lambda: DistributedSampler([1], 2, 2), ValueError, "Invalid rank 2, rank should be in"),
        (lambda: list(DataLoader([1], timeout=1)), AssertionError, "requires timeout == 0"),
        (lambda: iter(DataLoader([1])).__getstate__(), NotImplementedError, "cannot be pickled"),
        (
            lambda: default_collate([imode.eye(2).to_sparse()]),
            RuntimeError,
            "of sparse tensors are",
        ),
        (lambda: Dataset()[0], NotImplementedError, "should implement __getitem__"),
    ],
)
def test_errors(action, error, text):
    with pytest.raises(error, match=text):
        action()
