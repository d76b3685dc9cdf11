"""Registering by an operator's name: a function as an operator, kernels, derivatives."""

from functools import partial

from imode import errors
from imode._core.dispatch import Operator
from imode._core.importing import uninterrupted
from imode._core.layers import add_formula, drop_formula, signature

from .callables import CustomOpDef, OpOverloadPacket
from .infer import infer_schema
from .libraries import Library, device_keys, line_of, lock
from .namespaces import operator_of, packet_of
from .recording import Formula

_custom_ops = {}  # qualified name -> CustomOpDef, of those that are there
_kept = {}  # namespace -> Library of what was registered without one: it stays


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Make a function an operator, which is called like it: a decorator without `fn`.

    `name`: "namespace::name". `mutates_args`: the names of the arguments that it writes to, or
    "unknown". `device_types`: where it runs; None: anywhere. `schema`: without a name; else it
    follows from the annotations. Its results share no memory with its arguments. The same name
    again replaces the operator; `close()`, or a with block, takes it back.

    >>> import imode
    >>> @imode.library.custom_op("docs_custom::twice", mutates_args=())
    ... def twice(x: imode.Tensor) -> imode.Tensor:
    ...     return x + x
    >>> twice(imode.ones(2)), imode.ops.docs_custom.twice(imode.ones(2))
    (tensor([2., 2.]), tensor([2., 2.]))
    >>> twice.close()
    """
    ns, colons, op_name = name.partition("::") if isinstance(name, str) else ("", "", "")
    if not colons or not ns.isidentifier() or not op_name.isidentifier():
        raise ValueError(f"custom_op(): expected a name like 'namespace::name', got {name!r}")

    def make(function):
        if not callable(function):
            raise TypeError(f"custom_op(): expected a function, got {type(function).__name__}")
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        keys = device_keys(name, device_types)
        lib = Library(ns, "FRAGMENT")
        op = lib._operator(f"{op_name}{text}" if text.startswith("(") else text)
        if op.name != op_name or op.overload:
            raise ValueError(f"custom_op(): the schema {text!r} is not one of {name!r}")
        if schema is not None:
            _check_mutates(op, mutates_args, schema)
        with uninterrupted, lock:
            before = _custom_ops.get(name)
            if before is not None:
                before.close()
            try:
                for key in keys:
                    lib._lay(op, function, key, exclusive=True)
                lib._publish(op)
            except BaseException:
                lib.close()
                raise
            found = CustomOpDef(lib, packet_of(ns, op_name), function, text)
            lib._undo.insert(0, partial(_forget, name, found))
            _custom_ops[name] = found
        return found

    return make if fn is None else make(fn)


def _check_mutates(op, mutates_args, schema):
    written = {op.names[i] for i in op.entry.signature.written}
    if written != set(mutates_args):
        raise ValueError(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` and "
            f"`schema={schema}. The schema suggests that the op mutates {written or set()}, which "
            "is different from what was provided to us in `mutates_args`. Please make these "
            "consistent."
        )


def _forget(name, custom):
    if _custom_ops.get(name) is custom:
        del _custom_ops[name]


def custom_op_of(name):
    """The custom operator of a qualified name, for pickle; RuntimeError if there is none."""
    found = _custom_ops.get(name)
    if found is None:
        raise errors.library.no_such_operator(*name.split("::"), "pickle")
    return found


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Give an operator a kernel for a device type, "cpu", or several: a decorator without `func`.

    `op`: an operator, its name "namespace::name", or what `custom_op` returned. `lib`: the Library
    that takes it back; None: it stays as long as the operator.

    >>> import imode
    >>> with imode.library.Library("docs_kernel", "DEF") as library:
    ...     name = library.define("third(Tensor x) -> Tensor")
    ...     @imode.library.register_kernel("docs_kernel::third", "cpu")
    ...     def third(x):
    ...         return x / 3
    ...     imode.ops.docs_kernel.third(imode.ones(1))
    tensor([0.3333])
    """
    found, owner = _found(op, lib, "register_kernel()")
    keys = device_keys(found.qualified_name, device_types)

    def register(function):
        with uninterrupted:
            for key in keys:
                owner._impl(found, function, key, exclusive=isinstance(op, CustomOpDef))
        return function

    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, allow_override=True):
    """Give an operator a function that makes its results' shapes, dtypes and strides alone.

    It becomes the kernel for the key Meta, and `opcheck` holds it against the results. A decorator
    without `func`.
    """
    found, owner = _found(op, lib, "register_fake()")

    def register(function):
        owner._impl(found, function, "Meta", override=allow_override)
        return function

    return register if func is None else register(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Give an operator a derivative.

    `backward(ctx, *grads)` takes a gradient per result, and returns one, or None, per positional
    argument; for a list of tensors, a list. `setup_context(ctx, inputs, output)` runs after the
    kernel, to keep what backward needs by `ctx.save_for_backward`, or as attributes; with
    keyword-only arguments it takes `keyword_only_inputs`, too. Neither is entered where nothing is
    recorded. Raises RuntimeError for an operator that writes, or gives views.

    >>> import imode
    >>> @imode.library.custom_op("docs_grad::square", mutates_args=())
    ... def square(x: imode.Tensor) -> imode.Tensor:
    ...     return x * x
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.save_for_backward(inputs[0])
    >>> square.register_autograd(
    ...     lambda ctx, grad: grad * 2 * ctx.saved_tensors[0], setup_context=setup_context)
    >>> x = imode.ones(2, requires_grad=True)
    >>> square(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    >>> square.close()
    """
    for function in (backward, setup_context):
        if not callable(function) and (function is backward or function is not None):
            raise TypeError(
                "register_autograd(): expected functions for backward and setup_context, got "
                f"{type(function).__name__}"
            )
    found, owner = _found(op, lib, "register_autograd()")
    if not found.outside:
        raise RuntimeError(
            f"register_autograd(): aten::{found.name} has a derivative of its own. To replace it, "
            "give the operator a kernel for the key Autograd."
        )
    if not signature(found).functional:
        raise errors.library.not_functional(found)
    formula = Formula(backward, setup_context, line_of(backward))
    with owner._registering():
        owner._undo.append(partial(drop_formula, found, formula))
        add_formula(found, formula)


def _found(op, lib, what):
    """(the operator, the library in whose name something is registered for it)."""
    if isinstance(op, CustomOpDef):
        return op._opoverload, lib or op._lib
    if isinstance(op, OpOverloadPacket):
        op = op._qualified_op_name
    if isinstance(op, Operator):
        op = op.qualified_name if op.outside else f"aten::{op.qualified_name}"
    if not isinstance(op, str) or "::" not in op:
        raise ValueError(f"{what}: expected an operator, or its name 'namespace::name', got {op!r}")
    ns, _, name = op.partition("::")
    found = operator_of(ns, name, what)
    custom = _custom_ops.get(op)
    if lib is None:
        lib = custom._lib if custom is not None else _kept.get(ns)
    if lib is None:
        lib = _kept.setdefault(ns, Library(ns, "IMPL"))
    return found, lib
