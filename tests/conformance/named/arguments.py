"""How arguments are given: by place and by name."""

PROGRAMS = {
    "generators of wrong devices and states": """
        v0 = lib.Generator()
        lib.Generator("meta")
        lib.Generator(3)
        lib.Generator(1.5)
        v0.set_state(lib.ones(3, 3, dtype=lib.uint8).t())
        v0.set_state(lib.ones(5056 * 2, dtype=lib.uint8)[::2])
        v0.graphsafe_set_state(1)
    """,
    "second names have the overloads of the first": """
        v0 = lib.ones(2); v1 = lib.tensor([0.5, 2.0])
        v2 = lib.clip(v0, v1, v1); v3 = v0.clip(max=v1); v4 = lib.clip(v0, 0, 3)
        v0.clip_(v1, v1)
        lib.clip(v0, "x"); v0.clip_([1]); lib.clip(v0, v0, out=3)
        lib.subtract(v0, "x"); v0.subtract(None); v0.subtract_(v0, v0); lib.subtract(v0, v0, foo=1)
        lib.multiply("x", v0); v0.multiply([1]); lib.multiply(v0, v0, v0); lib.multiply(v0)
        v0.div(None, rounding_mode=None); v0.div_(v0, foo=1); v0.div("x"); lib.div(v0, "x")
        lib.divide(v0, "x"); v0.divide(v0, v0); lib.divide(v0, v0, rounding_mode=3)
        lib.true_divide(v0, None); v0.true_divide(v0, v0)
        lib.floor_divide(v0, v0, v0); v0.floor_divide(v0, v0); lib.floor_divide(v0, "x")
    """,
    "where of a mask that an operator made": """
        v0 = lib.ones(2)
        v1 = v0 > 0
        lib.where(v1); lib.where(v1, v0); lib.where(v1, "x", v0); lib.where(None, v0, v0)
        v2 = v0.where(v1, 3)
    """,
    "an out= that is no tensor": """
        v0 = lib.ones(2)
        lib.clamp(v0, 0, 1, out="x"); lib.all(v0, out=1); lib.eq(v0, v0, out="x")
        lib.exp(v0, out="x"); lib.mm(v0, v0, out=1); lib.arange(3, out="x")
        lib.bitwise_and(v0, 1, out=[])
    """,
    "what is no int, device or equation": """
        v0 = lib.ones(2, 2)
        v0.sum(lib.tensor(True)); lib.cumsum(v0, lib.tensor(False)); v0.chunk(lib.tensor(True))
        lib.ones(2, device=0); lib.tensor([1], device=0); lib.ones(2, device="cuda")
        lib.einsum(None, v0); lib.einsum(3, [v0, v0]); lib.einsum([1], v0)
        lib.tensor(lib.float64); lib.as_tensor(lib.device("cpu"))
    """,
    "arguments of generators": """
        v0 = lib.Generator()
        v0.seed(1); v0.manual_seed(); v0.manual_seed(1, 2); v0.get_state(1); v0.set_state()
        v0.initial_seed(1); v0.seed(foo=1); v0.manual_seed(seed=1); v0.clone_state(1)
    """,
    "what cannot be deleted of a tensor": """
        v0 = lib.ones(2)
        del v0.data
        del v0.requires_grad
        del v0.grad
    """,
    "schedules of what is no optimizer": """
        S = lib.optim.lr_scheduler
        v0 = lib.ones(2, requires_grad=True)
        o = lib.optim.SGD([v0], lr=0.1)
        S.SequentialLR(3, [3], [])
        S.SequentialLR(3, 3, [1])
        S.ChainedScheduler(3)
        S.ReduceLROnPlateau(3, mode="a")
        S.ReduceLROnPlateau(3, factor=2.0)
        S.ReduceLROnPlateau(o, mode="a")
        S.ReduceLROnPlateau(o, mode="a", min_lr=[1, 2])
        S.ReduceLROnPlateau(o, threshold_mode="a")
        S.CyclicLR(3, 1, 2, mode="a")
        S.CyclicLR(o, 1, 2, mode="a")
        S.OneCycleLR(3, 1)
        S.OneCycleLR(o, 1)
        S.CosineAnnealingWarmRestarts(3, 1, 1, "a")
    """,
    "input is any place of the tensor that an operator is about": """
        v0 = lib.tensor([1.0, 2.0]); v1 = v0 > 1
        v2 = lib.where(v1, input=v0, other=v0 * 3)
        v3 = lib.where(condition=v1, input=v0, other=5)
        v4 = lib.searchsorted(v0, input=v0)
        v5 = lib.add(input=v0, other=v0)
        v6 = v0.add(input=v0, other=v0)
        v7 = v0.add(v0, input=v0)
    """,
    "count_nonzero has two overloads": """
        v0 = lib.ones(2, 3)
        v1 = v0.count_nonzero(0, 1)
        v1 = v0.count_nonzero(foo=1)
        v1 = lib.count_nonzero(v0, keepdim=True)
        v1 = v0.count_nonzero(dim=0, foo=1)
        v1 = v0.count_nonzero('a')
        v1 = lib.count_nonzero()
        v1 = v0.count_nonzero(dim=0.5)
        v1 = v0.count_nonzero(dim=(0,), keepdim=False)
    """,
    "set_ takes no None": """
        v0 = lib.ones(2)
        v0.set_(None)
        v0.set_(source=None)
        v0.set_(2)
        v0.set_()
    """,
    "kthvalue names the size and the place before the dtype": """
        v0 = lib.ones(0, dtype=lib.complex64); v1 = lib.ones(2, dtype=lib.bool)
        v2 = v0.kthvalue(1)
        v2 = v1.kthvalue(3)
        v2 = v1.kthvalue(1)
    """,
    "isclose fills its result in place": """
        v0 = lib.tensor([1.0, float("nan")])
        v1 = lib.isclose(v0, v0); v2 = lib.isclose(v0, v0, equal_nan=True)
        v3 = lib.isclose(v0, v0, 0, 0)
    """,
    "softmax needs a dimension, but in nn.functional": """
        v0 = lib.tensor([1.0, 2.0])
        v1 = lib.softmax(v0)
        v1 = v0.log_softmax()
        v1 = v0.log_softmax(dtype=lib.float64)
        v1 = lib.softmax(v0, None)
        v1 = v0.softmax('a')
        v1 = lib.softmax(v0, 0, foo=1)
        v1 = lib.nn.functional.softmax(v0); v2 = lib.nn.functional.log_softmax(v0, None)
        v3 = lib.nn.functional.softmin(v0.reshape(1, 2), dtype=lib.float64)
    """,
    "older arguments of losses are true or false as anything is": """
        v0 = lib.tensor([1.0, 2.0]); v1 = v0 * 2
        v2 = lib.nn.functional.mse_loss(v0, v1, size_average=0)
        v3 = lib.nn.functional.l1_loss(v0, v1, reduce='')
        v4 = lib.nn.functional.kl_div(v0, v1, size_average=v0[0])
    """,
    "errors use the name that was called": """
        v0 = lib.tensor([1.0, 2.0])
        v1 = lib.arccos()
        v1 = lib.arctan2(v0, 'a')
        v1 = v0.arctan2_('a')
        v1 = lib.absolute(v0, out=3)
        v1 = lib.concatenate('a')
        v1 = lib.arccosh(v0 - 3); v2 = v0.clip(0, 1)
    """,
    "an argument that no overload has": """
        v0 = lib.ones(2, 2)
        v1 = lib.addbmm(v0, foo=1)
        v1 = lib.add(foo=1)
        v1 = lib.addmm(v0, foo=1)
        v1 = v0.addcmul(alpha=1)
        v1 = v0.mm(v0, foo=1)
    """,
    "overloads that take more are there": """
        v0 = lib.ones(2, 2)
        v1 = lib.mm(v0)
        v1 = v0.mm()
        v1 = lib.bmm(v0, 3)
        v1 = lib.addmm(v0, v0)
        v1 = v0.addmm(v0)
        v1 = v0.all('a')
        v1 = v0.any(foo=1)
        v1 = lib.rand(2, foo=1)
        v1 = lib.rand('a')
        v1 = lib.float_power(v0)
    """,
    "chain_matmul writes to out": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, 2); v2 = lib.ones(0)
        v3 = lib.chain_matmul(v0, v1, out=v2)
        v4 = lib.chain_matmul(v0, out=lib.ones(2, 3, dtype=lib.float64))
        v4 = lib.chain_matmul(v0, v1, out=v0.double())
        v4 = lib.chain_matmul()
        v4 = lib.chain_matmul(v0[0])
        v4 = lib.chain_matmul(v0[0], v1, out=v2)
        v4 = lib.chain_matmul(v0, 3)
        v4 = lib.linalg.multi_dot([v0, v1], out=v2)
        v4 = lib.linalg.multi_dot([v0], out=v2)
    """,
    "log1p of small complex numbers": """
        v0 = lib.tensor([complex(-0.0, 0.0), complex(0.0, -0.0), 1e-8 + 1e-8j, -1e-20])
        v1 = v0.log1p(); v2 = v0.to(lib.complex128).log1p()
    """,
    "cross products name the shapes, then bools, then a second dtype; then out's": """
        v0 = lib.ones(3, 2); v1 = v0.bool(); v2 = lib.ones(3, 3)
        v3 = lib.linalg.cross(v1, v0, dim=0)
        v3 = lib.linalg.cross(v0, v1, dim=0)
        v3 = lib.linalg.cross(v1, v2, dim=0)
        v3 = lib.linalg.cross(v0, v2.bool(), dim=0)
        v3 = lib.linalg.cross(v1[:, :0], v0[:, :0], dim=0)
        v3 = lib.cross(v0.half(), v0, 0, out=lib.empty(3, 2))
        v3 = lib.linalg.cross(v0, v0, dim=0, out=lib.empty(3, 2).double())
    """,
    "aminmax names what is empty before the dtype": """
        v0 = lib.zeros(0, 3, dtype=lib.complex64); v1 = lib.zeros((), dtype=lib.complex64)
        v2 = v0.aminmax()
        v2 = v0.aminmax(dim=0)
        v2 = v0.aminmax(dim=1)
        v2 = v0.aminmax(dim=2)
        v2 = v1.aminmax()
        v2 = v1.aminmax(dim=0)
    """,
    "a loss of classes counts dimensions before it looks at the graph": """
        v0 = lib.zeros(3, requires_grad=True); v1 = v0.unbind()[0]
        with lib.no_grad():
            v1.copy_(v1)
        v2 = lib.nn.functional.nll_loss(v1, lib.tensor(0))
        v2 = lib.nn.functional.nll_loss(lib.zeros(()), lib.tensor(0))
    """,
    "asarray copies what requires grad in every mode": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 1
        v2 = lib.asarray(v0, copy=True); v3 = lib.asarray(v1, dtype=lib.float64)
        with lib.no_grad():
            v4 = lib.asarray(v0, copy=True); v5 = lib.asarray(v1, dtype=lib.float64)
            v6 = lib.asarray(v1, copy=True, requires_grad=False)
        with lib.inference_mode():
            v7 = lib.asarray(v0, copy=True)
        v8 = lib.asarray(v0, dtype=lib.int64)
        v9 = lib.asarray(v0, dtype=lib.int64, requires_grad=False)
    """,
    "what cannot require grad": """
        v0 = lib.ones(2, dtype=lib.int64)
        lib.autograd.Variable(v0, requires_grad=True)
        lib.asarray(v0, requires_grad=True)
        v0.requires_grad_()
    """,
    "increment_version of what is no tensor": """
        v0 = lib.ones(2)
        lib.autograd.graph.increment_version(3)
        lib.autograd.graph.increment_version([v0, None])
        lib.autograd.graph.increment_version("text")
    """,
    "what nn.functional alone has is written in Python": """
        v0 = lib.ones(2, 2)
        v1 = lib.nn.functional.mse_loss(v0)
        v1 = lib.nn.functional.l1_loss()
        v1 = lib.nn.functional.pad(v0)
        v1 = lib.nn.functional.kl_div(v0, v0, foo=1)
        v1 = lib.nn.functional.linear(v0)
        v1 = lib.nn.functional.avg_pool2d(v0)
    """,
    "alpha is looked at after the shapes, that of the target too": """
        v0 = lib.ones(2, 1).to(lib.int8); v1 = lib.ones(2, 3).to(lib.int8); v2 = lib.ones(2)
        v0.add_(v1, alpha=0.5)
        v0.sub_(v1, alpha=0.5)
        v0.add_(v0, alpha=0.5)
        v2.addcmul_(lib.ones(3, 2), v2, value=2j)
        v2.add_(lib.ones(3, 2), alpha=2j)
        lib.add(v0, v1, alpha=0.5, out=lib.ones(4).to(lib.int8))
        lib.add(v0, v1, alpha=0.5, out=v0)
        v0.sub_(v1.bool(), alpha=0)
    """,
    "addmv asks an addend without dimensions for its size": """
        v0 = lib.zeros(()); v1 = lib.ones(2, 3); v2 = lib.ones(2); v3 = lib.ones(3)
        v4 = lib.addmv(v0, v1, v2)
        v0.addmv_(v1, v2)
        v0.addmv_(v1, v3)
        v4 = lib.addmv(v0, v1, v3)
        v4 = lib.addmv(v2[:1], v1, v2)
    """,
    "type takes a type, a name or a dtype": """
        v0 = lib.ones(2)
        v1 = v0.type(lib.float64); v2 = v0.type(lib.LongTensor); v3 = v1.type(lib.Tensor)
        v4 = v0.type(int)
        v4 = v0.type(3)
        v4 = v0.type(v1)
        v4 = v0.type('none')
    """,
    "numpy is forced by a bool": """
        v0 = lib.ones(2)
        v0.numpy(force=3)
        v0.numpy(force=None)
    """,
    "save and load take a path or a file": """
        v0 = lib.ones(2)
        lib.save(v0, 3)
        lib.save(v0, [1])
        lib.load(3)
        lib.load(None)
        lib.load([v0])
    """,
    "joining names a dtype that out= cannot take before shapes": """
        v0 = lib.zeros(2, 1); v1 = lib.ones(3, dtype=lib.complex64); v2 = lib.ones(1, 4)
        lib.cat([v1, v2], out=v0)
        lib.cat([v1, v0], 5, out=v0)
        lib.cat([v1[0], v0], out=v0)
        lib.cat([v1, v0[0]], out=v0[0])
        lib.hstack([v1, v2], out=v0)
        lib.vstack([v1, v2], out=v0)
        lib.dstack([v1, v2], out=v0)
        lib.column_stack([v1, v2], out=v0)
        lib.cat([v1, lib.ones(2)], out=lib.zeros(1).expand(5))
        v3 = lib.zeros(5); lib.cat([lib.ones(3), lib.ones(2)], out=v3)
    """,
    "mistakes of dist, lerp and kl_div are named in one order": """
        v0 = lib.ones(2, 3); v1 = lib.ones(2); v2 = lib.ones(2, 3, dtype=lib.bool)
        lib.dist(v2, v1)
        lib.dist(v0, v1 > 0)
        lib.dist(v0, v1)
        lib.dist(v1.long(), v1.long())
        v3 = lib.tensor(3); v4 = lib.tensor([3])
        v3.lerp(v3, lib.tensor(True))
        v4.lerp(v4, lib.tensor(True))
        v4.lerp(v4, v4 > 0)
        v4.lerp(v4.float(), lib.tensor(True))
        lib.nn.functional.kl_div(v2, v0 + 0j)
        lib.nn.functional.kl_div(v0 + 0j, v2)
        lib.nn.functional.kl_div(v0, v2)
    """,
    "the older constructors give a view of a tensor, and make ones of its dtype": """
        v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
        v2 = lib.Tensor(v0); v3 = lib.FloatTensor(v1); v4 = v1.new(v1)
        v3.add_(1)
        v5 = v1.new(); v6 = v1.new(2, 3).zero_(); v7 = v1.new([1, 2])
        v8 = v1.new(v1.size()).zero_()
        v9 = v1.long().new([1.5]); v10 = v1.new((1, 2))
        v1.new(3.5)
        v1.new("a")
        v14 = v1.new(size=(2, 3)).zero_(); v15 = v1.new(data=[1, 2]); v16 = lib.Tensor(other=v1)
        v1.new(size=3)
        v1.new(other=3)
        v1.new(sizes=(2,))
        with lib.inference_mode():
            v11 = v1.new(v1); v12 = lib.Tensor(v0); v13 = v1.new([1.0])
    """,
    "reflected operators called by their names": """
        v0 = lib.tensor([3]); v1 = lib.tensor([2])
        v2 = v0.__rmod__(v1); v3 = v0.__rfloordiv__(v1); v4 = v0.__rtruediv__(v1)
        v5 = v0.__rlshift__(v1); v6 = v0.__rrshift__(v1); v7 = v0.__rpow__(v1)
        v8 = v0.__rsub__(v1)
    """,
    "equations, tuples and places that are of another kind": """
        v0 = lib.ones(3)
        v1 = lib.einsum([v0], "i")
        v1 = lib.einsum(3, [v0])
        v1 = lib.nonzero(v0, as_tuple=False, out=lib.empty(0, dtype=lib.int64))
        v1 = lib.nonzero(v0, as_tuple=True, out=lib.empty(0, dtype=lib.int64))
        v1 = lib.narrow(v0, 0, lib.tensor(True), 1)
        v1 = lib.linalg.norm(v0, [1])
        v1 = lib.linalg.norm(v0, "fro")
        v1 = lib.linalg.norm(lib.ones(2, 2), 1, out=lib.empty(0))
        v1 = lib.linalg.matrix_norm(lib.ones(2, 2), None)
        v1 = lib.linalg.matrix_norm(lib.ones(2, 2), out=lib.empty(0))
    """,
    "windows over one dimension": """
        F = lib.nn.functional
        v0 = lib.ones(1, 1, 4)
        F.max_pool1d(v0, 2, padding=-1)
        F.max_pool1d(v0, 2, padding=-1, return_indices=True)
        F.max_pool1d(v0, [2, 2])
        F.max_pool1d(v0, 2, [1, 1])
        F.max_pool1d(v0, [2, 2], return_indices=True)
        F.max_pool1d(v0[0, 0], 2, return_indices=True)
        F.avg_pool1d(v0, [2, 2])
        F.adaptive_avg_pool1d(v0, [])
        F.adaptive_avg_pool2d(v0, [])
        F.adaptive_max_pool2d(v0, [])
        F.conv1d(v0, v0, dilation=-1)
    """,
    "rows of an embedding that are scaled": """
        v0 = lib.ones(2, 2)
        v1 = lib.nn.functional.embedding(lib.tensor([1]), v0, max_norm=1.0)
        lib.nn.functional.embedding(lib.tensor([9]), v0, max_norm=1.0)
        lib.nn.functional.embedding(lib.tensor([0, -9]), v0, max_norm=1.0)
        lib.nn.functional.embedding(lib.tensor([1]), v0.long(), max_norm=1.0)
    """,
    "the slopes of prelu for numbers, vectors and images": """
        v0 = lib.tensor(0.5, requires_grad=True); v1 = lib.ones(1, requires_grad=True)
        v2 = lib.prelu(lib.tensor(-1.0), v0); v3 = lib.prelu(lib.tensor(-1.0), v1)
        v4 = lib.prelu(-lib.ones(3), v0); v5 = lib.prelu(-lib.ones(3), v1)
        v6 = lib.prelu(-lib.ones(3, 2), v0); v7 = lib.prelu(-lib.ones(3, 2), v1)
        v8 = lib.prelu(-lib.ones(1, 2, 3), lib.ones(2, requires_grad=True))
    """,
    "weights of more than 2^24 columns are refused": """
        v0 = lib.zeros(2**24 + 1, dtype=lib.float16)
        v0.multinomial(3)
        v0.expand(2, -1).multinomial(1, replacement=True)
        v0[1:].multinomial(1)
        del v0
    """,
    "what copy_ and resize_as_ call their tensor": """
        v0 = lib.zeros(2); v1 = lib.ones(1, 2)
        v0.copy_(other=v1[0], non_blocking=True)
        v0.copy_(src=v1[0])
        v0.copy_([1, 2])
        v0.resize_as_(the_template=v1)
        v0.resize_as_(other=v1)
    """,
    "the names that NumPy has for arguments": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, 2)
        v2 = lib.add(x1=v0, x2=v0); v3 = lib.exp(x=v0); v4 = lib.sum(a=v1, axis=0, keepdims=True)
        v5 = v0.mul(x2=3); v6 = lib.mul(v0, x2=v0); v7 = lib.reshape(a=v1, shape=(4,))
        lib.dot(x1=v0, x2=v0); v0.add(x1=v0); lib.mm(a=v1, x2=v1); lib.add(v0, x1=v0, x2=v0)
        lib.sum(v1, dim=0, axis=0); lib.add(v0, v0, x2=v0); lib.add(v0, v0, other=v0)
    """,
    "a list that holds itself, and numbers that have no memory to share": """
        import numpy; L = [0]; L.append(L); M = []; M.append(M)
        lib.tensor(L); lib.as_tensor(L); lib.tensor(M)
        lib.asarray(numpy.float64(0.5), copy=False); lib.asarray(0.5, copy=False)
        lib.ones(2).__dlpack__(stream=object()); lib.ones(2).__dlpack__(stream=1)
    """,
    "questions about what is no tensor": """
        v0 = lib.ones(2)
        lib.is_nonzero(False)
        lib.is_signed(3)
        lib.is_floating_point('a')
        lib.is_complex(2)
        lib.numel(3)
        lib.is_same_size(3, v0)
        v0.type_as([v0])
        lib.broadcast_shapes(v0)
        lib.broadcast_shapes(2.5)
    """,
    "limits below zero of what is unsigned": """
        v0 = lib.tensor([1, 5], dtype=lib.uint8)
        lib.nn.functional.hardtanh(v0, -1, 2)
        lib.nn.functional.hardtanh(v0)
        v1 = lib.nn.functional.hardtanh(v0, 0, 2)
        v2 = lib.nn.functional.relu6(v0)
    """,
}
