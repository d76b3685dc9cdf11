"""docs/adding-an-operator.md: its two operators are added at run time, from the page's own code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import imode

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "adding-an-operator.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")

BEFORE = """
import sys
sys.path[:0] = {paths!r}
import numpy as np
import imode
from imode import errors, ops
from imode.ops.pointwise.common import refusing
from imode.ops.schema import op, published, ufunc
from benchmarks.rows import ROWS
from tests import samples
from tests.samples import S, T
if {compiled}:
    from sincos_fast import sincos
else:
    sincos = None
SAMPLES = {{}}
imode.ops.load_all()
"""

AFTER = """
for name in ("cbrt", "sincos"):  # as the module's import would have published them
    for space in (imode, imode.ops):
        setattr(space, name, published()[name])
samples.load = lambda: SAMPLES
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", "-W", "error", *{tests!r}])
assert code == 0, code

x = imode.tensor([1.0, 8.0], dtype=imode.float64, requires_grad=True)
assert x.cbrt().tolist() == [1.0, 2.0] and x.cbrt().grad_fn.name() == "CbrtBackward0"
assert imode.autograd.gradcheck(imode.cbrt, x) and imode.autograd.gradgradcheck(imode.cbrt, x)
assert imode.autograd.gradcheck(imode.sincos, x) and imode.autograd.gradgradcheck(imode.sincos, x)
assert abs(imode.sincos(x.detach()).cos[0] - np.cos(1.0)) < 1e-12
out = imode.empty(2), imode.empty(2)
assert imode.sincos(imode.ones(2), out=out)[1] is out[1] and abs(out[1][0] - np.cos(1.0)) < 1e-6
y = imode.tensor([27.0])
assert y.cbrt_() is y and abs(y.item() - 3) < 1e-6 and y._version == 1
with imode.inference_mode():
    assert imode.cbrt(imode.ones(2)).is_inference()
assert eval(ROWS["cbrt"][0], {{"lib": imode, "a": imode.ones(4)}}).sum() == 4
try:
    imode.cbrt(imode.ones(2, dtype=imode.complex64))
except NotImplementedError as error:
    assert "cbrt" in str(error)
else:
    raise AssertionError("complex numbers were taken")
assert imode.ops.sincos.entry.fast is sincos
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def run(tests, paths=(), compiled=False):
    """Run the page's programs, then these test files over its two operators, in a new process."""
    declared = blocks("python")
    formula = next(block for block in declared if block.startswith("def "))
    declared.remove(formula)  # the page shows it after the entry that names it
    known = {"paths": [*map(str, paths), str(ROOT)], "compiled": compiled, "tests": tests}
    program = "\n".join([BEFORE.format(**known), formula, *declared, AFTER.format(**known)])
    env = {**os.environ, "PYTHONPATH": str(Path(imode.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=env
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_operators_of_the_page_pass_the_tests_of_all_operators():
    printed = run(["tests/test_ops.py", "-k", "cbrt or sincos"])
    assert int(re.search(r"(\d+) passed", printed)[1]) >= 20


def test_a_pointwise_operator_takes_ten_lines():
    entry, sample = blocks("python")[:2]
    lines = (entry + sample).splitlines()
    assert entry.startswith('op(\n    "cbrt') and len([*filter(str.strip, lines)]) <= 11


@pytest.mark.slow
def test_the_fast_case_of_the_page_compiles_and_agrees(tmp_path):
    (tmp_path / "sincos_fast.pyx").write_text("# cython: language_level=3\n" + blocks("cython")[0])
    (tmp_path / "setup.py").write_text(
        "import os, imode, numpy\n"
        "from Cython.Build import cythonize\n"
        "from setuptools import Extension, setup\n"
        "core = os.path.join(os.path.dirname(imode.__file__), '_core')\n"
        "setup(ext_modules=cythonize([Extension('sincos_fast', ['sincos_fast.pyx'],\n"
        "      include_dirs=[numpy.get_include(), core])]))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(imode.__file__).parents[1])}
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    run(["tests/test_ops.py", "tests/test_fast_cases.py", "-k", "sincos"], [tmp_path], True)
