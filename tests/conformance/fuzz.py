"""Random programs in imode and PyTorch until a time is up; every difference is shrunk and shown.

    python -m tests.conformance.fuzz --seconds 60 --seed 0

Programs run in forked processes: one that ends its process, or hangs, is shown; where it is
PyTorch that ends, the program is passed over.
"""

import argparse
import importlib
import os
import pickle
import signal
import sys
import time
import traceback
from pathlib import Path

from . import differences
from .custom import CustomGenerator
from .generate import Generator
from .hostile import HostileGenerator
from .programs import Mismatch, compare, run, script, shrink
from .themes import ThemeGenerator

FOLDER = Path("build", "fuzz")
GENERATORS = {
    "plain": Generator,
    "themes": ThemeGenerator,
    "custom": CustomGenerator,
    "hostile": HostileGenerator,
}
ALIVE_S = 60  # seconds after which a program counts as hung


def check(lib, reference, seed, rules, length=14, generator=Generator, say=lambda *what: None):
    """Return None, or (program, Mismatch) of the shrunk program of this seed.

    `say` is told what comes next: "there", the reference at work, or "here", and the program.
    """
    say("there", seed)
    program, theirs = generator(reference, seed, length).program()
    say("here", program)
    found = compare(run(lib, program), theirs)
    if found is None or intended(found, rules):
        return None
    say("there", seed)
    kind = found.kind

    def fails(smaller):
        again = compare(run(lib, smaller), run(reference, smaller))
        return again is not None and again.kind == kind and not intended(again, rules)

    program = shrink(program, fails)
    return program, compare(run(lib, program), run(reference, program)) or found


def check_apart(lib, reference, seeds, rules, **options):
    """Yield (seed, program, Mismatch) of those that differ, or that end a process of imode's."""
    seeds = list(seeds)
    while seeds:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "wb") as out:
                try:
                    _check_all(lib, reference, seeds, rules, out, options)
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
        os.close(writing)
        doing = None
        with os.fdopen(reading, "rb") as told:
            for what, value in _messages(told):
                doing = what, value
                if what == "differs":
                    yield seeds[0], *value
                elif what == "next":
                    seeds.pop(0)
                elif what == "met":
                    rules.met |= value
        _, status = os.waitpid(child, 0)
        if status or seeds:
            number = os.waitstatus_to_exitcode(status)
            seed = seeds.pop(0)
            if doing[0] == "here":
                yield seed, doing[1], Mismatch(0, "the end", [("exit status", number, 0)])


def _check_all(lib, reference, seeds, rules, out, options):
    """Check programs in this process and write down what happens."""

    def say(*what):
        pickle.dump(what, out)
        out.flush()

    for seed in seeds:
        signal.alarm(ALIVE_S)
        found = check(lib, reference, seed, rules, say=say, **options)
        if found:
            say("differs", found)
        say("next", seed)
    say("met", rules.met)
    signal.alarm(0)


def _messages(file):
    """Yield what another process wrote, until it ends."""
    while True:
        try:
            yield pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            return


def intended(mismatch, rules):
    """Whether there is a rule for everything in this mismatch."""
    return rules.excuse(*differences.of_program(mismatch))


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
    parser.add_argument("--programs", choices=GENERATORS, default="plain")
    options = parser.parse_args()
    reference, lib = importlib.import_module("torch"), importlib.import_module(options.library)
    reference.set_num_threads(1)
    run(lib, [])  # what it imports when first used is then not imported in each process
    rules, chunk = differences.load(), 20
    FOLDER.mkdir(parents=True, exist_ok=True)
    begun, seed, kinds = time.monotonic(), options.seed, {}
    while time.monotonic() < begun + options.seconds and len(kinds) < options.most:
        for differs, *found in check_apart(
            lib, reference, range(seed, seed + chunk), rules, length=options.length,
            generator=GENERATORS[options.programs],
        ):  # fmt: skip
            text = report(differs, *found)
            key = (found[1].kind, found[1].source.translate(str.maketrans("", "", "0123456789")))
            if key not in kinds:
                print(text, flush=True)
                FOLDER.joinpath(f"{differs}.py").write_text(text.replace("\n\n", '\n"""\n\n', 1)
                                                            .join(['"""', ""]))  # fmt: skip
            kinds[key] = kinds.get(key, 0) + 1
        seed += chunk
    print(f"{seed - options.seed} programs from seed {options.seed}: {len(kinds)} kinds of "
          f"difference, {sum(kinds.values())} programs that differ")  # fmt: skip
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
