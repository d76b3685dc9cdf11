import torch
from thop import clever_format, profile
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                      nn.Linear(8 * 14 * 14, 10))  # fmt: skip
work, weights = profile(model, inputs=(torch.randn(1, 3, 16, 16),), verbose=False)
print(work, weights, clever_format([work, weights], "%.3f"))
cells = nn.ModuleList([nn.LSTM(4, 8, batch_first=True)])
print(profile(cells[0], inputs=(torch.randn(2, 5, 4),), verbose=False))
