"""From indices to a batch, in the process that has the dataset."""

from imode import int64, ops

from ..dataset import IterableDataset, Subset, TensorDataset
from .collate import default_collate

__all__ = ["create_fetcher"]


def create_fetcher(dataset, *options):
    """The fetcher of a dataset. options: whether to make batches, how, whether to drop the last."""
    iterable = isinstance(dataset, IterableDataset)
    return (_IterableDatasetFetcher if iterable else _MapDatasetFetcher)(dataset, *options)


class _MapDatasetFetcher:
    """`fetch(indices)` gives a batch, or `fetch(index)` a sample."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self._whole = auto_collation and collate_fn is default_collate and _is_table(dataset)
        self._many = getattr(dataset, "__getitems__", None) or None

    def fetch(self, index):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        if self._whole:
            return _rows(self.dataset, index)
        if self._many is not None:
            return self.collate_fn(self._many(index))
        return self.collate_fn([self.dataset[i] for i in index])


class _IterableDatasetFetcher:
    """`fetch` gives the next batch, of as many samples as there are indices, or the next sample."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.samples = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.samples))
        batch = [sample for _, sample in zip(index, self.samples, strict=False)]
        self.ended = len(batch) < len(index)
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


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
