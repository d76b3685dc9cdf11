"""Which transform leads from numbers without constraints into a set.

`biject_to(constraint)` gives a bijective one, `transform_to(constraint)` one that is good for
optimizing: it may name a value more than once.

>>> imode.distributions.biject_to(imode.distributions.constraints.unit_interval)
SigmoidTransform()
"""

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions from constraints to transforms, by the class of the constraint.

    >>> registry = imode.distributions.constraint_registry.ConstraintRegistry()
    >>> @registry.register(imode.distributions.constraints.real)
    ... def anything(constraint):
    ...     return imode.distributions.identity_transform
    >>> registry(imode.distributions.constraints.real)
    ComposeTransform(
    <BLANKLINE>
    )
    """

    def __init__(self):
        self._registry = {}
        super().__init__()

    def register(self, constraint, factory=None):
        """Register a function for the class of a constraint; without one, return a decorator.

        Raises TypeError for what is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint):
        """Return the transform of a constraint; NotImplementedError where there is none."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register(registries, sets, factory):
    for registry in registries:
        for constraint in sets:
            registry.register(constraint, factory)


_c, _t = constraints, transforms
_BOTH = (biject_to, transform_to)


def _interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    numbers = isinstance(low, (int, float)) and isinstance(high, (int, float))
    if numbers and low == 0 and high == 1:
        return _t.SigmoidTransform()
    return _t.ComposeTransform([_t.SigmoidTransform(), _t.AffineTransform(low, high - low)])


def _exponential(bound, sign):
    """From the numbers to those on one side of a constraint's bound."""
    return lambda constraint: _t.ComposeTransform(
        [_t.ExpTransform(), _t.AffineTransform(getattr(constraint, bound), sign)]
    )


_register(_BOTH, [_c.real], lambda constraint: _t.identity_transform)
_register(_BOTH, [_c.greater_than, _c.greater_than_eq], _exponential("lower_bound", 1))
_register(_BOTH, [_c.less_than], _exponential("upper_bound", -1))
_register(_BOTH, [_c.interval, _c.half_open_interval], _interval)
_register(_BOTH, [_c.corr_cholesky], lambda constraint: _t.CorrCholeskyTransform())
_register([biject_to], [_c.simplex], lambda constraint: _t.StickBreakingTransform())
_register([transform_to], [_c.simplex], lambda constraint: _t.SoftmaxTransform())
_register([transform_to], [_c.lower_cholesky], lambda constraint: _t.LowerCholeskyTransform())
_register(
    [transform_to],
    [_c.positive_definite, _c.positive_semidefinite],
    lambda constraint: _t.PositiveDefiniteTransform(),
)
for _registry in _BOTH:
    # The names are bound now: the loop goes on before the functions run.
    _registry.register(
        _c.independent,
        lambda c, to=_registry: _t.IndependentTransform(
            to(c.base_constraint), c.reinterpreted_batch_ndims
        ),
    )
    _registry.register(
        _c.cat,
        lambda c, to=_registry: _t.CatTransform([to(part) for part in c.cseq], c.dim, c.lengths),
    )
    _registry.register(
        _c.stack,
        lambda c, to=_registry: _t.StackTransform([to(part) for part in c.cseq], c.dim),
    )
