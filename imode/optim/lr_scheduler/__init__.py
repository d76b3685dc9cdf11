"""Learning rate schedules: call `step()` once per epoch (or batch), after the optimizer's."""

from imode.errors import names_of as _names_of

from . import base, combined, cyclic, decay, plateau
from .base import *  # noqa: F403
from .base import _LRScheduler  # noqa: F401
from .combined import *  # noqa: F403
from .cyclic import *  # noqa: F403
from .decay import *  # noqa: F403
from .plateau import *  # noqa: F403

_families = (base, combined, cyclic, decay, plateau)
__all__ = [name for family in _families for name in family.__all__]

__getattr__ = _names_of(__name__)
