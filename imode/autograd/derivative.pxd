# Derivative: an operator's derivative, compiled from its entry. See derivative.pyx.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from libc.stdint cimport uint64_t

cdef enum Source:             # where a formula's parameter comes from
    FROM_ARGUMENT = 0         # an argument: a tensor as a saved tensor, anything else as it is
    FROM_RESULT = 1           # a result, saved
    FROM_SHAPE = 2            # the shape of a tensor argument (the shapes of a list): a tuple
    FROM_DTYPE = 3            # the dtype of a tensor argument
    FROM_GEOMETRY = 4         # (shape, strides, storage offset) of a tensor argument
    FROM_DEVICE = 6           # the device of a tensor argument; None for a number
    FROM_MATRIX = 5           # the shape and strides of a tensor argument, packed: see `_matrix`

cdef enum:                    # parameters of a formula that come from no slot
    GRAD = -1                 # the gradient of the first result
    GRADS = -2                # the gradients of all results, a tuple
    NEEDS = -3                # whether each of the formula's inputs needs a gradient, a tuple
    MAX_SAVED = 16
    MAX_FORMULAS = 6


ctypedef struct Slot:         # one thing that a derivative saves
    int source                # Source
    int index                 # argument or result
    uint64_t formulas         # bit i: formula i reads it
    bint self_argument        # the first argument, which an in-place form overwrites
    bint operand              # a Tensor | Scalar argument: a number there counts as a tensor
    bint listed               # a list of tensors
    bint not_tensor           # never a tensor: saved whether a formula needs it or not


ctypedef struct Formula:      # the gradients of one or more inputs, computed by one function
    PyObject* function        # owned by the derivative's list
    int n_parameters
    int parameters[MAX_SAVED]  # slot numbers, or GRAD, GRADS, NEEDS
    int n_inputs
    int inputs[MAX_SAVED]     # indices into the derivative's inputs


cdef class Derivative:
    # An operator's derivative, compiled once. Immutable.
    cdef readonly str name            # "AddBackward0"
    cdef int n_inputs                 # differentiable arguments
    cdef int inputs[MAX_SAVED]        # their positions, in the schema's order
    cdef int n_slots
    cdef Slot slots[MAX_SAVED]
    cdef readonly tuple slot_names    # "self", "other", "result", "self_shape"
    cdef readonly tuple shown_names   # their names in _saved_...: "self_sym_sizes"; None: not shown
    cdef readonly dict computed       # what else _saved_... shows: name -> (function, parameters)
    cdef int n_formulas
    cdef Formula formulas[MAX_FORMULAS]
    cdef list functions               # keeps the formulas' functions alive
    cdef int formula_of[MAX_SAVED]    # input -> formula
    cdef int list_input               # the only input that may be a Tensor[]; -1: there is none
    cdef public bint floats_only      # an integer result or target is not recorded (copy_)
    cdef public object alone          # the call that makes one of its views, from node and number
    cdef int dtype_at                 # the argument that states the result's dtype, or -1
    cdef bint keeps_results           # it saves a result
    cdef bint reads_all               # every result has a gradient; else only the first has one
    cdef public uint64_t constant     # bit i: result i has none, whatever the formulas read
    cdef str real_only                # complex results are an error, which uses this name; or None
    cdef bint unimplemented           # a NotImplemented node: runs first, and raises
    cdef bint refused                 # all formulas raise: edges only to inputs that require grad
    cdef Derivative with_number       # used where argument `number_at` is a number; or None
    cdef int number_at                # which argument, then no differentiable input
    cdef bint number_always           # also outside of formulas; see Note [Numbers in formulas]
    cdef bint numbers_are_scalars     # while its formulas run; see the same Note

    cdef int _add_formula(self, Operator op, int number, object function, dict slots) except -1
    cdef object _shown(self, Operator op, int i)
    cdef int _show(self, Operator op, str name, object how, dict slots,
                   tuple result_names) except -1
    cdef int _add_slot(self, Operator op, int i, str name, tuple result_names) except -1
