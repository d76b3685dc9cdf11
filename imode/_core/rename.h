/* Sets the name that Python shows for an extension type: the public one, without its module. */
#ifndef IMODE_RENAME_H
#define IMODE_RENAME_H
#include <Python.h>

static inline void imode_rename(PyObject *type, const char *name) {
    ((PyTypeObject *)type)->tp_name = name;
    PyType_Modified((PyTypeObject *)type);
}
#endif
