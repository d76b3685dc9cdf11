import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
data = torch.randn(50) + 3


def model(data):
    mean = pyro.sample("mean", dist.Normal(0.0, 10.0))
    with pyro.plate("data", len(data)):
        pyro.sample("seen", dist.Normal(mean, 1.0), obs=data)


inference = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
for _ in range(10):
    print(inference.step(data))
