import gpytorch
import torch


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


x = torch.linspace(0, 1, 30)
y = torch.sin(6 * x) + 0.1 * torch.randn(30)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(x, y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(10):
    optimizer.zero_grad()
    loss = -marginal(model(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
model.eval()
with torch.no_grad():
    print(likelihood(model(torch.linspace(0, 1, 5))).mean)
