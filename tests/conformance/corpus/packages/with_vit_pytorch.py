import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT

image = torch.randn(2, 3, 32, 32)
vit = ViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64)
loss = vit(image).square().sum()
loss.backward()
print(loss.item(), vit.pos_embedding.grad.norm().item())
simple = SimpleViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64)
print(simple(image))
print(
    CCT(img_size=32, embedding_dim=32, n_conv_layers=1, num_layers=2, num_heads=2, num_classes=4)(
        image
    )
)
