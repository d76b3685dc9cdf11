"""Covariances and correlations: composed, as in PyTorch."""

from imode import ops
from imode._core.type_names import scalar_name
from imode._core.user_frames import warn
from imode.ops.composites_fast import replayed, varies
from imode.ops.schema import composite


def _check_weights(name, weights, floating, observations):
    kind = "floating point" if floating else "integral"
    is_kind = weights.dtype.numpy.kind in ("f" if floating else "iu")
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.dim()} dimensions"
        )
    if not is_kind:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{scalar_name(weights.dtype)} dtype"
        )
    if weights.numel() != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {observations}"
        )
    if observations and (weights.detach() < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _degrees(weights, total, correction, aweights):
    """What the sums of products are divided by."""
    if aweights is None or correction == 0:
        degrees = total - correction
    else:
        degrees = total - correction * (weights * aweights).sum() / total
    counted = isinstance(degrees, int)
    positive = (degrees if counted else degrees.item()) > 0
    if counted:
        degrees = ops.scalar_tensor(degrees, dtype=int)
    if not positive:
        varies()
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations.",
        )
        degrees = ops.zeros_like(degrees)
    return degrees


@composite(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor"
)
@replayed
def cov(self, correction, fweights, aweights):
    """Return the covariances of the variables in the rows, whose observations are the columns.

    fweights: how often each observation is counted, integers. aweights: how much each counts.
    correction: 1 for the unbiased estimate. Raises RuntimeError for bools, for more than two
    dimensions, and for weights that do not fit.

    >>> imode.cov(imode.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if self.dim() > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    if self.dtype.numpy.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = self if self.dim() == 2 else self.view((1, self.numel()))
    observations = rows.shape[1]
    weights, total = None, observations
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, name == "aweights", observations)
            weights = given if weights is None else weights * given
    if weights is not None:
        varies()
        total = weights.sum()
        if observations and total.item() == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    weighted = rows if weights is None else rows * weights
    over = ops.scalar_tensor(total, dtype=int) if weights is None else total
    rows = rows - (weighted.sum(1) / over).unsqueeze(1)
    weighted = rows if weights is None else rows * weights
    degrees = _degrees(weights, total, correction, aweights)
    return (ops.mm(rows, weighted.t().conj()) / degrees).squeeze()


@composite("corrcoef(Tensor self) -> Tensor")
@replayed
def corrcoef(self):
    """Return the correlation coefficients of the variables in the rows.

    >>> imode.corrcoef(imode.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if self.dim() > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    found = ops.cov(self)
    if found.dim() == 0:
        return found / found
    spread = found.diagonal()
    spread = (spread.real if spread.is_complex() else spread).sqrt()
    found = found / spread.view((-1, 1)) / spread.view((1, -1))
    if found.is_complex():
        return ops.complex(found.real.clamp(-1, 1), found.imag.clamp(-1, 1))
    return found.clamp(-1, 1)
