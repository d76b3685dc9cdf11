/* Kernels of another package, right and wrong ones, as tests/test_kernels_in_c.py compiles them. */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <imode_kernel.h>
#include <numpy/arrayobject.h>

/* halve(Tensor self) -> Tensor */
static PyObject *halve(PyObject *op, imode_keys keys, PyObject **args) {
    PyArrayObject *x = (PyArrayObject *)imode_array(args[0]);
    PyObject *result, *delivered;
    if (x == NULL || PyArray_TYPE(x) != NPY_FLOAT || !PyArray_IS_C_CONTIGUOUS(x)) {
        PyErr_SetString(PyExc_TypeError, "halve: expected float32 in rows");
        return NULL;
    }
    result = imode_empty(NPY_FLOAT, PyArray_NDIM(x), PyArray_DIMS(x));
    if (result == NULL) return NULL;
    for (npy_intp i = 0; i < PyArray_SIZE(x); i++)
        ((float *)PyArray_DATA((PyArrayObject *)result))[i] = ((float *)PyArray_DATA(x))[i] / 2;
    delivered = imode_deliver(op, result, args);
    Py_DECREF(result);
    return delivered;
}

/* first_row(Tensor(a) self) -> Tensor(a) */
static PyObject *first_row(PyObject *op, imode_keys keys, PyObject **args) {
    PyObject *delivered, *row = PySequence_GetItem(imode_array(args[0]), 0);
    if (row == NULL) return NULL;
    delivered = imode_deliver(op, row, args);
    Py_DECREF(row);
    return delivered;
}

/* zero_(Tensor(a!) self) -> Tensor(a!) */
static PyObject *zero_(PyObject *op, imode_keys keys, PyObject **args) {
    PyArray_FILLWBYTE((PyArrayObject *)imode_array(args[0]), 0);
    return imode_deliver(op, Py_None, args);
}

/* Gives what is no tensor. */
static PyObject *words(PyObject *op, imode_keys keys, PyObject **args) {
    PyObject *delivered, *result = PyUnicode_FromString("no array");
    if (result == NULL) return NULL;
    delivered = imode_deliver(op, result, args);
    Py_DECREF(result);
    return delivered;
}

static PyObject *fails(PyObject *op, imode_keys keys, PyObject **args) {
    PyErr_SetString(PyExc_ValueError, "the kernel's own words");
    return NULL;
}

/* Of the key Autograd: looks, and hands on to what is below. */
static int seen = 0;

static PyObject *looking(PyObject *op, imode_keys keys, PyObject **args) {
    imode_keys before = imode_exclude(IMODE_AUTOGRAD);
    PyObject *result;
    seen++;
    result = imode_redispatch(op, keys & imode_below(IMODE_AUTOGRAD), args);
    imode_restore(before);
    return result;
}

static PyObject *count(PyObject *module, PyObject *unused) {
    return PyLong_FromLong(seen);
}

static PyObject *make(PyObject *module, PyObject *unused) {
    PyObject *object = imode_new_kernel(NULL, "nowhere");
    return object;
}

static PyMethodDef methods[] = {
    {"seen", count, METH_NOARGS, "How often `looking` was entered."},
    {"make", make, METH_NOARGS, "A kernel of no function."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "kernel_samples", "Kernels.", -1, methods, NULL, NULL, NULL, NULL,
};

static int add(PyObject *module, const char *name, imode_kernel fn) {
    PyObject *kernel = imode_new_kernel(fn, "kernel_samples");
    int failed = kernel == NULL || PyModule_AddObjectRef(module, name, kernel);
    Py_XDECREF(kernel);
    return failed;
}

PyMODINIT_FUNC PyInit_kernel_samples(void) {
    PyObject *module;
    import_array();
    module = PyModule_Create(&definition);
    if (module == NULL || add(module, "halve", halve) || add(module, "first_row", first_row) ||
        add(module, "zero_", zero_) || add(module, "words", words) ||
        add(module, "fails", fails) || add(module, "looking", looking)) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
