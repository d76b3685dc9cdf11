"""Programs by name, one per rule of modes, views, in-place writes, versions and saving.

Each runs in both libraries, every observable compared after every statement. A bug that the random
programs find gets a scenario here.
"""

import textwrap

import pytest

from . import known
from .fuzz import intended
from .programs import Block, compare, run

SCENARIOS = {
    # ---- inference mode, inside: the first table of the rules, every cell ----
    "inside: functional, on normal and inference tensors": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(2, 3)
        with lib.inference_mode():
            v2 = v0 + v1
            v3 = v2 * v2
            v4 = lib.ones(2, requires_grad=True)
            v5 = v4 * 2
    """,
    "inside: views of normal tensors are normal": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        with lib.inference_mode():
            v2 = v0.view(-1)
            v3 = v1[0]
            v4 = v3[1:]
            v5, v6 = v1.unbind(0)
        v7 = v2 * 2
        v8 = v3 * 2
        v3.add_(1)
        v2.add_(1)
        v5.add_(1)
    """,
    "inside: views of inference tensors are inference tensors": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
            v1 = v0.view(-1)
            v2 = v1[1:]
        v3 = v0[0]
        v4 = v3 + 1
        v3.add_(1)
        v0._version
    """,
    "inside: in-place bumps normal tensors only": """
        v0 = lib.ones(2, 3); v1 = lib.ones(2, 3, requires_grad=True); v2 = v1 * 2
        with lib.inference_mode():
            v0.add_(1)
            v1.add_(1)
            v2.add_(1)
            v3 = lib.ones(2, 3)
            v3.add_(1)
            v3[0] = 5
            v0[0] = 5
        v2.sum().backward()
    """,
    "inside: out= into normal and inference tensors": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v2 = lib.zeros(3)
            lib.add(v0, v1, out=v2)
            lib.add(v2, v2, out=v0)
            lib.add(v0, v0, out=v1)
        lib.add(v0, v0, out=v2)
    """,
    # ---- outside: the second table ----
    "outside: functional that saves nothing": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v2 = v1 + 1
        v3 = v0 + v1
        v4 = v1 * 2
        v3.sum().backward()
    """,
    "outside: functional that must save": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v2 = v0 * v1
        v2 = v1 * v0
        v3 = lib.addcmul(v0, v1, v1)
        v4 = lib.where(v1 > 0, v0, v1)
        v5 = v0.detach() * v1
        v6 = v1.clone() * v0
    """,
    "outside: views are allowed and not recorded": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
        v1 = v0.view(-1)
        v2 = v0[0]
        v3, v4 = v0.unbind(0)
        v5 = v0.t()
        v6 = v0.detach()
        v7 = v0.data
    """,
    "outside: in-place, out=, requires_grad_, version": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v1.add_(1)
        v1[0] = 1
        v1.copy_(v0)
        lib.add(v0, v0, out=v1)
        v1.requires_grad_()
        v1.requires_grad = True
        v1._version
        v1.requires_grad_(False)
        v1.t_()
        v1.detach_()
        v1.zero_()
    """,
    "outside: clone gives a normal tensor": """
        with lib.inference_mode():
            v0 = lib.ones(3)
            v1 = v0.clone()
        v2 = v0.clone()
        v2.requires_grad_()
        v3 = (v2 * v2).sum()
        v3.backward()
    """,
    "outside: no_grad with inference tensors": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        with lib.no_grad():
            v2 = v0 * v1
            v1.add_(1)
            v3 = v1[0]
        v2.requires_grad_()
    """,
    # ---- nesting ----
    "nested on and off": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = v0 * 2
            with lib.inference_mode(False):
                v2 = v0 * 2
                v3 = v0 * v1
                v1.add_(1)
                with lib.inference_mode():
                    v4 = v0 * v1
            with lib.enable_grad():
                v5 = v0 * 2
            with lib.no_grad():
                v6 = v0 * 2
        v7 = v0 * 2
        v2.sum().backward()
    """,
    "no_grad and enable_grad around each other": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0 * 2
            with lib.enable_grad():
                v2 = v0 * 2
                with lib.set_grad_enabled(False):
                    v3 = v0 * 2
            with lib.inference_mode():
                v4 = v0 * 2
            v5 = v0 * 2
    """,
    "set_grad_enabled as a function": """
        v0 = lib.ones(3, requires_grad=True)
        v1 = lib.set_grad_enabled(False)
        v2 = v0 * 2
        v1 = lib.set_grad_enabled(True)
        v3 = v0 * 2
    """,
    # ---- creation metadata of views ----
    "a view made in no_grad, written in grad mode": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2 = v1[1:]
            v2.add_(1)
        v2.add_(1)
        v1.add_(1)
        v3 = v2.grad_fn
        v4 = v2 * 2
    """,
    "a view made in inference mode, written after": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.inference_mode():
            v2 = v1[1:]
            v2.add_(1)
        v3 = v2 * 2
        v2.add_(1)
        v1.add_(1)
        v4 = v2.grad_fn
        v5 = v2 * 2
    """,
    "a view of a plain tensor made in inference mode, base written with grad": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v2 = v0[1:]
        v0.add_(v1)
        v3 = v2.requires_grad
        v4 = v2 * 2
    """,
    "a view of a plain tensor made in no_grad, base written with grad": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v2 = v0[1:]
        v0.add_(v1)
        v3 = v2 * 2
        v2.add_(1)
    """,
    "creation metadata passes down a chain": """
        v0 = lib.ones(2, 3, requires_grad=True) * 1
        with lib.no_grad():
            v1 = v0.view(-1)
        v2 = v1[1:]
        v2.add_(1)
        with lib.inference_mode():
            v3 = v0[0]
        v4 = v3[1:]
        v4.mul_(2)
    """,
    "multi-output views refuse in-place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1
        v2, v3 = v1.unbind(0)
        v2.add_(1)
        v4 = v2.view(-1)
        v4.add_(1)
        v1.add_(1)
        v5 = v2.sum()
        v5.backward()
    """,
    "multi-output views of plain tensors": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, requires_grad=True)
        v2, v3 = v0.unbind(0)
        v2.add_(1)
        v2.mul_(v1)
        v0.add_(1)
        v3.add_(v1)
    """,
    "multi-output views made without grad": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2, v3 = v1.split(1)
            v2.add_(1)
        v2.add_(1)
        v1.mul_(2)
        v4 = v2.grad_fn
    """,
    # ---- in-place on views, history ----
    "in-place on a view rewrites the base's history": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2; v2 = v1[0]
        v2.mul_(3)
        v3 = v1.grad_fn
        (v1 * v1).sum().backward()
    """,
    "in-place on the base renews the view's grad_fn": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2; v2 = v1[0]; v3 = v2[1:]
        v1.mul_(3)
        v4 = v2.grad_fn
        v5 = v3.grad_fn
        v3.sum().backward()
    """,
    "siblings see each other's writes": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        v2 = v1[0]; v3 = v1[:, 0]; v4 = v1.t()
        v2.add_(1)
        v3.mul_(2)
        v4.sin_()
        (v2.sum() + v3.sum() + v4.sum()).backward()
    """,
    "a plain base becomes differentiable by a write to its view": """
        v0 = lib.zeros(2, 3); v1 = lib.ones(3, requires_grad=True); v2 = v0[0]
        v2.copy_(v1)
        v3 = v0.sum()
        v3.backward()
        v0[1] = v1 * 2
        v0.sum().backward()
    """,
    "in-place on leaves and views of leaves": """
        v0 = lib.ones(2, 3, requires_grad=True)
        v0.add_(1)
        v0[0].add_(1)
        v1 = v0.view(-1)
        v1.zero_()
        v0.detach().add_(1)
        v0.data.add_(1)
        with lib.no_grad():
            v0.add_(1)
            v0[0].add_(1)
        v2 = v0.detach()
        v2.mul_(2)
    """,
    "in-place on expanded and overlapping memory": """
        v0 = lib.ones(3); v1 = v0.expand(2, 3); v2 = v0.as_strided((2, 2), (1, 1))
        v1.add_(1)
        v2.add_(1)
        v1[0].add_(1)
        v0[1:].copy_(v0[:-1])
        v0[1:].add_(v0[:-1])
        v1.copy_(v0)
        v1.zero_()
    """,
    "in-place that would change dtype or shape": """
        v0 = lib.ones(3); v1 = lib.tensor([1, 2, 3]); v2 = lib.ones(2, 3)
        v1.add_(v0)
        v1.mul_(1.5)
        v0.add_(v2)
        v0.add_(v1)
        v1.div_(2)
        v0 += v2
        v1 //= 2
    """,
    "metadata in-place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = v1[0]
        v1.t_()
        v1.unsqueeze_(0)
        v1.squeeze_()
        v2.unsqueeze_(0)
        v1.transpose_(0, 1)
        v1.sum().backward()
        v0.t_()
    """,
    "assignment": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = lib.ones(3, requires_grad=True)
        v1[0] = v2
        v1[:, 1] = 7
        v1[v1 > 5] = 0
        v1[[0, 1], [0, 1]] = v2[:2]
        v1[...] = v1 * 2
        (v1 * v1).sum().backward()
        v0[0] = 1
    """,
    "copy_ across dtypes": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.zeros(3, dtype=lib.float64)
        v1.copy_(v0)
        v2 = (v1 * v1).sum()
        v2.backward()
        v3 = lib.zeros(3, dtype=lib.int64)
        v3.copy_(lib.tensor([1.5, 2.5, -1.5]))
    """,
    # ---- detach, data, requires_grad ----
    "detach and data: what they share": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v2 = v1.detach(); v3 = v1.data
        v2.add_(1)
        v3.add_(1)
        v1.add_(1)
        v4 = v2._version
        v5 = v3._version
    """,
    "detach then write breaks backward, data does not": """
        v0 = lib.ones(3, requires_grad=True)
        v1 = v0 * v0
        v0.data.add_(1)
        v1.sum().backward()
        v2 = v0 * v0
        v0.detach().add_(1)
        v2.sum().backward()
    """,
    "requires_grad_ on views and non-leaves": """
        v0 = lib.ones(2, 3); v1 = v0[0]
        v1.requires_grad_()
        v2 = v1 * 2
        v2.requires_grad_(False)
        v2.requires_grad_()
        v0.add_(1)
        v1.add_(1)
        lib.tensor([1]).requires_grad_()
    """,
    "detach_ of views": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = v1[0]
        v2.detach_()
        v1.detach_()
        v3 = lib.ones(2)[0]
        v3.detach_()
    """,
    "assigning data": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.zeros(3); v2 = lib.zeros(2)
        v0.data = v1
        v1.add_(1)
        v0.data = v2
        v0.data = lib.tensor([1, 2])
    """,
    # ---- versions ----
    "what bumps, and by how much": """
        v0 = lib.ones(2, 3); v1 = v0[0]; v2 = v0.detach()
        v0.add_(1); v0.mul_(2)
        v1.zero_()
        v2.fill_(3)
        v0[0] = 1
        v0[:, 1] = lib.ones(2)
        v0.copy_(v0)
        lib.add(v1, v1, out=v1)
        v0.t_()
        v0.requires_grad_()
        v0.data.add_(1)
        v0.clamp_(0, 1)
        with lib.inference_mode():
            v0.add_(1)
    """,
    "resize_ and set_": """
        v0 = lib.ones(2, 3); v1 = lib.zeros(4)
        v0.resize_(3, 2)
        v0.resize_(2)
        v1.set_(v0)
        v0.add_(1)
        v2 = lib.ones(2, requires_grad=True)
        v2.resize_(3)
    """,
    # ---- saving ----
    "which operators save what": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3) * 2
        v2 = v0 + v1; v3 = v0 * v1; v4 = v0.exp(); v5 = v0.sin(); v6 = v0 / v1; v7 = v0.relu()
        v1.add_(1)
        v2.sum().backward()
        v3.sum().backward()
        v6.sum().backward()
        v5.add_(1)
        v5.sum().backward()
        v4.add_(1)
        v4.sum().backward()
        v7.add_(1)
        v7.sum().backward()
    """,
    "in-place forms save the input before they write it": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v1.mul_(v1)
        v1.sum().backward()
        v2 = v0 * 1
        v2.sin_()
        v2.sum().backward()
        v3 = v0 * 1
        v3.exp_()
        v3.sum().backward()
        v4 = v0 * 1
        v4.tanh_()
        v4.tanh_()
        v4.sum().backward()
    """,
    # ---- backward ----
    "backward twice": """
        v0 = lib.ones(3, requires_grad=True); v1 = (v0 * v0).sum(); v2 = (v0 + 1).sum()
        v1.backward(retain_graph=True)
        v1.backward()
        v1.backward()
        v2.backward()
        v2.backward()
    """,
    "backward of what has no graph": """
        v0 = lib.ones(3); v1 = lib.ones((), requires_grad=True)
        v2 = lib.ones(3, requires_grad=True)
        v0.sum().backward()
        v1.backward()
        v2.backward()
        (v2 * 2).backward(lib.ones(2))
        (v2 * 2).backward(lib.ones(3, dtype=lib.int64))
        with lib.no_grad():
            v3 = v2 * 2
        v3.sum().backward()
    """,
    "backward inside the modes": """
        v0 = lib.ones(3, requires_grad=True); v1 = (v0 * v0).sum(); v2 = (v0 * v0).sum()
        with lib.no_grad():
            v1.backward()
        with lib.inference_mode():
            v2.backward()
        v3 = v0.grad
        v4 = (v0 * 2).sum()
        v4.backward()
    """,
    "accumulation: what .grad is": """
        v0 = lib.ones(3, requires_grad=True)
        (v0 * 2).sum().backward()
        v1 = v0.grad
        (v0 * 2).sum().backward()
        v0.grad = None
        (v0 * v0).sum().backward(create_graph=True)
        v2 = v0.grad
        (v0 * v0).sum().backward(create_graph=True)
        v0.grad = lib.ones(2)
        v0.grad = lib.ones(3, dtype=lib.float64)
        v0.grad = 3
    """,
    "autograd.grad": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3, requires_grad=True); v2 = v0 * v0
        v3, = lib.autograd.grad(v2.sum(), [v0], retain_graph=True)
        v4, = lib.autograd.grad(v2.sum(), [v1])
        v5, = lib.autograd.grad((v0 * v0).sum(), [v1], allow_unused=True)
        v6, = lib.autograd.grad((v0 ** 3).sum(), [v0], create_graph=True)
        v7, = lib.autograd.grad(v6.sum(), [v0])
        v8 = v0 * 2
        v9, = lib.autograd.grad((v8 * v8).sum(), v8)
    """,
    "retain_grad and hooks": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.retain_grad()
        v0.retain_grad()
        v1.register_hook(lambda g: g * 10)
        (v1 * v1).sum().backward()
        lib.ones(3).retain_grad()
        v2 = v1.detach()
        v2.retain_grad()
    """,
    "retain_grad then in-place": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.retain_grad()
        v1.mul_(3)
        v1.sum().backward()
    """,
    # ---- parameters and optimisers ----
    "parameters from inference tensors": """
        with lib.inference_mode():
            v0 = lib.ones(3)
            v1 = lib.nn.Parameter(lib.ones(3))
            v2 = v1 * 2
        v3 = lib.nn.Parameter(v0)
        v4 = v1 * v1
        v5 = v3 * v3
    """,
    "an optimiser's step": """
        v0 = lib.nn.Parameter(lib.ones(3))
        o = lib.optim.SGD([v0], lr=0.1, momentum=0.9)
        (v0 * v0).sum().backward()
        o.step()
        o.zero_grad()
        (v0 * v0).sum().backward()
        with lib.inference_mode():
            o.step()
        o.step()
        v1 = v0 * 2
    """,
    "deepcopy and pickle": """
        import copy, pickle
        v0 = lib.ones(3, requires_grad=True)
        v1 = copy.deepcopy(v0)
        v2 = v0 * 2
        v3 = copy.deepcopy(v2)
        v4 = copy.copy(v0)
        v5 = pickle.loads(pickle.dumps(v0))
        with lib.inference_mode():
            v6 = lib.ones(2)
            v7 = copy.deepcopy(v6)
        v8 = copy.deepcopy(v6)
        v9 = copy.deepcopy(lib.nn.Parameter(lib.ones(2)))
    """,
    # ---- found by random programs ----
    "a leaf that stopped requiring grad receives none": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0.unbind(-1)[0]; v2 = v0 * 2
        v0.detach_()
        v1.backward()
        v0.requires_grad_()
        v2.sum().backward()
    """,
    "a view keeps a history when its base stops requiring grad": """
        v0 = lib.zeros(2, requires_grad=True); v1 = v0.view_as(v0)
        v0.requires_grad_(False)
        v0 *= 1.5
        v3 = v1 * 2
        v3.sum().backward()
    """,
    "a saved tensor that was detached in place": """
        v0 = lib.ones(1, 3, requires_grad=True); v1 = v0 * 1
        v2 = v1.logsumexp(0)
        v1.detach_()
        v2.sum().backward()
        v3 = v0 * 1; v4 = v3 + 1
        v3.detach_()
        v4.sum().backward()
    """,
    "a result that is written into a view leads to the view's node": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 1; v2 = v1.view_as(v1)
        v2.exp_()
        v3 = saved(v2)
        v4 = v2.real
        v4.add_(v4, alpha=2)
        v1.sum().backward()
    """,
    "retain_grad of views that are out of date": """
        v0 = lib.ones(2, 2, requires_grad=True)
        with lib.inference_mode():
            v1 = v0.view(-1)
            v1.mul_(2)
        v1.retain_grad()
        v2 = v0[:, 1:]
        v2.retain_grad()
        v3 = v2.to(lib.float32)
        v0.detach().mul_(0.5)
        v3.sum().backward()
    """,
    "retained gradients lie in row order": """
        v0 = lib.ones(3, 3, requires_grad=True); v1 = v0.expand_as(v0).transpose(0, -1)
        v1.retain_grad()
        (v1 * v1).sum().backward(create_graph=True)
    """,
    "a number is saved as the tensor that it stands for": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2; v2 = v0 / 2; v3 = v0 + 2
        v4 = saved(v1); v5 = saved(v2); v6 = saved(v3)
        v1.sum().backward()
        v1.sum().backward()
        v2.sum().backward()
        v2.sum().backward()
        v3.sum().backward()
        v3.sum().backward()
    """,
    "a number beside an inference tensor that requires grad is recorded": """
        with lib.inference_mode():
            v0 = lib.ones(3, requires_grad=True)
        v1 = v0 + 0
        v2 = v0 * 2
        v3 = v0 + v0
        with lib.no_grad():
            v5 = v0 + 1
    """,
    "x[:] = v writes to x, not to a view of it": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0.flatten()
            v0.add_(1)
        v1[:] = v1
        v1[0:3] = 1
        v2 = lib.ones(3)
        v2[:] = v2
        v2[0:] = 5
    """,
    "writes of a tensor onto itself, whole and in part": """
        v0 = lib.ones(2, 1); v1 = v0[1:2]; v2 = lib.ones(3); v3 = lib.ones(0); v4 = lib.ones(1)
        v1[:, 0] = v1
        v0.copy_(v0)
        v2[[0, 1, 2]] = v2
        v3[[0, 1]] = v3
        v2.copy_(v2.flip(0))
        v2[1:].copy_(v2[:-1])
        v2.expand(2, 3)[..., 0] = v2.expand(2, 3)[..., 0]
        v4.add_(v4[0])
        v4[:, None] = v4
        v2.masked_scatter_(v2 > 0, v2)
    """,
    "which of two mistakes is named: overlap, shape, dtype": """
        v0 = lib.ones(1, 3).expand(2, 3); v1 = lib.ones(2, 2); v2 = lib.ones(2, 1, dtype=lib.int32)
        v3 = lib.ones(2, 3)
        v0.add_(v1)
        v0.lerp_(v3, 0.5)
        v0.addcmul_(v1, v1)
        v2.add_(v3, alpha=2)
        v2.add_(v3)
        v0.copy_(1.5)
        v0.bool().expand(2, 2, 3).sub_(lib.tensor(0))
    """,
    "out= that is an operand keeps its shape": """
        v0 = lib.ones(2, 1); v1 = lib.ones(2, 2)
        lib.mul(v0, v1, out=v0)
        lib.mul(v1, v1, out=v0)
    """,
    "integers filled with what requires grad": """
        v0 = lib.tensor(0.5, requires_grad=True); v1 = lib.ones(2, 3, dtype=lib.int32)
        v2 = lib.ones(2, dtype=lib.int64)
        v1[:, 0] = v0
        v2.copy_(v0)
    """,
    "losses expand what they broadcast": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, requires_grad=True)
        v2 = lib.nn.functional.mse_loss(v0, v1)
        v3 = lib.nn.functional.l1_loss(v0, v1)
        v4 = lib.nn.functional.smooth_l1_loss(v0, v1)
        v5 = lib.nn.functional.huber_loss(v0, v1)
        (v2 + v3 + v4 + v5).backward()
    """,
    "addcmul of integers by a number, and of bools": """
        v0 = lib.ones(3, dtype=lib.int32); v1 = lib.ones(3, dtype=lib.bool)
        v0.addcmul_(v0, v0, value=0.5)
        v2 = lib.addcmul(v1, v1, v1)
        v1.addcmul_(v1, v1, value=2)
        v3 = lib.addcmul(v1, v0, v0, value=2)
        v0.clamp_(0.5, 1.5)
        v1.clamp_(0, 1)
    """,
    "every fourth element negated in place": """
        v0 = lib.arange(12, dtype=lib.float32); v1 = lib.arange(12, dtype=lib.int32)
        v0[1::4].neg_()
        v1[1::4].neg_()
        lib.neg(v0.view(3, 4).diagonal(), out=v0.view(3, 4).diagonal())
    """,
    "strides of what is converted on the way": """
        v0 = lib.ones(1, 3, dtype=lib.bool).expand(2, 1, 3)
        v1 = lib.ones(3, dtype=lib.int64).expand(2, 3).t()
        v2 = v0 / 2
        v3 = v1.sigmoid()
        v4 = v1.to(lib.float64)
        v5 = v0 + v1[0]
    """,
    "memory formats are kept, asked for, and recorded": """
        v0 = lib.ones(2, 3, 4, 5, requires_grad=True)
        v1 = v0.to(memory_format=lib.channels_last)
        v2 = v1.double(memory_format=lib.contiguous_format)
        v3 = v1.to(memory_format=lib.channels_last)
        v4 = v1.cpu(memory_format=lib.contiguous_format)
        v5 = v0.detach().resize_as_(v1)
        v6 = lib.ones(2).resize_(2, 1, 2, 2, memory_format=lib.channels_last).fill_(1)
        v7 = v1.sum_to_size(3, 1, 5)
        v8 = v1.sum_to_size(())
        (v2.sum() + v4.sum() + v7.sum() + v8).backward()
    """,
    "resize_ to the shape that it has is no write": """
        v0 = lib.ones(2, 3)
        v0.resize_(2, 3)
        v0.resize_(3, 2)
        v0.resize_(1)
    """,
    "set_ of what is recorded": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.set_(lib.zeros(2))
        v0.set_(lib.zeros(2))
        v1.sum().backward()
    """,
    "conversions to Python": """
        v0 = lib.ones(3, requires_grad=True)
        float(v0)
        v0.item()
        v1 = v0.numpy()
        with lib.no_grad():
            v1 = v0.numpy()
    """,
    "data of another dtype, and gradients of another dtype": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1; v2 = lib.ones(3, dtype=lib.float64)
        v3, = lib.autograd.grad(v0, [v0], v2)
        v0.data = lib.ones(3, dtype=lib.float16)
        v4, = lib.autograd.grad(v1.sum(), [v0], allow_unused=True)
    """,
    "views of a view that changed the dtype": """
        v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v1 = lib.view_as_real(v0); v2 = v1[0]
        with lib.no_grad():
            v0.fill_(2)
        v3 = v2 * 2
    """,
    "autograd.grad of a tensor by itself": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3, requires_grad=True)
        v2, = lib.autograd.grad(v0, [v0], v1)
        v3, = lib.autograd.grad(v0 + 1, [v0], v1)
        v4, = lib.autograd.grad(v0 * 2, [v0], v1)
    """,
    "a hook after accumulation returns nothing": """
        v0 = lib.ones(3, requires_grad=True)
        v0.register_post_accumulate_grad_hook(lambda t: t)
        (v0 * 2).sum().backward()
        v0.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))
        (v0 * 2).sum().backward()
    """,
    "which operators are not looked at": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v0.logical_not_()
        v1.logical_and_(v0)
        v1.sum().backward()
    """,
    "threads start in the default state": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = thread(lambda: v0 * 2)
            v2 = thread(lambda: lib.ones(2))
            v3 = thread(lambda: (lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
            thread(lambda: v1.sum().backward())
        with lib.no_grad():
            v4 = thread(lambda: v0 * 2)
        thread(lambda: lib.set_grad_enabled(False))
        v5 = v0 * 2
    """,
    "buffers and state dicts in each mode": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.ones(3)
        M.register_buffer('b', v0)
        with lib.inference_mode():
            M.b.add_(1)
        M.b.add_(1)
        with lib.no_grad():
            M.load_state_dict({'b': v1}, strict=False)
        v2 = M.b * 2
        M.p = lib.nn.Parameter(lib.ones(3))
        M.load_state_dict({'p': v1}, strict=False)
        v3 = M.p * M.b
        v3.sum().backward()
        v4 = M.p
    """,
    "differs: a shallow copy is of the kind of what it looks at": """
        v0 = lib.ones(2)
        with lib.inference_mode():
            v1 = copy.copy(v0)
    """,
    "differs: a parameter of an inference tensor is a copy": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
            v1 = lib.nn.Parameter(v0[1])
    """,
    "differs: there is no complex32": """
        v0 = lib.ones(2).half()
        v1 = lib.complex(v0, v0)
    """,
    "differs: there is no complex32, nor in messages": """
        v0 = lib.ones(2).half()
        v0.add_(lib.tensor(1j))
    """,
    "differs: clamp between tensors of several shapes has a gradient": """
        v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
        v2 = lib.clamp(v0, v1, v0)
        v2.sum().backward()
    """,
    "differs: and grad() of it": """
        v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
        v2, = lib.autograd.grad(lib.clamp(v0, v1, v0).sum(), v0)
    """,
    "differs: a tensor over memory of NumPy's can grow": """
        v0 = lib.from_numpy(lib.ones(2).numpy())
        v0.resize_(3).fill_(1)
    """,
    "differs: an out= keeps its shape where an index is refused": """
        v0 = lib.ones(2, 3)
        lib.index_select(lib.ones(2), 0, lib.tensor([7]), out=v0)
    """,
    "differs: hooks on a stale view are refused each time": """
        v0 = lib.ones(2, 1, requires_grad=True).clone().view(-1); v1 = v0.unbind()[0]
        v0.floor_()
        v1.register_hook(lambda g: g)
        v1.register_hook(lambda g: g)
    """,
}


def parse(text):
    """Return a program from source: statements, `with` blocks nested by indentation."""
    lines = [line for line in textwrap.dedent(text).splitlines() if line.strip()]

    def body(lines):
        out = []
        while lines:
            head, *rest = lines
            inner = list(_until_dedent(rest))
            lines = rest[len(inner) :]
            if head.startswith("with "):
                out.append(Block(head[5:].rstrip(":"), body(_dedented(inner))))
            elif inner:
                out.append("\n".join([head, *inner]))
            else:
                out += [head] if head.startswith("class ") else head.split("; ")
        return out

    return body(lines)


def _until_dedent(lines):
    for line in lines:
        if not line.startswith(" "):
            return
        yield line


def _dedented(lines):
    return textwrap.dedent("\n".join(lines)).splitlines()


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(lib, torch, name):
    program = parse(SCENARIOS[name])
    found = compare(run(lib, program), run(torch, program))
    assert found is None or intended(found, known.load()), str(found)
