"""DataLoader: a dataset in batches."""

import math
import warnings

from imode import int64, ops

from .collate import default_collate, default_convert
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "get_worker_info"]

_told = False  # whether the warning about workers was given


def get_worker_info():
    """Return None: there are no worker processes.

    >>> imode.utils.data.get_worker_info() is None
    True
    """
    return None


class DataLoader:
    """Iterates over a dataset in batches: in order, shuffled, or in a sampler's order.

    Each loop is one epoch. `shuffle=True` draws a new order for each, PyTorch's for the same seed
    of `generator` (or of the global one). Samples are loaded in the calling thread: `num_workers`
    and the options of workers (`timeout`, `worker_init_fn`, `multiprocessing_context`,
    `prefetch_factor`, `persistent_workers`) are checked and stored, but have no effect.

    >>> loader = imode.utils.data.DataLoader(range(5), batch_size=2)
    >>> [batch.tolist() for batch in loader]
    [[0, 1], [2, 3], [4]]
    """

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
        if multiprocessing_context is not None:
            multiprocessing_context = _context(multiprocessing_context, num_workers)
        if num_workers:
            _tell(num_workers)
            prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
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
            if self._iterable:
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
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory_device = pin_memory_device
        self.in_order = in_order

    def __iter__(self):
        if self.timeout and not self.num_workers:
            raise AssertionError(
                "_SingleProcessDataLoaderIter requires timeout == 0. The timeout is for workers: "
                f"got timeout={self.timeout}, num_workers=0"
            )
        # PyTorch draws a seed for workers here even if there are none; without this the stream of
        # random numbers would differ.
        order = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        draw_seed(self.generator)
        return self._batches_of_iterable(order) if self._iterable else self._batches(order)

    def _batches(self, order):
        if self.batch_sampler is None:
            for index in order:
                yield self.collate_fn(self.dataset[index])
            return
        dataset, collate = self.dataset, self.collate_fn
        whole = collate is default_collate and _is_table(dataset)
        fetch = getattr(dataset, "__getitems__", None)
        for indices in order:
            if whole:
                yield _rows(dataset, indices)
            elif fetch is not None:
                yield collate(fetch(indices))
            else:
                yield collate([dataset[index] for index in indices])

    def _batches_of_iterable(self, order):
        samples = iter(self.dataset)
        if self.batch_sampler is None:
            for sample in samples:
                yield self.collate_fn(sample)
            return
        for indices in order:
            batch = [sample for _, sample in zip(indices, samples, strict=False)]
            if not batch or (self.drop_last and len(batch) < len(indices)):
                return
            yield self.collate_fn(batch)

    def __len__(self):
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        size = len(self.dataset)
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else math.ceil(size / self.batch_size)


class _Endless:
    """The sampler for an iterable dataset, which has no indices."""

    def __iter__(self):
        while True:
            yield None


def _is_table(dataset):
    """Whether samples are rows of tensors: then a batch takes one indexing per tensor."""
    if type(dataset) is Subset:
        return _is_table(dataset.dataset)
    return type(dataset) is TensorDataset


def _rows(dataset, indices):
    while type(dataset) is Subset:
        indices = [dataset.indices[i] for i in indices]
        dataset = dataset.dataset
    chosen = ops.tensor(indices, dtype=int64)
    return [tensor[chosen] for tensor in dataset.tensors]


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
    """The multiprocessing context in which workers would be started."""
    import multiprocessing  # only needed here

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


def _tell(num_workers):
    """Warn, once, that there are no workers."""
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"DataLoader: num_workers={num_workers} starts no workers; samples are loaded in the "
            "calling thread, and worker_init_fn is not called",
            UserWarning,
            stacklevel=3,
        )


def _check_iterable(shuffle, sampler, batch_sampler):
    given = (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in given:
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )
