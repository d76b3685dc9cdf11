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
a view operator), `ufunc(...)`, or a compiled CKernel. In-place and out= forms follow from it.

**Derivative.** From an input's name (or a tuple of names) to a formula in imode's operators. A
formula's parameter names are what is saved: arguments, results, `<argument>_shape`,
`<argument>_dtype`, `<argument>_geometry` (shape, strides, offset), `<argument>_matrix` (the same,
packed: see `_matrix` in autograd/kernels.pyx); `grad` is the first result's gradient, `grads` all
of them, `needs` which of the key's inputs want one. The node's edges are in the order of the inputs
here. An operator without a derivative says `differentiable=False`.

**Variants.** function (imode.name), method (Tensor.name), inplace (name_), out (out=), nn
(imode.nn.functional.name). Every operator is also `imode.ops.name`.
"""

import sys
from functools import partial
from operator import itemgetter

from .._core.adapter import numpy_ckernel
from .._core.callables import make_function, make_method
from .._core.dispatch import (
    CKernel,
    Operator,
    count_operators,
    excluded_keys,
    forget_operators,
    is_grad_enabled,
)
from .._core.internals import conj, install
from .._core.keyset import DispatchKey
from .._core.loops import ufunc_ckernel
from .._core.tensor import Tensor
from ..autograd.derivative import Derivative
from ..autograd.kernels import (
    BUMP_INPLACE,
    BUMP_OUT,
    RECORD_FUNCTIONAL,
    RECORD_INPLACE,
    RECORD_METADATA,
    REFUSE_OUT,
    TRACK_VIEW,
)
from ..errors import out_requires_grad
from ..kernels import shortcuts
from .apart import check_apart
from .laid import laid_out
from .parse import ANY, COMPOSITE, INPLACE, OUT, VIEW, parse, signature

__all__ = ["alias", "composite", "conj", "op", "ufunc"]

_CPU, _ADINPLACEORVIEW, _AUTOGRAD = (
    DispatchKey.CPU,
    DispatchKey.ADInplaceOrView,
    DispatchKey.Autograd,
)
_INTS = ("same", "float", "error", "nobool", "alike", "tensors", "mask")  # loops.pxd
_LAID = ("pointwise", "rows", "like", "parts")  # likewise
_NUMBERS = {"wrapped": 0, "apart": 8, "checked": 9, "wide": 2, "checked wide": 11, "filled": 5}
functions = {}  # name -> built-in function, for imode.<name>
nn_functions = {}  # name -> built-in function, for imode.nn.functional.<name>
methods = {}  # name -> operator, for documentation and stubs


class Entry:
    """One declaration, as written: what the operator was derived from."""

    __slots__ = (
        "differentiable",
        "doc",
        "formulas",
        "kernel",
        "out_refusal",
        "result_names",
        "rows_out",
        "through",
        "variants",
    )

    def __init__(self, kernel, differentiable, variants, doc, result_names, through=None):
        self.kernel, self.differentiable = kernel, differentiable
        self.formulas = None  # the derivative, as given to `op`
        self.variants, self.doc, self.result_names = variants, doc, result_names
        self.through = through
        # What a result in an out= of another dtype raises, from (wanted, found, which result);
        # None: nothing, where it can be cast.
        self.out_refusal = None
        # Whether an out= that is resized lies in row order, from the dtype computed in and out's.
        self.rows_out = None


def _number_flags(numbers):
    """The flags of loops.pxd for each of the most operands that a ufunc has."""
    words = (numbers,) * 4 if isinstance(numbers, str) else (*numbers, *["wrapped"] * 4)[:4]
    return tuple(_NUMBERS[word] for word in words)


class ufunc:
    """A NumPy ufunc as a kernel: typed loops, type promotion, broadcasting, in-place and out=.

    `ints`: what integer operands compute in: "same", "float" (the default float dtype),
    "error"; "nobool": as "same", but `otherwise` is called where an operand is bool; "tensors": as
    "same", but numbers have no say in the dtype; "alike": as that, but `otherwise` is called where
    tensors differ in dtype; "mask": the first operand is a condition (see `where`).
    `otherwise`: a function over ndarrays, called with all arguments when one beyond the operands is
    not its default, when an operand is None, or when there is no loop for the operands' dtype.
    `scaled`: a ufunc of one operand more, for floats and an alpha that is not its default.
    `bounds`: the second operand may be None (no lower bound) or the third (no upper one).
    `exact`: out= must have the result's dtype, not only one that it can be cast to.
    `first`: a function over ndarrays, called with all arguments where shapes, memory or out= are
    wrong: it raises for operands that are refused before those are looked at, or gives a result.
    `numbers`: how a number becomes an operand: "wrapped", as a cast does, integers round the ends
    of the dtype and floats to infinity; "apart", likewise, but like checked ones it has no say in
    how the result lies; "checked", refused where the dtype cannot hold it; "wide",
    beside float16 as a float32, in which then all is computed; "checked wide"; "filled", checked,
    but beside float16 whatever a float64 holds. Or a tuple, one for each operand. The alpha of
    `scaled` is checked.
    `laid`: how results lie in memory: "pointwise", by all operands; in "rows"; "parts", in rows
    where complex numbers give real ones; "like" a copy of the first operand.
    """

    __slots__ = (
        "bounds",
        "exact",
        "first",
        "ints",
        "laid",
        "numbers",
        "otherwise",
        "scaled",
        "ufunc",
    )

    def __init__(
        self,
        ufunc,
        ints="same",
        otherwise=None,
        scaled=None,
        exact=False,
        bounds=False,
        first=None,
        numbers="wrapped",
        laid="pointwise",
    ):
        self.numbers = _number_flags(numbers)
        self.ufunc, self.scaled = ufunc, scaled
        self.otherwise = laid_out(otherwise, laid, self.numbers[: ufunc.nin])
        self.exact, self.bounds, self.laid = exact, bounds, _LAID.index(laid)
        self.first = first
        self.ints = _INTS.index(ints)


class Results(tuple):
    """Several named results, as the types of imode.return_types have them."""

    __slots__ = ()

    def __reduce__(self):
        return _restore, (type(self).__name__, tuple(self))

    def __repr__(self):
        lines = [f"{k}={v!r}" for k, v in zip(self._fields, self, strict=True)]
        return f"imode.return_types.{type(self).__name__}(\n" + ",\n".join(lines) + ")"


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


def op(
    schema,
    kernel,
    *,
    derivative=None,
    differentiable=True,
    variants="function method",
    name=None,
    doc=None,
    tracked=True,
    inplace_only=False,
    floats_only=False,
    real_only=None,
    number=None,
    inplace_derivative=None,
    inplace_kernel=None,
    shows=None,
    through=None,
    apart=None,
):
    """Declare an operator and derive its variants; returns the Operator.

    `name`: its graph node's name where that is not CamelCase(op) + "Backward0". `tracked=False`: a
    view that autograd does not record as one (detach). `inplace_only`: the derivative, if any, is
    the in-place form's; the others' results are not differentiable, and autograd does not look at
    out= (comparisons).
    `inplace_derivative`: that of the in-place form, whose node ends in "Backward1".
    `inplace_kernel`: that of the in-place form, where it checks more. `floats_only`:
    what gives or writes integers is not recorded (copy_); others refuse to give them.
    `real_only`: the derivative is not defined for complex results, which are refused by this name.
    `number`: the node's name where the last operand is a number: in formulas, and where the
    derivative is the in-place form's alone, everywhere.
    `shows`: what `_saved_...` of the node shows besides what the formulas read, {name: how}: True,
    the argument, which is kept for it; a function of what is kept, and of `needs`,
    whether each input wants a gradient; None, nothing, though a formula reads it.
    `through`: the operator that refuses out= in PyTorch while autograd records, if another.
    `apart`: what memory out= may not share: "part", a part of the first tensor's; "rest", likewise,
    and any of the other tensors'; "first", any of the first tensor's and a part of the others';
    "all", that of any of them. Or, with one of these, a function of
    the arguments, where memory is looked at before they are: it gives the result's shape, or None
    where out= is judged as it lies.
    """
    parsed = parse(schema)
    words = variants.split()
    where = f"imode.ops.{sys._getframe(1).f_globals['__name__'].rpartition('.')[2]}"
    _check_entry(parsed, derivative, differentiable)
    entry = Entry(kernel, derivative is not None, words, doc, parsed.result_names, through)
    entry.formulas = derivative
    compiled = _compile_kernel(parsed.name, kernel, where)
    result_type = None
    if parsed.n_results > 1 and not parsed.result_names[0].startswith("result"):
        result_type = _result_type(parsed.name, parsed.result_names)
    form = partial(_operator, parsed, schema, entry, result_type=result_type)
    base = form(parsed.name, parsed.overload, parsed.role)
    base.register(_CPU, compiled)
    if derivative is not None:
        node = name or _camel(parsed.name) + "Backward0"
        derivative = Derivative(
            base, derivative, node, parsed.result_names, real_only, number, inplace_only, shows
        )
        derivative.floats_only = floats_only
        base._link(derivative=derivative)
    _register_autograd(base, tracked, inplace_only, "metadata" in words)
    _publish(base, parsed, words, doc)
    if "inplace" in words:
        inplace = form(parsed.name + "_", parsed.overload, INPLACE)
        of_inplace = derivative
        if inplace_derivative is not None:
            node = name if "::" in (name or "") else _camel(parsed.name) + "Backward1"
            of_inplace = Derivative(base, inplace_derivative, node, parsed.result_names)
        inplace._link(functional=base, derivative=of_inplace)
        base._link(inplace=inplace)
        if inplace_kernel is not None:
            inplace.register(_CPU, _compile_kernel(inplace.name, inplace_kernel, where))
        else:
            inplace.register(_CPU, compiled)
        _register_autograd(inplace, tracked, inplace_only)
        _publish(inplace, parsed, words, inplace_doc(parsed.name))
    if "out" in words:
        out = form(parsed.name, f"{parsed.overload}_out" if parsed.overload else "out", OUT)
        out._link(functional=base, derivative=derivative)
        base._link(out=out)
        out.register(_CPU, compiled)
        _register_autograd(out, tracked, inplace_only)
        _keep_apart(base, apart)
    return base


def inplace_doc(name):
    """The documentation of an in-place form."""
    return f"""In-place form of `{name}`: writes the result into the tensor, which it returns.

Raises RuntimeError where the result has another shape, or a dtype that the tensor's cannot take,
and for a leaf that requires grad.
"""


def _check_entry(parsed, derivative, differentiable):
    if derivative is None and differentiable and parsed.role != VIEW:
        raise ValueError(f"{parsed.name}: give a derivative, or say differentiable=False")
    if derivative is not None and {"grad", "grads", "needs"} & {a[1] for a in parsed.arguments}:
        raise ValueError(f"{parsed.name}: grad, grads and needs are what a formula is given")


def _register_autograd(operator, tracked, inplace_only, metadata=False):
    """Give a form of an operator the generic kernels of its role."""
    if operator.role == VIEW:
        if tracked:
            operator.register(_ADINPLACEORVIEW, TRACK_VIEW)
        if operator.differentiable:
            operator.register(_AUTOGRAD, RECORD_FUNCTIONAL)
    elif operator.role == INPLACE:
        operator.register(_ADINPLACEORVIEW, BUMP_INPLACE)
        operator.register(_AUTOGRAD, RECORD_METADATA if metadata else RECORD_INPLACE)
    elif operator.role == OUT:
        operator.register(_ADINPLACEORVIEW, BUMP_OUT)
        if not inplace_only:
            operator.register(_AUTOGRAD, REFUSE_OUT)
    elif operator.differentiable and not inplace_only:
        operator.register(_AUTOGRAD, RECORD_FUNCTIONAL)


def composite(
    schema,
    *,
    variants="function method",
    doc=None,
    shortcut=None,
    written=None,
    through=None,
    apart=None,
):
    """Declare an operator that is a Python function over other operators: a decorator.

    `shortcut`: a compiled function that serves the plain cases (imode.kernels.shortcuts).
    `written`: the function of the in-place form, where that is not copying the result.
    `through`, `apart`: as in `op`.
    """

    def declare(function):
        parsed = parse(schema)
        words = variants.split()
        text = doc or function.__doc__
        entry = Entry(function, True, words, text, parsed.result_names, through)
        form = partial(_operator, parsed, schema, entry)
        base = form(parsed.name, parsed.overload, COMPOSITE, function=function)
        base._link(shortcut=shortcut)
        _publish(base, parsed, words, text)
        if "inplace" in words:
            writer = written or _inplace_of(parsed.name, function)
            inplace = form(parsed.name + "_", parsed.overload, COMPOSITE, function=writer)
            inplace._link(functional=base)
            base._link(inplace=inplace)
            _publish(inplace, parsed, words, inplace_doc(parsed.name))
        if "out" in words:
            _link_out(base, parsed, _out_of(parsed.name, function, entry))
            _keep_apart(base, apart)
        return base

    return declare


def _link_out(base, parsed, function, overload="out"):
    """Give `base` an out= form that is a Python function of all arguments and the out tensor."""
    last = (ANY, "out", False, None, 0, False)
    out = Operator(
        parsed.name,
        f"{parsed.overload}_{overload}" if parsed.overload else overload,
        base.schema,
        entry=base.entry,
        arguments=[*parsed.arguments, last],
        n_positional=parsed.n_positional,
        role=COMPOSITE,
        n_results=parsed.n_results,
        function=function,
    )
    out._link(functional=base)
    base._link(out=out)


def out_form(base, function):
    """Give an operator an out= form of its own: `function(base, arguments, out)`."""
    prefix = f"{base.overload}_" if base.overload else ""
    overload = "out" if base.out is None else f"own_{base.out.overload.removeprefix(prefix)}"
    _link_out(base, parse(base.schema), lambda *all: function(base, all[:-1], all[-1]), overload)


def _keep_apart(base, apart):
    """Let the out= form refuse memory that it shares with the arguments; see `op`."""
    if apart is None:
        return
    into, names = base.out, base.names

    def checked(functional, arguments, out):
        if not recorded((*arguments, out)):  # refused anyway
            check_apart(apart, functional, arguments, out)
        n = functional.n_positional
        return into(*arguments[:n], **dict(zip(names[n:], arguments[n:])), out=out)

    out_form(base, checked)
    base.out._link(shortcut=shortcuts.apart(into))


def recorded(arguments):
    """Whether autograd records a call with these arguments."""
    if not is_grad_enabled() or DispatchKey.Autograd in excluded_keys():
        return False
    return any(
        isinstance(t, Tensor) and t.requires_grad
        for argument in arguments
        for t in (argument if isinstance(argument, (list, tuple)) else (argument,))
    )


def _inplace_of(name, function):
    def written(self, *rest):
        # What the function saves of its argument must outlive the write.
        result = function(self.clone() if recorded((self,)) else self, *rest)
        if result.shape != self.shape:
            raise RuntimeError(
                f"output with shape {list(self.shape)} doesn't match the broadcast shape "
                f"{list(result.shape)}"
            )
        return self.copy_(result)

    written.__name__ = f"{name}_"
    return written


def _out_of(name, function, entry):
    def into(*arguments):
        from . import _write_out

        *rest, out = arguments
        if recorded(arguments):
            raise out_requires_grad(entry.through or name, name)
        result = function(*rest)
        if isinstance(result, tuple):
            pairs = zip(result, out, strict=True)
            return type(result)(_write_out(r, out=o, name=name) for r, o in pairs)
        refuse_out(entry, result, out)
        if entry.rows_out is not None:
            result = result.contiguous()
        return _write_out(result, out=out, name=name)

    return into


def refuse_out(entry, result, out):
    """Raise where an operator may not write its result to an out= of that dtype."""
    if entry.out_refusal is not None and result.dtype != out.dtype:
        message = entry.out_refusal(result.dtype.numpy, out.dtype.numpy, 0)
        if message is not None:
            raise RuntimeError(message)


def _compile_kernel(name, kernel, where):
    if isinstance(kernel, CKernel):
        return kernel
    if isinstance(kernel, ufunc):
        return ufunc_ckernel(
            kernel.ufunc,
            name,
            kernel.ints,
            kernel.otherwise,
            where,
            kernel.scaled,
            kernel.exact,
            kernel.bounds,
            kernel.first,
            kernel.numbers,
            kernel.laid,
        )
    if not callable(kernel):
        raise TypeError(f"{name}: expected a kernel, got {type(kernel).__name__}")
    return numpy_ckernel(kernel, where)


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


def _camel(name):
    """threshold_backward -> ThresholdBackward; a leading underscore is dropped."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


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
    if "function" in words and name not in functions:
        functions[name] = make_function(first, name, signature(parsed, name, doc, False), "imode")
    if "nn" in words and name not in nn_functions:
        nn_functions[name] = functions.get(name) or make_function(
            first, name, signature(parsed, name, doc, False), "imode.nn.functional"
        )
    if "method" in words and name not in methods:
        methods[name] = first
        install(name, make_method(first, name, signature(parsed, name, doc, True)))


def alias(name, operator, variants=None):
    """Publish an operator under a second name too (`imode.multiply` is `imode.mul`)."""
    operator = _first[operator.name]
    words = operator.entry.variants if variants is None else variants.split()
    _publish_alias(name, operator, words, operator.entry.doc)
    if operator.inplace is not None and variants is None:
        inplace = [word for word in words if word in ("function", "method")]
        _publish_alias(name + "_", operator.inplace, inplace, inplace_doc(operator.name))


def _publish_alias(name, operator, words, doc):
    parsed = parse(operator.schema)
    operator = _first[operator.name]  # where the other overloads are found, too
    if "function" in words or "nn" in words:
        made = make_function(operator, name, signature(parsed, name, doc, False), "imode")
        for table, word in ((functions, "function"), (nn_functions, "nn")):
            if word in words:
                table[name] = made
    if "method" in words:
        methods[name] = operator
        install(name, make_method(operator, name, signature(parsed, name, doc, True)))
    _first[name] = operator


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

_TABLES = functions, nn_functions, methods, _first


def mark():
    """How much is declared now."""
    return [count_operators(), *map(len, _TABLES)]


def undo(mark):
    """Forget what was declared since `mark()`; returns the methods among it."""
    n_operators, *sizes = mark
    forgotten = list(methods)[sizes[2] :]
    forget_operators(n_operators)
    for table, size in zip(_TABLES, sizes, strict=True):
        while len(table) > size:
            table.popitem()
    return forgotten
