"""Start a number of processes that run one function, and wait for all of them."""

import logging
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import connection

from imode._core.user_frames import warn

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
PATIENCE = 30  # seconds for a process to end after SIGTERM, where the caller gives none
_PR_SET_PDEATHSIG = 1  # of prctl(2)

log = logging.getLogger(__name__)


class ProcessException(Exception):
    """A started process failed: `error_index` says which, `error_pid` its number."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the message is the traceback in that process."""


class ProcessExitedException(ProcessException):
    """The process exited with `exit_code`, or was killed by the signal `signal_name`."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        rest = self.error_index, self.error_pid, self.exit_code, self.signal_name
        return type(self), (self.msg, *rest)


def die_with_parent(number=signal.SIGINT):
    """Have the system send a signal to this process when the one that started it ends (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def _run(fn, i, args, error_file):
    """Call `fn` in the new process; what it raises goes to the file."""
    die_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted, too, or has ended
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` started with join=False."""

    def __init__(self, processes, error_files):
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self):
        """The numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Wait until a process fails, or all have ended; True if all have, without failure.

        timeout: seconds to wait at most. When one fails, the others have `grace_period` seconds
        to end by themselves; then they are terminated. Raises ProcessRaisedException or
        ProcessExitedException for the first that failed.
        """
        ready = connection.wait(list(self.sentinels), timeout) if self.sentinels else ()
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode:
                self._end_all(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _wait(self, seconds):
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
        return [process for process in self.processes if process.is_alive()]

    def _end_all(self, grace_period):
        for process in self._wait(grace_period or 0):
            log.warning("Terminating process %s via signal SIGTERM", process.pid)
            process.terminate()
        for process in self._wait(PATIENCE if grace_period is None else grace_period):
            log.warning("Process %s ignores SIGTERM: killing it", process.pid)
            process.kill()
            process.join()

    def _failure(self, index):
        process, file = self.processes[index], self.error_files[index]
        code, which = process.exitcode, (index, process.pid)
        if os.access(file, os.R_OK):
            with open(file, "rb") as f:
                trace = pickle.load(f)
            os.unlink(file)
            said = f"\n\n-- Process {index} terminated with the following error:\n{trace}"
            return ProcessRaisedException(said, *which)
        if code >= 0:
            said = f"process {index} terminated with exit code {code}"
            return ProcessExitedException(said, *which, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        said = f"process {index} terminated with signal {name}"
        return ProcessExitedException(said, *which, code, name)


class SpawnContext(ProcessContext):
    """The older name of ProcessContext."""

    def __init__(self, processes, error_files):
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run `fn(i, *args)` in `nprocs` processes, i from 0 up.

    Waits for them, and raises what `ProcessContext.join` raises; with join=False, returns the
    ProcessContext. start_method: "spawn", "fork" or "forkserver".
    """
    context = multiprocessing.get_context(start_method)

    def start(i):
        # A file and not a queue, which a process that is killed may leave locked.
        with tempfile.NamedTemporaryFile(prefix="imode-error-", suffix=".pickle") as file:
            name = file.name
        process = context.Process(target=_run, args=(fn, i, args, name), daemon=daemon)
        process.start()
        return process, name

    if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1":
        with ThreadPoolExecutor(nprocs) as executor:
            started = list(executor.map(start, range(nprocs)))
    else:
        started = [start(i) for i in range(nprocs)]
    found = ProcessContext([process for process, _ in started], [name for _, name in started])
    if not join:
        return found
    while not found.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run `fn(i, *args)` in `nprocs` new interpreters: `start_processes` with "spawn".

    `fn` and `args` are pickled: `fn` must be defined at the top of a module.
    """
    if start_method != "spawn":
        warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t imode.multiprocessing.start_processes(...)",
            FutureWarning,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
