"""Layers, losses, parameters and optimisers."""

PROGRAMS = {
    "a module with a backward hook gives views that are not written to": """
        v0 = lib.ones(2, 3, requires_grad=True); m = lib.nn.Linear(3, 2)
        h = m.register_full_backward_hook(lambda module, given, arrived: None)
        v1 = m(v0)
        v1.add_(1)
        v2 = v1[0]
        v2.mul_(2)
        with lib.no_grad():
            v3 = m(v0)
            v3.add_(1)
        v4 = lib.nn.Sequential(m, lib.nn.ReLU(inplace=True))(v0)
        (v1 * v1).sum().backward()
    """,
    "limits of gradients are two writes": """
        v0 = lib.nn.Parameter(lib.ones(3))
        (v0 * v0).sum().backward()
        lib.nn.utils.clip_grad_value_([v0], 0.5)
        lib.nn.utils.clip_grads_with_norm_([v0], 1.0, lib.tensor(4.0))
    """,
    "an optimiser's step": """
        v0 = lib.nn.Parameter(lib.ones(3))
        o = lib.optim.SGD([v0], lr=0.1, momentum=0.9)
        (v0 * v0).sum().backward()
        o.step()
        o.zero_grad()
        (v0 * v0).sum().backward()
        with lib.inference_mode():
            o.step()
        o.step()
        v1 = v0 * 2
    """,
    "losses expand what they broadcast": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, requires_grad=True)
        v2 = lib.nn.functional.mse_loss(v0, v1)
        v3 = lib.nn.functional.l1_loss(v0, v1)
        v4 = lib.nn.functional.smooth_l1_loss(v0, v1)
        v5 = lib.nn.functional.huber_loss(v0, v1)
        (v2 + v3 + v4 + v5).backward()
    """,
    "a parameter on the right of a comparison is asked first": """
        v0 = lib.ones(3, 3); v1 = lib.nn.Parameter(lib.ones(2, 2))
        v2 = v0 == v1
        v2 = v0 < v1
        v2 = v1 == v0
        v2 = v0 + v1
        v2 = v0 < lib.nn.Parameter(lib.zeros(3, 3))
        v3 = v0[0, :2] in v0
    """,
    "batch_norm of nothing, and of what has no channels": """
        v0 = lib.ones(0, 3); v1 = lib.ones(3); v2 = lib.ones(3, requires_grad=True)
        v3 = N(v0)
        v4 = lib.nn.functional.batch_norm(lib.tensor([]), None, None, v2, v2, training=True)
        v5 = lib.nn.functional.batch_norm(v1, None, None, training=True)
    """,
    "a parameter that requires grad is given no integers by assign=True": """
        v0 = lib.ones(2, 3, dtype=lib.int64)
        L.load_state_dict({'weight': v0}, strict=False, assign=True)
    """,
    "losses without dimensions, and targets of another dtype": """
        v0 = lib.tensor(1.5); v1 = lib.ones(3)
        v2 = lib.nn.functional.cross_entropy(v0, v0)
        v3 = lib.nn.functional.cross_entropy(v1, v1[:2])
    """,
    "a parameter that is in a group twice": """
        v0 = lib.ones(3, requires_grad=True)
        O = lib.optim.SGD([v0, v0], lr=0.1, nesterov=True, momentum=0.5)
        (v0 * v0).sum().backward()
        O.step()
        O.step()
    """,
    "batch_norm of integers in another order": """
        v0 = lib.ones(2, 3, 3)
        v1 = lib.nn.functional.batch_norm(v0.int(), None, None, training=True)
        v1 = lib.nn.functional.batch_norm(v0.int().mT, None, None, training=True)
        v1 = lib.nn.functional.batch_norm((v0 + 1j).mT, None, None, training=True)
    """,
    "entropies name the dtypes of both": """
        F = lib.nn.functional
        v0 = lib.full((2,), 0.5); v1 = v0.double()
        v2 = lib.ones(2, dtype=lib.int32); v3 = v2.bool()
        v4 = F.binary_cross_entropy(v0, v2)
        v4 = F.binary_cross_entropy(v1, v3)
        v4 = F.binary_cross_entropy_with_logits(v1, v2)
        v4 = F.binary_cross_entropy_with_logits(v0, v3)
        v4 = F.binary_cross_entropy_with_logits(v2, v2)
        v4 = F.binary_cross_entropy_with_logits(v0, v0 + 1j)
    """,
    "batch_norm of nothing is a copy, scaled and shifted": """
        v0 = lib.zeros(2, 0, 3, requires_grad=True)
        v1 = N(v0)
        v2 = lib.nn.functional.batch_norm(v0, None, None, training=True)
        v3 = lib.nn.functional.batch_norm(v0, None, None, v1.new_ones(3), training=True)
    """,
    "adaptive pools of nothing, or to nothing": """
        F = lib.nn.functional
        v0 = lib.ones(2, 3, 4, requires_grad=True); v1 = lib.ones(2, 0, 4, 4, requires_grad=True)
        v2 = lib.ones(0, 2, 4, 4, requires_grad=True)
        F.adaptive_avg_pool1d(v0, 0).sum().backward()
        F.adaptive_max_pool1d(v0, 0).sum().backward()
        F.adaptive_max_pool1d(v0[:, :0], 2)
        F.adaptive_avg_pool2d(v0, (2, 0)).sum().backward()
        F.adaptive_max_pool2d(v1, 2).sum().backward()
        F.adaptive_avg_pool2d(v1, 2).sum().backward()
        F.adaptive_avg_pool2d(v2, 2).sum().backward()
        F.adaptive_max_pool2d(v2, (2, 0)).sum().backward()
    """,
    "batch_norm of float16 is laid out as that of float32": """
        F = lib.nn.functional
        v0 = lib.rand(2, 3, 4, requires_grad=True); v1 = v0.half().mT; v2 = v0.mT
        v3 = F.batch_norm(v1, None, None, training=True)
        v4 = F.batch_norm(v2, None, None, training=True)
        v5 = F.batch_norm(v1.permute(2, 1, 0)[None], None, None, lib.ones(4).half(), training=True)
        v3.sum().backward()
    """,
    "batch_norm refuses an eps that divides by zero": """
        v0 = lib.tensor([[1.0, 2.0], [3.0, 5.0]]); F = lib.nn.functional
        v1 = lib.zeros(2); v2 = lib.ones(2)
        F.batch_norm(v0, v1, v2, training=True, eps=0.0)
        F.batch_norm(v0, v1, v2, training=True, eps=-1e-5)
        F.batch_norm(v0, v1, v2, eps=-1.0)
        v3 = F.batch_norm(v0, v1, v2, eps=0.0)
        v4 = lib.batch_norm(v0, None, None, v1, v2, True, 0.1, 0.0, False)
        lib.nn.BatchNorm1d(2, eps=0)(v0)
    """,
    "circular padding names the dimensions that its input may have": """
        v0 = lib.ones(2, 2); v1 = lib.ones(2, 2, 2, 2)
        lib.nn.CircularPad1d(1)(v1)
        lib.nn.CircularPad2d(1)(v0)
        lib.nn.CircularPad2d(1)(v0[0])
        v2 = lib.nn.CircularPad1d(1)(v0); v3 = lib.nn.CircularPad2d(1)(v1)
    """,
    "Adam takes two tensors or two numbers as betas": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.tensor(0.9)
        lib.optim.Adam([v0], betas=(v1, 0.99))
        lib.optim.AdamW([v0], betas=(0.9, v1))
        opt = lib.optim.Adam([v0], betas=(v1, v1)); v0.sum().backward(); opt.step()
    """,
    "a buffer with history keeps it when it is converted": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        M.register_buffer("b", v1); M.register_parameter("p", lib.nn.Parameter(v0.detach()))
        M.double()
        v2 = M.b
        v2.sum().backward()
        M.register_buffer("c", v0 * 3)
        with lib.no_grad():
            M.half()
        v3 = M.b; v4 = M.c
    """,
    "convolutions of the same size with lists that are too long": """
        v0 = lib.ones(1, 1, 4); F = lib.nn.functional
        F.conv1d(v0, v0[:, :, :2], padding="same", dilation=[1, 2])
        F.conv1d(v0, v0[:, :, :2], padding="same", stride=[1, 1])
        F.conv1d(v0, v0[:, :, :2], padding="same", dilation=[])
        v1 = F.conv2d(v0[None], v0[None][..., :2], padding="same", dilation=[1])
    """,
    "a window of a maximum that holds nothing but padding": """
        F = lib.nn.functional; v0 = lib.ones(1, 1, 1, requires_grad=True)
        v1 = F.max_pool1d(v0, 2, 1, 1, 2); v2 = F.max_pool1d(v0.detach(), 2, 1, 1, 2)
        v3 = F.max_pool2d(lib.ones(1, 1, 3, 3), 2, 1, 1, 4, return_indices=True)[0]
        v4 = F.max_pool2d(lib.ones(1, 1, 1, 1, dtype=lib.int64), 2, 1, 1, 2)
        v5 = F.max_pool2d(lib.ones(1, 1, 1, 1, dtype=lib.uint8), 2, 1, 1, 2)
        v6 = F.max_pool2d(lib.ones(1, 1, 1, 1, dtype=lib.int8), 2, 1, 1, 2)
    """,
    "how many windows max_pool1d has with ceil_mode": """
        F = lib.nn.functional; v0 = lib.ones(1, 1, 1); v1 = lib.ones(1, 1, 2)
        v2 = F.max_pool1d(v0, 2, 2, ceil_mode=True); v3 = F.max_pool1d(v1, 3, 2, ceil_mode=True)
        v4 = F.max_pool1d(v1, 2, 3, 1, ceil_mode=True); v5 = F.max_pool1d(v0, 2, 2)
        v6 = F.max_pool1d(v0, 2, 2, 1, 3, ceil_mode=True)
        v7 = F.max_pool1d(v1, 3, 2, 0, 3, ceil_mode=True)
    """,
    "batch norm of one image whose stride is odd": """
        v0 = lib.arange(60.0).as_strided((1, 3, 4, 5), (7, 1, 15, 3)); v1 = lib.ones(3)
        v2 = lib.nn.functional.batch_norm(v0, v1, v1, v1, v1)
        v3 = lib.nn.functional.batch_norm(v0, None, None, training=True)
        v4 = lib.arange(30.0).as_strided((1, 3, 2, 5), (30, 10, 5, 1))
        v5 = lib.nn.functional.batch_norm(v4, v1, v1)
        v6 = v0.clone().requires_grad_()
        v7 = lib.nn.functional.batch_norm(v6, v1, v1)
        v7.sum().backward()
    """,
}
