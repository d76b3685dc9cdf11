"""Random modules with backward hooks: what the hooks are shown, what comes out, what is refused.

A program builds a module that returns, writes to or changes the mode around its inputs in some way,
hangs hooks on it that replace gradients or should not, and runs backward. Both libraries must write
down the same.
"""

import collections
import random
import warnings

import pytest

from .observe import node_name, sentence

PROGRAMS = 600
Pair = collections.namedtuple("Pair", "a b")

ANSWERS = [
    *[lambda lib, grads: None] * 4,
    lambda lib, grads: tuple(g if g is None else g * 2 for g in grads),
    lambda lib, grads: tuple(g if g is None else g.double() for g in grads),
    lambda lib, grads: tuple(None for g in grads),
    lambda lib, grads: tuple(lib.ones(7) for g in grads),
    lambda lib, grads: list(grads),
    lambda lib, grads: grads[0],
    lambda lib, grads: (),
    lambda lib, grads: "text",
    lambda lib, grads: 1 / 0,
]
RESULTS = [
    *[lambda x, y, z: z] * 4,
    lambda x, y, z: (z, y),
    lambda x, y, z: [z],
    lambda x, y, z: {"a": z},
    lambda x, y, z: Pair(z, x),
    lambda x, y, z: x,
    lambda x, y, z: (z, z.detach(), 3),
    lambda x, y, z: z.chunk(2),
    lambda x, y, z: (),
]


class Program:
    """One run of the program of a seed, in the library `lib`."""

    def __init__(self, lib, seed):
        self.lib, self.random, self.log = lib, random.Random(seed), []

    def show(self, value):
        if isinstance(value, dict):
            return self.show(list(value.values()))
        if isinstance(value, (tuple, list)):
            return [type(value).__name__, *map(self.show, value)]
        if not isinstance(value, self.lib.Tensor):
            return str(value)
        try:
            node = node_name(value.grad_fn)
        except RuntimeError as error:
            node = sentence(error)
        numbers = [round(n, 3) for n in value.detach().double().flatten().tolist()]
        return (
            numbers,
            tuple(value.shape),
            value.requires_grad,
            value._is_view(),
            value._version,
            node,
        )

    def attempt(self, function):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = None
            try:
                result = function()
            except Exception as error:
                self.log.append(f"{type(error).__name__}: {sentence(error)}")
        self.log += [str(warning.message)[:60] for warning in told]
        return result

    def module(self):
        lib, program = self.lib, self
        inside = self.random.choice(["", "", "", "first", "second", "result", "view", "no_grad"])
        answer = self.random.choice(RESULTS)

        class Module(lib.nn.Module):
            def forward(self, x, y=None, *rest):
                program.log.append(["forward", program.show(x), program.show(y)])
                if inside == "first":
                    x *= 2
                elif inside == "second" and isinstance(y, lib.Tensor):
                    y.mul_(2)
                elif inside == "view":
                    x = x.view(-1).mul_(2)
                z = x * y if isinstance(y, lib.Tensor) else x * 3
                if inside == "result":
                    z = z.relu_()
                elif inside == "no_grad":
                    with lib.no_grad():
                        z = z * 2
                return answer(x, y, z)

        return Module()

    def hook(self, module, number):
        answer = self.random.choice(ANSWERS)
        full, prepend = self.random.random() < 0.7, self.random.random() < 0.3

        def hook(module, *grads):
            self.log.append([number, self.show(grads), self.lib.is_grad_enabled()])
            return answer(self.lib, grads[0])

        register = "register_full_backward_hook" if full else "register_full_backward_pre_hook"
        return getattr(module, register)(hook, prepend=prepend)

    def run(self):
        lib, pick = self.lib, self.random
        module = self.module()
        handles = [self.hook(module, number) for number in range(pick.randint(1, 3))]
        leaf = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=pick.random() < 0.8)
        x = pick.choice([leaf, leaf * 2, leaf * 2, 2.0])
        ones = lib.ones(2, 2, requires_grad=True)
        y = pick.choice([None, "y", ones, ones * 1, ones.detach(), ones.detach().long()])
        rest = pick.choice([[], [], [ones * 1]])
        call = pick.choice(
            [*[lambda: module(x, y, *rest)] * 4, lambda: module(x), lambda: module(x, y=y)]
        )
        with pick.choice([lib.enable_grad] * 5 + [lib.no_grad])():
            out = self.attempt(call)
        self.log.append(["out", self.show(out)])
        if pick.random() < 0.2:
            handles[0].remove()
        outs = list(out.values()) if isinstance(out, dict) else out
        outs = outs if isinstance(outs, (tuple, list)) else [outs]
        if outs and pick.random() < 0.15:
            self.attempt(lambda: outs[0].mul_(2))
        outs = [t for t in outs if isinstance(t, lib.Tensor) and t.requires_grad]
        outs = pick.sample(outs, min(len(outs), pick.randint(1, 2)))
        inputs = [t for t in (x, y) if isinstance(t, lib.Tensor) and t.requires_grad]
        for _ in range(pick.choice([1, 2])):
            self.attempt(lambda: self.differentiate(outs, inputs))
        self.log += [self.show((leaf.grad, ones.grad, leaf, ones))]
        return self.log

    def differentiate(self, outs, inputs):
        lib = self.lib
        kind = self.random.choice(["backward", "backward", "grad", "twice", "around"])
        total = sum(((t * t).sum() for t in outs), lib.zeros((), requires_grad=True) * 1)
        if kind == "grad":
            grads = lib.autograd.grad(total, inputs, retain_graph=True, allow_unused=True)
            self.log.append(self.show(grads))
        elif kind == "twice":
            grads = lib.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
            self.log.append(self.show(grads))
            sum(g.sum() for g in grads).backward(retain_graph=True)
        else:
            if kind == "around":  # some gradients do not come through the module's outputs
                total = total + sum((t * t).sum() for t in inputs)
            total.backward(retain_graph=True)


def test_random(lib, torch):
    for seed in range(PROGRAMS):
        assert Program(lib, seed).run() == Program(torch, seed).run(), f"seed {seed}"


@pytest.mark.parametrize("inplace", [False, True])
def test_an_in_place_module_behind_a_full_backward_hook(lib, torch, inplace):
    def told(lib):
        layer = lib.nn.ReLU(inplace=inplace)
        layer.register_full_backward_hook(lambda module, given, arrived: None)
        x = lib.ones(2, requires_grad=True)
        try:
            layer(x * 1).sum().backward()
        except RuntimeError as error:
            return sentence(error)
        return x.grad.tolist()

    assert told(lib) == told(torch)
    assert ("is a view and is being modified inplace" in told(lib)) == inplace
