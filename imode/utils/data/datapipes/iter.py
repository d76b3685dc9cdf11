"""Steps that give one sample after the other, by PyTorch's names."""

import copy
import warnings
from collections import defaultdict

from imode.errors import names_of as _names_of

from .._utils.collate import default_collate
from ..sampler import SequentialSampler
from .datapipe import (
    DataChunk,
    IterDataPipe,
    Shuffling,
    expect_steps,
    functional_datapipe,
    name_as_pytorch,
)

__all__ = [
    *("Batcher", "Collator", "Concater", "Filter", "Grouper", "IterableWrapper", "Mapper"),
    *("Multiplexer", "Sampler", "ShardingFilter", "Shuffler", "UnBatcher", "Zipper"),
]


def _length(pipe, source=None):
    source = pipe.datapipe if source is None else source
    if not hasattr(type(source), "__len__"):
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return len(source)


class IterableWrapper(IterDataPipe):
    """The samples of an iterable, of a deep copy unless `deepcopy=False`."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place "
                    "modification would affect source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self):
        return len(self.iterable)


@functional_datapipe("map")
class Mapper(IterDataPipe):
    """What a function gives of each sample.

    input_col: the part of a sample that it is called with, or a list of parts. output_col: where
    its result is put; None: in the place of the (first) part that it was called with.
    """

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            (output_col,) = output_col
        self.datapipe = datapipe
        self.fn = fn
        self.input_col = input_col
        self.output_col = output_col

    def _applied(self, sample):
        taken = self.input_col
        if taken is None:
            return self.fn(sample)
        many = isinstance(taken, (list, tuple))
        result = self.fn(*(sample[i] for i in taken)) if many else self.fn(sample[taken])
        changed = list(sample) if isinstance(sample, tuple) else copy.copy(sample)
        if self.output_col == -1:
            changed.append(result)
        elif self.output_col is not None:
            changed[self.output_col] = result
        elif many:
            changed[taken[0]] = result
            for i in sorted(taken[1:], reverse=True):
                del changed[i]
        else:
            changed[taken] = result
        return tuple(changed) if isinstance(sample, tuple) else changed

    def __iter__(self):
        for sample in self.datapipe:
            yield self._applied(sample)

    def __len__(self):
        return _length(self)


@functional_datapipe("collate")
class Collator(Mapper):
    """Batches as tensors, by `collate_fn`."""

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        if collate_fn is None and not callable(conversion):
            raise NotImplementedError(
                "collate: a dict of conversions is for data frames; give a function"
            )
        super().__init__(datapipe, fn=conversion if collate_fn is None else collate_fn)


@functional_datapipe("filter")
class Filter(IterDataPipe):
    """The samples of which a function of them, or of their parts `input_col`, is true."""

    def __init__(self, datapipe, filter_fn, input_col=None):
        self.datapipe = datapipe
        self.filter_fn = filter_fn
        self.input_col = input_col

    def _is_kept(self, sample):
        taken = self.input_col
        if taken is None:
            kept = self.filter_fn(sample)
        elif isinstance(taken, (list, tuple)):
            kept = self.filter_fn(*(sample[i] for i in taken))
        else:
            kept = self.filter_fn(sample[taken])
        if not isinstance(kept, bool):
            raise ValueError(
                "Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                type(kept),
            )
        return kept

    def __iter__(self):
        yield from (sample for sample in self.datapipe if self._is_kept(sample))


@functional_datapipe("batch")
class Batcher(IterDataPipe):
    """Lists of `batch_size` samples; a smaller last one unless `drop_last`."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        whole, rest = divmod(_length(self), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("unbatch")
class UnBatcher(IterDataPipe):
    """The samples of batches, of batches of them for each further level; -1: of all levels."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def __iter__(self):
        for batch in self.datapipe:
            yield from self._opened(batch, self.unbatch_level)

    def _opened(self, batch, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_batch = isinstance(batch, (list, DataChunk))
        if level == 0 or (level == -1 and not is_batch):
            yield batch
            return
        if not is_batch:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )
        for sample in batch:
            yield from self._opened(sample, level if level == -1 else level - 1)


@functional_datapipe("groupby")
class Grouper(IterDataPipe):
    """Lists of samples of the same key, in the order in which they become full.

    A group is given when it has `group_size` samples; the largest, if it has at least
    `guaranteed_group_size`, when `buffer_size` are waiting; the rest at the end.
    """

    def __init__(self, datapipe, group_key_fn, *, keep_key=False, buffer_size=10000,
                 group_size=None, guaranteed_group_size=None, drop_remaining=False):  # fmt: skip
        if guaranteed_group_size is not None and group_size is None:
            raise AssertionError("guaranteed_group_size requires group_size to be set")
        self.datapipe = datapipe
        self.group_key_fn = group_key_fn
        self.keep_key = keep_key
        self.max_buffer_size = buffer_size
        self.group_size = group_size
        if group_size is not None and buffer_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size")
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining = drop_remaining
        self.wrapper_class = DataChunk

    def _given(self, key, group):
        group = self.wrapper_class(group)
        return (key, group) if self.keep_key else group

    def _largest(self, waiting):
        key = max(waiting, key=lambda k: len(waiting[k]))
        group, least = waiting.pop(key), self.guaranteed_group_size
        if least is not None and len(group) < least and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        return key, group, least is None or len(group) >= least

    def __iter__(self):
        waiting, count = defaultdict(list), 0
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            waiting[key].append(sample)
            count += 1
            if len(waiting[key]) == self.group_size:
                count -= self.group_size
                yield self._given(key, waiting.pop(key))
            if count == self.max_buffer_size:
                key, group, is_whole = self._largest(waiting)
                count -= len(group)
                if is_whole:
                    yield self._given(key, group)
        for key in tuple(waiting):
            yield self._given(key, waiting.pop(key))


@functional_datapipe("concat")
class Concater(IterDataPipe):
    """The samples of several steps, one step after the other."""

    def __init__(self, *datapipes):
        expect_steps(datapipes, IterDataPipe)
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(_length(self, pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class Zipper(IterDataPipe):
    """Tuples of a sample of each step."""

    def __init__(self, *datapipes):
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        return min(_length(self, pipe) for pipe in self.datapipes)


@functional_datapipe("mux")
class Multiplexer(IterDataPipe):
    """A sample of each step in turn, until the shortest has no more."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        for samples in zip(*self.datapipes):
            yield from samples

    def __len__(self):
        return min(_length(self, pipe) for pipe in self.datapipes) * len(self.datapipes)


class Sampler(IterDataPipe):
    """What a sampler of `imode.utils.data` makes of a step."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        if not hasattr(type(datapipe), "__len__"):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler = sampler(
            *(sampler_args or ()), **{**(sampler_kwargs or {}), "data_source": datapipe}
        )

    def __iter__(self):
        yield from self.sampler

    def __len__(self):
        return len(self.sampler)


@functional_datapipe("shuffle")
class Shuffler(Shuffling):
    """The samples in random order: each is drawn from `buffer_size` that wait."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        super().__init__(datapipe if not unbatch_level else datapipe.unbatch(unbatch_level))
        self.buffer_size = buffer_size

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        waiting = []
        for sample in self.datapipe:
            if len(waiting) < self.buffer_size:
                waiting.append(sample)
                continue
            at = self._random.randint(0, len(waiting) - 1)
            drawn, waiting[at] = waiting[at], sample
            yield drawn
        while waiting:
            yield waiting.pop(self._random.randint(0, len(waiting) - 1))

    def __len__(self):
        return _length(self)


@functional_datapipe("sharding_filter")
class ShardingFilter(IterDataPipe):
    """Every n-th sample, from number i on: all, until `apply_sharding(n, i)`."""

    def __init__(self, source_datapipe, sharding_group_filter=None):
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.num_of_instances, self.instance_id = 1, 0

    def is_shardable(self):
        """True."""
        return True

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=None):
        """Keep the samples of one of several processes."""
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self):
        for i, sample in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield sample

    def __len__(self):
        count, n = _length(self, self.source_datapipe), self.num_of_instances
        return count // n + (self.instance_id < count % n)


name_as_pytorch(globals(), __all__, "IterDataPipe")

__getattr__ = _names_of(__name__)
