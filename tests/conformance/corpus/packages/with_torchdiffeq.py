import torch
from torchdiffeq import odeint, odeint_adjoint

network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = network

    def forward(self, t, y):
        return self.network(y**3)


field, y0, t = Field(), torch.tensor([[2.0, 0.0]]), torch.linspace(0, 1, 6)
for method in ("dopri5", "rk4", "bosh3", "adaptive_heun", "implicit_adams"):
    print(method, odeint(field, y0, t, method=method)[-1])
loss = odeint_adjoint(field, y0, t).pow(2).sum()
loss.backward()
print(loss.item(), network[0].weight.grad.norm().item())
