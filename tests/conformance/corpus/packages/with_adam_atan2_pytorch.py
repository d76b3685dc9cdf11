import torch
from adam_atan2_pytorch import AdamAtan2

model = torch.nn.Linear(6, 1)
optimizer = AdamAtan2(model.parameters(), lr=1e-2, weight_decay=0.01)
x, y = torch.randn(20, 6), torch.randn(20, 1)
for _ in range(8):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
