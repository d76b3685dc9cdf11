"""Iterators over a DataLoader: in the calling thread, or over the results of worker processes."""

import errno
import itertools
import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import wait
from weakref import WeakSet

from imode._core.user_frames import warn

from ._utils.exceptions import ExceptionWrapper
from ._utils.fetch import create_fetcher
from ._utils.worker import MP_STATUS_CHECK_INTERVAL, RESUME, EndOfDataset, Job, run_worker
from .dataset import IterableDataset
from .sampler import draw_seed

__all__ = []

_live = WeakSet()  # iterators with workers


def live_pipes():
    """The ends of pipes that this process has as a loader: a forked worker has copies of them."""
    return [pipe for each in _live for pipe in (*each.requests, *each.results)]


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._iterable = isinstance(loader.dataset, IterableDataset)
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._fetching = loader._auto_collation, loader.collate_fn, loader.drop_last
        self._persistent_workers = loader.persistent_workers
        self._warn_of_pinning(loader)
        # In PyTorch's order, and without workers, too: else random numbers would be others.
        self._begin_epoch(loader)
        self._base_seed = draw_seed(loader.generator)

    @staticmethod
    def _warn_of_pinning(loader):
        if loader.pin_memory and loader.pin_memory_device:
            warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the "
                f"device,ignore pin_memory_device='{loader.pin_memory_device}'.",
            )
        if loader.pin_memory:
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
            )

    def _begin_epoch(self, loader):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._told_length = loader._IterableDataset_len_called

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        if self._told_length is not None and self._num_yielded > self._told_length:
            self._warn_of_length()
        return data

    def _warn_of_length(self):
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._told_length}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers:
            text += "Each worker gives all samples, unless the dataset asks get_worker_info()."
        warn(text)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Loads in the thread that asks for the next batch."""

    def __init__(self, loader):
        super().__init__(loader)
        if self._timeout:
            raise AssertionError(
                "_SingleProcessDataLoaderIter requires timeout == 0. The timeout is for workers: "
                f"got timeout={self._timeout}, num_workers=0"
            )
        self._fetch = create_fetcher(self._dataset, *self._fetching).fetch

    def _next_data(self):
        return self._fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Sends numbered lists of indices to workers, and gives their results in order.

    See Note [Workers] in _utils/worker.py. Invariants:
    - `tasks` has what was sent and not given yet: number -> [worker] or [worker, data];
    - `active[worker]` is False once its IterableDataset has ended, `open` lists the workers that
      have not been told to end.
    """

    def __init__(self, loader):
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter"
            )
        self.is_shut_down = False
        self._owner = os.getpid()
        self.requests, self.results, self.workers = [], [], []
        _live.add(self)
        job = Job(
            self._dataset,
            self._fetching,
            self._base_seed,
            loader.worker_init_fn,
            self._num_workers,
        )
        context = loader.multiprocessing_context or multiprocessing
        for worker_id in range(self._num_workers):
            self._start(context, job, worker_id)
        self._begin_epoch(loader)
        self._prime()

    def _start(self, context, job, worker_id):
        request, send = context.Pipe(duplex=False)
        receive, result = context.Pipe(duplex=False)
        self.requests.append(send)
        self.results.append(receive)
        arguments = (job, worker_id, request, result, live_pipes)
        worker = context.Process(target=run_worker, args=arguments, daemon=True)
        worker.start()
        self.workers.append(worker)
        request.close()  # so that the worker has the only one: it closes when the worker dies
        result.close()

    # ---- an epoch ----

    def _reset(self, loader):
        """Begin the next epoch with the same workers."""
        self._begin_epoch(loader)
        self.open = list(range(self._num_workers))
        for worker_id in self.open:
            self._request(worker_id, RESUME)
        for _ in self.open:  # results of the last epoch, if it was left, come before the answers
            while self._receive()[0] != RESUME:
                pass
        self._prime()

    def _prime(self):
        self.open = list(range(self._num_workers))
        self.active = [True] * self._num_workers
        self.tasks = {}
        self.load = [0] * self._num_workers  # tasks that each worker has
        self._next_sent = self._next_given = 0
        self._turn = itertools.cycle(range(self._num_workers))
        for _ in range(self._prefetch_factor * self._num_workers):
            self._send_task()

    def _request(self, worker_id, request):
        with suppress(OSError):  # it has died: `_receive` says so
            self.requests[worker_id].send(request)

    def _has_room(self, worker_id):
        if not self.active[worker_id]:
            return False
        # In order, the worker that just gave a batch is the one whose turn it is.
        most = self._prefetch_factor * self._num_workers // sum(self.active)
        return self._in_order or self.load[worker_id] < most

    def _send_task(self):
        try:
            indices = next(self._sampler_iter)
        except StopIteration:
            return
        for worker_id in itertools.islice(self._turn, self._num_workers):
            if self._has_room(worker_id):
                self._request(worker_id, (self._next_sent, indices))
                self.tasks[self._next_sent] = [worker_id]
                self.load[worker_id] += 1
                self._next_sent += 1
                return

    def _next_data(self):
        while True:
            while self._next_given < self._next_sent and not self._is_due():
                self.tasks.pop(self._next_given, None)
                self._next_given += 1
            if self._next_given == self._next_sent:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            number = self._next_given
            if len(self.tasks[number]) == 1:
                number, data = self._receive()
                if type(data) is EndOfDataset:
                    self._end(data.worker_id)
                    continue
                self.tasks[number].append(data)
                if self._in_order and number != self._next_given:
                    continue
            worker_id, data = self.tasks.pop(number)
            self.load[worker_id] -= 1
            self._send_task()
            if isinstance(data, ExceptionWrapper):
                data.reraise()
            return data

    def _is_due(self):
        """Whether the next task has a result, or will have one."""
        task = self.tasks.get(self._next_given)
        return task is not None and (len(task) == 2 or self.active[task[0]])

    def _end(self, worker_id):
        """A worker's IterableDataset has no more samples."""
        self.active[worker_id] = False
        if not self._persistent_workers:
            self.open.remove(worker_id)
            self._request(worker_id, None)
        self._send_task()

    # ---- results ----

    def _receive(self):
        """The next message of any worker; RuntimeError if it takes too long, or one has died."""
        if self.is_shut_down:
            raise AssertionError("the workers of this iterator have ended")
        pipes = [self.results[i] for i in self.open]
        alive = [self.workers[i].sentinel for i in self.open]
        ready = wait([*pipes, *alive], self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        for pipe in pipes:
            if pipe in ready:
                return self._read(pipe)
        raise self._death()

    def _read(self, pipe):
        try:
            return pipe.recv()
        except (EOFError, OSError, RuntimeError) as error:
            if getattr(error, "errno", None) == errno.EMFILE or "ancdata" in str(error):
                raise RuntimeError(
                    "Too many open files. Communication with the workers is no longer possible. "
                    "Each tensor in a batch takes one: keep fewer batches, or increase the limit "
                    "using `ulimit -n`."
                ) from None
            death = self._death()
            if death is None:
                raise
            raise death from error

    def _death(self):
        """The error about workers that have died, after which all others end; None if none has."""
        open_workers = [self.workers[i] for i in self.open]
        ended = wait([worker.sentinel for worker in open_workers], MP_STATUS_CHECK_INTERVAL)
        dead = [worker for worker in open_workers if worker.sentinel in ended]
        if not dead:
            return None
        for worker in dead:  # its exit code is known a moment later
            worker.join(MP_STATUS_CHECK_INTERVAL)
        self._shutdown_workers()
        pids = ", ".join(str(worker.pid) for worker in dead)
        how = ", ".join(_how_it_ended(worker.exitcode) for worker in dead)
        return RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly\n{how}")

    # ---- the end ----

    def _shutdown_workers(self):
        """End the workers: those that do not within a few seconds are terminated."""
        if self.is_shut_down or os.getpid() != self._owner or sys.is_finalizing():
            return  # at exit, multiprocessing terminates them
        self.is_shut_down = True
        for worker_id in range(len(self.workers)):
            self._request(worker_id, None)
        for pipe in (*self.requests, *self.results):
            pipe.close()
        for end in ("", "terminate", "kill"):
            limit = time.monotonic() + MP_STATUS_CHECK_INTERVAL
            for worker in self.workers:
                if end and worker.is_alive():
                    getattr(worker, end)()
            for worker in self.workers:
                worker.join(max(0, limit - time.monotonic()))
            if not any(worker.is_alive() for worker in self.workers):
                return

    def __del__(self):
        if "workers" in vars(self):
            self._shutdown_workers()


def _how_it_ended(exitcode):
    if exitcode is None or exitcode >= 0:
        return f"exit code {exitcode}"
    return f"killed by signal {signal.Signals(-exitcode).name}"
