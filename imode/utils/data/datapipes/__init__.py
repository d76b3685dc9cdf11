"""Steps of a pipeline of samples, each over the one before: `iter` and `map`, by PyTorch's names.

>>> from imode.utils.data.datapipes.iter import IterableWrapper
>>> pipe = IterableWrapper(range(5)).map(lambda n: n * 10).filter(lambda n: n != 20).batch(2)
>>> list(pipe)
[[0, 10], [30, 40]]
"""

from imode.errors import names_of as _names_of

from . import iter, map
from .datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe, functional_datapipe

__all__ = [
    "DFIterDataPipe",
    "DataChunk",
    "IterDataPipe",
    "MapDataPipe",
    "functional_datapipe",
    "iter",
    "map",
]

__getattr__ = _names_of(__name__)
