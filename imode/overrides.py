"""Classes like tensors and function modes: what `__torch_function__` needs, as in PyTorch."""

import contextlib
import functools
import inspect
import types

from imode import Tensor, nn, ops
from imode._core.callables import own_attributes
from imode._core.dispatch import Operator
from imode._core.overriding import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    ask,
    enter_mode,
    function_modes,
    has_override,
    leave_mode,
    overloaded,
    run_modes,
)
from imode._tensor.subclass import NO_CLASS
from imode.errors import names_of as _names_of

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class TorchFunctionMode:
    """A block in which a method of one's own sees every function that its thread calls.

    `__torch_function__(func, types, args, kwargs)` is called instead of an operator's function
    (`imode.add`), a method of Tensor (`Tensor.add`, `Tensor.numpy`), sign (`a + b` is `Tensor.add`,
    `a[0]` is `Tensor.__getitem__`) or attribute (`a.shape` is `Tensor.shape.__get__`), before the
    arguments are looked at. `types` are the classes among the arguments that have
    `__torch_function__`. What it returns is the result. While it runs, the mode
    is off, and modes around it are on. Modes are per thread.

    Leaving a mode before one that was entered later raises RuntimeError, and turns it off.

    >>> class Names(imode.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(imode.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> x = imode.ones(2)
    >>> with Names():
    ...     y = imode.relu(x + 1)
    imode.Tensor.add
    imode.relu
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(
            f"{type(self).__name__} has no method __torch_function__(self, func, types, args=(), "
            "kwargs=None): define it"
        )

    def __enter__(self):
        enter_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        leave_mode(self)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A function mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    """The innermost function mode that is on in this thread, or None."""
    modes = function_modes()
    return modes[-1] if modes else None


def _get_current_function_mode_stack():
    """The function modes that are on in this thread, the outermost first."""
    return function_modes()


def has_torch_function(relevant_args):
    """Whether the class of one of them has `__torch_function__`, or a function mode is on."""
    return bool(function_modes()) or bool(overloaded(relevant_args))


def has_torch_function_unary(value):
    """`has_torch_function` for one object."""
    return has_torch_function((value,))


def has_torch_function_variadic(*values):
    """`has_torch_function` for several objects."""
    return has_torch_function(values)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Call what overrides a function of one's own: the innermost mode, or `__torch_function__` of
    the relevant arguments. TypeError if none of them gives a result.

    >>> def doubled(x):
    ...     if imode.overrides.has_torch_function_unary(x):
    ...         return imode.overrides.handle_torch_function(doubled, (x,), x)
    ...     return x * 2
    """
    found = overloaded(relevant_args)
    if function_modes():
        return run_modes(public_api, args, kwargs, found)
    return ask(public_api, found, args, kwargs)


def wrap_torch_function(dispatcher):
    """A decorator: the function can be overridden by the arguments that `dispatcher` gives."""

    def decorate(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """Whether it is a tensor, or has `__torch_function__`."""
    return isinstance(inp, Tensor) or has_override(inp)


@functools.lru_cache(1)
def _tables():
    """(Namespace -> list of functions, function -> name)."""
    import imode

    ops.load_all()
    for name in nn.functional.__all__:  # loaded when it is asked for
        getattr(nn.functional, name)
    methods = [
        value
        for name, value in own_attributes()
        if callable(value) and not isinstance(value, type) and name not in _OF_OBJECTS
    ]
    functions = {
        imode: [vars(imode)[name] for name in ops.FUNCTIONS if name in vars(imode)],
        nn.functional: [
            value
            for name, value in vars(nn.functional).items()
            if isinstance(value, types.BuiltinFunctionType)
        ],
        Tensor: methods,
    }
    where = {imode: "imode", nn.functional: "imode.nn.functional", Tensor: "imode.Tensor"}
    names = {}
    for space in functions:
        for name, value in own_attributes() if space is Tensor else vars(space).items():
            try:
                names.setdefault(value, f"{where[space]}.{name}")
            except TypeError:  # not hashable
                continue
    return functions, names


_ATTRIBUTES = (property, types.GetSetDescriptorType)
_OF_OBJECTS = ("__new__", "__init__", "__getattribute__", "__hash__", "__repr__", "__dir__")


def get_overridable_functions():
    """From a namespace (`imode`, `imode.nn.functional`, `imode.Tensor`) to its functions that can
    be overridden."""
    return {space: list(functions) for space, functions in _tables()[0].items()}


@functools.cache
def get_testing_overrides():
    """From each function that can be overridden to one of the same signature that returns -1.

    >>> import inspect
    >>> mine = imode.overrides.get_testing_overrides()[imode.neg]
    >>> inspect.signature(mine), mine(None)
    (<Signature (input, *, out=None)>, -1)
    """
    return {f: _stand_in(f) for functions in _tables()[0].values() for f in functions}


def _stand_in(function):
    try:
        signature = inspect.signature(function)
    except ValueError:
        return lambda *args, **kwargs: -1

    def made(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return -1

    made.__signature__ = signature
    return made


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """A block in which a mode's handler may call operators that are dispatched anew.

    They always are: while a handler runs, the modes around its own are on. Nothing changes.

    >>> with imode.overrides.enable_reentrant_dispatch():
    ...     imode.ones(1) + 1
    tensor([2.])
    """
    yield


def get_default_nowrap_functions():
    """The functions whose results `Tensor.__torch_function__` does not put into the class."""
    return set(NO_CLASS)


def get_ignored_functions():
    """The functions that cannot be overridden: those that take no tensors or tell what one is."""
    import imode

    names = ("is_tensor", "is_grad_enabled", "is_inference_mode_enabled", "set_grad_enabled")
    names += ("no_grad", "inference_mode", "manual_seed", "save", "load", "set_printoptions")
    return {getattr(imode, name) for name in names} | {Tensor.__new__, Tensor.__init__}


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or the `__get__` of one of its properties."""
    return func in _tables()[0][Tensor] or getattr(func, "__name__", None) == "__get__"


def resolve_name(f):
    """The name of a function as one would write it, `imode.add`, `imode.Tensor.add`; else None."""
    if isinstance(f, Operator):
        return str(f)
    owner = getattr(f, "__self__", None)
    if getattr(f, "__name__", None) in ("__get__", "__set__") and isinstance(owner, _ATTRIBUTES):
        return f"{_tables()[1][owner]}.{f.__name__}"
    return _tables()[1].get(f)


__getattr__ = _names_of(__name__)
