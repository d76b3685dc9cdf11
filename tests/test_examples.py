"""The examples run as they stand, and say what they promise."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
MODES = ("normal", "no_grad", "inference_mode")
pytestmark = pytest.mark.skipif(
    not EXAMPLES.exists(), reason="the examples are not beside the tests"
)


def run(name):
    """Run an example by the command that its documentation gives; return what it prints."""
    text = (EXAMPLES / name).read_text()
    command = re.search(rf"^    (PYTHONPATH=\. \.venv/bin/python examples/{name})$", text, re.M)[1]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        command.replace(".venv/bin/python", f"{shlex.quote(sys.executable)} -W error"),
        shell=True,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hello():
    assert re.fullmatch(r"tensor\(\[\[6\.\d+\]\]\)\n", run("hello.py"))


@pytest.mark.slow
def test_digits():
    out = run("digits.py")
    right = float(re.search(r"([\d.]+)% of the held-out digits named right", out)[1])
    assert right >= 97
    assert "every mode gives the same answers, bit for bit" in out
    nodes = {
        row[0]: int(row[2])
        for row in map(str.split, out.splitlines())
        if len(row) == 6 and row[0] in MODES
    }
    assert nodes["normal"] > 0 and nodes["no_grad"] == nodes["inference_mode"] == 0
    for sentence in (
        "Inference tensors cannot be saved for backward.",
        "Inplace update to inference tensor outside InferenceMode is not allowed.",
        "has been modified by an inplace operation",
    ):
        assert sentence in re.sub(r"\s+", " ", out)
    assert "\x1b" not in out, "a log must hold no terminal codes"


def test_saved_on_disk():
    out = run("saved_on_disk.py")
    assert "the same gradients, bit for bit: True; files left: 0" in out
    rows = {line[:9]: list(map(float, line[10:].split())) for line in out.splitlines()[1:3]}
    assert rows["in memory"][1] == 0 and rows["on disk  "][1] > 50
