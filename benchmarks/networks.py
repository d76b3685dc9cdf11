"""Whole networks with random weights, written once for both libraries; `lib` is the library.

Each function gives (model, input, target, loss, optimizer's name) for a batch; a network that
generates has a method `generate`, which is what is timed in place of one call.
"""


def mlp(lib, batch):
    """784-512-512-10."""
    nn = lib.nn
    model = nn.Sequential(
        *(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    )
    classes = lib.arange(batch) % 10
    return model, lib.rand(batch, 784), classes, nn.functional.cross_entropy, "SGD"


def small_cnn(lib, batch):
    """Two convolutions and two linear layers on 28×28 pixels."""
    nn = lib.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10)),
    )
    classes = lib.arange(batch) % 10
    return model, lib.rand(batch, 1, 28, 28), classes, nn.functional.cross_entropy, "SGD"


def resnet18(lib, batch):
    """ResNet-18 on 3×96×96."""
    nn, relu = lib.nn, lib.nn.functional.relu

    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.norm1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.norm2 = nn.BatchNorm2d(width)
            self.past = nn.Identity()
            if stride != 1 or before != width:
                self.past = nn.Sequential(
                    nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
                )

        def forward(self, x):
            y = self.norm2(self.conv2(relu(self.norm1(self.conv1(x)))))
            return relu(y + self.past(x))

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    before = 64
    for width in (64, 128, 256, 512):
        layers += [Block(before, width, 1 + (width != 64)), Block(width, width, 1)]
        before = width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100)]
    classes = lib.arange(batch) % 100
    x = lib.randn(batch, 3, 96, 96)
    return nn.Sequential(*layers), x, classes, nn.functional.cross_entropy, "SGD"


def inverted_residual(lib, batch):
    """Expansion, a convolution of each channel alone, projection: ten such blocks on 3×96×96."""
    nn = lib.nn

    def convolution(before, width, side, stride=1, groups=1):
        return [
            nn.Conv2d(before, width, side, stride, side // 2, groups=groups, bias=False),
            nn.BatchNorm2d(width),
        ]

    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            wide = 6 * before
            self.layers = nn.Sequential(
                *(*convolution(before, wide, 1), nn.ReLU6()),
                *(*convolution(wide, wide, 3, stride, wide), nn.ReLU6()),
                *convolution(wide, width, 1),
            )
            self.residual = stride == 1 and before == width

        def forward(self, x):
            return x + self.layers(x) if self.residual else self.layers(x)

    layers, before = [*convolution(3, 16, 3, 2), nn.ReLU6()], 16
    for width, stride in ((24, 2), (24, 1), (32, 2), (32, 1), (64, 2), (64, 1), (96, 1), (96, 1),
                          (160, 2), (160, 1)):  # fmt: skip
        layers.append(Block(before, width, stride))
        before = width
    layers += [*convolution(160, 640, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    layers.append(nn.Linear(640, 100))
    classes = lib.arange(batch) % 100
    x = lib.randn(batch, 3, 96, 96)
    return nn.Sequential(*layers), x, classes, nn.functional.cross_entropy, "SGD"


def unet(lib, batch):
    """A U-Net of three levels on 3×64×64."""
    nn = lib.nn

    def double(before, width):
        layers = []
        for n in (before, width):
            layers += [nn.Conv2d(n, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self, widths=(16, 32, 64, 128)):
            super().__init__()
            self.down = nn.ModuleList(map(double, (3, *widths), widths))
            self.wider = nn.ModuleList(
                nn.ConvTranspose2d(2 * n, n, 2, 2) for n in reversed(widths[:-1])
            )
            self.up = nn.ModuleList(double(2 * n, n) for n in reversed(widths[:-1]))
            self.last = nn.Conv2d(widths[0], 1, 1)

        def forward(self, x):
            kept = []
            for layer in self.down:
                x = layer(x if not kept else nn.functional.max_pool2d(x, 2))
                kept.append(x)
            kept.pop()
            for wider, layer in zip(self.wider, self.up):
                x = layer(lib.cat((wider(x), kept.pop()), 1))
            return self.last(x)

    target = (lib.rand(batch, 1, 64, 64) > 0.5).float()
    loss = nn.functional.binary_cross_entropy_with_logits
    return UNet(), lib.randn(batch, 3, 64, 64), target, loss, "Adam"


def encoder(lib, batch):
    """A transformer's encoder: 4 layers, width 256, 4 heads, 128 tokens."""
    nn = lib.nn
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    target = lib.randn(batch, 128, 256)
    return model, lib.randn(batch, 128, 256), target, nn.functional.mse_loss, "Adam"


def decoder(lib, batch):
    """Of GPT-2's shape: 4 layers, width 256, 4 heads; 64 tokens from a cache of keys and values."""
    nn, F = lib.nn, lib.nn.functional
    width, heads, words, length = 256, 4, 1000, 64

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, past=None):
            b, n, _ = x.shape
            parts = self.project(self.norm1(x)).view(b, n, 3, heads, width // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            if past is not None:
                k, v = lib.cat((past[0], k), 2), lib.cat((past[1], v), 2)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
            x = x + self.out(y.transpose(1, 2).reshape(b, n, width))
            return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh")), (k, v)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(4))
            self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def step(self, tokens, cache):
            begun = 0 if cache[0] is None else cache[0][0].shape[2]
            x = self.words(tokens) + self.places(lib.arange(begun, begun + tokens.shape[1]))
            for i, block in enumerate(self.blocks):
                x, cache[i] = block(x, cache[i])
            return self.last(self.norm(x))

        def forward(self, tokens):
            return self.step(tokens, [None] * 4)

        def generate(self, tokens):
            cache, token = [None] * 4, tokens[:, :1]
            for _ in range(length):
                logits = self.step(token, cache)[:, -1]
                token = logits.argmax(-1, keepdim=True)
            return logits

    tokens = lib.arange(batch * length).view(batch, length) * 7 % words

    def loss(logits, targets):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return Decoder(), tokens, tokens.roll(-1, 1), loss, "Adam"


def lstm(lib, batch):
    """Two layers of LSTM of width 256 over 100 steps."""
    nn = lib.nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(64, 256, 2, batch_first=True)
            self.last = nn.Linear(256, 10)

        def forward(self, x):
            return self.last(self.lstm(x)[0][:, -1])

    classes = lib.arange(batch) % 10
    return Reader(), lib.randn(batch, 100, 64), classes, nn.functional.cross_entropy, "Adam"


NETWORKS = {
    "MLP 784-512-512-10": mlp,
    "CNN, 28×28": small_cnn,
    "ResNet-18, 96×96": resnet18,
    "inverted residuals, 96×96": inverted_residual,
    "U-Net, 64×64": unet,
    "encoder, 4 × 256, 128 tokens": encoder,
    "decoder, 4 × 256, 64 tokens": decoder,
    "LSTM, 2 × 256, 100 steps": lstm,
}
