import normflows
import torch

base = normflows.distributions.DiagGaussian(2)
flows = []
for _ in range(3):
    network = normflows.nets.MLP([1, 16, 2], init_zeros=True)
    flows += [normflows.flows.AffineCouplingBlock(network), normflows.flows.Permute(2, mode="swap")]
model = normflows.NormalizingFlow(base, flows)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(64, 2) * torch.tensor([1.0, 0.2])
for _ in range(5):
    loss = model.forward_kld(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print(model.sample(3)[0])
