"""Random programs of hooks: which run, in which order, with what, in imode and in PyTorch.

A program builds a small graph, hangs hooks of every kind on it, some of which replace what they
are given, and runs backward or grad with random options. Everything that the hooks see and all
that comes out is written down; both libraries must write down the same.
"""

import random
import warnings

import pytest

from .observe import sentence

PROGRAMS = 400
STEPS = [
    *("add", "mul", "mul", "number", "exp", "tanh", "sum", "chunk", "unbind", "cat", "inplace"),
    *("view", "write"),
]
HOOKS = [
    *("tensor", "tensor", "leaf", "pre", "post", "retain", "after", "acc_pre", "acc_post", "multi"),
]


def show(value):
    """A value as text that is the same for both libraries."""
    if value is None or isinstance(value, (bool, int, str)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return "(" + " ".join(map(show, value)) + ")"
    numbers = [f"{x:.4g}" for x in value.detach().double().flatten().tolist()]
    return f"{'x'.join(map(str, value.shape))}[{' '.join(numbers)}]{'r' * value.requires_grad}"


class Program:
    """One run of the program of a seed, in the library `lib`."""

    def __init__(self, lib, seed):
        self.lib, self.random, self.log = lib, random.Random(seed), []
        self.leaves, self.tensors, self.hooks, self.multi = [], [], 0, False

    def run(self):
        self.build()
        for _ in range(self.random.randint(1, 3)):
            self.differentiate()
        for tensor in self.leaves + self.tensors:
            if tensor.is_leaf or tensor.retains_grad:
                self.log.append("grad " + show(tensor.grad))
        return self.log

    # ---- the graph ----

    def build(self):
        pick = self.random
        for _ in range(pick.randint(1, 3)):
            values = [pick.choice([-2.0, -1.0, 0.5, 1.0, 2.0]) for _ in range(4)]
            self.leaves.append(self.lib.tensor(values, requires_grad=True))
        self.tensors = [leaf * 1.0 for leaf in self.leaves[:1]]
        for _ in range(pick.randint(2, 8)):
            self.step()
        for _ in range(pick.randint(1, 6)):
            self.hook()

    def any(self):
        return self.random.choice(self.tensors + self.leaves)

    def step(self):
        pick = self.random
        a, b = self.any(), self.any()
        kind = pick.choice(STEPS)
        made = []
        if kind == "add":
            made = [a + b]
        elif kind == "mul":
            made = [a * b]
        elif kind == "number":
            made = [a * pick.choice([2.0, -1.0])]
        elif kind == "exp":
            made = [(a * 0.1).exp()]
        elif kind == "tanh":
            made = [a.tanh()]
        elif kind == "sum":
            made = [a.sum() * b]
        elif kind == "chunk":
            made = [x * 2 for x in a.chunk(2)[: pick.randint(1, 2)]]
            made = [self.lib.cat([x, x]) for x in made]
        elif kind == "unbind":
            parts = a.unbind()
            chosen = pick.sample(range(4), 2)
            self.register(parts[chosen[0]], "part")
            made = [parts[chosen[0]] * b, parts[chosen[1]] + b]
        elif kind == "cat":
            made = [self.lib.cat([a, b, a])[2:6]]
        elif kind == "inplace":
            x = pick.choice(self.tensors)
            if pick.random() < 0.5:
                x.mul_(2.0)
            else:
                x.add_(b)
        elif kind == "view":
            made = [a.view(2, 2).t().reshape(4)]
        elif kind == "write":
            x = pick.choice(self.tensors)
            x[1:3] *= 3.0
        self.tensors += made

    # ---- hooks ----

    def hook(self):
        pick = self.random
        kind = pick.choice(HOOKS)
        if kind in ("tensor", "pre", "post", "retain"):
            self.register(pick.choice(self.tensors), kind)
        elif kind == "multi":
            # PyTorch asks "will this node run?", and is wrong about a single root and about leaves.
            name, self.multi = self.name(), True
            self.graph.register_multi_grad_hook(
                [pick.choice(self.tensors), pick.choice(self.tensors)],
                lambda grads: self.log.append(f"{name} {show(grads)}"),
                mode="all",
            )
        else:
            self.register(pick.choice(self.leaves), kind)

    @property
    def graph(self):
        return self.lib.autograd.graph

    def name(self):
        self.hooks += 1
        return f"h{self.hooks}"

    def register(self, tensor, kind):
        log, name = self.log, self.name()
        what = self.random.choice(["nothing", "nothing", "double", "none", "clone"])

        def change(grad):
            if grad is None or what in ("nothing", "none"):
                return None
            return grad * 2 if what == "double" else grad.clone()

        def on_tensor(grad):
            log.append(f"{name} {kind} {show(grad)} {self.lib.is_grad_enabled()}")
            return change(grad)

        def on_leaf(leaf):
            log.append(f"{name} {kind} {show(leaf.grad)}")

        def on_node(*grads):
            log.append(f"{name} {kind} {show(grads)}")
            if what == "nothing":
                return None
            if what == "none":
                return tuple(None for _ in grads[0])
            return tuple(change(grad) for grad in grads[0])

        if kind == "retain":
            tensor.retain_grad()
        elif kind in ("tensor", "leaf", "part"):
            tensor.register_hook(on_tensor)
        elif kind == "after":
            tensor.register_post_accumulate_grad_hook(on_leaf)
        else:
            node = self.graph.get_gradient_edge(tensor).node
            self.keep = [*getattr(self, "keep", []), node]
            register = node.register_prehook if "pre" in kind else node.register_hook
            register(on_node)

    # ---- the engine ----

    def differentiate(self):
        pick = self.random
        roots = [pick.choice(self.tensors) for _ in range(pick.randint(1, 2))]
        if self.multi:
            roots = [root * 1.0 for root in roots]
        given = [self.lib.ones_like(root.detach()) for root in roots]
        options = {
            "retain_graph": pick.choice([None, True, True]),
            "create_graph": pick.random() < 0.2,
        }
        wanted = None
        if pick.random() < 0.5:
            wanted = [self.any() for _ in range(pick.randint(1, 2))]
            if pick.random() < 0.3:
                wanted[0] = self.graph.get_gradient_edge(wanted[0])
        try:
            if wanted is not None and pick.random() < 0.6:
                found = self.lib.autograd.grad(roots, wanted, given, allow_unused=True, **options)
                self.log.append("found " + show(found))
            else:
                self.lib.autograd.backward(roots, given, inputs=wanted, **options)
        except RuntimeError as error:
            self.log.append(f"error {sentence(error)}")


def run(lib, seed):
    program = Program(lib, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program.run()
        except RuntimeError as error:
            program.log.append(f"refused {sentence(error)}")
    return program.log


@pytest.mark.parametrize("part", range(8))
def test_random_programs_of_hooks(part, lib, torch):
    for seed in range(part, PROGRAMS, 8):
        assert run(lib, seed) == run(torch, seed), f"seed {seed}"
