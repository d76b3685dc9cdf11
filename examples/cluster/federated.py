"""Two clients train on data of their own while a server answers in inference mode.

    python examples/cluster/federated.py [ray|dask]

After each round the server's model is the average of the clients'.
"""

import threading

from local import cluster

import imode
from imode import nn, optim


def train(model, data):
    """What a client does in a round: the loss after it."""
    x, y = data[:, :4], data[:, 4:]
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def serve(model, stop, answers):
    """Answer until told to stop; the thread has its own guard, training elsewhere none."""
    question = imode.ones(1, 4)
    with imode.inference_mode():
        while not stop.wait(0.01):
            answers.append(model(question).item())


def main():
    imode.manual_seed(0)
    model = nn.Linear(4, 1)
    clients = []
    for n, shift in ((60, 0.5), (20, -0.5)):  # each sees another part of the world
        x = imode.randn(n, 4) + shift
        clients.append(imode.cat([x, x.sum(1, keepdim=True)], 1))
    stop, answers = threading.Event(), []
    server = threading.Thread(target=serve, args=(model, stop, answers))
    with cluster() as engine:
        server.start()
        for i, losses in enumerate(engine.federated(model, train, clients, rounds=5)):
            print(f"round {i}: the clients' losses", *(f"{loss:.4f}" for loss in losses))
        stop.set()
        server.join()
    print(f"{len(answers)} answers meanwhile; for a sum of 4: {model(imode.ones(1, 4)).item():.2f}")
    assert answers and losses[0] < 0.1


if __name__ == "__main__":
    main()
