"""Views: creation metadata, histories that writes rewrite, detach and data, copies."""

PROGRAMS = {
    "copies of views into one of the tensors that they show": """
        v1 = lib.arange(4.).view(2, 2); v2 = v1[1]
        lib.unbind_copy(v1, 0, out=[v1[1].clone(), v2])
        lib.split_with_sizes_copy(v1, (1, 1), out=[v1[:1], v1[1:]])
        lib.permute_copy(v1, (1, 0), out=v1)
    """,
    # ---- creation metadata ----
    "a view made in no_grad, written in grad mode": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2 = v1[1:]
            v2.add_(1)
        v2.add_(1)
        v1.add_(1)
        v3 = v2.grad_fn
        v4 = v2 * 2
    """,
    "a view made in inference mode, written after": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.inference_mode():
            v2 = v1[1:]
            v2.add_(1)
        v3 = v2 * 2
        v2.add_(1)
        v1.add_(1)
        v4 = v2.grad_fn
        v5 = v2 * 2
    """,
    "a view of a plain tensor made in inference mode, base written with grad": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v2 = v0[1:]
        v0.add_(v1)
        v3 = v2.requires_grad
        v4 = v2 * 2
    """,
    "a view of a plain tensor made in no_grad, base written with grad": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v2 = v0[1:]
        v0.add_(v1)
        v3 = v2 * 2
        v2.add_(1)
    """,
    "creation metadata passes down a chain": """
        v0 = lib.ones(2, 3, requires_grad=True) * 1
        with lib.no_grad():
            v1 = v0.view(-1)
        v2 = v1[1:]
        v2.add_(1)
        with lib.inference_mode():
            v3 = v0[0]
        v4 = v3[1:]
        v4.mul_(2)
    """,
    "multi-output views refuse in-place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1
        v2, v3 = v1.unbind(0)
        v2.add_(1)
        v4 = v2.view(-1)
        v4.add_(1)
        v1.add_(1)
        v5 = v2.sum()
        v5.backward()
    """,
    "multi-output views of plain tensors": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, requires_grad=True)
        v2, v3 = v0.unbind(0)
        v2.add_(1)
        v2.mul_(v1)
        v0.add_(1)
        v3.add_(v1)
    """,
    "multi-output views made without grad": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2, v3 = v1.split(1)
            v2.add_(1)
        v2.add_(1)
        v1.mul_(2)
        v4 = v2.grad_fn
    """,
    # ---- histories ----
    "in-place on a view rewrites the base's history": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2; v2 = v1[0]
        v2.mul_(3)
        v3 = v1.grad_fn
        (v1 * v1).sum().backward()
    """,
    "in-place on the base renews the view's grad_fn": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2; v2 = v1[0]; v3 = v2[1:]
        v1.mul_(3)
        v4 = v2.grad_fn
        v5 = v3.grad_fn
        v3.sum().backward()
    """,
    "siblings see each other's writes": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        v2 = v1[0]; v3 = v1[:, 0]; v4 = v1.t()
        v2.add_(1)
        v3.mul_(2)
        v4.sin_()
        (v2.sum() + v3.sum() + v4.sum()).backward()
    """,
    "a plain base becomes differentiable by a write to its view": """
        v0 = lib.zeros(2, 3); v1 = lib.ones(3, requires_grad=True); v2 = v0[0]
        v2.copy_(v1)
        v3 = v0.sum()
        v3.backward()
        v0[1] = v1 * 2
        v0.sum().backward()
    """,
    "a view keeps a history when its base stops requiring grad": """
        v0 = lib.zeros(2, requires_grad=True); v1 = v0.view_as(v0)
        v0.requires_grad_(False)
        v0 *= 1.5
        v3 = v1 * 2
        v3.sum().backward()
    """,
    "a result that is written into a view leads to the view's node": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 1; v2 = v1.view_as(v1)
        v2.exp_()
        v3 = saved(v2)
        v4 = v2.real
        v4.add_(v4, alpha=2)
        v1.sum().backward()
    """,
    "retain_grad of views that are out of date": """
        v0 = lib.ones(2, 2, requires_grad=True)
        with lib.inference_mode():
            v1 = v0.view(-1)
            v1.mul_(2)
        v1.retain_grad()
        v2 = v0[:, 1:]
        v2.retain_grad()
        v3 = v2.to(lib.float32)
        v0.detach().mul_(0.5)
        v3.sum().backward()
    """,
    "views of a view that changed the dtype": """
        v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v1 = lib.view_as_real(v0); v2 = v1[0]
        with lib.no_grad():
            v0.fill_(2)
        v3 = v2 * 2
    """,
    # ---- what needs no history ----
    "stale views convert to integers": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2 = v1[0]
        v1.mul_(2)
        v3 = v2.int(); v4 = v2.to(lib.bool); v5 = v2.double()
    """,
    "asarray of a view made under no_grad makes it a leaf of its own": """
        v0 = lib.zeros(2, 3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[1]
        v2 = lib.asarray(v1)
        v3 = v1 * 2
        v3.sum().backward()
    """,
    "views that no gradient goes on from": """
        v0 = lib.ones(2, 3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[0]
        lib.autograd.graph.get_gradient_edge(v1)
        lib.autograd.graph.register_multi_grad_hook([v0, v1], print)
        lib.autograd.graph.get_gradient_edge(v0.detach())
        lib.autograd.graph.register_multi_grad_hook([v0.detach()], print)
    """,
    "asarray and allclose do not look at the graph of a stale view": """
        v0 = lib.ones(2, 1, requires_grad=True)
        v1 = v0.clone().view(-1); v2 = v1.unbind()[-1][None]
        v1.floor_()
        v3 = lib.asarray(v2)
        v4 = lib.allclose(v2, v2)
        v5 = lib.isclose(v2, v2)
    """,
    "whether numbers are finite, or real, looks at the graph": """
        v0 = lib.ones(2, 2, requires_grad=True).expand(2, 2); v1, v2 = v0.unbind()
        v3, v4 = (lib.ones(2, 2, dtype=lib.complex64, requires_grad=True) * 1).unbind()
        v1.logical_not_(); v3.mul_(2)
        v5 = v4._base; v5.mul_(2)
        v6 = lib.isfinite(v2)
        v6 = lib.isreal(v4)
        with lib.no_grad():
            v6 = v2.isfinite(); v7 = v4.isreal()
        v6 = v2.isinf(); v7 = v4.isnan()
        v6 = v0.isfinite(); v7 = v5.isreal()
    """,
    "what needs no history is not refused to a view that has lost its own": """
        v0 = lib.ones(4, requires_grad=True) * 1
        v1, v2 = v0.split(2)
        v0.add_(1)
        v3 = lib.asarray(v1)
        log.append(lib.allclose(v1, v2))
        v4 = lib.asarray(v1, requires_grad=False)
        v5 = lib.from_dlpack(lib.utils.dlpack.to_dlpack(v1))
        v6 = lib.isclose(v1, v2)
    """,
    # ---- detach, data, requires_grad ----
    "detach and data: what they share": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v2 = v1.detach(); v3 = v1.data
        v2.add_(1)
        v3.add_(1)
        v1.add_(1)
        v4 = v2._version
        v5 = v3._version
    """,
    "detach then write breaks backward, data does not": """
        v0 = lib.ones(3, requires_grad=True)
        v1 = v0 * v0
        v0.data.add_(1)
        v1.sum().backward()
        v2 = v0 * v0
        v0.detach().add_(1)
        v2.sum().backward()
    """,
    "requires_grad_ on views and non-leaves": """
        v0 = lib.ones(2, 3); v1 = v0[0]
        v1.requires_grad_()
        v2 = v1 * 2
        v2.requires_grad_(False)
        v2.requires_grad_()
        v0.add_(1)
        v1.add_(1)
        lib.tensor([1]).requires_grad_()
    """,
    "detach_ of views": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = v1[0]
        v2.detach_()
        v1.detach_()
        v3 = lib.ones(2)[0]
        v3.detach_()
    """,
    "assigning data": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.zeros(3); v2 = lib.zeros(2)
        v0.data = v1
        v1.add_(1)
        v0.data = v2
        v0.data = lib.tensor([1, 2])
    """,
    "a leaf that stopped requiring grad receives none": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0.unbind(-1)[0]; v2 = v0 * 2
        v0.detach_()
        v1.backward()
        v0.requires_grad_()
        v2.sum().backward()
    """,
    # ---- copies and pickles ----
    "deepcopy and pickle": """
        import copy, pickle
        v0 = lib.ones(3, requires_grad=True)
        v1 = copy.deepcopy(v0)
        v2 = v0 * 2
        v3 = copy.deepcopy(v2)
        v4 = copy.copy(v0)
        v5 = pickle.loads(pickle.dumps(v0))
        with lib.inference_mode():
            v6 = lib.ones(2)
            v7 = copy.deepcopy(v6)
        v8 = copy.deepcopy(v6)
        v9 = copy.deepcopy(lib.nn.Parameter(lib.ones(2)))
    """,
    "stale views and empty parts are pickled": """
        v0 = lib.ones(2, 2, requires_grad=True) * 1
        with lib.no_grad():
            v1 = v0[0]
        v0.mul_(2)
        v2 = pickle.loads(pickle.dumps(v1))
        v3 = lib.ones(2, 1, 3)[1:, 1:][1:, 1:]
        v4 = pickle.loads(pickle.dumps(v3))
    """,
    "one of several views is refused by its name, whatever its data has become": """
        v0 = lib.zeros(3, requires_grad=True); v1, v2 = v0.chunk(2); v3 = v0.split([1, 2])[1]
        v4 = (v0 * 1).unbind()[1]; v5 = lib.zeros(5, requires_grad=True).split(2)[2]
        with lib.no_grad():
            v2.mul_(2); v4.mul_(2); v5.mul_(2)
        v2.data = v2.data[0]
        v3.data = v3.data[0]
        v4.data = lib.zeros(4)
        v2.mul_(2)
        v3.mul_(2)
        v4.mul_(2)
        v6 = v2 * 2
        v7 = v5 * 2
    """,
    "a custom function's own views: marked as dirty, and saved where the base was written to": """
        class Marked(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, make, several):
                t = make(x)
                ctx.mark_dirty(t)
                return (t, x * 3) if several else t
            @staticmethod
            def backward(ctx, *grads): return grads[0], None, None
        class Kept(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(2)
                ctx.mark_dirty(x); ctx.save_for_backward(x[0])
                return x
            @staticmethod
            def backward(ctx, grad): return grad * ctx.saved_tensors[0]
        v0 = lib.ones(2, 2, requires_grad=True); v1 = v0 * 2; v2 = v1.detach()
        Marked.apply(v0, lambda x: lib.ones(2, 2)[0], False)
        Marked.apply(v1, lambda x: (x * 2)[0], True)
        Marked.apply(v1, lambda x: x[0], True)
        Marked.apply(v1, lambda x: x.clone(), True)
        Marked.apply(v0, lambda x: v2[0], False)
        v3 = Kept.apply(v1)
        v3.sum().backward()
        v4 = v0 * 2
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            v5 = Kept.apply(v4)
        v5.sum().backward()
    """,
    "a memory format that the strides suggest already": """
        v0 = lib.ones(2, 3).t(); v1 = lib.ones(2, 3, 4, 5)[:, :, ::2]
        f = lib.contiguous_format
        v2 = v0.to(memory_format=f); v3 = v0.float(memory_format=f); v4 = v1.to(memory_format=f)
        v5 = v0.double(memory_format=f); v6 = v0.to(lib.float32, memory_format=f, copy=True)
        v7 = v1.to(memory_format=lib.channels_last); v8 = v7[:, :, ::2]
        v9 = v8.to(memory_format=lib.channels_last); v2 = v8.to(memory_format=f)
        v8.to(memory_format=lib.channels_last_3d)
        v3 = v8.unsqueeze(2).to(memory_format=lib.channels_last_3d)
    """,
    "empty tensors: where they begin, and in which order they lie": """
        v0 = lib.empty(0); v1 = v0.as_strided((0,), (1,), 5); v2 = lib.ones(3)
        v3 = v2.as_strided((0, 2), (1, 1), 5); v4 = v3.as_strided((0,), (1,))
        v5 = v1.clone(); v6 = v1.view(0, 3); v7 = v1[0:]
        v8 = lib.empty(0, 3, 4, 5); last = lib.channels_last
        v9 = v8.is_contiguous(memory_format=last); v10 = v8.permute(0, 2, 3, 1)
        v11 = v10.is_contiguous(memory_format=last)
        v12 = lib.empty(0, 4, 5, 3).permute(0, 3, 1, 2)
        v13 = v12.is_contiguous(memory_format=last); v14 = v12.is_contiguous()
        v15 = lib.empty(2, 3, 0, 5, 1).is_contiguous(memory_format=lib.channels_last_3d)
    """,
    "an empty complex tensor made real keeps its order": """
        v0 = lib.empty(1, 0, 2, dtype=lib.complex64); v1 = lib.view_as_complex(v0.float())
        v2 = lib.view_as_complex(v0.double().transpose(0, 1)); v3 = v0.transpose(0, 2).float()
        v4 = v3.stride()
    """,
}
