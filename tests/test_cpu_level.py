"""IMODE_CPU_LEVEL: the kernels held to a lower level of x86-64 than the machine's."""

import os
import subprocess
import sys

import numpy as np
import pytest

import imode
from imode._core.level import cpu_level

LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
# Kernels with a product and a sum: one rounding where the level has a fused multiply-add, else two.
PROGRAM = """
import sys
import numpy as np
import imode

F = imode.nn.functional
print(imode.backends.cpu.get_cpu_capability(), imode.__config__.show().split()[-1])
numbers = np.random.default_rng(0)
x = imode.from_numpy(numbers.standard_normal((64, 1000)).astype("f"))
w = imode.from_numpy(numbers.standard_normal((16, 16, 3, 3)).astype("f"))
np.savez(
    sys.argv[1],
    loops=x.exp(),
    rows=x.softmax(1),
    reductions=x.norm(dim=1),
    variance=x.var(1),
    products=x[:5, :30] @ x[:30, :20],
    convolution=F.conv2d(x.view(1, 16, 40, 100), w),
    fourier=imode.fft.rfft(x).imag,
    attention=F.scaled_dot_product_attention(*[x.view(1, 10, 64, 100)[..., :32]] * 3),
)
"""


def run(code, *arguments, level, **environment):
    environment = os.environ | environment | {"IMODE_CPU_LEVEL": level}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip


@pytest.fixture(scope="module")
def own():
    """The level of the machine, without the variable."""
    code = "from imode._core.level import cpu_level; print(cpu_level())"
    level = run(code, level="").stdout.strip()
    if level == "None":
        pytest.skip("kernels are compiled for one level alone")
    return level


@pytest.mark.parametrize("level", ["x86-64-v1", "x86-64-v5", "v3", "avx2", "X86-64-V3", " "])
def test_other_values_are_refused(level):
    done = run("import imode", level=level)
    assert done.stderr.splitlines()[-1] == (
        f"ValueError: IMODE_CPU_LEVEL: expected one of {', '.join(LEVELS)}, got {level!r}"
    )


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_the_lower_one_of_the_machines_and_what_is_asked_for(own, level, tmp_path):
    done = run(PROGRAM, str(tmp_path / "results.npz"), level=level)
    wanted = min(own, level)
    capability = {"x86-64-v2": "DEFAULT", "x86-64-v3": "AVX2", "x86-64-v4": "AVX512"}[wanted]
    assert (done.stdout.split(), done.stderr) == ([capability, wanted], "")


def test_each_family_of_kernels_follows(own, tmp_path):
    if own == "x86-64-v2":
        pytest.skip("the machine has one level alone")
    found = {}
    for level in LEVELS[:2]:
        path = tmp_path / f"{level}.npz"
        assert run(PROGRAM, str(path), level=level).returncode == 0
        found[level] = dict(np.load(path))
    for name, low in found["x86-64-v2"].items():
        high = found["x86-64-v3"][name]
        np.testing.assert_allclose(low, high, rtol=1e-3, atol=1e-4)
        assert (low != high).any(), f"{name}: the same kernel ran"


def test_lazily_and_at_once_bound(own):
    """Resolvers run while a module is loaded, whose own calls are bound before that or later."""
    code = "import imode; print(imode.backends.cpu.get_cpu_capability(), imode.ones(3000).sum())"
    for bound in ({}, {"LD_BIND_NOW": "1"}):
        done = run(code, level="x86-64-v2", **bound)
        assert (done.stdout, done.stderr) == ("DEFAULT tensor(3000.)\n", "")


def test_the_level_of_this_process():
    capability = {None: ("DEFAULT", "AVX2", "AVX512"), "x86-64-v2": ("DEFAULT",)}
    capability |= {"x86-64-v3": ("AVX2",), "x86-64-v4": ("AVX512",)}
    assert imode.backends.cpu.get_cpu_capability() in capability[cpu_level()]
