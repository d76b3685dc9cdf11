"""Anomaly mode, where PyTorch has it: `anomaly` is the module that does it."""

from imode.errors import names_of as _names_of

from .anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]

__getattr__ = _names_of(__name__)
