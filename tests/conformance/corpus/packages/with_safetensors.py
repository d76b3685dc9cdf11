import torch
from safetensors.torch import load, load_file, save, save_file, save_model

model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
save_file(model.state_dict(), "model.safetensors", metadata={"format": "pt"})
again = load_file("model.safetensors")
print({name: (t.dtype, tuple(t.shape), bool((t == model.state_dict()[name]).all()))
       for name, t in sorted(again.items())})  # fmt: skip
save_model(model, "whole.safetensors")
half = load(save({"x": torch.randn(3).bfloat16(), "y": torch.arange(4), "z": torch.tensor([True])}))
print(sorted((name, t.tolist()) for name, t in half.items()))
