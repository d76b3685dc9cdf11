import torch
import torchcde


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4 * 3)

    def forward(self, t, z):
        return self.linear(z).tanh().view(*z.shape[:-1], 4, 3)


field, start, end = Field(), torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
path = torch.linspace(0, 1, 8).repeat(5, 1).unsqueeze(-1)
path = torch.cat([path, torch.rand(5, 8, 2)], dim=-1)
coefficients = torchcde.hermite_cubic_coefficients_with_backward_differences(path)
X = torchcde.CubicSpline(coefficients)
z = torchcde.cdeint(X=X, func=field, z0=start(X.evaluate(X.interval[0])), t=X.interval,
                    method="rk4", options={"step_size": 0.1})  # fmt: skip
loss = end(z[:, -1]).square().mean()
loss.backward()
print(z.shape, loss.item(), field.linear.weight.grad.norm().item())
print(torchcde.LinearInterpolation(torchcde.linear_interpolation_coeffs(path)).derivative(0.4)[0])
