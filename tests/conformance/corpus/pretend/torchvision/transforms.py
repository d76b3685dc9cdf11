"""Changes of pictures, by PIL and torch."""

import random

import numpy as np
import torch
from PIL import Image, ImageOps


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for change in self.transforms:
            picture = change(picture)
        return picture


class Lambda:
    def __init__(self, lambd):
        self.change = lambd

    def __call__(self, picture):
        return self.change(picture)


class ToTensor:
    def __call__(self, picture):
        values = np.array(picture)
        values = values[..., None] if values.ndim == 2 else values
        return torch.from_numpy(values.transpose(2, 0, 1).copy()).float().div(255)


class ToPILImage:
    def __call__(self, tensor):
        values = (tensor.detach().clamp(0, 1) * 255).byte().numpy().transpose(1, 2, 0)
        return Image.fromarray(values.squeeze())


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = (torch.as_tensor(x, dtype=torch.float32) for x in (mean, std))

    def __call__(self, tensor):
        return (tensor - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)


class Resize:
    def __init__(self, size, interpolation=Image.BILINEAR):
        self.size, self.interpolation = size, interpolation

    def __call__(self, picture):
        size = self.size
        if isinstance(size, int):
            scale = size / min(picture.size)
            size = [round(side * scale) for side in picture.size]
        else:
            size = size[::-1]
        return picture.resize(tuple(size), self.interpolation)


class CenterCrop:
    def __init__(self, size):
        self.size = (size, size) if isinstance(size, int) else size

    def __call__(self, picture):
        height, width = self.size
        left, top = (picture.width - width) // 2, (picture.height - height) // 2
        return picture.crop((left, top, left + width, top + height))


class RandomCrop(CenterCrop):
    def __init__(self, size, padding=0):
        super().__init__(size)
        self.padding = padding

    def __call__(self, picture):
        picture = ImageOps.expand(picture, self.padding)
        height, width = self.size
        left = random.randint(0, picture.width - width)
        top = random.randint(0, picture.height - height)
        return picture.crop((left, top, left + width, top + height))


class Pad:
    def __init__(self, padding):
        self.padding = padding

    def __call__(self, picture):
        return ImageOps.expand(picture, self.padding)


class RandomHorizontalFlip:
    def __call__(self, picture):
        return ImageOps.mirror(picture) if random.random() < 0.5 else picture


RandomRotation = RandomVerticalFlip = lambda *options: lambda picture: picture
RandomResizedCrop = RandomSizedCrop = lambda size, *options, **more: Resize((size, size))
Scale = Resize
