# The graph: Node and its edges. See node.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.derivative cimport Derivative
from imode.autograd.saved cimport stamp_t
from libc.stdint cimport uint64_t
from numpy cimport npy_intp

cdef enum:
    SMALL = 3                 # edges and saved values that a node holds without an allocation
    N_STAMPS = 2              # of those saved values, how many may be a tensor itself
    MAX_SHAPE = 4             # dimensions of a result that a node remembers in place


ctypedef struct Edge:         # where a gradient goes on to
    PyObject* node            # owned; NULL: nowhere
    int input_nr              # which result of that node's operator it is the gradient of


ctypedef union Objects:
    PyObject* few[SMALL]
    PyObject** many           # owned


ctypedef union Shape:
    npy_intp few[MAX_SHAPE]
    npy_intp* many            # owned


ctypedef struct OutputMeta:   # what a gradient must look like
    int n_outputs             # in a node: how many results its operator has
    short nd
    short typenum             # -1: this result carries no gradient
    Shape shape


ctypedef union Notes:
    stamp_t stamps[N_STAMPS]  # before a backward released what they belong to
    int released_at           # after it: the user's line that called it, origins.place


cdef class Extras:
    # What only some nodes have. Owned by its node; used with the GIL held.
    cdef object pre_hooks         # OrderedDict id -> callable(grad_outputs), or None
    cdef object post_hooks        # OrderedDict id -> callable(grad_inputs, grad_outputs), or None
    cdef dict tensor_hooks        # output_nr -> OrderedDict of hooks on that result
    cdef dict retained            # output_nr -> weak reference to the result that keeps its grad
    cdef dict metadata            # the user's notes; under detect_anomaly the forward's traceback


cdef class Node:
    # One recorded operation. Owned by its results and by the nodes behind them.
    # Thread rule: used with the GIL held, which kernels give up: whatever a method has read of
    # `saved` and `released` it reads again after calling an operator. Edges and outputs never
    # change once the node is published; an in-place write to a view gives the base a new node.
    #
    # Long graphs run at the speed of memory: with the collector's header a node is three cache
    # lines, and what the walk to find the nodes reads lies in the first. What a node has more of
    # than it has room for is allocated; the functions below find it.
    cdef int n_edges
    cdef unsigned int place           # a hint: where a task's table has it; see task.pxd
    cdef Objects next                 # per edge: next_nodes()
    cdef int small_input_nrs[SMALL]   # per edge: input_nrs()
    cdef unsigned short released      # by a backward: a bit for each slot whose tensor is freed
    cdef unsigned short n_saved
    cdef uint64_t sequence            # of recording, in its thread; backward runs newest first
    cdef Derivative derivative        # None: a node of a class of its own
    cdef Objects saved                # per slot: saved_values()
    cdef Notes notes
    cdef OutputMeta output            # shape.many of several results points to theirs: outputs_of()
    cdef Extras extras                # None: no hooks, no metadata
    cdef object __weakref__

    # grads: n_outputs borrowed gradients (NULL: none); out: n_edges owned results (NULL: none)
    cdef int apply(self, PyObject** grads, PyObject** out) except -1
    cdef void release(self)           # free the saved tensors
    cdef int set_edges(self, int n) except -1
    cdef int set_outputs(self, int n) except -1
    cdef int describe(self, int output, Tensor tensor) except -1
    cdef void _drop_saved(self)
    cdef void _drop_edges(self)
    cdef object _shape(self, int output)
    cdef void connect(self, int edge, Tensor tensor)   # to where the tensor's gradient goes


# Per edge: the node that the gradient goes to, owned; NULL: nowhere.
cdef inline PyObject** next_nodes(Node node) noexcept:
    return &node.next.few[0] if node.n_edges <= SMALL else node.next.many


# Per edge: which result of that node's operator it is the gradient of.
cdef inline int* input_nrs(Node node) noexcept:
    return (&node.small_input_nrs[0] if node.n_edges <= SMALL
            else <int*>(node.next.many + node.n_edges))


# Per slot: owned Tensor with a stamp, SavedTensor, tuple or plain value; NULL: not saved.
cdef inline PyObject** saved_values(Node node) noexcept:
    return &node.saved.few[0] if node.n_saved <= SMALL else node.saved.many


# Whether a slot may hold a tensor itself: Note [Stamped tensors].
cdef inline bint has_stamp(Node node, int slot) noexcept:
    return slot < N_STAMPS and node.n_saved <= SMALL


cdef inline int n_outputs(Node node) noexcept:
    return node.output.n_outputs


cdef inline OutputMeta* outputs_of(Node node) noexcept:
    return &node.output if n_outputs(node) <= 1 else <OutputMeta*>node.output.shape.many


cdef inline npy_intp* meta_shape(OutputMeta* meta) noexcept:
    return &meta.shape.few[0] if meta.nd <= MAX_SHAPE else meta.shape.many


cdef Extras extras_of(Node node)
cdef object freed(Node node)          # the error of using a node that was released
cdef void set_observer(int (*function)(Node) except -1) noexcept   # called with each new node
cdef str bare_name(Node node)      # without the namespace that some have: that of its class
cdef object no_attribute(Node node, str name)   # the error of reading what it has not
cdef void let_go(PyObject** items, int n)       # of n saved values, or NULLs; it may run any code
cdef bint node_edge(Tensor tensor, Edge* edge) except -1     # False: it needs no gradient
