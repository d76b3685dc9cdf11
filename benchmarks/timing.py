"""Best-of times of statements, interleaved: a slow moment of the machine meets all alike.

The time is the thread's own, in which it ran: what other processes take of the machine is not in
it. So it is for what runs on one thread; what runs on several is measured by `clock`, a clock on
the wall, with nothing beside it.
"""

import ctypes
import gc
import math
import mmap
import platform
import time
import timeit
from pathlib import Path

SHOT = 1.5e-3  # seconds of one measurement
ROUNDS = 15


def _cleared():
    """A function that clears the upper halves of the vector registers; None: there are none.

    Code for AVX that leaves them in use makes instructions of SSE five times slower for as long as
    the process lives: so does FBGEMM, PyTorch's embedding_bag, whatever level PyTorch is held to.
    """
    flags = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not flags.exists() or " avx " not in flags.read_text():
        return None
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xc5\xf8\x77\xc3")  # vzeroupper; ret
    function = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    function.code = code
    return function


_clear = _cleared()


def _seconds(timer, count, clock):
    """The seconds of a run, of `count`."""
    if _clear is not None:
        _clear()
    if clock is not time.thread_time:
        time.sleep(12e-3)  # the threads of PyTorch's OpenMP hold their cores for 8 ms
        timer.timeit(1)
    return timer.timeit(count) / count


def best(statements, rounds=ROUNDS, shot=SHOT, clock=time.thread_time):
    """Return the least seconds per run of each (code, globals) in `statements`, by key."""
    timers = {}
    for key, (code, names) in statements.items():
        timer = timeit.Timer(code, timer=clock, globals=names)
        timer.timeit(3)
        count = 1
        while (took := timer.timeit(count)) < shot / 4 and count < 10**6:
            count *= 4
        timers[key] = timer, max(1, round(count * shot / max(took, 1e-9)))
    least = dict.fromkeys(timers, math.inf)
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for key, (timer, count) in timers.items():
                least[key] = min(least[key], _seconds(timer, count, clock))
    finally:
        if was_on:
            gc.enable()
    return least


def steady(statements, clock=time.thread_time, shot=1e-3, limit=0.4):
    """As `best`, until the ratio of the first two has not moved by 1 % in four rounds.

    limit: about the most seconds for all; six rounds run in any case, two where one takes longer
    than half of it.
    """
    timers, least, seen = {}, {}, []
    begun = time.perf_counter()
    for key, (code, names) in statements.items():
        timer = timeit.Timer(code, timer=clock, globals=names)
        took = timer.timeit(1)
        if took < shot:
            took = min(took, timer.timeit(1), timer.timeit(1))
        # Several in a row: the first finds in the caches what another library left there.
        fewest = 6 if took < 5 * shot else 1
        timers[key] = timer, max(fewest, round(shot / max(took, 1e-7)))
        least[key] = math.inf
    gc.disable()
    try:
        while True:
            start = time.perf_counter()
            for key, (timer, count) in timers.items():
                least[key] = min(least[key], _seconds(timer, count, clock))
            first, second = [*least.values()][:2]
            seen.append(first / second)
            now = time.perf_counter()
            if len(seen) >= (2 if now - start > limit / 2 else 6) and (
                now - begun > limit or abs(seen[-1] / seen[-5:][0] - 1) < 0.01
            ):
                return least
    finally:
        gc.enable()


def geometric_mean(ratios):
    """Return the geometric mean."""
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
