"""Random work in many threads on shared leaves, graphs and hooks: python -m tests.stress.

Each round makes leaves and a graph that all threads share, and lets them run backward, grad and
forward, with hooks, in-place writes, guards and the garbage collector at random. What a thread gets
must be the right answer, or an error of the few that sharing allows. Prints a line per second.
"""

import argparse
import gc
import random
import sys
import threading
import time

import numpy as np

import imode
from imode.autograd import graph

ALLOWED = ("backward through the graph a second time", "modified by an inplace operation")


class Round:
    """The objects that the threads of one round share, and what they found wrong."""

    def __init__(self, seed, size):
        self.x = imode.full((size,), 0.5, requires_grad=True)
        self.kept = (self.x * self.x).exp()  # always retained
        self.freed = (self.x * 3).tanh()  # some thread frees it
        self.added = [0.0] * 16  # what each thread has added to x.grad
        self.seed, self.wrong, self.calls, self.errors = seed, [], 0, 0

    def work(self, number, steps):
        pick = random.Random(f"{self.seed} {number}")
        actions = [self.backward, self.grad, self.race, self.hooks, self.guards, self.saved]
        actions += [self.views, self.nest, self.collect]
        for _ in range(steps):
            action = pick.choice(actions)
            try:
                action(number, pick)
            except RuntimeError as error:
                self.errors += 1
                if not any(text in str(error) for text in ALLOWED):
                    self.wrong.append(f"{action.__name__}: {error!r}")
            except BaseException as error:
                self.wrong.append(f"{action.__name__}: {error!r}")
            self.calls += 1

    def expect(self, found, right, what):
        if not np.allclose(found.detach().numpy(), right, rtol=1e-4):
            self.wrong.append(f"{what}: {found[:3].tolist()} instead of {right}")

    def backward(self, number, pick):
        factor = pick.choice([1.0, 2.0])
        (self.x * factor).sum().backward()
        self.added[number] += factor

    def grad(self, number, pick):
        (found,) = imode.autograd.grad((self.kept * 2).sum(), self.x, retain_graph=True)
        self.expect(found, 2 * np.exp(0.25), "grad of the retained graph")

    def race(self, number, pick):
        (found,) = imode.autograd.grad(
            self.freed.sum(), self.x, retain_graph=pick.random() < 0.9 or None
        )
        self.expect(found, 3 * (1 - np.tanh(1.5) ** 2), "grad of the freed graph")

    def hooks(self, number, pick):
        y = self.kept * 1
        seen = []
        with self.kept.register_hook(lambda grad: None), y.register_hook(seen.append):
            imode.autograd.grad(y.sum(), self.x, retain_graph=True)
        if len(seen) != 1:
            self.wrong.append(f"a hook ran {len(seen)} times")

    def guards(self, number, pick):
        with pick.choice([imode.no_grad, imode.inference_mode])():
            y = self.x * 2
        if y.requires_grad:
            self.wrong.append("recorded where nothing is")

    def saved(self, number, pick):
        with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = (self.x * self.x).sum()
        (found,) = imode.autograd.grad(y, self.x)
        self.expect(found, 1.0, "grad through packed tensors")

    def views(self, number, pick):
        y = self.x * 1
        y[: len(y) // 2] *= 2.0
        (found,) = imode.autograd.grad(y.sum(), self.x)
        self.expect(found[: len(y) // 2], 2.0, "grad through a written view")

    def nest(self, number, pick):
        left = pick.randint(1, 70)

        def again(grad):
            nonlocal left
            left -= 1
            if left > 0:
                with imode.enable_grad():
                    y = imode.ones(1, requires_grad=True) * 2
                    y.register_hook(again)
                    y.sum().backward()

        again(None)

    def collect(self, number, pick):
        cycle = self.x * 1
        cycle.register_hook(lambda grad: cycle)
        if pick.random() < 0.05:
            gc.collect()


def run(seconds, seed, say=print):
    """Rounds of random work for some seconds; AssertionError at the first wrong result."""
    began, number, calls, errors = time.monotonic(), 0, 0, 0
    said = began
    while number == 0 or time.monotonic() - began < seconds:
        pick = random.Random(f"{seed} {number}")
        shared = Round(f"{seed} {number}", pick.choice([4, 64, 40_000]))
        n = pick.randint(2, 8)
        threads = [
            threading.Thread(target=shared.work, args=(i, pick.randint(10, 60))) for i in range(n)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = sum(shared.added)
        if total and not np.allclose(shared.x.grad.numpy(), total):
            shared.wrong.append(f".grad is {shared.x.grad[:3].tolist()} instead of {total}")
        assert not shared.wrong, f"seed {seed}, round {number}: {shared.wrong[:5]}"
        number, calls, errors = number + 1, calls + shared.calls, errors + shared.errors
        if time.monotonic() - said > 1:
            said = time.monotonic()
            say(f"{said - began:5.0f} s  {number} rounds  {calls} calls  {errors} refused")
    say(f"seed {seed}: {number} rounds, {calls} calls, {errors} refused, nothing wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.setswitchinterval(1e-5)  # threads change places often
    run(options.seconds, options.seed)


if __name__ == "__main__":
    main()
