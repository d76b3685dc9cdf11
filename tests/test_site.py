"""The reference is whole, and what checks the site finds what is wrong: without Sphinx."""

import importlib
import re
import sys
import types
from pathlib import Path

import pytest

import imode

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "tools" / "site.py").exists(), reason="the tools are not beside the tests"
)


@pytest.fixture
def tool(monkeypatch):
    """Import a file of tools/; afterwards it is not imported."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("reference", "stubs"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def load(name):
        spec = importlib.util.spec_from_file_location(
            f"tools_{name}", ROOT / "tools" / f"{name}.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_every_public_name_is_described_with_all_its_overloads(tool, tmp_path):
    names = tool("reference").write(tmp_path)
    text = "\n".join(path.read_text() for path in tmp_path.glob("*.md"))
    described = re.findall(r"^`+\{py:\w+\} ([\w.]+)", text, re.M)
    assert not names - set(described)
    assert len(described) == len(set(described)), "a name is described twice"
    values = {name: getattr(imode, name) for name in imode.__all__ if not name.startswith("_")}
    own = {f"imode.{name}" for name, v in values.items() if not isinstance(v, types.ModuleType)}
    assert len(own) > 800 and own <= set(described)
    head = re.search(r"\{py:function\} (imode\.sum\(.*)", text)[1]
    assert head.count("imode.sum(") == 2 and "dim" in head.split(" &&& ")[1]
    assert "dim" not in head.split(" &&& ")[0]
    assert "keepdim: bool = False" in head and "Sequence[int] | int" in head


def test_the_reference_has_the_modules_that_the_coverage_lists(tool):
    listed = re.findall(r"^\| `torch\.([\w.]+)`", (ROOT / "docs/coverage.md").read_text(), re.M)
    pages = set(" ".join(tool("reference").PAGES.values()).split())
    assert len(listed) > 20
    assert not {*listed} - pages - {"Tensor", "ops.aten"}


def test_a_docstring_becomes_markdown(tool):
    prose = tool("reference").prose
    assert prose("Add *two* <things>, `a<b`.") == r"Add \*two\* \<things>, `a<b`."
    fenced = prose("Add.\n\n>>> 1 + 1\n2\n\n>>> 2 + 2\n4\n\nDone.")
    assert fenced.split("```pycon")[1].split("```")[0].count(">>>") == 2
    assert fenced.endswith("Done.")
    overloads = prose("f(a)\nf(a, b)\n\nAdd.\n\nf(a, b)\n\nAdd both.", "f")
    assert overloads.split() == ["Add.", "`f(a,", "b)`", "Add", "both."]


def test_broken_links_are_found(tool, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a id="here" href="b.html#there">1</a><a href="#here">2</a><img src="gone.png">'
        '<a href="b.html#nowhere">3</a><a href="https://example.org/x">4</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    broken, followed = tool("site").broken_links(tmp_path)
    assert sorted(broken) == ["a.html: b.html#nowhere", "a.html: gone.png"] and followed == 4
