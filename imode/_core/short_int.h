/* Python's ints whose size shows at once that 64 bits hold them, and those of one digit. */
#ifndef IMODE_SHORT_INT_H
#define IMODE_SHORT_INT_H
#include <Python.h>

/* Whether an object is an int (not a bool) of the first kind. */
static inline int imode_is_short_int(PyObject *o) {
    if (!PyLong_CheckExact(o)) return 0;
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact((PyLongObject *)o);
#else
    return Py_SIZE(o) <= 2 && Py_SIZE(o) >= -2;
#endif
}

/* Whether an object is an int of one digit, which 32 bits hold, and which. */
static inline int imode_digit_of(PyObject *o, long long *value) {
    if (!PyLong_CheckExact(o)) return 0;
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)o)) return 0;
    *value = PyUnstable_Long_CompactValue((PyLongObject *)o);
#else
    if (Py_SIZE(o) > 1 || Py_SIZE(o) < -1) return 0;
    *value = Py_SIZE(o) * (long long)((PyLongObject *)o)->ob_digit[0];
#endif
    return 1;
}

/* As PyLong_AsLongLong, mostly without a call. */
static inline long long imode_size_of(PyObject *o) {
    long long value;
    return imode_digit_of(o, &value) ? value : PyLong_AsLongLong(o);
}
#endif
