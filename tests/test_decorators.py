"""Guards as decorators: on functions, methods, generators and coroutines, also suspended ones."""

import asyncio
import functools
import gc
import inspect
import threading

import pytest

import imode
from tests.modes import (
    DEFAULT,
    INFERENCE,
    NO_GRAD,
    each_guard,
    starts_and_ends_in_the_default_state,  # noqa: F401
    state,
)

# ---- decorators on functions ----


@each_guard
def test_decorates_a_function(make, inside):
    @make()
    def body(a, *, b):
        """Says so."""
        return state(), a, b

    assert state() == DEFAULT
    for _ in range(2):
        assert body(1, b=2) == (inside, 1, 2)
        assert state() == DEFAULT
    assert (body.__name__, body.__doc__) == ("body", "Says so.")
    assert str(inspect.signature(body)) == "(a, *, b)"
    assert body.__module__ == __name__


@pytest.mark.parametrize("guard", [imode.inference_mode, imode.no_grad, imode.normal_mode])
def test_decorates_without_parentheses(guard):
    @guard
    def body():
        return imode.is_grad_enabled()

    assert body() is False
    assert body.__name__ == "body"


def test_decorated_enable_grad_without_parentheses():
    @imode.enable_grad
    def body():
        return imode.is_grad_enabled()

    with imode.no_grad():
        assert body() is True
        assert not imode.is_grad_enabled()


def test_decorated_function_that_raises_puts_the_state_back():
    @imode.inference_mode()
    def body():
        raise KeyError("x")

    with pytest.raises(KeyError):
        body()
    assert state() == DEFAULT


def test_decorated_function_may_call_itself():
    @imode.inference_mode()
    def body(n):
        inner = body(n - 1) if n else []
        return [state(), *inner]

    assert body(5) == [INFERENCE] * 6


def test_one_guard_decorates_several_functions_and_blocks():
    guard = imode.no_grad()

    @guard
    def outer():
        return inner()

    @guard
    def inner():
        with guard:
            return state()

    assert outer() == NO_GRAD


def test_decorates_methods_of_every_kind():
    class Model:
        @imode.inference_mode()
        def method(self):
            return self, state()

        @imode.inference_mode()
        @classmethod
        def outside_class_method(cls):
            return cls, state()

        @classmethod
        @imode.inference_mode
        def class_method(cls):
            return cls, state()

        @imode.inference_mode
        @staticmethod
        def static_method():
            return state()

        @property
        @imode.inference_mode()
        def prop(self):
            return state()

    model = Model()
    assert model.method() == (model, INFERENCE)
    assert Model.method(model) == (model, INFERENCE)
    assert model.class_method() == (Model, INFERENCE)
    assert Model.outside_class_method() == (Model, INFERENCE)
    assert Model.static_method() == model.static_method() == model.prop == INFERENCE


def test_decorates_callables_without_code():
    class Callable:
        def __call__(self):
            return state()

    assert imode.no_grad()(Callable())() == NO_GRAD
    assert imode.no_grad()(functools.partial(state))() == NO_GRAD
    assert imode.inference_mode()(max)(1, 2) == 2


def test_set_grad_enabled_as_a_decorator_acts_on_the_function_alone():
    @imode.set_grad_enabled(False)
    def body():
        return state()

    assert state() == DEFAULT
    assert body() == NO_GRAD
    assert state() == DEFAULT


def test_decorating_a_class_warns():
    with pytest.warns(FutureWarning, match=r"^Decorating classes is deprecated.*above `__init__`"):

        @imode.no_grad()
        class Made:
            def __init__(self):
                self.state = state()

    assert Made().state == NO_GRAD


# ---- generators ----


def counting(seen):
    """A generator that uses all of the protocol."""
    try:
        value = "start"
        while True:
            seen.append((value, state()))
            try:
                value = yield value
            except ValueError as error:
                value = f"caught {error}"
            if value == "stop":
                return "returned"
    finally:
        seen.append(("closed", state()))


@each_guard
def test_generator_has_the_mode_on_only_while_its_body_runs(make, inside):
    seen = []
    generator = make()(counting)(seen)
    assert state() == DEFAULT
    assert next(generator) == "start"
    assert state() == DEFAULT
    assert generator.send(1) == 1
    assert generator.throw(ValueError("it")) == "caught it"
    assert state() == DEFAULT
    with pytest.raises(StopIteration) as stopped:
        generator.send("stop")
    assert stopped.value.value == "returned"
    assert state() == DEFAULT
    assert seen == [(v, inside) for v in ("start", 1, "caught it", "closed")]


def test_generator_closed_and_collected():
    seen = []
    generator = imode.inference_mode(counting)(seen)
    next(generator)
    generator.close()
    assert seen[-1] == ("closed", INFERENCE)
    generator = imode.inference_mode(counting)(seen)
    next(generator)
    del generator
    gc.collect()
    assert len(seen) == 4
    assert seen[-1] == ("closed", INFERENCE)


def test_generator_that_raises():
    @imode.inference_mode()
    def body():
        yield state()
        raise KeyError("x")

    generator = body()
    assert next(generator) == INFERENCE
    with pytest.raises(KeyError):
        next(generator)
    assert state() == DEFAULT
    with pytest.raises(StopIteration):
        next(generator)


def test_generator_function_stays_one():
    decorated = imode.no_grad()(counting)
    assert inspect.isgeneratorfunction(decorated)
    assert decorated.__name__ == "counting"
    assert decorated.__wrapped__ is counting


def test_generator_delegates():
    @imode.inference_mode()
    def inner():
        received = yield state()
        return received

    def outer():
        result = yield from inner()
        yield result, state()

    generator = outer()
    assert next(generator) == INFERENCE
    assert generator.send("x") == ("x", DEFAULT)


def test_suspended_generator_keeps_the_guards_that_its_body_is_inside_of():
    @imode.inference_mode()
    def body():
        with imode.inference_mode(False), imode.no_grad():
            yield state()
            yield state()
        yield state()

    generator = body()
    assert next(generator) == NO_GRAD
    assert state() == DEFAULT
    with imode.inference_mode():
        assert next(generator) == NO_GRAD
        assert state() == INFERENCE
    assert state() == DEFAULT
    with imode.no_grad():
        assert next(generator) == INFERENCE
        assert state() == NO_GRAD


def test_suspended_generator_keeps_what_its_body_set_by_a_call():
    @imode.no_grad()
    def body():
        imode.set_grad_enabled(True)
        yield imode.is_grad_enabled()
        yield imode.is_grad_enabled()
        with imode.no_grad():
            imode.set_grad_enabled(True)
            yield imode.is_grad_enabled()
            yield imode.is_grad_enabled()
        yield imode.is_grad_enabled()

    generator = body()
    with imode.no_grad():
        assert next(generator) is True
        assert not imode.is_grad_enabled()
        assert list(generator) == [True, True, True, True]
    assert state() == DEFAULT


def test_interleaved_generators():
    on = imode.inference_mode(counting)([])
    seen_off = []
    off = imode.inference_mode(False)(counting)(seen_off)
    for _ in range(3):
        next(on)
        next(off)
    assert [s for _, s in seen_off] == [DEFAULT] * 3
    on.close()
    off.close()


def test_generator_resumed_in_another_thread():
    @imode.inference_mode()
    def body():
        with imode.no_grad():
            yield state()
            yield state()

    generator = body()
    results = [next(generator)]
    thread = threading.Thread(target=lambda: results.append((next(generator), state())))
    thread.start()
    thread.join()
    assert results == [INFERENCE, (INFERENCE, DEFAULT)]
    generator.close()


# ---- coroutines ----


def test_two_tasks_on_one_thread_never_see_each_others_mode():
    log = []

    async def body(name, expected):
        for _ in range(3):
            log.append((name, state() == expected))
            await asyncio.sleep(0)
        return name, state()

    async def main():
        async def watch():
            for _ in range(5):
                log.append(("watch", state() == DEFAULT))
                await asyncio.sleep(0)

        return await asyncio.gather(
            imode.inference_mode()(body)("inference", INFERENCE),
            imode.no_grad(body)("no_grad", NO_GRAD),
            body("plain", DEFAULT),
            watch(),
        )

    results = asyncio.run(main())
    assert results[:3] == [("inference", INFERENCE), ("no_grad", NO_GRAD), ("plain", DEFAULT)]
    assert len(log) == 14
    assert all(ok for _, ok in log)
    assert len({name for name, _ in log[:4]}) == 4  # they did run interleaved


def test_coroutine_function_stays_one():
    @imode.inference_mode
    async def body(x):
        """Doc."""
        return x, state()

    assert inspect.iscoroutinefunction(body)
    assert body.__doc__ == "Doc."
    assert asyncio.run(body(3)) == (3, INFERENCE)


def test_coroutine_exceptions_and_cancellation():
    seen = []

    @imode.inference_mode()
    async def body():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append(state())
            raise
        finally:
            seen.append(state())

    @imode.inference_mode()
    async def fails():
        await asyncio.sleep(0)
        raise KeyError("x")

    async def main():
        task = asyncio.ensure_future(body())
        await asyncio.sleep(0)
        assert state() == DEFAULT
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(KeyError):
            await fails()
        assert state() == DEFAULT

    asyncio.run(main())
    assert seen == [INFERENCE, INFERENCE]


def test_coroutine_keeps_inner_guards_across_await():
    @imode.inference_mode()
    async def body():
        with imode.inference_mode(False):
            await asyncio.sleep(0)
            return state()

    async def main():
        with imode.no_grad():
            return await asyncio.gather(body(), body())

    assert asyncio.run(main()) == [DEFAULT, DEFAULT]


def test_coroutine_method_and_nested_coroutines():
    class Server:
        @imode.inference_mode()
        async def serve(self, n):
            if n:
                await asyncio.sleep(0)
                return [state(), *await self.serve(n - 1)]
            return []

    assert asyncio.run(Server().serve(3)) == [INFERENCE] * 3


def test_async_generator():
    seen = []

    @imode.inference_mode()
    async def body():
        try:
            with imode.inference_mode(False):
                received = yield state()
            await asyncio.sleep(0)
            try:
                yield received, state()
            except ValueError:
                yield "caught", state()
            yield "last"
        finally:
            await asyncio.sleep(0)
            seen.append(state())

    async def main():
        generator = body()
        assert await generator.asend(None) == DEFAULT
        assert await generator.asend("sent") == ("sent", INFERENCE)
        assert state() == DEFAULT
        assert await generator.athrow(ValueError) == ("caught", INFERENCE)
        await generator.aclose()
        assert seen == [INFERENCE]
        assert [x async for x in body()][1:] == [(None, INFERENCE), "last"]
        assert state() == DEFAULT

    assert inspect.isasyncgenfunction(body)
    asyncio.run(main())


def test_nothing_is_traced():
    with pytest.raises(NotImplementedError, match=r"fx\.symbolic_trace: imode does not trace"):
        imode.fx.symbolic_trace(imode.nn.ReLU())

    class Own(imode.fx.GraphModule):
        pass

    with pytest.raises(NotImplementedError, match=r"fx\.GraphModule: imode does not trace"):
        Own(imode.nn.ReLU(), None)
    assert issubclass(Own, imode.nn.Module) and not isinstance(imode.nn.ReLU(), Own)
