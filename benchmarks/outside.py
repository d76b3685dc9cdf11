"""What an operator from outside costs: in C beside one of imode's own, in Python beside a function.

`python -m benchmarks.outside` prints nanoseconds a call, on 4 elements, best of interleaved rounds.
"""

import importlib.util
import shlex
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import numpy

from .figures import Figure
from .timing import best

SOURCE = """
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <imode_kernel.h>
#include <numpy/arrayobject.h>

static PyObject *negate(PyObject *op, imode_keys keys, PyObject **args) {
    PyArrayObject *x = (PyArrayObject *)imode_array(args[0]);
    PyObject *result, *delivered;
    if (x == NULL || PyArray_TYPE(x) != NPY_FLOAT || !PyArray_IS_C_CONTIGUOUS(x))
        return PyErr_Format(PyExc_TypeError, "negate: expected float32 in rows");
    if ((result = imode_empty(NPY_FLOAT, PyArray_NDIM(x), PyArray_DIMS(x))) == NULL) return NULL;
    const float *from = PyArray_DATA(x);
    float *to = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp i = 0, n = PyArray_SIZE(x); i < n; i++) to[i] = -from[i];
    delivered = imode_deliver(op, result, args);
    Py_DECREF(result);
    return delivered;
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "outside", NULL, -1, NULL};

PyMODINIT_FUNC PyInit_outside(void) {
    PyObject *kernel, *module;
    import_array();
    kernel = imode_new_kernel(negate, "benchmarks.outside");
    module = PyModule_Create(&definition);
    if (kernel == NULL || module == NULL) return NULL;
    return PyModule_AddObjectRef(module, "negate", kernel) ? NULL : module;
}
"""


def compiled(lib):
    """The kernel in C, compiled against imode's header as another package's would be."""
    with tempfile.TemporaryDirectory() as folder:
        source, module = Path(folder, "outside.c"), Path(folder, "outside.so")
        source.write_text(SOURCE)
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
        headers = lib.library.get_include(), numpy.get_include(), sysconfig.get_path("include")
        command = [*compiler, "-O3", "-shared", "-fPIC", *[f"-I{each}" for each in headers]]
        subprocess.run([*command, str(source), "-o", str(module)], check=True)
        spec = importlib.util.spec_from_file_location("outside", module)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded.negate


def twice(lib, tensor):
    """An operator in Python of either library, and the function alone."""

    def plain(x: tensor) -> tensor:
        return x + x

    return lib.library.custom_op("outside::twice", mutates_args=())(plain), plain


def outside(lib, torch):
    """Return {call: {"operator": seconds, "alone": ...}}; alone: what would be called otherwise."""
    times = {}
    mine = lib.library.Library("outside", "FRAGMENT")
    mine.define("negate(Tensor self) -> Tensor")
    mine.impl("negate", compiled(lib), "CPU")
    names = {"a": lib.ones(4), "neg": lib.neg, "negate": lib.ops.outside.negate.default}
    found = best({"theirs": ("negate(a)", names), "ours": ("neg(a)", names)}, rounds=31)
    times["in C"] = {"operator": found["theirs"], "alone": found["ours"]}
    mine.close()
    for library, key in ((lib, "imode"), (torch, "torch")):
        operator, plain = twice(library, library.Tensor)
        names = {"a": library.ones(4), "operator": operator, "plain": plain}
        found = best({"op": ("operator(a)", names), "plain": ("plain(a)", names)}, rounds=31)
        times[f"in Python, {key}"] = {"operator": found["op"], "alone": found["plain"]}
    return times


def outside_figures(times):
    """Return the Figures, in nanoseconds over what is called otherwise."""
    over = {name: 1e9 * (t["operator"] - t["alone"]) for name, t in times.items()}
    python, torch = over["in Python, imode"], over["in Python, torch"]
    return [
        Figure("an operator in C from another package, over imode's own `neg`", over["in C"], 10,
               True, " ns"),
        Figure(f"an operator in Python over the plain function (PyTorch's: {torch:,.0f} ns)",
               python, 250, True, " ns"),
    ]  # fmt: skip


if __name__ == "__main__":
    import torch

    import imode

    torch.set_num_threads(1)
    measured = outside(imode, torch)
    for what, each in measured.items():
        print(what, ", ".join(f"{key} {1e9 * seconds:,.0f} ns" for key, seconds in each.items()))
    for figure in outside_figures(measured):
        print(f"{figure.name}: {figure.value:.0f}{figure.unit}, at most {figure.target:.0f}")
