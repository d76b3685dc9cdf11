"""Times and memory of whole networks with random weights, beside PyTorch.

    python -m benchmarks.models [--only REGEX] [--threads 1,2] [--level x86-64-v2] [--no-memory]

The networks of networks.py, with the same weights in both libraries: inference, and a step of
training (gradients to zero, forward, backward, the optimizer). The outputs, and the losses of three
steps, are compared before anything is timed. Times are the best of interleaved runs in one process;
the memory is what a process of its own grows by, at its peak, from the import to the third run.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from .__main__ import FOLDER, table
from .large import LEVELS, held_to, numbers
from .networks import NETWORKS
from .timing import geometric_mean, steady

BATCHES = 1, 16
KINDS = "inference", "training"
HEAD = ["work", "threads", "imode, ms", "PyTorch, ms", "PyTorch / imode", "imode, MB",
        "PyTorch, MB", "PyTorch / imode"]  # fmt: skip


class Work:
    """A network in one library: its answer, or its losses in training."""

    def __init__(self, lib, name, batch, kind):
        lib.manual_seed(0)
        self.lib, self.training = lib, kind == "training"
        self.model, self.x, self.target, self.loss, optimizer = NETWORKS[name](lib, batch)
        self.model.train(self.training)
        rate = {"lr": 1e-3} | ({"momentum": 0.9} if optimizer == "SGD" else {})
        self.optimizer = getattr(lib.optim, optimizer)(self.model.parameters(), **rate)

    def run(self):
        """One step, or one answer."""
        if self.training:
            self.optimizer.zero_grad()
            loss = self.loss(self.model(self.x), self.target)
            loss.backward()
            self.optimizer.step()
            return loss
        with self.lib.inference_mode():
            return getattr(self.model, "generate", self.model)(self.x)

    def like(self, other):
        """Take over the weights and the data of another library's."""
        from_numpy = self.lib.from_numpy
        state = {k: from_numpy(v.numpy().copy()) for k, v in other.model.state_dict().items()}
        self.model.load_state_dict(state)
        self.x, self.target = (from_numpy(t.numpy().copy()) for t in (other.x, other.target))
        return self


def compare(ours, theirs, what):
    """Raise unless both libraries give the same, within rounding: three times."""
    for _ in range(3):
        found, wanted = (work.run().detach().numpy() for work in (ours, theirs))
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3, err_msg=what)


def measure(options):
    """Yield {name, seconds} of every row."""
    import torch

    import imode

    threads = options["threads"]
    imode.set_num_threads(threads)
    torch.set_num_threads(threads)
    clock = time.thread_time if threads == 1 else time.perf_counter
    for name, batch, kind in works(options["only"]):
        theirs = Work(torch, name, batch, kind)
        ours = Work(imode, name, batch, kind).like(theirs)
        compare(ours, theirs, f"{name}, {batch}, {kind}")
        runs = {"imode": ("run()", {"run": ours.run}), "torch": ("run()", {"run": theirs.run})}
        times = steady(runs, clock, shot=5e-3, limit=2)
        yield {"name": name, "batch": batch, "kind": kind, "threads": threads} | times


def works(only):
    """The works whose names have the regular expression in them."""
    for name in NETWORKS:
        for batch in BATCHES:
            for kind in KINDS:
                if re.search(only, f"{name}, batch {batch}, {kind}"):
                    yield name, batch, kind


def peak(library, name, batch, kind):
    """The bytes by which this process's peak grows from the import to the third run."""
    lib = __import__(library)
    lib.set_num_threads(1)
    lib.ones(1).sum()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work = Work(lib, name, batch, kind)
    for _ in range(3):
        work.run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def child(mode, options, environment):
    """Yield what a process of its own prints, as JSON."""
    command = [sys.executable, "-m", "benchmarks.models", mode, json.dumps(options)]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    with done:
        yield from map(json.loads, done.stdout)
    if done.returncode:
        raise SystemExit(done.returncode)


def environment(options, threads):
    """The environment of a process of so many threads, at the level asked for."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    return os.environ | limits | (held_to(options.level) if options.level else {})


def memory(options):
    """{(name, batch, kind): {library: bytes}}."""
    found = {}
    for work in works(options.only):
        for library in ("imode", "torch"):
            (size,) = child("--peak", [library, *work], environment(options, 1))
            found.setdefault(work, {})[library] = size
    return found


def row(found, sizes):
    """A line of the table."""
    name = f"{found['name']}, batch {found['batch']}, {found['kind']}"
    cells = [name, str(found["threads"])]
    cells += [f"{found[key] * 1e3:#.3g}" for key in ("imode", "torch")]
    cells.append(f"{found['torch'] / found['imode']:.2f}")
    if not sizes:
        return [*cells, "", "", ""]
    cells += [f"{sizes[key] / 1e6:.0f}" for key in ("imode", "torch")]
    return [*cells, f"{sizes['torch'] / max(sizes['imode'], 1):.1f}"]


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="works whose name has it")
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--level", choices=LEVELS, help="hold all libraries to it")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--measure", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--peak", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        for found in measure(options.measure):
            print(json.dumps(found), flush=True)
        return
    if options.peak:
        print(peak(*options.peak))
        return
    rows = []
    for threads in options.threads:
        asked = {"only": options.only, "threads": threads}
        for found in child("--measure", asked, environment(options, threads)):
            rows.append(found)
            print("  ".join(row(found, None)).rstrip(), flush=True)
    if not rows:
        parser.error(f"no work is named like {options.only!r}")
    sizes = {} if options.no_memory else memory(options)
    for found in rows:
        found["bytes"] = sizes.get((found["name"], found["batch"], found["kind"]))
    page = table(HEAD, [row(found, found["bytes"]) for found in rows])
    ratios = [found["torch"] / found["imode"] for found in rows]
    page += f"\n\n{len(rows)} rows, geometric mean {geometric_mean(ratios):.2f}; "
    page += f"{sum(r < 1 for r in ratios)} below 1, the least {min(ratios):.2f}."
    print("", page, sep="\n")
    FOLDER.mkdir(parents=True, exist_ok=True)
    stem = "models" + (f"-{options.level}" if options.level else "")
    Path(FOLDER, f"{stem}.json").write_text(json.dumps(rows))
    Path(FOLDER, f"{stem}.md").write_text(page + "\n")
    print(f"\nWritten: {FOLDER}/{stem}.json, {stem}.md")


if __name__ == "__main__":
    main()
