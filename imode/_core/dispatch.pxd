# The dispatcher: the thread-local state, the operator table, and the call.
# See dispatch.pyx. Thread rules: a TLS is its thread's own; the table changes with the GIL held.
from cpython.object cimport PyObject
from imode._core.keyset cimport (
    BACKENDS, BIT_AD, BIT_AUTOGRAD, BIT_CPU, N_KEYS, highest_key, keyset_t)
from libc.stdint cimport uint64_t

cdef extern from "tls.h":
    ctypedef struct TLS "imode_tls":
        uint64_t included         # keys added to every call, XOR the default {ADInplaceOrView}
        uint64_t excluded         # keys removed from every call
        int no_grad               # grad mode is off
        int guard_id              # place where inference mode, else no_grad was entered; 0: unknown
        int operator_id           # the operator called last; see Note [Who made a tensor]
        int plain_numbers         # a formula or a composite runs; see Note [Numbers in formulas]
        uint64_t hops             # kernels entered
        uint64_t nodes            # graph nodes made
        uint64_t sequence         # the number of the next graph node
        uint64_t views            # view records made
        uint64_t bumps            # version bumps
        PyObject* guard_top       # the innermost guard that is on, a guard.Guard; NULL: none
        PyObject* trace           # list that the dispatch trace appends to; NULL: off
        PyObject* task            # the call of backward that runs here, autograd's Task; NULL: none
        PyObject* saving          # default hooks of saved tensors, autograd's Defaults; NULL: none
        int depth                 # how many calls of backward are under way here, one in another
        int single_threaded       # set_multithreading_enabled(False); accepted, changes nothing
        int inference_at          # place where inference mode was entered last; 0: never

cdef enum:
    MAX_ARGS = 24                 # arguments of an operator
    DEFAULT_INCLUDED = 1 << 3     # {ADInplaceOrView}

cdef enum Kind:                   # what an argument accepts
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

cdef enum Role:                   # what a call does to its arguments
    FUNCTIONAL = 0                # new results
    VIEW = 1                      # results are views of the first tensor
    INPLACE = 2                   # writes the first argument and returns it
    OUT = 3                       # writes the out tensors and returns them
    COMPOSITE = 4                 # a Python function over other operators; never dispatched itself


# A kernel: args[0 .. op.nargs-1] are borrowed and normalised to the schema; args[op.nargs] is the
# tensor (or tuple of them) to write the result into, or NULL for a new one.
ctypedef object (*kernel_t)(Operator op, keyset_t keys, PyObject** args)


cdef class CKernel:
    # A compiled kernel with its configuration, as operator entries hold it. Immutable.
    cdef kernel_t fn
    cdef void* data               # C configuration, alive as long as `config`
    cdef readonly object config   # Python configuration
    cdef readonly str where       # where it was registered, for messages
    cdef readonly bint writes_out  # honours args[op.nargs]

    @staticmethod
    cdef CKernel new(kernel_t fn, object config, str where, bint writes_out, void* data=*)


cdef class Operator:
    # One operator (one overload). Made once at import; after that only its kernels may change.
    cdef readonly str name        # "add", "add_", "max"
    cdef readonly str overload    # "", "dim", "out"
    cdef readonly str schema      # as declared
    cdef readonly object entry    # the declaration: derivative, documentation, variants
    cdef void* vectorcall         # CPython calls operators through it: the binder's entry
    # Arguments
    cdef readonly int nargs
    cdef readonly int n_positional  # the first of them may be given by position
    cdef readonly int n_required  # the first of them have no default
    cdef int kinds[MAX_ARGS]      # Kind
    cdef int lengths[MAX_ARGS]    # int[n]: n; else 0
    cdef readonly tuple names
    cdef readonly tuple defaults  # of all arguments; None where required
    cdef int varargs              # position of the int[] that also takes varargs; -1: none
    cdef int n_tensors            # how many arguments may hold tensors
    cdef int tensors[MAX_ARGS]    # their positions
    cdef readonly int n_results
    cdef readonly object result_type  # named tuple of several named results, or None
    cdef int requires_grad_arg    # position of a factory's requires_grad; -1: none
    # Dispatch
    cdef readonly int role        # Role
    cdef readonly int id          # stands for its name in messages: origins.operator_id
    cdef keyset_t mask            # keys with a kernel that is not a fallthrough
    cdef kernel_t table[N_KEYS]   # NULL: none
    cdef list kernels             # CKernel per key, or None
    cdef object function          # COMPOSITE: the Python function
    cdef CKernel shortcut         # COMPOSITE: tried first, NotImplemented where it does not serve
    # Autograd: compiled from the entry's derivative; see autograd/node.pxd
    cdef object derivative
    # Relatives
    cdef readonly Operator functional   # the functional form of an in-place or out variant
    cdef readonly Operator inplace      # None: no such variant
    cdef readonly Operator out
    cdef readonly Operator next_overload  # tried when the arguments don't bind to this one


cdef TLS* tls() noexcept nogil                            # this thread's state
cdef object call(Operator op, PyObject** args)            # dispatch on the arguments and the state
# run the kernel of the highest key
cdef object redispatch(Operator op, keyset_t keys, PyObject** args)
cdef object call1(Operator op, object a)                  # the rest are defaults
cdef object call2(Operator op, object a, object b)
cdef object call3(Operator op, object a, object b, object c)
cdef void set_binder(void* vectorcall, object bound_call) noexcept    # the binder's two entries
cdef Operator operator(str qualified_name)                # by "name" or "name.overload"


cdef inline bint inference_mode_on(TLS* state) noexcept nogil:
    """The state in which new tensors are inference tensors: ADInplaceOrView is not included."""
    return state.included & DEFAULT_INCLUDED != 0


cdef inline bint unrecorded(TLS* state) noexcept nogil:
    """Whether nothing is recorded: new tensors are told who made them. Note [Who made a tensor]"""
    return state.no_grad or inference_mode_on(state)


cdef inline PyObject* written(Operator op, PyObject** args) noexcept:
    """What args[op.nargs] starts as: a derived in-place call writes its first argument."""
    return args[0] if op.role == INPLACE and op.functional is not None else NULL
