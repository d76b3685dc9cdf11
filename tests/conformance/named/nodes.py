"""The nodes that calls leave behind: which, with which names and edges."""

PROGRAMS = {
    "a detached copy is recorded, and refuses backward": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(2, 3)
        v2 = lib.detach_copy(v0.t())
        v3 = lib.detach_copy(v1)
        with lib.no_grad():
            v4 = lib.detach_copy(v0)
        v2.sum().backward()
    """,
    "the gradients of an integral add up in one order": """
        v0 = lib.tensor([[0.16, -1.68], [0.18, -1.92]], requires_grad=True)
        v1 = lib.trapezoid(v0, dim=1)
        (v1 * v1).sum().backward(create_graph=True)
        v2 = lib.cumulative_trapezoid(v0, dx=2)
        (v2 * v2).sum().backward(create_graph=True)
    """,
    "pieces that are not recorded as views": """
        v0 = lib.ones(5, 2, requires_grad=True); v1 = v0 * 2
        v2 = v1.unsafe_split(2)[0]
        v2.mul_(3)
        v3 = v1.unsafe_split_with_sizes((1, 4))[1]
        v4 = v1.unsafe_chunk(2)[1]
        with lib.no_grad():
            v5 = v1.unsafe_split(2)[1]
        v5.add_(1)
        v1.sum().backward()
        v2.sum().backward()
        with lib.inference_mode():
            v6 = v1.unsafe_split(3)[0]
            v7 = lib.ones(3); v8 = v7.unsafe_chunk(2)[0]
        v9 = v7.unsafe_chunk(3)[0]
    """,
    "copies of views that cannot be differentiated for complex numbers": """
        v0 = lib.ones(3, 2, dtype=lib.complex64, requires_grad=True)
        v1 = lib.select_copy(v0, 0, 1)
        v1 = lib.slice_copy(v0, 0, 1)
        v2 = lib.ones(3, 2, requires_grad=True)
        v3 = lib.view_as_complex_copy(v2)
        v3 = lib.view_copy(v2, lib.int32)
        v4 = lib.transpose_copy(v0, 0, 1)
        v5 = lib.autograd.grad(v4.real.sum(), v0)
    """,
    "what a composed operator puts into order first is in the graph": """
        v0 = lib.ones(2, 1, 4, requires_grad=True); v1 = v0.expand(2, 6, 4)
        v2 = lib.ones(12, requires_grad=True)[::2]; v3 = lib.ones(1, requires_grad=True).expand(3)
        v4 = lib.nn.functional.group_norm(v1, 3, v2, v2)
        v4 = lib.group_norm(v1.detach(), 3, v2)
        v5 = lib.nn.functional.prelu(lib.ones(2, 3, 4), v3)
        v6 = lib.isreal(v1)
    """,
    "products of matrices that cost the same in any order": """
        v0 = lib.ones(3, 3, requires_grad=True)
        v1 = lib.chain_matmul(v0)
        v2 = lib.chain_matmul(v0, v0, v0)
        v3 = lib.linalg.multi_dot([v0, v0, v0, v0])
    """,
    "statistics that require grad are refused where they are recorded": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(2, 3)
        v2 = lib.nn.functional.batch_norm(v1, v0 * 1, lib.ones(3), training=True)
        with lib.inference_mode():
            with lib.enable_grad():
                v3 = lib.nn.functional.batch_norm(v1, v0.view(3), lib.ones(3), training=True)
    """,
    "a difference the wrong way around keeps its gradient": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        v2 = v0.__rsub__(v1).sum()
        v2.backward()
        v3 = 2 - v1
    """,
    "a retained gradient stays with the node before a change of the geometry": """
        v0 = lib.ones(1, 3, requires_grad=True); v1 = v0 * 2; v1.retain_grad()
        v1.t_()
        v1.sum().backward()
        v2 = v0 * 2; v2.retain_grad()
        v2.unsqueeze_(0)
        v2.squeeze_()
        v2.sum().backward()
        v3 = v0 * 2; v3.retain_grad()
        v3.as_strided_((2,), (1,))
        v3.sum().backward()
    """,
    "nodes of what cannot be differentiated lead to what requires grad": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3)
        v2 = lib.floor_divide(v0, v1)
        v3 = lib.floor_divide(v1, v0)
        v4 = v0 // 2
        v5 = v0 * 1
        v5.floor_divide_(v1)
        v6 = v1.scatter(0, lib.tensor([0]), v0, reduce='add')
        v4.sum().backward()
    """,
    "nodes of numbers and tensors": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3)
        v2 = lib.xlogy(v0, 2)
        v3 = lib.xlogy(2, v0)
        v4 = lib.xlogy(v0, v1)
        v5 = lib.rsub(v0, v1)
        v6 = lib.rsub(v0, 2)
        v7 = lib.round(v0, decimals=2)
        v8 = v0 * 1
        v8.eq_(2)
        v9 = v0 * 1
        v9.lt_(v1)
        v5.sum().backward()
    """,
    "asarray sets requires_grad on a tensor itself": """
        v0 = lib.ones(3); v1 = lib.ones(2, 3, requires_grad=True); v2 = v1 * 2
        v3 = lib.asarray(v0, requires_grad=True)
        v4 = lib.asarray(v1, requires_grad=False)
        v5 = lib.asarray(v2, requires_grad=False)
        with lib.no_grad():
            v6 = v2[0]
        v7 = lib.asarray(v6)
        v8 = v7.sum()
        v8.backward()
    """,
    "an index that take_along_dim makes is saved, not the one that it was given": """
        v0 = lib.ones(2, 3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.tensor([[0], [2]]); v2 = lib.tensor([0])
        v3 = lib.take_along_dim(v0, v1, 1)
        v3.sum().backward()
        v4 = lib.take_along_dim(v0, v2)
    """,
    "a gradient has the shape that its leaf has by then": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        with lib.no_grad():
            v0.unsqueeze_(0)
        v1.sum().backward()
        v2 = lib.ones(6, requires_grad=True); v3 = v2.cumsum(0)
        with lib.no_grad():
            v2.as_strided_((2,), (1,))
        v3.sum().backward()
    """,
    "a leaf that was written to has left the graph's end": """
        v0 = lib.ones(6, requires_grad=True); v1 = v0 * 2
        v0.requires_grad_(False)
        v0.copy_(v1)
        v1.sum().backward()
    """,
    "integers are made of a view that is out of date": """
        v0 = lib.ones(2, 3, requires_grad=True) * 1
        with lib.inference_mode():
            v1 = v0.t()
        v0.mul_(2)
        v2 = v1.to(lib.int64)
        v3 = v1.bool()
        v4 = v1.to(lib.float64)
    """,
    "a written view's node before is not kept, nor named": """
        v0 = lib.full((2, 3), 4.0, requires_grad=True) * 1; v1 = v0.view(-1)
        v1.sqrt_()
        v1.mul_(2)
        v1.sum().backward()
    """,
    "a number beside // has no edge": """
        v0 = lib.ones(2, requires_grad=True) * 1
        v1 = v0 // 2; v2 = 2 // v0; v3 = v0 // v0
        v0 //= 2
    """,
    "comparisons in place with numbers and with tensors have nodes of two names": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 1; v2 = v0 * 1; v3 = v0 * 1
        v1.eq_(v0)
        v2.gt_(0.5)
        v3.ne_(v1)
        v1.sum().backward()
    """,
    "xlogy with numbers has one edge": """
        v0 = lib.ones(2, requires_grad=True)
        v1 = lib.xlogy(v0, 2); v2 = lib.xlogy(2, v0); v3 = lib.xlogy(v0, v0)
        v4 = saved(v1); v5 = saved(v2); v6 = saved(v3)
        (v1 + v2 + v3).sum().backward()
    """,
    "set_ of nothing has one edge": """
        v0 = lib.ones(2, requires_grad=True) * 1
        v0.set_()
    """,
    "nodes of copies and of written bases say their namespace": """
        v0 = lib.ones(3, requires_grad=True)
        v1 = lib.zeros(3, dtype=lib.float64)
        v1.copy_(v0)
        v2 = v0 * 1
        v2[0] = 5
        v3 = v1.grad_fn.name(); v4 = v2.grad_fn.name()
        v5 = v1.grad_fn.next_functions[1][0].name()
        v6 = type(v1.grad_fn).__name__; v7 = type(v2.grad_fn).__name__
    """,
    "glu is one node": """
        v0 = lib.arange(12.0).reshape(4, 3).requires_grad_()
        v1 = lib.nn.functional.glu(v0, 0)
        v2 = saved(v1)
        v1.sum().backward()
        v3 = lib.nn.functional.glu(lib.tensor(1.0))
        v3 = lib.nn.functional.glu(v0, 2)
        v3 = lib.nn.functional.glu(lib.ones(4).long())
    """,
    "nodes are counted thread by thread": """
        v0 = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        v1 = v0 * 1; v2 = v1[:, 0].unique(); v3 = v1[:, None]
        thread(lambda: v3.mul_(v3))
        ((v3 - v2) ** 2).mean().backward()
    """,
    "what cannot be differentiated has a place for each input that requires grad": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[:1]
        v2 = v1 // 2; v3 = v1 // v1; v4 = v1 // v0; v5 = v0 // lib.ones(3); v6 = lib.ones(3) // v1
        v7 = v2.grad_fn.next_functions, v3.grad_fn.next_functions, v6.grad_fn.next_functions
        v2.sum().backward()
    """,
    "a layer adds a bias of its own shape within the product, any other after it": """
        F = lib.nn.functional
        v0 = lib.ones(2, 1, 4, requires_grad=True); v1 = lib.ones(4, 4, requires_grad=True)
        v2 = F.linear(v0, v1, v1[0]); v3 = F.linear(v0, v1, v1[:1])
        v4 = F.linear(v0, v1, v1[:, 0]); v5 = F.linear(v0, v1, v1[0, 0])
        v6 = F.linear(v0, v1, v1[None, :1])
        v7 = F.linear(v1[0], v1[1], v1[2])
        v7 = F.linear(v0, v1[1], v1[2, :1])
    """,
    "a contraction of all is a product of vectors where both lie in order": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0.detach().int()
        v2 = lib.tensordot(v0, v0, 2)
        v3 = lib.tensordot(v0, v0.reshape(3, 2), ([0, 1], [1, 0]))
        v4 = lib.inner(v0[:, 0], v0[:, 1])
        v5 = lib.tensordot(v1, v1.reshape(3, 2), ([0, 1], [1, 0]))
        (v2 + v3 + v4).backward()
    """,
    "the sizes and strides of factors stay readable": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(4, 3).t(); v2 = lib.ones(4)
        v3 = lib.addmm(v2, v0, v1); v4 = v0.detach()[:, ::2].mm(v0.t()[::2])
        v5 = v2.requires_grad_()
        NAMES = [f"_saved_{factor}_sym_{what}" for factor in ("self", "mat1", "mat2")
                 for what in ("sizes", "strides")]
        SHOW = lambda v: log.append([tuple(getattr(v.grad_fn, n)) for n in NAMES
                                     if hasattr(v.grad_fn, n)])
        SHOW(v3)
        SHOW(v4)
        SHOW(lib.addmm(v5, v4.detach(), lib.ones(2, 4)))
        SHOW(lib.mm(v0, lib.ones(3, 1)))
        SHOW(lib.mm(lib.ones(1, 2), v0[:, :0]))
        v3.sum().backward()
        SHOW(v3)
        v0.data.zero_()
        with lib.no_grad():
            v0.zero_()
        SHOW(v4)
    """,
    "a formula that multiplies by a number shows it, and no saved tensor": """
        v0 = lib.ones(2, requires_grad=True)
        v1, = lib.autograd.grad((v0 ** 3).sum(), v0, create_graph=True)
        N = v1.grad_fn.next_functions[1][0]
        log.append([a for a in dir(N) if 'saved' in a])
        N._saved_other
        N._raw_saved_other
    """,
    "hooks are shown the gradients of all tensors of a list": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2)
        v2 = lib.stack([v0, v1]); v3 = lib.cat([v1, v0])
        v2.grad_fn.register_hook(lambda i, o: log.append([t is None for t in i]))
        v3.grad_fn.register_hook(lambda i, o: log.append([t is None for t in i]))
        (v2.sum() + v3.sum()).backward()
    """,
    "hooks are shown the gradients that are asked for": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(1, requires_grad=True)
        v2 = lib.nn.functional.prelu(v0, v1)
        v2.grad_fn.register_hook(lambda i, o: log.append([t is None for t in i]))
        lib.autograd.grad(v2.sum(), v0, retain_graph=True)
        lib.autograd.grad(v2.sum(), v1)
    """,
    "gradients are computed in the order of their inputs' names": """
        v0 = lib.ones(2, 2, requires_grad=True); v1 = lib.ones(2, 2, requires_grad=True)
        v2, v3 = lib.autograd.grad((v0 * v1).sum(), [v0, v1], create_graph=True)
        v2.register_hook(lambda g: log.append("first"))
        v3.register_hook(lambda g: log.append("second"))
        v4, v5 = lib.autograd.grad((v0 @ v1).sum(), [v0, v1], create_graph=True)
        v4.grad_fn.register_hook(lambda i, o: log.append("third"))
        v5.grad_fn.register_hook(lambda i, o: log.append("fourth"))
        (v2 + v3 + v4 + v5).sum().backward()
    """,
    "the gradient of a log sigmoid is a node of its own": """
        F = lib.nn.functional
        v0 = lib.tensor([-3.0, 0.0, 2.5], requires_grad=True)
        v1 = v0.detach().half().requires_grad_()
        v2, = lib.autograd.grad((F.logsigmoid(v0) ** 2).sum(), v0, create_graph=True)
        v3, = lib.autograd.grad(v2.sum(), v0, create_graph=True)
        v3.sum().backward()
        v4, = lib.autograd.grad((F.logsigmoid(v1) ** 2).sum(), v1, create_graph=True)
        v5 = v0.detach().sigmoid().requires_grad_(); v6 = lib.tensor([2.0])
        v7 = F.binary_cross_entropy_with_logits(v0, v5, pos_weight=v6)
        v8, v9 = lib.autograd.grad(v7, [v0, v5], create_graph=True)
    """,
    "second derivatives are recorded as PyTorch's": """
        v0 = lib.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
        v1 = lib.ones(2, 2, requires_grad=True)
        def twice(x):
            once = lib.autograd.grad(x, v0, v1, create_graph=True)
            return lib.autograd.grad(once, v0, v1, create_graph=True)
        v2, = twice(v0.tanh()); v3, = twice(v0.sigmoid()); v4, = twice(v0.log_softmax(1))
        v5, = twice(lib.nn.functional.softplus(v0)); v6, = twice(lib.nn.functional.silu(v0))
        v7, = twice(v0.exp()); v8, = twice(v0 * v0); v9, = twice(v0 @ v0)
        v10, = twice(lib.nn.functional.mse_loss(v0, v1, reduction='none'))
        v11 = lib.nn.functional.mse_loss(v0, v1)
        v12, = lib.autograd.grad(v11, v0, create_graph=True)
        v13, = lib.autograd.grad(v12.sum(), v0, create_graph=True)
    """,
    "second derivatives of activations are recorded as PyTorch's": """
        v0 = lib.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
        v1 = lib.ones(2, 2, requires_grad=True)
        def twice(x):
            v, = lib.autograd.grad(x, v0, v1[:, :x.shape[1]], create_graph=True)
            return lib.autograd.grad(v, [v0, v1], v1, create_graph=True)
        F = lib.nn.functional
        v2, v3 = twice(F.gelu(v0)); v4, v5 = twice(F.gelu(v0, approximate="tanh"))
        v6, v7 = twice(F.glu(v0)); v8, v9 = twice(lib.sinc(v0))
        v10, v11 = twice(lib.complex(v0, v1).acosh().real)
        v12, v13 = twice(lib.complex(v0, v1).angle())
        v14, v15 = twice(F.embedding(lib.tensor([1, 0]), v0))
        v16, v17 = twice(F.embedding(lib.tensor([1, 0]), v0, 1))
    """,
    "second derivatives of norms and extrema are recorded as PyTorch's": """
        v0 = lib.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
        v1 = lib.ones((), requires_grad=True)
        v2 = lib.ones(2, 2, requires_grad=True)
        def twice(x):
            v, = lib.autograd.grad(x, v0, v1, create_graph=True)
            return lib.autograd.grad(v, [v0, v1], v2, create_graph=True, allow_unused=True)
        v3, v4 = twice(v0.norm(0.5)); v5, v6 = twice(v0.norm(1.5)); v7, v8 = twice(v0.norm(3))
        v9, v10 = twice(lib.dist(v0, v2, 0.5)); v11, v12 = twice(lib.dist(v0, v2, 3))
        v13, v14 = lib.autograd.grad(lib.dist(v0, v2), [v0, v2], v1, create_graph=True)
        v15, v16 = lib.autograd.grad((v13 + v14).sum(), [v1, v0], create_graph=True)
        v17 = lib.autograd.grad(v0.amax(), v0, v1, create_graph=True)[0]
        v18 = lib.autograd.grad(v17, v1, v2, create_graph=True)[0]
        v19 = lib.autograd.grad(v0.amin(()), v0, v1, create_graph=True)[0]
        v20 = lib.autograd.grad(v19, v1, v2, create_graph=True)[0]
    """,
    "second derivatives of maxima of windows are recorded as PyTorch's": """
        v0 = lib.arange(32.).view(1, 2, 4, 4)
        v1 = v0.contiguous(memory_format=lib.channels_last).requires_grad_()
        v2 = v0[0].clone().requires_grad_(); v3 = v0[:0].clone().requires_grad_()
        F = lib.nn.functional
        def twice(pool, x, w):
            y = pool(x, 2); v = lib.ones_like(y, requires_grad=True)
            g, = lib.autograd.grad(y, x, v, create_graph=True)
            return lib.autograd.grad(g, v, w, create_graph=True)[0]
        v4 = twice(F.max_pool2d, v1, lib.ones(1, 2, 4, 4, requires_grad=True))
        v5 = twice(F.adaptive_max_pool2d, v1, lib.ones_like(v1, requires_grad=True))
        v6 = twice(F.max_pool2d, v2, lib.ones((), requires_grad=True).expand(2, 4, 4))
        v7 = twice(F.max_pool2d, v3, lib.ones_like(v3, requires_grad=True))
    """,
    "the real part of a gradient is taken once for all that cat joined": """
        v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v1 = lib.ones(1, requires_grad=True); v2 = lib.ones(3, requires_grad=True)
        v3 = lib.cat([v0, v1, v2]); v4 = lib.ones(6, dtype=lib.complex64, requires_grad=True)
        v5, v6, v7 = lib.autograd.grad(v3, [v0, v1, v2], v4, create_graph=True)
        v8 = v5.real.sum() + (v6 * v6).sum() + (v7 * v7).sum()
        v9, = lib.autograd.grad(v8, v4, create_graph=True)
    """,
    "second derivatives of two operands are recorded as PyTorch's": """
        v0 = lib.tensor([[0.5, 0.75], [0.2, 0.25]], requires_grad=True)
        v1 = lib.full((2, 2), 0.7, requires_grad=True)
        def twice(x):
            v, w = lib.autograd.grad(x, [v0, v1], lib.ones_like(x), create_graph=True)
            return lib.autograd.grad((v * w).sum(), [v0, v1], create_graph=True)
        F = lib.nn.functional
        v2, v3 = twice(lib.atan2(v0, v1)); v4, v5 = twice(lib.addcdiv(v0, v1, v0, value=2))
        v6, v7 = twice(F.binary_cross_entropy(v0, v1))
        v8, v9 = twice(F.binary_cross_entropy(v0, v1, reduction="none"))
        v10, v11 = twice(F.group_norm(v0, 1, v1[0], v1[1]))
    """,
    "the saved indices stand where their dimensions do": """
        v0 = lib.ones(2, 3, 4, requires_grad=True); v1 = lib.tensor([0, 1]); v2 = lib.ones(3) > 0
        v3, v4 = v0[:, v1].grad_fn._saved_indices[1:], v0[:, v1].grad_fn._saved_indices[0] is None
        def places(x): return lib.tensor([i is not None for i in x.grad_fn._saved_indices])
        v5 = places(v0[v1]); v6 = places(v0[:, :, v1]); v7 = places(v0[v1, :, v1])
        v8 = places(v0[None, v1]); v9 = places(v0[:, v2, v1[:1]]); v10 = places(v0[0, v1])
        v11 = places(v0[v0.detach() > 0]); v12 = places(v0[v0[..., 0].detach() > 0, v1[:1]])
        v13 = v0 * 1; v13[:, v1] = lib.ones(4, requires_grad=True); v14 = v0[:, v1]
        v14.grad_fn._raw_saved_indices[0].register_hooks(lambda x: x, lambda x: x)
        v14.grad_fn._raw_saved_indices[1].register_hooks(lambda x: x, lambda x: 1 - x)
        v15, = v14.grad_fn._saved_indices[1:]
        v14.sum().backward()
        v14.grad_fn._raw_saved_indices
    """,
    "gradients of elu and kin, in place and not, are operators of their own": """
        v0 = lib.tensor([-0.5, 0.3, -2.0, 0.0], requires_grad=True); v1 = v0 * 1; v2 = v0 * 2
        v3 = v0 * 1
        lib.nn.functional.celu(v1, 0.7, inplace=True)
        v5, = lib.autograd.grad(v1.sum(), [v0], create_graph=True); v6 = saved(v5)
        (v5 * v5).sum().backward(); lib.nn.functional.selu(v2, inplace=True)
        v5, = lib.autograd.grad((v2 * v2).sum(), [v0], create_graph=True)
        (v5 * v5).sum().backward(); v4 = lib.nn.functional.elu(v3, 0.5)
        v5, = lib.autograd.grad((v4 * v4).sum(), [v3], create_graph=True); v6 = saved(v5)
        (v5 * v5).sum().backward()
        v7 = lib.tensor([], requires_grad=True); v8 = v7 * 1; v8 = lib.nn.functional.celu_(v8)
        v9, = lib.autograd.grad(v8, [v7], lib.ones_like(v8), create_graph=True)
    """,
    "the gradient of a batch norm": """
        v0 = lib.arange(6.0).view(3, 2).requires_grad_(); v1 = lib.zeros(2); v2 = lib.ones(2)
        v3 = lib.nn.functional.batch_norm(v0, v1, v2, training=True)
        v4 = lib.autograd.grad(v3.cos().sum(), v0, create_graph=True)[0]; n = v4.grad_fn
        v5 = [x for x in dir(n) if x.startswith("_saved")]
        v6 = n._saved_grad_out; v7 = n._saved_save_mean; v8 = n._saved_train
    """,
    "statistics of a float16 norm, and the dimensions of H": """
        v0 = lib.tensor([[0.1, 0.7, -1.5, 3.0]], dtype=lib.float16, requires_grad=True)
        v1 = lib.ones(4, requires_grad=True); F = lib.nn.functional
        def statistics(y): return y, y.grad_fn._saved_result1, y.grad_fn._saved_result2
        v2, v3, v4 = statistics(F.layer_norm(v0, (4,)))
        v5, v6, v7 = statistics(F.group_norm(v0, 2))
        (v2 * v2 + v5).sum().backward()
        v8, v9, v10 = statistics(F.layer_norm(v0, (4,), v1, v1))
        v11, v12, v13 = statistics(F.group_norm(v0, 2, v1, v1))
        (v8 * v8 + v11).sum().backward()
        v14 = lib.tensor(v0.float().H.grad_fn._saved_dim0 % 2**64 - 2**63)
    """,
}
