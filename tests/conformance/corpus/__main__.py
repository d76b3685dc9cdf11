"""Public scripts and packages, run in both libraries: what they print and hold is compared.

    python -m tests.conformance.corpus scripts FOLDER [--only WORD] [--part 1/1] [--seconds 10]
    python -m tests.conformance.corpus packages [...]

FOLDER holds a checkout of each repository of scripts.txt as OWNER+NAME. A line of scripts.txt is a
repository, a file and its arguments; packages/ has a program for each package. Each runs in a copy
of its folder, once by PyTorch, once by `imode` standing in, with the same seeds. For scripts,
pretend/torchvision has random pictures. A script that is not done after that many seconds of CPU
counts as far as both came. Prints a line for each and a table.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.?\d+)(?:e[-+]?\d+)?")
SAME, FAR, APART, STOPS, NEITHER = (
    *("the same", "the same as far as it ran", "apart", "imode stops", "stops in PyTorch, too"),
)


class Runner:
    """A process that has imported one library and runs scripts in children of its own."""

    def __init__(self, library, seconds, pretend):
        path = os.pathsep.join(map(str, (*pretend, ROOT)))
        environment = os.environ | {
            "PYTHONPATH": path,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "COLUMNS": "80",
            "MPLBACKEND": "Agg",
        }
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "run_many.py"), library, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, script, arguments, folder):
        """Run one script; return its exit code, what it printed, and what it held."""
        with tempfile.TemporaryDirectory() as work:
            place, report = Path(work, "copy"), Path(work, "report")
            shutil.copytree(folder, place, symlinks=True)
            report.mkdir()
            job = {"script": str(place / script), "arguments": arguments, "folder": str(place),
                   "report": str(report)}  # fmt: skip
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            code = json.loads(self.process.stdout.readline())
            out, err = ((report / name).read_text(errors="replace") for name in ("out", "err"))
            kept = report / "held"  # not there for a script that left by sys.exit(0)
            held = json.loads(kept.read_text()) if kept.exists() else {}
        return code, out.replace(work, ""), err.replace(work, ""), held


# ---- comparison ----


def close(a, b, tolerance):
    """Whether two numbers are equal but for rounding, which training makes larger."""
    a, b = float(a), float(b)
    return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def same_line(a, b, tolerance):
    """Whether two lines are equal but for the last digits of numbers and for times."""
    if a == b or re.search(r"(?i)time|took|sec|ms\b|elapsed|it/s", a):
        return True
    if "".join(NUMBER.sub("0", a).split()) != "".join(NUMBER.sub("0", b).split()):
        return False
    return all(close(x, y, tolerance) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def same_held(a, b, tolerance):
    """Whether two digests are equal but for the last digits."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_held(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same_held(x, y, tolerance) for x, y in zip(a, b))
    return close(a, b, tolerance) if isinstance(a, float) else a == b


def first_difference(theirs, ours, tolerance):
    """The first lines, or names, that differ; None if all are the same as far as both came."""
    whole = theirs[0] == ours[0] == 0
    a, b = theirs[1].splitlines(), ours[1].splitlines()
    if whole and len(a) != len(b):
        return f"{len(a)} lines and {len(b)}: {a[-1:]} {b[-1:]}"
    if not whole:  # the last line of one that was cut off may be half a line
        a, b = a[: len(b) - 1], b[: len(a) - 1]
    for x, y in zip(a, b):
        if not same_line(x, y, tolerance):
            return f"{x!r} and {y!r}"
    if whole:
        for name in theirs[3]:
            if not same_held(theirs[3][name], ours[3].get(name), tolerance):
                return f"{name}: {theirs[3][name]} and {ours[3].get(name)}"[:300]
    return None


def judge(theirs, ours, tolerance):
    """How the run on imode went beside PyTorch's, and what is worth reading."""
    cut = (-24, -9)
    if theirs[0] not in (0, *cut):
        return NEITHER, last(theirs[2])
    if ours[0] not in (0, *cut):
        return STOPS, last(ours[2])
    difference = first_difference(theirs, ours, tolerance)
    if difference is not None:
        return APART, difference
    if theirs[0] == ours[0] == 0:
        return SAME, f"{len(ours[1].splitlines())} lines, {len(ours[3])} values"
    return FAR, f"{min(len(x[1].splitlines()) for x in (theirs, ours))} lines"


def last(text):
    """The last line of a traceback."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


# ---- what is run ----


def scripts(folder):
    """(name, folder, script, arguments) of each line of scripts.txt."""
    for line in (HERE / "scripts.txt").read_text().splitlines():
        if line and line[0] != "#":
            repository, rest = line.split(" ", 1)
            script, *arguments = rest.split(" | ")
            words = arguments[0].split() if arguments else []
            yield f"{repository} {script}", folder / repository.replace("/", "+"), script, words


def packages():
    """The same of each program of packages/: with_ and the package that it uses."""
    for path in sorted((HERE / "packages").glob("*.py")):
        yield path.stem.removeprefix("with_"), path.parent, path.name, []


def compare(chosen, seconds, tolerance, pretend):
    """Run programs in both libraries, print a line for each; return the outcomes' counts."""
    runners = [Runner(library, seconds, pretend) for library in ("imode", "torch")]
    results = Counter()
    with ThreadPoolExecutor(2) as pool:
        for name, folder, script, arguments in chosen:
            both = [pool.submit(r.run, script, arguments, folder) for r in runners]
            ours, theirs = (run.result() for run in both)
            outcome, detail = judge(theirs, ours, tolerance)
            results[outcome] += 1
            print(f"{outcome:26} {name}: {detail}", flush=True)
    for runner in runners:
        runner.process.stdin.close()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["scripts", "packages"])
    parser.add_argument("folder", type=Path, nargs="?", help="of checkouts, for scripts")
    parser.add_argument("--only", default="", help="run what has this word in its name")
    parser.add_argument("--part", default="1/1", help="run the second third: 2/3")
    parser.add_argument("--seconds", type=int, default=10, help="of CPU, for each run")
    parser.add_argument("--tolerance", type=float, default=2e-3)
    options = parser.parse_args()
    if options.what == "scripts":
        chosen, pretend = scripts(options.folder), [HERE / "pretend"]
    else:
        chosen, pretend = packages(), []
    part, parts = map(int, options.part.split("/"))
    chosen = [work for work in chosen if options.only in work[0]][part - 1 :: parts]
    results = compare(chosen, options.seconds, options.tolerance, pretend)
    print("\n| outcome | programs |\n|---|---:|")
    for outcome in (SAME, FAR, APART, STOPS, NEITHER):
        print(f"| {outcome} | {results[outcome]} |")


if __name__ == "__main__":
    main()
