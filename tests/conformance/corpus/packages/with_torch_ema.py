import torch
from torch_ema import ExponentialMovingAverage

model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
average = ExponentialMovingAverage(model.parameters(), decay=0.9)
x, y = torch.randn(40, 6), torch.randn(40, 1)
for _ in range(10):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update()
print(loss.item())
with average.average_parameters():
    print((model(x) - y).square().mean().item())
print(sorted(average.state_dict()))
