"""Parameters that are computed from others: a module of functions in front of a tensor.

`register_parametrization(layer, "weight", Symmetric())` keeps the tensor as
`layer.parametrizations.weight.original`; `layer.weight` is then what the parametrizations make of
it. The module gets a class of its own, on which the tensor's name is a property.
"""

import copy
from collections.abc import Sequence
from contextlib import contextmanager

from imode import errors, no_grad
from imode._core.tensor import Tensor

from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cached = 0  # how many `cached` blocks are entered
_values = {}  # in them: (id of a module, name) -> tensor


@contextmanager
def cached():
    """Compute each parametrized tensor once inside of the block.

    Thread-safety: the block counts for all threads.

    >>> with imode.nn.utils.parametrize.cached():
    ...     pass
    """
    global _cached
    _cached += 1
    try:
        yield
    finally:
        _cached -= 1
        if not _cached:
            _values.clear()


def _put(owner, name, tensor):
    """Register a tensor as what it is: a parameter or a buffer."""
    if isinstance(tensor, Parameter):
        owner.register_parameter(name, tensor)
    else:
        owner.register_buffer(name, tensor)


def _write(target, value):
    """Make a tensor look at the memory of another value; it stays the same object."""
    if value.shape == target.shape and value.untyped_storage() == target.untyped_storage():
        return
    target.data = value.detach()


def _inverted(modules, value, strict):
    """What the first parametrization needs to give `value`; `strict`: each has an inverse."""
    for module in reversed(modules):
        if not hasattr(module, "right_inverse"):
            if strict:
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            continue
        try:
            value = module.right_inverse(value)
        except NotImplementedError:
            if strict:
                raise
    return value


def _check_result(result, expected, flag="unless `unsafe` flag is enabled"):
    """Refuse what a parametrization gives, if it is no tensor like the one it stands for."""
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, found, wanted in (
        ("dtype", result.dtype, expected[0]),
        ("shape", result.shape, expected[1]),
    ):
        if found != wanted:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, {flag}.\n"
                f"It was {wanted}, and becomes {found}."
            )


def _no_tensors(found):
    """The first parametrization's inverse gives neither a tensor nor several."""
    return ValueError(
        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
        f"{found}."
    )


def _no_sequence(found):
    """The inverse does not give several tensors, as it did before."""
    return ValueError(f"'right_inverse' must return a sequence of tensors. Got {found}.")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what the first of them takes.

    `original` is the tensor that is kept; `original0`, `original1`, ... are they where a
    parametrization's `right_inverse` gives several. Called, it gives the parametrized tensor.

    Raises ValueError for no parametrizations, and where they change dtype or shape, unless
    `unsafe`.
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        expected = original.dtype, original.shape
        with no_grad():
            new = _inverted(list(self), original, strict=False)
        if not isinstance(new, (Tensor, Sequence)):
            raise _no_tensors(type(new).__name__)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_result(self(), expected)

    def _keep_one(self, original, new):
        if new.dtype != original.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        if new.device != original.device:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the device.\n"
                f"original.device: {original.device}\nright_inverse(original).device: {new.device}"
            )
        with no_grad():
            _write(original, new)
        _put(self, "original", original)

    def _keep_several(self, original, new):
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise _no_tensors(f"element {i} of the sequence with type {type(tensor).__name__}")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor.detach(), original.requires_grad)
            _put(self, f"original{i}", tensor.requires_grad_(original.requires_grad))

    def _originals(self):
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Set the kept tensors so that the parametrized one becomes `value`, if that can be.

        Raises RuntimeError for a parametrization without `right_inverse`, ValueError where one
        gives tensors of another dtype or another number of them.
        """
        with no_grad():
            value = _inverted(list(self), value, strict=True)
            if self.is_tensor and not isinstance(value, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                )
            if not self.is_tensor and not isinstance(value, Sequence):
                raise _no_sequence(type(value).__name__)
            new = [value] if self.is_tensor else value
            if len(new) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(new)}."
                )
            for i, (kept, tensor) in enumerate(zip(self._originals(), new, strict=True)):
                self._check_kept(i, kept, tensor)
                _write(kept, tensor)

    def _check_kept(self, i, kept, tensor):
        if not isinstance(tensor, Tensor):
            raise _no_sequence(f"element {i} of type {type(tensor).__name__}")
        if tensor.dtype != kept.dtype:
            what = "The tensor" if self.is_tensor else f"Tensor {i}"
            name = "original" if self.is_tensor else f"original{i}"
            raise ValueError(
                f"{what} returned by `right_inverse` has dtype {tensor.dtype} while `{name}` has "
                f"dtype {kept.dtype}"
            )

    def forward(self):
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


# ---- the class of a module that has some ---------------------------------------------------------


def _refuse_pickle(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). Save that, "
        "and load it into a module that is parametrized alike."
    )


def _deepcopy(self, memo):
    made = memo.get(id(self))
    if made is None:
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _give_class(module):
    own = type(module)
    members = {"__getstate__": _refuse_pickle, "__module__": own.__module__}
    if not hasattr(own, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{own.__name__}", (own,), members)


def _give_property(module, name):
    def get(self):
        if not _cached:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _values:
            _values[key] = self.parametrizations[name]()
        return _values[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


# ---- registering ---------------------------------------------------------------------------------


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Compute a parameter or buffer of a module by another module; returns the first.

    The tensor is then what `parametrization` gives of the kept one. Its `right_inverse`, if there
    is one, gives what is kept of a tensor: first of the one that is there, then of each that is
    assigned. unsafe: dtype and shape may change, and nothing is called to check that.

    Raises ValueError where there is no such tensor, or dtype or shape change.

    >>> class Symmetric(imode.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = imode.nn.Linear(3, 3)
    >>> layer = imode.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_added(getattr(module, tensor_name), parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_added(before, parametrization):
    """Of one more parametrization of a tensor: that it and its inverse keep dtype and shape."""
    expected = before.dtype, before.shape
    _check_result(parametrization(before), expected, "unless the `unsafe` flag is enabled")
    if not hasattr(parametrization, "right_inverse"):
        return
    inverse = parametrization.right_inverse(before)
    if not isinstance(inverse, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}"
        )
    for what, found, wanted in zip(("dtype", "shape"), (inverse.dtype, inverse.shape), expected):
        if found != wanted:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} "
                f"as {wanted}. It has {found}; or give unsafe=True."
            )


def is_parametrized(module, tensor_name=None):
    """Whether some tensor of a module, or the one of a name, is parametrized.

    >>> imode.nn.utils.parametrize.is_parametrized(imode.nn.Linear(2, 2))
    False
    """
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Take all parametrizations of a tensor away; returns the module.

    leave_parametrized: the tensor stays what it was last, else it is the kept one. Raises
    ValueError where it is not parametrized, or nothing is kept that it could be.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    made = module.parametrizations[tensor_name]
    if made.is_tensor:
        original = made.original
        if leave_parametrized:
            with no_grad():
                _write(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _put(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type_before_parametrizations(module, always=True)
    return module


def type_before_parametrizations(module, *, always=False):
    """The class that a module had before its first parametrization.

    always: also of one that has none any more.

    >>> imode.nn.utils.parametrize.type_before_parametrizations(imode.nn.Linear(2, 2)).__name__
    'Linear'
    """
    return type(module).__bases__[0] if always or is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Parametrize a module as another one is, with copies of what that keeps; returns the first.

    tensor_name: of one tensor alone.
    """
    if not is_parametrized(from_module):
        return to_module
    wanted = from_module.parametrizations
    for name in wanted if tensor_name is None else [tensor_name]:
        if name not in wanted:
            raise errors.no_attribute(type(wanted).__name__, name)
        if not hasattr(to_module, name):
            _put(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in wanted[name]:
            register_parametrization(to_module, name, parametrization)
        made = to_module.parametrizations[name]
        for kept, mine in zip(wanted[name]._originals(), made._originals(), strict=True):
            mine.data = kept.detach().clone()
    return to_module
