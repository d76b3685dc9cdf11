"""Run scripts in one library, each in a forked child: run_many.py torch|imode SECONDS < jobs.

A job is a line of JSON: script, arguments, folder (where a copy of the repository is), report (a
folder). The child has the seeds set and shows no pictures; it writes `out`, `err` and, when the
script ends, `held` into the report: for each tensor and module among the script's global names, its
shape and a mean of its values. The exit code is printed as a line of JSON when a job is done.
"""

import json
import os
import random
import resource
import runpy
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy


def digest(value, torch):
    """What is compared of a value; None for what is not."""
    if isinstance(value, torch.nn.Module):
        parts = [digest(t, torch) for t in value.state_dict().values()]
        return {"module": type(value).__name__, "parts": [part for part in parts if part]}
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return None
    number = value.detach()
    number = number.abs() if number.is_complex() else number
    mean = number.double().abs().mean().item() if number.numel() else 0.0
    return {"shape": list(value.shape), "dtype": str(value.dtype).split(".")[-1], "mean": mean}


def run(torch, job, seconds):
    """Run a script in this process and write what it holds at its end."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    report, script = Path(job["report"]), job["script"]
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(report / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
    sys.stdout.reconfigure(line_buffering=True)
    os.chdir(Path(script).parent)
    sys.path[:0] = [str(Path(script).parent), job["folder"]]
    sys.argv = [script, *job["arguments"]]
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    names = runpy.run_path(script, run_name="__main__")
    found = {k: d for k, v in sorted(names.items()) if k[:1] != "_" and (d := digest(v, torch))}
    (report / "held").write_text(json.dumps(found))


def child(torch, job, seconds):
    """Run a script and end the process as Python would."""
    try:
        run(torch, job, seconds)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def wait(number, seconds):
    """The exit code of a child, or -9 when it did not end in time."""
    end = time.monotonic() + 60 * seconds  # on a busy machine
    while time.monotonic() < end:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return -9


def main():
    library, seconds = sys.argv[1], int(sys.argv[2])
    if library == "imode":
        import imode

        imode.stand_in_for_torch()
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        number = os.fork()
        if not number:
            child(torch, json.loads(line), seconds)
        print(json.dumps(wait(number, seconds)), flush=True)


if __name__ == "__main__":
    main()
