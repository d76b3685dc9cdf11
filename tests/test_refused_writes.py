"""The rewrites that messages of refused writes offer: each is run, and gives what was meant."""

import re

import pytest

import imode
from imode.nn import functional
from tests.operators import OPERATORS, SAMPLES, WORKING, same
from tests.samples import T


def leaf(values):
    t = values.clone().requires_grad_()
    return t, t


def row_of_leaf(values):
    x = imode.stack([values, values]).requires_grad_()
    return x, x[1]


def unbound(values):
    x = imode.stack([values, values]).requires_grad_() * 1
    return x, x.unbind()[1]


def split(values):
    x = imode.cat([values, values]).requires_grad_() * 1
    return x, x.split(len(values))[1]


def expanded(values):
    x = values[:1].contiguous()
    return x, x.expand(values.shape)


def writer(name):
    """(the function that writes in place for an operator, its keywords), or None."""
    base = name.partition(".")[0].rstrip("_")
    if hasattr(imode.Tensor, f"{base}_"):
        return getattr(imode.Tensor, f"{base}_"), {}
    if OPERATORS[name].inplace is not None and hasattr(functional, base):
        return getattr(functional, base), {"inplace": True}
    return None


CASES = {}  # the first sample of each operator that can write
for name, index in WORKING:
    first = (*SAMPLES[name][index].args, None)[0]
    if isinstance(first, T) and first.floating and first.shape and writer(name):
        CASES.setdefault(name, index)
APART = {
    *("detach", "detach_", "resize_", "resize_as_"),  # refused in sentences of their own
    "selu",  # written by elu_, which is named
    *(name for name in CASES if name.startswith("set_")),  # to a part: the whole does not change
}


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.parametrize("make", [leaf, row_of_leaf, unbound, split, expanded])
@pytest.mark.parametrize("name", sorted(CASES.keys() - APART))
def test_rewrites_run(name, make):
    args, kwargs, _ = SAMPLES[name][CASES[name]].make(imode)
    values, rest = args[0].contiguous(), args[1:]
    function, inplace = writer(name)

    def write(t):
        imode.manual_seed(0)
        return function(t, *rest, **kwargs, **inplace)

    x, t = make(values)
    try:
        wanted = write(t.detach().clone())
    except (RuntimeError, TypeError):
        pytest.skip("not written in place with these arguments")
    try:
        write(t)
    except RuntimeError as error:
        rewrites = [code for code in re.findall("`([^`]*)`", str(error)) if "..." in code]
        assert rewrites
    else:
        pytest.skip("not refused")
    for rewrite in rewrites:
        code = rewrite.replace("(...", "(*rest, **kwargs").replace(", ...", ", *rest, **kwargs")
        x, t = make(values)
        scope = {"imode": imode, "x": x, "t": t, "rest": rest, "kwargs": kwargs}
        imode.manual_seed(0)
        exec(code, scope)
        assert same(scope["t"], wanted), rewrite


def test_most_writes_are_refused():
    refused = 0
    for name in CASES.keys() - APART:
        args, kwargs, _ = SAMPLES[name][CASES[name]].make(imode)
        function, inplace = writer(name)
        try:
            function(leaf(args[0])[1], *args[1:], **kwargs, **inplace)
        except RuntimeError as error:
            refused += str(error).startswith("a leaf Variable that requires grad is being used")
        except TypeError:
            pass
    assert refused > 150
