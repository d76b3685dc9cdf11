"""What sees the kernels that a thread enters: the dispatch trace, and dispatch modes.

Note [Watchers] in dispatch.pyx says how they come to be called.
"""
from cpython.object cimport PyObject
from imode._core.dispatch cimport (
    INPLACE, OUT, TLS, VIEW, Operator, Watcher, proceed, proceed_composite, set_watching, tls,
    unwatch, watch, watching)
from imode._core.keyset cimport (
    AD_INPLACE_OR_VIEW, BACKENDS, BIT_AD, BIT_AUTOGRAD, highest_key, key_object, keyset_t)
from imode._core.making cimport alias_of
from imode._core.allocator cimport root
from imode._core.tensor cimport Tensor, is_tensor, requires_grad
from imode._core.user_frames cimport here
from libc.stdint cimport uint64_t

cimport cython

from imode import errors


# ---- the dispatch trace ----

@cython.binding(False)
@cython.final
cdef class Trace(Watcher):
    """Writes each kernel entered into a list: (operator, key).

    And into another one, with the calls of composite operators: (how deep, operator, key or None).
    """

    cdef object entries           # a list of a class of its own
    cdef list steps
    cdef int depth

    def __cinit__(self, entries, list steps not None):
        self.entries, self.steps = entries, steps

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        key = key_object(highest_key(keys))
        self.entries.append((op.qualified_name, key))
        self.steps.append((self.depth, op.qualified_name, key))
        self.depth += 1
        try:
            return proceed(self.outer, op, keys, args)
        finally:
            self.depth -= 1

    cdef object compose(self, Operator op, PyObject** args):
        self.steps.append((self.depth, op.qualified_name, None))
        self.depth += 1
        try:
            return proceed_composite(self.outer, op, args)
        finally:
            self.depth -= 1

    def start(self):
        """Turn it on in this thread."""
        watch(self)

    def stop(self):
        """Turn it off."""
        unwatch(self)


# ---- dispatch modes ----

@cython.binding(False)
@cython.final
cdef class _Result(Watcher):
    """Gives a result that is known already."""

    cdef object result

    def __cinit__(self, result):
        self.result = result

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        return self.result


@cython.binding(False)
@cython.final
cdef class _Entry(Watcher):
    """One `with` block of a dispatch mode."""

    cdef object mode
    cdef int line                 # where the block was entered

    def __cinit__(self, mode):
        self.mode = mode
        self.line = here()

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        cdef int key = highest_key(keys)
        if key == AD_INPLACE_OR_VIEW and op.role == VIEW:
            return self.view(op, keys, args)
        if not BACKENDS >> key & 1:
            return proceed(self.outer, op, keys, args)
        return self.run(op, args)

    cdef object view(self, Operator op, keyset_t keys, PyObject** args):
        """A view operator above the kernel that records the view, which a result with memory of its
        own must not reach: a write to one of the two would count as a write to both."""
        cdef Tensor base = <Tensor>args[op.tensors[0]]
        cdef Watcher before
        result = self.run(op, args)
        for item in result if type(result) is tuple else (result,):
            if root((<Tensor>item).array) != root(base.array):
                return result
        before = set_watching(_Result(result))
        try:
            return op.table[<int>AD_INPLACE_OR_VIEW](op, keys, args)
        finally:
            set_watching(before)

    cdef object run(self, Operator op, PyObject** args):
        """Call the mode's method instead of a backend's kernel."""
        cdef TLS* state = tls()
        cdef uint64_t excluded = state.excluded
        cdef Watcher before
        given, named = as_called(op, args)
        before = set_watching(self.outer)       # in its own method the mode is off
        state.excluded = excluded | BIT_AUTOGRAD | BIT_AD
        try:
            rule = _rules.get((op, type(self.mode))) if _rules else None
            if rule is not None:
                result = rule(self.mode, op, (), given, named)
            else:
                result = self.mode.__torch_dispatch__(op, (), given, named)
        finally:
            state.excluded = excluded
            set_watching(before)
        return _checked(op, args, result, self)


cdef dict _rules = {}             # (operator, class of modes) -> what is called instead


def set_rule(Operator op not None, type cls not None, rule):
    """Set what modes of a class do with an operator; None: as with any other. Returns the rule
    before."""
    before = _rules.pop((op, cls), None)
    if rule is not None:
        _rules[op, cls] = rule
    return before


cdef tuple as_called(Operator op, PyObject** args):
    """The arguments as a user would write them, (args, kwargs): without those that are defaults."""
    cdef int n = op.n_positional if op.n_positional < op.nargs else op.nargs
    cdef int i
    cdef dict named = {}
    while n > op.n_required and <object>args[n - 1] is op.defaults[n - 1]:
        n -= 1
    for i in range(n, op.nargs):
        if i >= op.n_positional and i != op.requires_grad_arg and (
                i < op.n_required or <object>args[i] is not op.defaults[i]):
            named[op.names[i]] = _as_written(args[i])
    if op.role == OUT:
        named["out"] = <object>args[op.nargs]
    return tuple([_as_written(args[i]) for i in range(n)]), named


cdef object _as_written(PyObject* value):
    return list(<object>value) if type(<object>value) is tuple else <object>value


cdef object _checked(Operator op, PyObject** args, object result, _Entry entry):
    """What a mode's method returned, as the result of a kernel."""
    if op.role == INPLACE and op.functional is not None:
        return <object>args[0]
    if op.role == OUT:
        return <object>args[op.nargs]
    if op.n_results == 0:
        return result
    if op.n_results == 1 and not (op.role == VIEW and op.schema.endswith("[]")):
        return _result(op, args, result, result, entry)
    if not isinstance(result, (tuple, list)) or op.n_results not in (
            -1, 1, len(result)):
        wanted = "tuple of tensors" if op.n_results < 2 else f"tuple of {op.n_results} tensors"
        raise errors.modes.wrong_result(op, entry.mode, entry.line, result, wanted)
    items = tuple([_result(op, args, item, result, entry) for item in result])
    return items if op.result_type is None else op.result_type(items)


cdef object _result(Operator op, PyObject** args, object item, object result, _Entry entry):
    cdef Tensor tensor
    cdef int i
    if item is None and op.n_results != 1:
        return None                   # a gradient that was not asked for
    if not is_tensor(<PyObject*>item):
        raise errors.modes.wrong_result(op, entry.mode, entry.line, item, "Tensor")
    tensor = <Tensor>item
    # The layers above give a result its history: a tensor that has one, or that the caller holds as
    # an argument, keeps its own.
    if tensor.grad_fn is not None or tensor.view is not None or requires_grad(tensor):
        return alias_of(tensor)
    for i in range(op.n_tensors):
        if args[op.tensors[i]] == <PyObject*>item:
            return alias_of(tensor)
    return tensor


def enter_mode(mode):
    """Turn a dispatch mode on in this thread, as the innermost."""
    watch(_Entry(mode))


def leave_mode(mode):
    """Turn a mode's innermost entry off.

    Raises RuntimeError if it is not on in this thread; or if another mode was entered later and is
    still on, which stays on.
    """
    cdef Watcher watcher = watching()
    cdef _Entry entry
    cdef _Entry inner = None
    while watcher is not None:
        if type(watcher) is _Entry:
            entry = <_Entry>watcher
            if entry.mode is mode:
                unwatch(entry)
                if inner is not None:
                    raise errors.modes.out_of_order(mode, entry.line, inner.mode, inner.line)
                return
            if inner is None:
                inner = entry
        watcher = watcher.outer
    raise errors.modes.not_on(mode)


def dispatch_modes():
    """The dispatch modes that are on in this thread, the outermost first."""
    cdef Watcher watcher = watching()
    cdef list modes = []
    while watcher is not None:
        if type(watcher) is _Entry:
            modes.append((<_Entry>watcher).mode)
        watcher = watcher.outer
    return modes[::-1]
