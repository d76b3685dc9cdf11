"""The scripts that type checkers are given run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

import imode

SCRIPTS = sorted((Path(__file__).parent / "typing").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_runs(script, tmp_path):
    env = {"PYTHONPATH": str(Path(imode.__file__).parents[1])}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
