"""The line of the user's program that is running, as a number: see `provenance.location`.

It is the innermost line that is neither in this package nor in NumPy or `contextlib`: for an
optimizer's step, or an `ExitStack`, the line that calls it.

Numbering a line takes a dictionary look-up, so the numbers of the last callers are cached by
instruction: a guard in a loop, or in a function that is called again, pays for one comparison.
"""
import contextlib
import sys
import warnings

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XDECREF, Py_XINCREF

from os import sep
from types import CodeType

import numpy

from imode._core.provenance import location_id

cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    PyFrameObject* PyEval_GetFrame()                       # borrowed; NULL outside of Python code
    PyFrameObject* PyFrame_GetBack(PyFrameObject*) except? NULL   # a new reference; NULL: none
    ctypedef struct PyCodeObject
    PyCodeObject* PyFrame_GetCode(PyFrameObject* frame)    # a new reference
    int PyFrame_GetLasti(PyFrameObject* frame)
    int PyFrame_GetLineNumber(PyFrameObject* frame)


cdef enum:
    SLOTS = 256
    NOT_THE_USERS = -2            # the location of code of the package, or of contextlib

# A slot owns its code object; else a new one at the same address could be mistaken for it.
cdef struct Slot:
    PyObject* code
    int lasti
    int location

cdef Slot[SLOTS] _slots


cdef int here() except -1:
    """Return the number of the line of the user's program that is running."""
    cdef PyFrameObject* frame = PyEval_GetFrame()
    cdef PyFrameObject* owned = NULL
    cdef PyFrameObject* back
    cdef int location
    if frame == NULL:
        return 0
    try:
        while True:
            location = _location_of_frame(frame)
            if location != NOT_THE_USERS:
                return location
            back = PyFrame_GetBack(frame)
            if back == NULL:                               # a thread that the package started
                return 0
            Py_XDECREF(<PyObject*>owned)
            frame = owned = back
    finally:
        Py_XDECREF(<PyObject*>owned)


cdef inline int _location_of_frame(PyFrameObject* frame) except -1:
    cdef PyObject* code = <PyObject*>PyFrame_GetCode(frame)
    cdef int lasti = PyFrame_GetLasti(frame)
    cdef Slot* slot = &_slots[((<size_t>code >> 4) ^ <size_t>lasti) % SLOTS]
    Py_DECREF(<object>code)                                # the frame holds it
    if slot.code == code and slot.lasti == lasti:
        return slot.location
    return _look_up(frame, slot, code, lasti)


cdef str _PACKAGE = __file__.rpartition(sep)[0].rpartition(sep)[0] + sep  # imode/
cdef str _NUMPY = numpy.__file__.rpartition(sep)[0] + sep  # its errstate() decorates kernels
cdef str _CONTEXTLIB = contextlib.ExitStack.enter_context.__code__.co_filename


cdef inline bint _is_the_users(object code) except -1:
    cdef str name = code.co_filename
    return not name.startswith((_PACKAGE, _NUMPY)) and name != _CONTEXTLIB


cdef int _look_up(PyFrameObject* frame, Slot* slot, PyObject* code, int lasti) except -1:
    cdef PyObject* before
    cdef int location = NOT_THE_USERS
    if _is_the_users(<object>code):
        location = location_id((<object>code).co_filename, PyFrame_GetLineNumber(frame))
    before = slot.code
    Py_XINCREF(code)
    slot.code, slot.lasti, slot.location = code, lasti, location
    Py_XDECREF(before)
    return location


cdef int location_of(object code) except -1:
    if type(code) is CodeType and _is_the_users(code):
        return location_id(code.co_filename, code.co_firstlineno)
    return here()


# ---- for messages ----

def line():
    """`here`, from Python."""
    return here()


def _user_frame():
    """The frame of the user's line; None in a thread that the package started."""
    frame = sys._getframe()
    while frame is not None and not _is_the_users(frame.f_code):
        frame = frame.f_back
    return frame


def warn(message, category=UserWarning):
    """Warn, in the name of the user's line: `stacklevel` would count this package's frames."""
    frame = _user_frame()
    if frame is None:
        warnings.warn(message, category)
        return
    known = frame.f_globals
    warnings.warn_explicit(
        message, category, frame.f_code.co_filename, frame.f_lineno,
        known.get("__name__") or "<string>", known.setdefault("__warningregistry__", {}))


def assigning():
    """Whether the user's program is in the middle of an assignment to items, `t[...] = v`."""
    from opcode import opname

    frame = _user_frame()
    return frame is not None and opname[frame.f_code.co_code[frame.f_lasti]] in (
        "STORE_SUBSCR", "STORE_SLICE")
