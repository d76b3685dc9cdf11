"""Learning rate schedules: call `step()` once per epoch (or batch), after the optimizer's."""

from . import base, combined, cyclic, decay, plateau
from .base import *  # noqa: F403
from .combined import *  # noqa: F403
from .cyclic import *  # noqa: F403
from .decay import *  # noqa: F403
from .plateau import *  # noqa: F403

_families = (base, combined, cyclic, decay, plateau)
__all__ = [name for family in _families for name in family.__all__]
