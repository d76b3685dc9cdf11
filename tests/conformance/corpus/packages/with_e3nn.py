import torch
from e3nn import o3

x = torch.randn(5, 3)
print(o3.spherical_harmonics([0, 1, 2], x, normalize=True))
print(o3.wigner_3j(1, 1, 2))
one, two = o3.Irreps("2x0e + 1x1o"), o3.Irreps("1x0e + 1x1o")
product = o3.FullyConnectedTensorProduct(one, two, "1x0e + 1x1o")
print(product(one.randn(4, -1), two.randn(4, -1)))
