# The graph: Node and its edges. See node.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.derivative cimport Derivative
from libc.stdint cimport uint64_t
from numpy cimport npy_intp

cdef enum:
    SMALL = 3                 # up to so many edges or saved values, a node allocates nothing
    N_STAMPS = 2              # how many of the first saved values may be the tensor itself
    MAX_SHAPE = 4             # up to so many dimensions, a result's shape takes no allocation


ctypedef struct Edge:         # where a gradient goes next
    PyObject* node            # owned; NULL: nowhere
    int input_nr              # which result of that node's operator the gradient belongs to


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


ctypedef unsigned int stamp_t     # of a tensor that a node holds directly: Note [Stamped tensors]

ctypedef union Notes:
    stamp_t stamps[N_STAMPS]  # until a backward releases the tensors
    int released_at           # after that: the line that called backward; provenance.location


cdef class Extras:
    # Fields that few nodes need. Owned by its node; used with the GIL held.
    cdef object pre_hooks         # OrderedDict id -> callable(grad_outputs), or None
    cdef object post_hooks        # OrderedDict id -> callable(grad_inputs, grad_outputs), or None
    cdef dict tensor_hooks        # output_nr -> OrderedDict of hooks on that result
    cdef dict retained            # output_nr -> weak reference to a result with retain_grad
    cdef dict metadata            # the user's notes; in anomaly mode the forward's traceback


cdef class Node:
    # One recorded operation. Owned by its results and by the nodes whose edges lead to it.
    # Thread rule: used with the GIL held. Kernels release it, so after calling an operator a method
    # must read `saved` and `released` again. Edges and outputs never change once a tensor or node
    # refers to the node; an in-place write to a view gives the base a new node.
    #
    # Long graphs run at the speed of memory: with the collector's header a node takes three cache
    # lines, and the walk that finds the nodes reads only the first. Where there are more edges,
    # values or dimensions than fit, they are allocated; the functions below find them.
    cdef int n_edges
    cdef unsigned int entry_hint      # index of its entry in a task, to be verified; see task.pxd
    cdef Objects next                 # per edge: next_nodes()
    cdef int small_input_nrs[SMALL]   # per edge: input_nrs()
    cdef unsigned short released      # bit i: backward has freed the tensor of slot i
    cdef unsigned short n_saved
    cdef uint64_t sequence            # the order of recording in its thread; newest runs first
    cdef Derivative derivative        # None: not an OpNode
    cdef Objects saved                # per slot: saved_values()
    cdef Notes notes
    cdef OutputMeta output            # see outputs_of(): for several results shape.many is theirs
    cdef Extras extras                # None: no hooks, no metadata
    cdef object __weakref__

    # grads: n_outputs borrowed gradients (NULL: none); out: n_edges owned results (NULL: none)
    cdef int apply(self, PyObject** grads, PyObject** out) except -1
    cdef void release(self)           # free the saved tensors
    cdef object show(self)            # the node itself, given the class that Python sees
    cdef str label(self)              # its name, whatever a user's attribute `name` says
    cdef int set_edges(self, int n) except -1
    cdef int set_outputs(self, int n) except -1
    cdef void _drop_saved(self) noexcept
    cdef void _drop_edges(self) noexcept
    cdef object _shape(self, int output)


# Per edge: the node that the gradient goes to, owned; NULL: nowhere.
cdef inline PyObject** next_nodes(Node node) noexcept:
    return &node.next.few[0] if node.n_edges <= SMALL else node.next.many


# Per edge: which result of that node's operator the gradient belongs to.
cdef inline int* input_nrs(Node node) noexcept:
    return (&node.small_input_nrs[0] if node.n_edges <= SMALL
            else <int*>(node.next.many + node.n_edges))


# Per slot, owned: a Tensor with a stamp, a SavedTensor, a tuple or another value; NULL: not saved.
cdef inline PyObject** saved_values(Node node) noexcept:
    return &node.saved.few[0] if node.n_saved <= SMALL else node.saved.many


# Whether a slot may hold the tensor itself: Note [Stamped tensors].
cdef inline bint has_stamp(int slot) noexcept:
    return slot < N_STAMPS


cdef inline int n_outputs(Node node) noexcept:
    return node.output.n_outputs


cdef inline OutputMeta* outputs_of(Node node) noexcept:
    return &node.output if n_outputs(node) <= 1 else <OutputMeta*>node.output.shape.many


cdef inline npy_intp* meta_shape(OutputMeta* meta) noexcept:
    return &meta.shape.few[0] if meta.nd <= MAX_SHAPE else meta.shape.many


# What the gradient of a result must look like: the tensor.
cdef int describe(Node node, int output, Tensor tensor) except -1
cdef void drop_outputs(PyObject* o) noexcept     # free what a node that ends knows of its results
cdef void end_node(PyObject* o) noexcept    # what ends a node that is not kept, but for a trashcan
cdef int begin(Node node) except -1    # number a new node and count it; anomaly mode sees it
cdef void ended() noexcept             # one more has ended, which is kept to be used again
cdef Extras extras_of(Node node)
cdef object shown(object node)     # a node, or None, as Python sees it
cdef object freed(Node node)          # the error of using a node that was released
cdef void set_observer(int (*function)(Node) except -1) noexcept   # called with each new node
cdef str name_of(object node)      # a node's label; None for None
cdef str bare_name(Node node)      # the name without a C++ namespace: its class's name
cdef object no_attribute(Node node, str name)   # the error of reading a missing attribute
