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

/* Run what ends an object by CPython's trashcan, which bounds the depth: Note [Freeing long graphs].
 * dealloc: its class's tp_dealloc, which calls this and is called again for what had to wait. */
static inline void imode_end_bounded(PyObject *o, destructor dealloc, destructor end) {
    PyObject_GC_UnTrack(o);
    Py_TRASHCAN_BEGIN(o, dealloc)
    end(o);
    Py_TRASHCAN_END
}
