import torch
import torchsde


class Equation(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.mean = torch.nn.Linear(2, 2)

    def f(self, t, y):
        return self.mean(y)

    def g(self, t, y):
        return 0.1 * torch.ones_like(y)


equation = Equation()
path = torchsde.sdeint(equation, torch.ones(3, 2), torch.linspace(0, 1, 5), dt=0.1, method="euler")
print(path.shape)
path.sum().backward()
print(equation.mean.weight.grad.shape)
