import torch
from ema_pytorch import EMA
from lion_pytorch import Lion

model = torch.nn.Linear(3, 2)
ema = EMA(model, beta=0.9, update_after_step=0, update_every=1)
optimizer = Lion(model.parameters(), lr=1e-2, weight_decay=1e-2)
x = torch.randn(5, 3)
for _ in range(6):
    optimizer.zero_grad()
    model(x).square().sum().backward()
    optimizer.step()
    ema.update()
print(model(x), ema(x))
