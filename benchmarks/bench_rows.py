"""Operators, programs and large arrays under pytest-benchmark: see README.md.

The group of a row is its work; its parameter is the library. PyTorch's rows are left out where it
is not installed.
"""

import contextlib
import importlib
import importlib.util
import timeit

import numpy as np
import pytest

import imode

from . import figures, rows

HAS_TORCH = importlib.util.find_spec("torch") is not None
TORCH = pytest.param(
    "torch", marks=pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
)
LIBRARIES = ("imode", TORCH)
SIZES = (65_536, 1_000_000)


@contextlib.contextmanager
def one_thread(library, inference):
    """Give the library, with one thread, in inference mode if wanted."""
    lib = importlib.import_module(library)
    threads = lib.get_num_threads()
    lib.set_num_threads(1)
    lib.manual_seed(0)
    try:
        with lib.inference_mode() if inference else contextlib.nullcontext():
            yield lib
    finally:
        lib.set_num_threads(threads)


def run(benchmark, code, names, number):
    """Time a statement, `number` times in one measurement."""
    benchmark.extra_info["statement"] = code
    benchmark.extra_info["runs in a round"] = number
    benchmark(timeit.Timer(code, globals=names).timeit, number)


@pytest.mark.parametrize("library", [*LIBRARIES, "numpy"])
@pytest.mark.parametrize("name", rows.ROWS)
def test_operator(benchmark, name, library):
    """An operator on 4 elements, in inference mode."""
    code, by_hand = rows.ROWS[name]
    benchmark.group = f"operator: {name}"
    if library == "numpy":
        if by_hand is None:
            pytest.skip("NumPy has no such operator")
        run(benchmark, by_hand, rows.numpy_names(imode), 100)
        return
    with one_thread(library, inference=True) as lib:
        run(benchmark, code, rows.names(lib), 100)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", figures.PROGRAMS)
def test_program(benchmark, name, library):
    """A guard, a network, a training step."""
    benchmark.group = f"program: {name}"
    code = figures.PROGRAMS[name]
    with one_thread(library, inference="model(x)" in code) as lib:
        names = {"lib": lib, "nn": lib.nn}
        exec(figures.MLP, names)
        run(benchmark, code, names, 1)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", figures.AUTOGRAD_PROGRAMS)
def test_autograd(benchmark, name, library):
    """The graph: long, differentiated twice, with functions of one's own."""
    benchmark.group = f"autograd: {name}"
    with one_thread(library, inference=False) as lib:
        names = {"lib": lib}
        exec(figures.AUTOGRAD, names)
        run(benchmark, figures.AUTOGRAD_PROGRAMS[name][0], names, 1)


@pytest.mark.parametrize("library", [*LIBRARIES, "numpy"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", figures.LARGE)
def test_large(benchmark, name, size, library):
    """An operator on many elements, in inference mode."""
    benchmark.group = f"large: {name}, {size:,}"
    numbers = np.random.default_rng(0)
    a, b = numbers.standard_normal((2, size)).astype("f")
    arrays = {"a": a, "b": b, "s": abs(a)}
    if library == "numpy":
        run(benchmark, figures.LARGE_NUMPY[name], arrays | {"np": np}, 1)
        return
    with one_thread(library, inference=True) as lib:
        made = {key: lib.from_numpy(array).clone() for key, array in arrays.items()}
        run(benchmark, figures.LARGE[name], made | {"lib": lib}, 1)
