"""Runs a program in a library and puts what it returns into a form that can be compared.

A program is a function of the library (imode or torch) that returns tensors, strings, numbers, and
lists and dicts of these.
"""

import re
import warnings

import numpy as np


def plain(value):
    """A value in a form that is the same in both libraries when the value is."""
    if hasattr(value, "detach"):
        array = value.detach().numpy().copy()
        return array, value.requires_grad, value.is_leaf
    if isinstance(value, str):
        return value.replace("torch", "imode")
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (int, float, bool, type(None))):
        return value
    return str(value).replace("torch", "imode")


def same(ours, theirs, where="", rtol=2e-5):
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, where
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-6, err_msg=where)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key in theirs:
            same(ours[key], theirs[key], f"{where}.{key}", rtol)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), where
        for i, item in enumerate(theirs):
            same(ours[i], item, f"{where}[{i}]", rtol)
    else:
        assert type(ours) is type(theirs) and ours == theirs, where


def run(function, library):
    library.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain(function(library))


def error(function):
    """The class and the first sentence of what `function` raises."""
    try:
        function()
    except Exception as raised:
        text = str(raised.args[0]) if raised.args else ""
        return [type(raised).__name__, re.split(r"\. |\n", text)[0].rstrip(".")]
    return ["nothing"]


def agrees(program):
    """Make a program a test: what it returns is the same in both libraries."""

    def test(lib, torch):
        same(run(program, lib), run(program, torch))

    test.__name__ = program.__name__
    return test
