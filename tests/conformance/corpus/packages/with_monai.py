import torch
from monai.losses import DiceLoss, FocalLoss
from monai.networks.nets import UNet

torch.manual_seed(0)
network = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2))
image, mask = torch.randn(2, 1, 16, 16), torch.randint(2, (2, 1, 16, 16))
out = network(image)
loss = DiceLoss(softmax=True, to_onehot_y=True)(out, mask) + FocalLoss(to_onehot_y=True)(
    out, mask.float()
)
loss.backward()
print(out.shape, loss.item(), next(network.parameters()).grad.norm().item())
