import torch
from geomloss import SamplesLoss

x, y = torch.rand(30, 2, requires_grad=True), torch.rand(40, 2) + 0.5
for kind in ("sinkhorn", "gaussian", "energy", "laplacian"):
    value = SamplesLoss(kind, blur=0.1, backend="tensorized")(x, y)
    (grad,) = torch.autograd.grad(value, x)
    print(kind, value.item(), grad.norm().item())
