"""What is shipped: the contents of the wheel, the stubs, cimport from outside, the README."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

import imode
from imode.ops import load_all, schema

load_all()
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


def test_what_a_module_says_it_has_is_there():
    names = (found.name for found in pkgutil.walk_packages(imode.__path__, "imode."))
    modules = [importlib.import_module(name) for name in names if "__main__" not in name]
    assert len(modules) > 100
    promised = [(m, name) for m in modules for name in getattr(m, "__all__", ())]
    assert not [f"{m.__name__}.{name}" for m, name in promised if not hasattr(m, name)]


def test_the_contents_are_literal_and_stand_for_what_is_there():
    """`imode/__init__.py` names everything; operators are named by the table of the build."""
    functions = set(imode.ops.FUNCTIONS)
    assert functions == set(schema.functions) and functions <= set(imode.__all__)
    named = set(imode.__all__) - functions
    source = ast.parse(Path(imode.__file__).read_text())
    (listed,) = (
        node.value
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    *literal, operators = listed.elts
    assert ast.unparse(operators) == "*ops.FUNCTIONS"
    strings = [node.value for node in ast.walk(listed) if isinstance(node, ast.Constant)]
    assert sorted(strings) == sorted(named) and literal
    here = {
        name
        for name, value in vars(imode).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert here <= set(imode.__all__)
    later = {*imode._MODULES_LATER, *imode._WHERE}
    assert later <= named
    loaded = python("-c", "import imode; print(*vars(imode))").split()
    assert not later & set(loaded) and named - later <= set(loaded)


@from_source
def test_the_version_is_the_same_wherever_it_stands():
    versions = {
        "pyproject.toml": r'^version = "(.*)"$',
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## (\d.*?)(?: - .*)?$",
    }
    found = {
        name: re.search(pattern, (ROOT / name).read_text(), re.M)[1]
        for name, pattern in versions.items()
        if (ROOT / name).exists()
    }
    assert len(found) >= 2
    assert found == dict.fromkeys(found, imode.__version__)


def test_import_needs_numpy_only():
    code = "import sys, imode; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = set(python("-c", code).split())
    extra = {"torch", "scipy", "pytest", "hypothesis", "Cython", "setuptools", "tqdm"} & loaded
    assert not extra


def test_the_functions_of_nn_are_loaded_when_they_are_used():
    code = "import imode.nn as nn, sys; print('imode.ops.networks.fold' in sys.modules)"
    code += "; nn.functional.unfold; print('imode.ops.networks.fold' in sys.modules)"
    assert python("-c", code).split() == ["False", "True"]
    functions = set(imode.ops.NN_FUNCTIONS)
    assert functions == set(schema.nn_functions) < set(imode.nn.functional.__all__)
    assert {*functions, "scaled_mm", "relu_"} <= set(dir(imode.nn.functional))
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        imode.nn.functional.unheard_of  # noqa: B018


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
    assert wheel.stat().st_size <= 7e6


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


FLOORS = [
    *("imode", "imode/errors", "imode/_core", "imode/_tensor", "imode/autograd"),
    *("imode/serialization", "imode/serialization/pytorch", "imode/standing_in"),
    *("imode/profiler", "imode/advise"),
]


def files_of(folder):
    """The names that a row of the architecture may have: stems, and headers with their ending."""
    found = [p for s in ("*.py", "*.pyx", "*.pxd", "[!_]*.h") for p in (ROOT / folder).glob(s)]
    return {p.name if p.suffix == ".h" else p.stem for p in found} - {"__init__", "names"}


def assert_names(cell, folder):
    """A cell of a table names every file of the folder, and none that is gone."""
    named, files = set(re.findall(r"`([\w.]+)`", cell)), files_of(folder)
    stems = {f.removesuffix(".h") for f in files}
    assert not {f for f in files if f not in named and f.removesuffix(".h") not in named}
    assert not {n for n in named if n not in files and n not in stems}


@from_source
def test_every_module_that_uses_arrays_imports_the_c_api():
    """Without import_array() NumPy's functions are null, and its structs those of version 1."""
    uses = re.compile(r"^(?:cimport numpy|from numpy cimport (?!npy_intp$))", re.MULTILINE)
    sources = {path: path.read_text() for path in (ROOT / "imode").rglob("*.pyx")}
    users = {path: text for path, text in sources.items() if uses.search(text)}
    assert len(users) > 50
    assert not [path for path, text in users.items() if "import_array()" not in text]


@from_source
@pytest.mark.parametrize("folder", FLOORS)
def test_every_file_has_its_place_in_the_architecture(folder):
    text = (ROOT / "docs/architecture.md").read_text()
    table = re.search(rf"^\| in `{folder}/` \|[^\n]*\n(.*?)\n\n", text, re.M | re.S).group(1)
    assert_names("".join(row.split("|")[1] for row in table.splitlines()), folder)


@from_source
@pytest.mark.parametrize("floor", ["ops", "kernels"])
def test_every_file_of_a_family_has_its_place_in_the_architecture(floor):
    text = (ROOT / "docs/architecture.md").read_text()
    table = re.search(r"^\| family \|[^\n]*\n\|[-|]+\n(.*?)\n\n", text, re.M | re.S).group(1)
    rows = [[cell.strip(" `") for cell in row.split("|")[1:4]] for row in table.splitlines()]
    families = {path.name for path in (ROOT / "imode" / floor).iterdir() if path.is_dir()}
    assert {row[0] for row in rows} - {"all"} == families - {"__pycache__"}
    for family, *cells in rows:
        cell = f"`{cells[floor == 'kernels']}`"
        assert_names(cell, f"imode/{floor}" if family == "all" else f"imode/{floor}/{family}")


# From the bottom to the top; what is not named stands above, `errors` may be raised by all.
STOREYS = ["_core", "guards", "kernels", "autograd", "ops", "_tensor"]
UPWARD = {  # what is imported from above, and why
    ("imode/_core/dispatch.pyx", "imode"): "a pickle names an operator by what users call",
    ("imode/_core/dispatch.pyx", "imode.library.namespaces"): "what users ask of an operator",
    ("imode/_core/dispatch.pyx", "imode.library.function_schema"): "likewise",
    ("imode/_core/dispatch.pyx", "imode.library.tags"): "likewise",
    ("imode/_tensor/methods.py", "imode.storage"): "an old method, over public names",
    ("imode/autograd/__init__.py", "imode._tensor.legacy"): "Variable, an old name of Tensor",
    ("imode/autograd/profiler.py", "imode.profiler"): "PyTorch's older names of it",
    ("imode/autograd/profiler_util.py", "imode.profiler.events"): "likewise",
    ("imode/autograd/gradcheck.py", "imode"): "a program in public functions, as a user's",
    ("imode/autograd/functional.py", "imode"): "likewise",
}
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+c?import[ \t]+\(?([^\n#]*)|c?import[ \t]+(imode[\w.]*))",
    re.M,
)


def imported(path):
    """Yield the modules of the package that a source imports or cimports, by their whole names."""
    package = list(path.relative_to(ROOT).parent.parts)
    for source, names, whole in IMPORT.findall(re.sub(r'"""(?:.|\n)*?"""', "", path.read_text())):
        if source.startswith("."):
            dots = len(source) - len(source.lstrip("."))
            parts = package[: len(package) - dots + 1] + source.strip(".").split(".")
            source = ".".join(filter(None, parts))
        if source == "imode":
            words = re.findall(r"\w+", re.sub(r" as \w+", "", names))
            inside = [word for word in words if word in {*STOREYS, "errors"}]
            yield from (f"imode.{word}" for word in inside)
            if len(inside) < len(words):
                yield "imode"
        elif (source or whole).partition(".")[0] == "imode":
            yield source or whole


def storey(module):
    """The number of a module's floor, or of none: the top."""
    name = (*module.split("."), "")[1]
    return STOREYS.index(name) if name in STOREYS else len(STOREYS)


@from_source
def test_imports_point_down():
    found = {}
    for path in (ROOT / "imode").rglob("*.p[yx]*"):
        where = path.relative_to(ROOT).as_posix()
        own = storey(where.partition(".")[0].replace("/", "."))
        if path.suffix not in (".py", ".pyx", ".pxd") or own == len(STOREYS):
            continue
        found |= {
            (where, module): own
            for module in imported(path)
            if storey(module) > own and not module.startswith("imode.errors")
        }
    assert found.keys() == UPWARD.keys()


@from_source
def test_errors_import_of_the_package_only_the_core():
    for path in (ROOT / "imode/errors").glob("*.py"):
        modules = {m for m in imported(path) if not m.startswith("imode.errors")}
        assert all(storey(module) == 0 for module in modules), path.name


@from_source
def test_autograd_imports_in_its_order():
    """Each file of autograd imports only from those before it in the architecture's table."""
    text = (ROOT / "docs/architecture.md").read_text()
    table = re.search(r"^\| in `imode/autograd/` \|[^\n]*\n(.*?)\n\n", text, re.M | re.S).group(1)
    order = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()))
    for path in (ROOT / "imode/autograd").glob("*.p[yx]*"):
        if path.suffix not in (".py", ".pyx", ".pxd") or path.stem == "__init__":
            continue
        for module in imported(path):
            if module.startswith("imode.autograd.") and module.rpartition(".")[2] != path.stem:
                above = order.index(module.rpartition(".")[2]) > order.index(path.stem)
                assert not above, f"{path.name} imports {module}"


@from_source
def test_no_list_by_position_stands_for_an_enumeration():
    """What C and Python both name is an enumeration that is written once, in a `.pxd`."""
    from imode._core.bind import Problem
    from imode._core.dispatch import Kind, Role
    from imode._core.loops import Ints, Layout, Number
    from imode.kernels.networks.loss import Pairwise, Reduction

    enumerations = Kind, Role, Problem, Ints, Layout, Number, Pairwise, Reduction
    members = {name for each in enumerations for name in each.__members__}
    for folder in ("imode", "tests", "tools", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Assign):
                    continue
                targets = [t for each in node.targets for t in getattr(each, "elts", [each])]
                names = {t.id.lstrip("_") for t in targets if isinstance(t, ast.Name)}
                value = ast.unparse(node.value)
                numbered = re.fullmatch(r"range\(.*\)|\(?\d[\d, ]*\)?", value)
                assert not (names & members and numbered), f"{path}:{node.lineno}"


@from_source
def test_every_module_has_a_declaration_and_failures_are_stated():
    """A cdef function without a type or an exception clause hides its failures."""
    bare = re.compile(r"^\s*cdef (?:inline )?\w+\(", re.M)
    for path in (ROOT / "imode").rglob("*.px[dy]"):
        assert not bare.search(path.read_text()), f"{path.name}: a cdef function without a type"


def test_every_operator_has_a_row_in_the_benchmarks():
    from benchmarks import rows

    assert rows.missing() == []


@from_source
def test_samples_stand_in_the_file_of_their_operators_name():
    load_all()
    ops = pytest.importorskip("imode.ops.names", reason="the build writes it")
    folder = Path(__file__).with_name("samples")
    for path in sorted(folder.glob("*/[a-z]*.py")):
        module = f"{path.parent.name}.{path.stem}"
        for name in importlib.import_module(f"tests.samples.{module}").SAMPLES:
            assert module in ops.DECLARED_IN[name.partition(".")[0]].split(), (module, name)


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
