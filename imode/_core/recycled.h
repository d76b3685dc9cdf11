/* Objects that are kept when they die, to be used again: what their classes' ends have in common.
 * Thread rule: with the GIL held. */

/* Bring a dead object back to life; the caller owns it. */
static inline PyObject *imode_revive(PyObject *o) {
    Py_SET_REFCNT(o, 1);
    PyObject_GC_Track(o);
    return o;
}

static inline int imode_has_weak_references(PyObject *o) {
    return *(PyObject **)((char *)o + Py_TYPE(o)->tp_weaklistoffset) != NULL;
}

/* Set what frees a class's objects; returns what did. */
static inline destructor imode_swap_dealloc(PyObject *cls, destructor dealloc) {
    destructor before = ((PyTypeObject *)cls)->tp_dealloc;
    ((PyTypeObject *)cls)->tp_dealloc = dealloc;
    return before;
}
