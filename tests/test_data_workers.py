"""The worker processes of a DataLoader: what they load, how they fail, how they end."""

import faulthandler
import gc
import multiprocessing
import os
import random
import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest

import imode
from imode.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from tests.watchdog import descriptors, is_running, program, wait_until, watchdog  # noqa: F401

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = pytest.mark.usefixtures("watchdog")


class Squares(Dataset):
    def __init__(self, size=10):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return imode.tensor(i**2)


class Acting(Squares):
    """Calls a function for sample 2."""

    def __init__(self, act):
        super().__init__(8)
        self.act = act

    def __getitem__(self, i):
        return self.act() if i == 2 else i


class Parts(IterableDataset):
    """Each worker gives its part; the parts are of different lengths."""

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 7 + 4 * info.id, info.num_workers))


def lists(batches):
    return [batch.tolist() for batch in batches]


def fork(dataset, *args, **options):
    return DataLoader(dataset, *args, multiprocessing_context="fork", **options)


# ---- what is loaded ------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("prefetch", [1, 3])
def test_batches_come_in_order(workers, prefetch):
    loader = fork(Squares(), 3, num_workers=workers, prefetch_factor=prefetch)
    assert lists(loader) == lists(loader) == [[0, 1, 4], [9, 16, 25], [36, 49, 64], [81]]


def test_tensors_arrive_in_shared_memory():
    data = TensorDataset(imode.arange(6.0).view(3, 2), imode.arange(3))
    for x, y in fork(data, 2, num_workers=1):
        assert x.is_shared() and y.is_shared() and x.is_leaf
        x.add_(1)  # it is the loader's


def test_workers_that_are_started_anew():
    loader = DataLoader(Squares(), 4, num_workers=1, multiprocessing_context="spawn")
    assert lists(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]


def test_each_worker_has_its_part_of_an_iterable_dataset():
    expected = [[0, 2], [1, 3], [4, 6], [5, 7], [9]]
    assert lists(fork(Parts(), 2, num_workers=2)) == expected
    again = fork(Parts(), 2, num_workers=2, persistent_workers=True)
    assert [lists(again) for _ in range(3)] == [expected] * 3


def test_what_a_worker_knows():
    class Told(Squares):
        def __getitem__(self, i):
            info = get_worker_info()
            assert info.dataset is self and info.worker_method == "multiprocessing"
            threads = imode.get_num_threads()
            return info.id, info.num_workers, info.seed, os.getpid(), self.size, threads

    def grow(worker_id):
        get_worker_info().dataset.size = 100 + worker_id

    loader = fork(Told(4), 2, num_workers=2, worker_init_fn=grow)
    ids, numbers, seeds, pids, sizes, threads = zip(*(map(imode.Tensor.tolist, b) for b in loader))
    assert ids == ([0, 0], [1, 1]) and numbers == ([2, 2],) * 2 and threads == ([1, 1],) * 2
    assert seeds[1][0] == seeds[0][0] + 1 and pids[0][0] != pids[1][0] != os.getpid()
    assert sizes == ([100, 100], [101, 101]) and get_worker_info() is None


def test_random_numbers_follow_the_seed():
    class Random(Squares):
        def __getitem__(self, i):
            return imode.rand(()), random.random(), np.random.rand()

    def epoch(seed):
        imode.manual_seed(seed)
        return [[x.tolist() for x in batch] for batch in fork(Random(4), 2, num_workers=2)]

    assert epoch(1) == epoch(1) != epoch(2)
    numbers = [x for batch in epoch(1) for part in batch for x in part]
    assert len(set(numbers)) == len(numbers)


def test_workers_that_persist():
    class Process(Squares):
        def __getitem__(self, i):
            return os.getpid()

    loader = fork(Process(6), 1, num_workers=2, persistent_workers=True)
    first = {batch.item() for batch in loader}
    next(iter(loader))  # an epoch that is left
    assert {batch.item() for batch in loader} == first and len(first) == 2
    loader._iterator._shutdown_workers()
    assert not {batch.item() for batch in loader} & first


def test_batches_out_of_order():
    class Slow(Squares):
        def __getitem__(self, i):
            time.sleep(0.5 if i == 0 else 0)
            return i

    loader = fork(Slow(5), 1, num_workers=2, in_order=False)
    found = [batch.item() for batch in loader]
    assert sorted(found) == [0, 1, 2, 3, 4] and found[0] != 0


def test_large_messages_both_ways():
    """More than a pipe holds, in indices and in results."""
    loader = fork(range(200_000), batch_size=50_000, num_workers=2, collate_fn=list)
    assert [len(batch) for batch in loader] == [50_000] * 4


# ---- failures ------------------------------------------------------------------------------------


def fail(error):
    raise error


def crash():
    faulthandler.disable()  # pytest's, which would print all stacks
    os.kill(os.getpid(), signal.SIGSEGV)


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ValueError("no sample"), ValueError),
        (KeyError("no key"), KeyError),
        (TwoArguments(1, 2), RuntimeError),
    ],
)
def test_an_exception_of_a_worker_is_raised_here(error, raised):
    loader = fork(Acting(lambda: fail(error)), 2, num_workers=2)
    with pytest.raises(raised) as found:
        lists(loader)
    first, second, *_ = str(found.value).split("\n")
    assert first == f"Caught {type(error).__name__} in DataLoader worker process 1."
    assert second == "Original Traceback (most recent call last):"
    assert "in fail" in str(found.value)


def test_an_iterator_goes_on_after_an_exception():
    batches = iter(fork(Acting(lambda: fail(ValueError("no"))), 2, num_workers=2))
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(ValueError, match="in DataLoader worker process 1"):
        next(batches)
    assert lists(batches) == [[4, 5], [6, 7]]


def test_exceptions_before_the_first_sample():
    def refuse(worker_id):
        raise ValueError("not now")

    class NoIterator(IterableDataset):
        def __iter__(self):
            raise ValueError("no iterator")

    for loader in (
        fork(Squares(), num_workers=1, worker_init_fn=refuse),
        fork(NoIterator(), num_workers=1),
    ):
        with pytest.raises(ValueError, match=r"^Caught ValueError in DataLoader worker process 0"):
            lists(loader)


def test_what_cannot_be_pickled_is_told():
    loader = fork(Acting(lambda: lambda: 0), 1, num_workers=1, collate_fn=lambda batch: batch[0])
    with pytest.raises(Exception, match=r"DataLoader worker process 0[\s\S]*pickle"):
        list(loader)


def test_a_non_leaf_is_not_sent():
    weight = imode.ones(1, requires_grad=True)
    loader = fork(Acting(lambda: weight * 2), 1, num_workers=1, collate_fn=lambda batch: batch[0])
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(loader)


@linux
@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os._exit(3), "exit code 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by signal SIGKILL"),
        (lambda: crash(), "killed by signal SIGSEGV"),
    ],
    ids=["exit", "kill", "segfault"],
)
def test_a_worker_that_dies_is_reported(end, how):
    before = {process.pid for process in multiprocessing.active_children()}
    batches = iter(fork(Acting(end), 1, num_workers=2))
    workers = [worker.pid for worker in batches.workers]
    said = rf"^DataLoader worker \(pid\(s\) {workers[0]}\) exited unexpectedly\n{how}$"
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=said):
        list(batches)
    assert time.monotonic() - begin < 15
    assert not any(map(is_running, workers))
    assert {process.pid for process in multiprocessing.active_children()} <= before


@linux
def test_a_worker_that_dies_in_the_middle_of_a_message():
    """What has arrived of it is no message, and nobody waits for the rest."""

    class Huge:
        def __reduce__(self):
            threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
            return bytes, (bytes(1 << 22),)  # the pipe is full, the loader does not read

    batches = iter(fork(Acting(Huge), 1, num_workers=1, collate_fn=lambda batch: batch[0]))
    assert next(batches) == 0 and next(batches) == 1
    batches.workers[0].join(20)
    with pytest.raises(RuntimeError, match=r"exited unexpectedly\nkilled by signal SIGKILL"):
        next(batches)


def test_a_timeout():
    loader = fork(Acting(lambda: time.sleep(1000)), 1, num_workers=1, timeout=0.5)
    batches = iter(loader)
    with pytest.raises(RuntimeError, match=r"^DataLoader timed out after 0\.5 seconds$"):
        list(batches)
    batches.workers[0].kill()


def test_options_that_do_not_fit():
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(fork(Squares(), num_workers=1, prefetch_factor=0))
    batches = iter(fork(Squares(), num_workers=1))
    batches._shutdown_workers()
    with pytest.raises(AssertionError, match="the workers of this iterator have ended"):
        next(batches)
    with pytest.warns(UserWarning, match="will create 9999 worker processes in total"):
        DataLoader(range(3), num_workers=9999)


# ---- the end -------------------------------------------------------------------------------------


@linux
def test_an_iterator_that_is_dropped_leaves_nothing():
    def leave():
        batches = iter(fork(Squares(100), 1, num_workers=2))
        next(batches)
        return [worker.pid for worker in batches.workers]

    leave()
    gc.collect()
    before = descriptors()
    for _ in range(2):
        workers = leave()
        gc.collect()
        assert not any(map(is_running, workers))
    lists(fork(Squares(100), 10, num_workers=2))
    gc.collect()
    assert descriptors() == before


PROGRAM = """
import os, signal, sys, time, multiprocessing
multiprocessing.set_start_method("fork")
import imode
from imode.utils.data import DataLoader, Dataset
class Endless(Dataset):
    def __len__(self):
        return 1_000_000
    def __getitem__(self, i):
        return imode.ones(10)
batches = iter(DataLoader(Endless(), 4, num_workers=2, persistent_workers=PERSIST))
next(batches)
print(os.getpid(), *[worker.pid for worker in batches.workers], flush=True)
"""


@linux
@pytest.mark.parametrize(
    ("persist", "end", "code"),
    [
        ("False", "", 0),
        ("True", "sys.exit(4)", 4),
        ("False", "kept = [batches]; kept.append(kept); del batches", 0),
        ("True", "os.kill(0, signal.SIGINT); time.sleep(30)", -signal.SIGINT),
        ("False", "os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
    ids=["end", "exit", "cycle", "ctrl-c", "kill"],
)
def test_no_process_is_left(tmp_path, persist, end, code):
    text = PROGRAM.replace("PERSIST", persist) + end
    done = program(tmp_path / "p.py", text, check=False, start_new_session=True)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 3 and done.returncode == code, done.stderr
    assert wait_until(lambda: not any(map(is_running, pids)))
    if code >= 0:
        assert done.stderr == ""


@linux
def test_too_many_open_files():
    batches = iter(fork(Squares(6), 1, num_workers=1))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(
            RuntimeError, match=r"^Too many open files\. Communication with the work"
        ):
            next(batches)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_fork_while_another_thread_draws_random_numbers():
    class Random(Squares):
        def __getitem__(self, i):
            return imode.rand(())

    stop = threading.Event()

    def draw():
        while not stop.is_set():
            imode.rand(2_000_000)  # without the GIL, with the generator locked

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(5):
            assert len(lists(fork(Random(2), 1, num_workers=2))) == 2
    finally:
        stop.set()
        thread.join()


def test_fork_beside_the_threads_of_the_library():
    """The pool of the parent is idle in the child, which can start its own."""
    x = imode.ones(2_000_000)

    class Sums(Squares):
        def __getitem__(self, i):
            imode.set_num_threads(2)
            return (x + i).sum()

    before = imode.get_num_threads()
    imode.set_num_threads(4)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            (x * 2).sum()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            found = [batch.item() for batch in fork(Sums(4), 1, num_workers=2)]
            assert found == [2_000_000.0 * (i + 1) for i in range(4)]
    finally:
        stop.set()
        thread.join()
        imode.set_num_threads(before)
