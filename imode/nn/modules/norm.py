"""Normalisation layers."""

from imode import int64, ops

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = [
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "RMSNorm"),
    "SyncBatchNorm",
]


class _Affine(Module):
    # Registers `weight` (ones) and `bias` (zeros), each None if not wanted.
    def _make_affine(self, shape, weight, bias, made):
        for name, wanted in (("weight", weight), ("bias", weight and bias)):
            param = Parameter(ops.empty(shape, **made)) if wanted else None
            self.register_parameter(name, param)

    def reset_parameters(self):
        """Set weight to ones and bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _NormBase(_Affine):
    """The base of layers that keep the statistics of what they have seen."""

    # Entries in state dicts before version 2 lack num_batches_tracked.
    _version = 2
    _dims = ()  # the numbers of dimensions that an input may have

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made = {"device": device, "dtype": dtype}
        self._make_affine((num_features,), affine, bias, made)
        mean = var = count = None
        if track_running_stats:
            mean = ops.zeros((num_features,), **made)
            var = ops.ones((num_features,), **made)
            count = ops.zeros((), dtype=int64, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self):
        """Reset the statistics to mean 0, variance 1 and no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Set weight to ones and bias to zeros, and reset the statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.num_batches_tracked is not None:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input_dim(self, input):
        if input.dim() not in self._dims:
            wanted = " or ".join(f"{dim}D" for dim in self._dims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")


class _BatchNorm(_NormBase):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
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
        mean, var = self.running_mean, self.running_var
        if not self.training:
            use_batch = mean is None and var is None
            return F.batch_norm(
                input, mean, var, self.weight, self.bias, use_batch, self.momentum or 0.0, self.eps
            )
        momentum = self.momentum
        if not self.track_running_stats:
            mean = var = None
        elif self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the average over all batches so far
                momentum = 1.0 / self.num_batches_tracked.item()
        momentum = 0.0 if momentum is None else momentum
        return F.batch_norm(input, mean, var, self.weight, self.bias, True, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of a (N, C) or (N, C, L) input over batch and length.

    In training it uses the batch's statistics and updates the running statistics; in evaluation it
    uses the running statistics.

    >>> imode.nn.BatchNorm1d(3)(imode.randn(8, 3)).shape
    imode.Size([8, 3])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of a (N, C, H, W) input over batch and pixels; see BatchNorm1d.

    >>> imode.nn.BatchNorm2d(3)(imode.zeros(2, 3, 4, 4)).shape
    imode.Size([2, 3, 4, 4])
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of a (N, C, D, H, W) input over batch and voxels; see BatchNorm1d.

    >>> imode.nn.BatchNorm3d(3)(imode.zeros(2, 3, 4, 4, 4)).shape
    imode.Size([2, 3, 4, 4, 4])
    """

    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes; of one process, that is BatchNorm.

    Inputs are (N, C, ...). `process_group` is kept and has no effect.

    >>> imode.nn.SyncBatchNorm(3)(imode.randn(8, 3)).shape
    imode.Size([8, 3])
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Return `module` with each batch norm in it made one of this class; parameters are kept.

        >>> net = imode.nn.Sequential(imode.nn.BatchNorm1d(3))
        >>> type(imode.nn.SyncBatchNorm.convert_sync_batchnorm(net)[0]).__name__
        'SyncBatchNorm'
        """
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                made.register_buffer(name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class LayerNorm(_Affine):
    """Normalises each sample over its last dimensions, whose shape is `normalized_shape`.

    >>> imode.nn.LayerNorm(4)(imode.randn(2, 4)).shape
    imode.Size([2, 4])
    """

    def __init__(
        self,
        normalized_shape,
        eps=1e-5,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if hasattr(normalized_shape, "__index__"):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = {"device": device, "dtype": dtype}
        self._make_affine(self.normalized_shape, elementwise_affine, bias, made)
        self.reset_parameters()

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides each sample by the root of the mean square of its last dimensions.

    >>> imode.nn.RMSNorm(4)(imode.randn(2, 4)).shape
    imode.Size([2, 4])
    """

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        if hasattr(normalized_shape, "__index__"):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = None
        if elementwise_affine:
            weight = Parameter(ops.empty(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self):
        """Set weight to ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Affine):
    """Normalises each sample over groups of channels: (N, C, *) to the same shape.

    >>> imode.nn.GroupNorm(3, 6)(imode.randn(2, 6, 10, 10)).shape
    imode.Size([2, 6, 10, 10])
    """

    def __init__(
        self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        made = {"device": device, "dtype": dtype}
        self._make_affine((num_channels,), affine, bias, made)
        self.reset_parameters()

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
