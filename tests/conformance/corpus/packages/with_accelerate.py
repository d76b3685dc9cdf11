import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 3)
data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
for a, b in data:
    loss = torch.nn.functional.mse_loss(model(a), b)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    print(loss.item())
