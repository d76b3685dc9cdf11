"""Guards here and in PyTorch: random nestings, generators, decorators, exceptions, threads.

What is on is compared after every step. Three things are left out, where PyTorch loses a state and
imode does not: guards left out of order, one guard object entered while it is on, and a decorated
generator that is suspended inside of a further block (docs/differences.md).
`test_what_pytorch_loses` shows each.
"""

import contextlib
import random
import threading

import pytest
import torch

import imode

KINDS = ("inference_mode", "inference_mode off", "no_grad", "enable_grad", "set_grad_enabled off",
         "set_grad_enabled on")  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")  # "enable_grad has no effect here"


def guard(lib, kind):
    name, _, off = kind.partition(" ")
    return getattr(lib, name)(*([off != "off"] if off or "set" in name else []))


def state(lib):
    """What a program sees of the modes: the two switches, and what is made and recorded."""
    x = lib.ones(2, requires_grad=True)
    y = x * 2
    view = x[0]
    return (
        lib.is_grad_enabled(),
        lib.is_inference_mode_enabled(),
        (x.is_inference(), x.requires_grad),
        (y.is_inference(), y.requires_grad, y.grad_fn is not None),
        (view.is_inference(), view.grad_fn is not None, view._is_view()),
    )


def walk(lib, rng, depth=0):
    """Run a random tree of blocks; yields what is on after each step."""
    for _ in range(rng.randrange(1, 4)):
        what, kind = rng.randrange(7), rng.choice(KINDS)
        deeper = depth < 4
        if what == 0:
            lib.set_grad_enabled(rng.random() < 0.5)
        elif what == 1 and deeper:
            with guard(lib, kind):
                yield state(lib)
                yield from walk(lib, rng, depth + 1)
        elif what == 2 and deeper:
            with contextlib.suppress(KeyError), guard(lib, kind):
                yield from walk(lib, rng, depth + 1)
                raise KeyError
        elif what == 3 and deeper:
            seed = rng.random()
            yield from guard(lib, kind)(
                lambda s=seed: list(walk(lib, random.Random(s), depth + 1))
            )()
        elif what == 4 and deeper:
            seed = rng.random()

            @guard(lib, kind)
            def body(seed=seed):
                yield state(lib)
                yield from list(walk(lib, random.Random(seed), depth + 1))

            for seen in body():
                yield seen
                yield state(lib)
        elif what == 5 and deeper:
            with contextlib.ExitStack() as stack:
                for _ in range(rng.randrange(1, 3)):
                    stack.enter_context(guard(lib, rng.choice(KINDS)))
                    yield state(lib)
                yield from walk(lib, rng, depth + 1)
        elif what == 6 and deeper:
            seen = []
            seed = rng.random()
            thread = threading.Thread(
                target=lambda s=seed, n=seen: n.extend(walk(lib, random.Random(s), depth + 1))
            )
            thread.start()
            thread.join()
            yield from seen
        yield state(lib)


def run(lib, seed):
    seen = list(walk(lib, random.Random(seed)))
    lib.set_grad_enabled(True)
    assert not lib.is_inference_mode_enabled()
    return seen


@pytest.mark.parametrize("block", range(10))
def test_random_nestings(block):
    for seed in range(block * 40, block * 40 + 40):
        assert run(imode, seed) == run(torch, seed), seed


def closing(lib, kind, how):
    """A decorated generator that is closed, thrown into, sent to, or dropped."""
    seen = []

    @guard(lib, kind)
    def body():
        try:
            got = yield state(lib)
            seen.append((got, state(lib)))
            yield state(lib)
        except KeyError:
            seen.append(state(lib))
            yield state(lib)
        finally:
            seen.append(state(lib))

    generator = body()
    seen += [next(generator), state(lib)]
    if how == "close":
        generator.close()
    elif how == "throw":
        seen.append(generator.throw(KeyError()))
    elif how == "throw through":
        with contextlib.suppress(ValueError):
            generator.throw(ValueError())
    elif how == "send":
        seen.append(generator.send(5))
    elif how == "exhaust":
        seen += list(generator)
    del generator
    seen.append(state(lib))
    return seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["close", "throw", "throw through", "send", "exhaust", "drop"])
def test_generators_that_end_early(kind, how):
    if kind.startswith("set_grad"):
        for lib in (imode, torch):
            lib.set_grad_enabled(True)
    mine, theirs = closing(imode, kind, how), closing(torch, kind, how)
    for lib in (imode, torch):
        lib.set_grad_enabled(True)
    assert mine == theirs


def test_what_pytorch_loses():
    """Each ends in the state that it began in here; there not."""

    def twice(lib):
        again = lib.no_grad()
        with again, again:
            pass
        return lib.is_grad_enabled()

    def out_of_order(lib):
        first, second = lib.inference_mode(), lib.no_grad()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        return lib.is_grad_enabled()

    def suspended(lib):
        @lib.no_grad()
        def body():
            with lib.enable_grad():
                yield
                seen.append(lib.is_grad_enabled())

        seen = []
        list(body())
        return seen[0]

    for program in (twice, out_of_order, suspended):
        assert program(imode)
        assert not program(torch)
        torch.set_grad_enabled(True)
        assert not torch.is_inference_mode_enabled()
