"""Every operator called with a view that has lost its history: one of several results, whose base
was written to since. Operators that look at the graph raise, in the same words; others go on.
"""

import pytest

from tests.samples import load

from .calls import called, function, method, tensors_of
from .observe import dtype_name, failure

SAMPLES = called(load(of_pytorch=True), "stale")
DTYPES = (None, lambda place, t: "complex128" if t.dtype.startswith("float") else None)
REFUSED = "not implemented for", "Only supports floating-point", "complex type is not supported"
# Whose steps record nothing here.
NO_HISTORY = {"linalg_matrix_rank.atol_rtol_float", "nonzero_static"}
STALE = "is a view and its base or another view of its base has been modified inplace"


def stale(lib, tensor):
    """Return a view with the contents of `tensor`, whose base was written to since it was made."""
    base = lib.stack([tensor.detach()] * 2).requires_grad_() * 1
    view = base.unbind()[0]
    base.mul_(1)
    return view


def call(lib, name, sample, dtype, place, inplace):
    """Return what a call gives with such a view as one of its tensors; None: there is no such."""
    lib.manual_seed(0)
    args, kwargs, tensors = sample.make(lib, dtype=dtype)
    if place >= len(tensors) or not (
        tensors[place].is_floating_point() or tensors[place].is_complex()
    ):
        return None
    view = stale(lib, tensors[place])

    def put(value):
        if isinstance(value, (list, tuple)):
            return type(value)(map(put, value))
        return view if value is tensors[place] else value

    run = (sample.torch if lib.__name__ == "torch" else None) or function(lib, name)
    run = method(lib, name) if inplace else run
    try:
        results = run(*put(args), **{key: put(value) for key, value in kwargs.items()})
    except Exception as error:
        return failure(error)
    return [(dtype_name(t), t.requires_grad) for t in tensors_of(results, lib)]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_stale_views(lib, torch, name):
    lines = []
    for sample in SAMPLES[name]:
        forms = (False, True) if sample.variants and method(lib, name) else (False,)
        calls = [(d, place, form) for d in DTYPES for place in range(3) for form in forms]
        for dtype, place, inplace in calls if sample.raises is None else ():
            theirs = call(torch, name, sample, dtype, place, inplace)
            ours = call(lib, name, sample, dtype, place, inplace)
            refused = [STALE in str(found) for found in (ours, theirs)]
            if any(words in str(ours) for words in REFUSED) or name in NO_HISTORY:
                continue  # of two mistakes either may be named
            if refused[0] != refused[1] or (refused[0] and ours != theirs):
                lines.append(f"  {sample!r}, {place}, {inplace}: {ours} here, {theirs} there")
    assert not lines, f"{name}\n" + "\n".join(lines)
