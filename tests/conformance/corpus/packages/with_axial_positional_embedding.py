import torch
from axial_positional_embedding import AxialPositionalEmbedding

places = AxialPositionalEmbedding(dim=16, axial_shape=(4, 8), axial_dims=(6, 10))
x = torch.randn(2, 32, 16)
out = places(x) + x
out.square().mean().backward()
print(out.shape, out.mean().item(), [w.grad.abs().sum().item() for w in places.parameters()])
