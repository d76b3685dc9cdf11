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

_PIPES = ("DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe")
_missing = _names_of(__name__)

__all__ += ["datapipes", *_PIPES]  # noqa: F405 - loaded when it is asked for


def __getattr__(name):
    if name == "datapipes":
        return _import_late(".datapipes", __name__)
    if name in _PIPES:
        return getattr(_import_late(".datapipes.datapipe", __name__), name)
    return _missing(name)
