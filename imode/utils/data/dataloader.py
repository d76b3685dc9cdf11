"""DataLoader: a dataset in batches."""

import math
import multiprocessing
import os

from imode._core.user_frames import warn

from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "get_worker_info"]

# Where PyTorch has them, too.
_ITERATORS = (_BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter)


class _DatasetKind:
    Map = 0
    Iterable = 1


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Iterates over a dataset in batches: in order, shuffled, or in a sampler's order.

    Each loop is one epoch. `shuffle=True` draws a new order for each, PyTorch's for the same seed
    of `generator` (or of the global one).

    num_workers: how many processes load samples; 0: the calling thread does. Each has its copy of
    the dataset and calls `worker_init_fn(id)` first; `get_worker_info()` tells there which it is.
    Their random numbers are PyTorch's for the same seed. Each loads `prefetch_factor` batches (by
    default 2) ahead. persistent_workers: they stay for the next epoch. timeout: seconds to wait
    for a batch; 0: forever. in_order: whether a batch waits for those before it.
    multiprocessing_context: how processes are started: a word or a context.

    A worker's exception is raised here, with its traceback. RuntimeError if a worker dies.

    >>> loader = imode.utils.data.DataLoader(range(5), batch_size=2)
    >>> [batch.tolist() for batch in loader]
    [[0, 1], [2, 3], [4]]
    """

    def __class_getitem__(cls, item):
        return cls  # `DataLoader[int]` in annotations

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers and prefetch_factor is None:
            prefetch_factor = 2
        self.num_workers = num_workers
        self.multiprocessing_context = multiprocessing_context
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        self._is_pipeline = hasattr(type(dataset), "register_datapipe_as_function") and iterable
        if self._is_pipeline and shuffle is not None:
            from .datapipes import graph

            dataset, shuffle = graph.with_shuffling(dataset, shuffle), None
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching "
                "and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory_device = pin_memory_device
        self.in_order = in_order
        self._iterator = None  # that of workers that persist
        self._IterableDataset_len_called = None
        self._initialized = True
        self.check_worker_number_rationality()

    def __setattr__(self, name, value):
        if name in _FIXED and "_initialized" in vars(self):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        """The context in which workers are started, None for Python's default one."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, given):
        self._context = None if given is None else _context(given, self.num_workers)

    def _get_iterator(self):
        if self._is_pipeline:
            from .datapipes import graph

            graph.seed(self.dataset, self.generator)
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None or self._iterator.is_shut_down:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        size = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else math.ceil(size / self.batch_size)

    def check_worker_number_rationality(self):
        """Warn if there will be more workers than cores."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        cores = cores or os.cpu_count() or self.num_workers
        if self.num_workers > cores:
            warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {cores}, which is smaller "
                "than what this DataLoader is going to create. More than that are slower, or may "
                "even freeze: lower num_workers.",
            )


class _Endless:
    """The sampler for an iterable dataset, which has no indices."""

    def __iter__(self):
        while True:
            yield None


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if prefetch_factor is not None and num_workers == 0:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _context(given, num_workers):
    """The multiprocessing context in which workers are started."""
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(given, str):
        methods = multiprocessing.get_all_start_methods()
        if given not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods}, "
                f"but got multiprocessing_context={given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={given}"
        )
    return given


def _check_iterable(shuffle, sampler, batch_sampler):
    given = (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in given:
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )
