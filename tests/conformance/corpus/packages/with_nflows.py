import torch
from nflows import flows, transforms
from nflows.distributions.normal import StandardNormal

transform = transforms.CompositeTransform(
    [transforms.MaskedAffineAutoregressiveTransform(2, 8), transforms.ReversePermutation(2)]
)
flow = flows.Flow(transform, StandardNormal([2]))
x = torch.randn(32, 2)
loss = -flow.log_prob(x).mean()
loss.backward()
print(loss.item(), flow.sample(3))
