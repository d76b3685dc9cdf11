"""Datasets, samplers and loaders give the same samples in the same order as PyTorch's."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import imode  # noqa: E402
from tests.conformance.side_by_side import error, run, same  # noqa: E402

Pair = namedtuple("Pair", "a b")


def table(lib):
    return lib.utils.data.TensorDataset(lib.arange(20.0).view(10, 2), lib.arange(10))


LOADERS = [
    "D(range(10), 3)",
    "D(range(10), 3, drop_last=True)",
    "D(range(9), 3, drop_last=True, shuffle=True)",
    "D(range(10), 3, shuffle=True)",
    "D(range(10), 3, shuffle=True, generator=g)",
    "D(table, 4, shuffle=True, generator=g)",
    "D(table, batch_size=None)",
    "D(u.Subset(table, [3, 1, 2]), 2)",
    "D(range(10), sampler=[4, 2])",
    "D(range(10), batch_sampler=[[1, 2], [3]])",
    "D(range(10), 4, sampler=u.RandomSampler(range(10), replacement=True, num_samples=40))",
    "D(range(10), 4, sampler=u.RandomSampler(range(10), num_samples=25))",
    "D(range(10), 4, sampler=u.SubsetRandomSampler([5, 6, 7]))",
    "D(range(10), 4, sampler=u.WeightedRandomSampler([1, 2, 3, 4.0], 9))",
    "D(range(10), 4, sampler=u.WeightedRandomSampler([1, 2, 3, 4.0], 3, replacement=False))",
    "D(range(10), 4, collate_fn=list)",
    "D(u.ConcatDataset([range(3), range(5)]), 3)",
    "D(counting, 4)",
    "D(counting, 4, drop_last=True)",
    "D(counting, batch_size=None)",
    "D(words, 2)",
    "D([{'a': 1, 'b': [1.5, 2]}, {'a': 3, 'b': [2.5, 4]}], 2)",
    "D([(1, 'x'), (2, 'y')], 2)",
    "D([Pair(1, 2.0), Pair(3, 4.0)], 2)",
    "D(arrays, 2)",
    "D([True, False], 2)",
    "D(range(10), 4, shuffle=True, num_workers=2)",
    "D(table, 4, shuffle=True, generator=g, num_workers=1, prefetch_factor=1, timeout=60)",
]


@pytest.mark.parametrize("source", LOADERS)
def test_loader(source):
    def whole(lib):
        u = lib.utils.data

        class Counting(u.IterableDataset):
            def __iter__(self):
                return iter(range(10))

            def __len__(self):
                return 10

        names = {
            "D": u.DataLoader,
            "u": u,
            "table": table(lib),
            "counting": Counting(),
            "Pair": Pair,
            "g": lib.Generator().manual_seed(5),
            "words": ["a", "b", "c"],
            "arrays": [np.ones(2, "f4"), np.zeros(2, "f4")],
        }
        loader = eval(source, names)
        # An epoch left early, then a whole one: both must leave the generator in the same place.
        first = next(iter(loader))
        return [first, list(loader), list(loader), len(loader), lib.rand(2)]

    same(run(whole, imode), run(whole, torch))


def splits(lib):
    u = lib.utils.data
    g = lib.Generator().manual_seed(1)
    parts = u.random_split(range(10), [3, 7], generator=g)
    parts += u.random_split(range(11), [0.5, 0.3, 0.2], generator=g)
    both = u.ConcatDataset([range(3), range(5)])
    return [
        [list(part) for part in parts],
        [list(part.indices) for part in parts],
        [both[-1], both[4], len(both)],
        list(table(lib) + table(lib))[13],
        error(lambda: u.random_split(range(3), [1, 1])),
        error(lambda: u.random_split(range(3), [-0.5, 1.5])),
        error(lambda: both[-99]),
        error(lambda: u.ConcatDataset([])),
        error(lambda: u.TensorDataset(lib.ones(2), lib.ones(3))),
        error(lambda: u.Dataset()[0]),
    ]


def test_splits():
    same(run(splits, imode), run(splits, torch))


def collated(lib):
    c = lib.utils.data.default_collate
    v = lib.utils.data.default_convert
    return [
        c([lib.ones(2), lib.zeros(2)]),
        c([1, 2]),
        c([1.5, 2]),
        c(["a", "b"]),
        c([OrderedDict(a=1), OrderedDict(a=2)]),
        c([np.float32(1), np.float32(2)]),
        c([[1, 2], [3, 4]]),
        v([np.ones(2), {"a": np.float64(3)}, "x", (1, np.ones(1))]),
        error(lambda: c([object()])),
        error(lambda: c([[1], [1, 2]])),
        error(lambda: c([np.array(["a"])])),
        error(lambda: c([lib.ones(2), lib.ones(3)])),
        error(lambda: c([None])),
    ]


def test_collate():
    same(run(collated, imode), run(collated, torch))


def loader_errors(lib):
    u = lib.utils.data
    D = u.DataLoader

    class Endless(u.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    calls = [
        lambda: D(range(3), num_workers=-1),
        lambda: D(range(3), timeout=-1),
        lambda: D(range(3), prefetch_factor=2),
        lambda: D(range(3), persistent_workers=True),
        lambda: list(D(range(3), timeout=1)),
        lambda: D(range(3), multiprocessing_context="fork"),
        lambda: D(range(3), num_workers=1, multiprocessing_context="no such"),
        lambda: D(range(3), num_workers=1, multiprocessing_context=3),
        lambda: D(range(3), num_workers=1, prefetch_factor=-1),
        lambda: D(range(3), num_workers=1, timeout=-1),
        lambda: D(range(3), num_workers="1"),
        lambda: D(range(3), batch_size=0),
        lambda: D(range(3), batch_size=1.5),
        lambda: D(range(3), drop_last=3),
        lambda: D(range(3), shuffle=True, sampler=[1]),
        lambda: D(range(3), batch_size=2, batch_sampler=[[1]]),
        lambda: D(range(3), batch_size=None, drop_last=True),
        lambda: D([], shuffle=True),
        lambda: D(Endless(), shuffle=True),
        lambda: D(Endless(), batch_sampler=[[1]])[:0],
        lambda: len(D(Endless())),
        lambda: u.RandomSampler(range(3), replacement=1),
        lambda: u.WeightedRandomSampler([1.0], 0),
        lambda: u.WeightedRandomSampler([[1.0]], 1),
        lambda: u.WeightedRandomSampler([1.0], 1, 3),
        lambda: iter(u.Sampler()),
    ]
    return [error(call) for call in calls]


def test_loader_errors():
    same(run(loader_errors, imode), run(loader_errors, torch))
