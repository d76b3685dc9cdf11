"""The programs of the pages in docs/ print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PROGRAMS = [
    pytest.param(page.name, program, id=f"{page.stem}-{i}")
    for page in (
        DOCS / f"{name}.md" for name in ("autograd", "extending", "files", "inference-mode")
    )
    if page.exists()
    for i, program in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
]


@pytest.mark.skipif(not PROGRAMS, reason="the pages are not beside the tests")
@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_program_of_the_page_prints_what_it_says(page, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, f"docs/{page}", "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == re.findall(r"# prints (.*)$", program, re.M)


@pytest.mark.skipif(not PROGRAMS, reason="the pages are not beside the tests")
def test_the_picture_shows_what_its_program_draws():
    names = {"__name__": "__main__"}
    program = next(p.values[1] for p in PROGRAMS if "graph.draw" in p.values[1])
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, names)
    labels = re.findall(r'label="([^"]*)"', str(names["picture"]))
    drawn = re.findall(r"<text.*>(.*)</text>", (DOCS / "graph.svg").read_text())
    assert labels and sorted(drawn) == sorted(line for x in labels for line in x.split("\\n"))
