import torch
from hyper_connections import get_init_and_expand_reduce_stream_functions

wrap, expand, reduce = get_init_and_expand_reduce_stream_functions(4)
layers = torch.nn.ModuleList(wrap(dim=16, branch=torch.nn.Linear(16, 16)) for _ in range(3))
x = torch.randn(2, 10, 16)
out = expand(x)
for layer in layers:
    out = layer(out)
out = reduce(out)
out.square().mean().backward()
print(out.shape, out.mean().item(), sum(p.grad.abs().sum().item() for p in layers.parameters()))
