import torch
from einops import einsum, rearrange, reduce, repeat
from einops.layers.torch import Rearrange

x = torch.randn(2, 4, 6, 3, requires_grad=True)
patches = rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=2)
means = reduce(x, "b h w c -> b c", "mean")
wide = repeat(means, "b c -> b n c", n=3)
product = einsum(patches, patches, "b i c, b j c -> b i j")
layer = torch.nn.Sequential(Rearrange("b h w c -> b (h w c)"), torch.nn.Linear(72, 2))
loss = product.sum() + wide.sum() + layer(x).sum()
loss.backward()
print(patches.shape, wide.shape, product.shape, loss.item(), x.grad.norm().item())
