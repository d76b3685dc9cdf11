"""What runs in a worker process of a DataLoader.

Note [Workers]
Each worker has two pipes: requests come in by one, results leave by the other. No queue, lock or
event is shared, so a worker that is killed leaves nothing locked, and its end of the pipe closes:
the loader notices at once. A thread of the worker takes the requests, so that the loader can always
send one, even while the worker waits for the loader to take a result; and it notices when the
loader's process ends.

A request is (number, indices), RESUME or None, after which the worker ends; a result is (number,
batch), where the batch may be an ExceptionWrapper or an EndOfDataset.
"""

import os
import queue
import random
import threading
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from imode import manual_seed, set_num_threads
from imode.multiprocessing import reductions  # noqa: F401  (which has tensors sent by their memory)

from .exceptions import ExceptionWrapper
from .fetch import create_fetcher

__all__ = ["WorkerInfo", "get_worker_info"]

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
RESUME = "resume"  # a request and its answer: the next epoch of a worker that persists

_worker_info = None


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What `get_worker_info()` tells.

    id: from 0. seed: what the random numbers of this worker begin with. dataset: its copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


def get_worker_info():
    """Return the WorkerInfo of this worker process, None in other processes.

    >>> imode.utils.data.get_worker_info() is None
    True
    """
    return _worker_info


@dataclass(frozen=True)
class EndOfDataset:
    """What a worker sends when its IterableDataset has no more samples."""

    worker_id: int


@dataclass(frozen=True)
class Job:
    """What all workers of an iterator are told at the start."""

    dataset: Any
    fetching: tuple  # what create_fetcher takes besides
    base_seed: int
    init_fn: Any
    num_workers: int


def run_worker(job, worker_id, requests, results, inherited):
    """Answer requests until there are no more. `inherited()`: the loader's ends of pipes."""
    for pipe in inherited():  # of this worker and of others; only where it was forked
        pipe.close()
    try:
        _seed(job, worker_id)
        _answer(job, worker_id, _Requests(requests), results)
    except KeyboardInterrupt:
        pass  # the loader gets one, too
    except BrokenPipeError:
        pass  # nobody waits for the results


def _seed(job, worker_id):
    """PyTorch's seeds, so that the random numbers are the same, too."""
    global _worker_info
    set_num_threads(1)
    seed, base = job.base_seed + worker_id, job.base_seed
    random.seed(seed)
    manual_seed(seed)
    entropy = [worker_id, base & 0xFFFFFFFF, base >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
    _worker_info = WorkerInfo(worker_id, job.num_workers, seed, job.dataset)
    if hasattr(type(job.dataset), "register_datapipe_as_function"):
        from ..datapipes import graph

        graph.shard(job.dataset, job.num_workers, worker_id)


class _Requests:
    """An iterator over the requests, as long as the loader wants answers."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.waiting = queue.SimpleQueue()
        self.over = False
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        parent = os.getppid()
        try:
            while True:
                if self.pipe.poll(MP_STATUS_CHECK_INTERVAL):
                    request = self.pipe.recv()
                    if request is None:
                        return
                    self.waiting.put(request)
                elif os.getppid() != parent:
                    return
        except (EOFError, OSError):
            pass  # the loader has gone
        finally:
            self.over = True  # what still waits is of no use
            self.waiting.put(None)

    def __iter__(self):
        while (request := self.waiting.get()) is not None and not self.over:
            yield request


def _answer(job, worker_id, requests, results):
    where = f"in DataLoader worker process {worker_id}"
    fetcher = _begin(job, where, lambda: job.init_fn and job.init_fn(worker_id))
    ended = False
    for request in requests:
        if request == RESUME:
            ended = False
            _send(results, (RESUME, None), where)
            fetcher = _begin(job, where)
        elif not ended:
            number, indices = request
            data = _fetch(fetcher, indices, worker_id, where)
            ended = type(data) is EndOfDataset
            _send(results, (number, data), where)
            del data


def _begin(job, where, prepare=lambda: None):
    """A fetcher for one epoch; an ExceptionWrapper if that cannot be had."""
    try:
        prepare()
        return create_fetcher(job.dataset, *job.fetching)
    except Exception:
        return ExceptionWrapper(where=where)


def _fetch(fetcher, indices, worker_id, where):
    if type(fetcher) is ExceptionWrapper:
        return fetcher
    try:
        return fetcher.fetch(indices)
    except Exception as error:
        if isinstance(error, StopIteration) and hasattr(fetcher, "ended"):
            return EndOfDataset(worker_id)
        return ExceptionWrapper(where=where)


def _send(results, message, where):
    """Send a result, or why it cannot be pickled."""
    try:
        pickled = ForkingPickler.dumps(message)
    except Exception:
        pickled = ForkingPickler.dumps((message[0], ExceptionWrapper(where=where)))
    results.send_bytes(pickled)
