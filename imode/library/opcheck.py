"""`opcheck`: whether an operator does what its schema says."""

import imode
from imode import errors
from imode._core.dispatch import Operator, Role
from imode._core.layers import layers_of, shares_memory, signature, slot_of
from imode._core.tensor import Tensor
from imode.guards import AutoDispatchBelowAutograd, no_grad
from imode.utils._python_dispatch import TorchDispatchMode

from .callables import CustomOpDef, OpOverloadPacket


class OpCheckError(Exception):
    """What `opcheck` raises."""


_DEFAULT = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


def opcheck(
    op, args, kwargs=None, *, test_utils=_DEFAULT, raise_exception=True, atol=None, rtol=None
):
    """Check an operator on a call's arguments, which stay as they are.

    `test_schema`: it writes what its schema says, and its results have the memory of the arguments
    that it says. `test_autograd_registration`: nothing is recorded but for the key Autograd.
    `test_faketensor`: the kernel of `register_fake` gives the results' shapes, dtypes and strides.
    `test_aot_dispatch_static`, `test_aot_dispatch_dynamic`, the same here, where nothing is
    compiled: called again under a dispatch mode, it gives the same results and gradients, up to
    `atol` and `rtol` (None: by the dtype).
    `test_utils`: one of these names, several, or "ALL". Returns a dict from each to "SUCCESS",
    or to the exception unless `raise_exception`. Raises OpCheckError.

    >>> import imode
    >>> with imode.library.Library("docs_check", "DEF") as lib:
    ...     name = lib.define("flat(Tensor x) -> Tensor")
    ...     lib.impl("flat", lambda x: x.view(-1), "CPU")
    ...     found = imode.library.opcheck(
    ...         imode.ops.docs_check.flat, (imode.ones(2),), raise_exception=False)
    >>> "may not alias" in str(found["test_schema"])
    True
    """
    op, kwargs = _operator(op), kwargs or {}
    if test_utils == "ALL":
        test_utils = tuple(_TESTS)
    elif isinstance(test_utils, str):
        test_utils = (test_utils,)
    if not isinstance(test_utils, (tuple, list)) or not set(test_utils) <= set(_TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of "
            f"{tuple(_TESTS)} but it was not"
        )
    found = {}
    for name in test_utils:
        try:
            _TESTS[name](op, args, kwargs, atol, rtol)
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            found[name] = error
    return found


def _operator(op):
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverloadPacket):
        overloads = op.overloads()
        if len(overloads) != 1:
            raise RuntimeError(
                f"opcheck(op, ...): {op._qualified_op_name} has the overloads "
                f"{', '.join(overloads)}; name one of them."
            )
        return getattr(op, overloads[0])
    if not isinstance(op, Operator):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
            f"imode.ops.aten.sin.default, got {type(op)}"
        )
    return op


def _layer(op):
    """The kernel that runs on the CPU, for messages."""
    for key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
        layers = layers_of(op, slot_of(key))
        if layers:
            return layers[-1]
    return _OWN


class _Own:
    key, where = "CPU", "imode"

    @staticmethod
    def function():
        """Stand for a kernel of imode's own."""


_OWN = _Own()


def _mapped(change, args, kwargs):
    """The arguments with `change(tensor)` for each tensor; the same one for the same tensor."""
    changed = {}

    def one(value):
        if isinstance(value, Tensor):
            if id(value) not in changed:
                changed[id(value)] = change(value)
            return changed[id(value)]
        if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
            return type(value)(one(item) for item in value)
        return value

    return [one(value) for value in args], {name: one(value) for name, value in kwargs.items()}


def _tensors(value):
    """The tensors in an argument or a result."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _copy(tensor):
    with no_grad():
        copied = tensor.detach().clone()
    return copied.requires_grad_(tensor.requires_grad)


def _bytes(tensor):
    return tensor.detach().numpy().tobytes()


# ---- the tests ----


def _test_schema(op, args, kwargs, atol, rtol):
    facts, layer = signature(op), _layer(op)
    args, kwargs = _mapped(_copy, args, kwargs)
    named = {**dict(zip(op.names, args, strict=False)), **kwargs}
    given = [(name, tensor) for name, value in named.items() for tensor in _tensors(value)]
    written = {op.names[i] for i in facts.written} | ({"out"} if op.role == Role.OUT else set())
    may_change = [tensor for name, tensor in given if name in written]
    before = [_bytes(tensor) for _, tensor in given]
    with no_grad():
        result = op(*args, **kwargs)
    for (name, tensor), content in zip(given, before, strict=True):
        if _bytes(tensor) != content and not _shares(tensor, may_change):
            raise errors.library.undeclared_write(op, layer, name)
    if op.role == Role.OUT or op.is_composite:
        return
    results = result if len(facts.results) > 1 else (result,)
    fresh = []
    for at, value in zip(facts.alias_of, results, strict=False):
        for tensor in _tensors(value):
            for name, other in given:
                if shares_memory(tensor, other) and (
                    at < 0 or not _shares(other, _tensors(named.get(op.names[at])))
                ):
                    raise errors.library.undeclared_alias(op, layer, name)
            if at < 0:
                if _shares(tensor, fresh):
                    raise errors.library.undeclared_alias(op, layer, None)
                fresh.append(tensor)


def _shares(tensor, others):
    return any(shares_memory(tensor, other) for other in others)


def _test_autograd_registration(op, args, kwargs, atol, rtol):
    if not any(tensor.requires_grad for tensor in _tensors([*args, *kwargs.values()])):
        return
    if layers_of(op, slot_of("CompositeImplicitAutograd")) or not signature(op).functional:
        return
    args, kwargs = _mapped(_copy, args, kwargs)
    given = _tensors([*args, *kwargs.values()])
    with AutoDispatchBelowAutograd():
        results = _tensors(op(*args, **kwargs))
    for tensor in results:
        if tensor.requires_grad and not any(tensor is other for other in given):
            raise errors.library.recorded_below(op, _layer(op))


def _test_faketensor(op, args, kwargs, atol, rtol):
    if (
        not signature(op).results
        or not op.outside
        or layers_of(op, slot_of("CompositeImplicitAutograd"))
    ):
        return
    layers = layers_of(op, slot_of("Meta"))
    if not layers:
        raise errors.library.no_fake(op)
    with no_grad():
        copied, named = _mapped(_copy, args, kwargs)
        expected = _tensors(op(*copied, **named))
        copied, named = _mapped(_empty, args, kwargs)
        found = _tensors(layers[-1].function(*copied, **named))
    if len(found) != len(expected):
        raise errors.library.wrong_fake(op, layers[-1], "number of results", found, expected)
    for fake, real in zip(found, expected, strict=True):
        for what in ("shape", "dtype", "stride"):
            of_fake, of_real = _facts(fake, what), _facts(real, what)
            if of_fake != of_real:
                raise errors.library.wrong_fake(op, layers[-1], what, of_fake, of_real)


def _empty(tensor):
    return imode.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)


def _facts(tensor, what):
    if what == "stride":  # of the dimensions that have several elements
        return tuple(s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1)
    return tuple(tensor.shape) if what == "shape" else tensor.dtype


class _Plain(TorchDispatchMode):
    """Stands for whoever looks at the operators: a tracer."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _test_aot_dispatch(op, args, kwargs, atol, rtol):
    composite = op.is_composite or layers_of(op, slot_of("CompositeImplicitAutograd"))
    if (
        op.outside
        and signature(op).results
        and not composite
        and not layers_of(op, slot_of("Meta"))
    ):
        raise errors.library.no_fake(op)
    state = imode.get_rng_state()
    expected = _outcome(op, args, kwargs)
    imode.set_rng_state(state)
    with _Plain():
        found = _outcome(op, args, kwargs)
    for what in expected:
        if not _alike(found[what], expected[what], atol, rtol):
            raise errors.library.not_again(op, _layer(op), what)


def _outcome(op, args, kwargs):
    """The results of a call, what it wrote, and the gradients of their sum."""
    args, kwargs = _mapped(_copy, args, kwargs)
    given = _tensors([*args, *kwargs.values()])
    leaves = [tensor for tensor in given if tensor.requires_grad]
    if not signature(op).functional:  # leaves cannot be written
        args, kwargs = _mapped(lambda t: t.clone() if t.requires_grad else t, args, kwargs)
        given = _tensors([*args, *kwargs.values()])
    results = _tensors(op(*args, **kwargs))
    found = {"results": results, "arguments": given, "gradients": []}
    recorded = [tensor for tensor in results if tensor.requires_grad and tensor.grad_fn is not None]
    if recorded:
        ones = [imode.ones_like(tensor) for tensor in recorded]
        found["gradients"] = imode.autograd.grad(recorded, leaves, ones, allow_unused=True)
    return found


def _alike(ours, theirs, atol, rtol):
    near = {"atol": 1e-5 if atol is None else atol, "rtol": 1e-4 if rtol is None else rtol}

    def same(a, b):
        if a is None or b is None:
            return a is b
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return False
        return imode.allclose(a.detach(), b.detach(), equal_nan=True, **near)

    return len(ours) == len(theirs) and all(map(same, ours, theirs))


_TESTS = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_static": _test_aot_dispatch,
    "test_aot_dispatch_dynamic": _test_aot_dispatch,
}
