"""Modes and threads: each thread's are its own, and shared parameters are safe in any mode.

One thread trains while others serve with the same parameters; writes are counted whoever makes
them; new threads, pools and tasks start in the default state; generators and coroutines take
theirs along.
"""

import asyncio
import concurrent.futures
import contextlib
import queue
import random
import sys
import threading

import pytest

import imode
from imode._core import provenance
from tests.modes import (
    DEFAULT,
    GUARDS,
    INFERENCE,
    NO_GRAD,
    starts_and_ends_in_the_default_state,  # noqa: F401
    state,
)

F = imode.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:.*has no effect inside inference_mode")


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@contextlib.contextmanager
def running(*functions):
    """Threads that call their function until the block ends; what one raises, the block raises."""
    stop, failures = threading.Event(), []

    def loop(function):
        try:
            while not stop.is_set():
                function()
            assert state() == DEFAULT
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=loop, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def make_model():
    imode.manual_seed(1)
    return imode.nn.Sequential(
        imode.nn.Linear(4, 8), imode.nn.Tanh(), imode.nn.LayerNorm(8), imode.nn.Linear(8, 2)
    )


def train(model, steps):
    x = imode.linspace(-1, 1, 24).view(6, 4)
    optimizer = imode.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - 1) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.tolist() for p in model.parameters()]


def test_training_is_the_same_while_others_serve():
    alone = train(make_model(), 60)
    model = make_model()
    x = imode.ones(3, 4)
    shared = model[0].weight

    def serve():
        with imode.inference_mode():
            y = model(x)
            assert y.is_inference()
            assert not y.requires_grad
            y.mul_(2).add_(1)
            assert not shared.is_inference() and not shared.view(-1).is_inference()

    def serve_without_gradients():
        with imode.no_grad():
            assert not model(x).requires_grad

    @imode.inference_mode()
    def decorated():
        for part in model(x).unbind():
            part.zero_()

    with running(serve, serve_without_gradients, decorated):
        together = train(model, 60)
    assert together == alone
    assert len({p._version for p in model.parameters()}) == 1


@pytest.mark.parametrize("guard", [imode.inference_mode, imode.no_grad])
def test_a_write_in_another_thread_is_found_by_backward(guard):
    """A right gradient or an error, whenever the write comes."""
    weight = imode.ones(8, requires_grad=True)
    written = 0

    def write():
        nonlocal written
        with guard():
            weight.add_(1)
        written += 1

    right = refused = 0
    with running(write):
        while (right < 20 or refused < 20) and right + refused < 20_000:
            factor = weight.detach().clone()
            loss = (weight * weight).sum()
            weight.grad = None
            try:
                loss.backward()
            except RuntimeError as error:
                assert "modified by an inplace operation" in str(error)
                assert "Written last by add_ at " in str(error)
                refused += 1
            else:
                right += 1
                low, high = (2 * factor).tolist(), (2 * weight).tolist()
                grad = weight.grad.tolist()
                assert all(a <= b <= c for a, b, c in zip(low, grad, high, strict=True))
    assert weight._version == written
    assert refused


def test_savers_are_counted_from_any_thread():
    from imode._core.internals import version_counter_of

    x = imode.ones(4, requires_grad=True) * 1
    counter = version_counter_of(x)

    def save():
        kept = [x * x, x.sin(), x * 2]
        assert counter.savers >= 3
        del kept
        y = (x.detach().requires_grad_() * x).sum()
        imode.autograd.grad(y, x, retain_graph=True)
        imode.autograd.grad(y, x)

    with running(save, save, save):
        for _ in range(200):
            save()
    assert counter.savers == 0
    assert counter.writer == (0, 0)
    with imode.no_grad():
        x.add_(1)
    assert counter.writer == (0, 0)  # nobody had saved it
    y = x.sin()
    with imode.no_grad():
        x.add_(1)
    assert provenance.operator_name(counter.writer[0]) == "add_"
    assert counter.savers == 1
    del y
    assert counter.savers == 0


def test_each_thread_has_its_own_modes():
    names = [name for name in GUARDS if not name.startswith("set_grad")]

    def nest():
        rng = random.Random(threading.get_ident())
        expected, stack = [state()], []
        for _ in range(30):
            if stack and rng.random() < 0.5:
                stack.pop().__exit__(None, None, None)
                expected.pop()
            else:
                guard = GUARDS[rng.choice(names)][0]()
                guard.__enter__()
                stack.append(guard)
                expected.append(state())
            assert state() == expected[-1]
        while stack:
            stack.pop().__exit__(None, None, None)
        assert state() == DEFAULT

    with running(nest, nest, nest):
        for _ in range(100):
            nest()


@pytest.mark.parametrize("guard", [imode.inference_mode, imode.no_grad, imode.normal_mode])
def test_new_threads_pools_and_tasks_start_in_the_default_state(guard):
    async def in_a_thread():
        return await asyncio.to_thread(state)

    with guard():
        seen = []
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
        timer = threading.Timer(0, lambda: seen.append(state()))
        timer.start()
        timer.join()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seen += pool.map(lambda _: state(), range(4))
        seen.append(asyncio.run(in_a_thread()))
    assert seen == [DEFAULT] * len(seen)


def test_a_mode_left_on_in_a_thread_goes_with_it():
    def leave_on():
        imode.inference_mode().__enter__()
        imode.set_grad_enabled(False)

    thread = threading.Thread(target=leave_on)
    thread.start()
    thread.join()
    assert state() == DEFAULT


def test_decorated_generators_take_their_modes_to_other_threads():
    @imode.inference_mode()
    def serve(n):
        for _ in range(n):
            with imode.inference_mode(False):
                assert state() == DEFAULT
                yield imode.ones(1).is_inference()
            assert state() == INFERENCE
            yield imode.ones(1).is_inference()

    generators, results = queue.Queue(), []
    for _ in range(6):
        generators.put((serve(5), []))

    def step():
        try:
            generator, seen = generators.get_nowait()
        except queue.Empty:
            return
        with imode.no_grad():
            for value in generator:
                seen.append(value)
                assert state() == NO_GRAD
                break
            else:
                results.append(seen)
                return
        generators.put((generator, seen))

    with running(step, step, step):
        while len(results) < 6:
            step()
    assert results == [[False, True] * 5] * 6


def test_tasks_of_several_loops_keep_their_modes():
    @imode.inference_mode()
    async def serve(rng):
        for _ in range(5):
            assert state() == INFERENCE
            await asyncio.sleep(rng.random() / 1000)
            with imode.normal_mode():
                await asyncio.sleep(0)
                assert state() == NO_GRAD
        return imode.ones(1)

    async def learn(rng):
        w = imode.ones(2, requires_grad=True)
        for _ in range(5):
            assert state() == DEFAULT
            loss = (w * w).sum()
            await asyncio.sleep(rng.random() / 1000)
            loss.backward()
        return w.grad.tolist()

    async def main(seed):
        rng = random.Random(seed)
        jobs = [serve(rng) if i % 2 else learn(rng) for i in range(8)]
        done = await asyncio.gather(*jobs)
        assert all(t.is_inference() for t in done[1::2])
        assert done[::2] == [[10, 10]] * 4

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda seed: asyncio.run(main(seed)), range(6)))


def test_places_are_numbered_once_by_many_threads():
    start = threading.Barrier(4, timeout=20)
    seen = [[] for _ in range(4)]

    def number(out):
        start.wait()
        out += [provenance.location_id("numbered.py", line) for line in range(300)]

    threads = [threading.Thread(target=number, args=(out,)) for out in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert [provenance.location(n) for n in seen[0]] == [f"numbered.py:{i}" for i in range(300)]
