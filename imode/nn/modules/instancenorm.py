"""Normalisation of each channel of each sample."""

from imode._core.user_frames import warn

from .. import functional as F
from .norm import _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    # `_dims`: of a single sample, and of a batch of them.
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input):
        self._check_input_dim(input)
        single = input.dim() == self._dims[0]
        dim = input.dim() - self._dims[0]
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {input.size(dim)}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
            )
        result = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of a (N, C, L) or (C, L) input.

    >>> imode.nn.InstanceNorm1d(3)(imode.randn(8, 3, 5)).shape
    imode.Size([8, 3, 5])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of a (N, C, H, W) or (C, H, W) input.

    >>> imode.nn.InstanceNorm2d(3)(imode.randn(8, 3, 5, 5)).shape
    imode.Size([8, 3, 5, 5])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of a (N, C, D, H, W) or (C, D, H, W) input.

    >>> imode.nn.InstanceNorm3d(3)(imode.randn(8, 3, 5, 5, 5)).shape
    imode.Size([8, 3, 5, 5, 5])
    """

    _dims = (4, 5)
