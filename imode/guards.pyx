"""The guards: `inference_mode`, `no_grad`, `enable_grad`, `set_grad_enabled`, `normal_mode`, and
those for kernel authors: how each is called, and which kind of `Guard` it creates.

What a guard sets in its thread and restores is in `_core/guard.pyx`.
"""

cimport cython
from cpython.object cimport PyObject
from imode._core.guard cimport (
    BELOW_AD, BELOW_AUTOGRAD, GRAD, INFERENCE, INFERENCE_OFF, NO_GRAD, NORMAL, Guard, new_guard,
    set_grad)
from imode._core.tensor cimport Tensor
from imode._core.tensor cimport is_inference as _tensor_is_inference

from imode import errors
from imode._core.type_names import class_name
from imode._core.user_frames import warn

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        void* tp_vectorcall
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_BASETYPE
    void PyType_Modified(PyTypeObject* cls) noexcept
    size_t PyVectorcall_NARGS(size_t nargsf)


# ---- creating guards ----

# The classes are called through `tp_vectorcall`, with the arguments on the C stack. `type.__call__`
# costs 60 ns more, and could not return a decorated function for `@no_grad` without parentheses.

cdef object MISSING = object()


cdef object _argument(
    PyObject* cls, str keyword, PyObject** args, size_t nargsf, PyObject* kwnames,
):
    """Return the one argument of a call, or MISSING."""
    cdef size_t n = PyVectorcall_NARGS(nargsf)
    cdef str name = (<object>cls).__name__
    cdef tuple names = <tuple>kwnames if kwnames != NULL else ()
    if n + len(names) > 1:
        raise TypeError(f"{name}() takes at most 1 argument ({n + len(names)} given)")
    if names and names[0] != keyword:
        raise TypeError(f"{name}() got an unexpected keyword argument {names[0]!r}")
    return <object>args[0] if n or names else MISSING


cdef object _make_inference_mode(
    PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames,
):
    if PyVectorcall_NARGS(nargsf) == 0 and kwnames == NULL:
        return new_guard(inference_mode, INFERENCE)
    mode = _argument(cls, "mode", args, nargsf, kwnames)
    if mode is True or mode is False:
        return new_guard(inference_mode, INFERENCE if mode else INFERENCE_OFF)
    if not callable(mode):
        raise errors.guards.argument("inference_mode", mode)
    return new_guard(inference_mode, INFERENCE)(mode)


cdef object _make_plain(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames, int kind):
    """Call a guard class without parameters: a new guard, or the given function, decorated."""
    if PyVectorcall_NARGS(nargsf) == 0 and kwnames == NULL:
        return new_guard(<object>cls, kind)
    function = _argument(cls, "orig_func", args, nargsf, kwnames)
    if function is None:
        return new_guard(<object>cls, kind)
    if not callable(function) and not isinstance(function, (classmethod, staticmethod)):
        raise TypeError(
            f"{(<object>cls).__name__}() takes no argument but a function to decorate, "
            f"not {type(function).__name__}")
    return new_guard(<object>cls, kind)(function)


cdef object _make_no_grad(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    return _make_plain(cls, args, nargsf, kwnames, NO_GRAD)


cdef object _make_enable_grad(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    return _make_plain(cls, args, nargsf, kwnames, GRAD)


cdef object _make_normal_mode(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    return _make_plain(cls, args, nargsf, kwnames, NORMAL)


cdef object _make_below_autograd(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    return _make_plain(cls, args, nargsf, kwnames, BELOW_AUTOGRAD)


cdef object _make_below_ad(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    return _make_plain(cls, args, nargsf, kwnames, BELOW_AD)


cdef object _make_set_grad_enabled(
    PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames,
):
    cdef Guard guard
    mode = _argument(cls, "mode", args, nargsf, kwnames)
    if mode is MISSING:
        raise TypeError("set_grad_enabled() missing 1 required positional argument: 'mode'")
    if mode is not True and mode is not False:
        raise TypeError(
            "set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
            f"not {class_name(mode)}")
    guard = new_guard(set_grad_enabled, GRAD if mode else NO_GRAD)
    set_grad(guard)
    return guard


cdef object _make_non_variable(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    enabled = _argument(cls, "enabled", args, nargsf, kwnames)
    if enabled is not MISSING and enabled is not True:
        raise RuntimeError("AutoNonVariableTypeMode can only be turned on: enabled must be True.")
    warn(
        "AutoNonVariableTypeMode is deprecated. To run a model for its outputs alone, use "
        "inference_mode; in a kernel that redispatches below Autograd, use "
        "AutoDispatchBelowADInplaceOrView, which is its new name.",
        FutureWarning)
    return new_guard(AutoNonVariableTypeMode, BELOW_AD)


# ---- the guards ----

@cython.final
cdef class inference_mode(Guard):
    """inference_mode(mode=True)
--

    Turn inference mode on (or off, with False) in a block or a decorated function.

    Nothing is recorded for autograd, and tensors created in the block are inference tensors: they
    have no version counter, and cannot be written to or saved for backward outside of the mode. See
    docs/inference-mode.md. Raises TypeError for a mode that is neither a bool nor a function.

    >>> import imode
    >>> with imode.inference_mode():
    ...     y = imode.ones(2) * 2
    >>> y.is_inference()
    True
    """

    @property
    def mode(self):
        """Whether it turns the mode on."""
        return self.kind == INFERENCE

    def __repr__(self):
        return f"imode.inference_mode(mode={self.mode})"


@cython.final
cdef class no_grad(Guard):
    """no_grad(orig_func=None)
--

    Record nothing for autograd in a block or a decorated function.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> with imode.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """


@cython.final
cdef class enable_grad(Guard):
    """enable_grad(orig_func=None)
--

    Record for autograd in a block or a decorated function, even inside `no_grad`.

    Inside inference mode nothing is recorded; entering this guard there warns, once per line.

    >>> import imode
    >>> with imode.no_grad(), imode.enable_grad():
    ...     imode.is_grad_enabled()
    True
    """


@cython.final
cdef class set_grad_enabled(Guard):
    """set_grad_enabled(mode)
--

    Turn recording on or off: at once as a function, for a block, or for a decorated function.

    Raises TypeError unless `mode` is a bool.

    >>> import imode
    >>> with imode.set_grad_enabled(False):
    ...     imode.is_grad_enabled()
    False
    """

    @property
    def mode(self):
        """Whether it turns recording on."""
        return self.kind == GRAD

    def __repr__(self):
        return f"imode.set_grad_enabled(mode={self.mode})"


@cython.final
cdef class normal_mode(Guard):
    """normal_mode(orig_func=None)
--

    Create normal tensors in a block inside inference mode; nothing is recorded.

    For tensors that outlive the inference region: parameters, buffers, caches. In the block the
    rules of `no_grad` hold, including those for inference tensors from outside the block.

    >>> import imode
    >>> with imode.inference_mode():
    ...     with imode.normal_mode():
    ...         cache = imode.zeros(2)
    >>> cache.is_inference()
    False
    """


@cython.final
cdef class AutoDispatchBelowAutograd(Guard):
    """AutoDispatchBelowAutograd(orig_func=None)
--

    Dispatch below Autograd: for a kernel that has recorded its own backward.

    Versions are still counted and views tracked; see AutoDispatchBelowADInplaceOrView.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> with imode.AutoDispatchBelowAutograd():
    ...     y = x.add_(1)
    >>> y.grad_fn is None, x._version
    (True, 1)
    """


@cython.final
cdef class AutoDispatchBelowADInplaceOrView(Guard):
    """AutoDispatchBelowADInplaceOrView(orig_func=None)
--

    Dispatch below Autograd and ADInplaceOrView: for a kernel that works on its own tensors.

    Inside, writes bump no version and views are not tracked, for any tensor. Only for a kernel that
    maintains both itself; to run a model, use inference_mode.

    >>> import imode
    >>> x = imode.ones(2)
    >>> with imode.AutoDispatchBelowADInplaceOrView():
    ...     y = x.add_(1)
    >>> x._version
    0
    """


@cython.final
cdef class AutoNonVariableTypeMode(Guard):
    """AutoNonVariableTypeMode(enabled=True)
--

    Deprecated name of AutoDispatchBelowADInplaceOrView; to run a model, use inference_mode.
    """


(<PyTypeObject*>inference_mode).tp_vectorcall = <void*>_make_inference_mode
(<PyTypeObject*>no_grad).tp_vectorcall = <void*>_make_no_grad
(<PyTypeObject*>enable_grad).tp_vectorcall = <void*>_make_enable_grad
(<PyTypeObject*>set_grad_enabled).tp_vectorcall = <void*>_make_set_grad_enabled
(<PyTypeObject*>normal_mode).tp_vectorcall = <void*>_make_normal_mode
(<PyTypeObject*>AutoDispatchBelowAutograd).tp_vectorcall = <void*>_make_below_autograd
(<PyTypeObject*>AutoDispatchBelowADInplaceOrView).tp_vectorcall = <void*>_make_below_ad
(<PyTypeObject*>AutoNonVariableTypeMode).tp_vectorcall = <void*>_make_non_variable

# The calls above do not use the class given, so users must not derive classes from guards.
(<PyTypeObject*>Guard).tp_flags &= ~Py_TPFLAGS_BASETYPE
PyType_Modified(<PyTypeObject*>Guard)

InferenceMode = inference_mode         # its name in C++


# ---- predicates ----

def is_inference(input):
    """Return whether a tensor is an inference tensor.

    >>> import imode
    >>> imode.is_inference(imode.ones(2))
    False
    """
    if hasattr(type(input), "_imode_tensor"):
        input = input._imode_tensor       # of an object of a subclass
    if not isinstance(input, Tensor):
        raise TypeError(
            "is_inference(): argument 'input' (position 1) must be Tensor, "
            f"not {type(input).__name__}")
    return _tensor_is_inference(<Tensor>input)
