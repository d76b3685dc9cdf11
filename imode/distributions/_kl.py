"""Who computes the divergence of two distributions: functions, by the two classes."""

import functools

from imode._core.user_frames import warn

_KL_REGISTRY = {}  # (class of p, class of q): function
_KL_MEMOIZE = {}  # the same, also of subclasses: found once


def register_kl(type_p, type_q):
    """Return a decorator that registers a function of (p, q) for two classes of distributions.

    It serves subclasses, too; the nearest to them is taken. Raises TypeError for what is no class.

    >>> class Mine(imode.distributions.Normal):
    ...     pass
    >>> @imode.distributions.register_kl(Mine, imode.distributions.Normal)
    ... def divergence(p, q):
    ...     return imode.tensor(1.0)
    >>> imode.distributions.kl_divergence(Mine(0.0, 1.0), imode.distributions.Normal(0.0, 1.0))
    tensor(1.)
    """
    for name, cls in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(cls, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {cls}")

    def decorator(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


def _nearer(one, other):
    """Compare pairs of classes: negative where the first class that differs is the subclass."""
    for x, y in zip(one, other, strict=True):
        if x is not y:
            return -1 if issubclass(x, y) else 1
    return 0


_order = functools.cmp_to_key(_nearer)


def _dispatch_kl(type_p, type_q):
    """The function for two classes; NotImplemented where there is none."""
    pairs = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not pairs:
        return NotImplemented
    by_p = min(pairs, key=_order)
    by_q = min(pairs, key=lambda pair: _order(pair[::-1]))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p, q):
    """Return the mean of log p(x) - log q(x) over outcomes x of p, for each one of the batch.

    Raises NotImplementedError where no function is registered for the two classes.

    >>> d = imode.distributions
    >>> d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    try:
        function = _KL_MEMOIZE[key]
    except KeyError:
        function = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return function(p, q)
