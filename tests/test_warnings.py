"""Each warning names the line of the user's program: warnings.txt holds a program for each."""

import ast
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import imode

PACKAGE = Path(imode.__file__).parent
SETUP = """
import imode, warnings, copy, pickle
from imode import nn, optim
from imode import distributions as D
from imode.nn import functional as F
x = imode.ones(2, 3)
w = imode.ones(2, 3, requires_grad=True)
one = lambda *arguments: imode.ones(1)
class A(D.Normal): pass
class B(D.Normal): pass
class Short(imode.utils.data.IterableDataset):
    def __iter__(self): return iter([1, 2])
    def __len__(self): return 1
def class_of(forward, backward=None):
    both = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Fn", (imode.autograd.Function,), both)
def leave(*arguments): raise ValueError
def steps(): return optim.SGD([imode.ones(1, requires_grad=True)], 0.1)
"""
LINES = Path(__file__).with_name("warnings.txt").read_text().splitlines()


def issued(program):
    """The warnings of a line that runs as program.py, and whatever it raises after them."""
    space = {"__name__": "program"}
    exec(SETUP, space)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            exec(compile("\n\n" + program, "program.py", "exec"), space)
        except Exception:
            pass
        finally:
            imode.autograd.set_detect_anomaly(False)
    return [(str(each.message), each.filename, each.lineno) for each in found]


@pytest.fixture(scope="module")
def found():
    """{program: its warnings}, from a new process: a warning may come once in each."""
    run = "import json, tests.test_warnings as t; print(json.dumps([*map(t.issued, t.LINES)]))"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    return dict(zip(LINES, json.loads(done.stdout.splitlines()[-1]), strict=True))


def test_a_warning_names_the_users_line(found):
    for program, messages in found.items():
        assert messages, program
        for message, *where in messages:
            assert where == ["program.py", 3], message


def beginnings():
    """Where the package warns, and how the text begins, as a pattern; variables can be anything."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "warn(" not in (source := path.read_text()):
            continue
        for call in ast.walk(ast.parse(source)):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != "warn":
                continue
            text = call.args[0]
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            given = [re.escape(p.value) if isinstance(p, ast.Constant) else ".*" for p in parts]
            yield f"{path.name}:{call.lineno}", "".join(given)
    for path in sorted(PACKAGE.rglob("*.pyx")):  # where the source is
        for text in re.findall(r'\bwarn\(\s*f?"([^"{]+)', path.read_text()):
            yield path.name, re.escape(text)


def test_each_warning_has_a_program(found):
    messages = [message for each in found.values() for message, *_ in each]
    places = {
        place
        for place, pattern in beginnings()
        if not any(re.match(pattern, message, re.DOTALL) for message in messages)
    }
    assert places == set()


def test_no_warning_counts_frames():
    for path in (p for end in ("*.py", "*.pyx") for p in PACKAGE.rglob(end)):
        found = re.findall(r"^ *warnings\.warn\(|stacklevel=\d", path.read_text(), flags=re.M)
        wanted = 3 if path.name == "scan.py" else 1 if path.name == "registering.py" else 0
        wanted += path.name == "user_frames.pyx"
        assert len(found) == wanted, path
