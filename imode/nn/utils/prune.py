"""Parameters of which a mask leaves some elements zero.

A pruned parameter is kept as `name_orig`, its mask is the buffer `name_mask`, and a hook before
`forward` makes their product the attribute `name`.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from imode import ops

from ._pre_hooks import drop_pre_hook, pre_hooks
from .convert_parameters import parameters_to_vector

__all__ = [
    *("BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured"),
    *("PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask"),
    *("global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured"),
    *("random_structured", "random_unstructured", "remove"),
]


class BasePruningMethod(ABC):
    """A way to choose what is pruned: subclasses have `compute_mask`, and a PRUNING_TYPE.

    PRUNING_TYPE says what a second pruning of the same tensor chooses from: "unstructured", the
    elements that are left; "structured", the slices along `dim` that are; "global", all.
    """

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for the importances `t`, with zeros also where `default_mask` has some."""

    def apply_mask(self, module):
        """The kept tensor times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, f"{self._tensor_name}_{x}") for x in ("mask", "orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune a parameter, or more of it; returns the hook.

        importance_scores: by which it is chosen, instead of the parameter's elements.
        """
        method = cls._beside_older(module, name, cls(*args, **kwargs))
        value = getattr(module, name)
        scores = _scores(importance_scores, value, f"parameter {name} of {module}")
        first = not isinstance(method, PruningContainer)
        mask = ops.ones_like(value) if first else getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores, default_mask=mask)
        if first:
            delattr(module, name)
            module.register_parameter(f"{name}_orig", value)
        module.register_buffer(f"{name}_mask", mask)
        method(module, None)
        module.register_forward_pre_hook(method)
        return method

    @staticmethod
    def _beside_older(module, name, method):
        """The new method, put beside that of an earlier pruning, whose hook is removed."""
        method._tensor_name = name
        older = [
            key
            for key, hook in pre_hooks(module).items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(older) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module "
                f"{module}. Use a PruningContainer."
            )
        for key in older:
            hook = drop_pre_hook(module, key)
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            container.add_pruning_method(method)
            return container
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """The tensor `t` with zeros where this method chooses; nothing is registered."""
        scores = _scores(importance_scores, t, "tensor t")
        mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module):
        """Make the pruned tensor the parameter for good; the hook stays."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[f"{name}_orig"]
        original.data = weight.detach()
        delattr(module, f"{name}_orig")
        delattr(module, f"{name}_mask")
        setattr(module, name, original)


def _scores(given, value, what):
    if given is None:
        return value
    if given.shape != value.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {given.shape} vs "
            f"{value.shape}"
        )
    return given


# ---- how many, and of what -----------------------------------------------------------------------


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if amount < 0 or (not whole and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount, size):
    """How many of `size` are pruned."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return amount


def _check_structured(t, dim):
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _without(mask, places):
    """A copy of the mask with zeros at flat positions."""
    made = mask.clone().contiguous()
    made.view(-1)[places] = 0
    return made


def _slices(t, dim, chosen, mask):
    """A mask of ones in the chosen slices along `dim`, times another."""
    made = ops.zeros_like(t)
    made[(slice(None),) * (dim % t.dim()) + (chosen,)] = 1
    return made * mask.to(dtype=made.dtype)


# ---- the methods ---------------------------------------------------------------------------------


class PruningContainer(BasePruningMethod):
    """Several prunings of one tensor, one after another."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method; TypeError if it is none, ValueError if it is for another tensor."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, which chooses from what the others left."""
        method = self._pruning_methods[-1]
        where = self._left(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype, copy=True)
        chosen = method.compute_mask(t[where], default_mask=default_mask[where])
        mask[where] = chosen.to(dtype=mask.dtype)
        return mask

    @staticmethod
    def _left(method, t, mask):
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            return mask == 1
        if kind == "global":
            return (slice(None),) * t.dim()
        if kind != "structured":
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` '
                "defined."
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        others = [d for d in range(t.dim()) if d != dim]
        return (slice(None),) * dim + (mask.sum(dim=others) != 0,)


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask and the hook."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask that there was."""
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """As `BasePruningMethod.apply`."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: `amount` of them, or that share of all."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        """The mask, with `amount` more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, ops.rand_like(t).view(-1).topk(count).indices)

    @classmethod
    def apply(cls, module, name, amount):
        """As `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements that are nearest to zero: `amount` of them, or that share of all."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        """The mask, with `amount` more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, t.abs().reshape(-1).topk(count, largest=False).indices)

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """As `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prunes slices along `dim` at random: `amount` of them, or that share of all."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        """The mask, with `amount` more slices of zeros."""
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        drawn = ops.rand(size)
        return _slices(t, self.dim, drawn > drawn.kthvalue(count).values, default_mask)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """As `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices along `dim` of the smallest norms of order `n`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        """The mask, with `amount` more slices of zeros."""
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = ops.norm(t, p=self.n, dim=others)
        return _slices(t, self.dim, norms.topk(size - count).indices, default_mask)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """As `BasePruningMethod.apply`."""
        more = {"amount": amount, "n": n, "dim": dim, "importance_scores": importance_scores}
        return super().apply(module, name, **more)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """The product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """As `BasePruningMethod.apply`."""
        return super().apply(module, name, mask=mask)


# ---- as functions --------------------------------------------------------------------------------


def identity(module, name):
    """Give a parameter a mask of ones; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune elements of a parameter at random; returns the module.

    amount: how many, or a float between 0 and 1, which share.

    >>> layer = imode.nn.utils.prune.random_unstructured(imode.nn.Linear(2, 2), "weight", 1)
    >>> layer.weight_mask.sum()
    tensor(3.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the elements of a parameter that are nearest to zero; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune slices of a parameter along `dim` at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the slices of a parameter along `dim` of the smallest norms; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prune a parameter where a mask is zero; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune several parameters as if they were one.

    parameters: (module, name) pairs. pruning_method: a class, whose arguments the rest are.
    importance_scores: {(module, name): tensor} for some of them.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [getattr(module, name) for module, name in parameters]
    masks = [
        getattr(module, f"{name}_mask", ops.ones_like(value))
        for (module, name), value in zip(parameters, values)
    ]
    container, method = PruningContainer(), pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    chosen = [scores.get(pair, value) for pair, value in zip(parameters, values)]
    mask = container.compute_mask(parameters_to_vector(chosen), parameters_to_vector(masks))
    parts = mask.split([value.numel() for value in values])
    for (module, name), value, part in zip(parameters, values, parts):
        custom_from_mask(module, name, mask=part.view_as(value))


def remove(module, name):
    """Make a pruned parameter what its mask leaves, for good; returns the module.

    Raises ValueError where it is not pruned.
    """
    for key, hook in pre_hooks(module).items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            drop_pre_hook(module, key)
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module):
    """Whether some parameter of a module, or of one inside of it, is pruned.

    >>> imode.nn.utils.prune.is_pruned(imode.nn.Linear(2, 2))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for inner in module.modules()
        for hook in pre_hooks(inner).values()
    )
