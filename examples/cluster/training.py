"""Training with each batch cut in two: the gradients of both workers, averaged.

    python examples/cluster/training.py [ray|dask]

The loss after each step is the same as in one process, to rounding.
"""

import copy

from local import cluster

import imode
from imode import nn, optim


def main():
    imode.manual_seed(0)
    there = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    here = copy.deepcopy(there)
    loss = nn.MSELoss()
    x = imode.randn(64, 8)
    y = x.sum(1, keepdim=True).sin()
    by_two, alone = (optim.Adam(model.parameters(), lr=0.01) for model in (there, here))
    with cluster() as engine:
        for step in range(10):
            by_two.zero_grad()
            found = engine.backward(there, loss, x, y, parts=2)
            by_two.step()

            alone.zero_grad()
            wanted = loss(here(x), y)
            wanted.backward()
            alone.step()
            print(f"step {step}: loss {found:.6f} with two workers, {wanted:.6f} in one process")
            assert abs(found - wanted) < 1e-5


if __name__ == "__main__":
    main()
