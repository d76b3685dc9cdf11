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
    "arguments.no_tensor": "PyTorch says it with a type of its script language",
    "device: a kernel of one result for two": "such backends are imode's",
    "device: a kernel that gives another shape": "such backends are imode's",
    "device: a kernel that gives nothing": "such backends are imode's",
    "device: a kernel that is no function": "such backends are imode's",
    "opcheck, a kernel with a memory": "PyTorch names its tracer",
    "guard, no mode": "PyTorch takes everything for a mode",
    "guard, a mode that is NumPy's": "the same",
    "guard resumed twice": "how guards decorate generators is imode's own",
    "guard that is not on": "PyTorch raises AttributeError, or leaves the mode on",
    "guard of another thread": "PyTorch sets the other thread's mode",
    "illegal state": "PyTorch has it in C++ alone",
    "a callback that is none": "PyTorch takes it, and fails where it calls it",
    "set_ to something else": "PyTorch says of each overload why it does not fit",
    "a gradient that does not fit its runs": "PyTorch takes it",
    "a gradient that is not of the windows": "PyTorch has the operator under another name",
    "a library's operator, called after it was closed": "PyTorch ends the process",
    "a library's kernel, the wrong number": "PyTorch ends the process",
    "a function that nobody takes over": "PyTorch goes on about its logs",
    "a library's derivative, the wrong kind": "PyTorch names no operator",
    "a library's derivative, the wrong number": "PyTorch names no operator",
    "a library's kernel of a view, a copy": "PyTorch takes it",
    "a library's kernel, a view that it did not declare": "PyTorch names its own module",
    "a library's kernel, a write that it did not declare": "PyTorch ends it with where to scroll",
    "a library's kernel, not what it wrote": "PyTorch takes it",
    "a library's kernel, the wrong kind": "PyTorch takes it",
    "a library's operator that writes, a derivative": "PyTorch ends it with the schema",
    "a library's operator, its name after it was closed": "PyTorch does not know that it was there",
    "a library's operator, no derivative": "PyTorch takes it",
    "a library's operator, no list of floats": "PyTorch says it with a type of its script language",
    "a library's schema does not parse": "PyTorch reads on to the arrow",
    "a library's schema, an unknown type": "the place is marked on lines of its own",
    "a library's view of another dtype": "PyTorch takes it",
    "a library, a composite kernel of an operator with kernels": "PyTorch takes it",
    "a library, a device that is not registered": "PyTorch takes it",
    "a library, a kernel for no operator": "PyTorch takes it",
    "a library, a kernel of a composite operator": "PyTorch takes it",
    "a library, a name of imode's own": "PyTorch takes it",
    "a library, a namespace without a name": "PyTorch takes it",
    "a mode left that is not on": "PyTorch fails in a list of its own",
    "a mode's method returns one result of two": "PyTorch fails where it unpacks them",
    "modes left out of order": "PyTorch takes it",
    "opcheck, a wrong fake kernel": "PyTorch's fake tensors are on the meta device",
    "opcheck, no fake kernel": "PyTorch ends it with where to scroll",
    "a method of PyTorch's that is missing": "PyTorch has it",
    "a name of PyTorch's that is missing": "PyTorch has it",
    "a singular D": "PyTorch fails an assertion of its own",
    "more memory than there is": "PyTorch says where in its sources, and adds the index in bytes",
    "the operator of an out= form, without it": "torch.ops is another way to call",
    "a device without a kernel": "backends are imode's",
    "tensors of two devices": "backends are imode's",
    "a sparse result into a strided tensor": "PyTorch fails an assertion of its own",
    "a sparse tensor on another device": "PyTorch has sparse tensors there",
    "a sparse tensor of bfloat16": "PyTorch has it",
    "another layout": "PyTorch has it",
    "values of another size": "torch.ops is another way to call",
    "a result that was not saved, since its pack hook raised": "PyTorch names a place in a formula",
}
COMPARED = sorted(set(CASES) - set(ONLY_HERE))


def first_sentence(text):
    """The text up to the first full stop that ends a sentence, as one line."""
    line = " ".join(text.split())
    for mark in (". ", ".You "):
        line = line.partition(mark)[0]
    return line.rstrip(".")


@pytest.fixture
def libraries_close(monkeypatch):
    """PyTorch's libraries end with a `with` block, as imode's do."""
    library = torch.library.Library
    monkeypatch.setattr(library, "__enter__", lambda self: self, raising=False)
    monkeypatch.setattr(library, "__exit__", lambda self, *_: self._destroy(), raising=False)
    custom = torch.library.CustomOpDef
    monkeypatch.setattr(custom, "__enter__", lambda self: self, raising=False)
    monkeypatch.setattr(custom, "__exit__", lambda *_: None, raising=False)


@pytest.mark.parametrize("name", COMPARED)
def test_first_sentence(name, libraries_close):
    program, message = CASES[name]
    own = f"mylib{COMPARED.index(name)}"  # PyTorch keeps what custom_op has defined
    source = program.replace("imode", "torch").replace("mylib", own)
    with pytest.raises(Exception) as caught:
        exec(compile(source, "program.py", "exec"), {"torch": torch})
    torch.set_grad_enabled(True)
    cls, said = type(caught.value), str(caught.value).replace(own, "mylib")
    if cls is not RuntimeError:
        said = f"{cls.__name__}: {said}"
    ours, theirs = (re.sub(r"torch(\.|::)", r"imode\1", text) for text in (message, said))
    assert " ".join(ours.split()).startswith(first_sentence(theirs))
    assert first_sentence(ours.splitlines()[0]) == first_sentence(theirs)


@pytest.mark.parametrize("name", ONLY_HERE)
def test_what_is_only_here_is_in_the_table(name):
    assert name in CASES
