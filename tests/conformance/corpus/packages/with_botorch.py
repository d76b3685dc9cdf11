import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP

x = torch.rand(10, 2, dtype=torch.float64)
y = (x * 3).sin().sum(1, keepdim=True)
model = SingleTaskGP(x, y)
value = LogExpectedImprovement(model, best_f=y.max())
print(value(torch.rand(4, 1, 2, dtype=torch.float64)))
