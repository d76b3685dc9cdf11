"""What is shipped: the contents of the wheel, the stubs, cimport from outside, the README."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import imode

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "setup.py"
from_source = pytest.mark.skipif(not SOURCE.exists(), reason="runs where the source is")


def python(*args, **kwargs):
    """Run this Python; return what it printed."""
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- the public names ----


def test_all_names_exist_and_are_listed_once():
    assert sorted(set(imode.__all__)) == sorted(imode.__all__)
    missing = [name for name in imode.__all__ if not hasattr(imode, name)]
    assert not missing


def test_import_needs_numpy_only():
    code = "import sys, imode; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = set(python("-c", code).split())
    extra = {"torch", "scipy", "pytest", "hypothesis", "Cython", "setuptools", "tqdm"} & loaded
    assert not extra


# ---- the README ----


def programs(page):
    """Return the Python programs of a page."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def test_first_program_of_the_readme_runs_as_printed():
    first = programs("README.md")[0]
    assert len(first.splitlines()) <= 15
    printed = python("-c", first)
    shown = re.findall(r"# prints (.*)$", first, re.M)
    assert shown and printed.splitlines() == shown


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_paths_named_on_the_page_exist(page):
    """Every `path/like.this` of the layout stands in the tree, or is made by a build."""
    made = ("build/", "dist/", ".venv")
    text = (ROOT / page).read_text()
    paths = re.findall(r"`((?:imode|tests|docs|benchmarks|examples|tools)/[\w./-]*)`", text)
    if not SOURCE.exists():
        paths = [p for p in paths if not p.startswith("imode/")]
    missing = [p for p in paths if not (ROOT / p).exists() and not p.startswith(made)]
    assert not missing


# ---- the wheel ----


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of this source, with what is built already."""
    folder = tmp_path_factory.mktemp("wheel")
    python("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
           "--disable-pip-version-check", "--wheel-dir", str(folder), str(ROOT))  # fmt: skip
    (path,) = folder.glob("imode-*.whl")
    return path


@from_source
@pytest.mark.slow
def test_wheel_holds_modules_declarations_and_stubs_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    stems = {n.partition(".")[0] for n in names if n.endswith((".so", ".pyd"))}
    for pyx in (ROOT / "imode").rglob("*.pyx"):
        relative = pyx.relative_to(ROOT).with_suffix("").as_posix()
        assert relative in stems, f"{relative} is not in the wheel"
    declarations = {p.relative_to(ROOT).as_posix() for p in (ROOT / "imode").rglob("*.pxd")}
    assert declarations <= set(names)
    assert {"imode/py.typed", "imode/__init__.pyi", "imode/__init__.pxd"} <= set(names)
    assert not [n for n in names if n.endswith((".c", ".pyx", ".cpp", ".pyc"))]
    made = (".so", ".pyd", ".pyi", "imode/ops/names.py")
    assert not [
        n for n in names
        if n.startswith("imode/") and not n.endswith(made) and not (ROOT / n).exists()
    ]  # fmt: skip
    assert not [n for n in names if n.startswith(("tests", "benchmarks", "tools", "examples"))]
    assert wheel.stat().st_size <= 5e6


@from_source
@pytest.mark.slow
def test_installed_wheel_works_away_from_the_source(wheel, tmp_path):
    python("-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check",
           "--target", str(tmp_path / "site"), str(wheel))  # fmt: skip
    code = "import imode; print(imode.__file__); print((imode.ones(2) + 1).sum().item())"
    where, total = python(
        "-c", code, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""}
    ).split()
    assert where.startswith(str(tmp_path)) and total == "4.0"


# ---- stubs ----


@from_source
def test_stub_declares_every_public_name():
    stub = Path(imode.__file__).with_suffix(".pyi")
    assert stub.exists(), "the build writes it: make build"
    declared = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            declared.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            declared.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            declared |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign):
            declared |= {target.id for target in node.targets}
    missing = sorted(set(imode.__all__) - declared)
    assert not missing


# ---- cimport ----

OUTSIDE = """
# cython: language_level=3
from imode._core.tensor cimport Tensor, storage

def dimensions(Tensor t):
    return storage(t).ndim
"""


@pytest.mark.slow
def test_another_package_can_cimport_imode(tmp_path):
    (tmp_path / "outside.pyx").write_text(OUTSIDE)
    (tmp_path / "setup.py").write_text(
        "import os, imode, numpy\n"
        "from Cython.Build import cythonize\n"
        "from setuptools import Extension, setup\n"
        "core = os.path.join(os.path.dirname(imode.__file__), '_core')\n"
        "setup(ext_modules=cythonize([Extension('outside', ['outside.pyx'],\n"
        "      include_dirs=[numpy.get_include(), core])]))\n"
    )
    package = str(Path(imode.__file__).parents[1])
    env = {**__import__("os").environ, "PYTHONPATH": package}
    python("setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path, env=env)
    code = "import imode, outside; print(outside.dimensions(imode.zeros(2, 3)))"
    assert python("-c", code, cwd=tmp_path, env=env).split() == ["2"]


# ---- the source ----


@from_source
def test_every_cited_note_is_written_somewhere():
    texts = [p.read_text() for s in ("*.py", "*.pyx", "*.pxd", "*.h", "*.c") for p in
             (ROOT / "imode").rglob(s)] + [(ROOT / "docs/architecture.md").read_text()]  # fmt: skip
    written = {
        m for text in texts for m in re.findall(r"^[\s#*/\"]*Note \[([^\]]+)\]\s*$", text, re.M)
    }
    cited = {m for text in texts for m in re.findall(r"Note \[([^\]]+)\]", text)} - {"Name"}
    assert cited <= written


@from_source
@pytest.mark.parametrize(
    "folder", ["imode", "imode/_core", "imode/autograd", "imode/kernels", "imode/ops"]
)
def test_every_file_has_its_place_in_the_architecture(folder):
    """The folder's table names every file, and none that is gone."""
    text = (ROOT / "docs/architecture.md").read_text()
    table = re.search(rf"^\| in `{folder}/` \|[^\n]*\n(.*?)\n\n", text, re.M | re.S).group(1)
    first_cells = "".join(row.split("|")[1] for row in table.splitlines())
    named = set(re.findall(r"`([\w.]+)`", first_cells))
    found = [p for s in ("*.py", "*.pyx", "*.pxd", "[!_]*.h") for p in (ROOT / folder).glob(s)]
    files = {p.name if p.suffix == ".h" else p.stem for p in found} - {"__init__", "names"}
    stems = {f.removesuffix(".h") for f in files}
    assert not {f for f in files if f not in named and f.removesuffix(".h") not in named}
    assert not {n for n in named if n not in files and n not in stems}


@from_source
def test_every_module_has_a_declaration_and_failures_are_stated():
    """A cdef function without a type or an exception clause hides its failures."""
    bare = re.compile(r"^\s*cdef (?:inline )?\w+\(", re.M)
    for path in (ROOT / "imode").rglob("*.px[dy]"):
        assert not bare.search(path.read_text()), f"{path.name}: a cdef function without a type"


def test_every_operator_has_a_row_in_the_benchmarks():
    from benchmarks import rows

    assert rows.missing() == []


def test_the_guards_under_their_older_names():
    assert imode.autograd.no_grad is imode.autograd.grad_mode.no_grad is imode.no_grad
    assert imode.autograd.inference_mode is imode.inference_mode
    assert imode.autograd.grad_mode.set_multithreading_enabled is (
        imode.autograd.set_multithreading_enabled
    )


def test_variables_are_tensors():
    x = imode.ones(2)
    variable = imode.autograd.Variable(x, requires_grad=True)
    assert variable.requires_grad
    assert not x.requires_grad
    assert variable.data_ptr() == x.data_ptr()
    assert isinstance(x, imode.autograd.Variable)
    assert imode.autograd.Variable().shape == (0,)
