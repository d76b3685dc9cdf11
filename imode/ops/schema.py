"""The operator table's legend: what an entry is, and all that is derived from it.

An operator is one entry in one file of this folder:

    op("mul(Tensor self, Tensor|Scalar other) -> Tensor", ufunc(np.multiply),
       derivative={"self": lambda grad, other: grad * conj(other),
                   "other": lambda grad, self: grad * conj(self)},
       variants="function method inplace out")

**Schema.** `name[.overload](arguments) -> results`. Types: Tensor, Tensor?, Tensor[],
Tensor|Scalar, Scalar, int, int[], int[n] (a lone int is repeated), float, bool, str, dtype?,
device?, Generator?, any; `?` allows None; `*` starts keyword-only arguments; defaults are Python
literals. `Tensor(a)` in the first argument and the results: the results are views of it.
`Tensor(a!)`: it is written to. Overloads are entries of their own and are tried in the order of
registration.

**Kernel.** A function over ndarrays (tensors arrive as ndarrays, it returns new ones, or views for
a view operator), `ufunc(...)`, or a compiled CKernel. In-place and out= forms follow from it. Where
it is a function of the same file `op` decorates it, and its docstring is the operator's.

**Fast case.** `fast=` names a compiled kernel for the plain arguments of few elements; it looks at
them, and where they are not plain the kernel beside it runs, the general case. One that serves
tensors lies in `imode/kernels/<family>/`; that of a composite operator calls operators and lies
beside it in `imode/ops/<family>/`. Each module of fast cases is called `<name>_fast`, unless the
same module has the loops of the general case. `Operator.entry` has both, `kernel` and `fast`, and
`tests/test_fast_cases.py` holds them against each other. The fast case of `ufunc(...)` is in its
own kernel, `ufunc_kernel` in `_core/loops.pyx`: `_general` in the same file is the general one.

**Derivative.** From an input's name (or a tuple of names) to a formula in imode's operators, or to
an operator that computes it; LINEAR: this operator, with the gradient as its `grad_output`. A
formula's parameter names (an operator's arguments) are what is saved: arguments, results,
`<argument>_shape`, `<argument>_dtype`, `<argument>_geometry` (shape, strides, offset),
`<argument>_matrix` (the same, packed: see `_matrix` in autograd/kernels.pyx); `grad` is the first
result's gradient, `grads` all of them, `needs` which of the key's inputs want one. The node's
edges are in the order of the inputs here. An operator without a derivative says
`differentiable=False`.

**Out.** `out=Out(...)` where out= is not like the others: which dtypes, layout and memory it may
have, and who refuses to be recorded, in the words of `Out` in `_core/out.pyx`. That file does what
they say, for all operators.

**Variants.** function (imode.name), method (Tensor.name), inplace (name_), out (out=), nn
(imode.nn.functional.name); unless said, "function method", and none of what starts with "_". Every
operator is also `imode.ops.name`.
"""

import sys
from functools import partial
from operator import itemgetter

from imode import errors
from imode._core import library_name
from imode._core.adapter import general_case
from imode._core.callables import function_of, make_function, make_method
from imode._core.dispatch import (
    CKernel,
    Kind,
    Operator,
    Role,
    count_operators,
    forget_operators,
)
from imode._core.elsewhere import ON_THE_DEVICE, SHAPES_ALONE
from imode._core.internals import conj, install
from imode._core.keyset import DispatchKey
from imode._core.loops import Ints, Layout, Number, in_layout, take_brains, ufunc_ckernel
from imode._core.out import Out, composite_out, recorded
from imode._core.sparse import ON_COORDINATES
from imode._core.stored import DTYPE_FIRST, stored_kernel
from imode.autograd.derivative import Derivative
from imode.autograd.kernels import (
    BUMP_INPLACE,
    BUMP_OUT,
    RECORD_BY_INPUTS,
    RECORD_FUNCTIONAL,
    RECORD_INPLACE,
    RECORD_METADATA,
    REFUSE_OUT,
    TRACK_VIEW,
)
from imode.ops.help import add_way
from imode.ops.parse import parse, signature
from imode.ops.stored_dtypes import dtypes_taken, how_stored

__all__ = ["LINEAR", "Out", "alias", "composite", "conj", "op", "ufunc"]

LINEAR = "the operator itself is its derivative by `grad_output`"
_CPU, _META, _OUTSIDE, _SPARSE, _STORED, _ADINPLACEORVIEW, _AUTOGRAD = (
    DispatchKey.CPU,
    DispatchKey.Meta,
    DispatchKey.PrivateUse1,
    DispatchKey.SparseCPU,
    DispatchKey.Stored,
    DispatchKey.ADInplaceOrView,
    DispatchKey.Autograd,
)
_NUMBERS = {
    "wrapped": 0,
    "parameter": Number.PARAMETER,
    "exponent": Number.PARAMETER | Number.NARROW,
    "checked": Number.CHECKED | Number.PARAMETER,
    "wide": Number.WIDE,
    "checked wide": Number.CHECKED | Number.WIDE | Number.PARAMETER,
    "filled": Number.CHECKED | Number.FILLED,
}
functions = {}  # name -> built-in function, for imode.<name>
nn_functions = {}  # name -> built-in function, for imode.nn.functional.<name>
methods = {}  # name -> operator, for documentation and stubs


class Entry:
    """One declaration, as written: what the operator was derived from.

    `out`: an Out.
    `by_values`: the shape of the result depends on elements: not for tensors on meta. `writes`:
    arguments that the kernel changes though the schema does not say so.

    What messages about arguments have to know of PyTorch's operator, each a word of `op`:
    `older`: the orders that its arguments had in older scripts, one after another: their names.
    `overloads`: which more overloads it has: "number", one with a number in the place of `other`;
    "number without out", likewise, of functions with out= alone; "one", any; "longer", with an
    argument more; "longer functions", likewise, but of methods; or how many arguments those take.
    `compiled`: though only nn.functional has it, it is no function in Python.
    `checked_by`, `counted_by`: the functions that look at the types of the arguments, and at their
    number, if it hands them on to others.
    """

    __slots__ = (
        "checked_by",
        "compiled",
        "counted_by",
        "differentiable",
        "doc",
        "fast",
        "formulas",
        "kernel",
        "older",
        "by_values",
        "out",
        "overloads",
        "writes",
        "stored",
        "takes",
        "result_names",
        "variants",
    )

    def __init__(
        self,
        parsed,
        kernel,
        fast,
        differentiable,
        variants,
        doc,
        *,
        out=Out(),  # noqa: B008 - immutable
        older="",
        overloads=None,
        compiled=False,
        checked_by=None,
        counted_by=None,
        by_values=False,
        writes=(),
    ):
        self.kernel, self.fast, self.differentiable = kernel, fast, differentiable
        self.formulas = None  # the derivative, as given to `op`
        self.variants, self.doc, self.result_names = variants, doc, parsed.result_names
        self.out = out
        self.older = [order.split() for order in older.split(",")] if older else ()
        self.overloads = {parsed.name.removesuffix("_"): overloads}  # and those of its aliases
        self.compiled = compiled
        self.checked_by, self.counted_by = checked_by, counted_by
        self.by_values, self.writes = by_values, writes
        self.stored, self.takes = "own", ()  # of operators with kernels: see `_declare`


def _number_flags(numbers):
    """The flags of loops.pxd for each of the most operands that a ufunc has."""
    words = (numbers,) * 4 if isinstance(numbers, str) else (*numbers, *["wrapped"] * 4)[:4]
    return tuple(_NUMBERS[word] for word in words)


def ufunc(
    loops,
    ints="same",
    fallback=None,
    scaled=None,
    bounds=False,
    precheck=None,
    numbers="wrapped",
    layout="pointwise",
    guard=None,
):
    """A NumPy ufunc as a kernel: typed loops, type promotion, broadcasting, in-place and out=.

    `ints`: what integer operands compute in: "same", "float" (the default float dtype),
    "error"; "nobool": as "same", but `fallback` is called where an operand is bool; "divided": as
    "same", but it is called where integers would be divided by 0; "tensors": as
    "same", but numbers have no say in the dtype; "alike": as that, but `fallback` is called where
    tensors differ in dtype; "mask": the first operand is a condition (see `where`).
    `fallback`: a function over ndarrays, called with all arguments when one beyond the operands is
    not its default, when an operand is None, or when there is no loop for the operands' dtype.
    `scaled`: a ufunc of one operand more, for floats and an alpha that is not its default.
    `bounds`: the second operand may be None (no lower bound) or the third (no upper one).
    `precheck`: a function over ndarrays, called with all arguments where shapes, memory or out= are
    wrong: it raises for operands that are refused before those are looked at, or gives a result.
    `numbers`: how a number becomes an operand: "wrapped", as a cast does, integers round the ends
    of the dtype and floats to infinity; "parameter", likewise, but like checked ones it has no say
    in how the result lies; "exponent", as that, but refused where 16 bits are to hold it and
    cannot; "checked", refused where the dtype cannot hold it; "wide", beside float16 as a float32,
    in which then all is computed; "checked wide"; "filled", checked, but beside float16 whatever a
    float64 holds. Or a tuple, one for each operand. The alpha of `scaled` is checked.
    `layout`: how results lie in memory: "pointwise", by all operands; in "rows"; "parts", in rows
    where complex numbers give real ones; "like" a copy of the first operand.
    """
    flags = _number_flags(numbers)
    kernel = ufunc_ckernel(
        loops, Ints[ints.upper()], scaled, bounds, precheck, flags, Layout[layout.upper()], guard
    )
    return kernel.beside(in_layout(fallback, layout, flags[: loops.nin]), __name__)


class Results(tuple):
    """Several named results, as the types of imode.return_types have them."""

    __slots__ = ()

    def __reduce__(self):
        return _restore, (type(self).__name__, tuple(self))

    def __repr__(self):
        lines = [f"{k}={v!r}" for k, v in zip(self._fields, self, strict=True)]
        name = f"{library_name.name}.return_types.{type(self).__name__}"
        return f"{name}(\n" + ",\n".join(lines) + ")"


def _restore(name, items):
    return tuple.__new__(getattr(sys.modules["imode.return_types"], name), items)


def _result_type(name, result_names):
    """A tuple type with named fields for several results: imode.return_types.<name>."""
    fields = {field: property(itemgetter(i)) for i, field in enumerate(result_names)}
    members = {"__slots__": (), "__module__": "imode.return_types", "_fields": result_names}
    cls = type(name, (Results,), members | fields)
    sys.modules["imode.return_types"].__dict__.setdefault(name, cls)
    return partial(tuple.__new__, cls)


# ---- declaring ----


def op(schema, kernel=None, **words):
    """Declare an operator and derive its variants; returns the Operator.

    Without `kernel` it is a decorator of that, a Python function whose docstring is then the
    operator's documentation. The words are those of `_declare`.
    """
    where = _line_of_declaration(sys._getframe(1))
    if kernel is None:
        return lambda function: _declare(
            schema, function, where, **{"doc": function.__doc__} | words
        )
    return _declare(schema, kernel, where, **words)


def _line_of_declaration(frame):
    """``module:line`` of the statement that declares an operator, perhaps through a function."""
    while frame.f_code.co_name != "<module>" and frame.f_back.f_globals is frame.f_globals:
        frame = frame.f_back
    return f"{frame.f_globals['__name__']}:{frame.f_lineno}"


def _declare(
    schema,
    kernel,
    where,
    *,
    fast=None,
    derivative=None,
    differentiable=True,
    variants=None,
    name=None,
    doc=None,
    tracked=True,
    inplace_only=False,
    floats_only=False,
    alone=None,
    real_only=None,
    number=None,
    inplace_derivative=None,
    inplace_kernel=None,
    shows=None,
    constant="",
    others_constant=False,
    **facts,
):
    """Declare an operator, at `where`: ``module:line``.

    `fast`: the compiled case for few elements, tried first; `kernel` runs where it does not serve.
    `name`: its graph node's name where that is not CamelCase(op) + "Backward0". `tracked=False`: a
    view that autograd does not record as one (detach). `inplace_only`: the derivative, if any, is
    the in-place form's; the others' results are not differentiable, and autograd does not look at
    out= (comparisons).
    `inplace_derivative`: that of the in-place form, whose node ends in "Backward1".
    `inplace_kernel`: that of the in-place form, where it checks more. `floats_only`:
    what gives or writes integers is not recorded (copy_); others refuse to give them.
    `alone`: of one that makes several views, the call that makes one, for messages: a function of
    the node and of which.
    `real_only`: the derivative is not defined for complex results, which are refused by this name.
    `number`: the node's name where the last operand is a number: in formulas, and where the
    derivative is the in-place form's alone, everywhere.
    `shows`: what `_saved_...` of the node shows besides what the formulas read, {name: how}: True,
    the argument, which is kept for it; a function of what is kept, and of `needs`,
    whether each input wants a gradient; None, nothing, though a formula reads it.
    `constant`: names of results that have no gradient; `grads` has the others'.
    `others_constant`: tensors that the derivative has no formula for must not require grad.
    `facts`: see `Entry`.
    """
    parsed = parse(schema)
    words = _words(parsed.name, variants)
    _check_entry(parsed, derivative, differentiable)
    entry = Entry(parsed, kernel, fast, derivative is not None, words, doc, **facts)
    entry.formulas = derivative
    compiled = _compile_kernel(parsed.name, kernel, fast, where)
    result_type = None
    if parsed.n_results > 1 and not parsed.result_names[0].startswith("result"):
        result_type = _result_type(parsed.name, parsed.result_names)
    form = partial(_operator, parsed, schema, entry, result_type=result_type)
    if parsed.role != Role.VIEW and "metadata" not in words:
        entry.stored = how_stored(parsed.name, kernel, where)
        entry.takes = dtypes_taken(parsed.name, kernel)
        if entry.stored == "loops":
            take_brains(kernel)
    base = form(parsed.name, parsed.overload, parsed.role)
    _register_backends(base, compiled, "metadata" in words)
    if derivative is not None:
        node = name or _camel(parsed.name) + "Backward0"
        formulas = {
            key: base if formula is LINEAR else formula for key, formula in derivative.items()
        }
        derivative = Derivative(
            base, formulas, node, parsed.result_names, real_only, number, inplace_only, shows
        )
        derivative.floats_only, derivative.alone = floats_only, alone
        derivative.constant = sum(1 << parsed.result_names.index(n) for n in constant.split())
        base._link(derivative=derivative)
    _register_autograd(base, tracked, inplace_only, "metadata" in words)
    if others_constant:
        base.register(_AUTOGRAD, RECORD_BY_INPUTS)
    _publish(base, parsed, words, doc)
    if "inplace" in words:
        inplace = form(parsed.name + "_", parsed.overload, Role.INPLACE)
        of_inplace = derivative
        if inplace_derivative is not None:
            node = name if "::" in (name or "") else _camel(parsed.name) + "Backward1"
            of_inplace = Derivative(base, inplace_derivative, node, parsed.result_names)
        inplace._link(functional=base, derivative=of_inplace)
        base._link(inplace=inplace)
        if inplace_kernel is not None:
            written = _compile_kernel(inplace.name, inplace_kernel, fast, where)
        else:
            written = compiled
        _register_backends(inplace, written)
        _register_autograd(inplace, tracked, inplace_only)
        _publish(inplace, parsed, words, inplace_doc(parsed.name))
    if "out" in words and entry.out.into is not None:
        _link_out(base, parsed, entry.out.into)
    elif "out" in words:
        out = form(parsed.name, f"{parsed.overload}_out" if parsed.overload else "out", Role.OUT)
        out._link(functional=base, derivative=derivative)
        base._link(out=out)
        _register_backends(out, entry.out.kernel(compiled))
        _register_autograd(out, tracked, inplace_only)
    return base


def inplace_doc(name):
    """The documentation of an in-place form."""
    return f"""In-place form of `{name}`: writes the result into the tensor, which it returns.

Raises RuntimeError where the result has another shape, or a dtype that the tensor's cannot take,
and for a leaf that requires grad.
"""


def _check_entry(parsed, derivative, differentiable):
    if derivative is None and differentiable and parsed.role != Role.VIEW:
        raise ValueError(f"{parsed.name}: give a derivative, or say differentiable=False")
    if derivative is not None and {"grad", "grads", "needs"} & {a[1] for a in parsed.arguments}:
        raise ValueError(f"{parsed.name}: grad, grads and needs are what a formula is given")


def _register_backends(operator, kernel, metadata=False):
    """Give a form of an operator its kernel on the CPU, and those that follow from it elsewhere."""
    viewing = metadata or operator.role == Role.VIEW  # touches no element: the same everywhere
    stored = operator.entry.stored
    if stored != "own":
        operator.register(_STORED, stored_kernel(operator))
        if Kind.DTYPE_OPT in operator.kinds and operator.role != Role.OUT:
            kernel = kernel.after(DTYPE_FIRST)
    operator.register(_CPU, kernel)
    operator.register(_META, kernel if viewing else SHAPES_ALONE)
    operator.register(_OUTSIDE, kernel if viewing else ON_THE_DEVICE)
    operator.register(_SPARSE, ON_COORDINATES)


def _register_autograd(operator, tracked, inplace_only, metadata=False):
    """Give a form of an operator the generic kernels of its role."""
    if operator.role == Role.VIEW:
        if tracked:
            operator.register(_ADINPLACEORVIEW, TRACK_VIEW)
        if operator.differentiable:
            operator.register(_AUTOGRAD, RECORD_FUNCTIONAL)
    elif operator.role == Role.INPLACE:
        operator.register(_ADINPLACEORVIEW, BUMP_INPLACE)
        operator.register(_AUTOGRAD, RECORD_METADATA if metadata else RECORD_INPLACE)
    elif operator.role == Role.OUT:
        operator.register(_ADINPLACEORVIEW, BUMP_OUT)
        if not inplace_only:
            operator.register(_AUTOGRAD, REFUSE_OUT)
    elif operator.differentiable and not inplace_only:
        operator.register(_AUTOGRAD, RECORD_FUNCTIONAL)


def composite(
    schema,
    *,
    variants=None,
    doc=None,
    fast=None,
    written=None,
    named=False,
    **facts,
):
    """Declare an operator that is a Python function over other operators: a decorator.

    `fast`: the compiled case, as in `op`; the function is the general one.
    `written`: the function of the in-place form, where that is not copying the result.
    `named`: several results are a named tuple, into which the function's are put.
    `facts`: as in `op`.
    """

    def declare(function):
        parsed = parse(schema)
        words = _words(parsed.name, variants)
        text = doc or function.__doc__
        result_type = _result_type(parsed.name, parsed.result_names) if named else None
        calls = _naming(function, result_type) if named else function
        entry = Entry(parsed, calls, fast, True, words, text, **facts)
        form = partial(_operator, parsed, schema, entry, result_type=result_type)
        base = form(parsed.name, parsed.overload, Role.COMPOSITE, function=calls)
        base._link(fast=fast)
        _publish(base, parsed, words, text)
        if "inplace" in words:
            writer = written or _inplace_of(parsed.name, function)
            inplace = form(parsed.name + "_", parsed.overload, Role.COMPOSITE, function=writer)
            inplace._link(functional=base)
            base._link(inplace=inplace)
            _publish(inplace, parsed, words, inplace_doc(parsed.name))
        if "out" in words:
            hands_on = len(parsed.arguments) < function.__code__.co_argcount
            into = calls if hands_on else composite_out(calls, entry, parsed.name)
            _link_out(base, parsed, entry.out.into or into)
        return base

    return declare


def _naming(function, result_type):
    """The function, its results put into their named tuple."""

    def named(*args):
        return result_type(function(*args))

    return named


def _link_out(base, parsed, function):
    """Give `base` an out= form that is a Python function of all arguments and the out tensor."""
    last = (Kind.ANY, "out", False, None, 0, False)
    out = Operator(
        parsed.name,
        f"{parsed.overload}_out" if parsed.overload else "out",
        base.schema,
        entry=base.entry,
        arguments=[*parsed.arguments, last],
        n_positional=parsed.n_positional,
        role=Role.COMPOSITE,
        n_results=parsed.n_results,
        function=function,
    )
    out._link(functional=base)
    base._link(out=out)


def _inplace_of(name, function):
    def written(self, *rest):
        # What the function saves of its argument must outlive the write.
        result = function(self.clone() if recorded((self,)) else self, *rest)
        if result.shape != self.shape:
            raise errors.out.wrong_shape(self.shape, result.shape)
        return self.copy_(result)

    written.__name__ = f"{name}_"
    return written


def _compile_kernel(name, kernel, fast, where):
    """What runs under the CPU's key: the fast case, if any, with the general one beside it."""
    if isinstance(kernel, CKernel) and fast is None:
        return kernel.beside(kernel.general, where)
    if not callable(kernel) and not isinstance(kernel, CKernel):
        raise TypeError(f"{name}: expected a kernel, got {type(kernel).__name__}")
    return (fast or general_case).beside(kernel, where)


def _operator(parsed, schema, entry, name, overload, role, result_type=None, function=None):
    return Operator(
        name,
        overload,
        schema,
        entry=entry,
        arguments=parsed.arguments,
        n_positional=parsed.n_positional,
        role=role,
        n_results=parsed.n_results,
        result_type=result_type,
        function=function,
    )


def _words(name, variants):
    """The variants of an operator, one by one."""
    if variants is None:
        variants = "" if name.startswith("_") else "function method"
    return variants.split()


def _camel(name):
    """max_pool2d_backward -> MaxPool2DBackward; a leading underscore is dropped."""
    return name.title().replace("_", "")


# ---- publishing: functions, methods, imode.ops ----

_first = {}  # name -> the first overload: where the others are chained


def _publish(operator, parsed, words, doc):
    first = _first.get(operator.name)
    if first is not None:
        while first.next_overload is not None:
            first = first.next_overload
        first._link(next_overload=operator)
        first = _first[operator.name]
    else:
        first = _first[operator.name] = operator
    name = operator.name
    # Overloads share one function and one method: binding tries them all.
    text = signature(parsed, name, doc, False, _takes_out(operator))
    if "function" in words and name not in functions:
        functions[name] = make_function(first, name, text, "imode")
    if "nn" in words and name not in nn_functions:
        made = functions.get(name) or make_function(first, name, text, "imode.nn.functional")
        nn_functions[name] = made
    if "method" in words and name not in methods:
        methods[name] = first
        install(name, make_method(first, name, signature(parsed, name, doc, True)))
    _add_way(name, operator, parsed, doc)


def _takes_out(operator):
    return "out" in operator.entry.variants and operator.functional is None


def _add_way(name, operator, parsed, doc):
    """Add an overload's signature and documentation to what `help()` shows of a name."""
    for table in (functions, nn_functions):
        if name in table:
            add_way(table[name], name, parsed, doc, False, _takes_out(operator))
    if name in methods:
        add_way(function_of(methods[name], True), name, parsed, doc, True)


def alias(name, operator, variants=None, overloads=None):
    """Publish an operator under a second name too (`imode.multiply` is `imode.mul`).

    `overloads`: as in `Entry`, under that name.
    """
    operator = _first[operator.name]
    operator.entry.overloads[name] = overloads
    words = operator.entry.variants if variants is None else variants.split()
    _publish_alias(name, operator, words, operator.entry.doc)
    if operator.inplace is not None and variants is None:
        inplace = [word for word in words if word in ("function", "method")]
        _publish_alias(name + "_", operator.inplace, inplace, inplace_doc(operator.name))


def _publish_alias(name, operator, words, doc):
    parsed = parse(operator.schema)
    operator = _first[operator.name]  # where the other overloads are found, too
    if "function" in words or "nn" in words:
        text = signature(parsed, name, doc, False, _takes_out(operator))
        made = make_function(operator, name, text, "imode")
        for table, word in ((functions, "function"), (nn_functions, "nn")):
            if word in words:
                table[name] = made
    if "method" in words:
        methods[name] = operator
        install(name, make_method(operator, name, signature(parsed, name, doc, True)))
    _first[name] = operator
    while operator is not None:
        _add_way(name, operator, parse(operator.schema), operator.entry.doc)
        operator = operator.next_overload


def functional(name):
    """Publish a Python function as imode.nn.functional.<name>: a decorator.

    For the few whose signature there is not that of `imode.<name>`.
    """

    def declare(function):
        function.__name__ = function.__qualname__ = name
        function.__module__ = "imode.nn.functional"
        nn_functions[name] = function
        return function

    return declare


def published():
    """Every name of imode.ops and its operator (the first of the overloads)."""
    return dict(_first)


# ---- taking back the half of an import that failed ----

_TABLES = functions, methods, _first, nn_functions, vars(sys.modules["imode.return_types"])


def mark():
    """How much is declared now."""
    return [count_operators(), *map(len, _TABLES)]


def undo(mark):
    """Forget what was declared since `mark()`: the functions, methods and operators, by name."""
    n_operators, *sizes = mark
    forget_operators(n_operators)
    forgotten = [
        dict(table.popitem() for _ in range(len(table) - size))
        for table, size in zip(_TABLES, sizes, strict=True)
    ]
    return forgotten[:3]
