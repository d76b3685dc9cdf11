"""Kullback and Leibler's divergence between distributions, and who computes it.

The formulas are registered for pairs of classes: those of one family in `_kl_same`, those of two
in `_kl_mixed`.
"""

from . import _kl_mixed, _kl_same  # noqa: F401 - they register
from ._kl import _KL_REGISTRY, kl_divergence, register_kl  # noqa: F401

__all__ = ["kl_divergence", "register_kl"]
