"""utils.checkpoint without PyTorch: what it keeps, and how it ends."""

import gc
import warnings
import weakref

import pytest

import imode
from imode.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)


def test_nothing_is_kept_between():
    kept = []

    def function(x):
        y = x.sin()
        kept.append(weakref.ref(y))
        return y.cos().exp()

    x = imode.ones(3, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=False)
    assert kept[0]() is None
    y.sum().backward()
    assert len(kept) == 2
    gc.collect()
    assert kept[1]() is None


def test_keywords_are_passed_on_and_closures_get_gradients():
    weight = imode.full((3,), 2.0, requires_grad=True)
    x = imode.ones(3, requires_grad=True)
    y = checkpoint(lambda x, scale: (x * weight).exp() * scale, x, scale=2, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == (4 * imode.exp(weight)).tolist()
    assert weight.grad.tolist() == (2 * imode.exp(weight)).tolist()


def test_a_block_says_whether_second_runs_end_early():
    ended = []

    def function(x):
        y = x.sin().cos() + 1
        ended.append(True)
        return y

    x = imode.ones(3, requires_grad=True)
    checkpoint(function, x, use_reentrant=False).sum().backward()
    assert len(ended) == 1
    with set_checkpoint_early_stop(False):
        y = checkpoint(function, x, use_reentrant=False)
    y.sum().backward()
    assert len(ended) == 3


def test_random_numbers_go_on_after_backward():
    x = imode.ones(100, requires_grad=True)
    for reentrant in (True, False):
        imode.manual_seed(1)
        y = checkpoint(imode.nn.functional.dropout, x, 0.5, use_reentrant=reentrant)
        x.grad = None
        y.sum().backward()
        after = imode.rand(1)
        assert x.grad.tolist() == y.tolist()
        imode.manual_seed(1)
        imode.nn.functional.dropout(x, 0.5)
        assert imode.rand(1) == after


def test_what_saves_something_else_is_refused():
    runs = []

    def function(x):
        runs.append(1)
        return x.sin().cos() if len(runs) == 1 else x.sin()

    x = imode.ones(3, requires_grad=True)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(function, x, use_reentrant=False).sum().backward()
    runs.clear()
    y = checkpoint(lambda x: x.sin() if runs else x[:2].sin(), x, use_reentrant=False)
    runs.append(1)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.sum().backward()
    assert x.grad is None


def test_it_says_that_it_wants_to_be_told():
    x = imode.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed"):
        assert checkpoint(imode.sin, x).grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed"):
        checkpoint_sequential([imode.sin, imode.cos], 1, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(imode.sin, imode.ones(1), use_reentrant=True)


def test_inference_mode_runs_the_function_alone():
    x = imode.ones(3, requires_grad=True)
    with imode.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoint(imode.sin, x, use_reentrant=False).is_inference()
        assert checkpoint(imode.sin, x, use_reentrant=True).is_inference()
    with imode.inference_mode():
        inside = imode.ones(3)
    for reentrant in (True, False):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            checkpoint(imode.mul, x, inside, use_reentrant=reentrant)
