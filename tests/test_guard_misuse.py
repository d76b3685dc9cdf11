"""Guards misused, and used where Python is in an odd state: forks, shutdown, the collector."""

import copy
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import imode
from imode._core.guard import Guard, remake
from tests.modes import (
    AD,
    AUTOGRAD,
    DEFAULT,
    INFERENCE,
    starts_and_ends_in_the_default_state,  # noqa: F401
    state,
)

# ---- misuse ----


def test_left_without_being_entered():
    guard = imode.no_grad()
    with pytest.raises(RuntimeError, match=r"^no_grad: this guard is not on"):
        guard.__exit__(None, None, None)
    assert state() == DEFAULT
    with guard:
        pass
    with pytest.raises(RuntimeError, match="is not on"):
        guard.__exit__(None, None, None)


def test_left_in_another_thread():
    guard = imode.inference_mode()
    errors = []

    def leave():
        try:
            guard.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append((str(error), state()))

    with guard:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert state() == INFERENCE
    ((message, other),) = errors
    assert other == DEFAULT
    assert "entered in another thread" in message
    assert "test_guard_misuse.py" in message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: imode.inference_mode(1), "must be bool, not int: 1"),
        (lambda: imode.inference_mode(None), "must be bool, not NoneType"),
        (lambda: imode.inference_mode("on"), "must be bool, not str: 'on'"),
        (lambda: imode.inference_mode(True, False), "takes at most 1 argument"),
        (lambda: imode.inference_mode(on=True), "unexpected keyword argument 'on'"),
        (lambda: imode.no_grad("x"), "a function to decorate, not str"),
        (lambda: imode.set_grad_enabled(), "missing 1 required positional argument: 'mode'"),
        (lambda: imode.set_grad_enabled(1), "must be bool, not int"),
        (lambda: imode.enable_grad()(3), "expected a function to decorate, got 3"),
        (lambda: Guard(), "not made directly"),
        (lambda: imode.is_inference(1), "must be Tensor, not int"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*never entered:RuntimeWarning")
def test_wrong_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call()
    assert state() == DEFAULT


def test_guard_never_entered_warns_with_its_line():
    line = inspect.currentframe().f_lineno + 2
    with pytest.warns(RuntimeWarning) as caught:
        imode.inference_mode()
        gc.collect()
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (__file__, line)
    assert str(warning.message).startswith(
        "inference_mode(...), made here or in what is called here, was never entered and"
    )
    with pytest.warns(RuntimeWarning, match=r"no_grad\(\.\.\.\), made here"):
        guard = imode.no_grad()
        del guard


def test_guards_that_were_used_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with imode.inference_mode():
            pass
        imode.set_grad_enabled(True)
        imode.no_grad()(state)()
        imode.inference_mode(state)()
        guard = imode.enable_grad()
        guard.__enter__()
        guard.__exit__(None, None, None)
        del guard


def test_no_warning_at_interpreter_shutdown():
    code = "import imode\nguard = imode.no_grad()\nkept = [imode.inference_mode()]"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_pending_exception_survives_the_warning():
    with pytest.warns(RuntimeWarning, match="never entered"), pytest.raises(KeyError):
        guard = imode.no_grad()
        try:
            raise KeyError("x")
        finally:
            del guard


def test_enable_grad_inside_inference_mode_warns_once_per_place():
    def once():
        with imode.enable_grad():
            assert imode.is_grad_enabled()

    def again():
        imode.set_grad_enabled(True)

    with imode.inference_mode():
        for function, name in ((once, "enable_grad"), (again, "set_grad_enabled")):
            with pytest.warns(UserWarning) as caught:
                function()
                function()
            (warning,) = caught
            assert str(warning.message).startswith(f"{name} has no effect inside inference_mode")
            assert "(entered at " in str(warning.message)
            assert warning.lineno == function.__code__.co_firstlineno + 1
    with imode.no_grad():
        once()  # it does have an effect here


def test_warning_as_an_error_leaves_the_state():
    with imode.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        guard = imode.enable_grad()
        with pytest.raises(UserWarning, match="no effect"):
            guard.__enter__()
        assert state() == INFERENCE
        with pytest.warns(UserWarning, match="no effect"), guard:
            pass


def test_auto_non_variable_type_mode_names_its_successors():
    with pytest.warns(FutureWarning) as caught, imode.AutoNonVariableTypeMode():
        assert state() == (False, True, (AUTOGRAD, AD), True)
    (warning,) = caught
    assert "inference_mode" in str(warning.message)
    assert "AutoDispatchBelowADInplaceOrView" in str(warning.message)
    assert warning.filename == __file__
    with pytest.raises(RuntimeError, match="enabled must be True"):
        imode.AutoNonVariableTypeMode(False)


class Hostile:
    """Whatever is asked of it is an error."""

    def refuse(self, *args):
        raise KeyError("asked")

    __bool__ = __eq__ = __hash__ = __index__ = __repr__ = __iter__ = __len__ = refuse


@pytest.mark.parametrize(
    "call",
    [
        imode.inference_mode,
        imode.no_grad,
        imode.set_grad_enabled,
        imode.is_inference,
        lambda value: imode.inference_mode(mode=value),
        lambda value: imode.enable_grad(orig_func=value),
        lambda value: imode.no_grad()(value),
        lambda value: imode.no_grad().__exit__(value, value, value, value),
        imode.Tensor.normal,
    ],
)
@pytest.mark.filterwarnings("ignore:.*never entered:RuntimeWarning")
def test_arguments_that_do_not_want_to_be_looked_at(call):
    with pytest.raises(TypeError):
        call(Hostile())
    assert state() == DEFAULT


@pytest.mark.parametrize("base", [Guard, imode.no_grad, imode.inference_mode])
def test_guards_have_no_subclasses(base):
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (base,), {})


def test_copies_are_not_on_and_do_not_act():
    for guard in (imode.inference_mode(False), imode.no_grad(), imode.set_grad_enabled(True)):
        with guard:
            for same in (copy.copy(guard), copy.deepcopy(guard), pickle.loads(pickle.dumps(guard))):
                assert repr(same) == repr(guard)
                with pytest.raises(RuntimeError, match="is not on"):
                    same.__exit__()
    for wrong in ((int, 1), (imode.no_grad, 0), (imode.no_grad, 99)):
        with pytest.raises(TypeError, match="make no guard"):
            remake(*wrong)


def test_a_hundred_thousand_guards_left_from_the_outside():
    guards = [imode.no_grad() for _ in range(100_000)]
    for guard in guards:
        guard.__enter__()
    guards.pop(0).__exit__()
    while guards:
        guards.pop().__exit__()
    assert state() == DEFAULT


def test_a_body_suspended_in_a_hundred_thousand_guards():
    @imode.inference_mode()
    def body():
        guards = [imode.no_grad() for _ in range(100_000)]
        for guard in guards:
            guard.__enter__()
        yield state()
        while guards:
            guards.pop().__exit__()
        yield state()

    generator = body()
    assert next(generator) == INFERENCE
    assert state() == DEFAULT
    assert next(generator) == INFERENCE
    generator.close()


def test_a_warning_that_enters_the_guard_which_it_is_about():
    guard = imode.enable_grad()
    with imode.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("always")
        entered = []

        def show(*args, **kwargs):
            entered.append(guard)
            if len(entered) == 1:
                guard.__enter__()

        warnings.showwarning = show
        guard.__enter__()
        guard.__exit__()
        guard.__exit__()
        with pytest.raises(RuntimeError, match="is not on"):
            guard.__exit__()


def test_the_collector_enters_the_guards_that_are_being_entered():
    guard = imode.no_grad()
    entered = []

    def collecting(phase, info):
        guard.__enter__()
        entered.append(phase)

    threshold = gc.get_threshold()
    gc.callbacks.append(collecting)
    gc.set_threshold(2)
    try:
        for i in range(200):
            exec(compile("with guard: kept = [[]]", f"collected_{i}.py", "exec"), {"guard": guard})
    finally:
        gc.callbacks.remove(collecting)
        gc.set_threshold(*threshold)
    for _ in entered:
        guard.__exit__()
    assert len(entered) > 100
    assert state() == DEFAULT


def test_a_thread_may_end_inside_of_a_guard():
    guard = imode.inference_mode()
    for _ in range(3):
        thread = threading.Thread(target=guard.__enter__)
        thread.start()
        thread.join()
        assert state() == DEFAULT
        with pytest.raises(RuntimeError, match="in another thread at"):
            guard.__exit__()
        with guard:
            assert state() == INFERENCE


# ---- in a process of its own ----


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(imode.__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_shutdown_while_a_thread_serves():
    run("""
import imode, threading

started = threading.Event()

def serve():
    with imode.inference_mode():
        while True:
            imode.ones(2) + 1
            started.set()

threading.Thread(target=serve, daemon=True).start()
started.wait(60)
""")


def test_shutdown_with_guards_on_and_objects_that_use_them_as_they_go():
    out, err = run("""
import imode

class Late:
    def __init__(self):
        self.guard, self.x = imode.inference_mode(), imode.ones(2, requires_grad=True)
        (self.x * 2).sum().backward()
    def __del__(self):
        with self.guard:
            y = self.x * 2
        try:
            y * self.x
        except RuntimeError as error:
            print(str(error).splitlines()[0])
        (self.x * 2).sum().backward()

def body():
    with imode.no_grad():
        yield


late = Late()
suspended = [body(), imode.inference_mode()(body)()]
for generator in suspended:
    next(generator)
on = imode.inference_mode(False)
on.__enter__()
""")
    assert out == "Inference tensors cannot be saved for backward.\n"
    assert err == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_has_the_modes_of_the_thread_that_forked():
    run("""
import os, threading
import imode

x = imode.ones(2, requires_grad=True)
stop = []

def serve():
    while not stop:
        with imode.inference_mode():
            x * 2

thread = threading.Thread(target=serve)
thread.start()  # its first operator is imported while this thread forks
for _ in range(10):
    with imode.no_grad():
        child = os.fork()
        if child == 0:
            assert not imode.is_grad_enabled()
    if child == 0:
        assert imode.is_grad_enabled()
        (x * x).sum().backward()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.append(1)
thread.join()
""")


def test_a_second_interpreter_of_one_process_is_refused_or_works():
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(module)
    out, _ = run(
        f"import {module} as interpreters"
        + """
import sys
import imode

OTHER = '''
try:
    import imode
except ImportError:
    print("refused", flush=True)
else:
    print("works", imode.ones(2).tolist(), flush=True)
'''
other = interpreters.create()
interpreters.run_string(other, f"import sys; sys.path[:] = {sys.path!r}" + OTHER)
interpreters.destroy(other)
x = imode.ones(2, requires_grad=True)
(x * x).sum().backward()
print(x.grad.tolist())
"""
    )
    assert out in ("refused\n[2.0, 2.0]\n", "works [1.0, 1.0]\n[2.0, 2.0]\n")
