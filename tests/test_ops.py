"""Every operator of the table, by its samples: modes, variants, aliasing.

What the values are is compared with PyTorch in tests/conformance; here the forms of one operator
are compared with each other. Without PyTorch.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import imode
from imode._core.dispatch import Role, all_operators

from .operators import (
    CASES,
    OPERATORS,
    PUBLIC,
    SAMPLES,
    WORKING,
    call,
    cases,
    flat,
    inplace,
    public,
    same,
)


def test_every_operator_has_samples():
    assert not [name for name in PUBLIC if name not in SAMPLES]


def test_every_sample_names_an_operator():
    known = set(all_operators()) | {name.partition(".")[0] for name in all_operators()}
    assert not [name for name in SAMPLES if name not in known]


def test_every_operator_is_documented():
    assert not [name for name in PUBLIC if not OPERATORS[name].entry.doc]


@cases([(n, i) for n, i in WORKING if SAMPLES[n][i].numpy])
def test_operators_that_pytorch_lacks_agree_with_numpy(name, index):
    sample = SAMPLES[name][index]
    args, kwargs, _ = sample.make(imode)
    wanted = sample.numpy(
        *[a.numpy() if isinstance(a, imode.Tensor) else a for a in args], **kwargs
    )
    results, _ = call(name, index)
    for result, expected in zip(results, flat(wanted), strict=True):
        expected = imode.from_numpy(np.asarray(expected))
        assert same(result, expected, exact=False)


# ---- modes ----


@cases(WORKING)
def test_modes_give_the_same(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    plain, _ = call(name, index, requires_grad=sample.grad)
    for mode in (imode.no_grad, imode.inference_mode):
        imode.manual_seed(1)
        with mode():
            seen, tensors = call(name, index, requires_grad=sample.grad)
        assert len(seen) == len(plain)
        for a, b in zip(seen, plain):
            if sample.values:
                # A composite may take another road to the same sums where nothing is recorded.
                assert same(a, b, OPERATORS[name].role != Role.COMPOSITE), mode.__name__
            if isinstance(a, imode.Tensor) and not any(a is t for t in tensors):
                views = OPERATORS[name].role == Role.VIEW or a._is_view()
                assert views or not a.requires_grad or name.startswith("requires_grad")
                assert a.is_leaf or views


@cases(WORKING)
def test_results_made_in_the_mode_are_inference_tensors(name, index):
    with imode.inference_mode():
        results, tensors = call(name, index)
        assert all(t.is_inference() for t in tensors)
    for t in results:
        assert not isinstance(t, imode.Tensor) or t.is_inference()


@cases([(n, i) for n, i in WORKING if OPERATORS[n].role == Role.VIEW])
def test_views_share_memory(name, index):
    results, tensors = call(name, index)
    for t in results:
        if t.numel():
            assert np.shares_memory(t.numpy(force=True), tensors[0].numpy(force=True))
            assert t.is_inference() == tensors[0].is_inference()


@cases([(n, i) for n, i in CASES if SAMPLES[n][i].raises])
def test_bad_samples_raise(name, index):
    for mode in (imode.enable_grad, imode.no_grad, imode.inference_mode):
        with mode(), pytest.raises(SAMPLES[name][index].raises):
            call(name, index)


# ---- variants ----


def fits(functional, target):
    """Whether a functional result can be written into `target`: shape kept, dtype castable."""
    return functional.shape == target.shape and imode.can_cast(functional.dtype, target.dtype)


def overlapping(tensor):
    repeated = any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape))
    return repeated and tensor.numel() > 0


@cases([(n, i) for n, i in WORKING if OPERATORS[n].inplace and SAMPLES[n][i].variants])
def test_inplace_agrees(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    (wanted,), _ = call(name, index)
    args, kwargs, tensors = sample.make(imode)
    target = args[0]
    if not isinstance(target, imode.Tensor):
        pytest.skip("its first argument is a number here")
    before = [t.clone() for t in tensors]
    imode.manual_seed(1)
    if not fits(wanted, target) or overlapping(target):
        with pytest.raises(RuntimeError):
            inplace(name)(*args, **kwargs)
        assert all(same(a, b) for a, b in zip(tensors, before))
        return
    result = inplace(name)(*args, **kwargs)
    assert result is target
    assert target._version == (before[0]._version + 1 if target._base is None else target._version)
    if sample.values:
        assert same(target, wanted.to(target.dtype), exact=wanted.dtype == target.dtype)
    assert all(same(a, b) for a, b in zip(tensors[1:], before[1:]))


@cases([(n, i) for n, i in WORKING if OPERATORS[n].out and SAMPLES[n][i].variants])
def test_out_agrees(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    wanted, _ = call(name, index)
    args, kwargs, tensors = sample.make(imode)
    before = [t.clone() for t in tensors]
    outs = [imode.empty(t.shape, dtype=t.dtype) for t in wanted]
    imode.manual_seed(1)
    result = public(name)(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
    for a, out, b in zip(flat(result), outs, wanted):
        assert a is out and out._version == (2 if name == "nanmean" else 1)  # a sum, divided
        assert not sample.values or same(out, b)
    assert all(same(a, b) for a, b in zip(tensors, before))


@cases([(n, i) for n, i in WORKING if OPERATORS[n].out and SAMPLES[n][i].variants])
def test_out_of_another_kind_is_refused(name, index):
    wanted, _ = call(name, index)
    accepts = OPERATORS[name].accepts
    named = accepts.dtype if isinstance(accepts.dtype, tuple) else ()
    if wanted[0].dtype == imode.bool or np.dtype(bool) in named:
        pytest.skip("everything can be written from bool")
    args, kwargs, _ = SAMPLES[name][index].make(imode)
    if accepts.dtype == "own" and not (
        accepts.arguments and args[0].is_floating_point() and args[0].numel()
    ):
        pytest.skip("computes in the dtype of out=")
    outs = [imode.zeros(t.shape, dtype=imode.bool) for t in wanted]
    with pytest.raises((RuntimeError, TypeError), match=r"type|Bool"):
        public(name)(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
    assert not any(t.any() for t in outs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each module is imported in a child of its own")
def test_each_module_of_operators_can_be_the_first():
    program = """
import importlib, os, sys, imode
failed = []
for module in imode.ops.MODULES:
    child = os.fork()
    if not child:
        try:
            importlib.import_module("imode.ops." + module)
        except BaseException as error:
            print(module, repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(module)
print(len(imode.ops.MODULES), failed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    count, _, failed = done.stdout.strip().partition(" ")
    assert int(count) > 90 and failed == "[]", done.stderr
