"""Dtypes: what each operator takes, gives and refuses, and numbers that one cannot hold."""

PROGRAMS = {
    "numbers beyond float16, in bfloat16": """
        v0 = lib.ones(3, dtype=lib.bfloat16)
        v0.fill_(1e5); v0[1:].fill_(1e-5); v0.fill_(1 / 3)
        v1 = lib.ones(2, 2, dtype=lib.bfloat16).fill_diagonal_(700.5)
        v2 = v0.clamp(1e10) / 1e10; v3 = v0.pow(2147483648); v4 = lib.ones_like(v0) ** 1e10
        v0.clamp(1e39); v0.clamp_(max=-1e39)
    """,
    "dtypes of sums that are asked for": """
        v0 = lib.tensor([2, 3], dtype=lib.uint16)
        v1 = v0.sum(dtype=lib.bfloat16); v2 = v0.prod(dtype=lib.bfloat16)
        v3 = v0.cumsum(0, dtype=lib.bfloat16); v4 = v0.sum(dtype=lib.float16)
        lib.ones(2).cumsum_(0, dtype=lib.bfloat16)
        lib.ones(2).bfloat16().cumprod_(0, dtype=lib.float32)
        v5 = lib.linspace(lib.tensor(1.0, dtype=lib.bfloat16, requires_grad=True), 2, 3)
        v6 = v0 * 1j; v7 = lib.where(lib.tensor([True, False]), v0, 2j)
    """,
    "norms in another dtype, and of one number": """
        v0 = lib.tensor([[1.5], [-2.0]])
        v1 = v0.norm(100, 1); v2 = lib.linalg.vector_norm(v0[0], -100)
        v3 = v0.norm(3, (0, 1), dtype=lib.float64)
        v0.norm(dtype=lib.float16)
        lib.linalg.vector_norm(v0, dtype=lib.complex64)
        lib.linalg.matrix_norm(v0.double(), dtype=lib.float32)
    """,
    "integers and bounds with fractions": """
        v0 = lib.arange(-3, 4); v1 = lib.nn.functional.hardtanh_(v0.clone(), -1.5, 2.5)
        v2 = lib.nn.functional.hardtanh(v0, -1.5, 2.5, True)
        lib.nn.functional.hardtanh_(v0.to(lib.uint8), -1.5, 2.5)
        v3 = lib.pairwise_distance(v0, v0 + 2, eps=3)
    """,
    "booleans are not clamped by numbers, nor searched": """
        v0 = lib.tensor([True, False])
        v1 = v0.clamp(min=True)
        v1 = v0.clamp(max=False)
        v1 = v0.clamp(False, True)
        v1 = v0.clamp_min(True)
        v1 = v0.clamp_max(True)
        v0.clamp_(min=True)
        v1 = v0.clamp(0, 1)
        v1 = v0.clamp(min=v0)
        v1 = v0.clamp(v0, v0)
        v1 = lib.searchsorted(v0, v0)
        v1 = lib.bucketize(v0, v0)
        v1 = lib.searchsorted(v0, True)
        v1 = lib.searchsorted(v0, 1)
        v1 = lib.bucketize(v0[:0], v0)
    """,
    "a distance to a tensor without dimensions": """
        v0 = lib.dist(lib.ones(2), lib.tensor(2.0, dtype=lib.float64))
        v1 = lib.dist(lib.ones(2, dtype=lib.int64), lib.tensor(2.0))
        v2 = lib.dist(lib.ones(2, dtype=lib.float16), lib.tensor(2.0))
    """,
    "a NumPy dtype is none": """
        v0 = lib.ones(2, dtype=float)
        v1 = lib.ones(2, dtype=np.float32)
        v1 = lib.tensor(1, dtype=np.float32)
        v1 = v0.to(np.float32)
        v1 = v0.to(dtype='f')
        v1 = v0.to(int)
        v1 = v0[lib.float32]
    """,
    "an old constructor shares an array's memory": """
        a = np.ones(3, np.float32); v0 = lib.Tensor(a); v1 = lib.LongTensor(a)
        a[0] = 5
        v2 = lib.from_numpy(a)
    """,
    "addcmul of integers by a number, and of bools": """
        v0 = lib.ones(3, dtype=lib.int32); v1 = lib.ones(3, dtype=lib.bool)
        v0.addcmul_(v0, v0, value=0.5)
        v2 = lib.addcmul(v1, v1, v1)
        v1.addcmul_(v1, v1, value=2)
        v3 = lib.addcmul(v1, v0, v0, value=2)
        v0.clamp_(0.5, 1.5)
        v1.clamp_(0, 1)
    """,
    "conversions to Python": """
        v0 = lib.ones(3, requires_grad=True)
        float(v0)
        v0.item()
        v1 = v0.numpy()
        with lib.no_grad():
            v1 = v0.numpy()
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
    "cdist of half numbers, if there are any": """
        v0 = lib.ones(2, 0).half()
        v1 = lib.cdist(v0, v0)
        v2 = lib.cdist(v0.view(0, 2), v0.view(0, 2))
        v3 = lib.cdist(v0 + lib.ones(2, 1).half(), v0)
        v4 = lib.cdist(lib.ones(2, 2).half(), lib.ones(2, 2).half())
    """,
    # ---- numbers ----
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
    "integers beyond int64 wrap round, those beyond 64 bits are refused": """
        v0 = lib.tensor([1, 2, 3]); v1 = v0.to(lib.uint8); v2 = lib.tensor([True, False])
        v3 = v0 + 2**63
        v4 = lib.sub(v0, 2**64 - 1)
        v5 = lib.rsub(v1, 2**63 + 5)
        v6 = v0 < 2**63
        v7 = lib.bitwise_and(2**63 + 3, v0)
        v8 = v1 == 2**63
        v0.mul_(2**64 - 1)
        v9 = lib.ones(2) * 2**63
        lib.bitwise_or(v0, 2**64)
        v0 + (-2**63 - 1)
        v1 * 2**70
        v2 + 2**63
        v2.div(2**63)
        lib.result_type(v2, 2**63)
        v0.clamp(min=2**63)
        lib.nn.functional.hardtanh(v0, -1, 2**64)
        v10 = lib.sub(v0.int(), v0.int(), alpha=2**31)
        v10 = lib.sub(v0.int(), v0.int(), alpha=-2**31)
        v10 = lib.sub(lib.ones(2).half(), 1, alpha=70000)
    """,
    "exponents and limits that a dtype cannot hold": """
        v0 = lib.tensor([1, 2, 3], dtype=lib.uint8); v1 = lib.tensor([0.25, 0.5]); v2 = v1.half()
        v3 = v0 ** 300
        v3 = v0 ** 2**63
        v3 = v0 ** -1
        v3 = v0.long() ** 2**63
        v3 = v0.bool() ** -1
        v3 = lib.pow(300, v0)
        v4 = v2 ** 70000
        v4 = v1 ** 1e39
        v4 = lib.pow(70000.0, v2)
        v5 = v1.logit(1e39)
        v5 = v2.logit(1e5)
        v5 = v1.double().logit(1e300)
        F = lib.nn.functional
        v6 = F.hardtanh(v0, -1, 2)
        v6 = F.hardtanh(v1.to(lib.complex64), -1e39, 2)
        v6 = F.threshold(v2, 70000.0, 1.0)
        v6 = F.threshold(v2, 1.0, 70000.0)
        v6 = F.hardshrink(v2, 70000.0)
        v6 = F.celu(v1, 1e39)
        v6 = F.celu(v1.long(), 1j)
        v6 = F.softshrink(v1, 1j)
        v6 = v1.isclose(v1, rtol=float("nan"))
        v6 = lib.cdist(v1[None], v1[None], float("nan"))
    """,
    "beside half tensors a number counts as a float32": """
        F = lib.nn.functional
        v0 = lib.linspace(0.3, 4, 37).half(); v1 = v0 - 2
        log.append([(v1 * 0.1).tolist(), (0.1 * v1).tolist()])
        log.append([(v1 / 0.1).tolist(), (0.1 / v0).tolist()])
        log.append([lib.div(v1, 0.1, rounding_mode=m).tolist() for m in ("floor", "trunc")])
        log.append([(v1 // 0.1).tolist(), lib.mul(v1, lib.tensor(0.1)).tolist()])
        log.append([lib.lerp(v1, v0, 0.1).tolist(), lib.addcmul(v1, v0, v0, value=0.1).tolist()])
        log.append(lib.addcdiv(v1, v0, v0 * 2, value=0.1).tolist())
        log.append([f(v1, 1.1).tolist() for f in (F.elu, F.celu, F.leaky_relu, F.softplus)])
        log.append(F.softshrink(v1, 0.1).tolist())
        v2 = v1 * 70000
        v1.mul_(0.1)
        log.append(v1.tolist())
    """,
    "sgn of complex numbers divides part by part": """
        INF, NAN = float("inf"), float("nan")
        PARTS = [complex(a, b) for a in (0.0, 1.0, -INF, NAN) for b in (0.0, -2.0, INF, NAN)]
        log.append(str(lib.tensor(PARTS).sgn().tolist()))
    """,
    "complex halves are named as such": """
        v0 = lib.ones(2).half()
        v0.add_(lib.tensor(1j))
        v0 *= 1j
        v0.fmod_(2j)
        v0.add_(lib.tensor([1j]))
        v1 = lib.ones(2)
        v1 += 1j
    """,
    "what float16 cannot hold is assigned as infinity, and filled in not at all": """
        v0 = lib.ones(2, 2).half(); v1 = lib.ones(2, 2).half()
        v0[0] = 70000; v0[1, 1] = -1e300
        v1[...] = 65520.0; v1[:, 0] = 65519
        v2 = lib.full((), 70000.0, dtype=lib.float16)
        v3 = lib.full((1,), 70000.0, dtype=lib.float16)
        v0.fill_(70000)
        v4 = v0.new_full((2,), 70000)
        v5 = lib.where(v0 > 1, v0, 1e300)
        v6 = v0 == v0
    """,
    "bools from complex and from very large numbers": """
        v0 = lib.tensor([1j, 0j, 2 ** 64, 0, 0.5], dtype=lib.bool)
        v1 = lib.tensor(0j, dtype=lib.bool)
    """,
    "clamping by complex numbers is refused by what is clamped": """
        v0 = lib.ones(2); v1 = lib.ones(2).long(); v2 = lib.ones(2).bool()
        v0.clamp_(1j); v0.clamp(1, 1j); v0.clamp_min_(1j)
        v1.clamp_(1j); v1.clamp(1j); v1.clamp_max(1j); v1.clamp_min_(1j)
        v2.clamp_(1j, 1); v2.clamp(None, 1j)
        v3 = v1.clamp(lib.tensor(1j), v1)
        v3 = v1.clamp(lib.tensor(1j))
    """,
    "factors of addr of another kind": """
        v0 = lib.ones(2, 3); v1 = lib.ones(2, 3).long(); v2 = lib.ones(2); v3 = lib.ones(3)
        v0.addr_(v2, v3, beta=True); v0.addr_(v2, v3, alpha=False); v4 = v0.addr(v2, v3, alpha=1j)
        v5 = v1.addr(v2.long(), v3.long(), beta=0.5)
        v6 = v1.addr(v2.long(), v3.long(), alpha=1j)
        v7 = v1.add(v1, alpha=1j)
        v1.sub_(v2.long(), alpha=1.5)
    """,
    "out= of another dtype than the result's": """
        v0 = lib.rand(3); v1 = lib.tensor([[0, 2, 1]]); v2 = lib.rand(1, 3)
        v3 = lib.zeros(1, 3).double()
        v4 = lib.scatter(v2, 1, v1, v2, out=v3)
        v4 = lib.scatter(v2, 1, v1, 1.0, out=v3)
        v4 = lib.scatter(v2, 1, v1, v2, reduce="add", out=v3)
        v4 = lib.scatter_add(v2, 1, v1, v2, out=v3)
        v4 = lib.index_copy(v2, 1, v1[0], v2, out=v3)
        v4 = lib.take_along_dim(v2, v1, 1, out=v3)
        v4 = lib.isin(v2, 2.0, out=v3)
        v4 = lib.msort(v2, out=v3)
        v4 = lib.argsort(v2, stable=True, out=v3)
        v4 = lib.searchsorted(v2, v2, out=v3)
        v4 = lib.bucketize(v2, v0, out_int32=True, out=v1.clone())
        v4 = lib.addmv(v0[:1], v2, v0, out=v3[0, :1])
        v4 = lib.baddbmm(v2[None], v2[None, :, :1], v2[None], out=v3[None])
        v4 = lib.scatter(v2, 1, v1, v2, out=lib.empty(0))
        v4 = lib.isin(v2, 2.0, out=lib.empty(0, dtype=lib.bool))
        v4 = lib.addmv(v0[:1], v2, v0, out=lib.empty(0))
        v4 = lib.argsort(v2, out=v1.clone())
    """,
    "losses of two dtypes, and their gradients": """
        F = lib.nn.functional
        v0 = lib.full((2, 3), 0.5, requires_grad=True); v1 = lib.ones(2, 3, dtype=lib.float64)
        v1.requires_grad_()
        v2 = lib.ones(2, 3, dtype=lib.int64); v3 = v2.bool()
        for t in (v1, v2, v3): F.huber_loss(v0, t).backward(inputs=[v0])
        F.huber_loss(v0, v2).backward()
        F.huber_loss(v0, v3).backward()
        F.huber_loss(v0, v1).backward(inputs=[v1])
        F.smooth_l1_loss(v0, v3).backward()
        F.mse_loss(v0, v2).backward()
        F.binary_cross_entropy(v2, v0)
        F.binary_cross_entropy(v3, v0, reduction='sum')
        F.mse_loss(v2, v2.int())
        F.smooth_l1_loss(v2.int(), v2)
    """,
    "batch_norm of halves keeps its mean and deviation as halves": """
        v0 = lib.tensor([[1.78, 0.16], [1.1, 1.06]], dtype=lib.float16, requires_grad=True)
        v1 = lib.nn.functional.batch_norm(v0[None], None, None, training=True)
        v2 = lib.nn.functional.batch_norm(v0[None], None, None, v0[0], v0[1], training=True)
        v3 = lib.nn.functional.batch_norm(v0[None], None, None, lib.ones(2), training=True)
        v4, = lib.autograd.grad((v1 * v1 * v1).sum(), [v0])
    """,
    "a copy of integers that require grad is refused": """
        v0 = lib.tensor([[1, 2], [3, 4]])
        v0[-1:] = lib.zeros((), requires_grad=True) * 1
        v1 = copy.copy(v0)
    """,
    "an alpha of another kind is refused after the shapes": """
        v0 = lib.ones(1, 3).int()
        v0.sub_(lib.ones(1, 2).int(), alpha=1.5)
        v1 = lib.add(v0, lib.ones(1, 2).int(), alpha=1j)
    """,
    "losses name the common dtype of integers": """
        F = lib.nn.functional; v0 = lib.ones(2).long(); v1 = v0.bool(); v2 = v0.int()
        F.huber_loss(v0, v1); F.mse_loss(v1, v0); F.mse_loss(v0, v1); F.smooth_l1_loss(v0, v2)
        v3 = F.mse_loss(v0, v1.float()); v4 = F.mse_loss(lib.tensor(1.0).double(), v1.half())
    """,
    "integers that got a history": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(2, 3).long()
        v2 = v1[0]; v3 = v2.unsqueeze(-1)
        v2.fill_(v0.sum())
        v4 = v3 // 2
        v4 = v3 & 2
        v4 = v3 << 1
        v4 = v3 * 2
        v4 = v3 == 2
        v4 = v3 * v0
        v4 = v1.floor_divide(v0)
        v1.floor_divide_(2)
        v1.bitwise_or_(4)
        v4 = v1.max(0)
        v4 = v1.sort()
        v4 = v1.aminmax()
        v4 = v1.unique()
        v4 = v1.topk(1)
    """,
    "floats are clamped by complex numbers without an imaginary part": """
        v0 = lib.ones(2, requires_grad=True)
        v1 = v0.clamp(70000 + 0j)
        v1.sum().backward()
        v1 = v0.clamp(1, 2 + 0j)
        v1 = v0.clamp(1 + 2j)
        v1 = v0.half().clamp(70000 + 0j)
        v1 = v0.clamp(1e300 + 0j)
        v1 = v0.long().clamp(1 + 0j)
        v0.detach().clamp_(2 + 0j)
    """,
    "joined into another dtype": """
        v0 = lib.ones(2, 2); v1 = v0.to(lib.complex64)
        v2 = lib.cat((v0, v0), out=lib.zeros(0).long())
        v2 = lib.cat((v0, v1), out=lib.zeros(0))
        v2 = lib.stack((v0, v0), out=lib.zeros(0).bool())
        v2 = lib.hstack((v0, v0), out=lib.zeros(0).long())
        v2 = lib.vstack((v0, v0), out=lib.zeros(0).long())
        v2 = lib.dstack((v0, v0), out=lib.zeros(0).long())
        v2 = lib.column_stack((v0, v0), out=lib.zeros(0).long())
        v2 = lib.row_stack((v0, v0), out=lib.zeros(0).long())
        v2 = lib.concat((v0, v0), out=lib.zeros(0).long())
        v2 = lib.cat((v0, v0), out=lib.zeros(0).double())
    """,
    "an out= of another dtype": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, 2)
        v3 = lib.matmul(v0[0],v1,out=lib.ones(2,dtype=lib.float64))
        v3 = lib.matmul(v0,v1[:,0],out=lib.ones(2,dtype=lib.float64))
        v3 = lib.matmul(v0[0],v1[:,0],out=lib.ones((),dtype=lib.float64))
        v3 = lib.matmul(v0,v1,out=lib.ones(2,2,dtype=lib.float64))
        v3 = lib.matmul(v0[None],v1,out=lib.ones(1,2,2,dtype=lib.float64))
        v3 = lib.matmul(v0[None],v1[None],out=lib.ones(1,2,2,dtype=lib.float64))
        v3 = lib.matmul(v0[0],v1[None],out=lib.ones(1,2,dtype=lib.float64))
        v3 = lib.matmul(v0[None],v1[:,0],out=lib.ones(1,2,dtype=lib.float64))
        v3 = lib.mm(v0,v0,out=lib.ones(2,2,dtype=lib.float64))
        v3 = lib.sort(v0,7,out=(v0.double(),v0.long()))
        v3 = lib.max(v0,1,out=(lib.ones(2).double(),lib.ones(2)))
        v3 = lib.max(v0,v0,out=v0.double())
        v3 = lib.amax(v0,1,out=lib.ones(2).double())
        v3 = lib.median(v0,1,out=(lib.ones(2),lib.ones(2)))
        v3 = lib.kthvalue(v0,1,out=(lib.ones(2).double(),lib.ones(2)))
        v3 = lib.cummax(v0,1,out=(lib.ones(2).double(),lib.ones(2)))
        v3 = lib.topk(v0,1,out=(lib.ones(2).double(),lib.ones(2)))
        v3 = lib.softmax(v0,1,out=v0.double())
        v3 = lib.softmax(v0,1,dtype=lib.float64,out=v0)
        v3 = lib.softmax(v0,1,dtype=lib.float64,out=v0.double())
        v3 = lib.all(v0,out=lib.ones(()))
        v3 = lib.all(v0,out=lib.ones(()).to(lib.uint8))
        v3 = lib.all(v0.to(lib.uint8),1,out=lib.ones(2)>0)
        v3 = lib.any(v0,1,out=lib.ones(2))
        v3 = lib.scatter(v0,0,lib.tensor([[0]]),v0,out=v0.double())
        v3 = lib.scatter(v0,7,lib.tensor([[0]]),v0,out=v0.double())
        v3 = lib.index_add(v0,0,lib.tensor([0,1]),v0,out=v0.double())
        v3 = lib.index_copy(v0,0,lib.tensor([0,1]),v0,out=v0.double())
        v3 = lib.cross(lib.ones(3),lib.ones(3),out=lib.ones(3).double())
        v3 = lib.linalg.cross(lib.ones(3),lib.ones(3),out=lib.ones(3).double())
        v3 = lib.nan_to_num(v0,out=v0.double())
        v3 = lib.addmv(lib.ones(2),v0,lib.ones(3),out=lib.ones(2).double())
        v3 = lib.addbmm(lib.ones(1,1),lib.ones(1,1,1),lib.ones(1,1,1),out=lib.ones(1,1).double())
        v3 = lib.dot(v0[0],v0[0],out=lib.ones(()).double())
        v3 = lib.scatter_reduce(v0,0,lib.tensor([[0]]),v0,'sum',out=v0.double())
        v3 = lib.median(v0, 1, out=(lib.ones(2).double(), lib.ones(2).long()))
        v3 = lib.sort(v0, out=(v0.double(), v0.long()))
    """,
    "losses of float16 numbers are rounded after each step": """
        v0 = lib.tensor([0.3, -1.7, 2.25, 8.1], dtype=lib.float16, requires_grad=True)
        v1 = lib.tensor([0.71, 3.3, 2.0, -0.9], dtype=lib.float16)
        v2 = lib.nn.functional.mse_loss(v0, v1, reduction="none")
        v3 = lib.nn.functional.mse_loss(v0, v1); v4 = lib.nn.functional.mse_loss(v0[0], v1[0])
        v3.backward()
        v5 = lib.nn.functional.smooth_l1_loss(v0, v1, reduction="none", beta=0.7)
        v6 = lib.nn.functional.smooth_l1_loss(v0[0], v1[0], beta=0.7)
        v7 = lib.nn.functional.huber_loss(v0, v1, delta=0.7)
        v8 = lib.xlogy(v0, v1.abs())
    """,
    "float16 numbers times alpha, and roots, are rounded where PyTorch rounds them": """
        v0 = (lib.arange(41.0) * 0.37).sin().half(); v1 = (lib.arange(41.0) * 1.7).cos().half()
        v2 = v0.add(v1, alpha=1.5).view(lib.int16); v3 = v0.sub(v1, alpha=-1.3).view(lib.int16)
        v4 = v0[:9].add(v1[:9], alpha=3.7).view(lib.int16); v5 = (v0 - 0.1 * v1).view(lib.int16)
        v6 = v0[:32].add(v1[:32], alpha=0.1).view(lib.int16); v7 = v0.abs()
        v8 = v7.rsqrt().view(lib.int16); v9 = v7[:9].rsqrt().view(lib.int16)
    """,
    "complex angles are refused before out= is looked at": """
        v0 = lib.ones(2, dtype=lib.complex64); v1 = lib.ones(2)
        v2 = lib.deg2rad(v0, out=v1)
        v2 = lib.rad2deg(v0, out=v1)
        v2 = v0.deg2rad_()
        v2 = v0.rad2deg()
    """,
    "the factors of a sum of products": """
        v0 = lib.full((2, 2), 3, dtype=lib.uint8); v1 = lib.ones(2, 2, dtype=lib.float16)
        v2 = lib.addmm(v0, v0, v0, beta=0.5, alpha=-2); v2 = lib.addmm(v0, v0, v0, alpha=300)
        v2 = lib.addmm(v0, v0, v0, alpha=1j); v2 = lib.addmm(v0, v0, v0, beta=2.5, alpha=1.5)
        v2 = lib.addmm(v1, v1, v1, alpha=1e9); v2 = lib.addmm(v1, v1, v1, alpha=1j)
        v2 = lib.addmv(v0[0], v0, v0[0], alpha=-2); v2 = lib.addbmm(v0, v0[None], v0[None], beta=-2)
        v0.addmm_(v0[:, :0], v0[:0], beta=-1)
    """,
    "the inner product of bools is a sum where a vector is no row": """
        v0 = lib.tensor([True, False, True, False]); v1 = lib.inner(v0[::2], v0[:2])
        v1 = lib.inner(v0[1::2], v0[:2]); v1 = lib.inner(v0[:2], v0[:2])
        v1 = lib.inner(v0[:1].expand(2), v0[:1].expand(2)); v1 = lib.tensordot(v0[::2], v0[::2], 1)
        v1 = lib.inner(v0.view(2, 2)[:, :1].t(), v0[::2]); v1 = lib.inner(v0.view(2, 2), v0[:2])
        v1 = lib.inner(lib.tensor([1, 2, 3, 4])[::2], lib.tensor([5, 6]))
    """,
    "kernels of few dtypes name themselves": """
        v0 = lib.ones(5, 10, 10, dtype=lib.bool); v1 = lib.ones(5, 2, 2, dtype=lib.bool)
        v2 = lib.bmm(v0, v0)
        v2 = lib.bmm(v1, v1)
        v2 = lib.baddbmm(v0, v0, v0)
        v2 = lib.nn.functional.pad(v1, [0, 1], "reflect")
        v2 = lib.nn.functional.pad(v1, [0, 1, 1, 0], "replicate")
        v2 = lib.nn.functional.conv1d(v1, v1, dilation=2)
        v2 = lib.nn.functional.conv1d(v1.int(), v1.int(), dilation=2)
        v3 = lib.zeros(1, dtype=lib.int64); v4 = lib.zeros(1, dtype=lib.bool)
        v2 = v1[0, 0].scatter_reduce(0, v3, v4, "mean")
        v5 = lib.ones(2, dtype=lib.complex64)
        v2 = lib.unique(v5, dim=0)
        v2 = lib.unique_consecutive(v5, dim=0)
        v2 = lib.unique_consecutive(v5.view(1, 2), dim=0)
        v2 = lib.histc(v5)
        v2 = lib.histc(v5, min=-1, max=1)
        v2 = lib.histc(v5, min=1, max=-1)
        v2 = lib.round(v3, decimals=0)
        v2 = lib.round(v3)
        v2 = lib.linalg.norm(v1[0].int(), "fro")
        v2 = lib.linalg.norm(v1[0].int(), 3)
        v2 = lib.linalg.norm(v5, 1j)
        v2 = lib.nn.functional.max_pool1d(v0.long(), 3, return_indices=True)
        v2 = lib.nn.functional.max_pool1d(v0.long(), 3)
        v2 = lib.nn.functional.adaptive_avg_pool1d(v0[:0].long(), 3)
        v2 = v0.view(1, 5, 10, 10).to(memory_format=lib.channels_last)
        v3 = lib.nn.functional.max_pool2d(v2, 2)
    """,
    "halves are divided by numbers in single precision, and quotients cut off as halves": """
        v0 = (lib.arange(64.0) * 1.37).sin().mul(20).half(); v1 = (lib.arange(64.0) * 0.7 + 1).cos()
        v2 = v0.div(1.7, rounding_mode=None); v3 = v0.clone().div_(v1[3], rounding_mode=None)
        v4 = v0.div(v1.mul(0.01).half(), rounding_mode="trunc")
        v5 = v0.div(0.03, rounding_mode="trunc")
        v6 = v0[:9].div(v1[:1].half() / 128, rounding_mode="trunc")
        v7 = v0.div(v1, rounding_mode=None)
        v8 = lib.div(lib.tensor(1.7), v0 + 3, rounding_mode=None)
        v9 = v0.div(v0 + 9, rounding_mode=None)
    """,
    "float16 numbers scattered to one place are rounded once": """
        v0 = lib.tensor([1.75, -1.06, -0.09], dtype=lib.float16); v1 = lib.zeros(3, dtype=lib.int64)
        v2 = v0.scatter_reduce(0, v1, v0, "sum").view(lib.int16)
        v3 = v0.scatter_add(0, v1, v0).view(lib.int16)
        v4 = v0.scatter_reduce(0, v1, v0, "prod").view(lib.int16)
        v5 = v0.scatter_reduce(0, v1, v0, "mean", include_self=False).view(lib.int16)
        v6 = v0.scatter(0, v1, 1.37, reduce="multiply").view(lib.int16)
        v7 = v0.expand(3, 3).t().clone().scatter_add_(1, v1.expand(3, 3), v0.expand(3, 3))
        v8 = v7.view(lib.int16)
    """,
    "sums of float16 products are rounded once, factors must fit": """
        v0 = lib.linspace(-2, 3, 24).half(); v1 = v0.view(2, 3, 4); v2 = v0.flip(0).view(2, 4, 3)
        v3 = v0[:9].view(3, 3)
        v4 = lib.addmm(v3, v1[0], v2[0], beta=0.7, alpha=0.3).view(lib.int16)
        v5 = lib.addmm(v3, v1[0], v2[0], alpha=70000).view(lib.int16)
        v6 = lib.addbmm(v3, v1, v2, beta=0.7, alpha=0.3).view(lib.int16)
        v7 = lib.baddbmm(v3, v1, v2, beta=0.7, alpha=0.3).view(lib.int16)
        v8 = lib.addmv(v3[0], v1[0], v1[0, 0], beta=0.7, alpha=0.3).view(lib.int16)
        v9 = lib.addr(v3, v0[:3], v0[3:6], beta=0.7, alpha=0.3).view(lib.int16)
        v10 = lib.addmm(v3, v1[0], v2[0], beta=1e39)
        v10 = lib.addmv(v3[0], v1[0], v1[0, 0], alpha=70000)
        v10 = lib.addr(v3, v0[:3], v0[3:6], alpha=70000)
        v10 = lib.addmm(v3.float(), v1[0].float(), v2[0].float(), alpha=1e39)
        v10 = lib.addmv(v3[0].float(), v1[0].float(), v1[0, 0].float(), beta=1e39)
        v10 = lib.baddbmm(v3.float(), v1.float(), v2.float(), beta=1e39)
        v10 = lib.addmm(v3, v1[0, :, :0], v2[0, :0], beta=1e39)
        v10 = lib.addbmm(v3.long(), v1[:0].long(), v2[:0].long(), beta=0.5)
        v10 = lib.addbmm(v3, v1[:0], v2[:0], beta=0.7).view(lib.int16)
    """,
    "float16 quotients rounded down round each step by many divisors": """
        v0 = lib.tensor([4.17, 16.8, 54.84, -1093, 143.9, -2280, 5]).half()
        v1 = lib.tensor([-0.0024, -0.0117, -0.0044, 0.28, -0.038, 0.828, 0]).half()
        v2 = lib.floor_divide(v0, v1); v3 = lib.div(v0, v1, rounding_mode="floor")
        v4 = v0 // 0.0117; v5 = 66.8 // v1; v6 = v0 // v1[0]; v7 = v0.clone().floor_divide_(v1)
    """,
    "index_add of float16 along an outer dimension is rounded once": """
        v0 = lib.linspace(-2, 3, 60).half(); v1 = v0.view(3, 4, 5); v2 = lib.tensor([0, 1, 1, 1, 0])
        v3 = v0.flip(0).view(3, 4, 5)
        v4 = v1.index_add(0, v2[:3], v3).view(lib.int16)
        v5 = v1.index_add(1, v2[:4], v3).view(lib.int16)
        v6 = v1.index_add(2, v2, v3).view(lib.int16)
        v7 = v1.index_add(2, v2, v3, alpha=0.3).view(lib.int16)
        v8 = v0[:5].index_add(0, v2, v0[5:10]).view(lib.int16)
        v9 = v1[0].t().index_add(0, v2, v3[0].t()).view(lib.int16)
    """,
    "out= of tests, counts and picks is of another dtype than the result's": """
        v0 = lib.tensor([1.0, -2.0], dtype=lib.float64); v1 = lib.zeros(2)
        lib.isposinf(v0, out=v1)
        lib.isneginf(v0, out=lib.zeros(2, dtype=lib.int64))
        lib.signbit(v0, out=v1)
        lib.signbit(v0, out=lib.zeros(2, dtype=lib.bool))
        lib.hardshrink(v0, out=v1)
        lib.histc(v0, 2, out=v1)
        v2 = lib.take_along_dim(v0, lib.tensor([1], dtype=lib.int32))
        lib.take_along_dim(v0, v1)
        lib.take_along_dim(v0, lib.tensor([1], dtype=lib.int32), 0)
    """,
}
