"""Imports on first use, which no signal and no finalizer can interrupt.

A signal handler, or a finalizer run by the garbage collector, can run between any two steps of an
import. It would see a half-imported module, and an exception in it would leave the module so.
Therefore, while such an import runs, signals that Python handles are noted, and sent again at the
end, and the collector is off.
"""
import importlib
import sys

from _signal import NSIG, getsignal

cimport cython
from cpython.exc cimport PyErr_CheckSignals

cdef extern from "interrupts.h":
    enum: IMODE_SIGNALS
    void imode_hold(int number) noexcept
    void imode_pass_on(int number) noexcept

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

cdef int _depth = 0                  # imports under way, nested or in several threads
cdef bint _collecting = False        # whether the collector was on before the first of them
cdef bint[IMODE_SIGNALS] _held


@cython.binding(False)
@cython.final
cdef class Uninterrupted:
    """A block in which no signal handler runs, and no finalizer of collected garbage."""

    def __enter__(self):
        global _depth, _collecting
        cdef int number
        PyErr_CheckSignals()
        _depth += 1
        if _depth == 1:
            _collecting = PyGC_Disable()
            for number in range(1, min(NSIG, IMODE_SIGNALS)):
                _held[number] = callable(getsignal(number))
                if _held[number]:
                    imode_hold(number)
        try:
            PyErr_CheckSignals()     # handle those that arrived in the block
        except BaseException:
            _leave()
            raise

    def __exit__(self, *error):
        _leave()

    def forget(self):
        """Leave all blocks: in a forked child, where the threads inside them do not exist."""
        global _depth
        if _depth:
            _depth = 1
            _leave()


cdef void _leave() noexcept:
    global _depth
    cdef int number
    _depth -= 1
    if _depth:
        return
    for number in range(1, IMODE_SIGNALS):
        if _held[number]:
            _held[number] = False
            imode_pass_on(number)
    if _collecting:
        PyGC_Enable()


uninterrupted = Uninterrupted()


def import_late(name, package, family=None):
    """Import the module `package` + `name`, which the package leaves until it is used.

    If that fails, the modules of `family` (None: of the module itself) that were imported by then
    are removed: a package imported again would not get its submodules set as attributes.
    """
    before = set(sys.modules)
    with uninterrupted:
        try:
            return importlib.import_module(name, package)
        except BaseException:
            family = family or package + name
            for new in set(sys.modules) - before:
                if new.startswith(f"{family}."):
                    del sys.modules[new]
            raise
