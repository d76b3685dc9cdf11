"""The programs of tests/messages.txt in PyTorch: the same class, the same first sentence."""

import re

import pytest
import torch

from tests.test_errors import CASES

# What PyTorch has not, or does without saying so.
ONLY_HERE = {
    "write, where the mode is turned off": "normal_mode is imode's",
    "set_ of an inference tensor": "PyTorch lets the two share memory",
    "set_ of a normal tensor": "the same",
    "data, inference into normal": "the same",
    "data, normal into inference": "the same",
    "no history, in normal_mode": "normal_mode is imode's",
    "no history, below autograd": "PyTorch has the guard in C++ alone",
    "guard, no mode": "PyTorch takes everything for a mode",
    "guard, a mode that is NumPy's": "the same",
    "guard resumed twice": "how guards decorate generators is imode's own",
    "guard that is not on": "PyTorch raises AttributeError, or leaves the mode on",
    "guard of another thread": "PyTorch sets the other thread's mode",
    "illegal state": "PyTorch has it in C++ alone",
    "a callback that is none": "PyTorch takes it, and fails where it calls it",
    "set_ to something else": "PyTorch says of each overload why it does not fit",
    "a gradient that is not of the windows": "PyTorch has the operator under another name",
    "a result that was not saved, since its pack hook raised": "PyTorch names a place in a formula",
}
COMPARED = sorted(set(CASES) - set(ONLY_HERE))


def first_sentence(text):
    """The text up to the first full stop that ends a sentence, as one line."""
    line = " ".join(text.split())
    for mark in (". ", ".You "):
        line = line.partition(mark)[0]
    return line.rstrip(".")


@pytest.mark.parametrize("name", COMPARED)
def test_first_sentence(name):
    program, message = CASES[name]
    source = program.replace("imode", "torch")
    with pytest.raises(Exception) as caught:
        exec(compile(source, "program.py", "exec"), {"torch": torch})
    torch.set_grad_enabled(True)
    cls, said = type(caught.value), str(caught.value)
    if cls is not RuntimeError:
        said = f"{cls.__name__}: {said}"
    ours, theirs = (re.sub(r"torch(\.|::)", r"imode\1", text) for text in (message, said))
    assert " ".join(ours.split()).startswith(first_sentence(theirs))
    assert first_sentence(ours.splitlines()[0]) == first_sentence(theirs)


@pytest.mark.parametrize("name", ONLY_HERE)
def test_what_is_only_here_is_in_the_table(name):
    assert name in CASES
