"""The operator table and its samples, and how tests call them. Without PyTorch."""

import numpy as np
import pytest

import imode
from imode._core.dispatch import Role, all_operators
from tests.samples import load

SAMPLES = load()
OPERATORS = {name: op for name, op in all_operators().items() if op.functional is None}
PUBLIC = [name for name in OPERATORS if not name.startswith("_")]
CASES = [(n, i) for n in SAMPLES if n in OPERATORS for i in range(len(SAMPLES[n]))]
WORKING = [(n, i) for n, i in CASES if SAMPLES[n][i].raises is None]


def cases(wanted):
    return pytest.mark.parametrize(("name", "index"), wanted, ids=[f"{n}-{i}" for n, i in wanted])


def public(name):
    """Return what users call: the function, nn.functional's or the method, with all overloads."""
    base = name.partition(".")[0]
    owners = (imode, imode.Tensor, imode.nn.functional, imode.ops)
    if base in ("adaptive_max_pool1d", "binary_cross_entropy_with_logits", "kl_div"):
        owners = (imode.nn.functional,)  # imode's own take a number for the reduction
    return next(getattr(owner, base) for owner in owners if hasattr(owner, base))


def inplace(name):
    """Return the in-place form of an operator as users call it."""
    return getattr(imode.Tensor, name.partition(".")[0] + "_", OPERATORS[name].inplace)


def writes(name):
    """Whether it exists in place only, so that a leaf that requires grad has to be cloned."""
    return OPERATORS[name].role == Role.INPLACE or name.partition(".")[0].endswith("_")


def call(name, index, **options):
    """Return (results, arguments): the tensors that a sample call gives and takes."""
    args, kwargs, tensors = SAMPLES[name][index].make(imode, **options)
    if writes(name) and args[0].requires_grad:
        args[0] = args[0].clone()
    return flat(public(name)(*args, **kwargs)), tensors


def flat(result):
    """Return the tensors in a result; other results as they are."""
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in flat(item)]
    return [result]


def same(a, b, exact=True):
    """Whether two results have the same dtype, shape and values."""
    if not isinstance(a, imode.Tensor):
        return a == b or (a != a and b != b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    x, y = np.array(a.detach().tolist()), np.array(b.detach().tolist())
    if x.dtype.kind in "fc" and not exact:
        return bool(np.allclose(x, y, 1e-5, 1e-6, equal_nan=True))
    return bool(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"))
