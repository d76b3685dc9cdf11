/* Counts the live objects of one class, in debug builds only; each module has its own counter. */
#ifndef IMODE_LIVE_H
#define IMODE_LIVE_H
#include <Python.h>

#ifdef IMODE_DEBUG
static Py_ssize_t imode_live = 0;
static destructor imode_free_uncounted = NULL;

static inline void imode_born(void) { imode_live++; }
static inline void imode_died(void) { imode_live--; }
static inline PyObject *imode_alive(void) { return PyLong_FromSsize_t(imode_live); }
static inline void imode_free_counted(PyObject *o) {
    imode_live--;
    imode_free_uncounted(o);
}
static inline void imode_count_deaths(PyObject *type) {
    imode_free_uncounted = ((PyTypeObject *)type)->tp_dealloc;
    ((PyTypeObject *)type)->tp_dealloc = imode_free_counted;
}
#else
static inline void imode_born(void) {}
static inline void imode_died(void) {}
static inline PyObject *imode_alive(void) { Py_RETURN_NONE; }
static inline void imode_count_deaths(PyObject *type) { (void)type; }
#endif
#endif
