"""What operators are made of. The level that kernels are held to is checked here, before any."""

import os

_LEVELS = "x86-64-v2", "x86-64-v3", "x86-64-v4"
_asked = os.environ.get("IMODE_CPU_LEVEL")
if _asked and _asked not in _LEVELS:
    raise ValueError(f"IMODE_CPU_LEVEL: expected one of {', '.join(_LEVELS)}, got {_asked!r}")
