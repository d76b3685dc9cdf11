"""Datasets, samplers and the DataLoader under PyTorch's names."""

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of

from . import _utils, dataloader, dataset, sampler
from ._utils.collate import default_collate, default_convert
from .dataloader import *  # noqa: F403
from .dataloader import _DatasetKind
from .dataset import *  # noqa: F403
from .distributed import DistributedSampler
from .sampler import *  # noqa: F403

__all__ = ["DistributedSampler", "_DatasetKind", "_utils", "default_collate", "default_convert"]
__all__ += [*dataloader.__all__, *dataset.__all__, *sampler.__all__]

_PIPES = ("DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe")
_DETERMINISM = ("guaranteed_datapipes_determinism", "non_deterministic")
_MODULES = ("datapipes", "graph", "graph_settings")
_missing = _names_of(__name__)

__all__ += [*_MODULES, *_PIPES, *_DETERMINISM]  # loaded when they are asked for


def __getattr__(name):
    if name in _MODULES:
        return _import_late(f".{name}", __name__)
    if name in _DETERMINISM:
        return getattr(_import_late(".datapipes.determinism", __name__), name)
    if name in _PIPES:
        return getattr(_import_late(".datapipes.datapipe", __name__), name)
    return _missing(name)
