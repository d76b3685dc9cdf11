/* The name of an extension type as Python shows it: the public one, not that of its module. */
#ifndef IMODE_RENAME_H
#define IMODE_RENAME_H
#include <Python.h>

static inline void imode_rename(PyObject *type, const char *name) {
    ((PyTypeObject *)type)->tp_name = name;
    PyType_Modified((PyTypeObject *)type);
}
#endif
