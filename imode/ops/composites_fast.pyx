"""Fast cases of composite operators.

A composite operator is a Python function over other operators, and for a few elements the function
costs more than they do. Its fast case serves the arguments that need no rule and no message, by
calling the same operators; for anything else it gives NotImplemented, and the function runs.

Those of one family stand in `composites_fast` of its folder; here, those that any one can have.
"""
from functools import update_wrapper

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_New
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields
from imode._core.callables cimport modes_are_on
from imode._core.dispatch cimport (
    INPLACE, MAX_ARGS, OUT, TLS, CKernel, Operator, Watcher, call, default_device, inplace_target,
    kernel_t, proceed, proceed_composite, tls, unrecorded, unwatch, watch)
from imode._core.dtype cimport default_code
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_CPU, keyset_t
from imode._core.tensor cimport Tensor, is_tensor, requires_grad
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_AsLongAndOverflow, PyLong_CheckExact, _array)
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object items)
    void Py_CLEAR(PyObject* variable)
    const char* PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size) except NULL


cdef CKernel calling(kernel_t fn, list names):
    return CKernel.new(fn, names)


cdef bint unseen(Operator op, keyset_t keys) except -1:
    cdef TLS* state = tls()
    cdef Operator other
    cdef Py_ssize_t i
    if state.watcher != NULL or keys & ~<keyset_t>(BIT_CPU | BIT_AD | BIT_AUTOGRAD) or (
            state.included & ~<keyset_t>BIT_AD or state.excluded & ~<keyset_t>BIT_AUTOGRAD):
        return False
    for i in range(len(<list>op.fast.config)):
        other = callee(op, i)
        if other.cases is not None:
            return False
        if other.layers is not None:
            for layers in other.layers:
                if layers:
                    return False
    return True


cdef object pass_on(Operator op, keyset_t keys, PyObject** args):
    """A call of the other operator; what it takes beyond this one's arguments: the defaults."""
    cdef Operator other = callee(op, 0)
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    cdef object result
    for i in range(other.nargs):
        values[i] = args[i] if i < op.nargs else PyTuple_GET_ITEM(other.defaults, i)
    values[other.nargs] = args[0] if other.role == INPLACE else NULL
    result = call(other, values)
    return (<tuple>result)[0] if other.n_results > 1 else result


cdef object _second_of(Operator op, keyset_t keys, PyObject** args):
    cdef PyObject* values[MAX_ARGS + 1]
    cdef Operator other = callee(op, 0)
    cdef int i
    for i in range(other.nargs):
        values[i] = args[i]
    values[other.nargs] = NULL
    return (<tuple>call(other, values))[1]


def second_of(str name not None):
    """The fast case that is the second result of another operator, with the same arguments."""
    return calling(_second_of, [name])


cdef object _spread(Operator op, keyset_t keys, PyObject** args):
    cdef object correction = 1 if <object>args[2] is True else 0
    cdef PyObject** corrected = [args[0], args[1], <PyObject*>correction, args[3], NULL]
    return call(op.next_overload, corrected)


spread = calling(_spread, [])   # var.dim and its kin: the overload with a correction, which is next


def passed_on(str name not None):
    """The fast case that is a call of another operator, with the same arguments."""
    return calling(pass_on, [name])


cdef object _unrecorded(Operator op, keyset_t keys, PyObject** args):
    if requires_grad(<Tensor>args[0]) and not unrecorded(tls()):
        return NotImplemented
    return call(callee(op, 0), args)


def where_unrecorded(Operator plain not None):
    """Of an operator of one tensor that looks at the graph: `plain`, where there is no graph."""
    return calling(_unrecorded, [plain])


# ---- functions whose calls follow from the geometry of their tensors ----

# Note [Replayed calls]
# Which operators a composite calls, and with what, mostly follows from the shapes, strides and
# dtypes of its tensors and from its other arguments, not from elements. Of a function that says so,
# by the decorator `replayed`, the calls are noted when arguments come for the second time (their
# description, below, is the key), and from then on they are repeated by compiled code: what they
# do, record and raise is the same, only Python's part of it is spared. Where elements matter, or
# where it warns, such a function calls `varies()`: these calls are not noted. So it is where a
# tensor comes from elsewhere, or a result is none of those of the calls. A watcher and a function
# mode see the function run.

cdef enum:
    MOST_TENSORS = 60             # of a plan: arguments and results
    MOST_PLANS = 256              # of a function
    DESCRIBED = 1024              # bytes of a description
    LISTED = -1                   # what stands in the place of a tensor's number


cdef struct Head:
    int64_t kind                  # of an argument: a letter
    int64_t value                 # a number, a length, or a tensor's dtype
    keyset_t keys
    int nd
    int flags
    int64_t same                  # as which tensor before it


cdef struct Description:
    char room[DESCRIBED]
    Py_ssize_t size               # so far
    PyObject* tensors[MOST_TENSORS]
    int count


cdef bint _put(Description* to, const void* what, Py_ssize_t size) noexcept:
    if size > DESCRIBED - to.size:
        return False
    memcpy(to.room + to.size, what, size)
    to.size += size
    return True


cdef bint _put_head(Description* to, char kind, int64_t value, keyset_t keys=0, int nd=0,
                    int flags=0, int64_t same=0) noexcept:
    cdef Head head
    head.kind, head.value, head.keys, head.nd, head.flags = kind, value, keys, nd, flags
    head.same = same
    return _put(to, &head, sizeof(Head))


cdef bint _put_tensor(Description* to, PyObject* tensor) noexcept:
    cdef Fields* a = _array(tensor)
    cdef keyset_t grad = requires_grad(<Tensor>tensor)
    cdef int same = 0
    if to.count == MOST_TENSORS:
        return False
    to.tensors[to.count] = tensor
    while to.tensors[same] != tensor:
        same += 1
    to.count += 1
    return (_put_head(to, b"T", a.descr.type_num, (<Tensor>tensor).keys | grad << 63, a.nd, a.flags,
                      same)
            and _put(to, a.dimensions, a.nd * sizeof(Py_ssize_t))
            and _put(to, a.strides, a.nd * sizeof(Py_ssize_t)))


cdef bint _describe(Description* to, PyObject* value) except -1:
    """Add what the calls may follow from; False: that is not known of such a value."""
    cdef double number
    cdef int64_t integer
    cdef int overflow = 0
    cdef Py_ssize_t i
    cdef const char* text
    if is_tensor(value):
        return _put_tensor(to, value)
    if value == <PyObject*>None:
        return _put_head(to, b"N", 0)
    if type(<object>value) is bool:
        return _put_head(to, b"B", <object>value is True)
    if PyLong_CheckExact(value):
        integer = PyLong_AsLongAndOverflow(value, &overflow)
        return not overflow and _put_head(to, b"I", integer)
    if PyFloat_CheckExact(value):
        number = PyFloat_AS_DOUBLE(value)
        memcpy(&integer, &number, 8)
        return _put_head(to, b"F", integer)
    if PyTuple_Check(<object>value):
        if not _put_head(to, b"(", PyTuple_GET_SIZE(<object>value)):
            return False
        for i in range(PyTuple_GET_SIZE(<object>value)):
            if not _describe(to, PyTuple_GET_ITEM(<object>value, i)):
                return False
        return True
    if type(<object>value) is str:
        text = PyUnicode_AsUTF8AndSize(value, &i)
        return _put_head(to, b"S", i) and _put(to, text, i)
    return False


@cython.final
cdef class _Step:
    # A call. Immutable.
    cdef Operator op
    cdef tuple args               # what is no tensor, and the numbers of lists of them
    cdef PyObject* values[MAX_ARGS]   # the same
    cdef int n_places
    cdef int places[MAX_ARGS]     # where tensors are
    cdef int numbers[MAX_ARGS]    # theirs; of a list of them: LISTED
    cdef int n_over
    cdef int over[MOST_TENSORS]   # the numbers of those that are not needed any more


@cython.final
cdef class _Plan:
    # The calls for arguments of one description. Immutable.
    cdef bytes key
    cdef list steps
    cdef int count                # of tensors
    cdef object result            # a tensor's number, or a tuple of them


cdef object _numbered(dict numbers, object value):
    """A tensor's number, or a tuple of such; None: something else is there."""
    cdef list found
    if is_tensor(<PyObject*>value):
        return numbers.get(id(value))
    if type(value) is not tuple:
        return None
    found = [_numbered(numbers, item) for item in value]
    return None if None in found else tuple(found)


@cython.final
cdef class _Notes(Watcher):
    """What a function calls."""

    cdef dict numbers             # id of a tensor -> its number
    cdef list tensors             # in the order of the numbers: none is freed meanwhile
    cdef list steps
    cdef bint inside              # of a call
    cdef bint exact               # the calls can be repeated

    cdef int number(self, object value) except -1:
        cdef object item
        if is_tensor(<PyObject*>value):
            self.numbers[id(value)] = len(self.tensors)
            self.tensors.append(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.number(item)
        return 0

    cdef _Step before(self, Operator op, PyObject** args):
        cdef _Step step = _Step.__new__(_Step)
        cdef list constants = []
        cdef object value, number
        cdef int i
        step.op, step.n_places, step.n_over = op, 0, 0
        for i in range(op.nargs):
            value = <object>args[i]
            number = None if type(value) is tuple and not value else _numbered(
                self.numbers, value)
            if number is not None:
                step.places[step.n_places] = i
                step.numbers[step.n_places] = LISTED if type(number) is tuple else number
                step.n_places += 1
            elif type(value) is list or _has_tensor(value):
                self.exact = False
            constants.append(value if number is None else number)
        step.args = tuple(constants)
        for i in range(op.nargs):
            step.values[i] = PyTuple_GET_ITEM(step.args, i)
        self.exact = self.exact and op.role != OUT
        return step

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        return proceed(self.outer, op, keys, args) if self.inside else self.note(op, keys, args)

    cdef object compose(self, Operator op, PyObject** args):
        return proceed_composite(self.outer, op, args) if self.inside else self.note(op, 0, args)

    cdef object note(self, Operator op, keyset_t keys, PyObject** args):
        cdef _Step step = self.before(op, args)
        self.inside = True
        try:
            result = proceed(self.outer, op, keys, args) if keys else proceed_composite(
                self.outer, op, args)
        finally:
            self.inside = False
        self.steps.append(step)
        self.number(result)
        return result

    cdef _Plan plan(self, bytes key, object result):
        """The plan; None: there can be none."""
        cdef _Plan plan = _Plan.__new__(_Plan)
        cdef _Step step
        cdef dict last = {}
        cdef int i
        plan.key, plan.steps, plan.count = key, self.steps, len(self.tensors)
        plan.result = _numbered(self.numbers, result)
        if not self.exact or plan.result is None or plan.count > MOST_TENSORS:
            return None
        for step in self.steps:
            for i in range(step.n_places):
                number = step.args[step.places[i]]
                last.update(dict.fromkeys(number if type(number) is tuple else (number,), step))
        for number, step in last.items():
            step.over[step.n_over] = number
            step.n_over += 1
        return plan


cdef bint _has_tensor(object value) except -1:
    cdef object item
    if type(value) is tuple:
        for item in value:
            if _has_tensor(item):
                return True
    return isinstance(value, Tensor)


cdef object _taken(PyObject** tensors, object numbers):
    cdef object number
    if type(numbers) is tuple:
        return tuple([_taken(tensors, number) for number in numbers])
    return <object>tensors[<int>numbers]


cdef int _give(PyObject** tensors, int at, object result) except -1:
    """Note the tensors of a result; returns the next one's number."""
    cdef object item
    if is_tensor(<PyObject*>result):
        Py_INCREF(result)
        tensors[at] = <PyObject*>result
        return at + 1
    if isinstance(result, (tuple, list)):
        for item in result:
            at = _give(tensors, at, item)
    return at


cdef object _run(_Plan plan, tuple given):
    cdef PyObject* values[MAX_ARGS + 1]
    cdef list owner = PyList_New(plan.count)      # of NULLs, which it frees as well
    cdef PyObject** tensors = PySequence_Fast_ITEMS(owner)
    cdef object operands, result
    cdef _Step step
    cdef int i, at = 0
    for result in given:
        at = _give(tensors, at, result)
    for step in plan.steps:
        memcpy(values, step.values, step.op.nargs * sizeof(PyObject*))
        for i in range(step.n_places):
            if step.numbers[i] != LISTED:
                values[step.places[i]] = tensors[step.numbers[i]]
            else:
                operands = _taken(tensors, <object>step.values[step.places[i]])
                values[step.places[i]] = <PyObject*>operands
        values[step.op.nargs] = inplace_target(step.op, values)
        at = _give(tensors, at, call(step.op, values))
        for i in range(step.n_over):
            Py_CLEAR(tensors[step.over[i]])
    return _taken(tensors, plan.result)


@cython.final
cdef class Replayed:
    """A function whose calls are noted, see Note [Replayed calls]."""

    cdef object function
    cdef readonly dict plans      # description -> _Plan; None: seen once; True: there is none
    cdef _Plan last               # the one that ran last
    cdef dict __dict__            # the function's attributes

    def __cinit__(self, function):
        self.function, self.plans = function, {}
        update_wrapper(self, function)
        self.__code__ = function.__code__

    def __call__(self, *args):
        cdef TLS* state = tls()
        cdef Description to
        cdef _Plan plan = self.last
        cdef bytes key
        to.size = to.count = 0
        # A function mode may change each call that the function makes: autocast does.
        if state.watcher != NULL or modes_are_on() or (
                state.devices != NULL and default_device() is not None):
            return self.function(*args)
        _put_head(&to, b"M", default_code(), state.included, state.no_grad,
                  state.numbers_are_scalars, state.excluded)
        if not _describe(&to, <PyObject*>args):
            return self.function(*args)
        if plan is None or PyBytes_GET_SIZE(plan.key) != to.size or (
                memcmp(PyBytes_AS_STRING(plan.key), to.room, to.size)):
            key = PyBytes_FromStringAndSize(to.room, to.size)
            found = self.plans.get(key, False)
            if found is None:
                return self.noted(key, args)
            if type(found) is bool:           # True: there can be none
                if not found:
                    if len(self.plans) >= MOST_PLANS:
                        self.plans.clear()
                    self.plans[key] = None
                return self.function(*args)
            plan = self.last = found
        return _run(plan, args)

    cdef object noted(self, bytes key, tuple args):
        """Run the function, and note its calls."""
        cdef _Notes notes = _Notes.__new__(_Notes)
        notes.numbers, notes.tensors, notes.steps, notes.exact = {}, [], [], True
        notes.number(args)
        watch(notes)
        try:
            result = self.function(*args)
        finally:
            unwatch(notes)
        self.plans[key] = notes.plan(key, result) or True
        return result


def replayed(function):
    """A decorator of composites: what `function` calls follows from the geometry of its tensors."""
    return Replayed(function)


def varies():
    """What the running function calls now follows from more than that, or it warns."""
    cdef PyObject* watcher = tls().watcher
    while watcher != NULL and <object>watcher is not None:
        if type(<object>watcher) is _Notes:
            (<_Notes>watcher).exact = False
        watcher = <PyObject*>(<Watcher>watcher).outer
