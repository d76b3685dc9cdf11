"""The place that the running Python code is at, as a small integer: see `errors.place`.

Naming a place takes a dictionary, so those of the last callers are kept by instruction: a guard in
a loop, or in a function that is called again, finds its place for the cost of a comparison.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XDECREF, Py_XINCREF

from os import sep

from imode import errors

cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    PyFrameObject* PyEval_GetFrame()                       # borrowed; NULL outside of Python code
    ctypedef struct PyCodeObject
    PyCodeObject* PyFrame_GetCode(PyFrameObject* frame)    # a new reference
    int PyFrame_GetLasti(PyFrameObject* frame)
    int PyFrame_GetLineNumber(PyFrameObject* frame)


# A slot owns its code object, or a new one at the same address could be taken for it.
cdef enum:
    SLOTS = 256

cdef struct Slot:
    PyObject* code
    int lasti
    int place

cdef Slot[SLOTS] _slots


cdef int here() except -1:
    """Return the place that the running Python code is at."""
    cdef PyFrameObject* frame = PyEval_GetFrame()
    cdef PyObject* code
    cdef Slot* slot
    cdef int lasti
    if frame == NULL:
        return 0
    code = <PyObject*>PyFrame_GetCode(frame)
    lasti = PyFrame_GetLasti(frame)
    slot = &_slots[((<size_t>code >> 4) ^ <size_t>lasti) % SLOTS]
    Py_DECREF(<object>code)                                # the frame holds it
    if slot.code == code and slot.lasti == lasti:
        return slot.place
    return _slow(frame, slot, code, lasti)


cdef int users_line() except -1:
    """Return the place of the innermost line that is not this package's: for messages to users."""
    cdef PyFrameObject* current = PyEval_GetFrame()
    if current == NULL:
        return 0
    frame = <object>current
    while _is_ours(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return errors.place_id(frame.f_code.co_filename, frame.f_lineno)


def line():
    """`users_line`, from Python."""
    return users_line()


errors.answer(line=line)
cdef str _HERE = __file__.rpartition(sep)[0] + sep


cdef bint _is_ours(str filename) except -1:
    return filename.startswith(_HERE)


cdef int _slow(PyFrameObject* frame, Slot* slot, PyObject* code, int lasti) except -1:
    cdef PyObject* before
    cdef object filename = (<object>code).co_filename
    cdef int place
    if filename.endswith("contextlib.py"):                 # ExitStack: name the one who uses it
        return _beyond_contextlib(<object>frame)
    place = errors.place_id(filename, PyFrame_GetLineNumber(frame))
    before = slot.code
    Py_XINCREF(code)
    slot.code, slot.lasti, slot.place = code, lasti, place
    Py_XDECREF(before)
    return place


cdef int _beyond_contextlib(object frame) except -1:
    while frame.f_back is not None and frame.f_code.co_filename.endswith("contextlib.py"):
        frame = frame.f_back
    return errors.place_id(frame.f_code.co_filename, frame.f_lineno)
