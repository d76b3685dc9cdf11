"""What is saved for backward, by whom, and what its hooks see."""

PROGRAMS = {
    "a matrix of powers saves what it then writes to": """
        v0 = lib.tensor([1., 2., 3.], requires_grad=True)
        v1 = lib.vander(v0)
        v2 = lib.vander(v0, 2, increasing=True)
        v3 = lib.vander(v0, 1)
        v1.sum().backward()
    """,
    "a saved tensor whose node is gone still takes hooks": """
        seen = []
        v0 = lib.ones(2, requires_grad=True)
        v1 = v0 * v0
        s = v1.grad_fn._raw_saved_self
        del v1
        s.register_hooks(lambda t: seen.append(t.detach()), lambda t: t)
        s.register_hooks(lambda t: t, lambda t: t)
        v2 = seen[0]
        v3 = v0 * v0
        s = v3.grad_fn._raw_saved_self
        v3.sum().backward()
        del v3
        s.register_hooks(lambda t: t, lambda t: t)
    """,
    # ---- which operators save what ----
    "which operators save what": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3) * 2
        v2 = v0 + v1; v3 = v0 * v1; v4 = v0.exp(); v5 = v0.sin(); v6 = v0 / v1; v7 = v0.relu()
        v1.add_(1)
        v2.sum().backward()
        v3.sum().backward()
        v6.sum().backward()
        v5.add_(1)
        v5.sum().backward()
        v4.add_(1)
        v4.sum().backward()
        v7.add_(1)
        v7.sum().backward()
    """,
    "in-place forms save the input before they write it": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v1.mul_(v1)
        v1.sum().backward()
        v2 = v0 * 1
        v2.sin_()
        v2.sum().backward()
        v3 = v0 * 1
        v3.exp_()
        v3.sum().backward()
        v4 = v0 * 1
        v4.tanh_()
        v4.tanh_()
        v4.sum().backward()
    """,
    "a number is saved as the tensor that it stands for": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2; v2 = v0 / 2; v3 = v0 + 2
        v4 = saved(v1); v5 = saved(v2); v6 = saved(v3)
        v1.sum().backward()
        v1.sum().backward()
        v2.sum().backward()
        v2.sum().backward()
        v3.sum().backward()
        v3.sum().backward()
    """,
    "which operators are not looked at": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v0.logical_not_()
        v1.logical_and_(v0)
        v1.sum().backward()
    """,
    "elu, celu and leaky_relu in place save their results": """
        v0 = lib.tensor([-1.0, 2.0], requires_grad=True)
        v1 = v0 * 1; v2 = v0 * 1; v3 = v0 * 1; v4 = v0 * 1; v5 = v0 * 1
        lib.nn.functional.elu_(v1)
        lib.nn.functional.celu_(v2)
        lib.nn.functional.leaky_relu_(v3)
        lib.selu_(v4)
        lib.threshold_(v5, 1, 3)
        v6 = saved(v1); v7 = saved(v2); v8 = saved(v3); v9 = saved(v4); v10 = saved(v5)
        (v1 + v2 + v3 + v4 + v5).sum().backward()
    """,
    "elu and leaky_relu in place with a negative slope fail in backward": """
        v0 = lib.ones(2, requires_grad=True)
        v1 = v0 * 1; v2 = v0 * 1
        lib.nn.functional.elu_(v1, -0.5)
        lib.nn.functional.leaky_relu_(v2, -0.5)
        v1.sum().backward()
        v2.sum().backward()
    """,
    "what a layer computes on the side carries no gradient": """
        v0 = lib.ones(4, 3, requires_grad=True)
        v1 = lib.nn.functional.batch_norm(v0, None, None, training=True)
        v2 = lib.nn.functional.layer_norm(v0, (3,))
        v3 = lib.nn.functional.nll_loss(v0, lib.tensor([0, 1, 2, 0]))
        v4 = lib.nn.functional.group_norm(v0, 1); v5 = lib.nn.functional.logsigmoid(v0)
        v6 = saved(v1); v7 = saved(v2); v8 = saved(v3); v9 = saved(v4); v10 = saved(v5)
    """,
    # ---- written to, detached, freed ----
    "a saved tensor that was detached in place": """
        v0 = lib.ones(1, 3, requires_grad=True); v1 = v0 * 1
        v2 = v1.logsumexp(0)
        v1.detach_()
        v2.sum().backward()
        v3 = v0 * 1; v4 = v3 + 1
        v3.detach_()
        v4.sum().backward()
    """,
    "shapes and numbers can be looked at after a backward freed the tensors": """
        v0 = lib.ones(2, 3, requires_grad=True)
        v1 = v0.cumprod(1); v2 = lib.addcmul(v0, v0, v0, value=2); v3 = v0[lib.tensor([0, 1])]
        v4 = v0.sort().values; v5 = lib.nn.functional.group_norm(v0, 1)
        (v1 + v2 + v3 + v4 + v5).sum().backward()
        log.append((v1.grad_fn._saved_dim, v2.grad_fn._saved_value))
        log.append((v3.grad_fn._saved_self_sym_sizes, v4.grad_fn._saved_self_sym_sizes))
        log.append((v5.grad_fn._saved_eps, v5.grad_fn._saved_weight))
        v2.grad_fn._saved_tensor1
        v4.grad_fn._saved_indices
        v2.sum().backward()
    """,
    "types in messages: those without a class of their own": """
        v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v1 = lib.ones(2, requires_grad=True)
        v2 = v0.exp(); v3 = lib.maximum(v1, v4 := lib.tensor([True]))
        v2.zero_()
        v4.zero_()
        v2.sum().backward()
        v3.sum().backward()
    """,
    "writes through .data are seen where saved tensors may be written to": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            v1 = v0 * 3
            v2 = (v1 * v1).sum()
            v1.data.mul_(2)
            v1.detach().mul_(3)
            v2.backward()
    """,
    "complex tensors that were written to": """
        v0 = lib.ones(2, 3, dtype=lib.complex64, requires_grad=True)
        v1 = v0.prod(1)
        v1.zero_()
        v1.sum().backward()
    """,
    "of several saved tensors the first by name is refused": """
        v0 = lib.tensor(-1.5, requires_grad=True); v1 = v0.detach()
        v2 = lib.clamp(v1, v1, v0)
        v1.atan2_(v2)
        v2.sum().backward()
    """,
    # ---- hooks ----
    "hooks bring back that a saved view required grad": """
        class F(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x[1:])
                return x * 2
            @staticmethod
            def backward(ctx, g):
                log.append([(t.requires_grad, t.is_leaf) for t in ctx.saved_tensors])
                return g
        v0 = lib.ones(3, requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            v1 = F.apply(v0)
        v1.sum().backward()
    """,
    "hooks of saved tensors that cannot be called": """
        v0 = lib.ones(2, requires_grad=True)
        lib.autograd.graph.saved_tensors_hooks(3, lambda t: t).__enter__()
        lib.autograd.graph.saved_tensors_hooks(lambda t: t, None).__enter__()
        v1 = v0.exp()
        v3 = v0 * v0
        type(v3.grad_fn._raw_saved_self)()
    """,
    "saved None is a SavedTensor too": """
        class F(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, None)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                return g
        v0 = lib.ones(2, requires_grad=True)
        v1 = F.apply(v0)
        log.append([type(t).__name__ for t in v1.grad_fn._raw_saved_tensors])
        log.append([t is None for t in v1.grad_fn.saved_tensors])
        log.append([v1.grad_fn._input_metadata[0].shape])
        pickle.dumps(v1.grad_fn)
        copy.deepcopy(v1.sum().grad_fn)
    """,
    "a hook is asked once for what several formulas read": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.full((2,), 3.0, requires_grad=True)
        n = []
        pack = lambda t: (n.append("pack"), t)[1]
        unpack = lambda t: (n.append("unpack"), t)[1]
        with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
            v2 = v0 / v1
            v3 = v0 ** v1
            v4 = v0.index_put((lib.tensor([0]),), v1[:1])
        log.append(len(n))
        for v5 in (v2, v3, v4):
            v5.sum().backward(retain_graph=True)
            log.append(len(n))
            lib.autograd.grad(v5.sum(), v0)
            log.append(len(n))
    """,
    "an unpack hook gives integers for what requires grad and leads nowhere": """
        v0 = lib.ones(2, 2, requires_grad=True)
        with lib.no_grad():
            v1 = v0[0]; v2 = (v0 * 2)[0]
        v3 = v1 * v0
        v3.grad_fn._raw_saved_self.register_hooks(lambda t: t.to(lib.int64), lambda t: t)
        v3.sum().backward()
        v4 = v2 * v0
        v4.grad_fn._raw_saved_self.register_hooks(lambda t: t.to(lib.int64), lambda t: t)
        v4.sum().backward()
    """,
    "a dimension by itself means a correction of 1, which the node shows": """
        v0 = lib.ones(2, 3, requires_grad=True) * 2
        v1 = [v0.var(1), v0.var(1, True), v0.std(0, False), v0.var(), v0.var(correction=2)]
        v2 = [lib.std(v0, dim=0, keepdim=True), lib.var(v0, None), lib.std(v0, 1, correction=None)]
        v3 = [*lib.var_mean(v0, 1)[:1], *lib.std_mean(v0, dim=1)[:1], lib.var_mean(v0)[0]]
        v4 = repr([t.grad_fn._saved_correction for t in v1 + v2 + v3])
    """,
    "what a node shows was there before the mode": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 3; v2 = v0.exp(); v3 = v0 / 2
        with lib.inference_mode():
            v4 = v1.grad_fn._saved_other; v5 = v2.grad_fn._saved_result
            v6 = v3.grad_fn._saved_other
    """,
    "tensordot and inner copy into out=, with the gradient": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.zeros(()); v2 = lib.zeros(3)
        v3 = lib.ones((), requires_grad=True); v4 = lib.ones(3, 2)
        v5 = lib.tensordot(v0, v0, 1, out=v1)
        v5.backward()
        v5 = lib.inner(v4, v0, out=v2)
        v5.sum().backward()
        v6 = lib.empty(0)
        v5 = lib.inner(v4, v0 * 1, out=v6)
        v5.sum().backward()
        v7 = lib.inner(v0, v0, out=v3)
        v7 = lib.inner(v4, v4, out=v3)
        v7 = lib.inner(v0, v0, out=v3 * 1)
        v7 = lib.tensordot(v0, v0, 1, out=lib.zeros((), dtype=lib.float64))
        v7 = lib.inner(v4, v0, out=lib.zeros(3, dtype=lib.float64))
        v7 = lib.inner(v0, v3, out=lib.empty(2))
        with lib.no_grad():
            v7 = lib.tensordot(v0, v0, 1, out=lib.empty(()))
    """,
    "a custom function that may not save its second tensor has saved the first": """
        class F(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.sin_()
                ctx.mark_dirty(x)
                ctx.save_for_backward(x, x * 1)
                return x
            @staticmethod
            def backward(ctx, g):
                return g * len(ctx.saved_tensors)
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 1
        with lib.inference_mode(), lib.enable_grad():
            v2 = F.apply(v1)
        v1.sum().backward()
        v3 = v0.grad
    """,
    "a result without a gradient is saved itself": """
        v0 = lib.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
        v1, v2 = v0.sort(); v3, v4 = v0.max(1); v5, v6 = v0.topk(2)
        v1.grad_fn._saved_indices is v2
        v3.grad_fn._raw_saved_indices.data is v4
        v2.data = v2.double()
        v6.data = v6.clone()
        v1.sum().backward()
        v5.sum().backward()
        v4.zero_()
        v3.sum().backward()
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            v1, v2 = v0.sort()
        v1.grad_fn._saved_indices is v2
    """,
    "the ends of a slice are saved as they were written": """
        v0 = lib.ones(4, 5, requires_grad=True); log = []; v1 = lib.tensor(2)
        W = [slice(1, None), slice(None, 2), slice(1, 100), slice(None), slice(None, None, 2)]
        W += [(slice(None), slice(1, None)), (..., slice(2, None)), slice(v1, None), slice(9, 3)]
        for w in W:
            n = v0[w].grad_fn
            log.append((n._saved_dim, n._saved_start, n._saved_end, n._saved_step))
        W = [slice(-2, None), slice(None, -1), slice(-9, -v1), slice(2, 2**70)]
        for w in W:
            n = v0[w].grad_fn
            log.append([n % 2**64 for n in (n._saved_start, n._saved_end, n._saved_step)])
    """,
    "relu6 saves its bounds as integers": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.nn.functional.relu6(v0)
        log = []; log.append((v1.grad_fn._saved_min_val, v1.grad_fn._saved_max_val))
    """,
    "zeros for results without a gradient are left out where the context says so": """
        seen = []
        class F(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, all):
                a, b, c = x.clone(), x.clone(), x.clone()
                ctx.mark_non_differentiable(b)
                ctx._materialize_non_diff_grads = all
                return a, b, c
            @staticmethod
            def backward(ctx, *grads):
                seen.extend(g is None for g in grads)
                return grads[0], None
        v0 = lib.ones(2, requires_grad=True)
        v1, v2, v3 = F.apply(v0, False); v1.sum().backward()
        v4, v5, v6 = F.apply(v0, True); v4.sum().backward()
        v7 = lib.tensor(seen)
    """,
    "an input that a custom function saves and returns as it is leads to its own history": """
        class Same(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * x
                ctx.save_for_backward(x, y)
                return x, y
            @staticmethod
            def backward(ctx, g, h):
                x, y = ctx.saved_tensors
                return g * y + h * 2 * x
        v0 = lib.tensor([2.0, 3.0], requires_grad=True); v1 = v0 * 2; v2 = v1[:1]
        for v3 in (v0, v1, v2):
            v4, v5 = Same.apply(v3)
            log.append([None if t.grad_fn is None else t.grad_fn.name()
                        for t in v4.grad_fn.saved_tensors])
            v6, = lib.autograd.grad(v4.sum() + v5.sum(), v0, create_graph=True)
            v7, = lib.autograd.grad(v6.sum(), v0)
            log.append((v6.tolist(), v7.tolist()))
    """,
    "an inference tensor that a custom function recorded": """
        class Twice(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x): return x * 2
            @staticmethod
            def backward(ctx, grad): return grad * 2
        v0 = lib.ones(2, requires_grad=True)
        with lib.inference_mode(), lib.enable_grad():
            v1 = Twice.apply(v0)
            v1.requires_grad_()
        v1.requires_grad_()
        v1.requires_grad = True
        v1.requires_grad = False
    """,
    "the gradient of a power computes with a floating point exponent": """
        v0 = lib.tensor([2.0, 3.0], requires_grad=True)
        for e in (2, 3, True, 2.5):
            v1, = lib.autograd.grad((v0 ** e).sum(), v0, create_graph=True)
            n = v1.grad_fn.next_functions[1][0]
            log.append((repr(n._saved_other), repr(n.next_functions[0][0]._saved_exponent)))
    """,
}
