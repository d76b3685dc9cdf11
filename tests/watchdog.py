"""A time limit for tests with processes: what would hang fails."""

import os
import signal
import subprocess
import sys
import time

import pytest

SECONDS = 40


@pytest.fixture
def watchdog():
    """Raise TimeoutError in the test after SECONDS."""

    def stop(number, frame):
        raise TimeoutError(f"hangs: no end after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def program(path, text, *, check=True, **options):
    """Run a program of its own, with a time limit; return what it printed.

    Ctrl-C ends it as in a terminal, also where a shell that runs the tests in the background has it
    ignored.
    """
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path]).lstrip(os.pathsep)},
        **options,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def is_running(pid):
    """Whether a process is there and not a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=20):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def descriptors():
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))
