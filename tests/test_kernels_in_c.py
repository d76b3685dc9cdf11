"""Kernels of another package, in C: `imode_kernel.h`, its table of functions and its version."""

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
import pytest

import imode

SOURCE = Path(__file__).with_name("kernels") / "samples.c"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="compiles as on POSIX"),
]


def compiled(folder, header):
    """Compile the samples with the headers in a folder; the path of the module."""
    module = folder / f"kernel_samples{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    includes = [header, numpy.get_include(), sysconfig.get_paths()["include"]]
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    flags += ["-Wno-cast-function-type", "-Wno-missing-field-initializers", "-Wno-unused-function"]
    done = subprocess.run(
        [*compiler, *flags, *(f"-I{each}" for each in includes), str(SOURCE), "-o", str(module)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return module


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = compiled(tmp_path_factory.mktemp("kernels"), imode.library.get_include())
    spec = importlib.util.spec_from_file_location("kernel_samples", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ops(kernels):
    with imode.library.Library("in_c", "DEF") as library:
        for schema, kernel in [
            ("halve(Tensor self) -> Tensor", kernels.halve),
            ("first_row(Tensor(a) self) -> Tensor(a)", kernels.first_row),
            ("zero_(Tensor(a!) self) -> Tensor(a!)", kernels.zero_),
            ("words(Tensor self) -> Tensor", kernels.words),
            ("fails(Tensor self) -> Tensor", kernels.fails),
        ]:
            library.define(schema)
            library.impl(schema.partition("(")[0], kernel, "CPU")
        yield imode.ops.in_c


def test_a_new_result(ops):
    x = imode.tensor([2.0, 3.0])
    y = ops.halve(x)
    assert type(y) is imode.Tensor and y.tolist() == [1.0, 1.5] and not y.is_inference()
    with imode.inference_mode():
        assert ops.halve(x).is_inference()


def test_a_view_is_tracked_and_a_write_counted(ops):
    x = imode.ones(2, 3)
    row = ops.first_row(x)
    assert row._is_view() and row._base is x and row.shape == (3,)
    assert ops.zero_(row) is row and x.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert x._version == row._version == 1
    with imode.inference_mode():
        inside = imode.ones(2)
    with pytest.raises(RuntimeError, match=r"^Inplace update to inference tensor outside"):
        ops.zero_(inside)
    leaf = imode.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad"):
        ops.zero_(leaf)
    assert leaf.tolist() == [1, 1]


def test_what_a_kernel_raises_reaches_the_caller(ops):
    with pytest.raises(ValueError, match=r"^the kernel's own words$"):
        ops.fails(imode.ones(2))
    with pytest.raises(TypeError, match="expected float32 in rows"):
        ops.halve(imode.ones(2, dtype=imode.int64))


def test_what_is_no_array_is_refused(ops):
    with pytest.raises((TypeError, RuntimeError), match=r"str|U8|dtype"):
        ops.words(imode.ones(2))


def test_a_kernel_of_a_higher_key_hands_on(ops, kernels):
    x = imode.ones(2)
    before = kernels.seen()
    with imode.library.Library("in_c", "IMPL") as library:
        library.impl("halve", kernels.looking, "Autograd")
        assert ops.halve(x).tolist() == [0.5, 0.5] and kernels.seen() == before + 1
        with imode.inference_mode():
            ops.halve(imode.ones(2))
        assert kernels.seen() == before + 1  # the mode is beneath that key
        with pytest.raises(TypeError):
            ops.halve(imode.ones(2, dtype=imode.int64))
        assert imode.excluded_keys() == imode.DispatchKeySet()  # restored after an error, too
    assert ops.halve(x).tolist() == [0.5, 0.5] and kernels.seen() == before + 2


def test_a_kernel_needs_a_function(kernels):
    with pytest.raises(ValueError, match="NULL"):
        kernels.make()


@pytest.mark.parametrize(
    ("line", "change"),
    [("#define IMODE_KERNEL_VERSION 2", "#define IMODE_KERNEL_VERSION 3"),
     ("} imode_kernel_api;", "void *more; } imode_kernel_api;")],
)  # fmt: skip
def test_another_version_is_refused_when_the_module_is_imported(tmp_path, line, change):
    header = Path(imode.library.get_include(), "imode_kernel.h").read_text()
    assert line in header
    (tmp_path / "imode_kernel.h").write_text(header.replace(line, change))
    spec = importlib.util.spec_from_file_location("kernel_samples", compiled(tmp_path, tmp_path))
    with pytest.raises(ImportError, match=r"compiled for version . of imode's kernels .* again"):
        importlib.util.module_from_spec(spec)
