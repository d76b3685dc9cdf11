"""Answers to many batches, computed by two workers in inference mode.

    python examples/cluster/inference.py [ray|dask]

Each worker has the model once. On Ray its weights lie in memory that both share: a further worker
takes no more of it.
"""

import time

from local import cluster

import imode
from imode import nn


def main():
    imode.manual_seed(0)
    width = 512
    layers = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(12)]
    model = nn.Sequential(*layers, nn.Linear(width, 10))
    batches = [imode.randn(256, width) for _ in range(48)]
    with imode.inference_mode():
        want = [model(batch) for batch in batches]
    with cluster() as engine:
        list(engine.map_batches(model, batches[:4]))  # the workers import imode
        began = time.perf_counter()
        answers = list(engine.map_batches(model, batches))
        took = time.perf_counter() - began
    worst = max((a - b).abs().max().item() for a, b in zip(answers, want))
    print(f"{len(answers)} batches in {took * 1000:.0f} ms; largest difference {worst:.0e}")
    assert worst < 1e-4


if __name__ == "__main__":
    main()
