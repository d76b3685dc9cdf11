"""Random programs in imode and PyTorch until a time is up; every difference is shrunk and shown.

    python -m tests.conformance.fuzz --seconds 60 --seed 0

The program that is running stands in build/fuzz/last.py, in case it takes the interpreter down.
"""

import argparse
import faulthandler
import importlib
import sys
import time
from pathlib import Path

from . import known
from .custom import CustomGenerator
from .generate import Generator
from .programs import compare, run, script, shrink

FOLDER = Path("build", "fuzz")


def check(lib, reference, seed, rules, length=14, before=None, generator=Generator):
    """Return None, or (program, Mismatch) of the shrunk program of this seed."""
    program, theirs = generator(reference, seed, length).program()
    if before:
        before(program)
    found = compare(run(lib, program), theirs)
    if found is None or intended(found, rules):
        return None
    kind = found.kind

    def fails(smaller):
        again = compare(run(lib, smaller), run(reference, smaller))
        return again is not None and again.kind == kind and not intended(again, rules)

    program = shrink(program, fails)
    return program, compare(run(lib, program), run(reference, program)) or found


def intended(mismatch, rules):
    """Whether the page of differences has a rule for everything in this mismatch."""
    if any("INTERNAL ASSERT" in str(theirs) for _, _, theirs in mismatch.found):
        return True  # PyTorch fails in a check of its own
    for path, ours, theirs in mismatch.found:
        observable = path if path == "outcome" else path.partition(".")[2]
        names = (
            f"program {mismatch.source}", f"raises {mismatch.raised}",
            f"here {ours}", f"there {theirs}",
        )  # fmt: skip
        if not any(rules.allow(name, observable) for name in names):
            return False
        if path == "outcome":
            return True  # one of the two did nothing: what differs otherwise follows from it
    return True


def report(seed, program, mismatch):
    """Return the text for one difference."""
    return f"seed {seed}: {mismatch}\n\n{script(program)}"


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=14)
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    parser.add_argument("--library", default="imode")
    parser.add_argument("--custom", action="store_true", help="programs with custom functions")
    options = parser.parse_args()
    reference, lib = importlib.import_module("torch"), importlib.import_module(options.library)
    reference.set_num_threads(1)
    rules = known.load()
    FOLDER.mkdir(parents=True, exist_ok=True)
    begun, seed, kinds = time.monotonic(), options.seed, {}
    while time.monotonic() < begun + options.seconds and len(kinds) < options.most:
        faulthandler.dump_traceback_later(60)  # where a program hangs
        found = check(
            lib, reference, seed, rules, options.length,
            before=lambda program: FOLDER.joinpath("last.py").write_text(script(program)),
            generator=CustomGenerator if options.custom else Generator,
        )  # fmt: skip
        if found:
            text = report(seed, *found)
            key = (found[1].kind, found[1].source.translate(str.maketrans("", "", "0123456789")))
            if key not in kinds:
                print(text, flush=True)
                FOLDER.joinpath(f"{seed}.py").write_text(text.replace("\n\n", '\n"""\n\n', 1)
                                                         .join(['"""', ""]))  # fmt: skip
            kinds[key] = kinds.get(key, 0) + 1
        seed += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{seed - options.seed} programs from seed {options.seed}: {len(kinds)} kinds of "
          f"difference, {sum(kinds.values())} programs that differ")  # fmt: skip
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
