"""What an operator from outside costs: in C beside one of imode's own, in Python beside a function.

`python -m benchmarks.outside` prints the figures: on 4 elements, best of interleaved rounds.
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


PYTHON = """
def plain(x):
    return x.clone()

custom = lib.library.custom_op(
    "outside::custom", plain, mutates_args=(), schema="(Tensor x) -> Tensor")
mine = lib.library.Library("outside", "FRAGMENT")
mine.define("defined(Tensor x) -> Tensor")
mine.impl("defined", plain, "CPU")
defined = lib.ops.outside.defined
x = lib.ones(4)
"""
CALLS = {"custom_op": "custom(x)", "Library.define, impl": "defined(x)"}


def outside(lib, torch):
    """Return what a call costs more than what would be called otherwise, in seconds.

    (of an operator in C, over imode's `ops.aten.neg`;
    {of one in Python, over its function: {library: ...}})
    """
    with lib.library.Library("outside", "FRAGMENT") as mine:
        mine.define("negate(Tensor self) -> Tensor")
        mine.impl("negate", compiled(lib), "CPU")
        ops = {"neg": lib.ops.aten.neg, "negate": lib.ops.outside.negate}  # called alike
        names = {"a": lib.ones(4), **ops}
        found = best({"theirs": ("negate(a)", names), "ours": ("neg(a)", names)}, rounds=31)
    in_python = {}
    spaces = {"imode": {"lib": lib}, "torch": {"lib": torch}}
    for space in spaces.values():
        exec(PYTHON, space)
    for what, code in CALLS.items():
        calls = best({key: (code, space) for key, space in spaces.items()}, rounds=31)
        alone = best({key: ("plain(x)", space) for key, space in spaces.items()}, rounds=31)
        in_python[what] = {key: max(calls[key] - alone[key], 1e-9) for key in calls}
    return found["theirs"] - found["ours"], in_python


def outside_figures(in_c, in_python):
    """Return the Figures, in nanoseconds."""
    name = "an operator in C of another package over imode's own `ops.aten.neg`"
    figures = [Figure(name, in_c * 1e9, 10, True, " ns")]
    for what, t in in_python.items():
        text = f"an operator in Python over its function, {what}"
        text += f" (PyTorch {t['torch'] * 1e9:,.0f} ns)"
        figures.append(Figure(text, t["imode"] * 1e9, 250, True, " ns"))
    return figures


if __name__ == "__main__":
    import torch

    import imode

    torch.set_num_threads(1)
    for figure in outside_figures(*outside(imode, torch)):
        print(f"{figure.name}: {figure.value:.1f}{figure.unit}, at most {figure.target:.0f}")
