import torch
from torchsummary import summary

summary(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()), (3, 8, 8), device="cpu")
