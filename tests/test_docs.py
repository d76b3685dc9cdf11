"""The programs of the pages in docs/ print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import imode

DOCS = Path(__file__).parents[1] / "docs"
FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PROGRAMS = [
    pytest.param(page.name, program, id=f"{page.stem}-{i}")
    for page in (
        *(
            DOCS / f"{name}.md"
            for name in ("autograd", "extending", "files", "index", "inference-mode", "quick-start")
        ),
        *sorted(DOCS.glob("how-to/*.md")),
    )
    if page.exists()
    for i, program in enumerate(FENCE.findall(page.read_text()))
]
TUTORIALS = sorted(DOCS.glob("tutorials/*.md"))


@pytest.mark.skipif(not PROGRAMS, reason="the pages are not beside the tests")
@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_program_of_the_page_prints_what_it_says(page, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, f"docs/{page}", "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == re.findall(r"# prints (.*)$", program, re.M)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_prints_what_it_says(page, tmp_path, monkeypatch):
    """A tutorial is one program, here without the parts that draw; `make docs` runs those."""
    monkeypatch.chdir(tmp_path)
    threads = imode.get_num_threads()
    parts = [part for part in FENCE.findall(page.read_text()) if "figure.savefig" not in part]
    program, printed = "\n".join(parts), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(program, f"docs/tutorials/{page.name}", "exec"), {"__name__": "page"})
    finally:
        imode.set_num_threads(threads)
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
