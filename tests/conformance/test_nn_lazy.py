"""Layers that learn their inputs from the first batch, and the smaller spaces of `nn`."""

import copy

import pytest

from .side_by_side import agrees, error, run, same

LAYERS = {
    "LazyLinear": ((3,), {}, (4, 5)),
    "LazyLinear without": ((3, False), {}, (2, 4, 5)),
    "LazyConv1d": ((4, 3), {"padding": 1}, (2, 3, 7)),
    "LazyConv2d": ((4, 3, 2, 1, 1, 2), {}, (2, 6, 7, 7)),
    "LazyConv3d": ((2, 2), {"bias": False}, (1, 2, 3, 3, 3)),
    "LazyConvTranspose1d": ((4, 3), {"stride": 2}, (2, 3, 7)),
    "LazyConvTranspose2d": ((4, 3, 2, 1, 1, 2, True), {}, (2, 6, 4, 4)),
    "LazyConvTranspose3d": ((2, 2), {}, (1, 2, 2, 2, 2)),
    "LazyBatchNorm1d": ((), {}, (4, 3)),
    "LazyBatchNorm2d": ((1e-3, 0.2), {"affine": False}, (4, 3, 2, 2)),
    "LazyBatchNorm3d": ((), {"track_running_stats": False}, (2, 3, 2, 2, 2)),
    "LazyInstanceNorm1d": ((), {}, (4, 3, 5)),
    "LazyInstanceNorm2d": ((), {"bias": False}, (4, 3, 2, 2)),
    "LazyInstanceNorm3d": ((), {"affine": False}, (2, 3, 2, 2, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_lazy_layers(lib, torch, name):
    args, options, shape = LAYERS[name]

    def program(lib):
        layer = getattr(lib.nn, name.partition(" ")[0])(*args, **options)
        waiting = [lib.nn.parameter.is_lazy(p) for p in (*layer.parameters(), *layer.buffers())]
        seen = [str(layer), waiting, layer.has_uninitialized_params()]
        seen.append(isinstance(next(layer.parameters(), None), lib.nn.UninitializedParameter))
        optimizer = [*layer.parameters()]
        x = (lib.arange(float(lib.empty(shape).numel())).reshape(shape).sin()).requires_grad_()
        result = layer(x)
        (result * lib.arange(float(result.numel())).view_as(result).cos()).sum().backward()
        seen += [str(layer), type(layer).__name__, result, x.grad]
        seen.append([a is b for a, b in zip(optimizer, layer.parameters(), strict=True)])
        return [*seen, [p.grad for p in layer.parameters()], dict(layer.state_dict())]

    same(run(program, lib), run(program, torch))


@agrees
def test_state_dicts(lib):
    nn = lib.nn
    full = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3))
    lazy = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    waiting = [nn.parameter.is_lazy(v) for v in lazy.state_dict().values()]
    copied = copy.deepcopy(lazy[0])
    other = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    lazy.load_state_dict(full.state_dict())
    seen = [list(lazy.state_dict()), waiting, str(lazy), lazy(lib.eye(5)[:3]), str(lazy)]
    other.double()
    other(lib.ones(2, 4).double())
    return [*seen, str(other), str(other[0].weight.dtype), copied(lib.ones(1, 7)).shape == (1, 3)]


@agrees
def test_lazy_layers_refuse(lib):
    nn = lib.nn

    class Own(nn.modules.lazy.LazyModuleMixin, nn.Module):
        pass

    class Half(Own):
        def __init__(self):
            super().__init__()
            self.p = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

    return [
        error(lambda: nn.LazyConv2d(4, 3)(lib.ones(2, 3))[0]),
        error(lambda: nn.LazyConv1d(4, 1, groups=2)(lib.ones(1, 3, 2))),
        error(lambda: Own()(lib.ones(2))),
        error(lambda: Half()(lib.ones(2))),
    ]


@agrees
def test_materialize(lib):
    p = lib.nn.UninitializedParameter(dtype=lib.float64)
    b = lib.nn.UninitializedBuffer()
    p.materialize((2, 3))
    b.materialize((4,), dtype=lib.int32)
    return [list(p.shape), str(p.dtype), p.requires_grad, lib.nn.parameter.is_lazy(p),
            isinstance(p, lib.nn.Parameter), list(b.shape), str(b.dtype)]  # fmt: skip


@agrees
def test_sync_batch_norm(lib):
    nn = lib.nn
    net = nn.Sequential(nn.BatchNorm2d(3), nn.Sequential(nn.BatchNorm1d(2, affine=False)))
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    x = lib.arange(24.0).view(2, 3, 2, 2)
    return [str(made), made[0] is net[0], made[0](x), made[0].running_mean, list(made.state_dict()),
            error(lambda: nn.SyncBatchNorm(3)(lib.ones(3)))]  # fmt: skip


@agrees
def test_gradients_of_convolutions(lib):
    grad = lib.nn.grad
    x, w = lib.arange(24.0).view(1, 4, 6), lib.arange(12.0).view(2, 2, 3)
    y = lib.arange(4.0).view(1, 2, 2)
    x2, w2, y2 = lib.ones(1, 2, 4, 5), lib.ones(3, 2, 2, 2), lib.arange(36.0).view(1, 3, 3, 4)
    return [
        grad.conv1d_input(x.shape, w, y, 2, 0, 1, 2), grad.conv1d_weight(x, w.shape, y, 2, 0, 1, 2),
        grad.conv2d_input(x2.shape, w2, y2), grad.conv2d_weight(x2, w2.shape, y2),
        grad.conv3d_input((1, 1, 2, 2, 2), lib.ones(1, 1, 1, 1, 1), lib.ones(1, 1, 2, 2, 2)),
    ]  # fmt: skip


@agrees
def test_smaller_spaces(lib):
    nn = lib.nn
    from_string = []
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        from_string.append(lib.backends.cuda.flash_sdp_enabled())
    with nn.attention.sdpa_kernel([nn.attention.SDPBackend.FLASH_ATTENTION], set_priority=True):
        from_string.append(lib.backends.cuda.math_sdp_enabled())
    net = nn.Linear(2, 1)
    return [
        *from_string, lib.backends.cuda.math_sdp_enabled(), str(nn.attention.SDPBackend.MATH),
        error(lambda: nn.attention.sdpa_kernel("math").__enter__()),
        nn.factory_kwargs({"device": "cpu"}), nn.factory_kwargs(None),
        error(lambda: nn.factory_kwargs({"x": 1})),
        error(lambda: nn.factory_kwargs({"factory_kwargs": {"dtype": 1}, "dtype": 2})),
        error(lambda: nn.parallel.data_parallel(net, lib.ones(3, 2))),
        error(lambda: nn.parallel.DistributedDataParallel(net))[0],
        str(nn.common_types._size_2_t), nn.parallel.DataParallel is nn.DataParallel,
    ]  # fmt: skip
