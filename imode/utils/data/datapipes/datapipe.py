"""What all steps of a pipeline share: steps that follow are methods, by names that are registered.

A pipeline of `IterDataPipe`s is passed through by one iterator at a time: a new one makes the one
before invalid, for both would take samples from the same sources.
"""

import functools
import random

from imode import int64, ops

from ..dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]


class _Steps:
    """Methods by registered names: `pipe.batch(2)` is `Batcher(pipe, 2)`."""

    functions = {}  # of each of the two base classes: name -> what makes the step

    @classmethod
    def register_function(cls, function_name, function):
        """Let `pipe.<function_name>(...)` be `function(pipe, ...)`."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register):
        """Likewise of a class. Raises Exception if the name is taken."""
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register

    def __getattr__(self, attribute_name):
        make = self.functions.get(attribute_name)
        if make is None:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{attribute_name}"
            )
        return functools.partial(make, self)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __repr__(self):
        return type(self).__qualname__

    __str__ = __repr__

    def __dir__(self):
        return [*super().__dir__(), *self.functions]


class _Pass:
    """An iterator of a step, valid until the next one is made."""

    def __init__(self, pipe, iterator):
        self.pipe = pipe
        self.iterator = iterator
        self.number = pipe.__dict__["_passes"] = pipe.__dict__.get("_passes", 0) + 1

    def __iter__(self):
        return self

    def __next__(self):
        if self.pipe.__dict__["_passes"] != self.number:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created "
                f"from the same IterDataPipe: {self.pipe!r}\n"
                "This may be caused multiple references to the same IterDataPipe. We recommend "
                "using `.fork()` if that is necessary."
            )
        return next(self.iterator)


class IterDataPipe(_Steps, IterableDataset):
    """Base class of steps that give one sample after the other: define `__iter__`.

    `reset()` is called, where a class has it, when an iterator is asked for.

    >>> class Doubled(imode.utils.data.IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         return (2 * x for x in self.source)
    >>> list(Doubled([1, 2]).batch(2))
    [[2, 4]]
    """

    functions = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__iter__" not in cls.__dict__:
            return
        begin = cls.__dict__["__iter__"]

        @functools.wraps(begin)
        def __iter__(self):
            self.reset()
            return _Pass(self, iter(begin(self)))

        cls.__iter__ = __iter__

    def reset(self):
        """Begin anew: nothing, unless a class has something to forget."""


class DFIterDataPipe(IterDataPipe):
    """Base class of steps whose samples are data frames.

    >>> list(imode.utils.data.DFIterDataPipe())
    []
    """

    def _is_dfpipe(self):
        return True

    def __iter__(self):
        yield from ()


class MapDataPipe(_Steps, Dataset):
    """Base class of steps whose samples have keys: define `__getitem__` and `__len__`.

    >>> class Squares(imode.utils.data.MapDataPipe):
    ...     def __getitem__(self, index):
    ...         return index**2
    ...     def __len__(self):
    ...         return 4
    >>> Squares().batch(2)[1]
    [4, 9]
    """

    functions = {}


class Shuffling(IterDataPipe):
    """A step in random order, which imode's default generator decides, or `set_seed`."""

    def __init__(self, datapipe):
        self.datapipe = datapipe
        self._enabled = True
        self._seed = None
        self._random = random.Random()

    def set_shuffle(self, shuffle=True):
        """Shuffle, or not; return the step."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Take a seed for the next iterator; return the step."""
        self._seed = seed
        return self

    def reset(self):
        """Seed the order of the next iterator."""
        if self._enabled:
            seed = self._seed
            if seed is None:
                seed = int(ops.empty((), dtype=int64).random_().item())
            self._random.seed(seed)
            self._seed = None


def name_as_pytorch(space, names, ending):
    """Let classes show the longer names that PyTorch's have, `BatcherIterDataPipe` for `Batcher`.

    space: the module's names, where pickle looks for these.
    """
    for name in names:
        cls = space[name]
        cls.__name__ = cls.__qualname__ = name + ("IterDataPipe" if name == "Shuffler" else ending)
        space[cls.__name__] = cls


def expect_steps(pipes, kind):
    """ValueError for no steps, TypeError for what is no step of a kind."""
    if not pipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, kind) for pipe in pipes):
        raise TypeError(f"Expected all inputs to be `{kind.__name__}`")


class functional_datapipe:
    """Decorate a class of steps, so that `pipe.<name>(...)` makes one over `pipe`.

    Raises TypeError for another class, Exception for a name that is taken.

    >>> @imode.utils.data.functional_datapipe("every_second")
    ... class Second(imode.utils.data.IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         return (x for i, x in enumerate(self.source) if i % 2)
    >>> list(imode.utils.data.datapipes.iter.IterableWrapper("abcd").every_second())
    ['b', 'd']
    """

    def __init__(self, name, enable_df_api_tracing=False):
        self.name = name

    def __call__(self, cls):
        kinds = IterDataPipe, MapDataPipe
        kind = next((k for k in kinds if isinstance(cls, type) and issubclass(cls, k)), None)
        if kind is None:
            raise TypeError("Can only decorate IterDataPipe")
        kind.register_datapipe_as_function(self.name, cls)
        return cls


class DataChunk(list):
    """The samples of a batch, as a list.

    >>> imode.utils.data.datapipes.DataChunk([1, 2]).as_str("- ")
    '- [1, 2]'
    """

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """Its text, behind an indent."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self):
        """An iterator of the samples, whatever `__iter__` of a subclass gives."""
        yield from self.items


def check_batch_size(batch_size):
    """Raise AssertionError for a batch without samples."""
    if batch_size <= 0:
        raise AssertionError("Batch size is required to be larger than 0!")
