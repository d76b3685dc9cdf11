import torch
from efficientnet_pytorch import EfficientNet

model = EfficientNet.from_name("efficientnet-b0", num_classes=4).eval()
with torch.no_grad():
    print(model(torch.randn(1, 3, 64, 64)))
