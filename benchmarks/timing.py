"""Best-of times of statements, interleaved: a slow moment of the machine meets all alike.

The time is the thread's own, in which it ran: what other processes take of the machine is not in
it. So it is for what runs on one thread.
"""

import gc
import math
import time
import timeit

SHOT = 1.5e-3  # seconds of one measurement
ROUNDS = 15


def best(statements, rounds=ROUNDS, shot=SHOT):
    """Return the least seconds per run of each (code, globals) in `statements`, by key."""
    timers = {}
    for key, (code, names) in statements.items():
        timer = timeit.Timer(code, timer=time.thread_time, globals=names)
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
                least[key] = min(least[key], timer.timeit(count) / count)
    finally:
        if was_on:
            gc.enable()
    return least


def geometric_mean(ratios):
    """Return the geometric mean."""
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
