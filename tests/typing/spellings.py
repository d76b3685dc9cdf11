"""Names and spellings of scripts, in which a checker must find nothing: run by `make lint`."""

from collections.abc import Iterator

import imode
import imode.nn as nn
import imode.nn.functional as F
from imode import Tensor, device, dtype
from imode.autograd import graph
from imode.nn import init
from imode.nn.utils import clip_grad_norm_, parameters_to_vector
from imode.optim import SGD, AdamW, Optimizer
from imode.optim.lr_scheduler import CosineAnnealingLR
from imode.utils.data import DataLoader, Dataset, random_split


class Digits(Dataset):
    def __init__(self, n: int) -> None:
        self.x = imode.randn(n, 3)

    def __len__(self) -> int:
        return self.x.size(0)

    def __getitem__(self, i: int) -> Tensor:
        return self.x[i]


class Block(nn.Module):
    gain: nn.Parameter

    def __init__(self, width: int, kind: dtype = imode.float32) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width, dtype=kind) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.register_parameter("gain", nn.Parameter(imode.ones(1)))
        init.xavier_uniform_(self.layers[0].weight)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = F.gelu(layer(x)) + x
        if mask is not None:
            x = x.masked_fill(mask, float("-inf"))
        return self.norm(x) * self.gain


def batches(data: Dataset) -> Iterator[Tensor]:
    yield from DataLoader(data, batch_size=2)


def step(optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


cpu: device = imode.device("cpu")
block = Block(3).to(cpu).train()
opt = AdamW(block.parameters(), lr=1e-3)
opt2 = SGD([{"params": block.norm.parameters(), "lr": 0.1}], lr=0.01, momentum=0.9)
sched = CosineAnnealingLR(opt, T_max=10)
one, two = random_split(Digits(4), [2, 2])
for batch in batches(one):
    out = block(batch)
    assert out.shape == imode.Size([2, 3])
    step(opt, F.mse_loss(out, imode.zeros_like(out)))
    clip_grad_norm_(block.parameters(), 1.0)
sched.step()
v = parameters_to_vector(block.parameters())
n: int = v.shape.numel()
q: Tensor = imode.linalg.norm(v)
m, s = imode.std_mean(v)
top = v.topk(3)
a: Tensor = top.values
i: Tensor = top.indices
u = imode.unique(v)
c = imode.cat([v, v], dim=0).view(2, -1).permute(1, 0).contiguous()
c[0] = 1
c[:, 1] += 2
c += 1
d = c.to(imode.float64).to("cpu")
e: float = d.sum().item()
z = imode.tensor([1 + 2j]).abs()
f = imode.arange(0, 10, 2).float().reshape(-1, 1)
info = imode.finfo(imode.float32).eps
for row in c:
    row.tolist()
print(len(c), bool((c > 0).all()), int(c.argmax()), imode.get_default_dtype())
with imode.inference_mode(), imode.counters() as counts:
    c.sum()
with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    pass
with imode.autograd.detect_anomaly():
    pass
with imode.set_grad_enabled(False):
    pass
k = {name: p.shape for name, p in block.named_parameters()}
h = block.register_forward_hook(lambda mod, args, res: None)
h.remove()
x = imode.ones(2, requires_grad=True)
x.register_hook(print)
x.sum().backward()
g = x.grad
assert g is not None
g.zero_()
b = imode.broadcast_tensors(x, x)[0]
np_x = x.detach().numpy()
t = imode.from_numpy(np_x)
w = imode.where(x > 0, x, -x)
y = x @ x
y2 = 2**x
y3 = x // 2 % 3
y4 = ~(x > 0) & (x < 3)
r = imode.randint(0, 5, (2, 2), dtype=imode.int64)
p = imode.rand(2, 3, generator=imode.Generator())
imode.save({"a": p}, "model")
st = imode.load("model")
sq = x[None].squeeze(0).unsqueeze(-1).expand(-1, 2)
ch = imode.ones(4).chunk(2)
sp = imode.ones(4).split([1, 3])
mx = imode.max(x), imode.max(x, 0)
nn.init.normal_(x.detach(), std=0.02)
new = x.new_zeros(2, 3, dtype=imode.float64)
into = imode.zeros(2, 3, out=new)
