"""`python -m imode script.py [arguments]`, `-m module`, `-c program`: run with imode as torch."""

import os
import runpy
import sys

from imode.standing_in import stand_in_for_torch

USAGE = "script.py | -m module | -c program [arguments]"


def runs(arguments):
    """Whether the arguments ask for a program to be run."""
    return bool(arguments) and (arguments[0] in ("-m", "-c") or os.path.exists(arguments[0]))


def main(arguments):
    """Run a program as Python would; returns the exit status 2 where there is none to run."""
    first, *rest = arguments
    if first in ("-m", "-c") and not rest:
        print(f"python -m imode: Argument expected for the {first} option", file=sys.stderr)
        return 2
    stand_in_for_torch()
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[:1] = [""]
        main_module = sys.modules["__main__"]
        exec(compile(rest[0], "<string>", "exec"), vars(main_module))
    elif first == "-m":
        sys.argv = rest
        sys.path[:1] = [os.getcwd()]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[:1] = [os.path.dirname(os.path.abspath(first))]
        runpy.run_path(first, run_name="__main__")
    return 0
