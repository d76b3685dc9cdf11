"""The modules, one file per family."""

from ._attention import MultiheadAttention  # noqa: F401
from .activation import *  # noqa: F403
from .adaptive import *  # noqa: F403
from .bilinear import *  # noqa: F403
from .channelshuffle import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .embedding import *  # noqa: F403
from .flatten import *  # noqa: F403
from .fold import *  # noqa: F403
from .instancenorm import *  # noqa: F403
from .lazy import *  # noqa: F403
from .linear import *  # noqa: F403
from .linear_cross_entropy import *  # noqa: F403
from .localnorm import *  # noqa: F403
from .loss import *  # noqa: F403
from .margin_loss import *  # noqa: F403
from .module import *  # noqa: F403
from .norm import *  # noqa: F403
from .padding import *  # noqa: F403
from .parallel import *  # noqa: F403
from .parameters import *  # noqa: F403
from .pixelshuffle import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .transformer import *  # noqa: F403
from .unpooling import *  # noqa: F403
from .upsampling import *  # noqa: F403

__all__ = [name for name, value in globals().items() if isinstance(value, type)]
