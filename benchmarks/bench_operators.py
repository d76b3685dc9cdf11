"""The rows of `benchmarks.rows` under pytest-benchmark: `pytest benchmarks --benchmark-only`."""

import importlib
import timeit

import pytest

from . import rows

LIBRARIES = ("imode", "torch", "numpy")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", rows.ROWS)
def test_operator(benchmark, name, library):
    code, by_hand = rows.ROWS[name]
    benchmark.group = name
    if library == "numpy":
        if by_hand is None:
            pytest.skip("NumPy has no such operator")
        names, code = rows.numpy_names(importlib.import_module("torch")), by_hand
        benchmark(timeit.Timer(code, globals=names).timeit, 100)
        return
    lib = importlib.import_module(library)
    lib.set_num_threads(1)
    with lib.inference_mode():
        benchmark(timeit.Timer(code, globals=rows.names(lib)).timeit, 100)
