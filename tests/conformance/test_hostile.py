"""Random programs with hostile hooks behave here as in PyTorch; none ends a process."""

import pytest

from . import known
from .fuzz import check_apart, report
from .hostile import HostileGenerator
from .programs import compare, run
from .test_scenarios import parse

PROGRAMS = 600


def test_random(lib, torch):
    failed = [
        report(*found)
        for found in check_apart(
            lib, torch, range(PROGRAMS), known.load(), generator=HostileGenerator
        )
    ]
    assert not failed, "\n\n".join(failed)


def test_generator_is_deterministic(torch):
    assert HostileGenerator(torch, 7).program()[0] == HostileGenerator(torch, 7).program()[0]


# ---- what they found ----

SCENARIOS = {
    "a post-hook at a leaf is not shown .grad itself": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        N = v1.grad_fn.next_functions[0][0]
        N.register_hook(lambda i, o: log.append((i, o[0] is v0.grad, o[0]._version)))
        v1.sum().backward(retain_graph=True)
        v1.sum().backward(retain_graph=True)
    """,
    "a leaf that requires grad no more has its post-accumulate hooks called": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v0.register_post_accumulate_grad_hook(lambda t: log.append(t.grad is None))
        v0.requires_grad_(False)
        v1.sum().backward()
    """,
    "a hook resizes or replaces the memory of a leaf's gradient": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        H = v0.register_hook(lambda g: (g.resize_(6).fill_(1), None)[1])
        v1.sum().backward(retain_graph=True)
        v1.sum().backward(retain_graph=True)
        H.remove()
        v1.sum().backward(retain_graph=True)
        v0.grad = None
        H = v0.register_hook(lambda g: (g.resize_(1), None)[1])
        v1.sum().backward(retain_graph=True)
        H.remove(); v0.grad = None
        H = v0.register_hook(lambda g: setattr(g, 'data', lib.ones(5)))
        v1.sum().backward(retain_graph=True)
        H.remove(); v0.grad = None
        H = v0.register_hook(lambda g: setattr(g, 'data', g.double()))
        v1.sum().backward(retain_graph=True)
    """,
    "a hook gives a leaf's gradient another layout": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        H = v0.register_hook(lambda g: g.t_() * 2)
        v1.sum().backward(retain_graph=True)
        v2 = lib.ones((), requires_grad=True)
        v2.register_hook(lambda g: g.set_(lib.ones(2)).detach())
        v2.sum().backward(inputs=[v2])
    """,
    "a None gradient is replaced by what is no tensor": """
        v0 = lib.ones(2, 2, requires_grad=True)
        v1, v2 = (v0 * 1).unbind()
        v1.grad_fn.register_prehook(lambda g: ('text', None))
        v2.sum().backward()
    """,
    "hooks of a node see the gradients of what has any": """
        v0 = lib.tensor([[1.0, 3.0], [2.0, 0.5]], requires_grad=True)
        v1, v2 = v0.max(0)
        v3, v4 = v0.sort(1)
        v5, v6 = v0.cummin(0)
        v7 = lib.nn.functional.layer_norm(v0, (2,))
        v8 = lib.nn.functional.group_norm(v0[None], 1)
        v9 = lib.nn.functional.cross_entropy(v0, lib.tensor([0, 1]))
        A = [t.grad_fn for t in (v1, v3, v5, v7, v8)] + [v9.grad_fn]
        [n.register_prehook(lambda g: log.append(len(g))) for n in A]
        [n.register_hook(lambda i, o: log.append((len(i), len(o)))) for n in A]
        (v1.sum() + v3.sum() + v5.sum() + v7.sum() + v8.sum() + v9).backward()
        A[0](lib.ones(2), lib.ones(2))
    """,
    "unpack hooks give another dtype": """
        v0 = lib.tensor([-1.0, 2.0], requires_grad=True)
        G = lib.autograd.graph.saved_tensors_hooks
        for t in (lib.float64, lib.float16, lib.int64, lib.bool):
            with G(lambda x: x.detach(), lambda x: x.to(t)):
                v1 = v0.relu() + lib.nn.functional.leaky_relu(v0 * 1)
            v1.sum().backward()
        with G(lambda x: x.detach(), lambda x: x.long()):
            v2 = v0.sin()
        v2.sum().backward()
        with G(lambda x: x.detach(), lambda x: x.double()):
            v3 = lib.nn.functional.softplus(v0) + lib.nn.functional.elu(v0)
        v3.sum().backward()
    """,
    "set_ lets go of graphs recorded before": """
        v0 = lib.ones((), requires_grad=True); v1 = v0 * 2
        with lib.no_grad():
            v0.set_(lib.ones(2))
        v0.sum().backward()
        v1.backward()
    """,
    "a node that refuses runs where its gradient alone is wanted": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * v0
        v2 = lib.floor_divide(v1, v0)
        v2.sum().backward(inputs=[v2])
        v3 = v0 * v0
        v3.set_(v3.data)
        v3.sum().backward(inputs=[v3])
        v4 = v0.sin()
        v4.register_hook(lambda g: log.append('sin'))
        (v3 * v4).sum().backward()
        v4.sum().backward()
    """,
    "the edge of a view that was made without recording": """
        v0 = lib.ones(2, 2, requires_grad=True)
        with lib.no_grad(), lib.inference_mode():
            v1 = v0.t()
        lib.autograd.graph.get_gradient_edge(v1)
        lib.autograd.graph.get_gradient_edge(lib.ones(2))
    """,
    "a gradient for a root that changed its shape is counted among the roots": """
        v0 = lib.ones(2, 2, requires_grad=True)
        v1, v2 = v0.unbind(0)
        v2.data = lib.ones(5)
        v2.backward(lib.ones(5), retain_graph=True)
        lib.autograd.backward([v0.sum(), v2], [None, lib.ones(5)])
    """,
    "the tables of a tensor's hooks": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2; v2 = lib.ones(2)
        tables = lambda t: (t._backward_hooks, t._post_accumulate_grad_hooks)
        show = lambda t: log.append([k and len(k) for k in tables(t)])
        show(v0); show(v1); show(v2)
        H = v0.register_hook(lambda g: None)
        v0.register_post_accumulate_grad_hook(lambda t: None)
        v1.register_hook(lambda g: None)
        show(v0); show(v1); show(v0.detach()); show(v1.view(-1))
        v1.mul_(2)
        H.remove()
        show(v0); show(v1)
    """,
    "functional derivatives inside of inference mode": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.autograd.functional.vjp(lambda x: x * 2, v0, lib.ones(3))[1]
            v2 = lib.autograd.functional.jacobian(lambda x: x * 2, v0)
    """,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(lib, torch, name):
    program = parse(SCENARIOS[name])
    found = compare(run(lib, program), run(torch, program))
    assert found is None, str(found)


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
