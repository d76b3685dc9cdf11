"""`python -m imode advise [--json [FILE]] script.py [arguments]`."""

import argparse
import contextlib
import json
import os
import runpy
import sys
import threading
import traceback
import types
import warnings

from .conclude import findings
from .observer import Observer
from .report import text

SUMMARY = "run a script and say where inference mode would save work, and what forbids it"


def main(arguments):
    """Run the command; returns the exit status, 0 unless the arguments are wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m imode advise",
        description="Run a script as Python would, and then say, by file and line: what was "
        "recorded and never used by a backward; which no_grad blocks could be inference_mode; "
        "guards made and never entered; tensors kept alive by graphs; layers served in training "
        "mode. The exit status is 0, whatever the script's.",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the findings as JSON there; - is the output"
    )
    parser.add_argument("script", help="the script to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args(arguments)
    if not os.path.isfile(options.script):
        parser.error(f"cannot open the script {options.script!r}")
    found = advise(options.script, options.arguments)
    if options.json is None:
        print(text(found, options.script), file=sys.stderr)
    else:
        rows = json.dumps([vars(finding) for finding in found], indent=1)
        if options.json == "-":
            print(rows)
        else:
            with open(options.json, "w", encoding="utf-8") as file:
                file.write(rows + "\n")
    return 0


def advise(script, arguments=()):
    """Run a script as `__main__`; returns the Findings. Its errors are printed as Python does."""
    observer, unentered, names = Observer(__file__), [], {}
    before = sys.argv, sys.path[:]
    sys.argv = [script, *arguments]
    sys.path[:1] = [os.path.dirname(os.path.abspath(script))]
    try:
        with _noting_unentered(unentered), _in_threads(observer):
            observer.start()
            try:
                names = runpy.run_path(script, run_name="__main__")
            except SystemExit as end:
                if end.code is not None and not isinstance(end.code, int):
                    print(end.code, file=sys.stderr)
            except BaseException as error:  # the script's own, KeyboardInterrupt too
                _print(error, script)
            finally:
                _join_threads()
                observer.stop()
    finally:
        sys.argv, sys.path[:] = before
    sys.stdout.flush()
    return findings(observer, unentered, os.path.abspath(script), script, names)


@contextlib.contextmanager
def _in_threads(observer):
    """A block in which threads that are started are observed."""
    plain = threading.Thread._bootstrap_inner

    def watched(self):
        branch = observer.branch()
        branch.start()
        try:
            plain(self)
        finally:
            branch.stop()

    threading.Thread._bootstrap_inner = watched
    try:
        yield
    finally:
        threading.Thread._bootstrap_inner = plain


def _join_threads():
    """Wait for the script's threads, as Python does before it ends."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _print(error, script):
    """Print the traceback of a script's error as Python does: from the script's first line on, and
    without what only watched."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    first = next(
        (i for i, t in enumerate(frames) if t.tb_frame.f_code.co_filename == script), len(frames)
    )
    shown = None
    for t in reversed(frames[first:]):
        code = t.tb_frame.f_code
        if code.co_filename.endswith(_WATCHING) or code.co_name in ("_slow_enter", "proceed"):
            continue
        shown = types.TracebackType(shown, t.tb_frame, t.tb_lasti, t.tb_lineno)
    traceback.print_exception(type(error), error, shown)


_WATCHING = os.path.join("advise", "observer.pyx")


@contextlib.contextmanager
def _noting_unentered(lines):
    """Note the lines of the warnings of guards that were never entered; they appear as ever."""
    explicit = warnings.warn_explicit

    def noting(message, category, filename, lineno, *rest, **options):
        if "was never entered and changed nothing" in str(message):
            lines.append((filename, lineno, str(message).partition("(")[0]))
        return explicit(message, category, filename, lineno, *rest, **options)

    warnings.warn_explicit = noting
    try:
        yield
    finally:
        warnings.warn_explicit = explicit
