"""Sample calls of every operator, in the folders and files of `imode/ops/`, as plain data.

    from tests.samples import S, T
    SAMPLES = {"add": [S(T(2, 3), T(3)), S(T(2, 3, dtype="int64"), 2.5, alpha=2)]}

Nothing here imports imode or torch: `Sample.make(lib)` builds the arguments with either.
"""

import copy
import importlib
import operator
import pkgutil
import zlib

import numpy as np

NOT_IN_NUMPY = ("bfloat16", "float8_e4m3fn", "float8_e5m2")

# How a tensor of the wanted shape is made as a view: (shape of the base, view of the base).
VIEWS = {
    "transposed": (lambda s: (*s[:-2], s[-1], s[-2]), lambda t: t.transpose(-1, -2)),
    "permuted": (lambda s: s[::-1], lambda t: t.permute(*range(t.dim() - 1, -1, -1))),
    "strided": (lambda s: (*s[:-1], 2 * s[-1]), lambda t: t[..., ::2]),
    "offset": (lambda s: (s[0] + 1, *s[1:]), lambda t: t[1:]),
    "expanded": (lambda s: (1, *s[1:]), None),
}


class T:
    """A tensor argument: `T(2, 3)` is a float32 one with values uniform in [low, high].

    dtype: PyTorch's name. view: a name in VIEWS, or a function of the contiguous tensor (the
    shape is then that of its argument). values: explicit contents instead of random ones.
    requires_grad: None follows the test (float tensors, where gradients are checked).
    distinct: random values at least 0.1 apart, for operators with ties (sort, max).
    fixed: with other values the sample would be another: tests of special values leave it out.
    """

    def __init__(self, *shape, dtype="float32", low=-2, high=2, view=None, requires_grad=None,
                 values=None, distinct=False, fixed=False):  # fmt: skip
        if values is not None:
            shape = np.shape(values)
        self.shape, self.dtype, self.low, self.high = tuple(shape), dtype, low, high
        self.view, self.requires_grad, self.values = view, requires_grad, values
        self.distinct, self.fixed = distinct, fixed

    @property
    def floating(self):
        """Whether it holds real or complex numbers, that can be differentiated by."""
        return self.dtype.startswith(("float", "complex", "bfloat"))

    @property
    def differentiable(self):
        """Whether a test that follows gradients makes this argument require grad."""
        return self.floating if self.requires_grad is None else self.requires_grad

    def array(self, seed=0, dtype=None):
        """Return the contents of the base; the same for the same description and seed."""
        named = VIEWS.get(self.view) if isinstance(self.view, str) else None
        shape = named[0](self.shape) if named else self.shape
        dtype = np.dtype(dtype or self.dtype)
        if self.values is not None:
            flat = np.array(self.values).reshape(self.shape)
            if self.view == "transposed":
                flat = flat.swapaxes(-1, -2)
            elif named:
                raise ValueError("values= goes with view=None, 'transposed' or a function")
            return flat.astype(dtype, order="C")
        rng = np.random.default_rng(zlib.crc32(repr((shape, self.low, self.high, seed)).encode()))
        if dtype.kind == "b":
            return rng.random(shape) < 0.5
        if dtype.kind in "iu":
            low = max(self.low, 0) if dtype.kind == "u" else self.low
            return rng.integers(int(low), int(self.high), shape, endpoint=True).astype(dtype)
        size = int(np.prod(shape))
        flat = rng.uniform(self.low, self.high, size)
        if self.distinct:
            flat = self.low + 0.1 * (rng.permutation(size) + 0.5 * rng.random(size))
        if dtype.kind == "c":
            flat = flat + 1j * rng.uniform(self.low, self.high, size)
        return flat.reshape(shape).astype(dtype)

    def make(self, lib, seed=0, dtype=None, requires_grad=False):
        """Build it with `lib`, a leaf also where it is a view."""
        lacking = (dtype or self.dtype) in NOT_IN_NUMPY
        array = self.array(seed, "float32" if lacking else dtype)
        base = lib.from_numpy(array).clone()
        if lacking:
            base = base.to(getattr(lib, dtype or self.dtype))
        if not array.size:  # NumPy gives strides of 0, which no library's own empty tensor has
            base = lib.zeros(array.shape, dtype=base.dtype)
        if callable(self.view):
            base = self.view(base)
        elif self.view == "expanded":
            base = base.expand(*self.shape)
        elif self.view:
            base = VIEWS[self.view][1](base)
        return base.requires_grad_() if requires_grad and self.differentiable else base

    def __repr__(self):
        extra = "" if self.view is None else f"~{getattr(self.view, '__name__', self.view)}"
        return f"{self.dtype}[{','.join(map(str, self.shape))}]{extra}"


class D:
    """A dtype argument, by PyTorch's name: `S(T(3), dtype=D("float64"))`; or another object."""

    def __init__(self, name):
        self.name = name

    def make(self, lib):
        return operator.attrgetter(self.name)(lib)

    def __repr__(self):
        return self.name


class Storage:
    """The memory of a tensor as an argument: `S(T(3), Storage(T(4)))`."""

    def __init__(self, tensor):
        self.tensor = tensor

    def make(self, lib):
        return self.tensor.make(lib).untyped_storage()

    def __repr__(self):
        return f"storage of {self.tensor}"


class S:
    """One call of an operator: its arguments (T, D, Storage, numbers, lists) and what to check.

    grad: check gradients. raises: both libraries raise this class with the same first sentence.
    torch: the call in PyTorch, where it is spelled otherwise. numpy: where PyTorch has no such
    operator, the function of the arrays that gives the same. values=False: the values are
    random, compare everything else. tol: (rtol, atol) instead of the dtype's.
    variants: False where the in-place and out= forms make no sense for these arguments.
    smooth: False where differences do not give the gradient: ties, kinks, NaN, infinity.
    """

    def __init__(self, *args, grad=True, raises=None, torch=None, numpy=None, values=True,
                 tol=None, variants=True, smooth=True, **kwargs):  # fmt: skip
        self.smooth = smooth
        self.args, self.kwargs = args, kwargs
        self.grad, self.raises, self.torch, self.numpy = grad, raises, torch, numpy
        self.values, self.tol, self.variants = values, tol, variants

    @property
    def fixed(self):
        """Whether the values of an argument are what the sample is about."""
        return any(isinstance(a, T) and a.fixed for a in (*self.args, *self.kwargs.values()))

    def make(self, lib, dtype=None, requires_grad=False):
        """Return (args, kwargs, tensors): the arguments in `lib`, the tensors in order.

        dtype replaces the floating dtypes (gradcheck wants float64, or complex128 for complex); a
        function of a tensor's place among the arguments and its T gives each one's dtype or None.
        """
        tensors = []

        def build(value):
            if isinstance(value, T):
                if callable(dtype):
                    wanted = dtype(len(tensors), value)
                elif dtype and value.floating:
                    wanted = "complex128" if value.dtype.startswith("complex") else dtype
                else:
                    wanted = None
                tensors.append(value.make(lib, len(tensors), wanted, requires_grad))
                return tensors[-1]
            if isinstance(value, (D, Storage)):
                return value.make(lib)
            if isinstance(value, (list, tuple)) and any(
                isinstance(item, (T, D, list, tuple)) for item in value
            ):
                return type(value)(build(item) for item in value)
            return value

        args = [build(value) for value in self.args]
        kwargs = {name: build(value) for name, value in self.kwargs.items()}
        return args, kwargs, tensors

    def __repr__(self):
        parts = [repr(value) for value in self.args]
        parts += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return ", ".join(parts)


def inplace(sample):
    """The sample for an in-place operator of its own entry: nothing it writes to requires grad."""
    copied = copy.copy(sample)
    copied.grad = False
    return copied


def load(of_pytorch=False):
    """Return every operator's samples, {name: [S, ...]}; a name in two files is an error.

    of_pytorch: only of operators that PyTorch has, too.
    """
    samples = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        if module.ispkg:
            continue
        table = importlib.import_module(module.name).SAMPLES
        twice = samples.keys() & table.keys()
        if twice:
            raise ValueError(f"{module.name}.py: samples of {sorted(twice)} stand elsewhere too")
        samples |= table
    if of_pytorch:
        shared = {name: [s for s in calls if not s.numpy] for name, calls in samples.items()}
        return {name: calls for name, calls in shared.items() if calls}
    return samples
