"""The shortest whole program: fit a line, then serve it.

    PYTHONPATH=. .venv/bin/python examples/hello.py

In a clone, after `make build`.
"""

import imode
from imode import nn

x = imode.linspace(-1, 1, 64).unsqueeze(1)
y = 3 * x + 0.5
model = nn.Linear(1, 1)
optimizer = imode.optim.SGD(model.parameters(), lr=0.5)
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
with imode.inference_mode():  # nothing is recorded, nothing can go wrong later
    print(model(imode.tensor([[2.0]])))
