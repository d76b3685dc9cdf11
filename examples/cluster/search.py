"""Hyperparameters tried two at a time.

python examples/cluster/search.py [ray|dask]
"""

from local import cluster

import imode
from imode import nn, optim


def loss_of(lr, width):
    """The loss after training with some hyperparameters."""
    imode.manual_seed(0)
    x = imode.linspace(-1, 1, 64)[:, None]
    y = (4 * x).sin()
    model = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = optim.Adam(model.parameters(), lr=lr)
    for _ in range(200):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    trials = [{"lr": lr, "width": width} for lr in (0.001, 0.01, 0.1) for width in (4, 16)]
    found = []
    with cluster() as engine:
        for trial, loss in engine.search(loss_of, trials):
            print(f"{trial}: {loss:.5f}")
            found.append((loss, trial["lr"], trial["width"]))
    loss, lr, width = min(found)
    print(f"best: lr={lr}, width={width}, loss {loss:.5f}")
    assert len(found) == len(trials) and loss < 0.02


if __name__ == "__main__":
    main()
