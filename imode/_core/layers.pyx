"""Kernels that libraries lay over an operator's own, and take back in any order.

# Note [Layers]
A key of an operator has its own kernel, if any, and on top of it the layers of libraries; the last
one runs. What the call reads (`kernels`, `table`, `mask`) is set from them by `refresh`, at
registration, so a call costs the same with libraries as without. A backend without a kernel takes
the last layer for all backends, then the last one made of other operators, then the fallback for
the key.

A CKernel that stands for a layer keeps the configuration of the operator's own kernel: a compiled
kernel looks at the table for it, and may be in the middle of a call when another thread lays a
layer over it.

`refresh` builds the new table first, then exchanges it without running anything that could run
Python: no thread, signal or finalizer sees half of a change. What was there is released last.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport root
from imode._core.dispatch cimport (
    COMPOSITE, INPLACE, MAX_ARGS, OUT, TENSOR_LIST, TLS, VIEW, CKernel, Operator, always_entered,
    declared_now, enter_outside, kernel_t, leave_outside, tls)
from imode._core.keyset cimport (
    AD_INPLACE_OR_VIEW, AUTOGRAD, BACKENDS, BIT_AD, BIT_AUTOGRAD, CPU, DispatchKeySet, highest_key,
    key_index, keyset_t)
from imode._core.live cimport alive
from imode._core.making cimport alias_of as new_alias
from imode._core.tensor cimport Tensor, is_tensor, storage
from libc.stdint cimport uint64_t

from imode import errors

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)
    bint PyFloat_CheckExact(PyObject*) noexcept
    bint PyUnicode_CheckExact(PyObject*) noexcept
    bint PyList_CheckExact(PyObject*) noexcept
    bint PyTuple_CheckExact(PyObject*) noexcept

cdef bint _debug = alive() is not None    # undeclared writes and views are refused at the call


@cython.binding(False)
@cython.final
cdef class Signature:
    """What a schema says of memory and results."""

    def __cinit__(self, tuple written, tuple results, tuple alias_of, tuple identical,
                  tuple checked=(), bint listed=False, result_type=None):
        self.written, self.results, self.alias_of = written, results, alias_of
        self.identical, self.checked, self.listed = identical, checked, listed
        self.result_type = result_type
        self.functional = not written and all([i < 0 for i in alias_of])
        self.formulas = ()


@cython.binding(False)
@cython.final
cdef class Layer:
    """One kernel from outside."""

    def __cinit__(self, function, str where, str key, *, bint with_keyset=False,
                  bint fallback=False, bint exclusive=False):
        self.function, self.where, self.key = function, where, key
        self.with_keyset, self.fallback, self.exclusive = with_keyset, fallback, exclusive
        self.implicit = key == "CompositeImplicitAutograd"


# ---- what is registered ----

cdef list _fallbacks = [()] * N_KEYS      # per key, a tuple of Layers
cdef bint _any_fallback = False


cdef unsigned long _changes = 0           # so far: a finalizer may make one during a refresh


cdef bint has_fallbacks() noexcept:
    return _any_fallback


def slot_of(str key):
    """The place of a key's layers; ValueError for what is no key."""
    if key == "CompositeImplicitAutograd":
        return <int>IMPLICIT
    if key == "CompositeExplicitAutograd":
        return <int>EXPLICIT
    return key_index(key)


def lay(Operator op not None, int slot, Layer layer not None):
    """Lay a kernel over those of a slot."""
    global _changes
    cdef list layers
    _check_slot(slot, N_SLOTS)
    if op.closed is not None:
        raise errors.library.closed(op.qualified_name, op.closed)
    if op.layers is None:
        op.layers = [()] * N_SLOTS
    if op.own is None:
        op.own = list(op.kernels)
    layers = op.layers
    while True:                   # a finalizer that runs meanwhile may change them
        before = <tuple>layers[slot]
        after = before + (layer,)
        if layers[slot] is before:
            break
    layers[slot] = after
    _changes += 1
    refresh(op)


cdef int _check_slot(int slot, int end) except -1:
    if not 0 <= slot < end:
        raise IndexError(slot)
    return 0


def lift(Operator op not None, int slot, Layer layer not None):
    """Take a kernel back; nothing if it is not there."""
    global _changes
    cdef list layers = op.layers
    _check_slot(slot, N_SLOTS)
    if layers is None:
        return
    while True:
        before = <tuple>layers[slot]
        after = tuple([other for other in before if other is not layer])
        if layers[slot] is before:
            break
    layers[slot] = after
    _changes += 1
    refresh(op)


def lay_fallback(int slot, Layer layer not None):
    """Lay a kernel under those of all operators for a key, also of those declared later."""
    global _any_fallback, _changes
    _check_slot(slot, N_KEYS)
    _fallbacks[slot] = <tuple>_fallbacks[slot] + (layer,)
    _any_fallback = True
    _changes += 1
    _refresh_all()


def lift_fallback(int slot, Layer layer not None):
    """Take a fallback back; nothing if it is not there."""
    global _any_fallback, _changes
    _check_slot(slot, N_KEYS)
    _fallbacks[slot] = tuple([other for other in <tuple>_fallbacks[slot] if other is not layer])
    _any_fallback = any(_fallbacks)
    _changes += 1
    _refresh_all()


cdef int _refresh_all() except -1:
    for op in declared_now():
        refresh(<Operator>op)
    return 0


def enter(Operator op not None, Signature signature not None):
    """Add a library's operator to the table; False if its name is taken."""
    op.signature = signature
    return enter_outside(op)


def leave(Operator op not None, str library not None):
    """Take a library's operator back: calls that run go on, later ones raise."""
    global _changes
    op.closed = library
    _changes += 1
    op.layers = None
    op.own = [None] * len(op.kernels)
    refresh(op)
    leave_outside(op)


def layers_of(Operator op not None, int slot):
    """The layers of a slot, the one that counts last."""
    _check_slot(slot, N_SLOTS)
    return () if op.layers is None else op.layers[slot]


def add_formula(Operator op not None, formula):
    """Give a library's operator a derivative, which counts until it is taken back."""
    (<Signature>op.signature).formulas += (formula,)


def drop_formula(Operator op not None, formula):
    """Take a derivative back; nothing if it is not there."""
    cdef Signature signature = op.signature
    signature.formulas = tuple([other for other in signature.formulas if other is not formula])


def check_calls(bint on):
    """Refuse undeclared writes and views at the call, as debug builds do; returns what was set."""
    global _debug
    before, _debug = _debug, on
    return before


def shares_memory(Tensor a not None, Tensor b not None):
    """Whether two tensors lie in the same memory."""
    return share_memory(a, b)


def signature(Operator op not None):
    """The Signature of an operator."""
    return signature_of(op)


# ---- from the layers to the table ----

cdef int refresh(Operator op) except -1:
    """Set what calls read from what is registered now; see Note [Layers]."""
    cdef kernel_t table[N_KEYS]
    cdef keyset_t mask = 0
    cdef list kernels, before
    cdef CKernel kernel
    cdef unsigned long at
    cdef int i
    if op.role == COMPOSITE:
        return _refresh_composite(op)
    if op.own is None:
        op.own = list(op.kernels)
    while True:                   # until nothing has changed while the new table was made
        at = _changes
        kernels = [_decide(op, i) for i in range(N_KEYS)]
        if at == _changes:
            break
    for i in range(N_KEYS):
        kernel = <CKernel>kernels[i]
        table[i] = NULL
        if kernel is not None:
            table[i] = kernel.fn
            mask |= <keyset_t>1 << i
    before = op.kernels
    op.kernels = kernels
    for i in range(N_KEYS):
        op.table[i] = table[i]
    op.mask, op.always = mask, always_entered(kernels)
    del before                        # last: this may run other code
    return 0


cdef CKernel _decide(Operator op, int key):
    cdef CKernel own = <CKernel>op.own[key]
    cdef list layers = op.layers
    if op.closed is not None:
        return None
    if layers is not None:
        if layers[key]:
            return _as_kernel(own, _last(layers[key]))
        if BACKENDS >> key & 1:
            if own is None and layers[EXPLICIT]:
                return _as_kernel(own, _last(layers[EXPLICIT]))
            if own is None and layers[IMPLICIT]:
                return _as_kernel(own, _last(layers[IMPLICIT]))
        elif key in (AD_INPLACE_OR_VIEW, AUTOGRAD) and layers[IMPLICIT] and (
                op.own[CPU] is None and not layers[CPU] and not layers[EXPLICIT]):
            return _as_kernel(own, _last(layers[IMPLICIT])) if key == AUTOGRAD else None
    if own is None and _fallbacks[key]:
        return _as_kernel(own, _last(_fallbacks[key]))
    return own


cdef Layer _last(object layers):
    return <Layer>(<tuple>layers)[len(<tuple>layers) - 1]


cdef CKernel _as_kernel(CKernel own, Layer layer):
    """The CKernel of a layer, with the configuration of what it lies on; see Note [Layers]."""
    cdef CKernel kernel
    if layer.function is None:
        return None
    if isinstance(layer.function, CKernel):
        return <CKernel>layer.function
    kernel = CKernel.new(_run_layer, None, NULL, layer.where)
    if own is not None:
        kernel.config, kernel.data, kernel.inner = own.config, own.data, own.inner
        kernel.general = own.general
    kernel.outside = layer
    return kernel


cdef int _refresh_composite(Operator op) except -1:
    """A composite operator has no kernels: a layer takes the place of its function."""
    layers = () if op.layers is None else <tuple>op.layers[IMPLICIT]
    before = op.fast, op.function         # released last
    if op.cases is None and layers:
        op.cases = before
    if layers:
        function = _Composite(op, _last(layers))
        op.fast, op.function = None, function
    elif op.cases is not None:
        op.fast, op.function = op.cases
        op.cases = None
    del before
    return 0


@cython.binding(False)
@cython.final
cdef class _Composite:
    # The function of a composite operator that a library replaced.
    cdef Operator op
    cdef Layer layer

    def __cinit__(self, Operator op, Layer layer):
        self.op, self.layer = op, layer

    def __call__(self, *args):
        cdef PyObject* values[MAX_ARGS + 1]
        cdef int i
        for i in range(self.op.nargs):
            values[i] = PyTuple_GET_ITEM(args, i)
        values[self.op.nargs] = NULL
        return _call_function(self.op, 0, values, self.layer)


# ---- the call ----

cdef object _run_layer(Operator op, keyset_t keys, PyObject** args):
    """The kernel of a layer: its function gets tensors, and what it returns is checked."""
    cdef CKernel kernel = <CKernel>op.kernels[highest_key(keys)]    # held while it runs
    cdef Layer layer = <Layer>kernel.outside
    cdef TLS* state = tls()
    cdef uint64_t before = state.excluded
    cdef bint backend = BACKENDS >> highest_key(keys) & 1
    cdef object result
    if op.signature is not None and (<Signature>op.signature).checked:
        _check_lists(op, args)
    if not backend or layer.implicit:
        result = _call_function(op, keys, args, layer)
        return _checked(op, layer, result, args, False)
    copies = _copies(op, args) if _debug else None
    state.excluded = before | BIT_AUTOGRAD | BIT_AD
    try:
        result = _call_function(op, keys, args, layer)
    finally:
        state.excluded = before
    if copies is not None:
        _refuse_writes(op, layer, args, copies)
    return _checked(op, layer, result, args, True)


cdef int _check_lists(Operator op, PyObject** args) except -1:
    """Lists of floats and the like, which binding takes as they are."""
    cdef int at
    for at, kind in (<Signature>op.signature).checked:
        value = <object>args[at]
        if value is None and kind.endswith("?"):
            continue
        if not isinstance(value, (list, tuple)) or not all(
                [isinstance(item, _PYTHON_TYPES[kind.partition("[")[0]]) for item in value]):
            raise errors.library.wrong_list(op, at, kind, value)
    return 0


cdef inline bint _is_default(PyObject* value, PyObject* default) noexcept:
    if value == default:
        return True
    if PyFloat_CheckExact(value) and PyFloat_CheckExact(default):
        return <double><object>value == <double><object>default
    if PyUnicode_CheckExact(value) and PyUnicode_CheckExact(default):
        return <str><object>value == <str><object>default
    return False


cdef object _call_function(Operator op, keyset_t keys, PyObject** args, Layer layer):
    """Call a layer's function as PyTorch does: without what is its default at the end, and what is
    keyword-only by keyword."""
    cdef PyObject* values[MAX_ARGS + 3]
    cdef PyObject** rest
    cdef int n = op.n_positional
    cdef int i
    cdef int first = 0
    cdef int n_named = 0
    cdef list names = None
    cdef object key_set = None
    if layer.fallback:
        values[first] = <PyObject*>op
        first += 1
    if layer.with_keyset:
        key_set = DispatchKeySet.new(keys)
        values[first] = <PyObject*>key_set
        first += 1
    rest = values + first
    if n > op.nargs:
        n = op.nargs
    while n > op.n_required and _is_default(args[n - 1], PyTuple_GET_ITEM(op.defaults, n - 1)):
        n -= 1
    for i in range(n):
        rest[i] = args[i]
    for i in range(op.n_positional, op.nargs):
        if not _is_default(args[i], PyTuple_GET_ITEM(op.defaults, i)):
            if names is None:
                names = []
            names.append(<object>PyTuple_GET_ITEM(op.names, i))
            rest[n + n_named] = args[i]
            n_named += 1
    if op.role == OUT:
        if names is None:
            names = []
        names.append("out")
        rest[n + n_named] = args[op.nargs]
    if names is None:
        return PyObject_Vectorcall(<PyObject*>layer.function, values, first + n, NULL)
    keywords = tuple(names)
    return PyObject_Vectorcall(<PyObject*>layer.function, values, first + n, <PyObject*>keywords)


# ---- what a kernel may return ----

cdef Signature signature_of(Operator op):
    """What an operator's schema says; of imode's own, found when first asked for."""
    cdef Signature found
    if op.signature is not None:
        return <Signature>op.signature
    if op.role == INPLACE:
        found = Signature((0,), ("Tensor",), (0,), (True,))
    elif op.role == VIEW and op.n_results == 1 and "[]" in op.schema.rpartition("->")[2]:
        found = Signature((), ("views",), (op.tensors[0],), (False,))
    elif op.n_results == 1:
        at = op.tensors[0] if op.role == VIEW else -1
        found = Signature((), ("Tensor",), (at,), (False,))
    elif op.n_results > 1:
        several = op.n_results
        at = op.tensors[0] if op.role == VIEW else -1
        found = Signature((), ("Tensor?",) * several, (at,) * several, (False,) * several,
                          result_type=op.result_type)
    elif op.n_results < 0:
        found = Signature((), ("Tensor[]",), (-1,), (False,), listed=True)
    else:
        found = Signature((), ("any",), (-1,), (False,))
    op.signature = found
    return found


cdef object _checked(Operator op, Layer layer, object result, PyObject** args, bint backend):
    """A kernel's result, if it is what the schema says."""
    cdef Signature signature = signature_of(op)
    cdef Py_ssize_t i, n
    if op.role == OUT:
        if <PyObject*>result != args[op.nargs] and not _same_items(result, args[op.nargs]):
            raise errors.library.not_the_argument(op, layer, "out", result)
        return <object>args[op.nargs]
    n = PyTuple_GET_SIZE(signature.results)
    if n == 1:
        result = _checked_one(op, layer, signature, 0, result, args, backend)
        if backend and layer.exclusive and type(result) is list:
            _refuse_shared(op, layer, tuple(result), args)
        return result
    if n == 0:
        if result is not None:
            raise errors.library.wrong_result(op, layer, result)
        return None
    if not (PyTuple_CheckExact(<PyObject*>result) or PyList_CheckExact(<PyObject*>result)
            or isinstance(result, (tuple, list))):
        raise errors.library.wrong_result(op, layer, result)
    if len(result) != n:
        raise errors.library.wrong_number(op, layer, n, len(result))
    items = tuple([_checked_one(op, layer, signature, i, value, args, backend)
                   for i, value in enumerate(result)])
    if backend and (layer.exclusive or not op.outside or _debug):
        _refuse_shared(op, layer, items, args)
    if signature.result_type is not None:
        return signature.result_type(items)
    return items


cdef bint _same_items(object result, PyObject* out):
    """Whether a kernel with several out= tensors returns just these."""
    if not isinstance(result, (tuple, list)) or not isinstance(<object>out, tuple):
        return False
    return len(result) == len(<object>out) and all(
        [a is b for a, b in zip(result, <object>out)])


cdef object _checked_one(Operator op, Layer layer, Signature signature, Py_ssize_t i, object value,
                         PyObject** args, bint backend):
    cdef str kind = <str>PyTuple_GET_ITEM(signature.results, i)
    cdef int at
    if is_tensor(<PyObject*>value) and kind in ("Tensor", "Tensor?", "views"):
        at = <int>signature.alias_of[i]
        if at >= 0:
            return _checked_alias(op, layer, signature, i, at, <Tensor>value, args)
        if backend:
            if op.outside and not layer.exclusive and not _debug:
                # PyTorch allows an argument as it came; it must not become its own history.
                return new_alias(<Tensor>value) if _given(op, args, value) else value
            _refuse_memory(op, layer, <Tensor>value, args)
        return value
    if kind == "Tensor?" and value is None:
        return None
    if kind == "Tensor[]" and isinstance(value, (list, tuple)):
        for item in value:
            if not is_tensor(<PyObject*>item):
                raise errors.library.wrong_result(op, layer, value, i)
            if backend and <int>signature.alias_of[i] < 0 and (
                    layer.exclusive or not op.outside or _debug):
                _refuse_memory(op, layer, <Tensor>item, args)
        return list(value) if op.outside else tuple(value)
    if kind == "views" and isinstance(value, (list, tuple)):
        at = <int>signature.alias_of[i]
        for item in value:
            if not is_tensor(<PyObject*>item):
                raise errors.library.wrong_result(op, layer, value, i)
        return tuple([_checked_alias(op, layer, signature, i, at, <Tensor>item, args)
                      for item in value])
    if kind == "any" or (kind in _PYTHON_TYPES and isinstance(value, _PYTHON_TYPES[kind])):
        return value
    raise errors.library.wrong_result(op, layer, value, i)


cdef dict _PYTHON_TYPES = {
    "int": int, "float": (float, int), "bool": bool, "str": str, "Scalar": (int, float, complex),
}


cdef object _checked_alias(Operator op, Layer layer, Signature signature, Py_ssize_t i, int at,
                           Tensor value, PyObject** args):
    """A result that has the memory of an argument, by the schema."""
    if signature.identical[i]:
        if <PyObject*>value != args[at]:
            raise errors.library.not_the_argument(op, layer, op.names[at], value)
        return value
    if op.outside:
        return value              # may be a copy, as that of contiguous(): then no view is recorded
    if not is_tensor(args[at]) or not share_memory(value, <Tensor>args[at]):
        raise errors.library.no_view(op, layer, op.names[at])
    return new_alias(value) if <PyObject*>value == args[at] else value


cdef bint share_memory(Tensor a, Tensor b) noexcept:
    return root(a.array) == root(b.array)


cdef bint _given(Operator op, PyObject** args, object value) noexcept:
    """Whether a tensor is one of the arguments itself."""
    cdef PyObject* arg
    cdef Py_ssize_t k
    cdef int i
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if arg == <PyObject*>value:
            return True
        if op.kinds[op.tensors[i]] == TENSOR_LIST:
            for k in range(PyTuple_GET_SIZE(<object>arg)):
                if PyTuple_GET_ITEM(<object>arg, k) == <PyObject*>value:
                    return True
    return False


cdef str _sharing(Operator op, PyObject** args, Tensor value):
    """The name of the argument whose memory a tensor has, or None."""
    cdef PyObject* arg
    cdef Py_ssize_t k
    cdef int i
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg):
            if share_memory(value, <Tensor>arg):
                return <str>op.names[op.tensors[i]]
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            for k in range(PyTuple_GET_SIZE(<object>arg)):
                if is_tensor(PyTuple_GET_ITEM(<object>arg, k)) and (
                        share_memory(value, <Tensor>PyTuple_GET_ITEM(<object>arg, k))):
                    return <str>op.names[op.tensors[i]]
    return None


cdef int _refuse_memory(Operator op, Layer layer, Tensor value, PyObject** args) except -1:
    cdef str name = _sharing(op, args, value)
    if name is not None:
        raise errors.library.undeclared_alias(op, layer, name)
    return 0


cdef int _refuse_shared(Operator op, Layer layer, tuple items, PyObject** args) except -1:
    """Results that share memory with each other."""
    cdef Py_ssize_t i, k
    cdef Signature signature = signature_of(op)
    for i in range(len(items)):
        for k in range(i):
            if is_tensor(PyTuple_GET_ITEM(items, i)) and is_tensor(PyTuple_GET_ITEM(items, k)):
                if (signature.listed or signature.alias_of[i] < 0) and share_memory(
                        <Tensor>items[i], <Tensor>items[k]):
                    raise errors.library.undeclared_alias(op, layer, None)
    return 0


# ---- debug builds: what the schema does not say ----

cdef list _copies(Operator op, PyObject** args):
    """The bytes of the tensors that the schema does not say are written."""
    cdef Signature signature = signature_of(op)
    cdef int i
    found = []
    if op.role != OUT:
        for i in range(op.n_tensors):
            if is_tensor(args[op.tensors[i]]) and op.tensors[i] not in signature.written:
                found.append((op.tensors[i], storage(<Tensor>args[op.tensors[i]]).tobytes()))
    return found


cdef int _refuse_writes(Operator op, Layer layer, PyObject** args, list copies) except -1:
    cdef int at
    for at, before in copies:
        if storage(<Tensor>args[at]).tobytes() != before and not _written_too(op, args, at):
            raise errors.library.undeclared_write(op, layer, op.names[at])
    return 0


cdef bint _written_too(Operator op, PyObject** args, int at):
    """Whether an argument has the memory of one that the schema says is written."""
    cdef int i
    for i in signature_of(op).written:
        if is_tensor(args[i]) and share_memory(<Tensor>args[at], <Tensor>args[i]):
            return True
    return False
