# The graph: Node, its edges, and the compiled form of an operator's derivative.
# See node.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.tensor cimport Tensor
from libc.stdint cimport uint64_t
from numpy cimport npy_intp

cdef enum Source:             # where a formula's parameter comes from
    FROM_ARGUMENT = 0         # an argument: a tensor is saved, anything else is kept as it is
    FROM_RESULT = 1           # a result, saved
    FROM_SHAPE = 2            # the shape of a tensor argument (or shapes of a list): a tuple
    FROM_DTYPE = 3            # the dtype of a tensor argument
    FROM_GEOMETRY = 4         # (shape, strides, storage offset) of a tensor argument
    FROM_COLUMNS = 5          # whether a tensor argument is a matrix stored column by column

cdef enum:                    # parameters of a formula that are not saved
    GRAD = -1                 # the gradient of the first result
    GRADS = -2                # those of all results, a tuple
    NEEDS = -3                # which of the formula's inputs need a gradient, a tuple
    MAX_SAVED = 16
    MAX_FORMULAS = 6
    SMALL = 3                 # edges and saved values that a node holds without an allocation
    MAX_SHAPE = 6             # dimensions of a result that a node remembers in place


ctypedef struct Slot:         # one thing that a derivative saves
    int source                # Source
    int index                 # argument or result
    uint64_t formulas         # bit i: formula i reads it
    bint written              # it is the argument that an in-place form writes
    bint operand              # a Tensor | Scalar argument: a number there counts as a tensor
    bint plain                # an argument that holds no tensor: kept whether it is needed or not


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
    cdef readonly tuple shown_names   # what _saved_... shows them as: "self_sym_sizes"; None: not
    cdef int n_formulas
    cdef Formula formulas[MAX_FORMULAS]
    cdef list functions               # keeps the formulas' functions alive
    cdef int formula_of[MAX_SAVED]    # input -> formula
    cdef bint has_lists               # an input is a Tensor[]
    cdef public bint floats_only      # integer results and targets are not recorded (copy_)
    cdef int n_results
    cdef str real_only                # not defined for complex results: its name in that error

    cdef int _add_formula(self, Operator op, int number, object function, dict slots,
                          tuple result_names) except -1
    cdef object _shown(self, Operator op, int i)
    cdef int _add_slot(self, Operator op, int i, str name, tuple result_names) except -1


ctypedef struct Edge:         # where a gradient goes on to
    PyObject* node            # owned; NULL: nowhere
    int input_nr              # which result of that node's operator it is the gradient of


ctypedef struct OutputMeta:   # what a gradient must look like
    int nd
    int typenum               # -1: this result carries no gradient
    npy_intp shape[MAX_SHAPE]
    npy_intp* long_shape      # owned; for more dimensions


cdef class Node:
    # One recorded operation. Owned by its results and by the nodes behind them.
    # Thread rule: used with the GIL held. Graph edges never change once the node is published,
    # except that an in-place write to a view gives the base a new node.
    cdef Derivative derivative        # None: a node of a class of its own
    cdef uint64_t sequence            # the order of recording; backward runs newest first
    cdef Edge* edges
    cdef Edge small_edges[SMALL]
    cdef int n_edges
    cdef PyObject** saved  # owned: SavedTensor, tuple or plain value per slot; NULL: not saved
    cdef PyObject* small_saved[SMALL]
    cdef int n_saved
    cdef OutputMeta* outputs
    cdef OutputMeta small_output
    cdef int n_outputs
    cdef tuple list_lengths           # per input: length of a Tensor[]; None: no lists
    cdef bint released                # its saved values were freed by a backward
    cdef dict pre_hooks               # id -> callable(grad_outputs)
    cdef dict post_hooks              # id -> callable(grad_inputs, grad_outputs)
    cdef dict tensor_hooks            # output_nr -> dict of hooks on that result
    cdef dict retained  # output_nr -> weak reference to the result that keeps its grad
    cdef dict notes                   # what `metadata` gives
    cdef object __weakref__

    # grads: n_outputs borrowed gradients (NULL: none); out: n_edges owned results (NULL: none)
    cdef int apply(self, PyObject** grads, PyObject** out) except -1
    cdef void release(self)           # free what was saved
    cdef int set_edges(self, int n) except -1
    cdef int set_outputs(self, int n) except -1
    cdef int set_saved(self, int n) except -1
    cdef int describe(self, int output, Tensor tensor) except -1
    cdef bint _saves_tensors(self)
    cdef void _drop_saved(self)
    cdef void _drop_edges(self)
    cdef object _unpacked(self, int slot)
    cdef int _first_edge(self, int input)
    cdef bint _wanted(self, Formula* formula)
    cdef tuple _needs(self, Formula* formula)
    cdef int _distribute(self, Formula* formula, object value, PyObject** out) except -1
    cdef int _put(self, int edge, object gradient, PyObject** out) except -1
    cdef void connect(self, int edge, Tensor tensor)   # to where the tensor's gradient goes


cdef class AccumulateGrad(Node):
    # The end of the graph at a leaf: adds to its .grad. The leaf's meta points back, unowned.
    cdef Tensor variable


cdef Node new_node(Derivative derivative)
cdef bint node_edge(Tensor tensor, Edge* edge) except -1     # False: it needs no gradient
cdef npy_intp* meta_shape(OutputMeta* meta) noexcept
cdef void set_accumulator(int (*function)(AccumulateGrad, PyObject*) except -1) noexcept
