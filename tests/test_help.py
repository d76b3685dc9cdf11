"""help(): every way in which an operator is called, with the names that users write."""

import inspect
import pydoc
import re

import pytest

import imode
from imode.ops import schema


def shown(function):
    return pydoc.plain(pydoc.render_doc(function)).splitlines()


def test_all_overloads_of_a_function_are_shown():
    lines = [line.strip() for line in shown(imode.sum)]
    assert "sum(input, *, dtype=None)" in lines
    assert "sum(input, dim, keepdim=False, *, dtype=None, out=None)" in lines
    assert "Return the sum of all elements." in lines
    assert any(line.startswith("Return the sums along `dim`") for line in lines)
    assert ">>> imode.sum(imode.ones(2, 3), dim=1)" in lines


def test_named_results_are_shown():
    lines = [line.strip() for line in shown(imode.max)]
    assert "max(input, dim, keepdim=False, *, out=None) -> (values, indices)" in lines
    assert "max(input, other, *, out=None)" in lines


def test_methods_are_shown_as_they_are_called():
    lines = imode.Tensor.max.__doc__.splitlines()
    assert lines[:3] == ["max()", "max(other)", "max(dim, keepdim=False) -> (values, indices)"]


def test_one_way_stands_in_the_signature_alone():
    assert str(inspect.signature(imode.add)) == "(input, other, *, alpha=1, out=None)"
    assert imode.relu.__doc__.startswith("Return")


def test_an_alias_shows_all_overloads_under_its_own_name():
    assert (
        imode.divide.__doc__.splitlines()[1] == "divide(input, other, *, rounding_mode, out=None)"
    )


imode.ops.load_all()
TABLES = {"imode": schema.functions, "imode.nn.functional": schema.nn_functions}
FUNCTIONS = [(where, name) for where, table in TABLES.items() for name in sorted(table)]


@pytest.mark.parametrize(("where", "name"), FUNCTIONS)
def test_the_tensor_is_called_input(where, name):
    function = TABLES[where][name]
    text = f"{function.__text_signature__}" if inspect.isbuiltin(function) else "()"
    inspect.signature(function)
    doc = (function.__doc__ or "").split("\n\n")[0]
    for line in [text, *(line for line in doc.splitlines() if line.startswith(f"{name}("))]:
        assert not re.search(r"\bself\b", line)
