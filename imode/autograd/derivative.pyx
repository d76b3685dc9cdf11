"""Derivatives: the formulas of an operator's entry, and what they need saved.

# Note [Numbers in formulas]
In PyTorch, `tensor * 2` written in Python turns the number into a tensor: the node is
`MulBackward0`, with two edges. In C++, where formulas and composite operators run, the same call is
the overload `mul.Scalar`, whose node is `MulBackward1`, with one edge. So while a formula or a
composite runs, operators whose entry names such a `number` node are recorded with it. Where the
number in a formula is itself an operand that the user gave, as the other factor of a product, it
remains a tensor.
"""
cimport cython
from cpython.object cimport PyObject
from imode._core.dispatch cimport OPERAND, TENSOR_LIST, Operator
from libc.stdint cimport uint64_t

cdef dict _SPECIAL = {"grad": GRAD, "grads": GRADS, "needs": NEEDS}


cdef tuple _parameters(object function):
    """The names of a formula's parameters; an operator's `grad_output` is the gradient."""
    if isinstance(function, Operator):
        return tuple(["grad" if name == "grad_output" else name
                      for name in (<Operator>function).names])
    return function.__code__.co_varnames[:function.__code__.co_argcount]


@cython.final
cdef class Derivative:
    """An operator's derivative: its formulas, and what they need saved.

    `formulas` is the entry's dict from an input's name (or a tuple of names) to a function, or to
    an operator; the names of its parameters say what it reads. Raises ValueError for a name that is
    neither an argument nor a result, and for two inputs that are a Tensor[]. `real_only`: complex
    results raise when recorded, in an error that uses this name. `number`: the name of the node
    where the last operand is a number, which gets no gradient; used in formulas only, or `always`.
    `shows`: see `ops.schema.op`.
    """

    def __init__(self, Operator op, dict formulas, str name, tuple result_names,
                 str real_only=None, str number=None, bint always=False, dict shows=None):
        cdef int i
        self.name = name
        self.real_only = real_only
        self.list_input = -1
        self.dtype_at = op.names.index("dtype") if "dtype" in op.names else -1
        self.unimplemented = name == "torch::autograd::NotImplemented"
        self.refused = all(getattr(f, "refuses_all", False) for f in formulas.values())
        # By name, as PyTorch orders them: under create_graph the order of recording shows it.
        keys = sorted(formulas, key=lambda key: key if isinstance(key, tuple) else (key,))
        self.functions = [formulas[key] for key in keys]
        of_input = {}
        for key in formulas:
            for input_name in key if isinstance(key, tuple) else (key,):
                if input_name not in op.names:
                    raise ValueError(f"{op.qualified_name}: derivative of unknown input "
                                     f"{input_name!r}")
                of_input[input_name] = keys.index(key)
        if number is not None:
            self.number_at = max([i for i in range(op.nargs) if op.kinds[i] == OPERAND])
            others = {k: f for k, f in formulas.items() if k != op.names[self.number_at]}
            self.with_number = Derivative(op, others, number, result_names, real_only)
            self.with_number.numbers_are_scalars = True
            self.number_always = always
        self.n_formulas = len(self.functions)
        for argument, number_of_formula in of_input.items():
            i = op.names.index(argument)
            self.inputs[self.n_inputs] = i
            self.formula_of[self.n_inputs] = number_of_formula
            if op.kinds[i] == TENSOR_LIST:
                if self.list_input >= 0:
                    raise ValueError(f"{op.qualified_name}: a derivative has at most one input "
                                     "that is a Tensor[]")
                self.list_input = self.n_inputs
            self.n_inputs += 1
        if self.n_formulas > MAX_FORMULAS:
            raise ValueError(f"{op.qualified_name}: more than {MAX_FORMULAS} formulas")
        slots = {}
        # Arguments by name, then results: PyTorch's order of packing and unpacking. What is no
        # tensor comes last, for the first slots hold tensors at less cost.
        read = {p for function in self.functions for p in _parameters(function)
                if p in op.names or p not in _SPECIAL}
        for parameter in sorted(read, key=lambda p: (
                2 * (op.kinds[op.names.index(p)] > OPERAND) if p in op.names else
                1 if p in result_names else 2, p)):
            slots[parameter] = len(slots)
            self._add_slot(op, slots[parameter], parameter, result_names)
        for i, function in enumerate(self.functions):
            self._add_formula(op, i, function, slots)
        self.numbers_are_scalars = not any([self.slots[i].operand for i in range(len(slots))])
        self.computed = {}
        for shown, how in (shows or {}).items():
            self._show(op, shown, how, slots, result_names)
        self.n_slots = len(slots)
        self.slot_names = tuple(slots)
        names = [self._shown(op, i) for i in range(self.n_slots)]
        self.shown_names = tuple([None if shows is not None and shown in shows and (
            shows[shown] is not True) else shown for shown in names])

    cdef int _add_formula(self, Operator op, int number, object function, dict slots) except -1:
        cdef Formula* formula = &self.formulas[number]
        cdef int i
        formula.function = <PyObject*>function
        for i in range(self.n_inputs):
            if self.formula_of[i] == number:
                formula.inputs[formula.n_inputs] = i
                formula.n_inputs += 1
        for parameter in _parameters(function):
            if parameter in slots:
                self.slots[slots[parameter]].formulas |= <uint64_t>1 << number
                formula.parameters[formula.n_parameters] = slots[parameter]
            else:
                formula.parameters[formula.n_parameters] = _SPECIAL[parameter]
                self.reads_all |= parameter == "grads"
            formula.n_parameters += 1
        return 0

    cdef int _add_slot(self, Operator op, int i, str name, tuple result_names) except -1:
        cdef Slot* slot = &self.slots[i]
        if i >= MAX_SAVED:
            raise ValueError(f"{op.qualified_name}: more than {MAX_SAVED} saved values")
        if name in op.names:
            slot.source, slot.index = FROM_ARGUMENT, op.names.index(name)
        elif name in result_names:
            slot.source, slot.index = FROM_RESULT, result_names.index(name)
            self.keeps_results = True
        else:
            for suffix, source in (("_shape", FROM_SHAPE), ("_shapes", FROM_SHAPE),
                                   ("_dtype", FROM_DTYPE), ("_geometry", FROM_GEOMETRY),
                                   ("_matrix", FROM_MATRIX), ("_device", FROM_DEVICE)):
                if name.endswith(suffix) and name[:-len(suffix)] in op.names:
                    slot.source = source
                    slot.index = op.names.index(name[:-len(suffix)])
                    break
            else:
                raise ValueError(f"{op.qualified_name}: its derivative reads {name!r}, which is "
                                 "no argument and no result")
        if slot.source == FROM_ARGUMENT:
            slot.self_argument = slot.index == 0
            slot.operand = op.kinds[slot.index] == OPERAND
            slot.listed = op.kinds[slot.index] == TENSOR_LIST
            slot.not_tensor = op.kinds[slot.index] > OPERAND
        slot.not_tensor |= slot.source == FROM_SHAPE or slot.source == FROM_MATRIX
        return 0

    cdef int _show(self, Operator op, str name, object how, dict slots,
                   tuple result_names) except -1:
        if how is None:
            return 0
        if how is True:
            parameters = (name,)
        else:
            parameters = _parameters(how)
            self.computed[name] = how, parameters
        for parameter in parameters:
            if parameter not in slots and parameter != "needs":
                slots[parameter] = len(slots)
                self._add_slot(op, slots[parameter], parameter, result_names)
        return 0

    cdef object _shown(self, Operator op, int i):
        """The name in _saved_...: PyTorch's for shapes; None for dtypes and the like."""
        cdef Slot* slot = &self.slots[i]
        name = <str>self.slot_names[i]
        if slot.source == FROM_SHAPE and op.kinds[slot.index] != TENSOR_LIST:
            return name.removesuffix("_shape") + "_sym_sizes"
        return name if slot.source <= FROM_RESULT else None
