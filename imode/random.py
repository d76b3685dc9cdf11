"""The stream of random numbers that operators draw from, when they are given no generator."""

from contextlib import contextmanager

from imode import (
    default_generator,
    device,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from imode.errors import names_of as _names_of

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]


def thread_safe_generator():
    """Return the generator of a worker of `utils.data`: None, which is the default one."""
    return None


@contextmanager
def fork_rng(
    devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"
):
    """A block after which the stream goes on as if nothing had been drawn in it.

    Raises AssertionError where `devices` names any: there are none but the CPU.

    >>> g = imode.manual_seed(0)
    >>> with imode.random.fork_rng():
    ...     x = imode.rand(2)
    >>> imode.rand(2).equal(x)
    True
    """
    kind = device(device_type).type
    if not enabled or kind == "meta":
        yield
        return
    if kind != "cpu" and devices is not None and list(devices):
        raise AssertionError(
            f"Torch not compiled with {kind.upper()} enabled. Tensors live on the CPU here: leave "
            "out devices="
        )
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)


__getattr__ = _names_of(__name__)
