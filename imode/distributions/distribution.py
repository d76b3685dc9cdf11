"""What all distributions share: shapes, validation, `expand`."""

import imode
from imode import Size, Tensor
from imode._core.user_frames import warn

from .constraints import is_dependent
from .utils import _kind, lazy_property

__all__ = ["Distribution"]

_NONE = Size()


class Distribution:
    """The base of distributions over tensors.

    `batch_shape`: independent distributions, of different parameters; `event_shape`: one outcome of
    each. `validate_args`: whether parameters and values are checked, by default True unless Python
    runs with -O; what does not satisfy its constraint raises ValueError.

    A subclass that sets `_expands` need not define `expand`.

    >>> imode.distributions.Normal(imode.zeros(2, 3), 1.0).batch_shape
    imode.Size([2, 3])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _expands = None  # names of what `expand` broadcasts: tensors, distributions; those that are set
    _keeps = ()  # names of what it hands on as it is

    @staticmethod
    def set_default_validate_args(value):
        """Say whether parameters and values are checked where `validate_args` is not given.

        >>> imode.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=_NONE, event_shape=_NONE, validate_args=None):
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            named = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
            )
            return
        for name, constraint in named.items():
            if is_dependent(constraint):
                continue
            if (value := self.__dict__.get(name)) is None:
                if isinstance(getattr(type(self), name), lazy_property):
                    continue  # computed from what is checked
                value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None):
        """Return the same distribution with its parameters expanded to a batch shape.

        >>> imode.distributions.Normal(0.0, 1.0).expand((3,)).loc.shape
        imode.Size([3])
        """
        of = (cls for cls in type(self).__mro__ if cls.__dict__.get("_expands") is not None)
        if (cls := next(of, None)) is None:
            raise NotImplementedError
        new = self._get_checked_instance(cls, _instance)
        batch_shape, own = Size(batch_shape), len(self._batch_shape)
        for name in self._expands:
            if (value := self.__dict__.get(name)) is not None:
                shape = value.shape if isinstance(value, Tensor) else value.batch_shape
                new.__dict__[name] = value.expand(batch_shape + shape[own:])
        for name in self._keeps:
            new.__dict__[name] = self.__dict__[name]
        new._batch_shape, new._event_shape = batch_shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls, _instance=None):
        """An object that `cls.expand` fills: refused where a subclass would need one of its own."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self):
        """The shape of the parameters' batch."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one outcome."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """The constraints of the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self):
        """The constraint that outcomes satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most likely outcome."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        """The variance, of each element of an outcome."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Draw outcomes: `sample_shape` of each distribution of the batch, without gradients.

        >>> imode.distributions.Normal(imode.zeros(2), 1.0).sample((3,)).shape
        imode.Size([3, 2])
        """
        with imode.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draw outcomes that depend on the parameters: gradients flow to them.

        >>> loc = imode.zeros(2, requires_grad=True)
        >>> imode.distributions.Normal(loc, 1.0).rsample().sum().backward()
        >>> loc.grad
        tensor([1., 1.])
        """
        raise NotImplementedError

    def sample_n(self, n):
        """Draw `n` outcomes of each distribution: an older form of `sample((n,))`, which warns."""
        warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value):
        """Return the logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError

    def cdf(self, value):
        """Return the probability of an outcome up to `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """Return the outcome up to which the probability is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """Return all outcomes along a new first axis; expand: for each distribution of the batch.

        >>> imode.distributions.Bernoulli(0.3).enumerate_support()
        tensor([0., 1.])
        """
        raise NotImplementedError

    def entropy(self):
        """Return the entropy in nats, of each distribution of the batch."""
        raise NotImplementedError

    def perplexity(self):
        """Return the exponential of the entropy."""
        return imode.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        shape = sample_shape + self._batch_shape if sample_shape else self._batch_shape
        return shape + self._event_shape if self._event_shape else shape

    def _full(self, number, like):
        """A tensor of the shape of one sample that holds one number."""
        return imode.full(self._extended_shape(), number, **_kind(like))

    def _enumerated(self, values, expand):
        """Values along a first axis, before axes for the batch."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def _validate_sample(self, value):
        """Raise ValueError for what is no tensor, or of a shape or values that do not fit."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.shape, self._event_shape
        if event and shape[len(shape) - len(event) :] != event:
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {event}."
            )
        expected = self._batch_shape + event if event else self._batch_shape
        if shape != expected:
            for i, j in zip(reversed(shape), reversed(expected), strict=False):
                if i != j and i != 1 and j != 1:
                    raise ValueError(
                        "Value is not broadcastable with batch_shape+event_shape: "
                        f"{shape} vs {expected}."
                    )
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be "
                f"within the support ({support!r}) of the distribution {self!r}, but found invalid "
                f"values:\n{value}"
            )

    def __repr__(self):
        given = ((name, self.__dict__.get(name)) for name in self.arg_constraints)
        shown = ", ".join(
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in given
            if value is not None
        )
        return f"{type(self).__name__}({shown})"
