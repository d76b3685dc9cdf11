"""Registering by an operator's name: a function as an operator, kernels, derivatives."""

import re
from contextlib import contextmanager
from functools import partial

from imode import errors
from imode._core.dispatch import Operator
from imode._core.importing import uninterrupted
from imode._core.layers import (
    Layer,
    add_formula,
    drop_formula,
    lay,
    layers_of,
    lift,
    signature,
    slot_of,
)
from imode._core.user_frames import warn
from imode._core.watchers import set_rule

from .callables import CustomOpDef, OpOverloadPacket
from .callables import cast_inputs as cast_when_on
from .infer import infer_schema
from .libraries import KEYS, Library, device_keys, is_called, line_of, lock
from .namespaces import operator_of, packet_of
from .recording import Formula
from .tags import Tag, as_tags

_custom_ops = {}  # qualified name -> CustomOpDef, of those that are there
_kept = {}  # namespace -> Library of what was registered without one: it stays
_defined = []  # Libraries of what was defined without one


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Make a function an operator, which is called like it: a decorator without `fn`.

    `name`: "namespace::name". `mutates_args`: the names of the arguments that it writes to, or
    "unknown". `device_types`: where it runs; None: anywhere. `schema`: without a name; else it
    follows from the annotations. `tags`: as `Library.define` takes them. Its results share no
    memory with its arguments. The same name again replaces the operator; `close()`, or a with
    block, takes it back.

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
        said = (Tag.pt2_compliant_tag, *as_tags(tags))
        op = lib._operator(f"{op_name}{text}" if text.startswith("(") else text, said)
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


@contextmanager
def kernel_enabled(custom, device_type, enabled):
    """A block in which the kernel of a device is on, or the operator's function runs there."""
    op = custom._opoverload
    (key,) = device_keys(op.qualified_name, device_type)
    slot = slot_of(key) if is_called(key) else None
    layers = () if slot is None else layers_of(op, slot)
    registered = [one for one in layers if one.function is not custom._init_fn]
    if not registered:
        yield
        return
    function = registered[-1].function if enabled else custom._init_fn
    layer = Layer(function, line_of(function), key, exclusive=True)
    lay(op, slot, layer)
    try:
        yield
    finally:
        lift(op, slot, layer)


def define(qualname, schema=None, alias_analysis="", *, lib=None, tags=()):
    """Define an operator by its qualified name and its schema without a name.

    `lib`: the Library that takes it back; None: it stays. The older form, `define(lib, schema)`,
    is a decorator of the operator's function.

    >>> with imode.library.Library("docs_fifth", "FRAGMENT") as library:
    ...     imode.library.define("docs_fifth::fifth", "(Tensor x) -> Tensor", lib=library)
    ...     @imode.library.impl("docs_fifth::fifth", "cpu", lib=library)
    ...     def fifth(x):
    ...         return x / 5
    ...     imode.ops.docs_fifth.fifth(imode.ones(1))
    tensor([0.2000])
    """
    if isinstance(qualname, Library):
        return partial(_define_and_give, qualname, schema, alias_analysis)
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of str, got "
            f"{type(qualname)}"
        )
    ns, name = _parts(qualname)
    if not isinstance(schema, str) or not re.fullmatch(r"\(.*\) -> .*", schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> '
            f'Tensor" but got "{schema}"'
        )
    owner = Library(ns, "FRAGMENT") if lib is None else lib
    owner.define(name + schema, alias_analysis, tags=tags)
    if lib is None:
        _defined.append(owner)


def _define_and_give(lib, schema, alias_analysis, function):
    lib.impl(lib.define(schema, alias_analysis), function)
    return function


def _parts(qualname):
    """(namespace, name) of a qualified name."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. '
            "The qualname passed to the torch.library APIs must consist of a namespace and a "
            "name, e.g. aten::sin"
        )
    return parts


def impl(qualname, types, func=None, *, lib=None):
    """Give an operator a kernel for device types, or dispatch keys: a decorator without `func`.

    `types`: one, or several, of "cpu", "meta", "default" and the names of dispatch keys. `lib`: the
    Library that takes it back; None: it stays. The older form, `impl(lib, name, dispatch_key="")`,
    is a decorator.
    """
    if isinstance(qualname, Library):
        return partial(_give, qualname, types, func or "")
    ns, name = _parts(qualname)
    keys = []
    for kind in (types,) if isinstance(types, str) else types:
        keys += (kind,) if kind in KEYS else device_keys(qualname, kind)

    def register(function):
        owner = _keeper(ns) if lib is None else lib
        for key in dict.fromkeys(keys):
            owner.impl(name, function, key)

    return register if func is None else register(func)


def _give(lib, name, key, function):
    lib.impl(name, function, key)
    return function


def _keeper(ns):
    """The library of what is registered in a namespace without one."""
    return _kept.get(ns) or _kept.setdefault(ns, Library(ns, "IMPL"))


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


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Let an operator cast its arguments where autocast is on for a kind of device.

    Tensors of floats, but of float64, on the device become `cast_inputs`, and the operator runs
    with autocast off. Raises ValueError for a kind of device without autocast.

    >>> import imode
    >>> @imode.library.custom_op("docs_cast::same", mutates_args=())
    ... def same(x: imode.Tensor) -> imode.Tensor:
    ...     return x.clone()
    >>> same.register_autocast("cpu", imode.bfloat16)
    >>> with imode.autocast("cpu"):
    ...     same(imode.ones(1)).dtype
    imode.bfloat16
    >>> same.close()
    """
    from imode.amp.autocast_mode import is_autocast_available

    found, owner = _found(op, lib, "register_autocast()")
    if not is_autocast_available(device_type):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")
    with owner._registering():
        owner._undo.append(partial(cast_when_on, found, device_type, None))
        cast_when_on(found, device_type, cast_inputs)


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """Give dispatch modes of a class another function for an operator; a decorator without `func`.

    `func(mode, func, types, args, kwargs)` is called instead of the mode's `__torch_dispatch__`.

    >>> import imode
    >>> class Mode(imode.utils._python_dispatch.TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         return func(*args, **(kwargs or {}))
    >>> @imode.library.custom_op("docs_rule::same", mutates_args=())
    ... def same(x: imode.Tensor) -> imode.Tensor:
    ...     return x.clone()
    >>> _ = same.register_torch_dispatch(Mode, lambda mode, func, types, args, kwargs: args[0] / 2)
    >>> x = imode.ones(1)
    >>> with Mode():
    ...     y = same(x)
    >>> y
    tensor([0.5000])
    >>> same.close()
    """
    found, owner = _found(op, lib, "register_torch_dispatch()")

    def register(function):
        with owner._registering():
            before = set_rule(found, torch_dispatch_class, function)
            owner._undo.append(partial(set_rule, found, torch_dispatch_class, before))
        return function

    return register if func is None else register(func)


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
        lib = custom._lib if custom is not None else _keeper(ns)
    return found, lib


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """As `register_fake`, whose older name it is. Deprecated."""
    warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use "
        "that instead; we will remove `torch.library.impl_abstract` in a future version of "
        "PyTorch.",
        FutureWarning,
    )
    return register_fake(qualname, func, lib=lib)
