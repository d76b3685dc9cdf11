"""Custom functions behave here as in PyTorch: random programs, and a table of kinds × modes."""

import pytest

from . import differences
from .custom import HELPERS, CustomGenerator
from .fuzz import check, intended, report
from .programs import Block, compare, run

PROGRAMS = 400


def test_random(lib, torch):
    rules = differences.load()
    found = (
        (seed, check(lib, torch, seed, rules, generator=CustomGenerator))
        for seed in range(PROGRAMS)
    )
    failed = [report(seed, *difference) for seed, difference in found if difference]
    assert not failed, "\n\n".join(failed)


def test_generator_is_deterministic(torch):
    assert CustomGenerator(torch, 7).program()[0] == CustomGenerator(torch, 7).program()[0]


def define(forward, backward="return gs[0] * 2", setup=None, head="", once=False):
    """The text of a custom function F of x and y."""
    lines = ["class F(lib.autograd.Function):", *([f"    {head}"] if head else [])]
    signature = "forward(x, y)" if setup else "forward(ctx, x, y)"
    lines += ["    @staticmethod", f"    def {signature}:"]
    lines += [f"        {line}" for line in forward.split("; ")]
    if setup:
        lines += ["    @staticmethod", "    def setup_context(ctx, inputs, output):"]
        lines += ["        x, y = inputs"] + [f"        {line}" for line in setup.split("; ")]
    lines += ["    @staticmethod"] + ["    @lib.autograd.function.once_differentiable"] * once
    lines += ["    def backward(ctx, *gs):", "        told(*gs)"]
    lines += ["        log.append((ctx.needs_input_grad, len(ctx.saved_tensors)))"] * (not head)
    lines += [f"        {line}" for line in backward.split("; ")]
    return "\n".join(lines)


TWO = "return gs[0] * 2, gs[0] * 3"
KINDS = {
    "new tensor": define("return x * y", TWO),
    "one gradient too few": define("return x * y"),
    "saves inputs": define(
        "ctx.save_for_backward(x, y); return x * y",
        "x, y = ctx.saved_tensors; told(x, y); return gs[0] * y, gs[0] * x",
    ),
    "saves its result": define(
        "r = x.exp() + y; ctx.save_for_backward(r); return r",
        "r, = ctx.saved_tensors; told(r); return gs[0] * r, gs[0]",
    ),
    "saves an intermediate": define(
        "a = x * 2; ctx.save_for_backward(a); return a * y",
        "a, = ctx.saved_tensors; told(a); return gs[0] * a, None",
    ),
    "saves None and a result twice": define(
        "r = x * y; ctx.save_for_backward(None, r, r); return r",
        "a, b, c = ctx.saved_tensors; told(a, b, c); return gs[0] * b, gs[0] * c",
    ),
    "saves what is no tensor": define("ctx.save_for_backward(3); return x * y", TWO),
    "returns an input": define("return x", TWO),
    "returns an input and saves it": define("ctx.save_for_backward(x); return x", TWO),
    "returns an input twice": define("return x, x", "return gs[0] + gs[1], None"),
    "returns both inputs": define("return x, y", "return gs"),
    "returns a view of an input": define("return x[:1]", "return gs[0].expand(2), gs[0].sum()"),
    "returns two views of an input": define("return x[:1], x[1:]", "return lib.cat(gs), None"),
    "returns a view of a new tensor": define("return (x * y)[:1]", "return gs[0].expand(2), None"),
    "returns a detached input": define("return x.detach()", TWO),
    "returns a tensor from outside": define("return w", TWO),
    "returns a leaf from outside": define("return leaf", TWO),
    "returns one new tensor twice": define("r = x * y; return r, r", "return gs[0] + gs[1], None"),
    "returns None, a number and a tensor": define("return None, 3, x * y", "return gs[2], None"),
    "returns no tensor": define("return 'text'", "return None, None"),
    "returns nothing": define("pass", "return None, None"),
    "returns an empty tuple": define("return ()", "return None, None"),
    "returns a list": define("return [x * y]", TWO),
    "returns indices": define("return x * y, x.argsort()", "return gs[0], gs[1]"),
    "returns indices alone": define("return x.argsort()", TWO),
    "marks a result non-differentiable": define(
        "r = x * y; ctx.mark_non_differentiable(r); return r, x + y", "return gs[1], gs[0]"
    ),
    "marks its only result non-differentiable": define(
        "r = x * y; ctx.mark_non_differentiable(r); return r", TWO
    ),
    "marks an input non-differentiable": define(
        "ctx.mark_non_differentiable(x); return x, x * y", "return gs[1], None"
    ),
    "marks what is no tensor": define("ctx.mark_non_differentiable(3); return x * y", TWO),
    "does not materialise": define(
        "ctx.set_materialize_grads(False); return x * y, x + y", "return gs[0], None"
    ),
    "materialises": define("return x * y, x + y", "return gs[0] + gs[1], gs[1]"),
    "writes its input": define("x.mul_(2); ctx.mark_dirty(x); return x", TWO),
    "writes its input and saves it": define(
        "x.exp_(); ctx.mark_dirty(x); ctx.save_for_backward(x); return x",
        "x, = ctx.saved_tensors; told(x); return gs[0] * x, None",
    ),
    "writes and returns two": define(
        "x.mul_(2); ctx.mark_dirty(x); return x, x * y", "return gs[0] + gs[1], None"
    ),
    "writes its second input": define(
        "y.mul_(2); ctx.mark_dirty(y); return y", "return None, gs[0]"
    ),
    "writes both": define("x.mul_(2); y.mul_(2); ctx.mark_dirty(x, y); return x, y", "return gs"),
    "writes unmarked": define("x.mul_(2); return x", TWO),
    "writes unmarked and returns another": define("x.mul_(2); return x * y", TWO),
    "marks and does not return": define("x.mul_(2); ctx.mark_dirty(x); return x * y", TWO),
    "marks a new tensor dirty": define("r = x * y; ctx.mark_dirty(r); return r", TWO),
    "marks dirty what is no tensor": define("ctx.mark_dirty(3); return x * y", TWO),
    "dirty and non-differentiable": define(
        "x.mul_(2); ctx.mark_dirty(x); ctx.mark_non_differentiable(x); return x", TWO
    ),
    "set up apart": define(
        "return x * y", TWO, "ctx.save_for_backward(x, output); told(x, output)"
    ),
    "set up apart, an input returned": define("return x", TWO, "ctx.a = 1"),
    "set up apart, an input returned and saved": define(
        "return x", TWO, "ctx.save_for_backward(x)"
    ),
    "set up apart, an input returned and saved for forward": define(
        "return x", TWO, "ctx.save_for_forward(x)"
    ),
    "set up apart, written": define(
        "return x.mul_(2)", TWO, "ctx.mark_dirty(x); ctx.save_for_backward(output)"
    ),
    "once differentiable": define("return x * y", TWO, once=True),
    "once differentiable, one None": define("return x * y", "return gs[0] * 2, None", once=True),
    "records inside": define("with lib.enable_grad(): r = x * y; return r", TWO),
    "records inside, marked": define(
        "with lib.enable_grad(): r = x * y; ctx.mark_non_differentiable(r); return r", TWO
    ),
    "makes an inference tensor": define("with lib.inference_mode(): r = x * 2; return r", TWO),
    "saves an inference tensor": define("ctx.save_for_backward(i); return x * y", TWO),
    "turns recording on": define("lib.set_grad_enabled(True); return x * y", TWO),
    "raises in forward": define("raise ValueError('here')"),
    "raises in backward": define("return x * y", "raise ValueError('here')"),
    "too many gradients": define("return x * y", "return gs[0], gs[0], gs[0]"),
    "too many gradients, None": define("return x * y", "return gs[0], gs[0], None"),
    "gradients in a list": define("return x * y", "return [gs[0], gs[0]]"),
    "a gradient that is no tensor": define("return x * y", "return 3, None"),
    "a gradient of another shape": define("return x * y", "return lib.ones(7), None"),
    "a gradient that broadcasts": define("return x * y", "return lib.ones(3, 2), None"),
    "a gradient of another dtype": define("return x * y", "return gs[0].double(), gs[0].int()"),
    "a complex gradient": define("return x * y", "return gs[0] * 1j, None"),
    "reads saved tensors once": define(
        "ctx.save_for_backward(x); return x * y", "a = ctx.saved_tensors; told(*a); return gs[0], "
        "None", head="clear_saved_tensors_on_access = True",
    ),
    "reads saved tensors twice": define(
        "ctx.save_for_backward(x); return x * y", "ctx.saved_tensors; ctx.saved_tensors; "
        "return gs[0], None", head="clear_saved_tensors_on_access = True",
    ),
    "takes a list of gradients": define(
        "return x * y, x + y", "a, b = gs[0]; told(a, b); return a, b",
        head="boxed_grads_call = True",
    ),
    "not a bool": define("return x * y", TWO, head="boxed_grads_call = 1"),
    "named vjp": define("return x * y", TWO).replace("def backward", "def vjp"),
    "double backward": define(
        "ctx.save_for_backward(x, y); return x * y * y",
        "x, y = ctx.saved_tensors; return gs[0] * y * y, gs[0] * 2 * x * y",
    ),
}  # fmt: skip
START = [
    HELPERS,
    "leaf = lib.tensor([5.0, 6.0], requires_grad=True)",
    "w = leaf * 1",
    "with lib.inference_mode(): i = lib.ones(2)",
    "v0 = lib.tensor([0.5, -1.5], requires_grad=True)",
    "v1 = lib.tensor([2.0, 3.0], requires_grad=True)",
    "v2 = v0 * 1; v3 = lib.cat([v0, v0]) * 1; v4 = v3[:2]; v5 = lib.ones(2)",
]
ARGUMENTS = ["v0, v1", "v2, v1", "v2, v5", "v5, v2", "v4, v1", "v2, v2", "v5, v5", "v2, 3"]
MODES = ["", "lib.no_grad()", "lib.inference_mode()", "lib.enable_grad()"]
AFTER = [
    "z = [t for t in (v6 if isinstance(v6, (tuple, list)) else [v6]) if isinstance(t, lib.Tensor)]",
    "v7, v8 = (z + [None, None])[:2]",
    "log.append([type(t).__name__ for t in (v6 if isinstance(v6, tuple) else [v6])])",
    "log.append([t is a for t in z for a in (v0, v1, v2, v3, v4, v5)])",
    "log.append([(n is None, k) for n, k in z[0].grad_fn.next_functions] if z and z[0].grad_fn "
    "else None)",
]


def _same(lib, torch, program):
    found = compare(run(lib, program), run(torch, program))
    assert found is None or intended(found, differences.load()), str(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES[:3], ids=lambda mode: mode[4:-2] or "recorded")
def test_forward(lib, torch, kind, mode):
    """All that can be seen of the results, and what a write to them does."""
    for arguments in ARGUMENTS if not mode else ARGUMENTS[:2]:
        call = [f"v6 = F.apply({arguments})"]
        program = [*START, KINDS[kind], *([Block(mode, call)] if mode else call), *AFTER]
        _same(
            lib, torch, [*program, "v9 = v7.mul(v7)", "v7.add_(1)", "v9 = v7.mul(v7)", "v8.mul_(2)"]
        )
        _same(
            lib, torch, [*program, "v2.add_(1)", "v9 = v7.mul(v1)", "v3.mul_(2)", "v9 = v8.mul(v1)"]
        )


BACKWARD = [
    ["z[0].sum().backward()", "z[0].sum().backward()"],
    ["z[-1].sum().backward(retain_graph=True)", "z[0].sum().backward()"],
    ["v9, = lib.autograd.grad((z[0] * z[0]).sum(), [v0], create_graph=True)",
     "v9.sum().backward()"],
    ["v2.add_(1)", "sum(t.sum() for t in z).backward()"],
    ["z[0].sum().backward(lib.tensor(2.0), inputs=[v1])"],
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[4:-2] or "recorded")
def test_backward(lib, torch, kind, mode):
    """Gradients, in each mode, of what was recorded outside of it."""
    for arguments in ARGUMENTS[:5] if not mode else ARGUMENTS[:1]:
        for steps in BACKWARD:
            program = [*START, KINDS[kind], f"v6 = F.apply({arguments})", *AFTER]
            _same(lib, torch, [*program, *([Block(mode, steps)] if mode else steps)])
