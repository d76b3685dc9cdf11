"""`__torch_function__`: classes that take over calls in which their objects appear; function modes.

An operator looks for such objects only where its arguments do not bind, in the cold part of
`bind.pyx`; for modes see Note [Function modes cost nothing while they are off] in callables.pyx.
"""

from _thread import _local
from functools import wraps

from imode import errors
from imode._core.callables import count_modes, function_of, name_mode_runner, set_modes_on
from imode._core.tensor import Tensor
from imode._core.user_frames import line


class _State(_local):
    modes = ()  # (mode, line where it was entered) of this thread, the outermost first
    disabled = False  # classes with __torch_function__ are not looked for
    all_disabled = False  # nor are modes


_state = _State()


def disabled(func, types, args=(), kwargs=None):
    """The `__torch_function__` of a class that is never asked: results are plain tensors."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def has_override(value):
    """Whether the class of an object, other than a plain tensor, has `__torch_function__`."""
    cls = type(value)
    return cls is not Tensor and getattr(cls, "__torch_function__", disabled) is not disabled


def overloaded(values):
    """The objects whose classes have `__torch_function__`, one of each class, in the order in which
    they are asked: from left to right, but a subclass before its base."""
    found, classes = [], set()
    if _state.disabled:
        return found
    for value in values:
        cls = type(value)
        if cls in classes or not has_override(value):
            continue
        classes.add(cls)
        at = len(found)
        for i, other in enumerate(found):
            if issubclass(cls, type(other)):
                at = i
                break
        found.insert(at, value)
    return found


def _flat(args, kwargs):
    for value in (*args, *kwargs.values()):
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


_Holder = ()  # the class of objects that hold a tensor: subclasses of Tensor


def name_holder(cls):
    """Set the class of what holds a tensor, which a module above this one defines."""
    global _Holder
    _Holder = cls


def unwrapped(args, kwargs):
    """The arguments with the tensors that objects of subclasses hold in their place."""
    return tuple(map(held, args)), {name: held(value) for name, value in kwargs.items()}


def held(value):
    """The tensor that an object of a subclass holds; also in lists and tuples. Else the value."""
    if type(value) in (list, tuple):
        return type(value)(map(held, value))
    return value._imode_tensor if isinstance(value, _Holder) else value


def apply_held(function, args):
    """Apply a custom function to the tensors that objects of subclasses hold. Its results are of
    the class of the first of them."""
    first = next(value for value in args if isinstance(value, _Holder))
    return _Holder.__torch_function__.__func__(type(first), function, (), args)


def _holds(args, kwargs):
    return any(isinstance(value, _Holder) for value in _flat(args, kwargs))


def find(args, kwargs):
    """The overloaded objects among a call's arguments, and in its lists and tuples."""
    return overloaded(_flat(args, kwargs))


def ask(function, found, args, kwargs):
    """Call `__torch_function__` of each of `found` until one answers. TypeError if none does."""
    types = tuple(map(type, found))
    for value in found:
        result = _called(value.__torch_function__, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise errors.modes.no_implementation(function, types)


def _called(method, function, types, args, kwargs):
    # PyTorch leaves out empty keywords: the method's default shows.
    if kwargs:
        return method(function, types, args, kwargs)
    return method(function, types, args)


def call_overridden(function, args, kwargs):
    """What the arguments' `__torch_function__` gives, in a list; None if no argument has it."""
    found = find(args, kwargs)
    if found:
        return [ask(function, found, args, kwargs)]
    if _holds(args, kwargs):  # nobody is asked here, but their tensors fit
        args, kwargs = unwrapped(args, kwargs)
        return [function(*args, **kwargs)]
    return None


def call_misfit(operator, own, given, names):
    """`call_overridden` for a call that does not bind. `own`: the tensor whose method it is, or
    nothing; `names`: of the last of `given`."""
    n = len(given) - len(names)
    args, kwargs = (*own, *given[:n]), dict(zip(names, given[n:], strict=True))
    if not find(args, kwargs) and not _holds(args, kwargs):
        return None
    return call_overridden(function_of(operator, bool(own)), args, kwargs)


def call_sign(operator, self, other):
    """A sign between a tensor and another object; NotImplemented if its class does not care."""
    overridden = call_overridden(function_of(operator, True), (self, other), {})
    return NotImplemented if overridden is None else overridden[0]


# ---- function modes ----


def _set_modes(modes):
    _state.modes = modes
    set_modes_on(0 if _state.all_disabled else len(modes))


def run_modes(function, args, kwargs, found=None):
    """Call the innermost mode of this thread; in its method it is off. `found`: the overloaded
    objects, if they are known."""
    modes = _state.modes
    mode, _ = modes[-1]
    found = find(args, kwargs) if found is None else found
    _set_modes(modes[:-1])
    try:
        result = _called(mode.__torch_function__, function, tuple(map(type, found)), args, kwargs)
    finally:
        _set_modes(modes)
    if result is NotImplemented:
        if found:
            return ask(function, found, args, kwargs)
        raise errors.modes.no_implementation(function, (type(mode),))
    return result


# ---- what is no operator ----


class Native:
    """A method or attribute of Tensor that is no operator, as `__torch_function__` gets it: modes
    and classes see its call, and it takes the tensors that objects of subclasses hold."""

    __slots__ = ("_own",)

    def __init__(self, own):
        self._own = own

    def __call__(self, *args, **kwargs):
        return call_seen(self, args, kwargs)

    def __getattr__(self, name):
        return getattr(self._own, name)

    def __eq__(self, other):
        return self._own == (other._own if isinstance(other, Native) else other)

    def __hash__(self):
        return hash(self._own)

    def __repr__(self):
        return repr(self._own)


def call_seen(function, args, kwargs):
    """Call a function or method of Tensor where modes, or objects' classes, may take it over."""
    if _state.modes and not _state.all_disabled:
        return run_modes(function, args, kwargs)
    found = find(args, kwargs)
    if found:
        return ask(function, found, args, kwargs)
    args, kwargs = unwrapped(args, kwargs)
    return (function._own if isinstance(function, Native) else function)(*args, **kwargs)


UNBOUND = {}  # what `Tensor.numel` and `Tensor.shape` are, by name, once there are subclasses


def native(function, name):
    """What modes and classes get for a method that is no operator: what Tensor's attribute is."""
    unbound = UNBOUND.get(name)
    return unbound if unbound is not None and unbound._own is function else Native(function)


def seen(function):
    """A decorator of functions in Python that modes see, as one call."""

    @wraps(function)
    def call(*args, **kwargs):
        if _state.modes and not _state.all_disabled:
            return run_modes(call, args, kwargs)
        return function(*args, **kwargs)

    return call


def run_native(function, args, kwargs):
    """Call the innermost mode for what is no operator. It gets the function itself, which no
    further mode would see, only where there is none, and no class either."""
    if UNBOUND or len(_state.modes) > 1:
        function = native(function, function.__name__)
    return run_modes(function, args, kwargs)


name_mode_runner(run_modes, run_native)


def enter_mode(mode):
    """Turn a function mode on in this thread, as the innermost."""
    count_modes(1)
    _set_modes((*_state.modes, (mode, line())))


def leave_mode(mode):
    """Turn a mode's innermost entry off.

    Raises RuntimeError if it is not on in this thread; or if another mode was entered later and is
    still on, which stays on.
    """
    modes = _state.modes
    for i in reversed(range(len(modes))):
        if modes[i][0] is mode:
            count_modes(-1)
            _set_modes(modes[:i] + modes[i + 1 :])
            if i + 1 < len(modes):
                raise errors.modes.out_of_order(*modes[i], *modes[i + 1])
            return
    raise errors.modes.not_on(mode)


def function_modes():
    """The function modes that are on in this thread, the outermost first."""
    return [mode for mode, _ in _state.modes]


class DisableTorchFunctionSubclass:
    """A block in which no object's `__torch_function__` is called: arguments have to be tensors."""

    def __enter__(self):
        self._before = _state.disabled
        _state.disabled = True
        return self

    def __exit__(self, *exc_info):
        _state.disabled = self._before


class DisableTorchFunction:
    """A block in which neither `__torch_function__` nor function modes are called."""

    def __enter__(self):
        self._before = _state.disabled, _state.all_disabled
        _state.disabled = _state.all_disabled = True
        _set_modes(_state.modes)
        return self

    def __exit__(self, *exc_info):
        _state.disabled, _state.all_disabled = self._before
        _set_modes(_state.modes)
