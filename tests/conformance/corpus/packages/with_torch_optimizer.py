import torch
import torch_optimizer

for name in ("AdaBelief", "AdaBound", "DiffGrad", "Lamb", "NovoGrad", "QHAdam", "RAdam", "Yogi"):
    torch.manual_seed(0)
    x = torch.randn(5, requires_grad=True)
    optimizer = getattr(torch_optimizer, name)([x], lr=0.05)
    for _ in range(10):
        optimizer.zero_grad()
        (x**2).sum().backward()
        optimizer.step()
    print(name, x)
