import torch
from captum.attr import DeepLift, IntegratedGradients, LayerConductance, Occlusion, Saliency

model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)).eval()
x = torch.randn(2, 4)
print(IntegratedGradients(model).attribute(x, target=1, n_steps=20))
print(Saliency(model).attribute(x.requires_grad_(), target=0))
print(DeepLift(model).attribute(x, target=2))
print(Occlusion(model).attribute(x, sliding_window_shapes=(1,), target=1))
print(LayerConductance(model, model[1]).attribute(x, target=1, n_steps=10))
