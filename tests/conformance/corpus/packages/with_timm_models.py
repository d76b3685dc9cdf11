import timm
import torch

image = torch.randn(1, 3, 64, 64)
for name in ("resnet18", "mobilenetv3_small_050", "convnext_atto", "efficientnet_lite0"):
    model = timm.create_model(name, num_classes=5).eval()
    with torch.inference_mode():
        print(name, model(image))
vit = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=5)
loss = vit(image).square().sum()
loss.backward()
print(loss.item(), vit.pos_embed.grad.norm().item())
