import torch
from torchinfo import summary

network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(8 * 36, 10),
)  # fmt: skip
print(summary(network, input_size=(2, 3, 8, 8), verbose=0))
