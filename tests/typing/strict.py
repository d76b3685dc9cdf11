"""What users write, with every type said: strict checkers find nothing. Run by `make lint`."""

from collections.abc import Callable, Iterator
from typing import Any, assert_type

import imode
import imode.nn as nn
import imode.nn.functional as F
from imode import Tensor, distributions, func, library, optim
from imode.autograd import Function, grad, gradcheck
from imode.nn.utils import clip_grad_norm_, parameters_to_vector
from imode.optim.lr_scheduler import CosineAnnealingLR, LRScheduler
from imode.utils.checkpoint import checkpoint
from imode.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split


class Digits(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, n: int) -> None:
        self.images = imode.randn(n, 1, 8, 8)
        self.labels = imode.randint(0, 10, (n,))

    def __len__(self) -> int:
        return self.labels.size(0)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.images[index], self.labels[index]


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, width, kernel_size=3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(2)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(width * 16, 10))
        self.scale = nn.Parameter(imode.ones(10))
        self.register_buffer("mean", imode.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(F.relu(self.norm(self.conv(x - 0.5))))
        return self.head(x) * self.scale


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        result: Tensor = 3 * x * x * grad_output
        return result


@library.custom_op("mine::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    return x * 2


@imode.no_grad()
def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


@imode.inference_mode()
def accuracy(model: Net, loader: DataLoader[tuple[Tensor, Tensor]]) -> float:
    right, n = 0.0, 0
    model.eval()
    for x, y in loader:
        right += (model(x).argmax(dim=1) == y).sum().item()
        n += len(y)
    return right / n


def train(model: Net, loader: DataLoader[tuple[Tensor, Tensor]], epochs: int) -> list[float]:
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule: LRScheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    losses: list[float] = []
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            losses.append(float(loss))
        schedule.step()
        print(schedule.get_last_lr()[0])
    return losses


def hook(module: nn.Module, args: tuple[Any, ...], result: Tensor) -> None:
    print(type(module).__name__, len(args), result.shape)


def double(gradient: Tensor) -> Tensor:
    return gradient * 2


def keep(gradients: list[Tensor]) -> Callable[[Tensor], None]:
    def kept(gradient: Tensor) -> None:
        gradients.append(gradient)

    return kept


data = Digits(32)
first, second = random_split(data, [24, 8])
loader = DataLoader(data, batch_size=8, shuffle=True)
net = Net()
handle = net.conv.register_forward_hook(hook)
train(net, loader, epochs=1)
handle.remove()
assert_type(count(net), int)
assert_type(accuracy(net, loader), float)
for inputs, targets in DataLoader(TensorDataset(imode.ones(4, 2), imode.ones(4)), batch_size=2):
    print(inputs.shape, targets.sum())
for number in Stream():
    assert_type(number, int)

w = imode.ones(3, requires_grad=True)
w.register_hook(double)
kept: list[Tensor] = []
w.register_hook(keep(kept))
(g,) = grad(Cube.apply(w).sum(), [w], create_graph=True)
assert_type(g, Tensor)
ok: bool = gradcheck(Cube.apply, (w.double(),))
y: Tensor = checkpoint(torso := nn.Linear(3, 3), w, use_reentrant=False)
print(torso.in_features, torso.weight.shape, y.shape, twice(w))
normal = distributions.Normal(imode.zeros(2), imode.ones(2))
assert_type(normal.sample((3,)), Tensor)
assert_type(normal.log_prob(imode.zeros(2)), Tensor)
assert_type(distributions.kl_divergence(normal, normal), Tensor)
jacobian = func.jacrev(F.relu)(w)
values, indices = w.max(dim=0)
assert_type(values, Tensor)
assert_type(w.shape[0], int)
assert_type(parameters_to_vector(net.parameters()), Tensor)
state = net.state_dict()
net.load_state_dict(state, strict=True)
for name, parameter in net.named_parameters():
    nn.init.normal_(parameter, std=0.02)
    print(name, parameter.grad is None)
for child in net.children():
    print(type(child))
lstm = nn.LSTM(3, 4)
out, (h, c) = lstm(imode.ones(2, 1, 3))
assert_type(h, Tensor)
solved = imode.linalg.solve(imode.eye(2), imode.ones(2))
spectrum: Tensor = imode.fft.fft(imode.ones(4))
imode.save(state, "model")
with imode.inference_mode(), imode.autograd.graph.save_on_cpu():
    print(imode.special.erf(imode.ones(1)).item(), imode.get_num_threads())
with imode.autocast("cpu"):
    z = net(imode.ones(1, 1, 8, 8))
sgd = optim.SGD([{"params": net.head.parameters(), "lr": 0.1}], lr=0.01, momentum=0.9)
for group in sgd.param_groups:
    group["lr"] *= 0.5
array = w.detach().numpy()
imode.from_numpy(array)
