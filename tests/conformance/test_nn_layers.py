"""Every layer and loss in imode and in PyTorch: starting values, repr, state, results, grads."""

import copy

import numpy as np
import pytest

from tests.conformance.side_by_side import agrees, error, run, same

# ---- every module: starting values, repr, state, forward, backward ----

IMAGE, SEQUENCE, ROW = (4, 6, 8, 8), (4, 6, 10), (4, 6)
VOLUME = (2, 6, 5, 4, 6)
MODULES = [
    ("Linear(6, 3)", ROW),
    ("Linear(6, 3, bias=False)", ROW),
    ("Linear(6, 3)", (2, 5, 6)),
    ("Linear(6, 3)", (6,)),
    ("Identity(1, 2, a=3)", ROW),
    ("Conv1d(6, 4, 3)", SEQUENCE),
    ("Conv1d(6, 4, 3, padding='same')", SEQUENCE),
    ("Conv1d(6, 4, 2, stride=2, groups=2, bias=False)", SEQUENCE),
    ("Conv2d(6, 4, 3)", IMAGE),
    ("Conv2d(6, 4, (3, 2), stride=2, padding=1)", IMAGE),
    ("Conv2d(6, 4, 3, dilation=2, padding=2, groups=2)", IMAGE),
    ("Conv2d(6, 4, 3, padding='same', padding_mode='reflect')", IMAGE),
    ("Conv2d(6, 4, 3, padding=1, padding_mode='circular')", IMAGE),
    ("Conv2d(6, 4, 3, padding=1, padding_mode='replicate')", IMAGE),
    ("BatchNorm1d(6)", ROW),
    ("BatchNorm1d(6)", SEQUENCE),
    ("BatchNorm1d(6, affine=False)", ROW),
    ("BatchNorm1d(6, track_running_stats=False)", ROW),
    ("BatchNorm1d(6, momentum=None, eps=1e-3)", ROW),
    ("BatchNorm1d(6, bias=False)", ROW),
    ("BatchNorm2d(6)", IMAGE),
    ("LayerNorm(6)", ROW),
    ("LayerNorm((6, 10), elementwise_affine=False)", SEQUENCE),
    ("LayerNorm([10], bias=False)", SEQUENCE),
    ("GroupNorm(3, 6)", IMAGE),
    ("GroupNorm(2, 6, affine=False)", SEQUENCE),
    ("Dropout(0.0)", ROW),
    ("Dropout(1.0)", ROW),
    ("Dropout(0.3)", IMAGE),
    ("Dropout2d(0.5)", IMAGE),
    ("Dropout1d(0.5)", SEQUENCE),
    ("Flatten()", IMAGE),
    ("Flatten(0, 2)", IMAGE),
    ("DataParallel(nn.Linear(3, 2))", (2, 3)),
    ("Unflatten(1, (2, 3))", ROW),
    ("PixelShuffle(2)", (2, 4, 3, 3)),
    ("PixelUnshuffle(2)", IMAGE),
    ("MaxPool1d(2)", SEQUENCE),
    ("MaxPool2d(2)", IMAGE),
    ("MaxPool2d((3, 2), stride=2, padding=1, ceil_mode=True)", IMAGE),
    ("AvgPool1d(3, stride=2, padding=1)", SEQUENCE),
    ("AvgPool2d(2)", IMAGE),
    ("AvgPool2d(3, 2, 1, count_include_pad=False)", IMAGE),
    ("AdaptiveAvgPool1d(3)", SEQUENCE),
    ("AdaptiveAvgPool2d((3, None))", IMAGE),
    ("AdaptiveAvgPool2d(1)", IMAGE),
    ("AdaptiveMaxPool1d(3)", SEQUENCE),
    ("AdaptiveMaxPool2d((None, 3))", IMAGE),
    ("ConstantPad1d(2, 3.5)", SEQUENCE),
    ("ConstantPad2d((1, 2, 0, 1), -1)", IMAGE),
    ("ZeroPad1d((1, 2))", SEQUENCE),
    ("ZeroPad2d(1)", IMAGE),
    ("ReflectionPad1d(2)", SEQUENCE),
    ("ReflectionPad2d((1, 2, 3, 0))", IMAGE),
    ("ReplicationPad1d(2)", SEQUENCE),
    ("ReplicationPad2d(1)", IMAGE),
    ("CircularPad1d(2)", SEQUENCE),
    ("CircularPad2d((1, 0, 2, 0))", IMAGE),
    ("Conv3d(6, 4, (2, 1, 2), 2, padding=1, padding_mode='replicate')", VOLUME),
    ("Conv3d(6, 4, 2, padding='same', bias=False)", VOLUME),
    ("ConvTranspose1d(6, 6, 3, 2, 1, 1, groups=3)", SEQUENCE),
    ("ConvTranspose2d(6, 4, (2, 3), dilation=2, bias=False)", IMAGE),
    ("ConvTranspose3d(6, 2, 2, stride=2)", VOLUME),
    ("BatchNorm3d(6)", VOLUME),
    ("InstanceNorm1d(6)", SEQUENCE),
    ("InstanceNorm2d(6, track_running_stats=True)", IMAGE),
    ("InstanceNorm3d(6, affine=True, bias=False)", VOLUME),
    ("RMSNorm(10)", SEQUENCE),
    ("RMSNorm((8, 8), eps=0.1, elementwise_affine=False)", IMAGE),
    ("LocalResponseNorm(2)", SEQUENCE),
    ("LocalResponseNorm(3, 0.1, 0.5, 2.0)", IMAGE),
    ("MaxPool3d((1, 2, 2), 1)", VOLUME),
    ("AvgPool3d(2, padding=1, count_include_pad=False)", VOLUME),
    ("AdaptiveAvgPool3d((None, 2, 1))", VOLUME),
    ("AdaptiveMaxPool3d(2)", VOLUME),
    ("LPPool1d(2, 3)", SEQUENCE),
    ("LPPool2d(3, (2, 3), 1)", IMAGE),
    ("LPPool3d(2, 2)", VOLUME),
    ("Upsample(scale_factor=2)", SEQUENCE),
    ("Upsample((4, 9), mode='bicubic')", IMAGE),
    ("Upsample(5, mode='trilinear', align_corners=True)", VOLUME),
    ("UpsamplingNearest2d(9)", IMAGE),
    ("UpsamplingBilinear2d(scale_factor=2)", IMAGE),
    ("Unfold((2, 3), 2, 1, (1, 2))", IMAGE),
    ("Fold((2, 6), (1, 3), padding=(0, 1))", (2, 6, 12)),
    ("ChannelShuffle(3)", SEQUENCE),
    ("ConstantPad3d(1, 2.5)", VOLUME),
    ("ZeroPad3d((0, 1, 2, 0, 1, 0))", VOLUME),
    ("ReflectionPad3d(1)", VOLUME),
    ("ReplicationPad3d((1, 2, 0, 1, 1, 0))", VOLUME),
    ("CircularPad3d(1)", VOLUME),
    ("Hardshrink()", ROW),
    ("Softshrink(0.2)", ROW),
    ("ReLU()", ROW),
    ("ReLU6()", ROW),
    ("LeakyReLU(0.2)", ROW),
    ("ELU()", ROW),
    ("CELU(0.5)", ROW),
    ("SELU()", ROW),
    ("GELU()", ROW),
    ("GELU('tanh')", ROW),
    ("SiLU()", ROW),
    ("Mish()", ROW),
    ("Sigmoid()", ROW),
    ("LogSigmoid()", ROW),
    ("Tanh()", ROW),
    ("Tanhshrink()", ROW),
    ("Softplus()", ROW),
    ("Softplus(2, 1)", ROW),
    ("Softsign()", ROW),
    ("Softmax(dim=1)", ROW),
    ("Softmin(dim=1)", ROW),
    ("LogSoftmax(dim=-1)", ROW),
    ("Softmax2d()", IMAGE),
    ("Hardtanh(-0.5, 0.5)", ROW),
    ("Hardswish()", ROW),
    ("Hardsigmoid()", ROW),
    ("Threshold(0.1, 20)", ROW),
    ("PReLU()", ROW),
    ("PReLU(6)", IMAGE),
    ("GLU()", ROW),
    ("Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))", ROW),
]


@pytest.mark.parametrize("source, shape", MODULES, ids=[f"{s}-{len(d)}d" for s, d in MODULES])
def test_module(lib, torch, source, shape):
    data = np.random.randn(*shape).astype("float32")

    def whole(lib):
        module = eval(f"nn.{source}", {"nn": lib.nn})
        x = lib.tensor(data.copy(), requires_grad=True)
        out = module(x)
        # Weights that differ: the plain sum of a normalised output has no gradient.
        (out * lib.linspace(-1, 1, out.numel()).view(out.shape)).sum().backward()
        grads = {name: p.grad for name, p in module.named_parameters()}
        started = dict(module.named_parameters())
        trained = copy.deepcopy(module.state_dict())
        module.eval()
        return [
            repr(module),
            started,
            trained,
            [name for name, _ in module.named_buffers()],
            out,
            x.grad,
            grads,
            module(x),
        ]

    same(run(whole, lib), run(whole, torch), source)


LOSSES = ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss", "KLDivLoss"]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", [*LOSSES, "BCELoss"])
def test_loss(lib, torch, name, reduction):
    data, wanted = np.random.rand(2, 4, 3).astype("float32")

    def whole(lib):
        loss = getattr(lib.nn, name)(reduction=reduction)
        x = lib.tensor(data, requires_grad=True)
        out = loss(x, lib.tensor(wanted))
        out.sum().backward()
        return [repr(loss), out, x.grad]

    same(run(whole, lib), run(whole, torch))


@pytest.mark.parametrize(
    "options",
    [
        "",
        "reduction='sum'",
        "reduction='none'",
        "ignore_index=1",
        "weight=w",
        "weight=w, ignore_index=2",
    ],
)
@pytest.mark.parametrize("name", ["CrossEntropyLoss", "NLLLoss"])
def test_class_loss(lib, torch, name, options):
    data = np.random.randn(5, 4).astype("float32")

    def whole(lib):
        w = lib.tensor([0.1, 0.2, 0.3, 0.4])
        loss = eval(f"nn.{name}({options})", {"nn": lib.nn, "w": w})
        x = lib.tensor(data, requires_grad=True)
        out = loss(x, lib.tensor([0, 1, 2, 3, 1]))
        out.sum().backward()
        return [repr(loss), loss.state_dict(), out, x.grad]

    same(run(whole, lib), run(whole, torch))


@agrees
def test_cross_entropy_other_targets(lib):
    x = lib.randn(3, 4)
    soft = lib.softmax(lib.randn(3, 4), 1)
    smooth = lib.nn.CrossEntropyLoss(label_smoothing=0.2)
    return [
        lib.nn.CrossEntropyLoss()(x, soft),
        smooth(x, soft),
        smooth(x, lib.tensor([0, 3, 2])),
        lib.nn.CrossEntropyLoss()(lib.randn(2, 4, 3), lib.zeros(2, 3, dtype=lib.int64)),
    ]


@agrees
def test_embedding(lib):
    table = lib.nn.Embedding(10, 3, padding_idx=-2)
    out = table(lib.tensor([[1, 8], [8, 2]]))
    out.sum().backward()
    fixed = lib.nn.Embedding.from_pretrained(lib.ones(2, 2))
    return [repr(table), out, table.weight, table.weight.grad, repr(fixed), fixed.weight]


@agrees
def test_tables_and_losses_show_what_they_were_given(lib):
    return [
        repr(lib.nn.Embedding(3, 2, sparse=True)),
        repr(lib.nn.TripletMarginWithDistanceLoss(margin=2.0)),
    ]


@agrees
def test_a_bag_by_frequency_divides_by_what_pytorch_does(lib):
    grads = []
    for mode in ("sum", "mean"):
        for indices, offsets in (([1, 1, 3], [0]), ([4, 4, 0, 0, 0, 1], [0, 2]), ([2], [0])):
            table = lib.nn.EmbeddingBag(5, 2, scale_grad_by_freq=True, mode=mode, padding_idx=0)
            table(lib.tensor(indices), lib.tensor(offsets)).sum().backward()
            grads.append(table.weight.grad)
    return grads


@agrees
def test_embedding_errors(lib):
    E = lib.nn.Embedding
    return [
        error(lambda: E(3, 2, padding_idx=3)),
        error(lambda: E(3, 2, padding_idx=-4)),
        error(lambda: E.from_pretrained(lib.ones(2))),
        error(lambda: E(3, 2, _weight=lib.ones(2, 2))),
        error(lambda: E(3, 2)(lib.tensor([3]))),
    ]


# ---- bad arguments, old ones ----


@agrees
def test_constructor_errors(lib):
    nn = lib.nn
    return [
        error(lambda: nn.Conv2d(3, 4, 3, groups=0)),
        error(lambda: nn.Conv2d(3, 4, 3, groups=2)),
        error(lambda: nn.Conv2d(4, 3, 3, groups=2)),
        error(lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2)),
        error(lambda: nn.Conv2d(3, 4, 3, padding="odd"))[0],
        error(lambda: nn.Conv2d(3, 4, 3, padding_mode="odd"))[0],
        error(lambda: nn.GroupNorm(3, 4)),
        error(lambda: nn.Dropout(2)),
        error(lambda: nn.Hardtanh(1, 0)),
        error(lambda: nn.HuberLoss(delta="x")),
        error(lambda: nn.Unflatten(1, 3)),
        error(lambda: nn.Unflatten(1, (2, "x"))),
        error(lambda: nn.BatchNorm1d(3)(lib.ones(3))),
        error(lambda: nn.BatchNorm2d(3)(lib.ones(3, 3))),
        error(lambda: nn.BatchNorm1d(3)(lib.ones(1, 3))),
        error(lambda: nn.Softmax2d()(lib.ones(3))),
        error(lambda: nn.Linear(3, 2)(lib.ones(2, 4))),
        error(lambda: nn.Conv2d(3, 2, 3)(lib.ones(1, 2, 5, 5))),
        error(lambda: nn.Parameter(lib.ones(1, dtype=lib.int64))),
    ]


@agrees
def test_functions_of_both_modules(lib):
    F = lib.nn.functional
    x = lib.randn(2, 3)
    same = lib.nn.CosineSimilarity()
    return [
        F.tanh(x),
        F.sigmoid(x),
        F.relu_(x.clone()),
        F.celu_(x.clone()),
        repr(same),
        F.threshold_(x.clone(), 0.1, 2.0),
        same(x, x + 1),
        F.relu(x, inplace=False),
    ]


@agrees
def test_legacy_reduction(lib):
    nn = lib.nn
    return [
        nn.MSELoss(size_average=False).reduction,
        nn.MSELoss(reduce=False).reduction,
        nn.L1Loss(True, True).reduction,
    ]


# ---- what subclasses of layers call and change ---------------------------------------------------


@agrees
def test_methods_that_subclasses_of_layers_use(lib):
    nn, F = lib.nn, lib.nn.functional

    class Standardized(nn.Conv2d):
        def forward(self, x):
            weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
            return self._conv_forward(x, weight, self.bias)

    class Doubled(nn.Conv1d):
        def _conv_forward(self, input, weight, bias):
            return super()._conv_forward(input, weight * 2, bias)

    class Scaled(nn.ConvTranspose2d):
        def forward(self, x, output_size=None):
            more = self._output_padding(
                x, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation
            )
            return F.conv_transpose2d(
                x, self.weight * 2, self.bias, self.stride, self.padding, more, self.groups
            )

    class AnyDims(nn.BatchNorm2d.__mro__[1]):
        def _check_input_dim(self, input):
            seen.append(input.dim())

    class Statistics(nn.BatchNorm2d.__mro__[2]):
        def forward(self, x):
            return (x - self.running_mean) * self.weight

    seen = []
    up = Scaled(2, 3, 3, stride=2, padding=1)
    x = lib.randn(2, 2, 5, 5)
    return [
        Standardized(2, 3, 3, padding=1, padding_mode="circular")(x), Doubled(5, 2, 3)(x[0]),
        up(x), up(x, (10, 10)), up(x, (2, 3, 9, 10)), error(lambda: up(x, (20, 20))),
        AnyDims(2)(x), AnyDims(2)(x[:, :, 0]), seen, Statistics(5)(x),
    ]  # fmt: skip


@agrees
def test_helpers_of_transformers(lib):
    t, F = lib.nn.modules.transformer, lib.nn.functional
    q, k, v = lib.randn(3, 2, 4), lib.randn(5, 2, 4), lib.randn(5, 2, 4)
    w, b = lib.randn(12, 4), lib.randn(12)
    hidden, causal = lib.tensor([[False, True]]), t._generate_square_subsequent_mask(3)
    return [
        [type(layer).__name__ for layer in t._get_clones(lib.nn.Linear(1, 1), 2)],
        t._get_activation_fn("gelu")(q), error(lambda: t._get_activation_fn("silu")), causal,
        [t._detect_is_causal_mask(m) for m in (None, causal, causal[:2], causal * 0)],
        t._detect_is_causal_mask(causal, False), t._detect_is_causal_mask(causal, size=2),
        t._get_seq_len(q, False), t._get_seq_len(q, True), t._get_seq_len(q[0], True),
        F._canonical_mask(hidden, "mask", F._none_or_dtype(hidden), "other", lib.float32),
        F._canonical_mask(causal, "mask", None, "", lib.float32), F._none_or_dtype(None),
        error(lambda: F._canonical_mask(lib.ones(1).long(), "mask", None, "", lib.float32)),
        error(lambda: F._none_or_dtype(3)), F._in_projection_packed(q, q, q, w, b),
        F._in_projection_packed(q, k, k, w, b), F._in_projection_packed(q, k, v, w),
        F._in_projection(q, k, v, w[:4], w[4:8], w[8:], b[:4], None, b[8:]),
        error(lambda: F._in_projection(q, k, v, w, w, w)),
        F._mha_shape_check(q, k, v, None, None, 2),
        F._mha_shape_check(q[0], k[0], v[0], None, None, 2),
        error(lambda: F._mha_shape_check(q, k[0], v, None, None, 2)),
        error(lambda: F._check_key_padding_mask(lib.ones(2, 3), 3, 1)),
    ]  # fmt: skip


@agrees
def test_blocks_that_subclasses_of_transformer_layers_call(lib):
    nn = lib.nn
    kept = {"dropout": 0.0, "batch_first": True}

    class Encoder(nn.TransformerEncoderLayer):
        def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
            x = self.norm1(src + self._sa_block(src, src_mask, src_key_padding_mask))
            return self.norm2(x + self._ff_block(x) * 2)

    class Decoder(nn.TransformerDecoderLayer):
        def forward(self, tgt, memory, **masks):
            x = self.norm1(tgt + self._sa_block(tgt, attn_mask=None, key_padding_mask=None))
            x = x + self._mha_block(x, memory, None, None, is_causal=False)
            return self.norm3(x + self._ff_block(x) * 2)

    x = lib.randn(2, 5, 8)
    layers = Encoder(8, 2, 16, **kept), Decoder(8, 2, 16, **kept), nn.LSTM(8, 3, 2)
    encoded = nn.TransformerEncoder(layers[0], 2)(x)
    return [
        encoded, layers[1](encoded, x), layers[2]._flat_weights_names,
        layers[2]._call_impl(x)[0], layers[2]._wrapped_call_impl(x)[0],
    ]  # fmt: skip
