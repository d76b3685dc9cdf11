"""Datasets: objects that give sample number i, or one sample after the other."""

import bisect
import math
from itertools import accumulate

from imode import errors, ops
from imode._core.user_frames import warn

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


class Dataset:
    """Base class of datasets with numbered samples: define `__getitem__` and, usually, `__len__`.

    A subclass may define `__getitems__(indices)`, which fetches a whole batch at once.

    >>> class Squares(imode.utils.data.Dataset):
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> Squares()[3]
    9
    """

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item):
        return cls  # `Dataset[int]` in annotations


class IterableDataset(Dataset):
    """Base class of datasets that only give one sample after the other: define `__iter__`.

    >>> class Three(imode.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> [int(x) for x in imode.utils.data.DataLoader(Three())]
    [0, 1, 2]
    """

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Sample i is the tuple of the i-th rows of some tensors of the same length.

    >>> imode.utils.data.TensorDataset(imode.arange(3), imode.zeros(3, 2))[1]
    (tensor(1), tensor([0., 0.]))
    """

    def __init__(self, *tensors):
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise errors.arguments.sizes_of_dataset([len(tensor) for tensor in tensors])
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class StackDataset(Dataset):
    """Sample i is the tuple, or the dict, of the samples i of several datasets of one length.

    Raises ValueError for datasets of different lengths, for none, and for both kinds at once.

    >>> imode.utils.data.StackDataset(image="ab", label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(dataset) for dataset in self._each()}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        (self._length,) = lengths

    def _each(self):
        named = isinstance(self.datasets, dict)
        return list(self.datasets.values() if named else self.datasets)

    def _sample(self, values):
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values))
        return tuple(values)

    def __getitem__(self, index):
        return self._sample([dataset[index] for dataset in self._each()])

    def __getitems__(self, indices):
        columns = []
        for dataset in self._each():
            items = _items(dataset, indices)
            if len(items) != len(indices):
                raise ValueError(
                    "Nested dataset's output size mismatch. Expected "
                    f"{len(indices)}, got {len(items)}"
                )
            columns.append(items)
        return [self._sample(values) for values in zip(*columns)]

    def __len__(self):
        return self._length


def _items(dataset, indices):
    """Several samples, at once where the dataset can give them so."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[i] for i in indices]


class ConcatDataset(Dataset):
    """Several datasets, one after the other.

    >>> imode.utils.data.ConcatDataset([[1, 2], [3]])[2]
    3
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset):
    """Several iterable datasets, one after the other.

    >>> class Two(imode.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter((1, 2))
    >>> list(Two() + Two())
    [1, 2, 1, 2]
    """

    def __init__(self, datasets):
        self.datasets = datasets

    def _checked(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self._checked():
            yield from dataset

    def __len__(self):
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset):
    """The samples of a dataset with the given indices.

    >>> list(imode.utils.data.Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices):
        return _items(self.dataset, [self.indices[i] for i in indices])

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Divide a dataset at random into Subsets of the given lengths, or fractions that sum to 1.

    >>> parts = imode.utils.data.random_split(range(10), [7, 3])
    >>> [len(part) for part in parts]
    [7, 3]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise errors.arguments.split_lengths(lengths, len(dataset))
    indices = ops.randperm(sum(lengths), generator=generator).tolist()
    ends = accumulate(lengths)
    return [
        Subset(dataset, indices[end - length : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def _from_fractions(fractions, size):
    lengths = []
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths.append(math.floor(size * fraction))
    for i in range(size - sum(lengths)):  # distribute the rest that rounding down left
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
            )
    return lengths
