"""Processes that multiprocessing starts afresh (spawn, forkserver): imode stands in there, too."""

import functools
import multiprocessing
from multiprocessing import spawn

from imode.standing_in import stand_in_for_torch


class _StandsIn:
    """Reading it from a pickle lets `import torch` give imode."""

    def __reduce__(self):
        return stand_in_for_torch, ()


def install():
    """Send one ahead with what each new process is told, which it reads before it imports more."""
    told = spawn.get_preparation_data

    @functools.wraps(told)
    def get_preparation_data(name):
        return {"library": _StandsIn(), **told(name)}

    spawn.get_preparation_data = get_preparation_data
    if "forkserver" in multiprocessing.get_all_start_methods():
        # From Python 3.14 on the server imports the program, and it is told nothing.
        multiprocessing.set_forkserver_preload([])
