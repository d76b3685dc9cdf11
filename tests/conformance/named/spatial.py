"""Networks over space: functions that PyTorch has in Python, and their mistakes."""

PROGRAMS = {
    "interpolate in all modes": """
        F = lib.nn.functional
        v0 = lib.arange(24.0).view(1, 2, 3, 4).requires_grad_(); v1 = v0[0]; v2 = v0.unsqueeze(2)
        v3 = F.interpolate(v0, scale_factor=1.7, mode="nearest-exact")
        v4 = F.interpolate(v0, (5, 2), mode="bilinear", align_corners=True)
        v5 = F.interpolate(v0, scale_factor=(0.7, 2), mode="bilinear", antialias=True)
        v6 = F.interpolate(v0, 2, mode="bicubic", antialias=True)
        v7 = F.interpolate(v0, scale_factor=1.6, mode="bicubic", recompute_scale_factor=True)
        v8 = F.interpolate(v1, 3, mode="linear"); v9 = F.interpolate(v1, 3, mode="area")
        v10 = F.interpolate(v2, (2, 3, 5), mode="trilinear"); v11 = F.interpolate(v2, 2)
        v12 = F.interpolate(v0, 2, mode="lanczos", antialias=True)
        (v3.sum() + v4.sum() + v5.exp().sum() + v7.sum() + v10.sum() + v12.sum()).backward()
    """,
    "grid_sample of nothing, differentiated twice": """
        G = lib.autograd.grad
        for n, channels in ((0, 2), (2, 0)):
            v0 = lib.ones(n, channels, 3, 4, requires_grad=True)
            v1 = lib.zeros(n, 3, 2, 2, requires_grad=True)
            y = lib.nn.functional.grid_sample(v0, v1, align_corners=True)
            g = G(y.sum(), (v0, v1), create_graph=True)[1]
            see("twice", tuple(G(g.sum(), v1, materialize_grads=True)[0].shape))
            del y, g
    """,
    "interpolate, mistaken": """
        F = lib.nn.functional
        v0 = lib.ones(1, 2, 3, 4)
        F.interpolate(v0); F.interpolate(v0, 2, 2); F.interpolate(v0, (2,))
        F.interpolate(v0, scale_factor=(2,)); F.interpolate(v0, 2, mode="linear")
        F.interpolate(v0, 2, mode="other"); F.interpolate(v0[0], 2, mode="bilinear")
        F.interpolate(v0[0, 0], 2); F.interpolate(v0, 2, align_corners=True); F.interpolate(v0, 0)
        F.interpolate(v0, 2, antialias=True); F.interpolate(v0, 2, recompute_scale_factor=True)
        F.interpolate(v0, (2.5, 1)); F.interpolate(v0, 2, mode="lanczos")
    """,
    "maxima put back": """
        F = lib.nn.functional
        v0 = lib.arange(32.0).remainder(7).view(1, 2, 4, 4).requires_grad_()
        v1, v2 = F.max_pool2d(v0, 2, return_indices=True)
        v3 = F.max_unpool2d(v1, v2, 2); v4 = F.max_unpool2d(v1, v2, 2, output_size=(1, 2, 5, 5))
        v5, v6 = F.max_pool1d(v0[0], 2, return_indices=True)
        v7 = F.max_unpool1d(v5, v6, 2)
        v8, v9 = F.max_pool3d(v0, 2, return_indices=True)
        v10 = F.max_unpool3d(v8, v9, 2)
        (v3.exp().sum() + v4.sum() + v7.sum() + v10.sum()).backward()
        v11 = v2[:, :1, :1, :1] + 16
        F.max_unpool2d(v1[:, :1, :1, :1], v11, 2); F.max_unpool2d(v1, v2.int(), 2)
        F.max_unpool2d(v1, v2[:, :1], 2); F.max_unpool2d(v1, v2, 2, output_size=(9, 9))
        F.max_unpool2d(v1, v2, 2, output_size=(5,)); F.max_unpool3d(v8, v9, 2, 0)
        F.max_unpool2d(v1[0, 0], v2[0, 0], 2)
    """,
    "windows at random places, power means": """
        F = lib.nn.functional
        v0 = lib.arange(98.0).remainder(11).view(1, 2, 7, 7).requires_grad_()
        v1 = lib.tensor([[[0.1, 0.9], [0.6, 0.3]]])
        v2 = F.fractional_max_pool2d(v0, 2, output_size=(3, 4), _random_samples=v1)
        v3, v4 = F.fractional_max_pool2d(
            v0, (2, 3), output_ratio=(0.5, 0.5), return_indices=True, _random_samples=v1)
        v5 = v0.unsqueeze(2).expand(1, 2, 4, 7, 7)
        v6 = lib.ones(1, 2, 3) / 3
        v6 = F.fractional_max_pool3d(v5, 2, output_size=(2, 3, 3), _random_samples=v6)
        v7 = F.lp_pool2d(v0 + 1, 3, 2); v8 = F.lp_pool1d(v0[0] + 1, 2.0, 3, ceil_mode=True)
        (v2.sum() + v3.exp().sum() + v6.sum() + v7.sum() + v8.sum()).backward()
        F.fractional_max_pool2d(v0, 2); F.fractional_max_pool2d(v0, 2, output_size=9)
        F.fractional_max_pool2d(v0, 2, output_size=2, _random_samples=v1[0])
        F.fractional_max_pool2d(v0, 2, output_size=2, _random_samples=v1.double())
    """,
    "grids, columns and channels": """
        F = lib.nn.functional
        v0 = lib.arange(24.0).view(1, 2, 3, 4).requires_grad_()
        v1 = lib.tensor([[[0.8, 0.1, 0.2], [-0.3, 1.1, 0.1]]], requires_grad=True)
        v2 = F.affine_grid(v1, (1, 2, 3, 2), align_corners=False)
        v3 = F.grid_sample(v0, v2, padding_mode="reflection", align_corners=False)
        v4 = F.grid_sample(v0, v2, "bicubic", align_corners=True)
        v5 = F.fold(F.unfold(v0, 2, padding=1), (3, 4), 2, padding=1)
        v6 = F.channel_shuffle(v0, 2); v7 = F.instance_norm(v0); v8 = F.rms_norm(v0, (4,))
        v9 = F.local_response_norm(v0, 3, 0.1); v10 = F.local_response_norm(v0[0], 2)
        (v3.sum() + v4.sum() + v5.exp().sum() + v6.sum() + v8.sum() + v9.sum()).backward()
        F.grid_sample(v0, v2, "other"); F.grid_sample(v0, v2, padding_mode="other")
        F.affine_grid(v1, (1, 2, 3)); F.affine_grid(v1[:, :1], (1, 2, 3, 2), False)
        F.affine_grid(v1, (1, 2, 3, 0), False); F.affine_grid(v1.long(), (1, 2, 3, 2), False)
        F.unfold(v0, (2, 2, 2)); F.fold(v0[0], 2, 2); F.instance_norm(v0[:, :, :1, :1])
        v11 = lib.nn.CrossMapLRN2d(3, 0.1)(lib.arange(20.0).view(1, 5, 2, 2))
        F.local_response_norm(v0[0, 0], 2); F.channel_shuffle(v0, 3)
    """,
}
