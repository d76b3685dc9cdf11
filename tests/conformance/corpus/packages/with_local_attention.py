import torch
from local_attention import LocalAttention

q, k, v = (torch.randn(2, 4, 32, 8, requires_grad=True) for _ in range(3))
out = LocalAttention(dim=8, window_size=8, causal=True, look_backward=1, autopad=True)(q, k, v)
out.sum().backward()
print(out.norm().item(), q.grad.norm().item())
