"""Backward under each guard, and evaluation mode beside the guards, as in PyTorch: by table."""

import pytest

from . import differences
from .custom import HELPERS
from .fuzz import intended
from .programs import Block, compare, run

MODES = [
    "", "lib.no_grad()", "lib.inference_mode()", "lib.enable_grad()", "lib.set_grad_enabled(False)",
    "lib.inference_mode(False)",
]  # fmt: skip
IDS = [mode[4:].replace("()", "") or "plain" for mode in MODES]


def same(lib, torch, program):
    """Run in both libraries and compare all that can be seen after every statement."""
    found = compare(run(lib, program), run(torch, program))
    assert found is None or intended(found, differences.load()), str(found)


# ---- modes in backward ----

FUNCTION = """
class F(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        told(x)
        ctx.save_for_backward(x)
        return x * x, x.exp()
    @staticmethod
    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        made = x * 2
        told(g, h, x, made)
        return g * made + h
class Once(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    @staticmethod
    @lib.autograd.function.once_differentiable
    def backward(ctx, g, h):
        told(g, h)
        return g * 2
""".strip()
START = [
    HELPERS,
    FUNCTION,
    "v0 = lib.tensor([0.5, -1.5], requires_grad=True)",
    "v1 = lib.tensor([2.0, 3.0], requires_grad=True)",
    "def hook(*a):\n    told(*(t for x in a for t in (x if isinstance(x, tuple) else (x,))))",
    "def changing(g):\n    made = g * 2\n    told(g, made)\n    return made",
]
# What the backward runs through; each ends with v9, a scalar.
GRAPHS = {
    "operators": ["v2 = v0 * v1; v3 = v2.exp() + v0.sin()", "v9 = (v3 * v3).sum()"],
    "views and writes": ["v2 = v0 * 1; v3 = v2[:1]; v3.mul_(2); v4 = v2.view(2, 1).t()",
                         "v9 = (v4 * v1).sum()"],
    "accumulation": ["v2 = v0 * 2", "v9 = (v2 + v2 * v1 + v2 + v0 + v0.view(2)).sum()"],
    "a custom function": ["v2, v3 = F.apply(v0)", "v9 = (v2 * v1).sum()"],
    "a custom function, both results": ["v2, v3 = F.apply(v0 * 1)", "v9 = (v2 + v3).sum()"],
    "once differentiable": ["v2, v3 = Once.apply(v0)", "v9 = (v2 * v2).sum()"],
    "tensor hooks": ["v2 = v0 * v1; v0.register_hook(hook); v2.register_hook(changing)",
                     "v2.retain_grad(); v9 = (v2 * v2).sum()"],
    "node hooks": ["v2 = v0 * v1; v2.grad_fn.register_prehook(hook)",
                   "v2.grad_fn.register_hook(hook); v9 = (v2 * v2).sum()"],
    "hooks after accumulation": [
        "v0.register_post_accumulate_grad_hook(lambda t: told(t, t.grad))",
        "v9 = (v0 * v1 * v0).sum()",
    ],
    "a hook that runs backward": [
        "v2 = v0 * v1; v2.register_hook(lambda g: (v1 * v1).sum().backward() or told(g, v1.grad))",
        "v9 = (v2 * 3).sum()",
    ],
    "a layer": ["lib.manual_seed(0); m = lib.nn.Linear(2, 2); v2 = m.weight; v3 = m.bias",
                "v9 = m(v0 * v1).tanh().sum()"],
}  # fmt: skip
STEPS = {
    "backward": ["v9.backward()"],
    "backward twice": ["v9.backward(retain_graph=True)", "v9.backward()"],
    "create_graph": ["v9.backward(create_graph=True)", "v10 = v0.grad", "v10.sum().backward()"],
    "grad": ["v10, v11 = lib.autograd.grad(v9, [v0, v1], allow_unused=True)"],
    "grad, create_graph": [
        "v10, v11 = lib.autograd.grad(v9, [v0, v1], create_graph=True, allow_unused=True)",
        "v12 = (v10 * v10).sum()", "v12.backward()",
    ],
    "grad, materialised": ["v10, v11 = lib.autograd.grad(v9, [v0, v1], materialize_grads=True)"],
    "given gradient": ["v10 = lib.tensor(2.0)", "v9.backward(v10)"],
    "given inputs": ["v9.backward(inputs=[v0])"],
}  # fmt: skip
USE = [  # what can be done with the gradients afterwards
    "v20 = v0.grad", "v20.add_(1)", "v21 = v20.mul(v1)", "v21.sum().backward()", "v0.grad = None",
]  # fmt: skip


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("mode", MODES, ids=IDS)
def test_backward(lib, torch, graph, mode):
    """A graph recorded outside of the guard; the tensors that the engine makes inside of it."""
    for steps in STEPS.values():
        body = [Block(mode, steps)] if mode else steps
        same(lib, torch, [*START, *GRAPHS[graph], *body, *USE])


@pytest.mark.parametrize("graph", GRAPHS)
def test_recorded_in_part_of_inference_mode(lib, torch, graph):
    """A graph recorded, and run, where inference mode is off for a part of its block."""
    for name in ("backward", "grad, create_graph"):
        body = [*START[2:4], *GRAPHS[graph], *STEPS[name]]
        same(
            lib,
            torch,
            [
                *START,
                Block("lib.inference_mode()", [Block("lib.inference_mode(False)", body)]),
                *USE,
            ],
        )
        inside = [Block("lib.inference_mode(False)", GRAPHS[graph]), *STEPS[name]]
        same(lib, torch, [*START, Block("lib.inference_mode()", inside), *USE])  # fmt: skip


def test_accumulation_over_modes(lib, torch):
    """A gradient made in one mode meets one made in another."""
    for first in MODES:
        for second in MODES:
            program = [*START, "v2 = (v0 * v1).sum(); v3 = (v0 * v0).sum()"]
            for mode, step in ((first, "v2.backward()"), (second, "v3.backward()")):
                program.append(Block(mode, [step]) if mode else step)
            same(lib, torch, [*program, *USE])


# ---- evaluation mode, which is no guard ----

LAYERS = {
    "Dropout": ("lib.nn.Dropout(0.4)", "lib.ones(4, 3)"),
    "Dropout1d": ("lib.nn.Dropout1d(0.4)", "lib.ones(2, 3, 4)"),
    "BatchNorm1d": ("lib.nn.BatchNorm1d(3)", "lib.arange(12.0).view(4, 3) ** 1.5"),
    "BatchNorm1d, average": ("lib.nn.BatchNorm1d(3, momentum=None)", "lib.arange(12.).view(4, 3)"),
    "BatchNorm1d, untracked": ("lib.nn.BatchNorm1d(3, track_running_stats=False)",
                               "lib.arange(12.0).view(4, 3)"),
    "BatchNorm1d, not affine": ("lib.nn.BatchNorm1d(3, affine=False)",
                                "lib.arange(12.0).view(4, 3)"),
    "BatchNorm2d": ("lib.nn.BatchNorm2d(2)", "lib.arange(24.0).view(3, 2, 2, 2)"),
    "Sequential": ("lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.BatchNorm1d(3), "
                   "lib.nn.Dropout(0.5))", "lib.arange(12.0).view(4, 3)"),
}  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("mode", MODES[:3], ids=["grad", "no_grad", "inference_mode"])
def test_evaluation(lib, torch, layer, training, mode):
    """Results, gradients and running statistics of {train, eval} × {grad, no_grad, inference}."""
    make, data = LAYERS[layer]
    state = (
        "state = list(m.parameters()) + list(m.buffers()); v10, v11, v12, v13, v14, v15, v16 = "
        "(state + [None] * 7)[:7]; log.append([k.training for k in m.modules()])"
    )
    start = [
        f"lib.manual_seed(1); m = {make}; v0 = {data}; v0.requires_grad_()",
        f"m.train({training})",
        state,
        "lib.manual_seed(2)",
    ]
    forward = ["v1 = m(v0 * 1)", "v2 = m(v0)"]
    for around in ([], ["m.requires_grad_(False)"], [Block("lib.inference_mode()", ["m(v0)"])]):
        body = [Block(mode, forward)] if mode else forward
        after = [state, "v3 = (v1 * v2 * v0).sum()", "v3.backward()", f"m.train({not training})",
                 "v4 = m(v0)", "v4.sum().backward()", state]  # fmt: skip
        same(lib, torch, [*start, *around, *body, *after])


@pytest.mark.parametrize("frozen", ["0", "2", "0.weight", "0.bias", "2.weight", "1", ""])
def test_frozen(lib, torch, frozen):
    """`requires_grad_(False)` on parts of a model: which gradients there are, and the graph."""
    names = "[p for n, p in m.named_parameters() if n.startswith(part)]"
    program = [
        "lib.manual_seed(1); m = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), "
        "lib.nn.Linear(4, 2))",
        "v0, v1, v2, v3, v4, v5 = m.parameters(); v6 = lib.arange(12.0).view(4, 3)",
        f"part = {frozen!r}; [p.requires_grad_(False) for p in {names}]",
        "v7 = m(v6); v8 = (v7 * v7).sum()",
        "v8.backward()",
        f"[p.requires_grad_(True) for p in {names}]",
        "v9 = m(v6).sum(); v9.backward()",
    ]
    same(lib, torch, program)
