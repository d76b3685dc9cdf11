"""Sets of values: what parameters and outcomes of distributions must lie in.

A constraint's `check` says of each event of a tensor whether it lies in the set.

>>> imode.distributions.constraints.positive.check(imode.tensor([-1.0, 2.0]))
tensor([False,  True])
"""

import imode

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """The base of sets. `is_discrete`: of separate values; `event_dim`: the axes of one event.

    >>> imode.distributions.constraints.simplex.event_dim
    1
    """

    is_discrete = False
    event_dim = 0
    _shows = ()  # names of the attributes that repr shows

    def check(self, value):
        """Return a bool for each event of `value`: whether it lies in the set."""
        raise NotImplementedError

    def __repr__(self):
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._shows)
        return f"{type(self).__name__[1:]}({shown})"


# ---- known when there is an object ---------------------------------------------------------------


class _Dependent(Constraint):
    """A set that depends on other parameters, and cannot be checked alone."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self):
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with what is known of it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Whether a constraint is known only when the distribution is.

    >>> c = imode.distributions.constraints
    >>> c.is_dependent(c.dependent), c.is_dependent(c.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a constraint; of the class itself, a dependent constraint."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# ---- over another constraint ---------------------------------------------------------------------


def _checked_base(constraint):
    if not isinstance(constraint, Constraint):
        raise AssertionError(
            f"base_constraint must be a Constraint, got {type(constraint).__name__}"
        )
    return constraint


def _all_rightmost(valid, kept):
    """Whether all are valid along the axes after the first `kept`."""
    return valid.reshape(valid.shape[:kept] + (-1,)).all(-1)


def _too_few(expected, value):
    return ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")


class _IndependentConstraint(Constraint):
    """Events of another constraint, taken together along some axes more."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint = _checked_base(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(
                "reinterpreted_batch_ndims must be an int, got "
                f"{type(reinterpreted_batch_ndims).__name__}"
            )
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(
                f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}"
            )
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        valid = self.base_constraint.check(value)
        kept = valid.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise _too_few(self.event_dim, value)
        return _all_rightmost(valid, kept)

    def __repr__(self):
        name = type(self).__name__[1:]
        return f"{name}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """Outcomes of a mixture: those of its components, without the axis of the components.

    >>> c = imode.distributions.constraints
    >>> c.MixtureSameFamilyConstraint(c.positive).check(imode.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint):
        self.base_constraint = _checked_base(base_constraint)
        super().__init__()

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim

    def check(self, value):
        valid = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise _too_few(self.event_dim, value)
        return _all_rightmost(valid, value.dim() - self.event_dim)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


# ---- numbers -------------------------------------------------------------------------------------


class _Real(Constraint):
    def check(self, value):
        return value == value  # not NaN


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _Above(Constraint):
    _shows = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound
        super().__init__()


class _GreaterThan(_Above):
    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    def check(self, value):
        return self.lower_bound <= value


class _Below(Constraint):
    _shows = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound
        super().__init__()


class _LessThan(_Below):
    def check(self, value):
        return value < self.upper_bound


class _Between(Constraint):
    _shows = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


class _Interval(_Between):
    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


def _whole(inside, value):
    """Which of the numbers inside are whole."""
    return inside & (value % 1 == 0) if value.is_floating_point() else inside


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value):
        return _whole((self.lower_bound <= value) & (value <= self.upper_bound), value)


class _IntegerLessThan(_Below):
    is_discrete = True

    def check(self, value):
        return _whole(value <= self.upper_bound, value)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value):
        return _whole(value >= self.lower_bound, value)


# ---- vectors -------------------------------------------------------------------------------------


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return imode.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts that sum to at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, x):
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


# ---- matrices ------------------------------------------------------------------------------------


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


class _LowerCholesky(_LowerTriangular):
    """Lower triangular with a positive diagonal."""

    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _CorrCholesky(_LowerCholesky):
    """The same, of rows of length 1."""

    def check(self, value):
        tolerance = imode.finfo(value.dtype).eps * value.size(-1) * 10
        length = imode.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & (length - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        make = value.new_ones if value.shape[-2] == value.shape[-1] else value.new_zeros
        return make(value.shape[:-2], dtype=imode.bool)


class _Symmetric(_Square):
    def check(self, value):
        square = super().check(value)
        if not square.all():
            return square
        return imode.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return imode.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return imode.linalg.cholesky_ex(value).info.eq(0)


# ---- several, side by side -----------------------------------------------------------------------


class _Joined(Constraint):
    """A constraint for each part of a tensor along an axis."""

    def __init__(self, cseq, dim=0):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def _check_dim(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions"
            )


class _Cat(_Joined):
    """Parts that `cat` joined, of these lengths (1)."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    def check(self, value):
        self._check_dim(value)
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return imode.cat(checks, self.dim)


class _Stack(_Joined):
    """Parts that `stack` joined."""

    @property
    def event_dim(self):
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        self._check_dim(value)
        parts = value.unbind(self.dim)
        checks = [c.check(part) for part, c in zip(parts, self.cseq, strict=False)]
        return imode.stack(checks, self.dim)


# ---- by their public names -----------------------------------------------------------------------

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
