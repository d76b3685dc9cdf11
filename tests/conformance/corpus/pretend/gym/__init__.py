"""gym under the name of its successor."""

from gymnasium import *  # noqa: F403
from gymnasium import make  # noqa: F401
