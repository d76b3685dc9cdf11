"""Every sample call of every operator, here and in PyTorch: all observables, modes and variants."""

import pytest

from tests.samples import load

from . import differences, observe
from .calls import Call

SAMPLES = load(of_pytorch=True)
RULES = differences.load()
CASES = [(name, i) for name in sorted(SAMPLES) for i in range(len(SAMPLES[name]))]


@pytest.mark.parametrize(("name", "index"), CASES, ids=[f"{n}-{i}" for n, i in CASES])
def test_sample(lib, torch, name, index):
    sample = SAMPLES[name][index]
    ours, theirs = Call(lib, name, sample), Call(torch, name, sample)
    here = dict(ours.cases())
    lines = []
    for case, expected in theirs.cases():
        reference = expected()
        if case.startswith("out=") and reference.get("raised") == "TypeError":
            if case == "out=":
                assert here[case]()["raised"] == "TypeError", f"{name} takes out= here only"
            continue
        seen = here[case]() if case in here else {"raised": "there is no such variant here"}
        if case == "plain" and sample.raises:
            # LinAlgError is a RuntimeError.
            raised_there = reference.get("raised", "").replace("_LinAlgError", "RuntimeError")
            assert raised_there.startswith(sample.raises.__name__), reference
        operator = inplace(name) if case.startswith("in-place") else name
        raised = reference.get("raised", "ok")
        for path, a, b in compare(seen, reference):
            if not RULES.sample(operator, case, path, a, b, raised=raised):
                lines.append(f"  {case}: {path}: {a!r} here, {b!r} in PyTorch")
    assert not lines, f"{name}({sample!r})\n" + "\n".join(lines[:25])


def inplace(name):
    """The name of the in-place form of an operator."""
    base, dot, overload = name.partition(".")
    return f"{base}_{dot}{overload}"


def compare(ours, theirs):
    """Yield the differences of two observations of a call; a raised error hides the rest."""
    if "raised" in ours or "raised" in theirs:
        a, b = ours.get("raised", "ok"), theirs.get("raised", "ok")
        if a != b:
            yield "outcome", a, b
            return
    yield from observe.differences(ours, theirs)
