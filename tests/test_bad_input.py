"""Every operator fed with bad arguments: an error of a documented class, nothing half-written.

The calls run in child processes, one for a slice of the table, so that a crash is seen as one and
names the call. What class PyTorch raises is compared in tests/conformance/test_bad_input.py.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import imode
from imode._core.dispatch import all_operators
from tests.bad import Broken, with_one_bad
from tests.samples import S, T, load

ALLOWED = (
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    NotImplementedError,
    MemoryError,
    OverflowError,
)
ALSO = {"tensordot": AssertionError}  # PyTorch's class for dims in a tensor of a wrong shape
SAMPLES = load()
PUBLIC = {name: op for name, op in all_operators().items() if op.functional is None}
NAMES = sorted(name for name in SAMPLES if name in PUBLIC)
SLICES = 8
SECONDS = 100  # for one slice, which takes 5


class Liar:
    """An object that claims to be an index and a number."""

    def __index__(self):
        raise ValueError("no index")

    def __float__(self):
        raise ValueError("no number")

    def __repr__(self):
        return "Liar()"


TENSORS = [
    None, "text", object, Broken(), Liar(), 3, float("nan"), [1.0], np.ones(3), {}, T(0), T(5, 7),
    T(), T(1, 1, 1, 1, 1, 1), T(2, 3, dtype="int64"), T(2, 3, dtype="bool"), T(3, dtype="uint8"),
    T(2, 3, dtype="complex64"), T(2, 3, dtype="float16"), T(0, 3, 0),
]  # fmt: skip
NUMBERS = [
    None, "text", object, Broken(), Liar(), 1.5, float("nan"), float("inf"), True, 0, -1, -100, 100,
    2**31, 2**63, -(2**70), 10**30, 1j, [1], (), T(3), b"x",
]  # fmt: skip
LISTS = [
    None, "text", 7, -7, 2**63, [], (), [-1], [-1, -1], [0, 0], [100, 100], [1.5], [None], ["a"],
    [2**62, 2**62], [-(2**62)], [float("nan")], [[1]], list(range(70)), T(3), Broken(), {1: 2},
]  # fmt: skip
STRINGS = [None, 3, "no such thing", b"mean", ["mean"], object]


def replacements(value):
    """Return bad values to stand where `value` stood."""
    if isinstance(value, T):
        return TENSORS
    if isinstance(value, (list, tuple)):
        return LISTS
    if isinstance(value, str):
        return STRINGS
    if value is None:
        return [*NUMBERS, *LISTS]
    return NUMBERS if isinstance(value, (int, float, complex)) else STRINGS


def bad_calls(sample):
    """Yield the sample with one argument replaced, dropped or added."""
    yield from with_one_bad(sample, replacements)
    yield S(*sample.args, **{**sample.kwargs, "out": "text"})
    yield S(*sample.args, *[1] * 20, **sample.kwargs)
    yield S()


def first_working(name):
    """Return the first two samples of an operator that do not raise."""
    return [sample for sample in SAMPLES[name] if sample.raises is None][:2]


def snapshot(tensor):
    """All that a failed call must leave as it was."""
    return (
        tensor.detach().view(imode.uint8).numpy().tobytes()
        if tensor.dtype.itemsize == 1  # floats of eight bits among them, which NumPy lacks
        else tensor.detach().numpy().tobytes(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
        tensor.requires_grad,
        None if tensor.is_inference() else tensor._version,
    )


def complaints(name, operator, sample, requires_grad=False):
    """Yield what is wrong with how an operator takes one call."""
    try:
        args, kwargs, tensors = sample.make(imode, requires_grad=requires_grad)
    except ALLOWED:
        return  # the sample's own tensors can't be made so
    before = [snapshot(t) for t in tensors]
    try:
        operator(*args, **kwargs)
    except (*ALLOWED, ALSO.get(name, TypeError)) as error:
        if [snapshot(t) for t in tensors] != before:
            yield f"changed its arguments, then raised {type(error).__name__}: {error}"
        if not str(error).strip():
            yield f"raised a bare {type(error).__name__}"
    except Exception as error:
        yield f"raised {type(error).__name__}: {error}"


def check(names):
    """Feed the named operators; print each call before it is made, and each complaint, as JSON."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for name in names:
        operator = PUBLIC[name]
        for sample in first_working(name):
            for bad in bad_calls(sample):
                print(json.dumps(["call", f"{name}({bad!r})"]), flush=True)
                for recorded in (False, True):
                    for complaint in complaints(name, operator, bad, recorded):
                        print(json.dumps(["wrong", f"{name}({bad!r}) {complaint}"]), flush=True)


def run_slice(part):
    """Run one slice of the table in a child; return what it printed and its exit status."""
    root = Path(imode.__file__).parents[1]
    code = f"from tests.test_bad_input import NAMES, SLICES, check\ncheck(NAMES[{part}::SLICES])"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
    limit = limit if os.name == "posix" else ""
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-X", "faulthandler", "-c", limit + code]
    paths = os.pathsep.join(map(str, dict.fromkeys((tests, root))))
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tests,
        env={**os.environ, "PYTHONPATH": paths},
    ) as child:
        try:
            out, err = child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.endswith("]")]
    return lines, child.returncode, err


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_bad_input_of_every_operator(part):
    lines, status, err = run_slice(part)
    calls = [text for kind, text in lines if kind == "call"]
    assert status == 0, f"status {status} in {calls[-1:]}:\n{err[-2000:]}"
    assert len(calls) > 100
    wrong = [text for kind, text in lines if kind == "wrong"]
    assert not wrong, "\n".join(wrong[:40]) + f"\n({len(wrong)} in all)"


# ---- overlapping operands -----------------------------------------------------------------------

IN_PLACE = sorted(
    name
    for name, op in PUBLIC.items()
    if op.inplace is not None and name in ("add", "sub", "mul", "div", "maximum", "atan2")
)


@pytest.mark.parametrize("name", IN_PLACE)
def test_overlapping_operands_are_refused(name):
    operator = PUBLIC[name].inplace
    if operator is None:
        pytest.skip("no in-place form")
    x = imode.arange(5.0) + 1
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input"):
        operator(x[1:], x[:-1])
    wide = imode.ones(1).expand(3)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: more than one element"):
        operator(wide, imode.ones(3))
    assert x.tolist() == [1, 2, 3, 4, 5]
    assert x._version == 0


@pytest.mark.parametrize("name", IN_PLACE)
def test_inplace_that_would_change_shape_or_dtype_is_refused(name):
    operator = PUBLIC[name].inplace
    x = imode.ones(3)
    with pytest.raises(RuntimeError, match=r"^(output with shape|The size of tensor)"):
        operator(x, imode.ones(2, 3))
    whole = imode.ones(3, dtype=imode.int64)
    if name != "maximum":
        with pytest.raises(RuntimeError, match=r"^result type Float can't be cast"):
            operator(whole, imode.ones(3) * 0.5)
    assert x.tolist() == whole.tolist() == [1, 1, 1]
    assert x._version == whole._version == 0


def test_operands_that_are_not_tensors():
    x = imode.ones(2)
    for bad in ("text", None, object(), Broken(), [1, 2], {}):
        with pytest.raises(TypeError):
            x + bad
        with pytest.raises(TypeError):
            x += bad
        with pytest.raises(TypeError, match="mul"):
            x.mul(bad)
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        imode.tensor(Broken())
    assert x.tolist() == [1, 1]
    assert x._version == 0
