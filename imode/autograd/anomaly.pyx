"""Anomaly mode: detect_anomaly and set_detect_anomaly.

While it is on, in the whole process, each node that is recorded keeps the traceback of its
recording and the node whose backward recorded it, in its `metadata`; a node that fails in backward,
or gives NaN, then says where it came from.
"""
import sys

import numpy as np

from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor, storage
from imode.autograd.node cimport Node, extras_of, set_observer
from imode.autograd.task cimport running_node

from imode._core.type_names import class_name
from imode._core.user_frames import warn
from imode.autograd.saved import note_lines

_NO_FORWARD = "No forward pass information available"
cdef bint _enabled = False
cdef bint _check_nan = True


cdef bint nan_checked() noexcept:
    return _enabled and _check_nan


cdef int _record(Node node) except -1:
    extras = extras_of(node)
    import traceback            # here, so that importing the package does not pay for it

    extras.metadata = {"traceback_": traceback.format_stack(sys._getframe())}
    parent = running_node()
    if parent is not None:
        extras.metadata["parent_"] = parent
    return 0


def _switch(enabled, check):
    global _enabled, _check_nan
    for position, (name, given) in enumerate((("enabled", enabled), ("check_nan", check)), 1):
        if type(given) is not bool:
            raise TypeError(f"set_anomaly_enabled(): argument '{name}' (position {position}) "
                            f"must be bool, not {class_name(given)}")
    _enabled, _check_nan = enabled, check
    note_lines(enabled)
    if enabled:
        set_observer(_record)
    else:
        set_observer(NULL)


cdef int check_nan(Node node, PyObject** out) except -1:
    cdef int i
    for i in range(node.n_edges):
        if out[i] != NULL and np.isnan(storage(<Tensor>out[i])).any():
            raise RuntimeError(
                f"Function {node.label()!r} returned nan values in its {i}th output.")
    return 0


cdef int report(Node node, object error) except -1:
    if not _enabled:
        return 0
    metadata = node.metadata
    if "traceback_" not in metadata:
        warn(f"Error detected in {node.label()}. {_NO_FORWARD}. Enable detect anomaly "
             "during forward pass for more information.")
        return 0
    lines = "".join(metadata["traceback_"])
    last = ["", *metadata["traceback_"]].pop()
    error.add_note(f"{node.label()} was recorded here in the forward pass:\n{last.rstrip()}")
    warn(f"Error detected in {node.label()}. Traceback of forward call that caused the "
         f"error:\n{lines}")
    seen = {id(node)}
    while (parent := metadata.get("parent_")) is not None and id(parent) not in seen:
        seen.add(id(parent))
        metadata = parent.metadata
        lines = "".join(metadata.get("traceback_", [f"{_NO_FORWARD}.\n"]))
        warn(f"Previous calculation was induced by {parent.name()}. Traceback of forward "
             f"call that induced the previous calculation:\n{lines}")
    return 0


def is_anomaly_enabled():
    """Whether anomaly mode is on.

    >>> imode.is_anomaly_enabled()
    False
    """
    return bool(_enabled)


def is_anomaly_check_nan_enabled():
    """Whether anomaly mode, where it is on, searches gradients for NaN.

    >>> with imode.autograd.set_detect_anomaly(True, check_nan=False):
    ...     imode.is_anomaly_check_nan_enabled()
    False
    """
    return bool(_check_nan)


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once; used in a `with`, until the end of the block.

    `check_nan`: backward raises RuntimeError where a node gives a gradient with NaN in it.

    >>> with imode.autograd.set_detect_anomaly(True):
    ...     imode.is_anomaly_enabled()
    True
    """

    def __init__(self, mode, check_nan=True):
        self._before = _enabled, _check_nan
        _switch(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        _switch(*self._before)


class detect_anomaly:
    """Find out which line of the forward pass a failing backward comes from.

    In the block, recording keeps tracebacks, an error in backward is reported with the forward
    line that recorded the failing node, and, with `check_nan`, a gradient with NaN in it is an
    error. Slow; for debugging.

    >>> import warnings
    >>> import imode
    >>> x = imode.tensor(0.0, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"), imode.autograd.detect_anomaly():
    ...     try:
    ...         (x * float("nan")).backward()
    ...     except RuntimeError as error:
    ...         print(error)
    Function 'MulBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan=True):
        self._check = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.")

    def __enter__(self):
        self._before = _enabled, _check_nan
        _switch(True, self._check)

    def __exit__(self, *exc_info):
        _switch(*self._before)
