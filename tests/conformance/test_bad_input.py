"""Every operator fed with bad arguments: the same class of error as PyTorch, nothing half-written.

The arguments come from each operator's first sample that works; one at a time is replaced.
The sentence is compared too, except of a TypeError: there PyTorch prints its C++ signatures.
"""

import copy

import pytest

from tests.bad import Broken, with_one_bad
from tests.samples import S, T, load

from . import differences
from .calls import Call, called, function, tensors_of
from .observe import Values, failure

SAMPLES = called(load(of_pytorch=True), "bad_input")
RULES = differences.load()


TENSORS = [
    None, "text", object, Broken(), 3, [1.0, 2.0], T(0), T(5, 7), T(), T(2, 3, 4, 5, 6),
    T(2, 3, dtype="int64"), T(2, 3, dtype="bool"), T(2, 3, dtype="complex64"),
]  # fmt: skip
NUMBERS = [None, "text", object, 1.5, True, -1, -100, 100, 2**63, -(2**70), float("nan"), [1], T(3)]
LISTS = [None, "text", 7, [], (), [-1], [100, 100], [0, 0], [1.5], [None], [2**62, 2**62], T(3)]


def replacements(value):
    """Return bad values to stand where `value` stood."""
    if isinstance(value, T):
        return TENSORS
    if isinstance(value, (list, tuple)):
        return LISTS
    return NUMBERS if isinstance(value, (int, float)) else []


def bad_calls(sample):
    """Yield the sample with one argument replaced, dropped or added."""
    yield from with_one_bad(sample, replacements)
    yield S(*sample.args, 1, 2, 3, 4, 5, 6, 7, 8, 9, **sample.kwargs)


def outcome(lib, name, sample):
    """Return (what it raised or "ok", shapes and dtypes of the result)."""
    args, kwargs, tensors = sample.make(lib)
    before = [Values(t) for t in tensors]
    try:
        result = function(lib, name)(*args, **kwargs)
    except Exception as error:
        whole = lib.__name__ == "torch" or [Values(t) for t in tensors] == before
        assert whole, f"{name}({sample!r}): half-written"
        return failure(error), None
    outputs = tensors_of(result, lib)
    return "ok", [(str(t.dtype).rpartition(".")[2], tuple(t.shape)) for t in outputs]


def sample_that_works(torch, name):
    """Return the first sample of an operator that PyTorch accepts."""
    for sample in SAMPLES[name]:
        if (
            sample.raises is None
            and sample.torch is None
            and "raised" not in Call(torch, name, sample).run(_Nothing, _Nothing)
        ):
            return sample
    return None


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


ENDS_PYTORCH = {"lstm.input"}  # a bad state aborts its process


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - ENDS_PYTORCH))
def test_bad_input(lib, torch, name):
    sample = sample_that_works(torch, name)
    if sample is None:
        pytest.skip("its samples are spelled otherwise in PyTorch")
    lines, inner = [], Call(torch, name, sample).inner
    for bad in bad_calls(copy.copy(sample)):
        ours, here = outcome(lib, name, bad)
        theirs, there = outcome(torch, name, bad)
        if ours == theirs == "ok":
            found = "result", here, there
        elif kind(ours) == kind(theirs) == "TypeError" or (inner and unbound(ours)):
            continue
        else:
            found = "outcome", ours, theirs
        if found[1] != found[2] and not RULES.sample(name, "bad", *found):
            lines.append(f"  {name}({bad!r}): {found[1]} here, {found[2]} in PyTorch")
    assert not lines, "\n".join(lines[:25])


def unbound(ours):
    """Whether an argument fits no schema. PyTorch's `ops.aten` says that in other classes and
    words, and takes None for a tensor that is not there."""
    return kind(ours) == "TypeError" or "Overflow when unpacking" in ours


def kind(raised):
    """Return the class of a failure, or "ok"."""
    return raised.partition(":")[0]
