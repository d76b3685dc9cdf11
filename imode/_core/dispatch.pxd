# The dispatcher: the thread-local state, the operator table, and the call.
# See dispatch.pyx. Thread rules: only its own thread uses a TLS; the table changes with the GIL
# held.
from cpython.object cimport PyObject
from imode._core.keyset cimport (
    BACKENDS, BIT_AD, BIT_AUTOGRAD, BIT_CPU, N_KEYS, highest_key, keyset_t, with_autograd)
from libc.stdint cimport uint64_t

cdef extern from "tls.h":
    ctypedef struct TLS "imode_tls":
        uint64_t included         # keys added to every call, XOR the default {ADInplaceOrView}
        uint64_t excluded         # keys removed from every call
        int no_grad               # grad mode is off
        int guard_id              # line that entered inference mode, else no_grad; 0: unknown
        int operator_id           # the operator called last; see Note [Who made a tensor]
        int numbers_are_scalars   # a formula or composite runs; see Note [Numbers in formulas]
        uint64_t hops             # kernels entered
        uint64_t nodes            # graph nodes made
        uint64_t sequence         # the number of the next graph node
        uint64_t views            # view records made
        uint64_t bumps            # version bumps
        PyObject* guard_top       # the innermost guard that is on, a guard.Guard; NULL: none
        PyObject* watcher         # the innermost Watcher that is on, owned; NULL: none
        PyObject* task            # the call of backward that runs here, autograd's Task; NULL: none
        PyObject* saving          # default hooks of saved tensors, autograd's Defaults; NULL: none
        PyObject* devices         # list: the default device, those of `with` blocks, owned; NULL
        int depth                 # how many nested calls of backward run here
        int single_threaded       # set_multithreading_enabled(False); has no effect
        int inference_at          # line that entered inference mode last; 0: none

cdef enum:
    MAX_ARGS = 24                 # most arguments of an operator
    DEFAULT_INCLUDED = BIT_AD

cpdef enum Kind:                  # what an argument accepts
    TENSOR
    TENSOR_OPT
    TENSOR_LIST
    OPERAND                       # Tensor | Scalar
    SCALAR
    SCALAR_OPT
    INT
    INT_OPT
    INTS
    INTS_OPT
    FLOAT
    FLOAT_OPT
    BOOL
    BOOL_OPT
    STR
    STR_OPT
    DTYPE_OPT
    DEVICE_OPT
    GENERATOR_OPT
    ANY
    DTYPE

cpdef enum Role:                  # what a call does to its arguments
    FUNCTIONAL = 0                # new results
    VIEW = 1                      # results are views of the first tensor
    INPLACE = 2                   # writes the first argument and returns it
    OUT = 3                       # writes the out tensors and returns them
    COMPOSITE = 4                 # a Python function that calls other operators; not dispatched
    FACTORY = 5                   # new results, where `device=` says


# A kernel: args[0 .. op.nargs-1] are borrowed and normalised to the schema; args[op.nargs] is the
# tensor (or tuple of them) to write the result into, or NULL for a new one.
ctypedef object (*kernel_t)(Operator op, keyset_t keys, PyObject** args)


cdef class CKernel:
    # A compiled kernel with its configuration, as used in operator entries. Immutable.
    cdef kernel_t fn
    cdef void* data               # C configuration, alive as long as `config`
    cdef readonly object config   # Python configuration
    cdef readonly object general  # used where `fn` does not apply: a function over ndarrays
    cdef kernel_t inner           # of an out= form: what `fn` calls, once out= is looked at
    cdef readonly str where       # where it was registered, for messages
    cdef readonly object outside  # of a library's: the layers.Layer that it runs
    cdef bint recording           # for Autograd: redispatches if no argument requires grad

    @staticmethod
    cdef CKernel new(kernel_t fn, object config=*, void* data=*, str where=*)


cdef class Operator:
    # One operator (one overload). Created once; after that only its kernels may change.
    cdef readonly str name        # "add", "add_", "max"
    cdef readonly str overload    # "", "dim", "out"
    cdef readonly str schema      # as declared
    cdef readonly object entry    # the declaration: derivative, documentation, variants
    cdef readonly object accepts  # what its out= may be: out.Out
    cdef void* vectorcall         # through which CPython calls operators: bind.vectorcall_entry
    # Arguments
    cdef readonly int nargs
    cdef readonly int n_positional  # how many, the first, may be given by position
    cdef readonly int n_required  # how many, the first, have no default
    cdef int kinds[MAX_ARGS]      # Kind
    cdef int lengths[MAX_ARGS]    # int[n]: n; else 0
    cdef readonly tuple names
    cdef readonly tuple defaults  # of all arguments; None where required
    cdef int varargs              # position of the int[] that also takes varargs; -1: none
    cdef int n_tensors            # how many arguments may hold tensors
    cdef int tensors[MAX_ARGS]    # their positions
    cdef readonly int n_results
    cdef readonly object result_type  # the named tuple class of several named results, or None
    cdef int requires_grad_arg    # position of a factory's requires_grad; -1: none
    cdef int device_arg           # position of a factory's device; -1: none
    # Dispatch
    cdef readonly int role        # Role
    cdef readonly int id          # number for its name: provenance.operator_id
    cdef keyset_t mask            # keys with a kernel that is not a fallthrough
    cdef keyset_t always          # BIT_AD if Autograd is entered for each normal tensor, else 0
    cdef kernel_t table[N_KEYS]   # NULL: none
    cdef list kernels             # CKernel per key, or None
    cdef object function          # COMPOSITE: the Python function
    cdef CKernel fast             # COMPOSITE: tried first; returns NotImplemented if not applicable
    # Autograd: compiled from the entry's derivative; see autograd/derivative.pxd
    cdef object derivative
    # Relatives
    cdef readonly Operator functional   # the functional form of an in-place or out variant
    cdef readonly Operator inplace      # None: no such variant
    cdef readonly Operator out
    cdef readonly Operator next_overload  # tried when the arguments don't bind to this one
    # Registered from outside; see layers.pxd
    cdef readonly str outside     # the namespace of a library's operator; "" for one of imode's own
    cdef readonly str closed      # the library that took it back, for messages; None: it is there
    cdef object signature         # layers.Signature; None: not yet needed
    cdef list own                 # its own CKernel per key; None: `kernels` is that
    cdef list layers              # per key, a tuple of Layers on top; None: none at all
    cdef tuple cases              # COMPOSITE: its own (fast, function), while a library replaces it


cdef class Watcher:
    # What sees each kernel that its thread enters: the dispatch trace, a mode, a profiler. Those
    # that are on in a thread form a chain from TLS.watcher through `outer`. Used by its own thread.
    cdef Watcher outer            # the next to see a kernel; None: there is none
    # Called instead of the kernel of the highest key in `keys`; gives the kernel's result, which
    # it mostly gets from `proceed(self.outer, op, keys, args)`.
    cdef object enter(self, Operator op, keyset_t keys, PyObject** args)
    # Called instead of a composite operator, likewise; a mode does not ask for these.
    cdef object compose(self, Operator op, PyObject** args)
    # Called before and after a node runs in backward.
    cdef int before_node(self, str label) except -1
    cdef int after_node(self) except -1


# what the watcher gives, or for None the kernel, the composite operator's function
cdef object proceed(Watcher watcher, Operator op, keyset_t keys, PyObject** args)
cdef object proceed_composite(Watcher watcher, Operator op, PyObject** args)
cdef int watch(Watcher watcher) except -1                 # turn it on: it is the innermost now
cdef bint unwatch(Watcher watcher) except -1              # turn it off; False: it was not on here
cdef Watcher watching()                                   # the innermost that is on, or None
cdef Watcher set_watching(Watcher watcher)                # set the chain; returns the previous one

cdef keyset_t always_entered(list kernels) noexcept
cdef CKernel recording(kernel_t fn, str where)            # a kernel that only records
cdef TLS* tls() noexcept nogil                            # this thread's state
cdef object call(Operator op, PyObject** args)            # dispatch on the arguments and the state
# run the kernel of the highest key
cdef object redispatch(Operator op, keyset_t keys, PyObject** args)
cdef object call1(Operator op, object a)                  # other arguments: the defaults
cdef object call2(Operator op, object a, object b)
cdef object call3(Operator op, object a, object b, object c)
cdef Operator operator(str qualified_name)                # by "name" or "name.overload"
cdef object default_device()                              # of factories in this thread; None: CPU
cdef int push_device(object place) except -1              # a `with` block of a device begins
cdef int pop_device() except -1                           # and ends
cdef bint enter_outside(Operator op)
cdef int leave_outside(Operator op) except -1
cdef list declared_now()


cdef inline bint inference_mode_on(TLS* state) noexcept nogil:
    """Whether new tensors are inference tensors: ADInplaceOrView is not in the included set."""
    return state.included & DEFAULT_INCLUDED != 0


cdef inline bint unrecorded(TLS* state) noexcept nogil:
    """Whether nothing is recorded, and new tensors note their maker: Note [Who made a tensor]."""
    return state.no_grad or inference_mode_on(state)


cdef inline PyObject* inplace_target(Operator op, PyObject** args) noexcept:
    """The initial args[op.nargs]: for a derived in-place call, the first argument; else NULL."""
    return args[0] if op.role == INPLACE and op.functional is not None else NULL
