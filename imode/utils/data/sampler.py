"""Samplers: the order in which the samples of a dataset are drawn."""

from itertools import islice

from imode import Generator, float64, int64, ops

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


def draw_seed(generator=None):
    """A seed drawn from `generator`, or from the global one."""
    return int(ops.empty((), dtype=int64).random_(generator=generator).item())


def _positive(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class Sampler:
    """Base class of samplers: `__iter__` gives indices, or lists of them for a batch sampler.

    >>> class Backwards(imode.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter((2, 1, 0))
    >>> list(Backwards())
    [2, 1, 0]
    """

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError

    def __class_getitem__(cls, item):
        return cls  # `Sampler[int]` in annotations


class SequentialSampler(Sampler):
    """0, 1, 2, ...

    >>> list(imode.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _check_replacement(replacement, error):
    if not isinstance(replacement, bool):
        raise error(f"replacement should be a boolean value, but got replacement={replacement}")


class RandomSampler(Sampler):
    """A new permutation each time or, with `replacement`, independent draws.

    The order is PyTorch's for the same seed, of `generator` or of the global one.

    >>> sorted(imode.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _check_replacement(replacement, TypeError)
        _positive("num_samples", self.num_samples)

    @property
    def num_samples(self):
        """How many are drawn: by default the number of samples, which may change."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        size, count = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            for start in range(0, count + 1, 32):  # in parts, for the same numbers as PyTorch
                piece = (min(32, count - start),)
                yield from ops.randint(0, size, piece, dtype=int64, generator=generator).tolist()
        else:
            for start in range(0, count + 1, size):
                order = ops.randperm(size, generator=generator).tolist()
                yield from order[: count - start]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices, in a new order each time.

    >>> sorted(imode.utils.data.SubsetRandomSampler([3, 1]))
    [1, 3]
    """

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in ops.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in proportion to weights.

    >>> list(imode.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _positive("num_samples", num_samples)
        _check_replacement(replacement, ValueError)
        self.weights = ops.as_tensor(weights, dtype=float64)
        if self.weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = ops.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of batch_size.

    >>> list(imode.utils.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        _positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (rest > 0 and not self.drop_last)
