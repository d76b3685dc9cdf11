"""Random programs with hostile hooks behave here as in PyTorch; none ends a process."""

import pytest

from . import differences
from .fuzz import check_apart, report
from .hostile import HostileGenerator

PROGRAMS = 600


def test_random(lib, torch):
    failed = [
        report(*found)
        for found in check_apart(
            lib, torch, range(PROGRAMS), differences.load(), generator=HostileGenerator
        )
    ]
    assert not failed, "\n\n".join(failed)


def test_generator_is_deterministic(torch):
    assert HostileGenerator(torch, 7).program()[0] == HostileGenerator(torch, 7).program()[0]


@pytest.mark.parametrize(
    "call",
    [
        "x * y", "x / y", "x ** y", "lib.addcmul(x, y, y)", "lib.addcdiv(x, y, y)", "x @ y",
        "lib.atan2(x, y)", "lib.where(x > y, x, y)", "lib.maximum(x, y)", "x.lerp(y, y)",
        "lib.hypot(x, y)", "F.layer_norm(x, (3,), y, y)", "F.linear(x, y[None], y[:1])",
        "F.batch_norm(x[None].expand(2, 3), None, None, y, y, True)", "x.softmax(0)", "x.sort()[0]",
        "x.gather(0, lib.tensor([1]))", "F.mse_loss(x, y)", "x.std()", "x.prod()", "x.cumprod(0)",
        "lib.cat([x, y])", "lib.einsum('i,i', x, y)", "x.masked_fill(x > 2, y.sum())", "x.norm()",
        "F.conv1d(x[None, None], y[None, None, :2], y[:1])", "x.logsumexp(0)", "x.dist(y)",
    ],
)  # fmt: skip
def test_saved_tensors_are_packed_and_unpacked_once_each_in_pytorchs_order(lib, torch, call):
    def told(lib):
        log = []
        x = lib.tensor([2.0, 3.0, 4.0], requires_grad=True)
        y = lib.tensor([5.0, 6.0, 7.0], requires_grad=True)
        show = lambda what, t: log.append((what, tuple(t.shape), t.flatten()[:1].tolist())) or t
        with lib.autograd.graph.saved_tensors_hooks(
            lambda t: show("pack", t).detach().clone(), lambda t: show("unpack", t)
        ):
            result = eval(call, {"lib": lib, "x": x, "y": y, "F": lib.nn.functional})
        lib.autograd.grad(result.sum(), x)
        return [(what, shape, [round(float(n), 3) for n in first]) for what, shape, first in log]

    assert told(lib) == told(torch)
