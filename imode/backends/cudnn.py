"""cuDNN, which is not here: its switches keep what is set and change nothing."""

from contextlib import contextmanager

from imode.errors import names_of as _names_of

enabled = True
benchmark = False
benchmark_limit = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available():
    """False.

    >>> imode.backends.cudnn.is_available()
    False
    """
    return False


def version():
    """None: there is no cuDNN."""
    return None


def is_acceptable(tensor):
    """False: no tensor is on a device of CUDA's."""
    return False


def set_flags(
    _enabled=None,
    _benchmark=None,
    _benchmark_limit=None,
    _deterministic=None,
    _allow_tf32=None,
    _fp32_precision="none",
):
    """Set those that are not None; return all as they were, in this order."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    values = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32)
    before = tuple(globals()[name] for name in (*names, "fp32_precision"))
    for name, value in zip(names, values, strict=True):
        if value is not None:
            globals()[name] = value
    globals()["fp32_precision"] = _fp32_precision
    return before


@contextmanager
def flags(
    enabled=False,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
    fp32_precision="none",
):
    """Set the switches for a block.

    >>> with imode.backends.cudnn.flags(benchmark=True):
    ...     imode.backends.cudnn.benchmark
    True
    """
    before = set_flags(
        enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision
    )
    try:
        yield
    finally:
        globals()["benchmark_limit"] = before[2]  # which may have been None
        set_flags(*before)


__getattr__ = _names_of(__name__)
