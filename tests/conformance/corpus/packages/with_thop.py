import torch
from ptflops import get_model_complexity_info
from thop import profile
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                      nn.Linear(8 * 14 * 14, 10))  # fmt: skip
print(profile(model, inputs=(torch.randn(1, 3, 16, 16),), verbose=False))
print(get_model_complexity_info(model, (3, 16, 16), as_strings=False, print_per_layer_stat=False,
                                backend="pytorch"))  # fmt: skip
