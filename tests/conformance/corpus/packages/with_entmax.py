import torch
from entmax import entmax15, entmax_bisect, sparsemax

x = torch.randn(3, 6, requires_grad=True)
for function in (sparsemax, entmax15):
    print(function(x, dim=-1))
loss = entmax_bisect(x, alpha=1.3).pow(2).sum()
loss.backward()
print(loss.item(), x.grad)
