"""The line of the user's program that is running, as a small integer: see `origins.place`.

It is the innermost line that is neither this package's nor `contextlib`'s: an optimizer's step, or
an `ExitStack`, is named by the line that calls it.

Naming a place takes a dictionary, so those of the last callers are kept by instruction: a guard in
a loop, or in a function that is called again, finds its place for the cost of a comparison.
"""
import contextlib
import sys

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XDECREF, Py_XINCREF

from os import sep
from types import CodeType

from imode._core.origins import answer, place_id

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
    NOT_THE_USERS = -2            # the place of an instruction of the package, or of contextlib

# A slot owns its code object, or a new one at the same address could be taken for it.
cdef struct Slot:
    PyObject* code
    int lasti
    int place

cdef Slot[SLOTS] _slots


cdef int here() except -1:
    """Return the place of the line of the user's program that is running."""
    cdef PyFrameObject* frame = PyEval_GetFrame()
    cdef PyFrameObject* owned = NULL
    cdef PyFrameObject* back
    cdef int place
    if frame == NULL:
        return 0
    try:
        while True:
            place = _place_of(frame)
            if place != NOT_THE_USERS:
                return place
            back = PyFrame_GetBack(frame)
            if back == NULL:                               # a thread that the package started
                return 0
            Py_XDECREF(<PyObject*>owned)
            frame = owned = back
    finally:
        Py_XDECREF(<PyObject*>owned)


cdef inline int _place_of(PyFrameObject* frame) except -1:
    cdef PyObject* code = <PyObject*>PyFrame_GetCode(frame)
    cdef int lasti = PyFrame_GetLasti(frame)
    cdef Slot* slot = &_slots[((<size_t>code >> 4) ^ <size_t>lasti) % SLOTS]
    Py_DECREF(<object>code)                                # the frame holds it
    if slot.code == code and slot.lasti == lasti:
        return slot.place
    return _name(frame, slot, code, lasti)


cdef str _PACKAGE = __file__.rpartition(sep)[0] + sep
cdef str _CONTEXTLIB = contextlib.ExitStack.enter_context.__code__.co_filename


cdef inline bint _is_the_users(object code) except -1:
    return not code.co_filename.startswith(_PACKAGE) and code.co_filename != _CONTEXTLIB


cdef int _name(PyFrameObject* frame, Slot* slot, PyObject* code, int lasti) except -1:
    cdef PyObject* before
    cdef int place = NOT_THE_USERS
    if _is_the_users(<object>code):
        place = place_id((<object>code).co_filename, PyFrame_GetLineNumber(frame))
    before = slot.code
    Py_XINCREF(code)
    slot.code, slot.lasti, slot.place = code, lasti, place
    Py_XDECREF(before)
    return place


cdef int place_of(object code) except -1:
    if type(code) is CodeType and _is_the_users(code):
        return place_id(code.co_filename, code.co_firstlineno)
    return here()


# ---- what messages ask ----

def line():
    """`here`, from Python."""
    return here()


def assigning():
    """Whether the user's program is in the middle of an assignment to items, `t[...] = v`."""
    from opcode import opname

    frame = sys._getframe()
    while frame is not None and not _is_the_users(frame.f_code):
        frame = frame.f_back
    return frame is not None and opname[frame.f_code.co_code[frame.f_lasti]] in (
        "STORE_SUBSCR", "STORE_SLICE")


answer(line=line, assigning=assigning)
