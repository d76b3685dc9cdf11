"""Guards: what entering and leaving one does to a thread's dispatch state.

    kind                                included          excluded                  grad mode
    INFERENCE                           - ADInplaceOrView + Autograd                off
    INFERENCE_OFF                       + ADInplaceOrView - Autograd                on
    NORMAL                              + ADInplaceOrView - Autograd                off
    NO_GRAD                                                                         off
    GRAD                                                                            on
    BELOW_AUTOGRAD                                        + Autograd
    BELOW_AD                                              + Autograd, ADInplaceOrView

Invariant: ADInplaceOrView is never dropped from the included set while Autograd is not excluded.
Every row preserves it, whatever the state before, and so does any nesting.

Entering a guard stores the user's line in the thread's state: `guard_id` is the line that entered
inference mode or, outside of it, turned recording off.

# Note [Why normal_mode is sound]
Inside normal_mode the state is that of no_grad: ADInplaceOrView is included, Autograd is not
excluded, nothing is recorded. The modes around the block have no influence, so the same rules hold
as outside of inference mode: a new tensor is normal, and its writes are counted from the first on;
a view is of the same kind as its base; an inference tensor from around the block may be read but
not written, because the write reaches ADInplaceOrView's kernel, which raises. So no memory is ever
shared by tensors of both kinds (the no-aliasing invariant), and inference tensors change only where
the mode is on (the immutable invariant). After the block, in inference mode again, writes to the
tensors it created are still counted, because these tensors carry the keys themselves.

# Note [Leaving guards out of order]
`with` blocks of one function nest. Those of generators and coroutines may not: a generator that is
suspended inside `with inference_mode():` leaves the mode on in its caller, and may leave the block
while the caller is inside another. So when a guard is left that is not the innermost, the guards
above it are applied again, in order, to the state before that guard. PyTorch restores the state
that the leaving guard has saved, and so leaves the mode on for good.

# Note [Entering a guard again]
A guard object may be entered while it is on: by a function that calls itself, or by two threads
that share it. Each further entry creates another guard, its twin, and leaving the object leaves the
innermost of them in the thread. PyTorch keeps one previous state per object, so the second entry
overwrites the state that the first has to restore.

# Note [Suspended bodies]
A decorated generator or coroutine has its mode on while its body runs and off while it is
suspended. The same holds for guards that the body has entered: `_suspend` removes the part of the
thread's chain from the innermost guard to the body's own, and `_resume` puts it on top of the chain
of the thread that it is called in, and applies each guard again.
"""
import warnings

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport TLS, inference_mode_on, tls
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD
from imode._core.user_frames cimport here, location_of

from imode import errors
from imode._core.decorate import decorate
from imode._core.provenance import location_parts

cdef extern from *:
    """
    #if PY_VERSION_HEX >= 0x030D0000
    #define IMODE_FINALIZING() Py_IsFinalizing()
    #else
    #define IMODE_FINALIZING() _Py_IsFinalizing()
    #endif
    #define IMODE_NEW(cls, args) (((PyTypeObject*)(cls))->tp_new((PyTypeObject*)(cls), args, NULL))
    """
    bint finalizing "IMODE_FINALIZING"() noexcept
    object make "IMODE_NEW"(object cls, tuple args)


# ---- the state ----

cdef inline void _save(TLS* state, State* out) noexcept nogil:
    out.included, out.excluded = state.included, state.excluded
    out.no_grad, out.guard_id = state.no_grad, state.guard_id


cdef inline void _put_back(State* before, TLS* state) noexcept nogil:
    state.included, state.excluded = before.included, before.excluded
    state.no_grad, state.guard_id = before.no_grad, before.guard_id


cdef inline void _apply(Guard guard, TLS* state) noexcept:
    """Set what the guard sets. `included` is stored as the difference from {ADInplaceOrView}."""
    cdef int kind = guard.kind
    if kind == INFERENCE:
        state.included |= BIT_AD
        state.excluded |= BIT_AUTOGRAD
        state.no_grad = 1
        state.guard_id = state.inference_at = guard.entered_at
    elif kind == NO_GRAD or kind == GRAD:
        state.no_grad = kind == NO_GRAD
        if not inference_mode_on(state):
            state.guard_id = guard.entered_at if kind == NO_GRAD else 0
    elif kind == BELOW_AUTOGRAD:
        state.excluded |= BIT_AUTOGRAD
    elif kind == BELOW_AD:
        state.excluded |= BIT_AUTOGRAD | BIT_AD
    else:
        state.included &= ~<unsigned long long>BIT_AD
        state.excluded &= ~<unsigned long long>BIT_AUTOGRAD
        state.no_grad = kind == NORMAL
        state.guard_id = guard.entered_at if kind == NORMAL else 0


cdef inline void _restore(Guard guard, TLS* state) noexcept:
    """Restore only what the guard has set."""
    if guard.kind < BELOW_AUTOGRAD:
        state.no_grad, state.guard_id = guard.before.no_grad, guard.before.guard_id
        if guard.kind >= NO_GRAD:
            return
    state.included, state.excluded = guard.before.included, guard.before.excluded


cdef inline int _no_grad_by(PyObject* guard) noexcept:
    """The grad mode (as `no_grad`) that a guard sets, or -1 if it sets none."""
    cdef int kind = (<Guard>guard).kind
    if kind >= BELOW_AUTOGRAD:
        return -1
    return kind != GRAD and kind != INFERENCE_OFF


cdef void _apply_again(PyObject* top, PyObject* stop, TLS* state, bint calls) noexcept:
    """Apply the guards above `stop`, up to `top`, in the order in which they were entered.

    `calls`: before each guard, set again what calls of `set_grad_enabled` had set at its entry.
    """
    cdef PyObject* guard = NULL        # the links of the chain are reversed on the way down
    cdef PyObject* below
    cdef int by_guard
    while top != stop:
        below = (<Guard>top).below
        (<Guard>top).below = guard
        guard, top = top, below
    below = stop
    while guard != NULL:
        g = <Guard>guard
        guard, g.below = g.below, below
        if calls and below != stop:
            by_guard = _no_grad_by(below)
            if by_guard >= 0 and by_guard != g.before.no_grad:
                state.no_grad = g.before.no_grad
        _save(state, &g.before)
        g.state = state
        _apply(g, state)
        below = <PyObject*>g


# ---- the guard ----

@cython.binding(False)
@cython.freelist(16)                   # one guard is in use per level of nesting
cdef class Guard:
    """The base of all guards: use it as a context manager (``with``) or as a decorator.

    Thread-safety: a guard acts on the thread that enters it and must be left in that thread.
    """

    def __init__(self):
        raise TypeError("Guard is not made directly: use inference_mode, no_grad, enable_grad, ...")

    def __enter__(self):
        # Steps that may run other Python code (a warning, the garbage collector) come before the
        # test of `state`, since that code may enter this guard.
        cdef TLS* state = tls()
        cdef int location = self.entered_at if self.decorates else here()
        if self.kind == GRAD and inference_mode_on(state):
            _warn_no_effect(self, location, state)
        elif self.kind == NONE:
            raise TypeError(f"{_name(self)}.__new__ does not make a guard: call {_name(self)}(...)")
        if self.state != NULL or self.top != NULL:
            _push(_twin(self), state, location)
        else:
            _push(self, state, location)

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
        """Return `function` changed so that the mode is on while its body runs."""
        cdef TLS* state = tls()
        if self.at_once:                                   # a decorator affects only the function
            state.no_grad, state.guard_id = self.no_grad_before, self.guard_id_before
        self.used = True
        return decorate(function, self)

    def clone(self):
        """Return a new guard of the same kind that has not been entered and had no effect."""
        self.used = True
        return remake(type(self), self.kind)

    def _for_body(self, code):
        """Return the guard for runs of a decorated function. code: the function's, or None."""
        cdef Guard guard = new_guard(type(self), self.kind)
        guard.used = guard.decorates = True
        guard.entered_at = location_of(code)
        return guard

    def _again(self):
        """Return a guard like this one, for another run of the same body."""
        cdef Guard guard = new_guard(type(self), self.kind)
        guard.used = guard.decorates = True
        guard.entered_at = self.entered_at
        return guard

    def _resume(self):
        """Enter for a stretch of a body, with the guards inside which it was suspended."""
        cdef TLS* state = tls()
        cdef PyObject* top = self.top
        if self.state != NULL:
            raise errors.guards.reentered(_name(self), self.entered_at)
        if top == NULL:
            _push(self, state, self.entered_at)
        else:
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
        cdef int no_grad = -1                              # the grad mode as the guards set it
        if self.state != state:
            _raise_exit(self)
        while guard != <PyObject*>self and guard != NULL:
            if no_grad < 0:
                no_grad = _no_grad_by(guard)
            guard = (<Guard>guard).below
        if guard == NULL:
            _raise_exit(self)
        if no_grad < 0:
            no_grad = _no_grad_by(guard)
        if no_grad < 0:
            no_grad = self.before.no_grad
        self.grad_by_call = 1 + state.no_grad if state.no_grad != no_grad else 0
        guard = state.guard_top
        state.guard_top = self.below
        _put_back(&self.before, state)
        self.state = NULL
        if guard == <PyObject*>self:
            Py_DECREF(self)
        else:
            self.top = guard

    def __dealloc__(self):
        Py_XDECREF(self.original)
        if not self.used and self.kind != NONE and not finalizing():
            _warn_unused(_name(self))

    def __reduce__(self):
        return remake, (type(self), self.kind)             # a copy is off

    def __repr__(self):
        return f"imode.{_name(self)}()"


cdef Guard new_guard(object cls, int kind):
    """Return a new guard of class `cls`."""
    cdef Guard guard = <Guard>make(cls, ())
    guard.kind = kind
    return guard


def remake(type cls not None, int kind):
    """Return a guard of class `cls` that is off and had no effect; for copies."""
    if not issubclass(cls, Guard) or not INFERENCE <= kind <= BELOW_AD:
        raise TypeError(f"remake(): {cls.__name__} and {kind} make no guard")
    guard = new_guard(cls, kind)
    guard.used = True                                      # a copy does not warn if never entered
    return guard


cdef int set_grad(Guard guard) except -1:
    """Let a guard of `set_grad_enabled` take effect at once."""
    cdef TLS* state = tls()
    guard.used = guard.at_once = True
    guard.entered_at = here()
    if guard.kind == GRAD and inference_mode_on(state):
        _warn_no_effect(guard, guard.entered_at, state)
    guard.no_grad_before, guard.guard_id_before = state.no_grad, state.guard_id
    _apply(guard, state)
    return 0


cdef inline int _push(Guard self, TLS* state, int location) except -1:
    self.used = True
    self.entered_at = location
    _save(state, &self.before)
    if self.at_once:
        self.before.no_grad, self.before.guard_id = self.no_grad_before, self.guard_id_before
    self.below = state.guard_top
    state.guard_top = <PyObject*>self
    self.state = state
    Py_INCREF(self)
    _apply(self, state)
    return 0


cdef str _name(Guard self):
    return type(self).__name__


cdef int _raise_exit(Guard self) except -1:
    if self.state == NULL or self.state == tls():          # off, or inside a suspended body
        raise errors.guards.not_entered(_name(self))
    raise errors.guards.wrong_thread(_name(self), self.entered_at)


cdef Guard _twin(Guard self):
    """Return a guard for a further entry; see Note [Entering a guard again]."""
    cdef Guard guard = new_guard(type(self), self.kind)
    guard.used = True
    Py_INCREF(self)
    guard.original = <PyObject*>self
    guard.decorates = self.decorates
    return guard


cdef Guard _innermost(Guard self, TLS* state):
    """Return the innermost entry of a guard in this thread."""
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
    _put_back(&self.before, state)
    _apply_again(state.guard_top, self.below, state, False)
    return 0


# ---- warnings ----

cdef set _warned_locations = set()


cdef int _warn_no_effect(Guard self, int location, TLS* state) except -1:
    """Warn, once per line, that recording stays off inside inference mode."""
    if location in _warned_locations:
        return 0
    _warned_locations.add(location)
    filename, line = location_parts(location)
    message = errors.guards.no_effect(_name(self), state.guard_id)
    warnings.warn_explicit(message, UserWarning, filename, line)
    return 0


cdef int _warn_unused(str name) except -1:
    """Warn at the end of a guard that was never entered."""
    filename, line = location_parts(here())
    warnings.warn_explicit(
        f"{name}(...), made here or in what is called here, was never entered and changed nothing. "
        f"Write `with imode.{name}(...):`, or `@imode.{name}(...)` above a function.",
        RuntimeWarning, filename, line)
    return 0


# ---- for messages ----

def why_not_recording():
    """Return what keeps this thread from recording: (the guard's name, the line that entered it).

    None if it records. A call of `set_grad_enabled` counts as a guard.
    """
    cdef TLS* state = tls()
    cdef PyObject* guard = state.guard_top
    cdef bint inference = inference_mode_on(state)
    cdef int kind
    if not state.no_grad and not state.excluded & BIT_AUTOGRAD:
        return None
    while guard != NULL:
        kind = (<Guard>guard).kind
        if inference:
            if kind == INFERENCE:
                break
        elif (kind < BELOW_AUTOGRAD) == bool(state.no_grad):
            break
        guard = (<Guard>guard).below
    if guard != NULL and (not state.no_grad or _no_grad_by(guard)):
        return _name(<Guard>guard), (<Guard>guard).entered_at
    return ("set_grad_enabled(False)", state.guard_id) if state.guard_id else None


def why_not_inference():
    """Return the guard that has turned off the inference mode around it.

    (its name, the line that entered it), or None if there is no inference mode around.
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


def last_inference():
    """Return the line at which this thread last entered inference mode; 0: it never did."""
    return tls().inference_at
