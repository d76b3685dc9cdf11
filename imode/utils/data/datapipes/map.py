"""Steps whose samples have keys, by PyTorch's names."""

import copy
import warnings

from imode.errors import names_of as _names_of

from .datapipe import (
    DataChunk,
    MapDataPipe,
    Shuffling,
    expect_steps,
    functional_datapipe,
    name_as_pytorch,
)

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


def default_fn(data):
    """The sample itself."""
    return data


class SequenceWrapper(MapDataPipe):
    """The samples of a sequence or dict, of a deep copy unless `deepcopy=False`."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place "
                    "modification would affect source data",
                    stacklevel=2,
                )

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


@functional_datapipe("map")
class Mapper(MapDataPipe):
    """What a function gives of each sample."""

    def __init__(self, datapipe, fn=default_fn):
        self.datapipe = datapipe
        self.fn = fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("batch")
class Batcher(MapDataPipe):
    """Lists of `batch_size` samples; a smaller last one unless `drop_last`."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        begin = index * self.batch_size
        end = min(begin + self.batch_size, len(self.datapipe))
        if begin >= end or (self.drop_last and end - begin < self.batch_size):
            raise IndexError("Index is out of bound.")
        return self.wrapper_class([self.datapipe[i] for i in range(begin, end)])

    def __len__(self):
        whole, rest = divmod(len(self.datapipe), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("concat")
class Concater(MapDataPipe):
    """The samples of several steps, one step after the other."""

    def __init__(self, *datapipes):
        expect_steps(datapipes, MapDataPipe)
        self.datapipes = datapipes

    def __getitem__(self, index):
        at = index
        for pipe in self.datapipes:
            if at < len(pipe):
                return pipe[at]
            at -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class Zipper(MapDataPipe):
    """Tuples of a sample of each step."""

    def __init__(self, *datapipes):
        expect_steps(datapipes, MapDataPipe)
        self.datapipes = datapipes

    def __getitem__(self, index):
        return tuple(pipe[index] for pipe in self.datapipes)

    def __len__(self):
        return min(map(len, self.datapipes))


class Shuffler(Shuffling):
    """The samples of the keys in random order: an `IterDataPipe`."""

    def __init__(self, datapipe, *, indices=None):
        super().__init__(datapipe)
        self.indices = list(range(len(datapipe))) if indices is None else indices

    def __iter__(self):
        order = self.indices
        if self._enabled:
            order = self._random.sample(order, len(order))[::-1]  # PyTorch takes the last first
        for key in order:
            yield self.datapipe[key]

    def __len__(self):
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", Shuffler)  # though it is none itself

name_as_pytorch(globals(), __all__, "MapDataPipe")

__getattr__ = _names_of(__name__)
