# The graph: Node and its edges. See node.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.derivative cimport Derivative, Formula
from libc.stdint cimport uint64_t
from numpy cimport npy_intp

cdef enum:
    SMALL = 3                 # edges and saved values that a node holds without an allocation
    MAX_SHAPE = 5             # dimensions of a result that a node remembers in place


ctypedef struct Edge:         # where a gradient goes on to
    PyObject* node            # owned; NULL: nowhere
    int input_nr              # which result of that node's operator it is the gradient of


ctypedef struct OutputMeta:   # what a gradient must look like
    int nd
    int typenum               # -1: this result carries no gradient
    npy_intp shape[MAX_SHAPE]
    npy_intp* long_shape      # owned; for more dimensions


cdef class Extras:
    # What only some nodes have. Owned by its node; used with the GIL held.
    cdef object pre_hooks         # OrderedDict id -> callable(grad_outputs), or None
    cdef object post_hooks        # OrderedDict id -> callable(grad_inputs, grad_outputs), or None
    cdef dict tensor_hooks        # output_nr -> OrderedDict of hooks on that result
    cdef dict retained  # output_nr -> weak reference to the result that keeps its grad
    cdef dict metadata            # the user's notes; under detect_anomaly the forward's traceback


cdef class Node:
    # One recorded operation. Owned by its results and by the nodes behind them.
    # Thread rule: used with the GIL held, which kernels give up: whatever a method has read of
    # `saved` and `released` it reads again after calling an operator. Edges and outputs never
    # change once the node is published; an in-place write to a view gives the base a new node.
    #
    # Long graphs run at the speed of memory: with the collector's header a node is four cache
    # lines, and what the walk to find the nodes reads comes first.
    cdef Edge* edges
    cdef int n_edges
    cdef int n_saved
    cdef int n_outputs
    cdef unsigned int place           # a hint: where a task's table has it; see task.pxd
    cdef Edge small_edges[SMALL]
    cdef uint64_t sequence            # of recording, in its thread; backward runs newest first
    cdef Derivative derivative        # None: a node of a class of its own
    cdef PyObject** saved  # owned: SavedTensor, tuple or plain value per slot; NULL: not saved
    cdef PyObject* small_saved[SMALL]
    cdef OutputMeta* outputs
    cdef OutputMeta small_output
    cdef tuple list_lengths           # per input: length of a Tensor[]; None: no lists
    cdef Extras extras                # None: no hooks, no metadata
    cdef object __weakref__
    cdef unsigned int released        # by a backward: a bit for each slot whose tensor is freed
    cdef int released_at              # the user's line that called it: origins.place

    # grads: n_outputs borrowed gradients (NULL: none); out: n_edges owned results (NULL: none)
    cdef int apply(self, PyObject** grads, PyObject** out) except -1
    cdef void release(self)           # free the saved tensors
    cdef int set_edges(self, int n) except -1
    cdef int set_outputs(self, int n) except -1
    cdef int set_saved(self, int n) except -1
    cdef void keep(self, int slot, object value)   # its only reference, if it is a SavedTensor
    cdef int describe(self, int output, Tensor tensor) except -1
    cdef bint _saves_tensors(self, int slot)
    cdef void _drop_saved(self)
    cdef void _drop_edges(self)
    cdef int _compute(self, Formula* formula, PyObject** saved, PyObject** grads,
                      PyObject** out) except -1
    cdef bint _any_grad(self, PyObject** grads) noexcept
    cdef object _unpacked(self, int slot)
    cdef object _shown(self, int slot)
    cdef object _computed(self, str name)
    cdef object _raw(self, int slot)
    cdef bint _holds_tensors(self, int slot) noexcept
    cdef int _first_edge(self, int input)
    cdef bint _wanted(self, Formula* formula)
    cdef tuple _needs(self, Formula* formula)
    cdef int _distribute(self, Formula* formula, object value, PyObject** out) except -1
    cdef int _put(self, int edge, object gradient, PyObject** out) except -1
    cdef void connect(self, int edge, Tensor tensor)   # to where the tensor's gradient goes


cdef Extras extras_of(Node node)
cdef object freed(Node node)          # the error of using a node that was released
cdef void set_observer(int (*function)(Node) except -1) noexcept   # called with each new node
cdef str bare_name(Node node)      # without the namespace that some have: that of its class
cdef bint node_edge(Tensor tensor, Edge* edge) except -1     # False: it needs no gradient
cdef npy_intp* meta_shape(OutputMeta* meta) noexcept
