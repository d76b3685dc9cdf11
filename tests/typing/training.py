"""A script as users write it, in which a checker must find nothing: run by `make lint`."""

from typing import Any, assert_type

import imode
from imode import Tensor, nn
from imode.autograd import Function, gradcheck
from imode.utils.data import DataLoader, TensorDataset


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        x: Tensor = ctx.saved_tensors[0]
        return 2 * grad * x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2))
        self.scale = nn.Parameter(imode.ones(2))
        self.register_buffer("mean", imode.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x - self.mean) * self.scale


@imode.no_grad
def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


@imode.inference_mode()
def predict(model: nn.Module, x: Tensor) -> Tensor:
    logits: Tensor = model(x)
    return logits.softmax(-1)


def train(model: Net, loader: DataLoader) -> float:
    optimizer = imode.optim.Adam(model.parameters(), lr=1e-3)
    schedule = imode.optim.lr_scheduler.StepLR(optimizer, step_size=2)
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    schedule.step()
    return total


x: Tensor = imode.randn(16, 4)
y = imode.randint(0, 2, (16,))
values, places = x.max(dim=1)
a: Tensor = x[:, None, ..., 0] + 1
b: Tensor = 1 - x.T @ x
flags: Tensor = x > 0
shape: tuple[int, ...] = x.shape
assert_type(x.shape[0], int)
n: int = x.size(0)
number: float = float(x.sum())
text: str = str(x.dtype)
listed: list[Any] = x.tolist()
model = Net()
assert_type(count(model), int)
train(model, DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True))
assert_type(predict(model.eval(), x), Tensor)
state: dict[str, Any] = model.state_dict()
model.load_state_dict(state)
imode.save(state, "model")
again = imode.load("model")
w = imode.rand(3, dtype=imode.float64, requires_grad=True)
ok: bool = gradcheck(Square.apply, (w,))
(g,) = imode.autograd.grad((w * w).sum(), [w], create_graph=True)
with imode.no_grad(), imode.autograd.graph.save_on_cpu():
    w.mul_(2).clamp_(min=0)
handle = w.register_hook(lambda grad: grad * 2)
handle.remove()


def square(t: Tensor) -> Tensor:
    return t * t


jac = imode.autograd.functional.jacobian(square, w)
imode.manual_seed(0)
stacked = imode.stack([a, a], dim=0).mean(dim=(0, 1), keepdim=True)
out = imode.where(flags, x, 0.0)
e = imode.einsum("ij,kj->ik", x, x)
imode.set_grad_enabled(True)
