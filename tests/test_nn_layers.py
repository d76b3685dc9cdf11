"""Layers against NumPy, containers, starting values, clipping."""

import numpy as np
import pytest

import imode
from imode import nn

F = nn.functional


def near(tensor, array):
    np.testing.assert_allclose(tensor.detach().numpy(), array, rtol=1e-5, atol=1e-6)


def test_linear():
    layer = nn.Linear(3, 2)
    x = np.random.randn(5, 3).astype("f4")
    w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    near(layer(imode.from_numpy(x)), x @ w.T + b)
    near(nn.Linear(3, 2, bias=False)(imode.zeros(1, 3)), np.zeros((1, 2)))
    assert float(abs(w).max()) <= 1 / 3**0.5 and float(abs(b).max()) <= 1 / 3**0.5


def test_conv_is_a_sum_over_windows():
    layer = nn.Conv2d(2, 3, (2, 3), stride=(2, 1), padding=1)
    x = np.random.randn(2, 2, 5, 6).astype("f4")
    w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), axis=(2, 3))[:, :, ::2]
    wanted = np.einsum("ncijkl,ockl->noij", windows, w) + b[:, None, None]
    near(layer(imode.from_numpy(x)), wanted)


def test_batch_norm_statistics():
    layer = nn.BatchNorm1d(3)
    x = np.random.randn(16, 3).astype("f4") * 4 + 1
    out = layer(imode.from_numpy(x))
    near(out, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5))
    near(layer.running_mean, 0.1 * x.mean(0))
    near(layer.running_var, 0.9 + 0.1 * x.var(0, ddof=1))
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    mean, var = layer.running_mean.numpy(), layer.running_var.numpy()
    near(layer(imode.from_numpy(x)), (x - mean) / np.sqrt(var + 1e-5))
    assert layer.num_batches_tracked.item() == 1
    with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 1D input\)"):
        layer(imode.ones(3))


def test_cumulative_batch_norm():
    layer = nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 3.0, 5.0):
        layer(imode.tensor([[value - 1], [value + 1]]))
    near(layer.running_mean, [3.0])


def test_layer_and_group_norm():
    x = np.random.randn(4, 6, 5).astype("f4")
    grouped = x.reshape(4, 2, -1)
    wanted = (grouped - grouped.mean(-1, keepdims=True)) / np.sqrt(
        grouped.var(-1, keepdims=True) + 1e-5
    )
    near(nn.GroupNorm(2, 6)(imode.from_numpy(x)), wanted.reshape(x.shape))
    wanted = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    near(nn.LayerNorm(5)(imode.from_numpy(x)), wanted)


def test_embedding():
    table = nn.Embedding(5, 2, padding_idx=0)
    assert table.weight[0].tolist() == [0, 0]
    table(imode.tensor([0, 1, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0], [0, 0]]
    assert nn.Embedding.from_pretrained(imode.ones(2, 3)).weight.requires_grad is False


def test_dropout():
    x = imode.ones(1000)
    layer = nn.Dropout(0.25)
    kept = layer(x)
    assert kept.unique().tolist() == [0, pytest.approx(1 / 0.75)]
    assert 650 < int((kept != 0).sum()) < 850
    assert layer.eval()(x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


def test_pools():
    x = np.arange(16.0, dtype="f4").reshape(1, 1, 4, 4)
    blocks = x.reshape(2, 2, 2, 2)
    near(nn.MaxPool2d(2)(imode.from_numpy(x))[0, 0], blocks.max((1, 3)))
    near(nn.AvgPool2d(2)(imode.from_numpy(x))[0, 0], blocks.mean((1, 3)))
    near(nn.AdaptiveAvgPool2d(1)(imode.from_numpy(x))[0, 0], [[x.mean()]])
    _, indices = nn.MaxPool2d(2, return_indices=True)(imode.from_numpy(x))
    assert indices.tolist() == [[[[5, 7], [13, 15]]]]


ACTIVATIONS = {
    "ReLU()": lambda x: np.maximum(x, 0),
    "ReLU6()": lambda x: np.clip(x, 0, 6),
    "LeakyReLU(0.1)": lambda x: np.where(x > 0, x, 0.1 * x),
    "ELU()": lambda x: np.where(x > 0, x, np.expm1(x)),
    "SiLU()": lambda x: x / (1 + np.exp(-x)),
    "Mish()": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "Sigmoid()": lambda x: 1 / (1 + np.exp(-x)),
    "LogSigmoid()": lambda x: -np.log1p(np.exp(-x)),
    "Tanh()": np.tanh,
    "Softplus()": lambda x: np.log1p(np.exp(x)),
    "Softsign()": lambda x: x / (1 + abs(x)),
    "Hardtanh()": lambda x: np.clip(x, -1, 1),
    "Hardswish()": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "Hardsigmoid()": lambda x: np.clip(x + 3, 0, 6) / 6,
    "Softmax(0)": lambda x: np.exp(x) / np.exp(x).sum(),
    "LogSoftmax(0)": lambda x: x - np.log(np.exp(x).sum()),
    "Threshold(0.5, 9)": lambda x: np.where(x > 0.5, x, 9),
    "PReLU()": lambda x: np.where(x > 0, x, 0.25 * x),
}


@pytest.mark.parametrize("source", ACTIVATIONS)
def test_activation(source):
    x = np.linspace(-4, 4, 33, dtype="f4")
    near(eval(f"nn.{source}")(imode.from_numpy(x)), ACTIVATIONS[source](x))


@pytest.mark.parametrize(
    "source",
    [
        "ReLU(True)",
        "ELU(inplace=True)",
        "Hardtanh(inplace=True)",
        "LeakyReLU(inplace=True)",
        "SiLU(True)",
        "Dropout(1.0, True)",
    ],
)
def test_inplace_overwrites_the_input(source):
    x = imode.tensor([-1.0, 2.0])
    layer = eval(f"nn.{source}")
    assert layer(x) is x and x.tolist() != [-1, 2]
    assert "inplace=True" in repr(layer)


LOSSES = {
    "MSELoss": lambda x, y: (x - y) ** 2,
    "L1Loss": lambda x, y: abs(x - y),
    "SmoothL1Loss": lambda x, y: np.where(abs(x - y) < 1, (x - y) ** 2 / 2, abs(x - y) - 0.5),
    "HuberLoss": lambda x, y: np.where(abs(x - y) < 1, (x - y) ** 2 / 2, abs(x - y) - 0.5),
    "BCELoss": lambda x, y: -(y * np.log(x) + (1 - y) * np.log(1 - x)),
    "BCEWithLogitsLoss": lambda x, y: np.log1p(np.exp(x)) - x * y,
    "KLDivLoss": lambda x, y: y * (np.log(y) - x),
}


@pytest.mark.filterwarnings("ignore:reduction")  # of KLDivLoss: "mean" is not its definition
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name):
    x, y = np.random.uniform(0.1, 0.9, (2, 4, 3)).astype("f4")
    each = LOSSES[name](x, y)
    tensors = imode.from_numpy(x), imode.from_numpy(y)
    near(getattr(nn, name)(reduction="none")(*tensors), each)
    near(getattr(nn, name)(reduction="sum")(*tensors), each.sum())
    near(getattr(nn, name)()(*tensors), each.mean())


def test_cross_entropy():
    x = np.random.randn(4, 3).astype("f4")
    target = np.array([0, 2, 1, 2])
    each = np.log(np.exp(x).sum(1)) - x[range(4), target]
    tensors = imode.from_numpy(x), imode.from_numpy(target)
    near(nn.CrossEntropyLoss()(*tensors), each.mean())
    near(nn.CrossEntropyLoss(ignore_index=2)(*tensors), each[[0, 2]].mean())
    near(nn.NLLLoss()(F.log_softmax(tensors[0], 1), tensors[1]), each.mean())


# ---- containers ----


def test_sequential_editing():
    seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    seq.append(nn.Tanh()).insert(0, nn.Identity())
    assert [type(m).__name__ for m in seq] == ["Identity", "Linear", "ReLU", "Tanh"]
    del seq[0]
    assert list(seq._modules) == ["0", "1", "2"] and type(seq.pop(-1)) is nn.Tanh
    assert len(seq * 2 + seq) == 6 and len(seq[:1]) == 1
    with pytest.raises(IndexError, match="index 9 is out of range"):
        seq[9]


def test_lists_and_dicts_register():
    module = nn.Module()
    module.list = nn.ModuleList([nn.Linear(1, 1)])
    module.dict = nn.ModuleDict({"a": nn.Linear(1, 1)})
    module.params = nn.ParameterList([imode.ones(1)])
    module.named = nn.ParameterDict({"p": imode.ones(1)})
    assert [name for name, _ in module.named_parameters()] == [
        "list.0.weight",
        "list.0.bias",
        "dict.a.weight",
        "dict.a.bias",
        "params.0",
        "named.p",
    ]
    with pytest.raises(NotImplementedError):
        module.list(1)
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        module.params(1)


# ---- init ----


def test_init_ranges():
    t = imode.empty(200, 100)
    assert abs(nn.init.normal_(t, 2, 0.1).mean().item() - 2) < 0.01
    bound = (6 / 300) ** 0.5
    assert 0.9 * bound < nn.init.xavier_uniform_(t).abs().max().item() <= bound
    assert abs(nn.init.kaiming_normal_(t).std().item() - (2 / 100) ** 0.5) < 0.005
    assert nn.init.trunc_normal_(t, a=-0.5, b=0.5).abs().max().item() <= 0.5
    assert nn.init.trunc_normal_(t, a=1.0, b=2.0).min().item() >= 1
    q = nn.init.orthogonal_(imode.empty(3, 5))
    near(q @ q.t(), np.eye(3))
    near(nn.init.eye_(imode.empty(2, 3)), np.eye(2, 3))
    assert not nn.init.ones_(nn.Parameter(imode.empty(2))).grad_fn


def test_same_seed_same_start():
    imode.manual_seed(3)
    first = nn.Linear(4, 4).state_dict()
    imode.manual_seed(3)
    second = nn.Linear(4, 4).state_dict()
    assert all(first[k].tolist() == second[k].tolist() for k in first)


# ---- clipping, vectors ----


def test_clip():
    params = [nn.Parameter(imode.zeros(2)), nn.Parameter(imode.zeros(1))]
    for p in params:
        p.grad = imode.full(p.shape, 2.0)
    assert nn.utils.clip_grad_norm_(params, 1.0).item() == pytest.approx(12**0.5)
    assert nn.utils.get_total_norm([p.grad for p in params]).item() == pytest.approx(1, abs=1e-5)
    nn.utils.clip_grad_value_(params, 0.1)
    assert params[0].grad.tolist() == [pytest.approx(0.1)] * 2
    params[0].grad.fill_(float("inf"))
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def test_vector_round_trip():
    net = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(net.parameters()).detach() * 2
    nn.utils.vector_to_parameters(vector, net.parameters())
    assert nn.utils.parameters_to_vector(net.parameters()).tolist() == vector.tolist()


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
def test_gradients_of_recurrent_layers_by_batches(name, layers, both):
    imode.manual_seed(0)
    by_batches = getattr(nn, name)(3, 2, layers, batch_first=True, bidirectional=both)
    by_steps = getattr(nn, name)(3, 2, layers, bidirectional=both)
    by_steps.load_state_dict(by_batches.state_dict())
    x = imode.rand(2, 4, 3)
    for _ in range(3):  # the third one is replayed
        for module, given in ((by_batches, x), (by_steps, x.transpose(0, 1))):
            module.zero_grad()
            output = module(given)[0]
            assert output._is_view() is (name == "LSTM" and module is by_batches)
            output.square().sum().backward()
        for here, there in zip(by_batches.parameters(), by_steps.parameters(), strict=True):
            assert imode.allclose(here.grad, there.grad, atol=1e-6)
    output = by_batches(x)[0]
    output.add_(1)
    if both:  # joined of two, which alone are saved
        output.sum().backward()
    else:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()
