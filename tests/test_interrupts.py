"""What comes in the middle of an import that waited for a first use: the next use works.

Each case runs in a process of its own, forked off one where NumPy is imported.
"""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs in forked processes")

PROGRAM = """
import os, signal, sys, threading
import numpy, numpy.random

def operators():
    import imode
    x = imode.ones(2, requires_grad=True)
    (x * 2 + 1).softmax(0).sum().backward()
    assert x.grad.shape == (2,) and imode.ones(2).cumsum(0).tolist() == [1, 2]
    found = imode.ones(2).max(0)
    assert type(found) is imode.return_types.max

def modules():
    import imode
    layer = imode.nn.Linear(2, 1)
    layer(imode.ones(2)).sum().backward()
    imode.optim.SGD(layer.parameters(), lr=0.1).step()
    assert imode.nn.modules.linear.Linear is type(layer)
    assert imode.nn.functional.relu(imode.ones(1)).item() == 1

def forked(function, *arguments):
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(function.__name__, arguments, type(error).__name__, error, flush=True)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return status

class Search:
    "A finder that finds nothing, and raises at the nth search."
    def __init__(self, n):
        self.n, self.count = n, 0
    def find_spec(self, name, path=None, target=None):
        self.count += 1
        if self.count == self.n:
            raise KeyboardInterrupt(name)

class Steps:
    "A trace function that sends a signal at the nth step."
    def __init__(self, n, number=None):
        self.n, self.count, self.number = n, 0, number
    def __call__(self, frame, event, argument):
        self.count += 1
        if self.count == self.n:
            signal.raise_signal(self.number)
        return self

def number_of(count):
    "What count() gives in a process of its own."
    read, write = os.pipe()
    assert not forked(lambda: os.write(write, str(count()).encode()))
    return int(os.read(read, 20))
"""


def run(body):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + body], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("use", "imported", "stride"),
    [("operators", "", 5), ("operators", "imode", 2), ("modules", "imode", 18)],
)
def test_an_import_that_fails_at_any_search_is_tried_again(use, imported, stride):
    run(f"""
if {imported!r}:
    import imode

def searches():
    search = Search(0)
    sys.meta_path.insert(0, search)
    {use}()
    return search.count

def interrupted(n):
    search = Search(n)
    sys.meta_path.insert(0, search)
    try:
        {use}()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not interrupted")
    sys.meta_path.remove(search)
    {use}()
    operators()

n = number_of(searches)
assert n > 30
sys.exit(any([forked(interrupted, i) for i in range(1, n + 1, {stride})]))
""")


TRACED = """
import imode

def steps():
    trace = Steps(0)
    sys.settrace(trace)
    {use}()
    sys.settrace(None)
    return trace.count

n = number_of(steps)
points = [n * i // {points} + 1 for i in range({points})]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("use", "points"), [("operators", 20), ("modules", 5)])
def test_an_interrupt_at_any_step_leaves_the_next_use_whole(use, points):
    run(
        TRACED.format(use=use, points=points)
        + f"""
def interrupted(n):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.settrace(Steps(n, signal.SIGINT))
        {use}()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not interrupted")
    sys.settrace(None)
    {use}()
    operators()

sys.exit(any([forked(interrupted, i) for i in points]))
"""
    )


@pytest.mark.slow
@pytest.mark.parametrize(("use", "points"), [("operators", 20), ("modules", 5)])
def test_a_handler_of_a_signal_uses_operators_at_any_step(use, points):
    run(
        TRACED.format(use=use, points=points)
        + f"""
def handled(n):
    handled = []
    def handle(*_):
        with imode.enable_grad():  # it may come in the middle of a backward
            {use}()
        handled.append(True)
    signal.signal(signal.SIGUSR1, handle)
    sys.settrace(Steps(n, signal.SIGUSR1))
    {use}()
    sys.settrace(None)
    assert handled
    operators()

sys.exit(any([forked(handled, i) for i in points]))
"""
    )


@pytest.mark.slow
def test_interrupts_after_random_times_leave_the_next_use_whole():
    run("""
import imode, random, time

def interrupted(seconds):
    def handle(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        operators()
        modules()
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    operators()
    modules()

random.seed(7)
sys.exit(any([forked(interrupted, random.uniform(1e-5, 0.1)) for _ in range(8)]))
""")


def test_finalizers_use_operators_while_modules_are_imported():
    run("""
import imode, gc

class Cycle:
    used = 0
    def __init__(self):
        self.cycle = self
    def __del__(self):
        imode.ones(3).sort()
        imode.zeros(2).softmax(0)
        Cycle.used += 1

class Making:
    "A finder that makes garbage, and an import that follows collects it."
    def find_spec(self, name, path=None, target=None):
        Cycle()

def collected():
    sys.meta_path.insert(0, Making())
    gc.set_threshold(1, 1, 1)
    operators()
    modules()
    [Cycle() for _ in range(9)]
    assert Cycle.used and gc.isenabled()

sys.exit(bool(forked(collected)))
""")


def test_a_signal_reaches_the_main_thread_when_another_has_imported():
    run("""
import imode, time

def waits():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begun = threading.Event()
    class Begun:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("imode.ops."):
                begun.set()
                os.kill(os.getpid(), signal.SIGINT)
                sys.meta_path.remove(self)
    sys.meta_path.insert(0, Begun())
    start = time.monotonic()
    try:
        threading.Thread(target=operators).start()
        time.sleep(60)
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        assert begun.is_set() and time.monotonic() - start < 30
    operators()

sys.exit(bool(forked(waits)))
""")


def test_handlers_that_are_set_stay_as_they_are():
    before = signal.getsignal(signal.SIGINT)
    run("""
import imode
handler = lambda *_: None
signal.signal(signal.SIGUSR1, handler)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
operators()
modules()
assert signal.getsignal(signal.SIGUSR1) is handler
assert signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
signal.raise_signal(signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR2)
""")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_a_process_that_is_forked_in_an_import_has_its_signals():
    run("""
import imode, time

def waits():
    "Forks while another thread imports, which takes longer than the fork waits for it."
    begun = threading.Event()
    class Slow:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("imode.ops."):
                begun.set()
                time.sleep(7)
    sys.meta_path.insert(0, Slow())
    threading.Thread(target=lambda: imode.ones(2), daemon=True).start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os._exit(bool(signal.raise_signal(signal.SIGUSR1)) + 5)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3, status

def handle(*_):
    os._exit(3)

signal.signal(signal.SIGUSR1, handle)
sys.exit(bool(forked(waits)))
""")
