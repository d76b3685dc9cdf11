/* Kernels for imode in C or C++, in a package of its own.
 *
 * A kernel is a function of an operator, a set of dispatch keys and the call's arguments:
 *
 *     static PyObject *halve(PyObject *op, imode_keys keys, PyObject **args) {
 *         PyArrayObject *x = imode_array(args[0]);
 *         ...
 *         return imode_deliver(op, result, args);
 *     }
 *
 * `args` are as many as the schema has, defaults filled in, borrowed, each of its schema's type: a
 * tensor (or a number, where the schema says Tensor|Scalar; None, where it says Tensor?), a tuple
 * of integers, a float, ... `imode_new_kernel` makes an object of it, to be registered from Python:
 * `imode.library.Library("mine", "DEF").impl("halve", module.halve, "CPU")`.
 *
 * All functions are called with the GIL held. Those that return a PyObject * return a new reference,
 * or NULL with an exception set; imode_array a borrowed one.
 *
 * Nothing has to be called first: what is needed of imode is fetched at the first use, and raises
 * ImportError where it is of another version than this header.
 */
#ifndef IMODE_KERNEL_H
#define IMODE_KERNEL_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#define IMODE_KERNEL_VERSION 2 /* goes up when a module must be compiled again */

typedef uint64_t imode_keys; /* a set of dispatch keys, bit by bit */
typedef PyObject *(*imode_kernel)(PyObject *op, imode_keys keys, PyObject **args);

#define IMODE_CPU ((imode_keys)1 << 0)
#define IMODE_META ((imode_keys)1 << 1)
#define IMODE_PRIVATEUSE1 ((imode_keys)1 << 2)
#define IMODE_SPARSECPU ((imode_keys)1 << 3)
#define IMODE_ADINPLACEORVIEW ((imode_keys)1 << 5)
#define IMODE_AUTOGRAD ((imode_keys)1 << 6)

typedef struct {
    int version;          /* IMODE_KERNEL_VERSION of the imode that runs */
    size_t size;          /* of this struct there: it grows at its end, within a version */
    const char *release;  /* imode.__version__ */
    PyTypeObject *tensor; /* imode.Tensor */
    Py_ssize_t array;     /* where a tensor has its ndarray */
    PyObject *(*new_kernel)(imode_kernel fn, const char *where);
    PyObject *(*empty)(int typenum, int nd, Py_ssize_t *shape);
    PyObject *(*deliver)(PyObject *op, PyObject *result, PyObject **args);
    PyObject *(*redispatch)(PyObject *op, imode_keys keys, PyObject **args);
    imode_keys (*exclude)(imode_keys keys);
    void (*restore)(imode_keys before);
    PyObject *(*out)(PyObject *op, PyObject **args);
} imode_kernel_api;

static const imode_kernel_api *imode_kernel_table = NULL;

static inline const imode_kernel_api *imode_fetch_kernel_api(void) {
    const imode_kernel_api *found = NULL;
    PyObject *capsule = NULL, *module = PyImport_ImportModule("imode.library.kernel_table");
    if (module != NULL) {
        capsule = PyObject_GetAttrString(module, "api");
        Py_DECREF(module);
    }
    if (capsule == NULL) return NULL;
    found = (const imode_kernel_api *)PyCapsule_GetPointer(capsule, "imode.library.kernel_table.api");
    Py_DECREF(capsule);
    if (found == NULL) return NULL;
    if (found->version != IMODE_KERNEL_VERSION || found->size < sizeof(imode_kernel_api)) {
        PyErr_Format(PyExc_ImportError,
                     "A kernel was compiled for version %d of imode's kernels (%d bytes), and imode "
                     "%s has version %d (%d bytes). Compile its module again, with the headers of "
                     "the imode that is installed.",
                     IMODE_KERNEL_VERSION, (int)sizeof(imode_kernel_api), found->release,
                     found->version, (int)found->size);
        return NULL;
    }
    return imode_kernel_table = found;
}

static inline const imode_kernel_api *imode_kernels(void) {
    return imode_kernel_table != NULL ? imode_kernel_table : imode_fetch_kernel_api();
}

/* The kernel as an object. `where`: what messages and `kernel_table` say of it. */
static inline PyObject *imode_new_kernel(imode_kernel fn, const char *where) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? NULL : api->new_kernel(fn, where);
}

static inline int imode_is_tensor(PyObject *value) {
    const imode_kernel_api *api = imode_kernels();
    return api != NULL && value != NULL && Py_TYPE(value) == api->tensor;
}

/* The ndarray (PyArrayObject *) of a tensor, borrowed; NULL, without an exception, of anything
 * else. A kernel reads it, or writes it where its schema says so, and never keeps it. */
static inline PyObject *imode_array(PyObject *tensor) {
    if (!imode_is_tensor(tensor)) return NULL;
    return *(PyObject **)((char *)tensor + imode_kernel_table->array);
}

/* A new C-contiguous ndarray of one of NumPy's type numbers; its elements are undefined. */
static inline PyObject *imode_empty(int typenum, int nd, Py_ssize_t *shape) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? NULL : api->empty(typenum, nd, shape);
}

/* What the operator returns for the ndarray `result` (a tuple of them, for several results):
 * tensors; what an in-place call or out= writes to, written; views, for a view operator. An operator
 * that wrote its own argument gives None. */
static inline PyObject *imode_deliver(PyObject *op, PyObject *result, PyObject **args) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? NULL : api->deliver(op, result, args);
}

/* The tensor (or tuple of tensors) that out= or an in-place form names, borrowed; else NULL. */
static inline PyObject *imode_out(PyObject *op, PyObject **args) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? NULL : api->out(op, args);
}

/* Run the kernel of the highest key in `keys`: what a kernel of a higher key calls, with its own
 * keys less those from its own on: `keys & imode_below(IMODE_AUTOGRAD)`. */
static inline PyObject *imode_redispatch(PyObject *op, imode_keys keys, PyObject **args) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? NULL : api->redispatch(op, keys, args);
}

static inline imode_keys imode_below(imode_keys key) {
    return key - 1;
}

/* Dispatch below these keys from here on, in this thread: IMODE_AUTOGRAD, as
 * AutoDispatchBelowAutograd, or with IMODE_ADINPLACEORVIEW too, as
 * AutoDispatchBelowADInplaceOrView. Gives what to restore, on every way out. */
static inline imode_keys imode_exclude(imode_keys keys) {
    const imode_kernel_api *api = imode_kernels();
    return api == NULL ? 0 : api->exclude(keys);
}

static inline void imode_restore(imode_keys before) {
    if (imode_kernel_table != NULL) imode_kernel_table->restore(before);
}

#endif
