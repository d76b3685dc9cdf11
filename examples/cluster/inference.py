"""Answers to many batches, computed in inference mode by one worker, then by two.

    python examples/cluster/inference.py [ray|dask]

Each worker has the model once. On Ray its weights lie in memory that both share: a further worker
takes no more of it. Prints what a worker adds: the time to start it, its share of the work, memory.
"""

import os
import time
from pathlib import Path

from local import cluster

import imode
from imode import nn


def network(width=512):
    layers = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(12)]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def memory():
    """MB of the processes that this one began, and they began; None where the system is not Linux.

    What several share is counted once.
    """
    if not os.path.exists("/proc/self/smaps_rollup"):
        return None
    found, parents, total = {os.getpid()}, {}, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # ended meanwhile
            continue
    for process in sorted(parents):  # parents first, but where numbers begin again
        if parents[process] in found:
            found.add(process)
            try:
                rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
            except OSError:
                continue
            total += int(rollup.partition("\nPss:")[2].split()[0])
    return total / 1e3


def measure(workers, model, batches, want):
    """Compute the answers; return the seconds to start, the seconds of the work, the memory."""
    begun = time.perf_counter()
    with cluster(workers=workers) as engine:
        list(engine.map_batches(model, batches[: 2 * workers]))  # the workers import imode
        started, least = time.perf_counter() - begun, float("inf")
        for _ in range(3):
            begun = time.perf_counter()
            answers = list(engine.map_batches(model, batches, per_task=4))
            least = min(least, time.perf_counter() - begun)
        for answer, wanted in zip(answers, want, strict=True):
            imode.testing.assert_close(answer.clone(), wanted.clone(), rtol=0, atol=1e-4)
        return started, least, memory()


def main():
    imode.manual_seed(0)
    model = network()
    batches = [imode.randn(256, 512) for _ in range(48)]
    with imode.inference_mode():
        want = [model(batch) for batch in batches]
    print("workers  started in  48 batches in  times as fast  all processes")
    alone = None
    for workers in (1, 2):
        started, took, used = measure(workers, model, batches, want)
        alone = alone or took
        times, used = alone / took, "" if used is None else f"{used:7.0f} MB"
        print(f"{workers:7}  {started:8.1f} s  {took * 1000:10.0f} ms  {times:13.2f}  {used}")


if __name__ == "__main__":
    main()
