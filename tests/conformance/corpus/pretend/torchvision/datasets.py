"""Data sets of a few random pictures in the shapes of the real ones."""

import numpy as np
import torch
from PIL import Image

COUNT = 256


class _Pictures(torch.utils.data.Dataset):
    shape, kinds = (28, 28), 10

    def __init__(self, root=None, train=True, transform=None, target_transform=None,
                 download=False, **options):  # fmt: skip
        self.train, self.transform, self.target_transform = train, transform, target_transform
        generator = np.random.RandomState(0 if train else 1)
        self.pictures = generator.randint(0, 256, (COUNT, *self.shape)).astype(np.uint8)
        labels = generator.randint(0, self.kinds, COUNT)
        for number, label in enumerate(labels):  # something that can be learnt
            self.pictures[number, label : label + 4] = 255
        self.data = torch.from_numpy(self.pictures)
        self.targets = torch.from_numpy(labels)
        self.classes = [str(kind) for kind in range(self.kinds)]

    train_data = test_data = property(lambda self: self.data)
    train_labels = test_labels = property(lambda self: self.targets)

    def __len__(self):
        return COUNT

    def __getitem__(self, number):
        picture, label = Image.fromarray(self.pictures[number]), int(self.targets[number])
        picture = self.transform(picture) if self.transform else picture
        return picture, self.target_transform(label) if self.target_transform else label


class MNIST(_Pictures):
    pass


class FashionMNIST(_Pictures):
    pass


class CIFAR10(_Pictures):
    shape = (32, 32, 3)


class CIFAR100(CIFAR10):
    kinds = 100


class ImageFolder(CIFAR10):
    shape = (64, 64, 3)


class FakeData(CIFAR10):
    shape = (224, 224, 3)
