"""Workers of loaders, and tensors that are sent: the same program in both libraries."""

import importlib
import os
import pickle
import random
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

from tests.conformance.side_by_side import agrees, error
from tests.watchdog import watchdog  # noqa: F401

pytestmark = pytest.mark.usefixtures("watchdog")


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def module(lib, name):
    return importlib.import_module(f"{lib.__name__}.{name}")


def random_numbers(lib):
    """Of the library, of NumPy and of Python; seeds; the order; the parent's generator after it."""
    data = module(lib, "utils.data")

    class Random(data.Dataset):
        def __len__(self):
            return 9

        def __getitem__(self, i):
            info = data.get_worker_info()
            return i, info.id, info.seed, lib.rand(2), np.random.rand(), random.random()

    made = []
    for options in (
        {"num_workers": 2},
        {"num_workers": 1, "generator": lib.Generator().manual_seed(5)},
        {"num_workers": 2, "persistent_workers": True},
        {"num_workers": 2, "prefetch_factor": 1, "drop_last": True},
    ):
        loader = data.DataLoader(Random(), 2, shuffle=True, **options)
        made += [list(loader), list(loader), next(iter(loader)), lib.rand(2)]
    return made


def samplers_that_draw_when_asked_for_an_iterator(lib):
    data = module(lib, "utils.data")

    class Drawing:
        def __len__(self):
            return 4

        def __iter__(self):
            return iter(lib.randperm(4).tolist())

    loader = data.DataLoader(range(4), sampler=Drawing(), num_workers=1)
    return [list(loader), list(loader), lib.rand(1)]


def iterable_datasets(lib):
    data = module(lib, "utils.data")

    class Parts(data.IterableDataset):
        def __iter__(self):
            info = data.get_worker_info()
            return iter(range(info.id, 7 + 4 * info.id, info.num_workers))

    made = []
    for options in (
        {},
        {"batch_size": 2},
        {"batch_size": 3, "drop_last": True},
        {"batch_size": None},
        {"batch_size": 2, "prefetch_factor": 3},
        {"batch_size": 2, "persistent_workers": True},
    ):
        loader = data.DataLoader(Parts(), num_workers=2, **options)
        made += [list(loader), next(iter(loader)), list(loader)]
    return made


def errors_of_workers(lib):
    data = module(lib, "utils.data")

    D = data.DataLoader

    class Failing(data.Dataset):
        def __init__(self, act):
            self.act = act

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.act() if i == 2 else i

    def fail(raised):
        raise raised

    def first_lines(function):
        try:
            function()
        except Exception as raised:
            return [type(raised).__name__, *str(raised).split("\n")[:2]]

    acts = [
        lambda: fail(ValueError("no")),
        lambda: fail(KeyError("no")),
        lambda: fail(TwoArguments(1, 2)),
        lambda: fail(StopIteration()),
        lambda: [][1],
    ]
    made = [first_lines(lambda a=a: list(D(Failing(a), num_workers=1))) for a in acts]
    batches = iter(data.DataLoader(Failing(acts[0]), num_workers=2))
    made += [next(batches), next(batches), first_lines(lambda: next(batches)), list(batches)]
    refused = data.DataLoader(
        range(3), num_workers=1, worker_init_fn=lambda i: fail(OSError("not now"))
    )
    made.append(first_lines(lambda: list(refused)))
    dying = data.DataLoader(Failing(lambda: os._exit(3)), num_workers=1, collate_fn=list)
    died = error(lambda: list(dying))
    return [*made, died[0], "exited unexpectedly" in died[1]]


def options_that_are_refused(lib):
    data = module(lib, "utils.data")
    loader = data.DataLoader(range(3))
    return [
        error(lambda: list(data.DataLoader(range(3), num_workers=1, prefetch_factor=0))),
        *[error(lambda n=name: setattr(loader, n, 3)) for name in ("batch_size", "dataset")],
        error(lambda: setattr(loader, "multiprocessing_context", "fork")),
        error(lambda: iter(loader).__getstate__()),
        error(lambda: data.StackDataset()),
        error(lambda: data.StackDataset([1], a=[2])),
        error(lambda: data.StackDataset([1], [2, 3])),
        error(lambda: data.DistributedSampler(range(3), 2, 2)),
        error(lambda: data.DistributedSampler(range(3), 2, -1)),
    ]


def other_datasets_and_samplers(lib):
    data = module(lib, "utils.data")
    collate = module(lib, "utils.data._utils.collate")
    pairs = data.StackDataset(range(5), data.Subset("abcde", [4, 3, 2, 1, 0]))
    named = data.StackDataset(x=range(5), y=data.Subset("abcde", [4, 3, 2, 1, 0]))
    made = [list(data.DataLoader(each, 2)) for each in (pairs, named)]
    made += [pairs[3], named[2], len(named), named.__getitems__([0, 3])]
    for size in (1, 2, 7, 10):
        for options in ({}, {"shuffle": False}, {"drop_last": True, "seed": 3}):
            samplers = [data.DistributedSampler(range(size), 3, i, **options) for i in range(3)]
            made += [[list(s), len(s), s.total_size] for s in samplers]
            samplers[0].set_epoch(2)
            made.append(list(samplers[0]))
    functions = {**collate.default_collate_fn_map, str: lambda s, collate_fn_map: "".join(s)}
    made.append(collate.collate([{"a": "x"}, {"a": "y"}], collate_fn_map=functions))
    made.append(sorted(map(str, map(type, functions.values()))))
    made.append(error(lambda: collate.collate([1, 2])))
    made.append(collate.collate([[1], [2]], collate_fn_map={int: lambda s, collate_fn_map: s}))
    return made


def what_is_sent(lib):
    mp = module(lib, "multiprocessing")
    assert mp.get_all_start_methods()

    def sent(value):
        return pickle.loads(ForkingPickler.dumps(value))

    def state(x):
        flags = x.is_shared(), x.requires_grad, x.is_leaf, x._version, type(x) is lib.Tensor
        return [x, list(x.shape), list(x.stride()), x.storage_offset(), str(x.dtype), flags[:4]]

    x = lib.arange(6.0).view(2, 3)
    made = [state(t) for t in (x[:, 1], sent(x[:, 1]), x, sent(x), sent(x.t()))]
    x[0, 1] = 9
    made += [state(t) for t in (sent(x)[0], x)]
    for t in (
        lib.zeros(0, 3),
        lib.ones(1).expand(5),
        lib.arange(10)[::3],
        lib.ones(2, requires_grad=True),
        lib.nn.Parameter(lib.ones(2), requires_grad=False),
        lib.from_numpy(np.arange(10.0)[::2]),
    ):
        made += [state(t), state(sent(t)), state(t), isinstance(sent(t), lib.nn.Parameter)]
    made += [state(lib.zeros(0, 3).share_memory_()), state(lib.ones(2).t().share_memory_())]
    w = lib.ones(2, requires_grad=True)
    made += [error(lambda: sent(w * 2)), error(lambda: lib.ones(2, device="meta").share_memory_())]
    made += [error(lambda: lib.eye(2).to_sparse().is_shared()), lib.ones(2).is_shared()]
    made += [sent(lib.eye(2).to_sparse()).to_dense(), error(lambda: mp.set_sharing_strategy(""))[0]]
    model = lib.nn.Linear(2, 2).share_memory()
    made += [state(p.detach())[5] for p in model.parameters()]
    with lib.inference_mode():
        made += [sent(lib.ones(2)).is_inference(), lib.ones(2).share_memory_().is_inference()]
    return made


def failing(i):
    if i == 1:
        raise ValueError("of process one")


def exiting(i):
    os._exit(3)


def processes_that_fail(lib):
    mp = module(lib, "multiprocessing")

    def found(function):
        try:
            mp.start_processes(function, nprocs=2, start_method="fork")
        except mp.ProcessRaisedException as raised:
            return [type(raised).__name__, str(raised).split("\n")[:4], raised.error_index]
        except mp.ProcessExitedException as raised:
            code = raised.exit_code, raised.signal_name, raised.error_index
            return [type(raised).__name__, str(raised)[9:], code[:2]]

    return [found(failing), found(exiting), found(print)]


test_random_numbers = agrees(random_numbers)
test_samplers_that_draw_when_asked = agrees(samplers_that_draw_when_asked_for_an_iterator)
test_iterable_datasets = agrees(iterable_datasets)
test_errors_of_workers = agrees(errors_of_workers)
test_options_that_are_refused = agrees(options_that_are_refused)
test_other_datasets_and_samplers = agrees(other_datasets_and_samplers)
test_what_is_sent = agrees(what_is_sent)
test_processes_that_fail = agrees(processes_that_fail)
