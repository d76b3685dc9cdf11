"""DataLoader: a dataset in batches."""

import math

from imode import int64, ops

from .collate import default_collate, default_convert
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates over a dataset in batches, in order, shuffled, or as a sampler says.

    Each loop is one epoch. `shuffle=True` draws a new order for each, PyTorch's for the same seed
    of `generator` (or of the global one). Samples are loaded in the calling thread: num_workers
    is 0.

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
        # PyTorch draws a seed for its workers here, also when there are none: so must we, for the
        # same stream of random numbers.
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
    """The sampler of an iterable dataset, which has no indices."""

    def __iter__(self):
        while True:
            yield None


def _is_table(dataset):
    """Whether samples are rows of tensors: then a batch is one indexing per tensor."""
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
    if num_workers > 0:
        raise NotImplementedError(
            f"DataLoader: num_workers={num_workers} is not supported, samples are loaded in the "
            "calling thread; use num_workers=0"
        )
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle, sampler, batch_sampler):
    given = (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in given:
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )
