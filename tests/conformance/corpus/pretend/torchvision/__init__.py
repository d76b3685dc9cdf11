"""As much of torchvision as scripts need to come to their networks: pictures are random numbers."""

from . import datasets, models, transforms, utils  # noqa: F401

__version__ = "0.28.0"
