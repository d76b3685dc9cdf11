"""Datasets, samplers and the DataLoader under PyTorch's names."""

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

__getattr__ = _names_of(__name__)
