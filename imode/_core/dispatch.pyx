"""The dispatcher.

# Note [One owner of the thread state]
A `_Thread_local` in a header that two extension modules include becomes two variables. So this
module owns the only one; others call `tls()` once and keep the pointer.

The hot path starts at `call`: the union of the tensor arguments' keys, the thread-local sets, the
operator's mask, the highest bit, the kernel.

# Note [Who made a tensor]
A message about a tensor that was created where nothing is recorded names the operator that made it.
Each call and redispatch stores its operator's number in the thread's state; `wrap` copies it, with
the line that entered the guard, into the tensors that it creates there. A composite operator calls
others, so a new result gets the composite's number afterwards, the operator that the user called.
If no operator created the tensor, the same field says what did (`internals.wrap_array`).
"""
from sys import intern

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.bind cimport bound_redispatch, vectorcall_entry
from imode._core.device cimport CPU_DEVICE, META_DEVICE, as_device
from imode._core.keyset cimport (
    ALL_KEYS, AUTOGRAD, BIT_META, BIT_PRIVATEUSE1, BIT_SPARSE, DispatchKeySet, key_index,
    key_object)
from imode._core.layers cimport has_fallbacks, refresh
from imode._core.tensor cimport Tensor, is_tensor, owns_memory

from imode import errors
from imode._core.formats import strided
from imode._core.importing import import_late
from imode._core.provenance import operator_id

cdef extern from *:
    """
    #if defined(__ELF__) && defined(__GNUC__)
    static __thread imode_tls imode_state __attribute__((tls_model("initial-exec")));
    #else
    static _Thread_local imode_tls imode_state;
    #endif
    """
    TLS imode_state

cdef TLS* tls() noexcept nogil:
    return &imode_state


# ---- the call ----

cdef object call(Operator op, PyObject** args):
    cdef TLS* state = &imode_state
    cdef keyset_t keys = 0
    cdef PyObject* arg
    cdef int i
    state.operator_id = op.id
    if op.role >= COMPOSITE:
        return _call_composite(op, args) if op.role == COMPOSITE else _call_factory(op, args)
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg):
            keys |= (<Tensor>arg).keys
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            keys |= _list_keys(arg)
        elif arg != <PyObject*>None and not inference_mode_on(state):
            keys |= BIT_AD        # a number counts as a newly created tensor
    if op.role == OUT:
        keys |= _out_keys(args[op.nargs])
    if not keys & BACKENDS:
        keys |= BIT_CPU
    return _enter(state, op, with_autograd(keys, op.always), args)


cdef inline object _enter(TLS* state, Operator op, keyset_t keys, PyObject** args):
    keys = (keys | (state.included ^ DEFAULT_INCLUDED)) & ~state.excluded
    state.hops += 1
    if not keys & op.mask or state.watcher != NULL:
        return _slow_enter(op, keys & op.mask, args, keys & BACKENDS)
    keys &= op.mask
    return op.table[highest_key(keys)](op, keys, args)


cdef object _call_factory(Operator op, PyObject** args):
    """Call an operator whose `device=`, if given, decides on the backend, else its tensors."""
    cdef TLS* state = &imode_state
    cdef keyset_t keys = _keys_of(op, args)
    cdef object place = <object>args[op.device_arg]
    # Where there is a layout, it stands before the device.
    if op.device_arg and args[op.device_arg - 1] != <PyObject*>None and (
            args[op.device_arg - 1] != <PyObject*>strided and not keys & BIT_SPARSE
            and op.names[op.device_arg - 1] == "layout"):
        return import_late(".backends.sparse.making", "imode").in_layout(
            op, _args_tuple(args, op.nargs))
    if _says_pinned(op, args, op.device_arg + 1) or _says_pinned(op, args, op.device_arg + 2):
        raise errors.devices.no_pinned_memory()
    if place is None and not keys & BACKENDS:
        place = default_device()
        args[op.device_arg] = <PyObject*>place    # which this function holds
    elif place is not None and place is not CPU_DEVICE and place is not META_DEVICE:
        place = as_device(place)      # the default of a library's schema may be any
    if keys & BIT_SPARSE:             # its kernel looks at the device
        pass
    elif place is CPU_DEVICE:         # a device from outside gives the elements away itself
        keys = keys & ~<keyset_t>BIT_META if keys & BIT_PRIVATEUSE1 else (
            keys & ~<keyset_t>BACKENDS | BIT_CPU)
    elif place is not None:
        keys = keys & ~<keyset_t>BACKENDS | backend_bit(place)
    return _enter(state, op, keys or BIT_CPU, args)


cdef inline bint _says_pinned(Operator op, PyObject** args, int i):
    """Whether an argument is `pin_memory=True`."""
    return i < op.nargs and <object>args[i] is True and op.names[i] == "pin_memory"


cdef keyset_t _keys_of(Operator op, PyObject** args) noexcept:
    """The keys of a call's tensors; a number in the place of one counts as a new tensor."""
    cdef keyset_t keys = 0
    cdef PyObject* arg
    cdef int i
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg):
            keys |= (<Tensor>arg).keys
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            keys |= _list_keys(arg)
        elif arg != <PyObject*>None and not inference_mode_on(&imode_state):
            keys |= BIT_AD
    return with_autograd(keys, op.always)


cdef inline keyset_t backend_bit(object place) noexcept:
    """The key of a device."""
    if place is CPU_DEVICE:
        return BIT_CPU
    return BIT_META if place is META_DEVICE else BIT_PRIVATEUSE1


# ---- the device of what factories make ----

cdef object default_device():
    """The device of this thread's innermost `with` block, or its default one; None: the CPU."""
    cdef list devices
    if imode_state.devices == NULL:
        return None
    devices = <list>imode_state.devices
    return devices[len(devices) - 1]


cdef list _devices():
    cdef list made
    if imode_state.devices == NULL:
        made = [None]
        Py_INCREF(made)
        imode_state.devices = <PyObject*>made
    return <list>imode_state.devices


cdef int push_device(object place) except -1:
    _devices().append(place)
    return 0


cdef int pop_device() except -1:
    cdef list devices = _devices()
    if len(devices) > 1:
        devices.pop()
    return 0


def set_default_device(device):
    """Set the device of what this thread's factories make: a device, its name, or None: the CPU.

    A `with imode.device(...)` block counts before it. Raises where tensors cannot be there.

    >>> imode.set_default_device("meta")
    >>> imode.zeros(2)
    tensor(..., device='meta', size=(2,))
    >>> imode.set_default_device(None)
    """
    _devices()[0] = None if device is None else as_device(device)


def get_default_device():
    """The device of what this thread's factories make.

    >>> imode.get_default_device()
    device(type='cpu')
    """
    return default_device() or CPU_DEVICE


cdef object redispatch(Operator op, keyset_t keys, PyObject** args):
    imode_state.hops += 1
    imode_state.operator_id = op.id
    if not keys & op.mask or imode_state.watcher != NULL:
        return _slow_enter(op, keys & op.mask, args, keys)
    keys &= op.mask
    return op.table[highest_key(keys)](op, keys, args)


cdef keyset_t _list_keys(PyObject* tensors) noexcept:
    cdef keyset_t keys = 0
    cdef PyObject* item
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(<object>tensors)):
        item = PyTuple_GET_ITEM(<object>tensors, i)
        if is_tensor(item):
            keys |= (<Tensor>item).keys
    return keys


cdef keyset_t _out_keys(PyObject* out) noexcept:
    return (<Tensor>out).keys if is_tensor(out) else _list_keys(out)


cdef object _slow_enter(Operator op, keyset_t keys, PyObject** args, keyset_t asked):
    """Enter a kernel that is watched, or raise if there is no kernel for the call."""
    if keys == 0:
        if op.closed is not None:
            raise errors.library.closed(op.qualified_name, op.closed)
        have = [key_object(i).name for i in reversed(range(N_KEYS)) if op.kernels[i] is not None]
        if asked == 0 and op.outside:         # the mask of a kernel above left it out
            asked = _keys_of(op, args) & BACKENDS or BIT_CPU
        wanted = key_object(highest_key(asked)).name if asked else "none"
        raise errors.dispatcher.missing_kernel(op.qualified_name, wanted, have)
    return proceed(watching(), op, keys, args)


# ---- what watches ----

# Note [Watchers]
# `call` and `redispatch` test one pointer of the thread's state, the innermost watcher. If there is
# one, it is called instead of the kernel, and calls the next outer one, the last of which runs the
# kernel. So off, watchers cost nothing: the test that finds no kernel stands beside that one.
# Composite operators have no kernels; a watcher that wants to sees their calls as well.

@cython.binding(False)
cdef class Watcher:
    """What sees each kernel that its thread enters; made by compiled modules only."""

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        return proceed(self.outer, op, keys, args)

    cdef object compose(self, Operator op, PyObject** args):
        return proceed_composite(self.outer, op, args)

    cdef int before_node(self, str label) except -1:
        return 0 if self.outer is None else self.outer.before_node(label)

    cdef int after_node(self) except -1:
        return 0 if self.outer is None else self.outer.after_node()


cdef object proceed_composite(Watcher watcher, Operator op, PyObject** args):
    return _run_composite(op, args) if watcher is None else watcher.compose(op, args)


cdef object proceed(Watcher watcher, Operator op, keyset_t keys, PyObject** args):
    if watcher is not None:
        return watcher.enter(op, keys, args)
    return op.table[highest_key(keys)](op, keys, args)


cdef Watcher watching():
    return <Watcher>imode_state.watcher if imode_state.watcher != NULL else None


cdef Watcher set_watching(Watcher watcher):
    cdef Watcher before = watching()
    cdef PyObject* old = imode_state.watcher
    imode_state.watcher = NULL
    if watcher is not None:
        Py_INCREF(watcher)
        imode_state.watcher = <PyObject*>watcher
    Py_XDECREF(old)
    return before


cdef int watch(Watcher watcher) except -1:
    watcher.outer = watching()
    set_watching(watcher)
    return 0


cdef bint unwatch(Watcher watcher) except -1:
    cdef Watcher inner = watching()
    if inner is watcher:
        set_watching(watcher.outer)
        return True
    while inner is not None:
        if inner.outer is watcher:
            inner.outer = watcher.outer
            return True
        inner = inner.outer
    return False


cdef object _call_composite(Operator op, PyObject** args):
    if imode_state.watcher != NULL:
        return watching().compose(op, args)
    return _run_composite(op, args)


cdef inline object _run_composite(Operator op, PyObject** args):
    if op.fast is not None:
        result = op.fast.fn(op, 0, args)
        if result is not NotImplemented:
            if unrecorded(&imode_state):
                _name_results(op, result)
            return result
    cdef int before = imode_state.numbers_are_scalars
    cdef object function = op.function     # a library may take it back meanwhile
    imode_state.numbers_are_scalars = True
    try:
        result = PyObject_Vectorcall(<PyObject*>function, args, op.nargs, NULL)
    finally:
        imode_state.numbers_are_scalars = before
    if unrecorded(&imode_state):
        _name_results(op, result)
    return result


cdef void _name_results(Operator op, object result) noexcept:
    """Name a composite operator as the maker of its new results; see Note [Who made a tensor]."""
    cdef Py_ssize_t i
    if type(result) is Tensor:
        if Py_REFCNT(<PyObject*>result) == 1 and owns_memory(<Tensor>result):
            (<Tensor>result).maker = op.id
    elif type(result) is tuple:
        for i in range(PyTuple_GET_SIZE(result)):
            if is_tensor(PyTuple_GET_ITEM(result, i)) and (
                    Py_REFCNT(PyTuple_GET_ITEM(result, i)) == 1) and (
                    owns_memory(<Tensor>PyTuple_GET_ITEM(result, i))):
                (<Tensor>PyTuple_GET_ITEM(result, i)).maker = op.id


cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)
    object PyVectorcall_Call(object f, object args, object kwargs)
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept


cdef inline void _fill_defaults(Operator op, PyObject** args, int first) noexcept:
    cdef int i
    for i in range(first, op.nargs):
        args[i] = PyTuple_GET_ITEM(op.defaults, i)
    args[op.nargs] = inplace_target(op, args)


cdef object call1(Operator op, object a):
    cdef PyObject* args[MAX_ARGS + 1]
    args[0] = <PyObject*>a
    _fill_defaults(op, args, 1)
    return call(op, args)


cdef object call2(Operator op, object a, object b):
    cdef PyObject* args[MAX_ARGS + 1]
    args[0] = <PyObject*>a
    args[1] = <PyObject*>b
    _fill_defaults(op, args, 2)
    return call(op, args)


cdef object call3(Operator op, object a, object b, object c):
    cdef PyObject* args[MAX_ARGS + 1]
    args[0] = <PyObject*>a
    args[1] = <PyObject*>b
    args[2] = <PyObject*>c
    _fill_defaults(op, args, 3)
    return call(op, args)


# ---- kernels and operators ----

@cython.binding(False)
@cython.final
cdef class CKernel:
    """A compiled kernel and its configuration; made by compiled modules only."""

    def __init__(self):
        raise TypeError("CKernel is made by compiled modules, not from Python")

    @staticmethod
    cdef CKernel new(kernel_t fn, object config=None, void* data=NULL, str where="compiled"):
        cdef CKernel self = CKernel.__new__(CKernel)
        self.fn = fn
        self.data = data
        self.config = config
        self.where = where
        return self

    def beside(self, general, str where not None):
        """The same kernel with a `general` one, for what it does not serve; used by entries."""
        cdef CKernel kernel = CKernel.new(self.fn, self.config, self.data, where)
        kernel.general = general
        return kernel

    def after(self, CKernel first not None):
        """The same kernel, called by `first`, which looks at the arguments."""
        cdef CKernel kernel = self.beside(self.general, self.where)
        kernel.fn, kernel.inner = first.fn, self.fn
        return kernel

    def __repr__(self):
        return f"<kernel {self.where}>"


cdef CKernel recording(kernel_t fn, str where):
    cdef CKernel kernel = CKernel.new(fn, None, NULL, where)
    kernel.recording = True
    return kernel


cdef keyset_t always_entered(list kernels) noexcept:
    """An operator's `always`; see Note [Who carries Autograd]."""
    cdef CKernel kernel = <CKernel>kernels[AUTOGRAD]
    return 0 if kernel is None or kernel.recording else BIT_AD


cdef object _python_kernel(Operator op, keyset_t keys, PyObject** args):
    """Call a kernel written in Python with the tensors; below autograd if it is a backend's."""
    cdef int key = highest_key(keys)
    cdef CKernel kernel = <CKernel>op.kernels[key]
    cdef uint64_t before = imode_state.excluded
    cdef size_t n = op.nargs + (args[op.nargs] != NULL and op.role == OUT)
    if not BACKENDS >> key & 1:
        return kernel.config(DispatchKeySet.new(keys), *_args_tuple(args, n))
    imode_state.excluded = before | BIT_AUTOGRAD | BIT_AD
    try:
        return PyObject_Vectorcall(<PyObject*>kernel.config, args, n, NULL)
    finally:
        imode_state.excluded = before


cdef tuple _args_tuple(PyObject** args, size_t n):
    return tuple([<object>args[i] for i in range(n)])


cdef int _enable_vectorcall(Operator op) except -1:
    """Give the Operator type a vectorcall slot; `op` tells where the field lies."""
    imode_enable_vectorcall(Operator, <char*>&op.vectorcall - <char*><PyObject*>op)
    return 0


cdef extern from *:
    """
    static inline void imode_enable_vectorcall(PyObject* type, Py_ssize_t offset) {
        PyTypeObject* t = (PyTypeObject*)type;
        t->tp_vectorcall_offset = offset;
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(t);
    }
    """
    void imode_enable_vectorcall(object cls, Py_ssize_t offset)


cdef dict _registry = {}          # qualified name -> Operator, of imode's own
cdef dict _outside = {}           # likewise, of libraries: "mylib::mul"


cdef object _find = None          # find(name) imports the module that declares an operator
cdef object _load_all = None      # imports all modules of operators not yet imported


def set_loader(find, load_all):
    """Set the functions that import operators on demand; they know the modules, this one does not.
    """
    global _find, _load_all
    _find, _load_all = find, load_all


cdef Operator operator(str qualified_name):
    if qualified_name not in _registry and _find is not None:
        _find(qualified_name)
    return <Operator>_registry[qualified_name]


cdef bint enter_outside(Operator op):
    """Add a library's operator to the table; False if its name is taken."""
    return _outside.setdefault(op.qualified_name, op) is op


cdef int leave_outside(Operator op) except -1:
    """Take a library's operator from the table, if it is the one of that name there."""
    if _outside.get(op.qualified_name) is op:
        del _outside[op.qualified_name]
    return 0


cdef list declared_now():
    """All operators that are declared now, imode's own and libraries'."""
    return [*_registry.values(), *_outside.values()]


def count_operators():
    """How many operators are registered now."""
    return len(_registry)


def forget_operators(int known):
    """Undo all registrations but the first `known`: those of an import that failed."""
    while len(_registry) > known:
        _registry.popitem()


@cython.binding(False)
@cython.final
cdef class Operator:
    """An operator: its schema, its kernel per dispatch key, and the call.

    `imode.ops.add` is one. Calling it is the same as calling `imode.add`.

    >>> import imode
    >>> imode.ops.add.schema
    'add(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor'
    """

    def __cinit__(self, str name, str overload, str schema, *, object entry, list arguments,
                  int n_positional, int role, int n_results, object result_type=None,
                  object function=None, str namespace=""):
        cdef int i
        if len(arguments) > MAX_ARGS:
            raise ValueError(f"{name}: {len(arguments)} arguments, at most {MAX_ARGS}")
        # Interned, like the names in a caller's code: so a look-up compares pointers.
        self.name, self.overload, self.schema = intern(name), overload, schema
        self.entry, self.accepts, self.outside = entry, entry.out, namespace
        self.role, self.function = role, function
        self.nargs, self.n_positional = len(arguments), n_positional
        self.n_results, self.result_type = n_results, result_type
        self.varargs = self.requires_grad_arg = self.device_arg = -1
        self.kernels = [None] * N_KEYS
        names, defaults = [], []
        for i, (kind, argument, required, default, length, varargs) in enumerate(arguments):
            # An in-place target must be a tensor, even where the schema allows a number.
            self.kinds[i] = TENSOR if i == 0 and role == INPLACE and kind == OPERAND else kind
            self.lengths[i] = length
            names.append(intern(argument))
            defaults.append(default)
            if required:
                self.n_required = i + 1
            if varargs:
                self.varargs = i
            if kind <= OPERAND:
                self.tensors[self.n_tensors] = i
                self.n_tensors += 1
            if argument == "requires_grad":
                self.requires_grad_arg = i
            if kind == DEVICE_OPT and role == FUNCTIONAL:
                self.device_arg, self.role = i, FACTORY
        self.names, self.defaults = tuple(names), tuple(defaults)
        if not namespace and self.qualified_name in _registry:
            raise ValueError(f"operator {self.qualified_name!r} is declared twice")
        shown = name.lstrip("_")
        if namespace:
            shown = f"{namespace}::{shown}"
        self.id = operator_id(f"{shown}(out=)" if role == OUT else shown)
        if not _registry:
            _enable_vectorcall(self)
        self.vectorcall = <void*>vectorcall_entry
        if not namespace:
            _registry[self.qualified_name] = self
        if has_fallbacks():
            refresh(self)

    def __init__(self, *args, **kwargs):
        pass

    @property
    def qualified_name(self):
        """`name` or `name.overload`; of a library's, `namespace::` before it."""
        name = f"{self.name}.{self.overload}" if self.overload else self.name
        return f"{self.outside}::{name}" if self.outside else name

    @property
    def __name__(self):
        """`add.default`, `max.dim`: as PyTorch names an overload."""
        return f"{self.name}.{self.overload or 'default'}"

    @property
    def namespace(self):
        """Whose operator it is: a library's, or "aten", PyTorch's name for its own."""
        return self.outside or "aten"

    @property
    def overloadpacket(self):
        """All overloads of the name: `imode.ops.aten.<name>`, `imode.ops.<namespace>.<name>`."""
        from imode.library.namespaces import packet_of

        return packet_of(self.namespace, self.name)

    @property
    def tags(self):
        """What it is, or was said to be when it was defined: a list of `imode.Tag`."""
        from imode.library.tags import tags_of

        return tags_of(self)

    @property
    def _schema(self):
        """The schema with its arguments, as PyTorch shows it: a FunctionSchema."""
        from imode.library.function_schema import FunctionSchema

        return FunctionSchema(self)

    @property
    def kinds(self):
        """What each argument accepts: Kind (dispatch.pxd)."""
        return [<Kind>self.kinds[i] for i in range(self.nargs)]

    @property
    def is_composite(self):
        """Whether it is a Python function that calls other operators and has no kernels."""
        return self.role == COMPOSITE

    @property
    def is_view(self):
        """Whether its results are views of its first argument."""
        return self.role == VIEW

    @property
    def kernel_table(self):
        """DispatchKey -> where its kernel was registered ("fallthrough" where there is none and a
        lower key's runs)."""
        return {key_object(i): "fallthrough" if self.kernels[i] is None else self.kernels[i].where
                for i in reversed(range(N_KEYS))
                if self.kernels[i] is not None or not BACKENDS >> i & 1}

    @property
    def differentiable(self):
        """Whether it has a derivative."""
        return self.derivative is not None

    def has_kernel_for(self, key):
        """Whether a kernel is registered for `key` (fallthroughs don't count)."""
        return self.kernels[key_index(key)] is not None

    def register(self, key, kernel, where="Python"):
        """Register `kernel` for a dispatch key and return the one it replaces (or None).

        A backend's kernel gets the arguments in the schema's order, as tensors and Python values; a
        kernel of a higher key gets before them the DispatchKeySet to redispatch with. None removes
        the kernel: a fallthrough. It is the operator's own; those of libraries stay on top of it.
        """
        cdef int i = key_index(key)
        cdef CKernel compiled
        if kernel is None or isinstance(kernel, CKernel):
            compiled = kernel
        elif callable(kernel):
            compiled = CKernel.new(_python_kernel, kernel, NULL, where)
        else:
            raise TypeError(f"register(): expected a callable, got {type(kernel).__name__}")
        if self.own is not None:
            before = self.own[i]
            self.own[i] = compiled
            refresh(self)
            return before
        before = self.kernels[i]
        self.kernels[i] = compiled
        self.always = always_entered(self.kernels)
        if compiled is None:
            self.table[i] = NULL
            self.mask &= ~(<keyset_t>1 << i)
            return before
        self.table[i] = compiled.fn
        self.mask |= <keyset_t>1 << i
        return before

    def redispatch(self, keyset, *args, **kwargs):
        """Run the kernel of the highest key in `keyset`: what a kernel of a higher key calls.

        The arguments are bound as in a call; the thread-local sets are not consulted.
        """
        if not isinstance(keyset, DispatchKeySet):
            raise TypeError(
                f"redispatch(): expected a DispatchKeySet, got {type(keyset).__name__}")
        return bound_redispatch(self, (<DispatchKeySet>keyset).bits, args, kwargs)

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    def _link(self, *, Operator functional=None, Operator inplace=None, Operator out=None,
              Operator next_overload=None, derivative=None, CKernel fast=None):
        """Set the related operators and the derivative; used once, while the table is built."""
        self.functional = functional or self.functional
        self.inplace = inplace or self.inplace
        self.out = out or self.out
        self.next_overload = next_overload or self.next_overload
        self.fast = fast or self.fast
        if derivative is not None:
            self.derivative = derivative

    def _chain(self, Operator next_overload):
        """Set, or take back, the overload that is tried next; for libraries."""
        self.next_overload = next_overload

    def explain(self, *args, **kwargs):
        """Print what a call with these arguments would do, without making it.

        The keys of each argument, the thread's sets, the mask, each kernel that would be entered
        with its file and line, whether the fast case serves and if not why, and which copies would
        be made. Returns the same facts: an `imode._core.explain.Explanation`.

        >>> import imode
        >>> facts = imode.ops.neg.explain(imode.ones(2))  # doctest: +ELLIPSIS
        neg(Tensor self) -> Tensor
        ...
        >>> [step.key for step in facts.kernels]
        [DispatchKey.Autograd, DispatchKey.CPU]
        """
        from imode._core.explain import explain

        return explain(self, args, kwargs)

    def kernel_of(self, key):
        """The kernel that is registered for a key, or None."""
        return self.kernels[key_index(key)]

    def _swap_cases(self, CKernel fast, function):
        """Replace a composite operator's fast and general case; returns the previous ones."""
        before = self.fast, self.function
        self.fast, self.function = fast, function
        return before

    def __getattr__(self, name):
        # pickle refers to the built-in function imode.add as attribute `add` of its operator.
        if name == self.name and not self.outside:
            return function_that_calls(self, name)
        raise errors.no_attribute(type(self).__name__, name)

    def __repr__(self):
        return f"<operator {self.outside}::{self.schema}>" if self.outside else (
            f"<operator {self.schema}>")

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __reduce__(self):
        return get_operator, (self.qualified_name,)


def function_that_calls(called, name):
    """The public function of a name whose `__self__` is an operator, or an alias of one."""
    import imode

    for space in (imode, imode.nn.functional):
        function = getattr(space, name, None)
        if getattr(function, "__self__", None) is called:
            return function
    return getattr(imode, name)


def get_operator(name):
    """The operator of a qualified name ("add", "max.dim", "mylib::mul"); KeyError if there is none.
    """
    return _outside[name] if "::" in name else operator(name)


def all_operators():
    """A dict from qualified name to every registered operator, in order of registration."""
    if _load_all is not None:
        _load_all()
    return dict(_registry)


# ---- the thread-local state, from Python ----

def included_keys():
    """The keys that this thread adds to every call: a DispatchKeySet.

    >>> import imode
    >>> imode.included_keys()
    DispatchKeySet(ADInplaceOrView)
    """
    return DispatchKeySet.new(imode_state.included ^ DEFAULT_INCLUDED)


def excluded_keys():
    """The keys that this thread removes from every call: a DispatchKeySet.

    >>> import imode
    >>> with imode.inference_mode():
    ...     imode.excluded_keys()
    DispatchKeySet(Autograd)
    """
    return DispatchKeySet.new(imode_state.excluded)


def set_local_keys(DispatchKeySet included not None, DispatchKeySet excluded not None):
    """Set this thread's included and excluded keys.

    Raises RuntimeError, and changes nothing, for the illegal state: ADInplaceOrView dropped from
    the included set while Autograd is not excluded.

    >>> import imode
    >>> before = imode.included_keys(), imode.excluded_keys()
    >>> imode.set_local_keys(before[0], imode.DispatchKeySet("Autograd"))  # as in a kernel
    >>> imode.set_local_keys(*before)
    """
    if not included.bits & BIT_AD and not excluded.bits & BIT_AUTOGRAD:
        raise errors.dispatcher.illegal_state()
    imode_state.included = included.bits ^ DEFAULT_INCLUDED
    imode_state.excluded = excluded.bits


def last_operator():
    """The number, in provenance.py, of the operator that this thread called last."""
    return imode_state.operator_id


def is_grad_enabled():
    """Whether operators on tensors that require grad are being recorded in this thread.

    >>> import imode
    >>> with imode.no_grad():
    ...     imode.is_grad_enabled()
    False
    """
    return not imode_state.no_grad


def is_inference_mode_enabled():
    """Whether inference mode is on in this thread.

    >>> with imode.inference_mode():
    ...     imode.is_inference_mode_enabled()
    True
    """
    return bool(inference_mode_on(&imode_state))


# ---- for a look inside ----

def keys_of_call(Operator op not None, list values not None, target):
    """What `call` computes: the keys of each argument that counts, by position, and of all.

    Returns (a dict from position, or "out", to DispatchKeySet; all of them together).
    """
    cdef keyset_t keys = 0
    cdef keyset_t own
    cdef PyObject* arg
    cdef int i
    cdef dict each = {}
    for i in range(op.n_tensors):
        value = values[op.tensors[i]]
        arg = <PyObject*>value
        if is_tensor(arg):
            own = (<Tensor>arg).keys
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            own = _list_keys(arg)
        elif value is not None and not inference_mode_on(&imode_state):
            own = BIT_AD
        else:
            continue
        each[op.tensors[i]] = DispatchKeySet.new(own & ALL_KEYS)
        keys |= own
    if op.role == OUT and target is not None:
        own = _out_keys(<PyObject*>target)
        each["out"] = DispatchKeySet.new(own & ALL_KEYS)
        keys |= own
    place = None if op.device_arg < 0 else values[op.device_arg]
    if place is None and op.device_arg >= 0 and not keys & BACKENDS:
        place = default_device()
    if place is not None:
        keys = keys & ~<keyset_t>BACKENDS | backend_bit(as_device(place))
    elif not keys & BACKENDS:
        keys |= BIT_CPU
    return each, DispatchKeySet.new(with_autograd(keys, op.always) & ALL_KEYS)


def mask_of(Operator op not None):
    """The keys with a kernel that is not a fallthrough."""
    return DispatchKeySet.new(op.mask)


def function_of(op):
    """The Python function of a composite operator, or of a kernel that was registered; or None."""
    if isinstance(op, Operator):
        return (<Operator>op).function
    return (<CKernel?>op).config if (<CKernel>op).fn == _python_kernel else None


def fast_case(Operator op not None):
    """A composite operator's fast case, or None."""
    return op.fast


def try_fast(Operator op not None, list values not None):
    """Run a composite operator's fast case; returns whether it serves."""
    cdef PyObject* args[MAX_ARGS + 1]
    cdef int i
    for i in range(op.nargs):
        args[i] = <PyObject*>values[i]
    args[op.nargs] = inplace_target(op, args)
    return op.fast.fn(op, 0, args) is not NotImplemented


@cython.binding(False)
@cython.final
cdef class _Unseen:
    """A `with` block in which this thread's work is neither counted, traced nor given to hooks."""

    cdef TLS before
    cdef Watcher watcher

    def __enter__(self):
        self.before = imode_state
        self.watcher = set_watching(None)
        imode_state.saving = NULL

    def __exit__(self, *exc_info):
        set_watching(self.watcher)
        imode_state.saving = self.before.saving
        imode_state.operator_id = self.before.operator_id
        imode_state.hops, imode_state.nodes = self.before.hops, self.before.nodes
        imode_state.views, imode_state.bumps = self.before.views, self.before.bumps
        imode_state.sequence = self.before.sequence


def unseen():
    """A `with` block in which this thread's work is neither counted, traced nor given to hooks."""
    return _Unseen()


def read_counters():
    """This thread's running totals: (hops, nodes, views, version bumps)."""
    return imode_state.hops, imode_state.nodes, imode_state.views, imode_state.bumps
