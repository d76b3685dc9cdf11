"""docs/coverage.md is what is there, and a name of PyTorch's that is missing says so."""

import difflib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import imode
from imode.errors.pytorch import NAMES

TOOL = Path(__file__).parents[1] / "tools" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    if not TOOL.exists():
        pytest.skip("runs where the source is")
    spec = importlib.util.spec_from_file_location("coverage_tool", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_is_there(coverage):
    written, now = coverage.PAGE.read_text().splitlines(), coverage.page().splitlines()
    changed = list(difflib.unified_diff(written, now, lineterm="", n=0))
    assert not changed, "run `make coverage`\n" + "\n".join(changed[:20])


def test_each_reason_is_met(coverage):
    found = {coverage.reason(space, name) for space in NAMES for name in NAMES[space].split()}
    assert found - {None} == {why for why, _ in coverage.NEVER}


# ---- what is missing says so ----


def spaces():
    """Yield (path, object) of the namespaces that are there."""
    for space in NAMES:
        owner = imode
        for part in filter(None, space.split(".")):
            owner = getattr(owner, part, None)
        if owner is not None and space != "ops.aten":
            yield space, owner


@pytest.mark.parametrize(("space", "owner"), [*spaces()], ids=[s or "torch" for s, _ in spaces()])
def test_names_that_are_missing_say_so(space, owner):
    missing = [name for name in NAMES[space].split() if not hasattr(owner, name)]
    for name in missing:
        path = f"torch.{space}.{name}".replace("..", ".")
        with pytest.raises(AttributeError) as raised:
            getattr(owner, name)
        assert f": {path} is not in imode\n" in str(raised.value), "see errors.names_of"
        assert "docs/coverage.md" in str(raised.value)
    assert not hasattr(owner, "no_such_name")


def test_the_nearest_names_are_named():
    for _ in range(2):
        with pytest.raises(AttributeError, match=r"imode\nNearest: is_sparse_csr, to_sparse\."):
            imode.ones(1).to_sparse_csr()


def test_other_names_keep_pythons_sentence():
    for owner in (imode, imode.nn, imode.nn.functional, imode.Tensor):
        with pytest.raises(AttributeError) as raised:
            owner.reluu  # noqa: B018
        assert str(raised.value).endswith("has no attribute 'reluu'")


def test_missing_methods_are_in_no_listing():
    missing = [name for name in NAMES["Tensor"].split() if not hasattr(imode.Tensor, name)]

    class Named(imode.Tensor):
        pass

    x = imode.ones(2)
    listed = {*dir(x), *dir(imode.Tensor), *dir(Named), *dir(x.as_subclass(Named))}
    assert missing and not listed & {*missing} and {"add", "cumsum"} <= listed
    setattr(Named, missing[0], 1)
    assert missing[0] in dir(Named) and missing[0] in dir(x.as_subclass(Named))


def test_the_list_of_names_is_imported_by_the_first_that_is_missing():
    program = (
        "import sys, imode, imode.nn.functional\n"
        "imode.ones(2).add(1), hasattr(imode, '_private'), imode.nn.Linear\n"
        "assert 'imode.errors.pytorch' not in sys.modules\n"
        "assert not hasattr(imode, 'no_such_name') and 'imode.errors.pytorch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
