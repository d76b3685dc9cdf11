"""The programs of docs/autograd.md print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "autograd.md"
PROGRAMS = (
    re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S) if PAGE.exists() else []
)


@pytest.mark.skipif(not PROGRAMS, reason="the page is not beside the tests")
@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_program_of_the_page_prints_what_it_says(program):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "docs/autograd.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == re.findall(r"# prints (.*)$", program, re.M)
