import kornia
import torch

image = torch.rand(2, 3, 16, 16, requires_grad=True)
print(kornia.color.rgb_to_hsv(image).sum().item(), kornia.color.rgb_to_lab(image).sum().item())
print(kornia.filters.gaussian_blur2d(image, (3, 3), (1.0, 1.0)).sum().item())
print(kornia.filters.sobel(image).sum().item())
turned = kornia.geometry.transform.rotate(image, torch.tensor([30.0, 60.0]))
turned.sum().backward()
print(turned.sum().item(), image.grad.norm().item())
print(
    kornia.losses.ssim_loss(image, image.flip(-1), 5).item(),
    kornia.metrics.psnr(image, turned, 1.0),
)
