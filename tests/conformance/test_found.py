"""What random programs found, shrunk: programs that once behaved otherwise than in PyTorch.

Each runs in both libraries, every observable compared after every statement.
"""

import pytest

from .programs import compare, run
from .test_scenarios import parse

FOUND = {
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
    "a remainder of expanded bools lies in memory as its operand": """
        v0 = lib.tensor([[True, False], [True, True]]).expand(2, 2, 2)
        v1 = v0 % 2
        v2 = v0.transpose(0, 2) % 3
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
    "set_ of another dtype is refused before a view of a leaf": """
        v0 = lib.ones(2, requires_grad=True)
        v1 = v0.view(-1)
        v1.set_(lib.ones(2).long())
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
    "bits of a leaf that requires grad: the write is refused before the dtype": """
        v0 = lib.ones(2, requires_grad=True)
        v0 &= v0
        with lib.no_grad():
            v1 = v0.view(-1)
        v1.bitwise_and_(v1)
    """,
    "the gradient of an expanded number is new memory": """
        v0 = lib.tensor(-1.22, requires_grad=True)
        v1 = v0.expand_as(v0)
        v2, v3 = lib.autograd.grad(v1.sum(), [v0, v1])
        v4 = v0.expand(2, 3)
        v5, = lib.autograd.grad(v4.sum() * v0, [v0], create_graph=True)
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
    "a factory fills an out= of as many elements and leaves its shape": """
        v0 = lib.ones(1, 3); v1 = lib.ones(1, 3); v2 = lib.ones(2, requires_grad=True)
        lib.arange(3, out=v0)
        lib.linspace(0, 1, 3, out=v1)
        lib.zeros(2, out=v2)
    """,
    "sums and products compute in the dtype of out=": """
        v0 = lib.tensor([[1.5, 0.0], [2.5, 3.0]])
        v1 = lib.empty(0, dtype=lib.bool); v2 = lib.empty(0, dtype=lib.int64)
        v3 = lib.empty(0, dtype=lib.int64); v4 = lib.empty(0, dtype=lib.float16)
        lib.sum(v0, 0, out=v1)
        lib.prod(v0, 0, out=v2)
        lib.cumsum(v0, 0, out=v3)
        lib.cumprod(v0, 0, out=v4)
        lib.sum(v0, 0, dtype=lib.float64, out=v4)
        lib.cumsum(v0, 0, out=lib.empty(0, dtype=lib.bool))
    """,
    "running sums of bools in place": """
        v0 = lib.tensor(True); v1 = lib.tensor([True]); v2 = lib.tensor([], dtype=lib.bool)
        v0.cumsum_(0)
        v1.cumsum_(0)
        v2.cumprod_(0)
    """,
    "picking into an out= of another dtype, or over what is picked from": """
        v0 = lib.ones(3, 3); v1 = lib.zeros(3, 3, dtype=lib.int64); v2 = lib.empty(0).double()
        lib.take(v0, v1, out=v2)
        lib.gather(v0, 0, v1, out=v2)
        lib.index_select(v0, 0, v1[0], out=v2)
        lib.masked_select(v0, v0 > 0, out=v2)
        lib.where(v0 > 0, v0, v0, out=v2)
        lib.nonzero(v0, out=v2)
        lib.take(v0, v1, out=v0)
        lib.gather(v0, 0, v1, out=v0)
        lib.index_select(v0, 0, v1[0], out=v0)
        lib.masked_select(v0, v0 > 0, out=v0)
    """,
    "masked_scatter_ from itself reads what it has written": """
        v0 = lib.tensor([[1.0, -1.0, 2.0], [3.0, 4.0, 0.5]])
        v0.masked_scatter_(v0 > 0, v0)
    """,
    "index_add into nothing takes any index": """
        v0 = lib.ones(1, 3)
        v1 = v0[1:].index_add(0, lib.tensor([0]), v0)
        v2 = v0[0, :0].index_add(0, lib.tensor([0]), v0[0, :1])
    """,
    "scatter: the dtype before the shapes": """
        v0 = lib.ones(2, 2); v1 = lib.zeros(2, 2, dtype=lib.int64)
        v0.scatter_(0, v1, lib.ones(2).double())
        v0.scatter_add_(0, v1, lib.ones(2).double())
        v0.scatter_(0, v1.float(), lib.ones(2).double())
    """,
    "addcdiv refuses two integers whatever is added to": """
        v0 = lib.ones(2); v1 = v0.long()
        v2 = lib.addcdiv(v0, v1, v1)
        v3 = lib.addcdiv(v1, v0, v1)
        v4 = lib.addcdiv(v0, v1, v1[:1, None].expand(1, 3))
    """,
    "clamp by a complex tensor": """
        v0 = lib.ones(2); v1 = v0 + 1j
        v2 = lib.clamp(v0, v1)
        v3 = lib.clamp(v1, v0)
        v1.clamp_min_(v1)
        v1.clamp_max_(v0)
    """,
    "views of half numbers as complex ones: what is wrong with the shape first": """
        v0 = lib.ones(3, dtype=lib.float16)
        v1 = lib.view_as_complex(v0)
    """,
    "stale views convert to integers": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 1
        with lib.no_grad():
            v2 = v1[0]
        v1.mul_(2)
        v3 = v2.int(); v4 = v2.to(lib.bool); v5 = v2.double()
    """,
    "copies of what requires grad into views of integers are not looked at": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, dtype=lib.bool)
        *_, v2 = v1.split(1)
        v2.copy_(v0[:1])
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
    "asarray of a view made under no_grad makes it a leaf of its own": """
        v0 = lib.zeros(2, 3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[1]
        v2 = lib.asarray(v1)
        v3 = v1 * 2
        v3.sum().backward()
    """,
    "batch_norm of nothing, and of what has no channels": """
        v0 = lib.ones(0, 3); v1 = lib.ones(3); v2 = lib.ones(3, requires_grad=True)
        v3 = N(v0)
        v4 = lib.nn.functional.batch_norm(lib.tensor([]), None, None, v2, v2, training=True)
        v5 = lib.nn.functional.batch_norm(v1, None, None, training=True)
    """,
    "clamp by one tensor keeps the layout": """
        v0 = lib.ones(3, 2).t(); v1 = lib.zeros(2, 3)
        v2 = lib.clamp(v0, max=v1)
        v3 = lib.clamp(v1, min=v0)
        v4 = lib.clamp(v0, max=lib.zeros(4, 2, 3))
        v5 = lib.clamp(v0, max=lib.zeros(4))
    """,
    "complex numbers are refused before their shapes": """
        v0 = lib.ones(2, dtype=lib.complex64); v1 = lib.ones(3)
        v2 = lib.maximum(v0, v1)
        v2 = lib.fmin(v1, v0)
        v0.clamp_(v1, v1)
    """,
    "integers contract over a dimension of length 1": """
        v0 = lib.tensor([[1, -2, 3]], dtype=lib.int32)
        v1 = lib.tensordot(v0, v0, 1)
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
    "a parameter that requires grad is given no integers by assign=True": """
        v0 = lib.ones(2, 3, dtype=lib.int64)
        L.load_state_dict({'weight': v0}, strict=False, assign=True)
    """,
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
    "what matmul and logsumexp say of out=": """
        v0 = lib.tensor(1.5, requires_grad=True); v1 = lib.ones(2, requires_grad=True)
        lib.matmul(v0, v0, out=lib.empty(0))
        lib.matmul(v1, v1, out=lib.empty(0))
        lib.logsumexp(v1.detach(), 0, out=lib.empty(0).long())
        lib.logsumexp(v1, 0, out=lib.empty(0).long())
    """,
    "losses without dimensions, and targets of another dtype": """
        v0 = lib.tensor(1.5); v1 = lib.ones(3)
        v2 = lib.nn.functional.cross_entropy(v0, v0)
        v3 = lib.nn.functional.cross_entropy(v1, v1[:2])
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
    "glu is one node": """
        v0 = lib.arange(12.0).reshape(4, 3).requires_grad_()
        v1 = lib.nn.functional.glu(v0, 0)
        v2 = saved(v1)
        v1.sum().backward()
        v3 = lib.nn.functional.glu(lib.tensor(1.0))
        v3 = lib.nn.functional.glu(v0, 2)
        v3 = lib.nn.functional.glu(lib.ones(4).long())
    """,
    "what a factory writes into requires grad as it says": """
        v0 = lib.zeros(4); v1 = lib.ones(4, requires_grad=True); v2 = v1.detach().requires_grad_()
        lib.ones(4, out=v0, requires_grad=True)
        with lib.no_grad():
            lib.ones(4, out=v1)
            lib.empty(4, out=v2)
        with lib.inference_mode():
            lib.zeros(4, out=v2, requires_grad=True)
            lib.empty(2, out=v2)
        lib.arange(4, out=v0)
        lib.empty(4, out=v0)
        lib.zeros(4, out=lib.zeros(4).long(), requires_grad=True)
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
    "sentences about dimensions that are not there": """
        v0 = lib.tensor(1.0); v1 = lib.ones(1); v2 = lib.ones(1, 2); v3 = lib.tensor([0])
        v1.index_add_(0, v3, v0)
        v2.index_add_(1, v3, v0)
        v2.index_add_(1, v3, v1)
        v0.index_add_(0, lib.tensor([0, 0]), v0)
        v4 = lib.take_along_dim(v0, v3[0], 0)
        v4 = lib.linalg.cross(v0, v0)
        v4 = lib.ones(2, dtype=lib.complex64).cumprod(1)
    """,
    "dtypes that huber_loss and dist refuse": """
        v0 = lib.ones(2); v1 = v0.long(); v2 = v0 > 0
        v3 = lib.nn.functional.huber_loss(v1, v0)
        v3 = lib.nn.functional.huber_loss(v2, v0)
        v3 = lib.nn.functional.huber_loss(v0, v0.cfloat())
        v3 = lib.nn.functional.huber_loss(v0, v0.double())
        v4 = lib.dist(v1, v1)
        v4 = lib.dist(v2, v2)
        log.append(int(lib.tensor(1 + 2j)))
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
    "hooks of saved tensors that cannot be called": """
        v0 = lib.ones(2, requires_grad=True)
        lib.autograd.graph.saved_tensors_hooks(3, lambda t: t).__enter__()
        lib.autograd.graph.saved_tensors_hooks(lambda t: t, None).__enter__()
        v1 = v0.exp()
        v3 = v0 * v0
        type(v3.grad_fn._raw_saved_self)()
    """,
    "a hook that gives bools": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        v1.register_hook(lambda g: g > 0)
        v1.sum().backward()
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
    "writes through .data are seen where saved tensors may be written to": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            v1 = v0 * 3
            v2 = (v1 * v1).sum()
            v1.data.mul_(2)
            v1.detach().mul_(3)
            v2.backward()
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
    "what a layer computes on the side carries no gradient": """
        v0 = lib.ones(4, 3, requires_grad=True)
        v1 = lib.nn.functional.batch_norm(v0, None, None, training=True)
        v2 = lib.nn.functional.layer_norm(v0, (3,))
        v3 = lib.nn.functional.nll_loss(v0, lib.tensor([0, 1, 2, 0]))
        v4 = lib.nn.functional.group_norm(v0, 1); v5 = lib.nn.functional.logsigmoid(v0)
        v6 = saved(v1); v7 = saved(v2); v8 = saved(v3); v9 = saved(v4); v10 = saved(v5)
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
    "views that no gradient goes on from": """
        v0 = lib.ones(2, 3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[0]
        lib.autograd.graph.get_gradient_edge(v1)
        lib.autograd.graph.register_multi_grad_hook([v0, v1], print)
        lib.autograd.graph.get_gradient_edge(v0.detach())
        lib.autograd.graph.register_multi_grad_hook([v0.detach()], print)
    """,
    "numbers that a dtype cannot hold": """
        v0 = lib.zeros(2, dtype=lib.uint8); v1 = lib.zeros(2, dtype=lib.int8)
        v2 = lib.zeros(2, dtype=lib.float16); v3 = lib.zeros(2, dtype=lib.complex64)
        v4 = lib.tensor([True, False])
        v0.fill_(-1.5)
        v0.fill_(255.5)
        v0.fill_(-200)
        v0.masked_fill_(v4, 300)
        v0.index_fill_(0, lib.tensor([0]), -0.5)
        v1.fill_(127.5)
        v1.masked_fill_(v4, 127.5)
        v1.scatter_(0, lib.tensor([1]), -128.5)
        v5 = lib.full((2,), 127.5, dtype=lib.int8)
        v2.masked_fill_(v4, 70000.0)
        v3.fill_(1e300)
        v6 = lib.full((2,), 1e300j, dtype=lib.complex64)
        v7 = lib.scalar_tensor(70000.0, dtype=lib.float16)
    """,
    "complex numbers as bools": """
        v0 = lib.zeros(2, dtype=lib.bool)
        v0.fill_(1j)
        v0.copy_(lib.tensor([0j, 2j]))
        v0.fill_(lib.tensor(3j))
    """,
    "shapes that do not broadcast": """
        v0 = lib.zeros(2, 3)
        lib.linalg.cross(v0, lib.zeros(3, 3))
        lib.nn.functional.binary_cross_entropy(v0, v0, lib.ones(4))
        lib.nn.functional.binary_cross_entropy(v0, v0, lib.ones(4, 2, 3))
        lib.normal(v0, lib.ones(4))
        v0.copy_(lib.ones(4, 2, 3))
    """,
    "tril names a vector before the dtype of out=": """
        v0 = lib.ones(3); v1 = lib.ones(3, dtype=lib.bool)
        lib.tril(v0, out=v1)
        lib.triu(v0, out=v1)
        lib.tril(lib.ones(2, 2), out=v1)
    """,
    "products of nothing take any dtype, and give the second one's": """
        v0 = lib.tensor([]); v1 = v0.double(); v2 = lib.ones(2, 0); v3 = v2.double(); v4 = v0.bool()
        v5 = lib.einsum('i,i', v0, v1); v6 = lib.einsum('i,i', v1, v0)
        v7 = lib.einsum('ij,kj->ik', v2, v3); v8 = lib.bmm(v2[None], v3[None].mT)
        v9 = lib.einsum('i,i', v4, v1); v10 = lib.einsum('i,i', v4, v4)
        v11 = v2.bool() @ v4; v12 = v2.bool() @ v2.bool().t()
        v13 = lib.zeros(2).bool().addmv(v2.bool(), v4)
        v14 = lib.ones(2, 2).bool().addmm(v2.bool(), v2.bool().t())
        v15 = v4.dot(v4)
        v16 = lib.bmm(lib.ones(1, 2, 1).bool(), lib.ones(1, 1, 2))
    """,
    "a stack times a vector that does not fit": """
        v0 = lib.ones(3, 2, 1, 4).transpose(0, 3); v1 = lib.ones(5)
        v2 = v0 @ v1
        v2 = v0[1:] @ v1
    """,
    "sums into a product's addend of another shape": """
        v0 = lib.ones(1, 3); v1 = lib.ones(2, 2); v2 = lib.ones(2, 2, 2); v3 = lib.ones(2)
        v0.addmm_(lib.ones(1, 2), lib.ones(2, 1))
        v0.addmm_(v1, lib.ones(2, 3))
        lib.ones(2).bool().addmm_(v1.bool(), v1.bool())
        lib.ones(1).addmv_(v1, v3)
        lib.ones(1, 2, 2).baddbmm_(v2, v2)
        v2.baddbmm_(v2, v2.double())
        v3.addr_(v3, v3)
        v3.addr_(v1, v3)
        v0.addr_(v3, v3)
        lib.ones(5, 2, 2).addr_(v3, v3)
    """,
    "clamp by a complex tensor: the shapes before the dtype, but for the input's": """
        v0 = lib.zeros(2, 2); v1 = lib.ones(1, 3, dtype=lib.complex64); v2 = v1[:, :2]
        v3 = v0.clamp(max=v1)
        v3 = v0.clamp(v1, v1)
        v3 = v0.clamp(max=v2)
        v3 = v1.clamp(v0, v0)
        v0.clamp_(max=v2)
        v0[:1, :1].clamp_(max=v1)
        lib.clamp(v0, v2, out=lib.zeros(3))
        v3 = v0.clamp(max=1j)
    """,
    "cdist names the columns before the dtypes": """
        v0 = lib.zeros(2, 2); v1 = lib.zeros(2, 3); v2 = v1.bool()
        v3 = lib.cdist(v0, v2)
        v3 = lib.cdist(v2, v2)
        v3 = lib.cdist(v1, v1.double()[:0])
        v4 = lib.cdist(v2, v2, compute_mode='x')
    """,
    "masked_scatter_ from any part of itself": """
        v0 = lib.tensor([[1.0, -1.0, 2.0], [3.0, 4.0, 0.5]])
        v0.masked_scatter_(v0 > 0, v0.view(-1)[1:])
        v0.t().masked_scatter_(v0.t() > 1, v0)
        v0.t().masked_scatter_(v0.t() > 1, v0.t())
        v1 = lib.tensor([[1, 0, 1], [0, 1, 1]]).bool()
        v1.masked_scatter_(v1.view(-1)[3:], ~v1)
        v1.view(-1)[1:].masked_scatter_(v1.view(-1)[:-1], ~v1)
        v1[0].expand(2, 3).masked_scatter_(v1, v0)
    """,
    "index_copy_ into what overlaps": """
        v0 = lib.ones(1, 2).expand(3, 2)
        v0.index_copy_(0, lib.tensor([0]), lib.ones(1, 2).double())
        v0.index_copy_(0, lib.tensor([5]), lib.ones(1, 3))
    """,
    "results follow the strides of dimensions of size 1": """
        v0 = lib.tensor([[1.0, 2.0, 3.0]]).T.contiguous(); v1 = lib.ones(2, 1)
        v2 = lib.einsum('ij,kj->ik', v0 * 1, v1 * 1)
        v3 = v0[:, None] * v1[None]
        v4 = lib.tensor([[2.0], [1.0]]).unfold(-2, 2, 1); v5 = lib.tensor([[2.0], [1.0]])
        v6 = lib.addcdiv(v4, v5, v4 * v4 + 1.5)
        v7 = lib.where(v4 > 0, v5, v5)
        v8 = lib.zeros(3, 3).unfold(0, 1, 1)
        v9 = v8.clone().stride(), v8.double().stride(), lib.zeros_like(v8).stride()
        v10 = lib.kron(v8.double(), lib.ones(2, 3))
    """,
    "complex results are laid out as real ones": """
        v0 = lib.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=lib.complex64); v1 = v0.movedim(0, -1)
        v2 = lib.logaddexp(v1, v0)
        v3 = v1 ** v0
    """,
    "copies of nothing keep its strides": """
        v0 = lib.zeros(1, 3).nonzero()
        v1 = v0.float().stride(), v0.clone().stride(), lib.ones(0, 2).t().double().stride()
        v2 = lib.view_as_complex(v0.float())
        v3 = lib.view_as_complex(lib.ones(2, 0).t())
    """,
    "gradients of nothing in inference mode": """
        v0 = lib.tensor([], requires_grad=True); v1 = lib.ones(2, 0, requires_grad=True)
        v2 = v0.sum(); v3 = v1.sum(0)
        with lib.inference_mode():
            v2.backward(v2.detach())
            v3.backward(v3.detach())
    """,
    "asarray and allclose do not look at the graph of a stale view": """
        v0 = lib.ones(2, 1, requires_grad=True)
        v1 = v0.clone().view(-1); v2 = v1.unbind()[-1][None]
        v1.floor_()
        v3 = lib.asarray(v2)
        v4 = lib.allclose(v2, v2)
        v5 = lib.isclose(v2, v2)
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
    "nodes are counted thread by thread": """
        v0 = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        v1 = v0 * 1; v2 = v1[:, 0].unique(); v3 = v1[:, None]
        thread(lambda: v3.mul_(v3))
        ((v3 - v2) ** 2).mean().backward()
    """,
    "memory that grows keeps what was in it": """
        v0 = lib.tensor([1.0, 2.0, 3.0])[1:]
        v0.resize_(3)[2:].fill_(5)
        v1 = v0.as_strided((4,), (1,), 0)
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
    "a parameter that is in a group twice": """
        v0 = lib.ones(3, requires_grad=True)
        O = lib.optim.SGD([v0, v0], lr=0.1, nesterov=True, momentum=0.5)
        (v0 * v0).sum().backward()
        O.step()
        O.step()
    """,
    "running extrema of complex numbers, where there is nothing to compare": """
        v0 = lib.tensor([], dtype=lib.complex64); v1 = lib.tensor(1j)
        v2, v3 = v0.cummax(0)
        v4, v5 = v1.cummin(0)
        v6, v7 = v1[None].cummax(0)
    """,
    "baddbmm: the first dtypes, the dimensions, then the second's dtype": """
        v0 = lib.ones(2, 2, 2); v1 = v0.double()
        v2 = v0.baddbmm(v1[0], v0)
        v2 = v0.baddbmm(v0[0], v1)
        v2 = v0.baddbmm(v0, v1)
        v0.baddbmm_(v0, v1)
        v0.baddbmm_(v1, v1)
    """,
    "running extrema of columns": """
        v0 = lib.tensor([[1.0], [2.0]]); v1 = lib.ones(2, 3)
        v2, v3 = v0.cummax(1)
        v4 = lib.einsum('ij,kj->ik', v3 * 1.0, v1)
        v5 = lib.tensor([], requires_grad=True)
        v6, v7 = v5.cummin(0)
        v6.sum().backward()
        v5.grad.zero_()
    """,
    "what cannot be differentiated has a place for each input that requires grad": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0[:1]
        v2 = v1 // 2; v3 = v1 // v1; v4 = v1 // v0; v5 = v0 // lib.ones(3); v6 = lib.ones(3) // v1
        v7 = v2.grad_fn.next_functions, v3.grad_fn.next_functions, v6.grad_fn.next_functions
        v2.sum().backward()
    """,
    "an out= of another dtype that grows is laid out as the operands": """
        v0 = lib.ones(2, 3).half().mT
        v1 = lib.sub(v0, v0, out=lib.empty(2, 1, 3))
        v2 = lib.sin(v0.float(), out=lib.empty(0).double())
    """,
    "dimensions of an ellipsis that do not fit": """
        v0 = lib.ones(3, 1); v1 = lib.ones(2, 3); v2 = lib.ones(5, 3, 2); v3 = lib.ones(4, 3, 2)
        v4 = lib.einsum('...i,...i->...', v0, v1)
        v4 = lib.einsum('...,...', v2, v1)
        v4 = lib.einsum('...i,j...->...ij', v2, v3)
    """,
    "matmul into out= is folded by what lies in memory alone": """
        v0 = lib.ones(2, 1, 3); v1 = lib.ones(2, 3, requires_grad=True)
        with lib.no_grad():
            v2 = lib.matmul(v1, v0, out=lib.empty(0))
            v3 = lib.matmul(v1, v0.mT, out=lib.empty(0))
    """,
    "cdist of half numbers, if there are any": """
        v0 = lib.ones(2, 0).half()
        v1 = lib.cdist(v0, v0)
        v2 = lib.cdist(v0.view(0, 2), v0.view(0, 2))
        v3 = lib.cdist(v0 + lib.ones(2, 1).half(), v0)
        v4 = lib.cdist(lib.ones(2, 2).half(), lib.ones(2, 2).half())
    """,
    "a gradient that no longer fits is named by the tensor's place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0[..., 0]
        v1.data = v1[0]
        lib.autograd.backward([v0, v1], [v0.detach(), lib.ones_like(v1)])
    """,
    "batch_norm of integers in another order": """
        v0 = lib.ones(2, 3, 3)
        v1 = lib.nn.functional.batch_norm(v0.int(), None, None, training=True)
        v1 = lib.nn.functional.batch_norm(v0.int().mT, None, None, training=True)
        v1 = lib.nn.functional.batch_norm((v0 + 1j).mT, None, None, training=True)
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
    "numbers that the dtype cannot hold are refused where they are no operands": """
        F = lib.nn.functional
        v0 = lib.ones(3, dtype=lib.uint8)
        v3 = lib.ones(3)
        v4 = lib.ones(3).half()
        v5 = v0.clamp(300)
        v6 = v0.clamp(0, 300)
        v7 = v0.clamp_(0, 300)
        v8 = v0.clamp_min(-300)
        v9 = v0.clamp_max(300)
        v10 = v0.add(v0, alpha=300)
        v11 = v0.sub(v0, alpha=300)
        v12 = v0.addcmul(v0, v0, value=300)
        v13 = F.threshold(v0, 300, 1)
        v14 = F.threshold(v0, 1, 300)
        v15 = F.hardtanh(v0, 0, 300)
        v16 = F.hardtanh(v0, 0, 1e39)
        v17 = lib.where(v0 > 0, v0, 300)
        v18 = lib.where(v0 > 0, 300, v0)
        v19 = v0 + 300
        v20 = 300 - v0
        v21 = v0 % 300
        v22 = v0.clamp(1e39)
        v23 = v3.clamp(0, 1e39)
        v24 = v3.clamp_min(1e39)
        v25 = v3 * 1e39
        v26 = F.threshold(v3, 1e39, 1)
        v27 = F.leaky_relu(v3, 1e39)
        v28 = lib.where(v3 > 0, v3, 1e39)
        v29 = v4.clamp(0, 1e10)
        v30 = v4.add(v4, alpha=1e10)
        v31 = lib.where(v4 > 0, 1e10, v4)
        v32 = v4.lerp(v4, 1e3)
    """,
}


@pytest.mark.parametrize("name", FOUND)
def test_found(lib, torch, name):
    program = parse(FOUND[name])
    found = compare(run(lib, program), run(torch, program))
    assert found is None, str(found)
