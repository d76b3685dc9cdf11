"""Guards: what each sets and puts back, nested, per thread, left out of order, misused."""

import asyncio
import contextlib
import gc
import inspect
import itertools
import re
import textwrap
import threading
import warnings

import pytest

import imode
from imode._core import provenance
from imode._core.guard import why_not_recording
from tests.modes import (
    AD,
    AUTOGRAD,
    DEFAULT,
    GUARDS,
    INFERENCE,
    NO_GRAD,
    each_guard,
    starts_and_ends_in_the_default_state,  # noqa: F401
    state,
)

# ---- blocks ----


@each_guard
def test_block_sets_the_state_and_puts_it_back(make, inside):
    with make() as entered:
        assert entered is None
        assert state() == inside
    assert state() == DEFAULT


@each_guard
def test_exception_puts_the_state_back(make, inside):
    with pytest.raises(ZeroDivisionError), make():
        assert state() == inside
        1 / 0  # noqa: B018
    assert state() == DEFAULT


@each_guard
def test_a_guard_can_be_entered_again_after_it_was_left(make, inside):
    guard = make()
    for _ in range(3):
        with guard:
            assert state() == inside
        assert state() == DEFAULT


def _expected(names):
    """The state after nesting the named guards, from the table in the module's docstring."""
    included, excluded, grad = True, set(), True
    for name in names:
        if name.startswith(("inference_mode", "InferenceMode", "normal_mode")):
            on = "False" not in name and "normal" not in name
            included = not on
            excluded = excluded | {AUTOGRAD} if on else excluded - {AUTOGRAD}
            grad = "False" in name
        elif "Below" in name:
            excluded = excluded | ({AUTOGRAD, AD} if "AD" in name else {AUTOGRAD})
        else:
            grad = name in ("enable_grad()", "set_grad_enabled(True)")
    return (not included, included, tuple(sorted(excluded, reverse=True)), grad)


@pytest.mark.filterwarnings("ignore:.* has no effect inside inference_mode:UserWarning")
@pytest.mark.parametrize("depth", [2, 3])
def test_nesting_in_any_order(depth):
    for names in itertools.product(GUARDS, repeat=depth):
        with contextlib.ExitStack() as stack:
            for i, name in enumerate(names):
                stack.enter_context(GUARDS[name][0]())
                assert state() == _expected(names[: i + 1]), names[: i + 1]
                # The illegal state never arises.
                assert AD in imode.included_keys() or AUTOGRAD in imode.excluded_keys()
        assert state() == DEFAULT, names


def test_inference_mode_off_inside_on():
    with imode.inference_mode():
        with imode.inference_mode(False):
            assert state() == DEFAULT
            with imode.inference_mode():
                assert state() == INFERENCE
            assert state() == DEFAULT
        assert state() == INFERENCE


def test_set_grad_enabled_acts_at_once_as_a_function():
    before = imode.set_grad_enabled(False)
    assert state() == NO_GRAD
    imode.set_grad_enabled(True)
    assert state() == DEFAULT
    assert before.mode is False


def test_set_grad_enabled_puts_back_what_was_before_it_was_made():
    guard = imode.set_grad_enabled(False)
    assert state() == NO_GRAD
    with guard:
        assert state() == NO_GRAD
    assert state() == DEFAULT


def test_a_call_of_set_grad_enabled_inside_a_block_ends_with_the_block():
    with imode.no_grad():
        imode.set_grad_enabled(True)
        assert imode.is_grad_enabled()
    assert state() == DEFAULT


def test_exit_stack_and_several_items():
    with imode.no_grad(), imode.inference_mode(), imode.inference_mode(False):
        assert state() == DEFAULT


def test_names_and_reprs():
    assert imode.InferenceMode is imode.inference_mode
    assert repr(imode.set_grad_enabled(True)) == "imode.set_grad_enabled(mode=True)"
    guard = imode.inference_mode(False)
    assert repr(guard) == "imode.inference_mode(mode=False)"
    assert guard.mode is False
    with guard:
        pass
    with imode.no_grad().clone():
        assert state() == NO_GRAD


# ---- threads ----


def test_each_thread_has_its_own_modes():
    seen = {}
    entered, leave = threading.Barrier(3), threading.Barrier(3)

    def run(name, make):
        before = state()
        with make():
            entered.wait(10)
            seen[name] = (before, state())
            leave.wait(10)

    threads = [
        threading.Thread(target=run, args=("inference", imode.inference_mode)),
        threading.Thread(target=run, args=("no_grad", imode.no_grad)),
    ]
    with imode.inference_mode():
        for thread in threads:
            thread.start()
        entered.wait(10)
        with imode.no_grad():
            leave.wait(10)
        for thread in threads:
            thread.join()
        assert state() == INFERENCE
    assert seen == {"inference": (DEFAULT, INFERENCE), "no_grad": (DEFAULT, NO_GRAD)}


# ---- left out of order ----


def test_undecorated_generators_may_leave_their_blocks_in_any_order():
    def body():
        with imode.inference_mode():
            yield

    generator = body()
    next(generator)
    assert state() == INFERENCE  # a plain block lasts while the generator is suspended
    with imode.no_grad():
        assert state() == INFERENCE
        generator.close()
        assert state() == NO_GRAD  # only the mode of the block that is left has gone
    assert state() == DEFAULT


def test_guards_left_out_of_order():
    for order in itertools.permutations(range(3)):
        guards = [imode.inference_mode(), imode.no_grad(), imode.inference_mode(False)]
        names = ["inference_mode()", "no_grad()", "inference_mode(False)"]
        for guard in guards:
            guard.__enter__()
        on = [0, 1, 2]
        for i in order:
            guards[i].__exit__(None, None, None)
            on.remove(i)
            assert state() == _expected([names[j] for j in on]), (order, i)


# ---- entered again while on ----


@each_guard
def test_a_guard_entered_again_while_it_is_on(make, inside):
    with imode.no_grad():
        outside = state()
        guard = make()
        with guard:
            once = state()
            with guard, guard:
                assert state() == once
            assert state() == once
        assert state() == outside or "set_grad" in repr(guard)
    assert state() == DEFAULT


def test_a_function_that_calls_itself_inside_of_one_guard():
    guard = imode.inference_mode()

    def count(n):
        with guard:
            below = count(n - 1) if n else 0
            assert state() == INFERENCE
        return below + 1

    assert count(50) == 51
    assert state() == DEFAULT


def test_a_guard_entered_again_between_others():
    guard = imode.no_grad()
    with guard:
        with imode.enable_grad():
            with guard:
                assert not imode.is_grad_enabled()
            assert imode.is_grad_enabled()
        assert not imode.is_grad_enabled()
    with pytest.raises(RuntimeError, match="is not on"):
        guard.__exit__(None, None, None)


def test_a_guard_entered_again_is_left_from_the_inside():
    guard, other = imode.inference_mode(), imode.no_grad()
    guard.__enter__()
    other.__enter__()
    guard.__enter__()
    other.__exit__(None, None, None)
    guard.__exit__(None, None, None)
    assert state() == INFERENCE
    guard.__exit__(None, None, None)
    assert state() == DEFAULT


def test_one_guard_shared_by_threads():
    guard = imode.inference_mode()
    both = threading.Barrier(2, timeout=20)
    seen = []

    def enter(first):
        with guard:
            both.wait()
            seen.append(state())
            both.wait()
            if first:
                with guard:
                    seen.append(state())
        seen.append(state())
        both.wait()

    threads = [threading.Thread(target=enter, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted([INFERENCE] * 3 + [DEFAULT] * 2)
    assert state() == DEFAULT


def test_entries_of_one_guard_name_their_own_lines():
    guard = imode.inference_mode()
    line = inspect.currentframe().f_lineno
    with guard:
        with guard:
            inner = imode.ones(1)
        outer = imode.ones(1)
    for t, at in ((inner, line + 2), (outer, line + 1)):
        with pytest.raises(RuntimeError, match=rf"entered at {re.escape(__file__)}:{at}\."):
            t._version  # noqa: B018


def test_a_guard_in_a_suspended_body_may_be_entered_again_outside_of_it():
    guard = imode.no_grad()

    @imode.inference_mode()
    def body():
        with guard:
            yield state()
            yield state()

    generator = body()
    assert next(generator) == INFERENCE
    with guard:
        assert state() == NO_GRAD
        assert next(generator) == INFERENCE
        assert state() == NO_GRAD
    generator.close()
    assert state() == DEFAULT


# ---- exceptions at the borders ----


def test_an_exception_in_enter_leaves_nothing_on():
    with imode.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        guard = imode.enable_grad()
        with pytest.raises(UserWarning, match="no effect"), guard:
            raise AssertionError("the block was entered")  # pragma: no cover
        assert state() == INFERENCE
        warnings.simplefilter("ignore")
        with guard:
            assert imode.is_grad_enabled()
    assert state() == DEFAULT
    with pytest.raises(TypeError, match="does not make a guard"):
        imode.no_grad.__new__(imode.no_grad).__enter__()
    assert state() == DEFAULT


def test_plain_blocks_of_generators_closed_thrown_into_and_collected():
    def body():
        with imode.no_grad():
            try:
                yield
            finally:
                assert state() == NO_GRAD

    closed, thrown, collected = body(), body(), body()
    for generator in (closed, thrown, collected):
        next(generator)
    closed.close()
    with pytest.raises(KeyError):
        thrown.throw(KeyError())
    del generator, collected
    gc.collect()
    assert state() == DEFAULT


def test_a_block_left_by_each_kind_of_exception():
    for error in (KeyError, SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration):
        with pytest.raises(error), imode.inference_mode(), imode.no_grad(), imode.normal_mode():
            raise error
        assert state() == DEFAULT


def test_a_cancelled_task_leaves_its_blocks():
    async def serve(started):
        with imode.inference_mode():
            started.set()
            await asyncio.sleep(60)

    async def main():
        started = asyncio.Event()
        task = asyncio.ensure_future(serve(started))
        await started.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return state()

    assert asyncio.run(main()) == DEFAULT


# ---- what messages need ----


def test_place_of_entry():
    def names():
        name, place = why_not_recording()
        return name, provenance.location(place)

    assert why_not_recording() is None
    line = inspect.currentframe().f_lineno
    with imode.inference_mode():
        assert names() == ("inference_mode", f"{__file__}:{line + 1}")
        with imode.no_grad():
            assert names() == ("inference_mode", f"{__file__}:{line + 1}")
    guard = imode.no_grad()
    with contextlib.ExitStack() as stack:
        stack.enter_context(guard)
        assert names() == ("no_grad", f"{__file__}:{line + 7}")

    @imode.inference_mode()
    def body():
        return names()

    assert body() == ("inference_mode", f"{__file__}:{body.__wrapped__.__code__.co_firstlineno}")


def test_places_of_code_that_is_gone_are_not_confused():
    seen = set()
    for i in range(300):
        scope = {"imode": imode, "why_not_recording": why_not_recording}
        code = textwrap.dedent("""
            with imode.inference_mode():
                place = why_not_recording()[1]
        """)
        exec(compile(code, f"made_{i}.py", "exec"), scope)
        seen.add(provenance.location(scope["place"]))
    assert seen == {f"made_{i}.py:2" for i in range(300)}
