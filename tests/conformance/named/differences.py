"""What docs/differences.md has a rule for."""

PROGRAMS = {
    "a shallow copy is of the kind of what it looks at": """
        v0 = lib.ones(2)
        with lib.inference_mode():
            v1 = copy.copy(v0)
    """,
    "a parameter of an inference tensor is a copy": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
            v1 = lib.nn.Parameter(v0[1])
    """,
    "a parameter of an inference tensor is a copy without gaps": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
            v1 = lib.nn.Parameter(v0[:, ::2])
    """,
    "a module that is converted in inference mode can be trained": """
        with lib.inference_mode():
            N.double()
            v0 = N.weight
    """,
    "there is no complex32": """
        v0 = lib.ones(2).half()
        v1 = lib.complex(v0, v0)
    """,
    "clamp between tensors of several shapes has a gradient": """
        v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
        v2 = lib.clamp(v0, v1, v0)
        v2.sum().backward()
    """,
    "and grad() of it": """
        v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
        v2, = lib.autograd.grad(lib.clamp(v0, v1, v0).sum(), v0)
    """,
    "a tensor over memory of NumPy's can grow": """
        v0 = lib.from_numpy(lib.ones(2).numpy())
        v0.resize_(3).fill_(1)
    """,
    "an out= keeps its shape where an index is refused": """
        v0 = lib.ones(2, 3)
        lib.index_select(lib.ones(2), 0, lib.tensor([7]), out=v0)
    """,
    "hooks on a stale view are refused each time": """
        v0 = lib.ones(2, 1, requires_grad=True).clone().view(-1); v1 = v0.unbind()[0]
        v0.floor_()
        v1.register_hook(lambda g: g)
        v1.register_hook(lambda g: g)
    """,
    "a result whose pack hook raised was not saved": """
        v0 = lib.ones(2, requires_grad=True)
        def pack(t):
            global v1
            v1 = t
            return 1 / 0
        with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            v0.exp()
        v1.grad_fn._saved_result is None
        v1.sum().backward(retain_graph=True)
        (v1 * 0 + v0).sum().backward()
    """,
    "a hook gives a gradient another shape in place": """
        v0 = lib.ones(2, 2, requires_grad=True); v1 = v0.unfold(-1, 2, 1)
        v1.register_hook(lambda g: (g.set_(lib.ones(2)), None)[1])
        v1.sum().backward()
    """,
    "a hook gives a gradient another shape in place that has to be summed": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = (v0 * 1).expand(2, 2, 3)
        v1.register_hook(lambda g: setattr(g, "data", lib.ones(5)))
        v1.sum().backward()
    """,
    "an index into a tensor without dimensions": """
        v0, v1 = lib.tensor([-1, 2]).min(0)
        v2 = v0[1]
    """,
    "integers divided by zero in place stay as they were": """
        v0 = lib.tensor([-1, -1, 0])
        v0.fmod_(v0)
    """,
    "a write to an operand of kron is noticed": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        v2 = lib.kron(v1, v1)
        v1.detach().add_(1)
        v2.sum().backward()
    """,
    "addbmm_ leaves the shape of a tensor alone": """
        v0 = lib.ones(3, 1)
        v0.addbmm_(lib.ones(2, 3, 4), lib.ones(2, 4, 5))
    """,
    "cdist has a second derivative that nobody sees": """
        G = lib.autograd.grad; v0 = lib.tensor([[1.0], [3.0]], requires_grad=True)
        v1 = G(G(lib.cdist(v0, v0).sum(), v0, create_graph=True)[0].sum(), v0)[0]
    """,
    "hardsigmoid has a second derivative": """
        v0 = lib.zeros(2, requires_grad=True); v1 = lib.nn.functional.hardsigmoid(v0)
        v2, = lib.autograd.grad(v1.exp().sum(), v0, create_graph=True)
        v2.sum().backward()
    """,
    "an out= that was refused keeps its size": """
        v0 = lib.ones(2, 2).bool(); v1 = lib.zeros(0).bool()
        v2 = lib.mm(v0, v0, out=v1)
    """,
    "cdist has a second derivative": """
        v0 = lib.tensor([[1.0], [3.0]], requires_grad=True); v1 = lib.cdist(v0, v0)
        v2, = lib.autograd.grad(v1.sum(), v0, create_graph=True)
        v2.sum().backward()
    """,
    "hardsigmoid has a second derivative that nobody sees": """
        F = lib.nn.functional; G = lib.autograd.grad; v0 = lib.zeros(2, requires_grad=True)
        v1 = G(G(F.hardsigmoid(v0).exp().sum(), v0, create_graph=True)[0].sum(), v0)[0]
    """,
    "an inference tensor that requires grad has a mean": """
        with lib.inference_mode():
            v0 = lib.ones(2, requires_grad=True)
        v1 = v0.mean()
    """,
    "and a logsumexp": """
        with lib.inference_mode():
            v0 = lib.ones(2, requires_grad=True)
        v1 = v0.logsumexp(0)
    """,
    "and absolute values of complex numbers": """
        with lib.inference_mode():
            v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v1 = v0.abs()
    """,
    "no memory of both kinds by set_": """
        v0 = lib.zeros(2)
        with lib.inference_mode():
            v1 = lib.ones(2)
        v0.set_(v1)
    """,
    "a repeated inference tensor is no view": """
        with lib.inference_mode():
            v0 = lib.ones(2)
        v1 = v0.repeat(2, 2)
    """,
    "a parameter of a spread inference tensor": """
        with lib.inference_mode():
            v0 = lib.nn.Parameter(lib.ones(2).expand(3, 2))
    """,
    "a copy of a parameter is a normal tensor": """
        v0 = lib.nn.Parameter(lib.ones(2))
        with lib.inference_mode():
            v1 = copy.deepcopy(v0)
    """,
    "the gradient of a trace is a tensor of its own": """
        v0 = lib.ones(2, 2, requires_grad=True)
        v1, = lib.autograd.grad(v0.trace(), v0)
    """,
    "the gradient edge of a leaf in inference mode": """
        v0 = lib.ones(2, requires_grad=True)
        with lib.inference_mode():
            lib.autograd.graph.get_gradient_edge(v0)
    """,
    "an unpack hook gives complex numbers for real ones": """
        v0 = lib.ones(2, requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * (1 + 1j)):
            v1 = v0.exp()
        v1.sum().backward()
    """,
}
