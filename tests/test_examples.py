"""The examples run as they stand, and say what they promise."""

import importlib.util
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import imode

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
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
    out = run("hello.py")
    assert re.fullmatch(r"tensor\(\[\[6\.\d+\]\]\)\n", out)
    assert shape(out) == shape(recorded("hello.py"))


def recorded(name):
    """What examples/README.md says that an example prints."""
    text = (EXAMPLES / "README.md").read_text()
    return re.search(rf"^## `{name}`\n\n```\n(.*?)^```", text, re.M | re.S)[1]


def shape(text):
    """A text without what differs between machines: numbers, bars, pixels, where it draws."""
    lines = []
    for line in text.strip().splitlines():
        line = re.sub(r"\[?-?\d[\d.,]*\]?%?( not #)?", "#", line)
        line = re.sub(r" not #|[█▀▄]", "", line).partition("picture:")[0]
        lines.append(" ".join(line.split()))
    return [line for line in lines if line]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_readme_lists_every_example(name):
    text = (EXAMPLES / "README.md").read_text()
    assert f"`{name}`" in text
    assert name == "pictures.py" or f"## `{name}`\n\n```\n" in text


@pytest.mark.slow
def test_digits():
    out = run("digits.py")
    right = float(re.search(r"([\d.]+)% of the held-out digits named right", out)[1])
    assert right >= 97
    assert "every mode gives the same answers, bit for bit" in out
    charts = re.findall(
        r"normal +█+ +([\d.]+).*\n +no_grad +█* +([\d.]+).*\n +inference_mode +█* +([\d.]+)", out
    )
    time, nodes, *memory = [tuple(map(float, chart)) for chart in charts]
    assert nodes == (50, 0, 0) and time[0] > time[2]
    assert all(normal > 1.3 * mode for normal, _, mode in memory)
    for sentence in (
        "Inference tensors cannot be saved for backward.",
        "Inplace update to inference tensor outside InferenceMode is not allowed.",
        "has been modified by an inplace operation",
    ):
        assert sentence in out
    assert len(re.findall("[█▀▄]", out.partition("What an answer costs")[0])) > 100
    assert "\x1b" not in out, "a log must hold no terminal codes"
    assert shape(out) == shape(recorded("digits.py"))


def test_saved_on_disk():
    out = run("saved_on_disk.py")
    assert "the same gradients, bit for bit: True; files left: 0" in out
    rows = {line[:9]: list(map(float, line[10:].split())) for line in out.splitlines()[1:3]}
    assert rows["in memory"][1] == 0 and rows["on disk  "][1] > 50
    assert shape(out) == shape(recorded("saved_on_disk.py"))


def test_text(monkeypatch):
    """The network that writes text learns, and what it keeps of what it read changes nothing."""
    spec = importlib.util.spec_from_file_location("text", EXAMPLES / "text.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "STEPS", 12)
    imode.manual_seed(0)
    text = imode.tensor([example.LETTERS.index(letter) for letter in example.TEXT[:4000]])
    network = example.GPT()
    assert example.train(network, text) < 3.5 < math.log(len(example.LETTERS))
    letters = text[:9].unsqueeze(0)
    with imode.inference_mode():
        whole, _ = network(letters)
        _, kept = network(letters[:, :8])
        last, _ = network(letters[:, 8:], kept)
    assert imode.allclose(whole[:, -1], last[:, -1], atol=1e-5)
    monkeypatch.setattr(example, "LENGTH", 32)
    written = example.write(network.eval(), "The", 40)
    assert len(written) == 43 and written.startswith("The")
