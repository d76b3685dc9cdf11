"""The same file run by Python, with PyTorch, and by `python -m imode`: both print the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "training": """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).mean((2, 3)))
net = Net()
print(net)
data = TensorDataset(torch.randn(32, 1, 6, 6), torch.randint(0, 3, (32,)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}", x.shape, x.dtype, y.dtype)
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt"))
with torch.inference_mode():
    print(net(x).argmax(1), net(x).shape, net(x).requires_grad)
""",
    "texts": """
import torch
print(torch.Size([2, 3]), torch.float32, [torch.int64], torch.strided, torch.channels_last)
print(torch.device("cpu"), torch.ones(2, dtype=torch.float64), torch.tensor([True]))
print(torch.arange(3), torch.empty(0), torch.eye(2).to_sparse(), torch.ones(1).type())
print({"a": torch.ones(2).dtype}, f"{torch.zeros(1).dtype}", str(torch.complex64))
try:
    torch.ones(2).to("nowhere")
except RuntimeError as error:
    print(type(error))
try:
    torch.ones(2, dtype=torch.int32) @ torch.ones(2)
except RuntimeError as error:
    print(str(error).partition("\\n")[0])
""",
    "names of classes": """
import copy, io, pickle, torch
x = torch.ones(2, 3)
for value in (x, x.dtype, x.shape, x.device, x.layout, torch.channels_last):
    print(type(value), type(value).__module__, type(value).__qualname__)
for value in (x, x.dtype, x.shape, x.device):
    print(type(pickle.loads(pickle.dumps(value))), type(copy.deepcopy(value)))
class Sub(torch.Tensor):
    pass
print(torch.Tensor, Sub, Sub.__module__, torch.Tensor.__module__, x.max(0), torch.typename(x))
file = io.BytesIO()
torch.save({"x": x, "sizes": x.shape, "dtype": x.dtype, "device": x.device}, file)
file.seek(0)
print(torch.load(file))
""",
    "bases that packages ask for": """
import torch
from torch import nn
from torch.nn.modules import activation, batchnorm, container, conv, dropout, instancenorm, linear
from torch.nn.modules import loss, padding, pooling
bases = [
    batchnorm._BatchNorm, batchnorm._NormBase, batchnorm._LazyNormBase, instancenorm._InstanceNorm,
    dropout._DropoutNd, pooling._MaxPoolNd, pooling._AvgPoolNd, pooling._AdaptiveAvgPoolNd,
    pooling._AdaptiveMaxPoolNd, pooling._LPPoolNd, pooling._MaxUnpoolNd, padding._ConstantPadNd,
    padding._ReflectionPadNd, padding._ReplicationPadNd, padding._CircularPadNd,
    padding.ConstantPad2d,
    conv._ConvNd, conv._ConvTransposeNd, conv._LazyConvXdMixin, conv.LazyConv2d, linear.Bilinear,
    loss.TripletMarginLoss, loss._Loss, loss._WeightedLoss, activation.MultiheadAttention,
    pooling.FractionalMaxPool2d, container.ParameterList, linear.LazyLinear,
    instancenorm.LazyInstanceNorm1d,
]
from torch.nn.modules.module import _addindent, _IncompatibleKeys
from torch.nn.modules.transformer import _get_activation_fn, _get_clones
print(_IncompatibleKeys([], []), _addindent("a", 2))
print(_get_activation_fn("relu") is nn.functional.relu)
for name in dir(nn):
    cls = getattr(nn, name) if name != "Container" else None
    if isinstance(cls, type) and issubclass(cls, nn.Module):
        print(name, [base.__name__ for base in bases if issubclass(cls, base)])
""",
    "names of torch._C": """
import torch
class Plain(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl
class Meta(torch._C._TensorMeta):
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or getattr(instance, "marked", False)
class Marked(torch.Tensor, metaclass=Meta):
    pass
x = torch.ones(2)
print(type(x.as_subclass(Plain) * 2).__name__, isinstance(x.as_subclass(Marked) * 2, Marked))
found = [isinstance(x, Marked)]
x.marked = True
print(torch._C._is_tracing(), torch._C._get_tracing_state())
print(found, isinstance(x, Marked), isinstance(torch.nn.Parameter, torch._C._TensorMeta))
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_prints_the_same(tmp_path, program):
    script = tmp_path / "script.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    printed = []
    for arguments in ([], ["-m", "imode"]):
        done = subprocess.run(
            [sys.executable, *arguments, str(script)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines())
    assert printed[0] == printed[1]
