"""Every operator with an out= of every dtype: what PyTorch takes, and its sentence if not."""

import pytest

import imode
from tests.operators import OPERATORS
from tests.samples import load

from .calls import called, function, tensors_of
from .observe import dtype_name, failure

DTYPES = (
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "bool"),
)
SAMPLES = called(load(of_pytorch=True), "out")
NAMES = [
    name
    for name in sorted(SAMPLES)
    if name in OPERATORS and OPERATORS[name].out is not None and function(imode, name)
    not in vars(imode.Tensor).values()
]  # fmt: skip


def targets(lib, results):
    """Yield what is wrong with each list of out= tensors, and the list."""
    for dtype in DTYPES:
        for place in range(len(results)):
            made = [lib.zeros(tuple(t.shape), dtype=t.dtype) for t in results]
            made[place] = lib.zeros(tuple(results[place].shape), dtype=getattr(lib, dtype))
            yield f"{place} is {dtype}", made
        if len(results) == 1:
            yield f"empty, of {dtype}", [lib.zeros((0,), dtype=getattr(lib, dtype))]


def outcomes(lib, name, sample):
    """What becomes of each out=: its dtype and shape, or what is raised."""
    call = function(lib, name)
    args, kwargs, _ = sample.make(lib)
    found = {}
    for wrong, made in targets(lib, tensors_of(call(*args, **kwargs), lib)):
        args, kwargs, _ = sample.make(lib)
        try:
            call(*args, **kwargs, out=made[0] if len(made) == 1 else made)
        except Exception as error:
            found[wrong] = failure(error)
        else:
            found[wrong] = [(dtype_name(t), tuple(t.shape)) for t in made]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(lib, torch, name):
    samples = [s for s in SAMPLES[name] if s.variants and not s.raises and s.torch is None]
    for sample in samples[:4]:
        ours, theirs = (outcomes(each, name, sample) for each in (lib, torch))
        differ = {wrong: (ours[wrong], theirs[wrong]) for wrong in theirs
                  if ours[wrong] != theirs[wrong]}  # fmt: skip
        assert not differ, sample
