"""backward() and grad(): accumulation, hooks, flags, refusals, layouts, batches."""

PROGRAMS = {
    # ---- backward ----
    "backward twice": """
        v0 = lib.ones(3, requires_grad=True); v1 = (v0 * v0).sum(); v2 = (v0 + 1).sum()
        v1.backward(retain_graph=True)
        v1.backward()
        v1.backward()
        v2.backward()
        v2.backward()
    """,
    "backward of what has no graph": """
        v0 = lib.ones(3); v1 = lib.ones((), requires_grad=True)
        v2 = lib.ones(3, requires_grad=True)
        v0.sum().backward()
        v1.backward()
        v2.backward()
        (v2 * 2).backward(lib.ones(2))
        (v2 * 2).backward(lib.ones(3, dtype=lib.int64))
        with lib.no_grad():
            v3 = v2 * 2
        v3.sum().backward()
    """,
    "backward inside the modes": """
        v0 = lib.ones(3, requires_grad=True); v1 = (v0 * v0).sum(); v2 = (v0 * v0).sum()
        with lib.no_grad():
            v1.backward()
        with lib.inference_mode():
            v2.backward()
        v3 = v0.grad
        v4 = (v0 * 2).sum()
        v4.backward()
    """,
    "gradients of nothing in inference mode": """
        v0 = lib.tensor([], requires_grad=True); v1 = lib.ones(2, 0, requires_grad=True)
        v2 = v0.sum(); v3 = v1.sum(0)
        with lib.inference_mode():
            v2.backward(v2.detach())
            v3.backward(v3.detach())
    """,
    "what has no derivative at all is refused also where it is the end": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        v1.set_(v1.data)
        v1.sum().backward(inputs=v1)
    """,
    "what cannot be differentiated is refused before other nodes run": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, requires_grad=True)
        v2 = v0 * 2; v3 = v0 * 2 // 2
        v2.set_(v2.detach())
        lib.autograd.backward([v1.sum(), v2.sum()])
        lib.autograd.backward([v1.sum(), v3.sum()])
        lib.autograd.backward([v3.sum(), v1.sum()])
    """,
    "a gradient that no longer fits is named by the tensor's place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0[..., 0]
        v1.data = v1[0]
        lib.autograd.backward([v0, v1], [v0.detach(), lib.ones_like(v1)])
    """,
    # ---- accumulation and layout ----
    "accumulation: what .grad is": """
        v0 = lib.ones(3, requires_grad=True)
        (v0 * 2).sum().backward()
        v1 = v0.grad
        (v0 * 2).sum().backward()
        v0.grad = None
        (v0 * v0).sum().backward(create_graph=True)
        v2 = v0.grad
        (v0 * v0).sum().backward(create_graph=True)
        v0.grad = lib.ones(2)
        v0.grad = lib.ones(3, dtype=lib.float64)
        v0.grad = 3
    """,
    "retained gradients lie in row order": """
        v0 = lib.ones(3, 3, requires_grad=True); v1 = v0.expand_as(v0).transpose(0, -1)
        v1.retain_grad()
        (v1 * v1).sum().backward(create_graph=True)
    """,
    "data of another dtype, and gradients of another dtype": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1; v2 = lib.ones(3, dtype=lib.float64)
        v3, = lib.autograd.grad(v0, [v0], v2)
        v0.data = lib.ones(3, dtype=lib.float16)
        v4, = lib.autograd.grad(v1.sum(), [v0], allow_unused=True)
    """,
    "the gradient of an expanded number is new memory": """
        v0 = lib.tensor(-1.22, requires_grad=True)
        v1 = v0.expand_as(v0)
        v2, v3 = lib.autograd.grad(v1.sum(), [v0, v1])
        v4 = v0.expand(2, 3)
        v5, = lib.autograd.grad(v4.sum() * v0, [v0], create_graph=True)
    """,
    "the layout of gradients": """
        v0 = lib.ones(3, 2).t().detach().requires_grad_()
        (v0 * lib.ones(2, 3)).sum().backward()
        v1 = v0.grad.stride()
        with lib.autograd.enforce_grad_layout_policy(False):
            v2 = v0.detach().requires_grad_()
            (v2 * lib.ones(2, 3)).sum().backward()
            v3 = v0.detach().requires_grad_()
            v3.backward(lib.ones(2, 3))
        v4 = lib.autograd.enforce_grad_layout_policy(False)(
            lambda x: (x * lib.ones(2, 3)).sum().backward())
        v5 = v0.detach().requires_grad_(); v6 = v0.detach().requires_grad_()
        v4(v5)
        (v6 * lib.ones(2, 3)).sum().backward()
        log.append([v2.grad.stride(), v3.grad.stride(), v5.grad.stride(), v6.grad.stride()])
    """,
    # ---- grad() ----
    "autograd.grad": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3, requires_grad=True); v2 = v0 * v0
        v3, = lib.autograd.grad(v2.sum(), [v0], retain_graph=True)
        v4, = lib.autograd.grad(v2.sum(), [v1])
        v5, = lib.autograd.grad((v0 * v0).sum(), [v1], allow_unused=True)
        v6, = lib.autograd.grad((v0 ** 3).sum(), [v0], create_graph=True)
        v7, = lib.autograd.grad(v6.sum(), [v0])
        v8 = v0 * 2
        v9, = lib.autograd.grad((v8 * v8).sum(), v8)
    """,
    "autograd.grad of a tensor by itself": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3, requires_grad=True)
        v2, = lib.autograd.grad(v0, [v0], v1)
        v3, = lib.autograd.grad(v0 + 1, [v0], v1)
        v4, = lib.autograd.grad(v0 * 2, [v0], v1)
    """,
    "gradients that are constant say that they depend on the input": """
        F = lib.nn.functional
        v0 = lib.rand(1, 2, 4, 4, requires_grad=True); v1 = lib.tensor(2.0, requires_grad=True)
        v2 = lib.rand(3, 4, requires_grad=True)
        calls = [(F.avg_pool2d, v0, (2,)), (F.max_pool2d, v0, (2,)), (lib.square, v1, ()),
                 (F.adaptive_avg_pool2d, v0, (2,)), (F.adaptive_max_pool2d, v0, (2,)),
                 (F.nll_loss, v2, (lib.tensor([0, 1, 2]),)), (lib.var, v1, ())]
        for function, given, rest in calls:
            grad = function(given, *rest)
            while grad.requires_grad:
                grad, = lib.autograd.grad(grad.sum(), given, create_graph=True)
                log.append([grad.requires_grad, str(grad.tolist())])
    """,
    "grad by a dict gives a dict": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, requires_grad=True) * 2
        v2 = lib.ones(2, requires_grad=True)
        v3 = lib.autograd.grad((v0 * v1).sum(), {"a": v0, 3: v1}, retain_graph=True)
        log.append([(k, v3[k].tolist()) for k in v3])
        v4 = lib.autograd.grad((v0 * v1).sum(), {"a": v0, "b": v2}, materialize_grads=True,
                               create_graph=True, retain_graph=True)
        v5 = v4["b"]
        lib.autograd.grad((v0 * v1).sum(), {})
        lib.autograd.grad((v0 * v1).sum(), {"a": 3})
        lib.autograd.grad((v0 * v1).sum(), collections.OrderedDict(a=v0))
        lib.autograd.backward((v0 * v1).sum(), inputs=collections.OrderedDict(a=v0))
        lib.autograd.backward((v0 * v1).sum(), inputs={"a": v0})
    """,
    "several gradients at once": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(2, 3, requires_grad=True)
        v2 = lib.ones(2, requires_grad=True); v3 = v0 * v1; v4 = v3.sum()
        v5 = lib.arange(24.0).reshape(4, 2, 3)
        grad = lib.autograd.grad; several = {"is_grads_batched": True, "retain_graph": True}
        v6, = grad(v3, v0, v5, **several)
        v7, v8 = grad([v3, v3.exp()], [v0, v1], [v5, v5], **several)
        v9, v10 = grad(v3, [v0, v2], v5, allow_unused=True, **several)
        v11, = grad(v4, v0, lib.arange(3.0), **several)
        grad(v3, [v0, v2], v5, **several)
        grad(v4, v0, **several)
        grad(v3, v0, lib.ones(2, 3), **several)
        grad(v3, v0, lib.ones(4, 3, 2), **several)
        grad(v3, v0, lib.ones(()), **several)
        grad([v3, v3], v0, [v5, v5[:2]], **several)
        grad([v3, v4], v0, [v5, None], **several)
        grad(v3, v0, v5[:0], **several)
        grad(v4, v0, lib.ones(2, dtype=lib.complex64), **several)
        v12 = v5.clone().requires_grad_()
        twice = grad(v3, v0, v12, is_grads_batched=True, create_graph=True)
        log.append([t.requires_grad for t in twice])
        (twice[0] * twice[0]).sum().backward()
        v14, = grad(v0 * v1, v0, v5, is_grads_batched=True)
        v15 = v0 * v1
        v16, = grad(v15, v0, v5, is_grads_batched=True)
        grad(v15, v0, v5, is_grads_batched=True)
    """,
    "flags of backward and grad are integers": """
        v0 = lib.ones(2, requires_grad=True)
        for flag in ("x", 2.5, []):
            try: v0.sum().backward(retain_graph=flag)
            except TypeError as error: log.append(str(error))
            try: lib.autograd.grad((v0 * v0).sum(), v0, create_graph=flag)
            except TypeError as error: log.append(str(error))
            try: lib.autograd.grad((v0 * v0).sum(), v0, allow_unused=flag)
            except TypeError as error: log.append(str(error))
        (v0 * v0).sum().backward(create_graph=None)
        lib.autograd.grad((v0 * v0).sum(), v0, retain_graph=2)
        lib.autograd.set_detect_anomaly(1)
        lib.autograd.set_detect_anomaly(True, "x")
        lib.autograd.detect_anomaly(3).__enter__()
        log.append([lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()])
    """,
    "Jacobians of several outputs in one batch": """
        jacobian = lib.autograd.functional.jacobian
        v0 = lib.tensor([1.0, 2.0])
        for x in (v0, v0.clone().requires_grad_()):
            for create in (False, True):
                both = jacobian(lambda x: (x ** 2, x.sum()), x, create, vectorize=True)
                log.append([(t.requires_grad, t.tolist()) for t in both])
        v1, v2 = jacobian(lambda x: (x.sqrt(), (x - 1).sqrt()), v0, vectorize=True)
        log.append(jacobian(lambda x: x * 1j, v0, vectorize=True).tolist())
        log.append(jacobian(lambda x: lib.ones(3), v0, vectorize=True).tolist())
    """,
    # ---- hooks ----
    "retain_grad and hooks": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.retain_grad()
        v0.retain_grad()
        v1.register_hook(lambda g: g * 10)
        (v1 * v1).sum().backward()
        lib.ones(3).retain_grad()
        v2 = v1.detach()
        v2.retain_grad()
    """,
    "retain_grad then in-place": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.retain_grad()
        v1.mul_(3)
        v1.sum().backward()
    """,
    "a hook after accumulation returns nothing": """
        v0 = lib.ones(3, requires_grad=True)
        v0.register_post_accumulate_grad_hook(lambda t: t)
        (v0 * 2).sum().backward()
        v0.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))
        (v0 * 2).sum().backward()
    """,
    "a hook that gives bools": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        v1.register_hook(lambda g: g > 0)
        v1.sum().backward()
    """,
    "a post-hook at a leaf is not shown .grad itself": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        N = v1.grad_fn.next_functions[0][0]
        N.register_hook(lambda i, o: log.append((i, o[0] is v0.grad, o[0]._version)))
        v1.sum().backward(retain_graph=True)
        v1.sum().backward(retain_graph=True)
    """,
    "a leaf that requires grad no more has its post-accumulate hooks called": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v0.register_post_accumulate_grad_hook(lambda t: log.append(t.grad is None))
        v0.requires_grad_(False)
        v1.sum().backward()
    """,
    "a hook resizes or replaces the memory of a leaf's gradient": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        H = v0.register_hook(lambda g: (g.resize_(6).fill_(1), None)[1])
        v1.sum().backward(retain_graph=True)
        v1.sum().backward(retain_graph=True)
        H.remove()
        v1.sum().backward(retain_graph=True)
        v0.grad = None
        H = v0.register_hook(lambda g: (g.resize_(1), None)[1])
        v1.sum().backward(retain_graph=True)
        H.remove(); v0.grad = None
        H = v0.register_hook(lambda g: setattr(g, 'data', lib.ones(5)))
        v1.sum().backward(retain_graph=True)
        H.remove(); v0.grad = None
        H = v0.register_hook(lambda g: setattr(g, 'data', g.double()))
        v1.sum().backward(retain_graph=True)
    """,
    "a hook gives a leaf's gradient another layout": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        H = v0.register_hook(lambda g: g.t_() * 2)
        v1.sum().backward(retain_graph=True)
        v2 = lib.ones((), requires_grad=True)
        v2.register_hook(lambda g: g.set_(lib.ones(2)).detach())
        v2.sum().backward(inputs=[v2])
    """,
    "a None gradient is replaced by what is no tensor": """
        v0 = lib.ones(2, 2, requires_grad=True)
        v1, v2 = (v0 * 1).unbind()
        v1.grad_fn.register_prehook(lambda g: ('text', None))
        v2.sum().backward()
    """,
    "hooks of a node see the gradients of what has any": """
        v0 = lib.tensor([[1.0, 3.0], [2.0, 0.5]], requires_grad=True)
        v1, v2 = v0.max(0)
        v3, v4 = v0.sort(1)
        v5, v6 = v0.cummin(0)
        v7 = lib.nn.functional.layer_norm(v0, (2,))
        v8 = lib.nn.functional.group_norm(v0[None], 1)
        v9 = lib.nn.functional.cross_entropy(v0, lib.tensor([0, 1]))
        A = [t.grad_fn for t in (v1, v3, v5, v7, v8)] + [v9.grad_fn]
        [n.register_prehook(lambda g: log.append(len(g))) for n in A]
        [n.register_hook(lambda i, o: log.append((len(i), len(o)))) for n in A]
        (v1.sum() + v3.sum() + v5.sum() + v7.sum() + v8.sum() + v9).backward()
        A[0](lib.ones(2), lib.ones(2))
    """,
    "unpack hooks give another dtype": """
        v0 = lib.tensor([-1.0, 2.0], requires_grad=True)
        G = lib.autograd.graph.saved_tensors_hooks
        for t in (lib.float64, lib.float16, lib.int64, lib.bool):
            with G(lambda x: x.detach(), lambda x: x.to(t)):
                v1 = v0.relu() + lib.nn.functional.leaky_relu(v0 * 1)
            v1.sum().backward()
        with G(lambda x: x.detach(), lambda x: x.long()):
            v2 = v0.sin()
        v2.sum().backward()
        with G(lambda x: x.detach(), lambda x: x.double()):
            v3 = lib.nn.functional.softplus(v0) + lib.nn.functional.elu(v0)
        v3.sum().backward()
    """,
    "set_ lets go of graphs recorded before": """
        v0 = lib.ones((), requires_grad=True); v1 = v0 * 2
        with lib.no_grad():
            v0.set_(lib.ones(2))
        v0.sum().backward()
        v1.backward()
    """,
    "a node that refuses runs where its gradient alone is wanted": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * v0
        v2 = lib.floor_divide(v1, v0)
        v2.sum().backward(inputs=[v2])
        v3 = v0 * v0
        v3.set_(v3.data)
        v3.sum().backward(inputs=[v3])
        v4 = v0.sin()
        v4.register_hook(lambda g: log.append('sin'))
        (v3 * v4).sum().backward()
        v4.sum().backward()
    """,
    "the edge of a view that was made without recording": """
        v0 = lib.ones(2, 2, requires_grad=True)
        with lib.no_grad(), lib.inference_mode():
            v1 = v0.t()
        lib.autograd.graph.get_gradient_edge(v1)
        lib.autograd.graph.get_gradient_edge(lib.ones(2))
    """,
    "a gradient for a root that changed its shape is counted among the roots": """
        v0 = lib.ones(2, 2, requires_grad=True)
        v1, v2 = v0.unbind(0)
        v2.data = lib.ones(5)
        v2.backward(lib.ones(5), retain_graph=True)
        lib.autograd.backward([v0.sum(), v2], [None, lib.ones(5)])
    """,
    "the tables of a tensor's hooks": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2; v2 = lib.ones(2)
        tables = lambda t: (t._backward_hooks, t._post_accumulate_grad_hooks)
        show = lambda t: log.append([k and len(k) for k in tables(t)])
        show(v0); show(v1); show(v2)
        H = v0.register_hook(lambda g: None)
        v0.register_post_accumulate_grad_hook(lambda t: None)
        v1.register_hook(lambda g: None)
        show(v0); show(v1); show(v0.detach()); show(v1.view(-1))
        v1.mul_(2)
        H.remove()
        show(v0); show(v1)
    """,
    "functional derivatives inside of inference mode": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.autograd.functional.vjp(lambda x: x * 2, v0, lib.ones(3))[1]
            v2 = lib.autograd.functional.jacobian(lambda x: x * 2, v0)
    """,
    "a write to a view that was freed is no matter where no gradient arrives": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        v1[0] = v1[0] * 3
        v1.sum().backward()
        v1.grad_fn.register_prehook(lambda g: (None,))
        lib.autograd.grad(v1.sum(), [v0])
        lib.autograd.grad(v1.sum(), [v0], allow_unused=True)
        v1.sum().backward()
    """,
    "a first gradient of another dtype is cast in the caller's mode": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, requires_grad=True).double() * 2
        v2 = v0 * 2
        v3, = lib.autograd.grad(v0, [v0], v1)
        v4, = lib.autograd.grad(v2, [v2], v1, create_graph=True)
        v5, v6 = lib.autograd.grad(v2, [v2, v0], v1, retain_graph=True)
        with lib.no_grad():
            v7, = lib.autograd.grad(v0, [v0], v1)
        v2.retain_grad()
        v2.backward(v1)
    """,
    "the gradient of indexing, differentiated again": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(3, requires_grad=True)
        v2, = lib.autograd.grad((v0[[0]] ** 2).sum(), [v0], create_graph=True)
        v3 = saved(v2)
        v4, = lib.autograd.grad((v2 * v2).sum(), [v0], create_graph=True)
        v5, = lib.autograd.grad((v0[v0 > 0] ** 3).sum(), [v0], create_graph=True)
        v6, = lib.autograd.grad((v5 * v5).sum(), [v0], create_graph=True)
        v7 = v0.index_put((lib.tensor([0]),), v1)
        v8, v9 = lib.autograd.grad((v7 * v7).sum(), [v0, v1], create_graph=True)
        v10, = lib.autograd.grad((v8 * v8).sum(), [v0], create_graph=True)
    """,
    "a hook stays through detach_()": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2; v2 = v0 * 3
        h = v1.register_hook(lambda g: g * 3)
        v2.register_hook(lambda g: g * 5)
        v3 = v1 * 2
        v1.detach_(); v1.requires_grad_()
        v2.add_(1)
        v2.detach_(); v2.requires_grad_()
        (v1 * v2).sum().backward()
        v3.sum().backward()
        h.remove()
        (v1 * v2).sum().backward()
    """,
    "a real operand's gradient from a stack is real": """
        v0 = lib.ones(2).long(); v1 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        seen = []
        v2 = lib.stack((v0, v1, v0.double()))
        h = v2.grad_fn.register_hook(lambda inputs, outputs: seen.extend(g.dtype for g in inputs))
        v2.sum().abs().backward()
        v3 = lib.zeros(2, dtype=seen[0]); v4 = lib.zeros(2, dtype=seen[2])
    """,
    "what has no derivative raises without a gradient too": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * v0
        v1.set_(v1.data)
        h = v1.grad_fn.register_prehook(lambda gs: (None,))
        v1.sum().backward()
        v2 = v0 // 2
        h = v2.grad_fn.register_prehook(lambda gs: (None,))
        v2.sum().backward()
    """,
    "the gradients that are there are looked at before they are counted": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        lib.autograd.backward((v1, v1), (lib.ones(3),))
        v2 = lib.autograd.grad((v1, v1), v0, lib.ones(3))
        v2 = lib.autograd.grad((v1, v1), v0, lib.ones(2))
        v2 = lib.autograd.grad((v1, v1), v0, (2,))
    """,
    "a negative number to complex powers has a gradient": """
        v0 = lib.tensor([1 + 0.5j, -0.3 + 2j], dtype=lib.complex128, requires_grad=True)
        lib.pow(-2.5, v0).abs().sum().backward()
        lib.pow(-1, v0).abs().sum().backward()
        v1 = lib.tensor([1.5, 2.0], requires_grad=True); lib.pow(-1, v1).sum().backward()
    """,
    "a product of two zeros, put by scatter_reduce, has a gradient and no second one": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.tensor([0.0, 0.0, 2.0], requires_grad=True)
        v2 = v0.scatter_reduce(0, lib.tensor([0, 0, 1]), v1, "prod"); v3 = lib.ones(2)
        v4, v5 = lib.autograd.grad(v2, (v0, v1), v3, create_graph=True)
        v6, = lib.autograd.grad(v4.sum(), v1, retain_graph=True, allow_unused=True)
        v6, = lib.autograd.grad(v5.sum(), v0, retain_graph=True)
        v7 = v0.scatter_reduce(0, lib.tensor([0, 1, 1]), v1, "prod")
        v8, v9 = lib.autograd.grad(v7, (v0, v1), v3, create_graph=True)
        v10, v11 = lib.autograd.grad((v8.sum() + v9.sum()), (v0, v1))
    """,
    "products of complex numbers at one place": """
        v0 = lib.tensor([1 + 2j, 3j], requires_grad=True); v1 = lib.tensor([0j, 2 - 1j, 0j])
        v1.requires_grad_(); v2 = lib.tensor([0, 1, 0])
        v3 = v0.scatter_reduce(0, v2, v1, "prod"); v3.abs().sum().backward()
        v4 = v0.scatter_reduce(0, v2[1:], v1[1:], "prod"); v4.abs().sum().backward()
    """,
    "distances by products of matrices": """
        v0 = lib.arange(90.0).view(30, 3).sin().requires_grad_()
        v1 = lib.arange(12.0).view(3, 4).t().requires_grad_(); v2 = lib.cdist(v0, v1)
        v3 = lib.cdist(v0, v1, compute_mode="donot_use_mm_for_euclid_dist")
        v4 = lib.cdist(v1[:2], v1, 2, "use_mm_for_euclid_dist")
        v5 = lib.cdist(v0.view(2, 15, 3), v1, 2, "use_mm_for_euclid_dist")
        v6 = lib.cdist(v0[None, None], v1[None, None]); v7 = lib.cdist(v0[:0], v0)
        (v2.sum() + v3.sum() + v4[0, 1] + v5.sum() + v6.sum() + v7.sum()).backward()
        lib.cdist(v0, v1.double())
        lib.cdist(v0.long(), v1)
        lib.cdist(v0, v1, -1)
    """,
    "the gradient of a distance that is NaN is NaN": """
        v0 = lib.tensor([[0.0, float("inf")], [1.0, 1.0]], requires_grad=True)
        v1 = lib.tensor([[2.0, float("inf")]], requires_grad=True)
        v2 = lib.cdist(v0, v1, 1); v2.sum().backward()
    """,
    "a gradient of a root that has grown behind the graph is summed": """
        v0 = lib.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
        v1 = v0.topk(1, -2).values; v2 = v0 * 2
        with lib.no_grad():
            v1.set_(v0.detach().clone())
        v1.backward(v0.detach())
        v2.data = lib.ones(3, 2, 2)
        v2.backward(lib.ones(3, 2, 2))
    """,
    "second derivatives through a write to a view that is gone": """
        v0 = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True); v1 = v0 * 1
        v1.t().exp_()
        v2, = lib.autograd.grad(v1, v0, lib.tensor([[1.0, 2.0], [3.0, 5.0]]), create_graph=True)
        v3, = lib.autograd.grad(v2, v0, lib.tensor([[1.0, 10.0], [100.0, 1000.0]]))
        v4 = v0.clone(); lib.nn.functional.elu(v4[0], inplace=True); v4[:, 1].tanh_()
        v5 = lib.ones(2, 2, requires_grad=True)
        v6, = lib.autograd.grad(v4, v0, v5, create_graph=True)
        v7 = lib.autograd.grad(v6, [v0, v5], lib.ones(2, 2), retain_graph=True)
        v6.sum().backward()
    """,
    "a write to a view gives its node up after backward": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = v1[0]
        v2.exp_(); v2.mul_(v0[1])
        v1.sum().backward(retain_graph=True)
        v1.sum().backward()
        v1.sum().backward()
    """,
    "distances without a slope, and signs copied to other rows": """
        v0 = lib.arange(20.0).view(5, 4).t().requires_grad_()
        v1 = lib.ones(3, 5, requires_grad=True)
        lib.cdist(v0, v1, 0.0).sum().backward()
        v2 = lib.arange(20.0).view(5, 4).t().requires_grad_(); v3 = lib.ones(0, 5)
        lib.cdist(v2, v3, 3.0).sum().backward()
        v4 = lib.arange(24.0).view(2, 3, 4).transpose(0, 2).requires_grad_()
        v4.copysign(lib.ones(3, 2)).sum().backward()
    """,
    "numbers that are all alike do not spread, and have no slope": """
        v0 = lib.full((40,), 0.3, dtype=lib.float64, requires_grad=True)
        v1 = lib.full((40, 3), 1.7, dtype=lib.float64, requires_grad=True)
        v2 = lib.full((40,), 0.1, dtype=lib.complex128, requires_grad=True)
        v3 = v0.std(); v4 = v1.std(0); v5 = v2.std(); v6, v7 = lib.var_mean(v1, 0)
        (v3 + v4.sum() + v5).backward()
    """,
}
