"""From a Python call's arguments to an operator's normalised ones.

Python calls `function_entry` and `method_entry`, which bind, dispatch and clean up. Overloads are
tried in the order of registration; binding allocates nothing unless a value must be
converted (a list of ints to a tuple, a NumPy number to a Python one).
"""
from sys import intern

from numpy import bool_ as _np_bool

from imode._core.type_names import class_name

cimport cython
from cpython.bool cimport PyBool_Check
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.type cimport PyType_Check
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from numpy cimport NPY_BOOL, import_array
from imode._core.dispatch cimport (
    ANY, BOOL, BOOL_OPT, COMPOSITE, DEVICE_OPT, DTYPE, DTYPE_OPT, FLOAT, FLOAT_OPT, GENERATOR_OPT,
    INT, INT_OPT, INTS, INTS_OPT, MAX_ARGS, OPERAND, OUT, SCALAR, SCALAR_OPT, STR, STR_OPT, TENSOR,
    TENSOR_LIST, TENSOR_OPT, Operator, call, inplace_target, redispatch)
from imode._core.device cimport as_device
from imode._core.dtype cimport (
    FLOAT8_E4M3FN, code_from_object, code_of, dtype, dtype_from_code)
from imode._core.numbers cimport python_number
from imode._core.element cimport only_number
from imode._core.keyset cimport BIT_META, keyset_t
from imode._core.tensor cimport (
    Tensor, is_tensor, requires_grad, set_requires_grad, storage, typenum)
from imode import errors

import_array()

cdef extern from "Python.h":
    PyObject* Py_True
    PyObject* Py_False
    int PyLong_Check(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyUnicode_Check(PyObject*) noexcept
    int PyUnicode_Compare(object, object) except? -1
    int PyTuple_CheckExact(PyObject*) noexcept
    int PyTuple_Check(PyObject*) noexcept
    int PyList_Check(PyObject*) noexcept
    PyObject** PySequence_Fast_ITEMS(object) noexcept

cdef extern from "short_int.h":
    bint is_short_int "imode_is_short_int"(PyObject*) noexcept


ctypedef struct Bound:                    # one call's arguments; lives on the C stack
    PyObject* args[MAX_ARGS + 1]          # borrowed, per schema; then the out tensor or NULL
    PyObject* owned[2 * MAX_ARGS + 1]     # new objects from normalising; released after the call
    int n_owned
    PyObject* out                         # the out= argument, borrowed; NULL: none


ctypedef struct Mismatch:  # why the arguments did not bind; raised if no overload fits
    int problem                           # Problem
    int argument                          # position in the schema
    int given                             # position in the call, from 1; 0: by keyword
    PyObject* value                       # borrowed, from the caller or from Bound.owned


cdef object _Generator = object


def name_generator_class(cls):
    """Set the class for `Generator?` arguments, which a module above this one defines."""
    global _Generator
    _Generator = cls


# ---- binding ----

cdef int _own(Bound* bound, int i, object value) except -1:
    """Pass a converted value as argument i and keep it alive for the call."""
    Py_INCREF(value)
    bound.owned[bound.n_owned] = <PyObject*>value
    bound.n_owned += 1
    bound.args[i] = <PyObject*>value
    return 1


cdef inline void _release(Bound* bound) noexcept:
    while bound.n_owned:
        bound.n_owned -= 1
        Py_DECREF(<object>bound.owned[bound.n_owned])


cdef int bind(Operator op, PyObject* self, PyObject** args, Py_ssize_t n_given,
              PyObject* keywords, Bound* bound, Mismatch* why) except -1:
    """1: bound; 0: not, for the reason in `why`."""
    cdef int n_self = self != NULL
    cdef Py_ssize_t n = n_given + n_self
    cdef int i
    cdef Py_ssize_t k
    cdef PyObject* value
    cdef PyObject* unexpected = NULL
    cdef PyObject** defaults
    bound.n_owned = 0
    bound.out = NULL
    # Methods take their sizes one by one, functions only where nothing stands before them.
    cdef int varargs = op.varargs if op.varargs == n_self else -1
    if n > op.n_positional:
        if varargs < 0 or n <= varargs or not _may_be_varargs(args[varargs - n_self]):
            why.problem = TOO_MANY
            why.given = <int>n
            return 0
    bound.args[0] = self                  # a method's own tensor fits
    for i in range(n_self, <int>n if n < op.nargs else op.nargs):
        value = args[i - n_self]
        if _fits_at_sight(op.kinds[i], value):
            bound.args[i] = value
            continue
        if i == varargs and not (n == i + 1 and not _may_be_varargs(value)):
            if not _bind_varargs(op, i, args + i - n_self, <int>(n - i), bound, why):
                if why.problem == TOO_MANY:
                    why.given = <int>n
                elif why.problem == WRONG_TYPE:
                    why.given = i + 1 - n_self
                return 0
            n = i + 1
            break
        if not check(op, i, value, bound, why):
            if why.problem == WRONG_TYPE:
                why.given = i + 1 - n_self
            return 0
    if keywords == NULL:
        if n < op.n_required:
            why.problem = MISSING
            why.argument = <int>n
            return 0
        defaults = PySequence_Fast_ITEMS(op.defaults)
        for i in range(<int>n, op.nargs):
            bound.args[i] = defaults[i]
        bound.args[op.nargs] = inplace_target(op, bound.args)
        return 1
    for i in range(<int>n, op.nargs):
        bound.args[i] = NULL
    for k in range(PyTuple_GET_SIZE(<object>keywords)):
        i = _find(op, PyTuple_GET_ITEM(<object>keywords, k), n_self)
        value = args[n_given + k]
        if i == -2:
            if value != <PyObject*>None:
                bound.out = value
            continue
        if i >= 0 and (i < n or bound.args[i] != NULL):
            name = <object>PyTuple_GET_ITEM(<object>keywords, k)
            if name not in NUMPY_NAMES or name in op.names:
                why.problem = TWICE
                why.argument = i
                return 0
            i = -1
        if i < 0:
            if unexpected == NULL:
                unexpected = PyTuple_GET_ITEM(<object>keywords, k)
            continue
        if not check(op, i, value, bound, why):
            if why.problem == WRONG_TYPE:
                why.given = 0
            return 0
    for i in range(<int>n, op.nargs):
        if bound.args[i] == NULL:
            if i < op.n_required and PyTuple_GET_ITEM(op.defaults, i) == <PyObject*>REQUIRED:
                why.problem = MISSING
                why.argument = i
                return 0
            bound.args[i] = PyTuple_GET_ITEM(op.defaults, i)
    if unexpected != NULL:            # named last, as PyTorch does
        why.problem = UNEXPECTED_KEYWORD
        why.value = unexpected
        return 0
    bound.args[op.nargs] = inplace_target(op, bound.args)
    return 1


class _Required:
    """The default of an argument that has none."""

    def __repr__(self):
        return "<required>"


REQUIRED = _Required()


# What NumPy calls an argument that PyTorch calls otherwise.
cdef dict NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input",
                         "x1": "input", "x2": "other"}


cdef str _out_name = "out"        # interned, as the names in a caller's code are


cdef int _find(Operator op, PyObject* keyword, bint is_method) except -3:
    """The argument of a keyword; -2: out, -1: none."""
    cdef int i
    for i in range(op.nargs):
        if PyTuple_GET_ITEM(op.names, i) == keyword:
            return i
    cdef bint has_out = not is_method and (op.out is not None or op.role == OUT)
    if has_out and keyword == <PyObject*>_out_name:
        return -2
    for i in range(op.nargs):
        if PyUnicode_Compare(<object>PyTuple_GET_ITEM(op.names, i), <object>keyword) == 0:
            return i
    name = NUMPY_NAMES.get(<object>keyword, <object>keyword)
    if has_out and name == _out_name:
        return -2
    if name == "input" and not is_method and "self" in op.names:
        name = "self"
    return op.names.index(name) if name in op.names else -1


cdef bint _may_be_varargs(PyObject* value) noexcept:
    """Whether a lone value is one of several sizes rather than a sequence of them."""
    return not (PyTuple_Check(value) or PyList_Check(value) or value == <PyObject*>None)


cdef int _bind_varargs(Operator op, int i, PyObject** args, int n, Bound* bound,
                       Mismatch* why) except -1:
    cdef tuple sizes = PyTuple_New(n)
    cdef bint short = True        # whether 64 bits hold them all, as is seen at once
    cdef int k
    for k in range(n):
        item = <object>args[k]
        if not is_short_int(args[k]):
            short = False
        if not short and not PyLong_CheckExact(args[k]):
            # Only the first says whether it is sizes at all; after it True is 1.
            item = int(item) if k and PyBool_Check(item) else _as_int(item)
            if item is None:
                why.problem = WRONG_SIZE if k else WRONG_TYPE if n == 1 else TOO_MANY
                why.argument = i
                why.given = k + 1
                why.value = args[k]
                return 0
        Py_INCREF(item)
        PyTuple_SET_ITEM(sizes, k, item)
    return _own(bound, i, sizes) if short else _own_ints(op, bound, i, sizes)


cdef inline bint _fits_at_sight(int kind, PyObject* value) noexcept:
    """Whether a value needs no `check`; most values need none."""
    if kind == TENSOR or kind == OPERAND and is_tensor(value):
        return is_tensor(value)
    elif kind == OPERAND or kind == SCALAR or kind == SCALAR_OPT:
        return PyFloat_CheckExact(value) or is_short_int(value)
    elif kind == INT or kind == INT_OPT:
        return is_short_int(value)
    elif kind == TENSOR_OPT:
        return value == <PyObject*>None or is_tensor(value)
    elif kind == BOOL or kind == BOOL_OPT:
        return value == Py_True or value == Py_False
    elif kind == FLOAT or kind == FLOAT_OPT:
        return PyFloat_CheckExact(value)
    return kind == ANY


cdef int check(Operator op, int i, PyObject* value, Bound* bound, Mismatch* why) except -1:
    """Normalise one argument; 0 with the reason in `why` if it does not fit."""
    cdef int kind = op.kinds[i]
    cdef object converted
    bound.args[i] = value
    if _fits_at_sight(kind, value):
        return 1
    if kind <= OPERAND:
        if kind == TENSOR_LIST and not is_tensor(value):
            return _check_tensors(op, i, value, bound, why)
        return 1 if kind == OPERAND and _bind_number(bound, i, value) else (
            _wrong_type(i, value, why))
    if value == <PyObject*>None:
        if kind in (SCALAR_OPT, INT_OPT, INTS_OPT, FLOAT_OPT, BOOL_OPT, STR_OPT, DTYPE_OPT,
                    GENERATOR_OPT, DEVICE_OPT):
            return 1
        return _wrong_type(i, value, why)
    if kind == INT or kind == INT_OPT:
        if PyLong_CheckExact(value):
            return 1 if _fits(value) else _raise_wide()
        bools = is_tensor(value) and typenum(<Tensor>value) == NPY_BOOL    # only lists accept them
        converted = None if bools else _as_int(<object>value)
        if converted is not None and not _fits(<PyObject*>converted):
            _raise_wide()
    elif kind == INTS or kind == INTS_OPT:
        return _check_ints(op, i, value, bound, why)
    elif kind == BOOL or kind == BOOL_OPT:
        converted = bool(<object>value) if isinstance(<object>value, _np_bool) else None
    elif kind == FLOAT or kind == FLOAT_OPT:
        converted = _as_number(<object>value)
        converted = None if isinstance(converted, complex) else converted
    elif kind == SCALAR or kind == SCALAR_OPT:
        return 1 if _bind_number(bound, i, value) else _wrong_type(i, value, why)
    elif kind == STR or kind == STR_OPT:
        return 1 if PyUnicode_Check(value) else _wrong_type(i, value, why)
    elif kind == DTYPE_OPT or kind == DTYPE:
        if isinstance(<object>value, dtype):
            return 1
        converted = None
        if PyType_Check(<object>value) and <object>value in (bool, int, float, complex):
            converted = dtype_from_code(code_from_object(<object>value))
    elif kind == DEVICE_OPT:
        converted = as_device(<object>value)
    elif kind == GENERATOR_OPT:
        return 1 if isinstance(<object>value, _Generator) else _wrong_type(i, value, why)
    else:
        converted = None
    if converted is None:
        return _wrong_type(i, value, why)
    return _own(bound, i, converted)


cdef int _wrong_type(int i, PyObject* value, Mismatch* why) noexcept:
    why.problem = WRONG_TYPE
    why.argument = i
    why.value = value
    return 0


cdef int _check_tensors(Operator op, int i, PyObject* value, Bound* bound,
                        Mismatch* why) except -1:
    cdef tuple items
    cdef Py_ssize_t k
    if PyTuple_CheckExact(value):
        items = <tuple>value
    elif PyList_Check(value) or PyTuple_Check(value):
        items = tuple(<object>value)
    else:
        return _wrong_type(i, value, why)
    _own(bound, i, items)         # keeps `why.value` alive, too
    for k in range(PyTuple_GET_SIZE(items)):
        if not is_tensor(PyTuple_GET_ITEM(items, k)):
            why.problem = WRONG_ELEMENT
            why.argument = i
            why.given = <int>k
            why.value = PyTuple_GET_ITEM(items, k)
            return 0
    return 1


cdef int _check_ints(Operator op, int i, PyObject* value, Bound* bound, Mismatch* why) except -1:
    cdef Py_ssize_t k
    cdef tuple items
    cdef list converted
    if PyTuple_CheckExact(value):
        items = <tuple>value
    elif PyList_Check(value) or PyTuple_Check(value):
        items = tuple(<object>value)
    else:
        # A single int stands for an int[n] of equal values.
        item = None
        if op.lengths[i] or op.kinds[i] == INTS_OPT:
            item = <object>value if is_short_int(value) else _as_int(<object>value)
        if item is None:
            return _wrong_type(i, value, why)
        if not is_short_int(<PyObject*>item) and not _fits(<PyObject*>item):
            _raise_wide()
        return _own(bound, i, (item,) * (op.lengths[i] if op.lengths[i] else 1))
    for k in range(PyTuple_GET_SIZE(items)):
        if not is_short_int(PyTuple_GET_ITEM(items, k)):
            break
    else:
        return _own(bound, i, items)
    _own(bound, i, items)         # keeps `why.value` alive: __index__ may empty the caller's list
    converted = []
    for k in range(PyTuple_GET_SIZE(items)):
        item = _as_int(items[k])
        if item is None:
            why.problem = WRONG_ELEMENT
            why.argument = i
            why.given = <int>k
            why.value = PyTuple_GET_ITEM(items, k)
            return 0
        converted.append(item)
    return _own_ints(op, bound, i, tuple(converted))


cdef inline bint _fits(PyObject* value) noexcept:
    """Whether an int is within 64 bits."""
    cdef int overflow
    PyLong_AsLongLongAndOverflow(value, &overflow)
    return overflow == 0


cdef int _bind_number(Bound* bound, int i, PyObject* value) except -1:
    """Bind a number, converted to one of Python's own types; 0 if it is not a number."""
    if PyFloat_CheckExact(value) or is_short_int(value):
        return 1
    number = _as_number(<object>value)
    if number is None:
        return 0
    if PyLong_Check(<PyObject*>number):
        _check_range(number)
    return 1 if <PyObject*>number == value else _own(bound, i, number)


cdef int _check_range(object number) except -1:
    """OverflowError unless PyTorch accepts an int: at most 64 bits, signed or unsigned."""
    cdef int overflow
    PyLong_AsLongLongAndOverflow(<PyObject*>number, &overflow)
    if overflow < 0:
        raise errors.numbers.too_small()
    if overflow > 0 and number >= 1 << 64:
        raise errors.numbers.too_large()
    return 0


cdef int _raise_wide() except -1:
    raise errors.numbers.beyond_64_bits()


cdef int _own_ints(Operator op, Bound* bound, int i, tuple items) except -1:
    cdef Py_ssize_t k
    for k in range(PyTuple_GET_SIZE(items)):
        if not is_short_int(PyTuple_GET_ITEM(items, k)) and not _fits(PyTuple_GET_ITEM(items, k)):
            name = "input" if i == 0 and op.names[0] == "self" else op.names[i]
            raise TypeError(
                f"{op.name}(): argument '{name}' failed to unpack the object at pos {k + 1} with "
                "error \"Overflow when unpacking long long\"")
    return _own(bound, i, items)


cdef object _as_int(object value):
    """An int from an int (not a bool), a NumPy integer or a one-element integer tensor."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if hasattr(type(value), "__index__"):
        try:
            return int(PyNumber_Index(value))
        except TypeError:    # an array of several elements has __index__, which raises
            return None
    return None


cdef object _as_number(object value):
    """The number that an object or a 0-dim tensor without gradient stands for; else None."""
    if isinstance(value, Tensor):
        if storage(<Tensor>value).ndim or requires_grad(<Tensor>value) or (
                (<Tensor>value).keys & BIT_META):
            return None
        return only_number(<Tensor>value)
    return python_number(value)


# ---- errors ----

cdef object _refusal(Operator op, Mismatch* why, bint is_method, bint named):
    value = <object>why.value if why.problem in (
        WRONG_TYPE, WRONG_ELEMENT, WRONG_SIZE, UNEXPECTED_KEYWORD) else None
    return errors.arguments.refusal(
        op, is_method, named, why.problem, why.argument, why.given, value)


cdef tuple _given(PyObject** args, Py_ssize_t n, PyObject* keywords):
    """(the values of a call, the names of the last of them)."""
    names = <object>keywords if keywords != NULL else ()
    return [<object>args[i] for i in range(n + len(names))], names


cdef object _call_misfit(Operator first, PyObject* self, PyObject** args, Py_ssize_t n,
                         PyObject* keywords, Bound* bound):
    """A call that fits no overload: in the argument order of older scripts, or a TypeError."""
    from imode._core.legacy_orders import call_in_older_order
    from imode._core.overriding import call_misfit

    cdef Mismatch why
    cdef Operator op
    given, names = _given(args, n, keywords)
    own = (<object>self,) if self != NULL else ()
    overridden = call_misfit(first, own, given, names)
    if overridden is not None:
        return overridden[0]
    if first.outside:
        raise _misfit_outside(first, args, n, keywords, bound)
    result = call_in_older_order(first, own, given, names)
    if result is not None:
        return result
    op = errors.arguments.only_plausible(first, first.name, len(given), self != NULL)
    if op is None or bind(op, self, args, n, keywords, bound, &why):
        # There is no single reason to show: too many overloads fit, or the arguments' own methods
        # now answer differently.
        raise errors.arguments.no_overload(first, first.name, self != NULL, given, names)
    missing = errors.arguments.missing_first(
        op, self != NULL, n, names, why.problem, why.argument)
    raise missing or _refusal(op, &why, self != NULL, keywords != NULL)


cdef object _misfit_outside(Operator first, PyObject** args, Py_ssize_t n, PyObject* keywords,
                            Bound* bound):
    """The error of a call that fits no overload of a library's operator."""
    cdef Mismatch why
    cdef Operator op = first
    reasons = []
    while op is not None:
        if not bind(op, NULL, args, n, keywords, bound, &why):
            value = <object>why.value if why.problem in (
                WRONG_TYPE, WRONG_ELEMENT, WRONG_SIZE, UNEXPECTED_KEYWORD) else None
            reasons.append(errors.library.misfit(op, why.problem, why.argument, why.given, value))
        _release(bound)
        op = op.next_overload
    return errors.library.no_overload(first, reasons)


cdef object _call_out(Operator first, Operator op, PyObject* self, PyObject** args, Py_ssize_t n,
                      PyObject* keywords, Bound* bound):
    try:
        op = _bind_out(op, bound)
    except TypeError as error:
        return _call_wrong_out(error, first, self, args, n, keywords)
    return call(op, bound.args)


cdef object _call_wrong_out(TypeError error, Operator first, PyObject* self, PyObject** args,
                            Py_ssize_t n, PyObject* keywords):
    """A call whose out= is no tensor, or not as many as there are results."""
    from imode._core.overriding import call_misfit

    given, names = _given(args, n, keywords)
    overridden = call_misfit(first, (<object>self,) if self != NULL else (), given, names)
    if overridden is not None:
        return overridden[0]
    raise errors.arguments.wrong_out(error, first, self != NULL, given, names)


# ---- the call ----

cdef object _call(Operator first, PyObject* self, PyObject** args, Py_ssize_t n,
                  PyObject* keywords):
    cdef Bound bound
    cdef Mismatch why
    cdef Operator op = first
    try:
        while not bind(op, self, args, n, keywords, &bound, &why):
            _release(&bound)
            if op.next_overload is None:
                return _call_misfit(first, self, args, n, keywords, &bound)
            op = op.next_overload
        if bound.out != NULL or op.role == OUT:
            return _call_out(first, op, self, args, n, keywords, &bound)
        result = call(op, bound.args)
        if op.requires_grad_arg >= 0 and op.role != COMPOSITE and (
                <object>bound.args[op.requires_grad_arg] is True):
            require_grad(<Tensor?>result)
        return result
    finally:
        _release(&bound)


cdef int require_grad(Tensor result) except -1:
    if code_of[typenum(result)] < FLOAT8_E4M3FN:
        raise errors.graph.integers_require_grad("")
    return set_requires_grad(result, True)


cdef Operator _bind_out(Operator op, Bound* bound):
    """The operator that writes to out=. The target becomes the argument after the schema's."""
    cdef Operator out = op if op.role == OUT else op.out
    cdef object target
    if out is None:
        raise TypeError(f"{op.name}() got an unexpected keyword argument 'out'")
    if bound.out == NULL:
        raise errors.out.missing(op.name)
    target = <object>bound.out
    if op.n_results == 1:
        if isinstance(target, tuple) and len(target) == 1:
            target = target[0]
        if not isinstance(target, Tensor):
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not "
                            f"{class_name(target)}")
    else:
        if not isinstance(target, (tuple, list)):
            raise TypeError(f"{op.name}(): argument 'out' must be tuple of Tensors, not "
                            f"{class_name(target)}")
        target = tuple(target)
        if op.n_results not in (len(target), -1):     # -1: any number
            raise TypeError(f"{op.name}() expected tuple of {op.n_results} elements but got "
                            f"{len(target)}")
        for position, item in enumerate(target):
            if not isinstance(item, Tensor):
                raise TypeError(
                    f"{op.name}(): argument 'out' must be tuple of Tensors, but found element of "
                    f"type {class_name(item)} at pos {position}")
    _own(bound, op.nargs, target)
    return out


cdef object function_entry(PyObject* op, PyObject* args, Py_ssize_t n, PyObject* keywords):
    return _call(<Operator>op, NULL, <PyObject**>args, n, keywords)


cdef object method_entry(PyObject* op, PyObject* self, PyObject** args, Py_ssize_t n,
                         PyObject* keywords):
    return _call(<Operator>op, self, args, n, keywords)


@cython.binding(False)
@cython.final
cdef class Alias:
    """A second name of an operator, such as `clip` for `clamp`: argument errors use this name."""

    def __init__(self, Operator operator not None, str name not None):
        self.operator, self.name = operator, name

    def __getattr__(self, name):
        # As of an Operator; an alias comes out of a pickle as another object of the same name.
        if name == self.name:
            from imode._core.dispatch import function_that_calls
            return function_that_calls(self, name)
        raise errors.no_attribute(type(self).__name__, name)

    def __reduce__(self):
        return Alias, (self.operator, self.name)


cdef object _by_second_name(TypeError error, Alias alias, bint is_method, tuple given):
    return errors.arguments.by_second_name(
        error, alias.operator, alias.name, is_method, *given)


cdef object alias_function_entry(PyObject* alias, PyObject* args, Py_ssize_t n, PyObject* keywords):
    try:
        return _call((<Alias>alias).operator, NULL, <PyObject**>args, n, keywords)
    except TypeError as error:
        raise _by_second_name(error, <Alias>alias, False, _given(<PyObject**>args, n, keywords))


cdef object alias_method_entry(PyObject* alias, PyObject* self, PyObject** args, Py_ssize_t n,
                               PyObject* keywords):
    try:
        return _call((<Alias>alias).operator, self, args, n, keywords)
    except TypeError as error:
        raise _by_second_name(error, <Alias>alias, True, _given(args, n, keywords))


cdef object bound_redispatch(Operator op, keyset_t keys, tuple args, dict kwargs):
    """Operator.redispatch with the arguments of a Python call."""
    cdef Bound bound
    cdef Mismatch why
    cdef PyObject* values[2 * MAX_ARGS]
    cdef Py_ssize_t n = len(args)
    cdef int i
    if n + len(kwargs) > 2 * MAX_ARGS:
        raise TypeError(f"{op.name}() takes {op.n_positional} positional arguments but {n} were "
                        "given")
    names = tuple(kwargs)
    for i in range(n):
        values[i] = <PyObject*>args[i]
    for i, name in enumerate(names):
        values[n + i] = <PyObject*>kwargs[name]
    cdef PyObject* keywords = <PyObject*>names if names else NULL
    try:
        if not bind(op, NULL, values, n, keywords, &bound, &why):
            if op.outside:
                _release(&bound)
                raise _misfit_outside(op, values, n, keywords, &bound)
            raise _refusal(op, &why, False, keywords != NULL)
        if bound.out != NULL or op.role == OUT:
            op = _bind_out(op, &bound)
        return redispatch(op, keys, bound.args)
    finally:
        _release(&bound)


cdef object vectorcall_entry(PyObject* op, PyObject** args, size_t n, PyObject* keywords):
    # The shifts drop the top bit of the count, a flag: args[-1] may be overwritten.
    return _call(<Operator>op, NULL, args, <Py_ssize_t>(n << 1 >> 1), keywords)


# ---- for a look inside ----

def bind_call(Operator first not None, tuple args, dict kwargs):
    """The operator that a call would run and its arguments, of a call that is not made.

    Returns (operator, arguments, out): the overload that fits, the values after normalising, and
    the tensor, or tuple of them, to write to, or None. Raises what the call would raise.
    """
    from imode._core.legacy_orders import older_order

    cdef Bound bound
    cdef Mismatch why
    cdef Operator op = first
    cdef list given = [*args, *kwargs.values()]
    cdef tuple names = tuple([intern(name) for name in kwargs])
    cdef PyObject* values[3 * MAX_ARGS]
    cdef PyObject* keywords = <PyObject*>names if names else NULL
    cdef int i
    if len(given) > 3 * MAX_ARGS:
        raise errors.arguments.no_overload(first, first.name, False, given, names)
    for i in range(len(given)):
        values[i] = <PyObject*>given[i]
    try:
        while not bind(op, NULL, values, len(args), keywords, &bound, &why):
            _release(&bound)
            if op.next_overload is None:
                older = older_order(first, (), given, names)
                if older is not None:
                    return bind_call(first, (), older)
                return _call_misfit(first, NULL, values, len(args), keywords, &bound)
            op = op.next_overload
        if bound.out != NULL or op.role == OUT:
            try:
                op = _bind_out(op, &bound)
            except TypeError as error:
                raise errors.arguments.wrong_out(error, first, False, given, names)
        target = <object>bound.args[op.nargs] if bound.args[op.nargs] != NULL else None
        return op, [<object>bound.args[i] for i in range(op.nargs)], target
    finally:
        _release(&bound)
