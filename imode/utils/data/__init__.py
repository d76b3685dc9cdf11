"""Datasets, samplers and the DataLoader under PyTorch's names."""

from imode.errors import names_of as _names_of

from . import collate, dataloader, dataset, sampler
from .collate import *  # noqa: F403
from .dataloader import *  # noqa: F403
from .dataset import *  # noqa: F403
from .sampler import *  # noqa: F403

__all__ = [*collate.__all__, *dataloader.__all__, *dataset.__all__, *sampler.__all__]

__getattr__ = _names_of(__name__)
