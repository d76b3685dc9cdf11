"""Saved tensors: what a node keeps of the forward computation, and the two checks.

An input is saved as the tensor object itself. A result of the saving node is saved as an alias
without its grad_fn, so that node and result make no reference cycle; unpacking connects a new
alias to the node.

The first check, on saving, is here and nowhere else: an inference tensor is refused, because it has
no version counter, so that a write after saving could not be noticed. The second, on unpacking,
compares versions.

# Note [Stamped tensors]
A graph of a million nodes runs at the speed of memory, and a SavedTensor is as large as a tensor.
So a node's first slots usually hold the tensor itself, with a stamp of 32 bits in place of a
SavedTensor, which is created when Python asks for it. It is created at once for a tensor that has
hooks or whose line is noted, for a version of 2**24 or more, and for the slots without a stamp.
"""
import weakref

cimport cython
from cpython.object cimport PyObject
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.allocator cimport fields
from imode._core.dispatch cimport tls
from imode._core.dtype cimport code_of, is_integral
from imode._core.live cimport alive, born, died
from imode._core.making cimport alias_of
from imode._core.slab cimport use_slabs
from imode._core.tensor cimport (
    INFERENCE_MODE, NO_GRAD_MODE, Tensor, current, grad_fn_of, is_inference, requires_grad,
    set_grad_fn, set_leaf, typenum, version_of)
from imode._core.version cimport VersionCounter, add_saver, drop_saver, writer_of
from imode.autograd.leaves cimport AccumulateGrad, node_edge, share_accumulator
from imode.autograd.node cimport Edge, Node, freed, name_of, stamp_t
from imode._core.user_frames cimport here
from libc.stdint cimport uint64_t
from numpy cimport import_array, npy_intp

from imode._core.type_names import class_name, tensor_type
from imode import errors

import_array()


def live_saved():
    """How many saved tensors are alive; None unless this is a debug build."""
    return alive()


@cython.binding(False)
@cython.final
cdef class SavedTensor:
    """A tensor that a node keeps for backward; not made from Python."""

    def __dealloc__(self):
        died()
        if self.counter != NULL:
            drop_saver(<VersionCounter>self.counter)
            Py_DECREF(<object>self.counter)

    def __init__(self):
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden. "
                           "Recorded operations make them.")

    def register_hooks(self, pack_hook, unpack_hook):
        """Keep `pack_hook(tensor)` in place of the tensor; `unpack_hook` turns it back.

        `pack_hook` is called at once, and only once; it may return any object. `unpack_hook` must
        return a Tensor of the same content, each time the value is needed.
        Raises RuntimeError for a second pair, after the graph was freed, and if `pack_hook` writes
        to its argument.

        >>> import imode
        >>> x = imode.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> y.grad_fn._raw_saved_result.register_hooks(imode.Tensor.numpy, imode.from_numpy)
        >>> y.sum().backward()
        """
        _check_callable("register_hooks", pack_hook, unpack_hook)
        if type(self.content) is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time.")
        if self.freed:
            raise errors.graph.hooks_on_freed()
        if self.content is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden")
        _pack(self, alias_of(<Tensor>self.content), pack_hook, unpack_hook)

    @property
    def data(self):
        """The tensor, or what the pack hook returned for it; None once freed."""
        return (<Packed>self.content).value if type(self.content) is Packed else self.content

    def unpack(self):
        """The tensor. RuntimeError once freed, and for a result of the node that saved it, which
        only the node's `_saved_...` can connect to the graph."""
        if self.output_nr >= 0 and self.requires_grad:
            raise errors.graph.saved_detached("SavedTensor.unpack()")
        if self.freed:
            raise errors.graph.freed()
        return unpack(self, None)

    @property
    def unpack_hook(self):
        """The hook that turns the packed value back into the tensor; None without hooks."""
        return (<Packed>self.content).unpack if type(self.content) is Packed else None


use_slabs(SavedTensor)


@cython.final
cdef class Packed:
    """A saved tensor that was packed by a pair of hooks; not visible from Python."""


@cython.final
cdef class Defaults:
    """The hooks for tensors saved in one thread; not visible from Python."""

    def __cinit__(self):
        self.pairs = []


# ---- hooks ----

cdef int _check_callable(str function, pack, unpack) except -1:
    for name, hook in (("pack_hook", pack), ("unpack_hook", unpack)):
        if not callable(hook):
            raise TypeError(f"{function}(): incompatible function arguments. {name} is a "
                            f"{type(hook).__name__}, not a callable")
    return 0


cdef int _pack(SavedTensor self, Tensor given, object pack, object unpack) except -1:
    """Replace the tensor by what the pack hook returns for `given`, which shares its storage."""
    cdef Packed packed = Packed.__new__(Packed)
    cdef Edge edge
    cdef Tensor tensor = self.content
    cdef uint64_t version = current(version_of(given))
    cdef int no_grad = tls().no_grad
    if self.output_nr < 0:
        self.requires_grad = requires_grad(tensor)
        if not _made_unrecorded(tensor) and node_edge(tensor, &edge):
            packed.node = <object>edge.node
            packed.input_nr = edge.input_nr
            Py_DECREF(packed.node)
    packed.unpack = unpack
    tls().no_grad = 1
    try:
        packed.value = pack(given)
    finally:
        tls().no_grad = no_grad
    if current(version_of(given)) != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Let the hook change a clone().")
    self.content = packed
    return 0


cdef inline bint _made_unrecorded(Tensor tensor) noexcept:
    """Whether the tensor is a view that was created without history because of the mode."""
    return tensor.view is not None and tensor.grad_fn is None and (
        tensor.view.creation == NO_GRAD_MODE or tensor.view.creation == INFERENCE_MODE)


cdef inline bint _packs() noexcept:
    """Whether saved_tensors_hooks are active in this thread."""
    cdef PyObject* defaults = tls().saving
    return defaults != NULL and PyList_GET_SIZE((<Defaults>defaults).pairs) > 0


cdef inline int _pack_default(SavedTensor self, Tensor given) except -1:
    if _packs():
        pairs = (<Defaults>tls().saving).pairs
        pack, unpack = pairs[len(pairs) - 1]
        _pack(self, given, pack, unpack)
    return 0


cdef Tensor _unpack_hooked(SavedTensor self, object node):
    cdef Packed packed
    cdef Tensor alias
    if self.content is None:
        if self.freed:
            raise freed(<Node>node)
        return None
    packed = <Packed>self.content
    value = packed.unpack(packed.value)
    if type(value) is not Tensor:
        raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result "
                        f"of type {class_name(value)}")
    if packed.node is None and not self.requires_grad and not requires_grad(<Tensor>value):
        return value
    alias = alias_of(<Tensor>value)
    if self.output_nr >= 0:
        if self.requires_grad:
            set_grad_fn(alias, _maker(self, node), self.output_nr)
    elif packed.node is not None and type(packed.node) is not AccumulateGrad:
        set_grad_fn(alias, packed.node, packed.input_nr)
    elif self.requires_grad or packed.node is not None:
        if is_integral(code_of[typenum(alias)]):
            raise errors.graph.integers_require_grad(
                f". The unpack hook gave {alias.dtype} for a tensor that requires grad.")
        if packed.node is None:       # a view made without recording: its gradient goes nowhere
            set_leaf(alias, True)
        else:
            share_accumulator(<AccumulateGrad>packed.node, alias)
    return alias


cdef Defaults _defaults():
    """This thread's hooks, created on first use."""
    cdef Defaults defaults
    if tls().saving == NULL:
        defaults = Defaults.__new__(Defaults)
        Py_INCREF(defaults)           # owned by the thread
        tls().saving = <PyObject*>defaults
    return <Defaults>tls().saving


def push_hooks(pack, unpack):
    """Start using a pair of hooks for what this thread saves; RuntimeError if disabled."""
    cdef Defaults defaults = _defaults()
    _check_callable("_push_saved_tensors_default_hooks", pack, unpack)
    if defaults.refusal is not None:
        raise RuntimeError(defaults.refusal)
    defaults.pairs.append((pack, unpack))


def pop_hooks():
    """Stop using the newest pair of hooks; RuntimeError if there is none."""
    cdef Defaults defaults = _defaults()
    if not defaults.pairs:
        raise RuntimeError("saved_tensors_hooks: left without having been entered")
    defaults.pairs.pop()


def disable_hooks(message):
    """Make push_hooks raise `message`, or with None work again. Returns the previous message."""
    cdef Defaults defaults = _defaults()
    if message is not None and defaults.pairs:
        raise RuntimeError(message)
    before, defaults.refusal = defaults.refusal, message
    return before


def observe_writes(function):
    """Call `function(tensor)` before each write in this thread; None: stop. Returns the previous
    function.

    `graph.allow_mutation_on_saved_tensors` clones in it what is about to be written.
    """
    cdef Defaults defaults = _defaults()
    before, defaults.before_write = defaults.before_write, function
    return before


cdef int before_write(Tensor target) except -1:
    function = (<Defaults>tls().saving).before_write
    if function is not None and not is_inference(target):
        function(target)
    return 0


# ---- saving ----

cdef inline SavedTensor _new():
    born()
    return SavedTensor.__new__(SavedTensor)


cdef SavedTensor saved_value(object value):
    cdef SavedTensor self = _new()
    if value is not None:
        self.content = value
        _watch(self, <Tensor>value)
    self.output_nr = -1
    return self


def version_of_saved(SavedTensor saved not None):
    """The version of the tensor when it was saved."""
    return saved.version


cdef void forget(object saved) noexcept:
    cdef SavedTensor self
    if type(saved) is SavedTensor:
        self = <SavedTensor>saved
        self.freed |= self.content is not None
        self.content = None


cdef bint _note_lines = False


def note_lines(on):
    """Set whether to note the user's line wherever a tensor is saved: for anomaly mode, above. The
    flag is here because it is read whenever a tensor is saved.

    For large tensors and in custom functions, where the cost does not show, it is always noted.
    """
    global _note_lines
    _note_lines = bool(on)


cdef enum:
    LARGE = 1 << 16           # elements: an operator on so many takes 1000 times as long as `here`


cdef inline bint _is_large(Tensor tensor) noexcept:
    cdef npy_intp n = 1
    cdef int d
    for d in range(fields(tensor.array).nd):
        n *= fields(tensor.array).dimensions[d]
    return n >= LARGE


cdef inline int _watch(SavedTensor self, Tensor tensor) except -1:
    """Note the version, and let writers know that it will be compared."""
    cdef VersionCounter counter = version_of(tensor)
    self.version = current(counter)
    self.counter = <PyObject*>counter
    Py_INCREF(counter)
    add_saver(counter)
    if _note_lines or _is_large(tensor):
        self.saved_at = here()
    return 0


cdef SavedTensor save_input(Tensor tensor, str saver):
    if is_inference(tensor):
        raise errors.inference.saved(tensor.guard_id, tensor.maker, saver)
    cdef SavedTensor self = _new()
    self.content = tensor
    _watch(self, tensor)
    self.output_nr = -1
    self.recorded = tensor.grad_fn is not None
    _pack_default(self, tensor)
    return self


cdef SavedTensor save_result(Tensor tensor, int output_nr):
    if is_inference(tensor):
        raise errors.inference.saved(tensor.guard_id, tensor.maker)
    cdef SavedTensor self = _new()
    self.requires_grad = requires_grad(tensor)
    self.content = alias_of(tensor) if self.requires_grad else tensor    # which owns no node
    _watch(self, tensor)
    self.output_nr = output_nr if self.requires_grad else -1
    if _is_written_view(tensor) and self.requires_grad:
        # The result's grad_fn is the view's node, not the node of the write.
        self.view_node = weakref.ref(tensor.grad_fn)
    _pack_default(self, tensor)
    return self


cdef inline bint _is_written_view(Tensor result) noexcept:
    return result.view is not None and result.grad_fn is not None


cdef Tensor unpack(SavedTensor self, object node):
    cdef Tensor tensor
    if type(self.content) is not Tensor:
        return _unpack_hooked(self, node)
    tensor = <Tensor>self.content
    if self.recorded and tensor.grad_fn is None:
        raise errors.graph.saved_detached(name_of(node))
    if self.output_nr < 0 and tensor.view is not None:
        grad_fn_of(tensor)            # may raise: the base was written to in another mode
    if current(version_of(tensor)) != self.version:
        raise _modified(self, node)
    if self.output_nr < 0:
        return tensor
    return _connected(tensor, _maker(self, node) if self.requires_grad else None, self.output_nr)


cdef inline Tensor _connected(Tensor result, object maker, int output_nr):
    """An alias of a saved result, connected to `maker`, its node, unless that is None."""
    cdef Tensor alias = alias_of(result)
    if maker is not None:
        set_grad_fn(alias, maker, output_nr)
    return alias


cdef object _maker(SavedTensor self, object node):
    """The node that a saved result has as its grad_fn."""
    maker = None if self.view_node is None else self.view_node()
    return node if maker is None else maker


cdef object _modified(SavedTensor self, object node):
    cdef Tensor tensor = self.content
    maker = grad_fn_of(tensor)
    if self.output_nr >= 0:
        maker = _maker(self, node) if self.requires_grad else None
    output_nr = self.output_nr if self.output_nr >= 0 else tensor.output_nr
    return errors.graph.modified(
        tensor_type(tensor.dtype), tensor.shape, output_nr,
        name_of(maker), current(tensor.version), self.version,
        saver=name_of(node), saved_at=self.saved_at, writer=writer_of(<VersionCounter>self.counter))


# ---- tensors that a node holds itself: Note [Stamped tensors] ----

cdef stamp_t stamp(Tensor tensor, int output_nr) except? 0:
    """The stamp for a tensor that a node itself holds from now on; 0: it needs a SavedTensor."""
    cdef VersionCounter counter
    cdef uint64_t version
    cdef stamp_t found = STAMPED
    if is_inference(tensor) or _note_lines or _packs() or _is_large(tensor):
        return 0
    counter = version_of(tensor)
    version = current(counter)
    if version > MAX_VERSION or output_nr > MAX_OUTPUT_NR:
        return 0
    if output_nr < 0:
        if tensor.grad_fn is not None:
            found |= LINKED
    elif _is_written_view(tensor):
        return 0
    else:
        found |= RESULT | <stamp_t>output_nr << OUTPUT_NR
    born()
    add_saver(counter)
    return found | <stamp_t>version << VERSION


cdef void drop_stamped(Tensor tensor) noexcept:
    died()
    if tensor.version is not None:       # the collector may have emptied the tensor
        drop_saver(tensor.version)


cdef SavedTensor of_stamped(Tensor tensor, stamp_t stamp):
    cdef SavedTensor self = saved_value(tensor)
    self.version = stamp >> VERSION
    self.saved_at = 0
    if stamp & RESULT:
        self.output_nr = stamp >> OUTPUT_NR & MAX_OUTPUT_NR
        self.requires_grad = True
    self.recorded = (stamp & LINKED) != 0
    return self


cdef Tensor unpack_stamped(Tensor tensor, stamp_t stamp, object node):
    if current(tensor.version) != stamp >> VERSION or (
            stamp & LINKED and tensor.grad_fn is None):
        return unpack(of_stamped(tensor, stamp), node)         # which raises
    if not stamp & RESULT:
        return tensor
    return _connected(tensor, node, stamp >> OUTPUT_NR & MAX_OUTPUT_NR)
