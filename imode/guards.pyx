"""Guards: `inference_mode`, `no_grad`, `enable_grad`, `set_grad_enabled`; those of kernel authors.

What each sets in its thread, and puts back when it is left:

    guard                               included          excluded                  grad mode
    inference_mode()                    - ADInplaceOrView + Autograd                off
    inference_mode(False)               + ADInplaceOrView - Autograd                on
    normal_mode()                       + ADInplaceOrView - Autograd                off
    no_grad(), set_grad_enabled(False)                                              off
    enable_grad(), set_grad_enabled(True)                                           on
    AutoDispatchBelowAutograd()                           + Autograd
    AutoDispatchBelowADInplaceOrView()                    + Autograd, ADInplaceOrView

Invariant: ADInplaceOrView is never dropped from the included set while Autograd is not excluded.
Every row keeps it, whatever it is applied to, so nesting in any order does.

# Note [Leaving guards out of order]
`with` blocks of one function nest. Those of generators and coroutines need not: a generator that is
suspended inside `with inference_mode():` leaves the mode on in its caller, and may leave the block
when the caller is inside another. So leaving a guard that is not the innermost puts the state right
for those above it: they are applied again, in order, to the state before the guard that left.
PyTorch puts back the leaving guard's state as it is and so leaves the mode on for good.

# Note [Why normal_mode is sound]
Inside of normal_mode the state is that of no_grad: ADInplaceOrView is included, Autograd is not
excluded, nothing is recorded. What surrounds the block does not enter into it, so that the same
rules hold as outside of inference mode: what is allocated is normal and is counted from its first
write on; a view is what its base is; an inference tensor from around the block may be read but not
written, for the write lands in ADInplaceOrView's kernel, which refuses it. So no memory gets to be
under tensors of both kinds, which is all that the no-aliasing invariant asks; and the inference
tensors around it change only where the mode is on, which is the immutable one. Afterwards, in the
mode again, writes to what the block made are counted, for it carries the keys itself.

# Note [Entering a guard again]
One guard object may be entered while it is on: by a function that calls itself, by two threads that
share it. Each further entry is a guard of its own, its twin, and leaving the object leaves the
innermost of them in the thread. PyTorch keeps one previous state per object, so that the second
entry overwrites what the first one has to put back.

# Note [Suspended bodies]
A decorated generator or coroutine has its mode on while its body runs, off while it is suspended.
The guards that the body is inside of at that time go and come with it: `_suspend` takes the chain
from the innermost guard down to the body's own off the thread's stack, `_resume` puts it on top of
what is there then, in whatever thread, and applies each one again.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport TLS, inference_mode_on, tls
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD
from imode._core.tensor cimport Tensor
from imode._core.tensor cimport is_inference as _tensor_is_inference
from imode.places cimport here

import warnings

from imode import _decorate, errors

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        void* tp_vectorcall
    size_t PyVectorcall_NARGS(size_t nargsf)

cdef extern from *:
    """
    #if PY_VERSION_HEX >= 0x030D0000
    #define IMODE_FINALIZING() Py_IsFinalizing()
    #else
    #define IMODE_FINALIZING() _Py_IsFinalizing()
    #endif
    """
    bint IMODE_FINALIZING() noexcept


# ---- the state ----

cdef inline void _save(TLS* state, State* out) noexcept nogil:
    out.included, out.excluded = state.included, state.excluded
    out.no_grad, out.guard_id = state.no_grad, state.guard_id


cdef inline void _apply(Guard guard, TLS* state) noexcept:
    """Set what the guard sets. `included` is stored as the difference from {ADInplaceOrView}."""
    cdef int kind = guard.kind
    if kind == INFERENCE:
        state.included |= BIT_AD
        state.excluded |= BIT_AUTOGRAD
        state.no_grad = 1
        state.guard_id = guard.entered_at
    elif kind == NO_GRAD:
        state.no_grad = 1
    elif kind == GRAD:
        state.no_grad = 0
    elif kind == BELOW_AUTOGRAD:
        state.excluded |= BIT_AUTOGRAD
    elif kind == BELOW_AD:
        state.excluded |= BIT_AUTOGRAD | BIT_AD
    else:
        state.included &= ~<unsigned long long>BIT_AD
        state.excluded &= ~<unsigned long long>BIT_AUTOGRAD
        state.no_grad = kind == NORMAL
        state.guard_id = 0


cdef inline void _restore(Guard guard, TLS* state) noexcept:
    """Put back what the guard sets; what it does not set is others' to put back."""
    if guard.kind < BELOW_AUTOGRAD:
        state.no_grad = guard.before.no_grad
        if guard.kind >= NO_GRAD:
            return
    state.included, state.excluded = guard.before.included, guard.before.excluded
    state.guard_id = guard.before.guard_id


cdef inline int _no_grad_by(Guard guard) noexcept:
    """The grad mode (as `no_grad`) that the guard sets, or -1 if it sets none."""
    if guard.kind >= BELOW_AUTOGRAD:
        return -1
    return guard.kind != GRAD and guard.kind != INFERENCE_OFF


cdef void _apply_again(PyObject* guard, PyObject* stop, TLS* state, bint calls) noexcept:
    """Apply the guards above `stop`, up to `guard`, in the order of their entry.

    `calls`: what calls of `set_grad_enabled` had set at a guard's entry is set again before it.
    """
    cdef int by_guard
    if guard == stop:
        return
    cdef Guard g = <Guard>guard
    _apply_again(g.below, stop, state, calls)
    if calls and g.below != stop:
        by_guard = _no_grad_by(<Guard>g.below)
        if by_guard >= 0 and by_guard != g.before.no_grad:
            state.no_grad = g.before.no_grad
    _save(state, &g.before)
    g.state = state
    _apply(g, state)


# ---- the guard ----

@cython.freelist(16)                   # one per level of nesting is in use at a time
cdef class Guard:
    """What all guards share: use as a context manager (``with``) or as a decorator.

    Thread-safety: a guard acts on the thread that enters it and must be left in the same one.
    """

    def __init__(self):
        raise TypeError("Guard is not made directly: use inference_mode, no_grad, enable_grad, ...")

    def __enter__(self):
        cdef TLS* state = tls()
        if self.state != NULL or self.top != NULL:
            _push(_twin(self), state)
            return
        if not self.decorates:
            self.entered_at = here()
        _push(self, state)

    def __exit__(self, exc_type=None, exc_value=None, traceback=None):
        cdef TLS* state = tls()
        if state.guard_top != <PyObject*>self:
            _leave_other(_innermost(self, state), state)
            return
        state.guard_top = self.below
        _restore(self, state)
        self.state = NULL
        Py_DECREF(self)

    def __call__(self, function):
        """Return `function` with the mode on while its body runs."""
        if self.at_once:
            tls().no_grad = self.no_grad_before            # a decorator acts on the function alone
        self.used = True
        return _decorate.decorate(function, self)

    def clone(self):
        """Return a new guard of the same kind, neither entered nor acting at once."""
        self.used = True
        return _new(type(self), self.kind)

    def _for_body(self, filename=None, line=0):
        """Return the guard for runs of the body of a decorated function, which starts there."""
        cdef Guard guard = _new(type(self), self.kind)
        guard.used = guard.decorates = True
        guard.entered_at = self.made_at if filename is None else errors.place_id(filename, line)
        return guard

    def _again(self):
        """Return a guard like this one, for another run of the same body."""
        cdef Guard guard = _new(type(self), self.kind)
        guard.used = guard.decorates = True
        guard.entered_at = self.entered_at
        return guard

    def _resume(self):
        """Enter for a stretch of a body; the guards that it was suspended in come back too."""
        cdef TLS* state = tls()
        cdef PyObject* top = self.top
        if self.state != NULL:
            raise errors.guard_reentered(_name(self), self.entered_at)
        if top == NULL:
            _push(self, state)
        else:
            _save(state, &self.before)
            self.below = state.guard_top
            _apply_again(top, self.below, state, True)
            state.guard_top = top
            self.top = NULL
        if self.grad_by_call:
            state.no_grad = self.grad_by_call - 1

    def _suspend(self):
        """Leave at the end of a stretch; see Note [Suspended bodies]."""
        cdef TLS* state = tls()
        cdef PyObject* guard = state.guard_top
        cdef int no_grad = -1                              # what guards made of the grad mode
        if self.state != state:
            _raise_exit(self)
        while guard != <PyObject*>self and guard != NULL:
            if no_grad < 0:
                no_grad = _no_grad_by(<Guard>guard)
            guard = (<Guard>guard).below
        if guard == NULL:
            _raise_exit(self)
        if no_grad < 0:
            no_grad = _no_grad_by(self)
        if no_grad < 0:
            no_grad = self.before.no_grad
        self.grad_by_call = 1 + state.no_grad if state.no_grad != no_grad else 0
        guard = state.guard_top
        state.guard_top = self.below
        state.included, state.excluded = self.before.included, self.before.excluded
        state.no_grad, state.guard_id = self.before.no_grad, self.before.guard_id
        self.state = NULL
        if guard == <PyObject*>self:
            Py_DECREF(self)
        else:
            self.top = guard

    def __dealloc__(self):
        Py_XDECREF(self.original)
        if not self.used and self.kind != NONE and not IMODE_FINALIZING():
            _warn_unused(self.kind, self.made_at)

    def __repr__(self):
        return f"imode.{_name(self)}()"


cdef int _push(Guard self, TLS* state) except -1:
    self.used = True
    if self.kind == GRAD and inference_mode_on(state):
        _warn_no_effect(self, state)
    elif self.kind == NONE:
        raise TypeError(f"{_name(self)}.__new__ does not make a guard: call {_name(self)}(...)")
    _save(state, &self.before)
    if self.at_once:
        self.before.no_grad = self.no_grad_before
    self.below = state.guard_top
    state.guard_top = <PyObject*>self
    self.state = state
    Py_INCREF(self)
    _apply(self, state)
    return 0


cdef str _name(Guard self):
    return type(self).__name__


cdef int _raise_exit(Guard self) except -1:
    if self.state == NULL or self.state == tls():          # off, or inside of a suspended body
        raise errors.guard_not_entered(_name(self))
    raise errors.guard_wrong_thread(_name(self), self.entered_at)


cdef Guard _twin(Guard self):
    """Return a guard for another entry; see Note [Entering a guard again]."""
    cdef Guard guard = _new(type(self), self.kind)
    Py_INCREF(self)
    guard.original = <PyObject*>self
    guard.decorates = self.decorates
    guard.entered_at = self.entered_at if self.decorates else here()
    return guard


cdef Guard _innermost(Guard self, TLS* state):
    """Return the innermost entry of a guard that is on in this thread."""
    cdef PyObject* guard = state.guard_top
    while guard != NULL and guard != <PyObject*>self and (
            (<Guard>guard).original != <PyObject*>self):
        guard = (<Guard>guard).below
    if guard == NULL:
        _raise_exit(self)
    return <Guard>guard


cdef int _leave_other(Guard self, TLS* state) except -1:
    """Leave a guard, innermost or not; see Note [Leaving guards out of order]."""
    cdef PyObject* above = state.guard_top
    self.state = NULL
    Py_DECREF(self)
    if above == <PyObject*>self:
        state.guard_top = self.below
        _restore(self, state)
        return 0
    while (<Guard>above).below != <PyObject*>self:
        above = (<Guard>above).below
    (<Guard>above).below = self.below
    state.included, state.excluded = self.before.included, self.before.excluded
    state.no_grad, state.guard_id = self.before.no_grad, self.before.guard_id
    _apply_again(state.guard_top, self.below, state, False)
    return 0


# ---- warnings ----

cdef set _warned_places = set()


cdef int _warn_no_effect(Guard self, TLS* state) except -1:
    """Warn, once for each place, that recording stays off inside of inference mode."""
    if self.entered_at in _warned_places:
        return 0
    _warned_places.add(self.entered_at)
    at = errors.place(state.guard_id)
    filename, line = errors.place_parts(self.entered_at)
    warnings.warn_explicit(
        f"{_name(self)} has no effect inside inference_mode"
        + (f" (entered at {at})" if at else "")
        + ": nothing is recorded there. Use inference_mode(False) to record in part of the block.",
        UserWarning, filename, line)
    return 0


cdef int _warn_unused(int kind, int made_at) except -1:
    """Warn at the end of a guard that was never entered."""
    name = KIND_NAMES[kind]
    filename, line = errors.place_parts(made_at)
    warnings.warn_explicit(
        f"{name}(...) was made at {filename}:{line} and never entered, so it changed nothing. "
        f"Write `with imode.{name}(...):`, or `@imode.{name}(...)` above a function.",
        RuntimeWarning, filename, line)
    return 0


# ---- making guards ----

# The classes are called through `tp_vectorcall`, with the arguments on the C stack: `type.__call__`
# costs 60 ns more, and could not give a decorated function for `@no_grad` without parentheses.

cdef dict KIND_NAMES = {
    INFERENCE: "inference_mode", INFERENCE_OFF: "inference_mode", NORMAL: "normal_mode",
    NO_GRAD: "no_grad", GRAD: "enable_grad", BELOW_AUTOGRAD: "AutoDispatchBelowAutograd",
    BELOW_AD: "AutoDispatchBelowADInplaceOrView",
}


cdef Guard _new(object cls, int kind):
    """Return a new guard of class `cls`."""
    cdef Guard guard
    if cls is inference_mode:
        guard = inference_mode.__new__(inference_mode)
    elif cls is no_grad:
        guard = no_grad.__new__(no_grad)
    else:
        guard = cls.__new__(cls)
    guard.kind = kind
    guard.made_at = here()
    return guard


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
        return _new(inference_mode, INFERENCE)
    mode = _argument(cls, "mode", args, nargsf, kwnames)
    if mode is True or mode is False:
        return _new(inference_mode, INFERENCE if mode else INFERENCE_OFF)
    if not callable(mode):
        raise errors.guard_argument("inference_mode", mode)
    return _new(inference_mode, INFERENCE)(mode)


cdef object _make_plain(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames, int kind):
    """For the guards without parameters: a guard, or the function given, decorated."""
    if PyVectorcall_NARGS(nargsf) == 0 and kwnames == NULL:
        return _new(<object>cls, kind)
    function = _argument(cls, "orig_func", args, nargsf, kwnames)
    if function is None:
        return _new(<object>cls, kind)
    if not callable(function) and not isinstance(function, (classmethod, staticmethod)):
        raise TypeError(
            f"{(<object>cls).__name__}() takes no argument but a function to decorate, "
            f"not {type(function).__name__}")
    return _new(<object>cls, kind)(function)


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
    cdef TLS* state = tls()
    mode = _argument(cls, "mode", args, nargsf, kwnames)
    if mode is MISSING:
        raise TypeError("set_grad_enabled() missing 1 required positional argument: 'mode'")
    if mode is not True and mode is not False:
        raise TypeError(
            "set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
            f"not {type(mode).__name__}")
    guard = _new(set_grad_enabled, GRAD if mode else NO_GRAD)
    guard.used = guard.at_once = True
    guard.no_grad_before = state.no_grad
    if mode and inference_mode_on(state):
        guard.entered_at = guard.made_at
        _warn_no_effect(guard, state)
    state.no_grad = not mode
    return guard


cdef object _make_non_variable(PyObject* cls, PyObject** args, size_t nargsf, PyObject* kwnames):
    enabled = _argument(cls, "enabled", args, nargsf, kwnames)
    if enabled is not MISSING and enabled is not True:
        raise RuntimeError("AutoNonVariableTypeMode can only be turned on: enabled must be True.")
    warnings.warn(
        "AutoNonVariableTypeMode is deprecated. To run a model for its outputs alone, use "
        "inference_mode; in a kernel that redispatches below Autograd, use "
        "AutoDispatchBelowADInplaceOrView, which is its new name.",
        FutureWarning, stacklevel=1)
    return _new(AutoNonVariableTypeMode, BELOW_AD)


# ---- the guards ----

@cython.final
cdef class inference_mode(Guard):
    """inference_mode(mode=True)
--

    Turn inference mode on (or off, with False) in a block or a decorated function.

    Nothing is recorded for autograd, and tensors made in the block are inference tensors: without
    version counter, not to be written to or saved for backward outside of the mode. See
    docs/inference-mode.md.

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

    Record for autograd in a block or a decorated function, inside of `no_grad` too.

    Inside of inference mode nothing is recorded; entering it there warns, once for each place.

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

    Make normal tensors in a block, though inference mode is on around it; nothing is recorded.

    For what outlives the inference region: parameters, buffers, caches. Inside of the block the
    rules of `no_grad` hold, those on inference tensors from around it too.

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

    Version counters and views are still kept; see AutoDispatchBelowADInplaceOrView.
    """


@cython.final
cdef class AutoDispatchBelowADInplaceOrView(Guard):
    """AutoDispatchBelowADInplaceOrView(orig_func=None)
--

    Dispatch below Autograd and ADInplaceOrView: for a kernel that works on its own tensors.

    Writes inside of it bump no version and views are not recorded, whatever tensor they are of.
    Only a kernel that keeps both right by itself may use it; to run a model, use inference_mode.
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

InferenceMode = inference_mode         # its name in C++


# ---- questions ----

def is_inference(input):
    """Return whether a tensor is an inference tensor.

    >>> import imode
    >>> imode.is_inference(imode.ones(2))
    False
    """
    if not isinstance(input, Tensor):
        raise TypeError(
            "is_inference(): argument 'input' (position 1) must be Tensor, "
            f"not {type(input).__name__}")
    return _tensor_is_inference(<Tensor>input)


def why_not_recording():
    """Return the innermost guard that keeps this thread from recording, for messages.

    That is (its name, the place of its entry) or None, also where recording was turned off by a
    call of `set_grad_enabled`.
    """
    cdef TLS* state = tls()
    if not state.no_grad and not state.excluded & BIT_AUTOGRAD:
        return None
    cdef PyObject* guard = state.guard_top
    cdef bint inference = inference_mode_on(state)
    while guard != NULL:
        if (<Guard>guard).kind == INFERENCE or (not inference and (<Guard>guard).kind == NO_GRAD):
            return _name(<Guard>guard), (<Guard>guard).entered_at
        guard = (<Guard>guard).below
    return None


def why_not_inference():
    """Return the guard that turned off the inference mode around it, for messages.

    That is (its name, the place of its entry), or None where no inference mode is on around.
    """
    cdef PyObject* guard = tls().guard_top
    cdef PyObject* off = NULL
    while guard != NULL:
        if (<Guard>guard).kind == INFERENCE:
            break
        if off == NULL and (<Guard>guard).kind in (INFERENCE_OFF, NORMAL):
            off = guard
        guard = (<Guard>guard).below
    if guard == NULL or off == NULL:
        return None
    name = _name(<Guard>off)
    return name if (<Guard>off).kind == NORMAL else f"{name}(False)", (<Guard>off).entered_at


errors.answer(not_recording=why_not_recording, not_inference=why_not_inference)
