"""Writes: in place, by assignment, to what overlaps, into out=; versions."""

PROGRAMS = {
    "out= that is resized, in row order": """
        v0 = lib.rand(2, 3, 4, 5).contiguous(memory_format=lib.channels_last)
        v1 = lib.rand(3, 4).t()
        v2 = lib.empty(0); lib.stack([v0, v0], out=v2)
        v3 = lib.empty(0); lib.stack([v0, v0], 1, out=v3)
        v4 = lib.empty(0); lib.stack([v1, v1], out=v4)
        v5 = lib.empty(0); lib.stack([v0, v0], -1, out=v5)
        v6 = lib.empty(0); lib.abs(v1 + 1j, out=v6)
        v7 = lib.empty(0, dtype=lib.complex64); lib.abs(v1 + 1j, out=v7)
        v8 = lib.empty(0); lib.abs(v1, out=v8)
        v9 = lib.empty(0, dtype=lib.int64); lib.nan_to_num(v1.long(), out=v9)
        v10 = lib.empty(0); lib.nan_to_num(v1, out=v10)
    """,
    "out= of another dtype: conj_physical, nanmean": """
        v0 = lib.rand(3, 4).t(); v1 = v0 + 1j; v2 = lib.ones(3).long()
        lib.conj_physical(v1, out=lib.empty(0, dtype=lib.complex128))
        lib.conj_physical(v1, out=lib.empty(0))
        lib.conj_physical(v0, out=lib.empty(0, dtype=lib.complex64))
        lib.conj_physical(v2, out=lib.empty(0))
        lib.nanmean(v2, out=lib.empty(0))
        lib.nanmean(v2, 0, dtype=lib.float32, out=lib.empty(0))
        lib.nanmean(v2, 0, dtype=lib.int64, out=lib.empty(0, dtype=lib.int64))
    """,
    "out= of var and std computes in its dtype": """
        v0 = lib.arange(12.0).view(4, 3).sin(); v1 = v0 + 1j * v0.cos(); v2 = lib.empty(0).double()
        lib.var(v0, 1, out=v2)
        lib.std(v0, 1, correction=0, out=v2)
        lib.var(v1, 1, out=v2)
        v3 = lib.empty(0, dtype=lib.complex128); lib.std(v1, (0,), out=v3)
        v4 = lib.empty(0); lib.var(v1, 0, out=v4)
        v5 = lib.zeros(()).double(); lib.std(v0, (0, 1), out=v5)
        lib.std(v0.half(), (0, 1), out=v5)
        lib.std(v0, 0, out=lib.empty(0, dtype=lib.complex64))
        lib.std(v0, (0, 1), out=lib.zeros((), dtype=lib.complex64))
        lib.std(v0, 0, out=lib.empty(0, dtype=lib.int64))
        v6 = lib.var_mean(v1, 0); v7 = lib.std_mean(v1)
    """,
    "out= that shares memory: gather's index, threshold's input": """
        v0 = lib.tensor([[5, 6], [7, 8]]); v1 = lib.tensor([[0, 1], [1, 0]]); v2 = lib.arange(6.0)
        lib.gather(v0, 0, v1, out=v1)
        lib.gather(v0, 0, v1 % 2, out=v0)
        lib.gather(v0, 0, v1[:1] % 2, out=v0[1:])
        v1 %= 2
        lib.gather(v0, 0, v1, out=v1.t())
        lib.take_along_dim(v0, v1, 1, out=v1)
        lib.threshold(v2[1:], 2, 9, out=v2[:5])
        lib.threshold(v2, 2, 9, out=v2)
    """,
    "in-place quotients of integers": """
        v0 = lib.ones(3).bool(); v1 = lib.ones(3).int()
        v0.div_(v1, rounding_mode=None)
        v0.div_(2, rounding_mode=None)
        v0.divide_(v1, rounding_mode="floor")
        v1.div_(v1, rounding_mode=None)
        v1.div_(lib.ones(2), rounding_mode=None)
        v1.div_(2.0, rounding_mode=None)
    """,
    "out= of float_power, hardshrink and conj_physical": """
        v0 = lib.tensor([1.0, 0.2]); v1 = lib.zeros(2, dtype=lib.float64); v2 = lib.zeros(2)
        lib.float_power(v0, 2, out=v1)
        lib.float_power(v0, 2, out=v2)
        lib.float_power(2, v0, out=v1)
        lib.hardshrink(v0, out=v2)
        lib.conj_physical(v0, out=v2)
        v3 = lib.zeros(2, dtype=lib.complex64)
        lib.conj_physical(lib.tensor([1 + 2j, 0j]), out=v3)
        v1.float_power_(3)
        v2.float_power_(3)
        v1.float_power_(1j)
    """,
    "a power with a modulus, and an element taken out": """
        v0 = lib.tensor([2, 3])
        v1 = pow(v0, 2, 5)
        v1 = pow(2, v0, 5)
        v0.__delitem__(0)
    """,
    # ---- in place ----
    "in-place on leaves and views of leaves": """
        v0 = lib.ones(2, 3, requires_grad=True)
        v0.add_(1)
        v0[0].add_(1)
        v1 = v0.view(-1)
        v1.zero_()
        v0.detach().add_(1)
        v0.data.add_(1)
        with lib.no_grad():
            v0.add_(1)
            v0[0].add_(1)
        v2 = v0.detach()
        v2.mul_(2)
    """,
    "in-place on expanded and overlapping memory": """
        v0 = lib.ones(3); v1 = v0.expand(2, 3); v2 = v0.as_strided((2, 2), (1, 1))
        v1.add_(1)
        v2.add_(1)
        v1[0].add_(1)
        v0[1:].copy_(v0[:-1])
        v0[1:].add_(v0[:-1])
        v1.copy_(v0)
        v1.zero_()
    """,
    "in-place that would change dtype or shape": """
        v0 = lib.ones(3); v1 = lib.tensor([1, 2, 3]); v2 = lib.ones(2, 3)
        v1.add_(v0)
        v1.mul_(1.5)
        v0.add_(v2)
        v0.add_(v1)
        v1.div_(2)
        v0 += v2
        v1 //= 2
    """,
    "metadata in-place": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = v1[0]
        v1.t_()
        v1.unsqueeze_(0)
        v1.squeeze_()
        v2.unsqueeze_(0)
        v1.transpose_(0, 1)
        v1.sum().backward()
        v0.t_()
    """,
    "assignment": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1; v2 = lib.ones(3, requires_grad=True)
        v1[0] = v2
        v1[:, 1] = 7
        v1[v1 > 5] = 0
        v1[[0, 1], [0, 1]] = v2[:2]
        v1[...] = v1 * 2
        (v1 * v1).sum().backward()
        v0[0] = 1
    """,
    "copy_ across dtypes": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.zeros(3, dtype=lib.float64)
        v1.copy_(v0)
        v2 = (v1 * v1).sum()
        v2.backward()
        v3 = lib.zeros(3, dtype=lib.int64)
        v3.copy_(lib.tensor([1.5, 2.5, -1.5]))
    """,
    "x[:] = v writes to x, not to a view of it": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0.flatten()
            v0.add_(1)
        v1[:] = v1
        v1[0:3] = 1
        v2 = lib.ones(3)
        v2[:] = v2
        v2[0:] = 5
    """,
    "writes of a tensor onto itself, whole and in part": """
        v0 = lib.ones(2, 1); v1 = v0[1:2]; v2 = lib.ones(3); v3 = lib.ones(0); v4 = lib.ones(1)
        v1[:, 0] = v1
        v0.copy_(v0)
        v2[[0, 1, 2]] = v2
        v3[[0, 1]] = v3
        v2.copy_(v2.flip(0))
        v2[1:].copy_(v2[:-1])
        v2.expand(2, 3)[..., 0] = v2.expand(2, 3)[..., 0]
        v4.add_(v4[0])
        v4[:, None] = v4
        v2.masked_scatter_(v2 > 0, v2)
    """,
    "which of two mistakes is named: overlap, shape, dtype": """
        v0 = lib.ones(1, 3).expand(2, 3); v1 = lib.ones(2, 2); v2 = lib.ones(2, 1, dtype=lib.int32)
        v3 = lib.ones(2, 3)
        v0.add_(v1)
        v0.lerp_(v3, 0.5)
        v0.addcmul_(v1, v1)
        v2.add_(v3, alpha=2)
        v2.add_(v3)
        v0.copy_(1.5)
        v0.bool().expand(2, 2, 3).sub_(lib.tensor(0))
    """,
    "rounded to decimals into out= of another dtype": """
        v0 = lib.ones(3); v1 = lib.zeros(3, dtype=lib.float64); v2 = lib.zeros(3).long()
        lib.round(v0, decimals=1, out=v1)
        lib.round(v0, decimals=1, out=v2)
        lib.round(v0, decimals=1, out=lib.zeros(3))
        lib.round(v0, out=v1)
        v0.round_(decimals=1)
    """,
    "norms into out= of another dtype": """
        v0 = lib.ones(3, 4); v1 = lib.zeros(3, dtype=lib.float64); v2 = lib.zeros(3).long()
        lib.norm(v0, 2, 1, out=v1)
        lib.norm(v0, "fro", 1, out=v2)
        lib.linalg.vector_norm(v0, 2, 1, out=v2)
        lib.linalg.vector_norm(v0, 2, 1, dtype=lib.float64, out=v1)
        lib.norm(v0, 2, 1, dtype=lib.float64, out=v1)
    """,
    "writes at indices: shared memory is named before a bad index": """
        v0 = lib.arange(6.); v1 = lib.tensor([9, 0]); v2 = lib.arange(6) + 5
        v3 = lib.zeros(0).long()
        v0.scatter_(0, v1, v0[:2])
        v0.scatter_add_(0, v1, v0[:2])
        v0.scatter_(0, v3, v0[:2])
        v0.scatter_reduce_(0, v1, v0[:2], "sum", include_self=False)
        v0.index_add_(0, v1, v0[:2])
        v0.put_(v1, v0[:2])
        v2.put_(v2, v2 + 1)
        v2.index_fill_(0, v2[:2], 3)
        v2[:1].expand(4).scatter_(0, v1, 1)
        v2[:1].expand(4).put_(v1, v1)
    """,
    "out= over the arguments' memory: other mistakes come first": """
        v0 = lib.arange(12.).view(3, 4); v1 = lib.zeros(3, 4, dtype=lib.int64)
        lib.stack([v0[0], v0[0, :3]], out=v0)
        lib.cat([v0, v0], 9, out=v0)
        lib.hstack([v0[:1], v0[1:]], out=v0)
        lib.topk(v0, 99, out=(v0, v1))
        lib.kthvalue(v0, 1, 9, out=(v0, v1))
        lib.index_select(v0, 9, v1[0], out=v0)
        lib.index_select(v0, 0, v1[0, :1] + 9, out=v0[:1])
        lib.scatter(v0, 0, v1[0, :1], v0, out=v0)
    """,
    "out= over the arguments' memory, in another shape, is first given the right one": """
        v0 = lib.arange(12.).view(3, 4).flip(1); v1 = lib.zeros(3, 4, dtype=lib.int64)
        v2 = v0.view(-1)
        lib.sort(v0, out=(v2, v1))
        v3 = v0.view(-1)
        lib.cumsum(v0, 1, out=v3)
        v4 = v0.view(-1)[:8]
        lib.msort(v0, out=v4)
    """,
    "integers filled with what requires grad": """
        v0 = lib.tensor(0.5, requires_grad=True); v1 = lib.ones(2, 3, dtype=lib.int32)
        v2 = lib.ones(2, dtype=lib.int64)
        v1[:, 0] = v0
        v2.copy_(v0)
    """,
    "every fourth element negated in place": """
        v0 = lib.arange(12, dtype=lib.float32); v1 = lib.arange(12, dtype=lib.int32)
        v0[1::4].neg_()
        v1[1::4].neg_()
        lib.neg(v0.view(3, 4).diagonal(), out=v0.view(3, 4).diagonal())
    """,
    "set_ of another dtype is refused before a view of a leaf": """
        v0 = lib.ones(2, requires_grad=True)
        v1 = v0.view(-1)
        v1.set_(lib.ones(2).long())
    """,
    "bits of a leaf that requires grad: the write is refused before the dtype": """
        v0 = lib.ones(2, requires_grad=True)
        v0 &= v0
        with lib.no_grad():
            v1 = v0.view(-1)
        v1.bitwise_and_(v1)
    """,
    "running sums of bools in place": """
        v0 = lib.tensor(True); v1 = lib.tensor([True]); v2 = lib.tensor([], dtype=lib.bool)
        v0.cumsum_(0)
        v1.cumsum_(0)
        v2.cumprod_(0)
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
    "copies of what requires grad into views of integers are not looked at": """
        v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, dtype=lib.bool)
        *_, v2 = v1.split(1)
        v2.copy_(v0[:1])
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
    # ---- what bumps; geometry and memory ----
    "what bumps, and by how much": """
        v0 = lib.ones(2, 3); v1 = v0[0]; v2 = v0.detach()
        v0.add_(1); v0.mul_(2)
        v1.zero_()
        v2.fill_(3)
        v0[0] = 1
        v0[:, 1] = lib.ones(2)
        v0.copy_(v0)
        lib.add(v1, v1, out=v1)
        v0.t_()
        v0.requires_grad_()
        v0.data.add_(1)
        v0.clamp_(0, 1)
        with lib.inference_mode():
            v0.add_(1)
    """,
    "resize_ and set_": """
        v0 = lib.ones(2, 3); v1 = lib.zeros(4)
        v0.resize_(3, 2)
        v0.resize_(2)
        v1.set_(v0)
        v0.add_(1)
        v2 = lib.ones(2, requires_grad=True)
        v2.resize_(3)
    """,
    "resize_ to the shape that it has is no write": """
        v0 = lib.ones(2, 3)
        v0.resize_(2, 3)
        v0.resize_(3, 2)
        v0.resize_(1)
    """,
    "set_ of what is recorded": """
        v0 = lib.ones(3, requires_grad=True); v1 = v0 * 2
        v1.set_(lib.zeros(2))
        v0.set_(lib.zeros(2))
        v1.sum().backward()
    """,
    "memory that grows keeps what was in it": """
        v0 = lib.tensor([1.0, 2.0, 3.0])[1:]
        v0.resize_(3)[2:].fill_(5)
        v1 = v0.as_strided((4,), (1,), 0)
    """,
    # ---- out= ----
    "out= that is an operand keeps its shape": """
        v0 = lib.ones(2, 1); v1 = lib.ones(2, 2)
        lib.mul(v0, v1, out=v0)
        lib.mul(v1, v1, out=v0)
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
    "what matmul and logsumexp say of out=": """
        v0 = lib.tensor(1.5, requires_grad=True); v1 = lib.ones(2, requires_grad=True)
        lib.matmul(v0, v0, out=lib.empty(0))
        lib.matmul(v1, v1, out=lib.empty(0))
        lib.logsumexp(v1.detach(), 0, out=lib.empty(0).long())
        lib.logsumexp(v1, 0, out=lib.empty(0).long())
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
    "an out= of another dtype that grows is laid out as the operands": """
        v0 = lib.ones(2, 3).half().mT
        v1 = lib.sub(v0, v0, out=lib.empty(2, 1, 3))
        v2 = lib.sin(v0.float(), out=lib.empty(0).double())
    """,
    "matmul into out= is folded by what lies in memory alone": """
        v0 = lib.ones(2, 1, 3); v1 = lib.ones(2, 3, requires_grad=True)
        with lib.no_grad():
            v2 = lib.matmul(v1, v0, out=lib.empty(0))
            v3 = lib.matmul(v1, v0.mT, out=lib.empty(0))
    """,
    "numbers before what they multiply, the older form": """
        v0 = lib.ones(2, 2, requires_grad=True); v1 = v0 * 1; v2 = lib.ones(2)
        v3 = v0.add(2, v0); v4 = lib.sub(v0, 0.5, v1); v5 = lib.addmm(2, v0, 3, v0, v1)
        v6 = v0.addmm(2, v0, v1); v7 = lib.addcmul(v0, 2, v0, v0); v8 = lib.addr(0, v0, v2, v2)
        v1.add_(2, v0); v1.addcdiv_(0.5, v0, v0); v1.addmv_(1, v0)
        v1.add_(v0, 2); v1.add_("a", v0); v1.add_(); v1.addmm_(v0); v1.addr_(1, 2, v2)
        v9 = lib.add(v0.detach(), 2, v0.detach(), out=lib.zeros(2, 2))
    """,
    "the first sentence of a call that no overload takes": """
        v0 = lib.ones(2)
        v0.clamp_(min="a"); v0.clamp_(1, "a"); v0.clamp_("a", max=1); lib.clamp(v0, min=[1])
        v0.clamp_(lib.ones(2), 1); lib.add(v0); lib.addr(v0)
    """,
    "what is not looked at for out=": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.tensor([1.0, 0, 2])
        lib.logical_not(v1, out=v0)
        lib.logical_and(v0, v1, out=v0)
        lib.logical_or(v1, v1, out=v0)
        lib.logical_xor(v1, v1, out=v0)
        lib.histc(v1, 3, out=v0)
        lib.eq(v1, v1, out=v0)
        lib.bitwise_not(v1.long(), out=v0)
        lib.bitwise_and(v1.long(), v1.long(), out=v0)
        lib.floor_divide(v1, v1, out=v0)
    """,
    "a write to a leaf that requires grad, of the wrong dtype": """
        v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        v0.bitwise_not_()
        v1 = lib.ones(2, requires_grad=True)
        v1.bitwise_not_()
        v1.bitwise_and_(1)
        v1.detach().bitwise_not_()
    """,
    "out= of what requires grad is refused by the operator that writes it": """
        v0 = lib.ones(3, 3, requires_grad=True); v1 = v0[0]; v2 = lib.ones(3, 3)
        v3 = lib.square(v0, out=lib.empty(3, 3)); v3 = lib.square(v2, out=v0)
        v3 = lib.outer(v1, v1, out=lib.empty(3, 3)); v3 = lib.ger(v1, v1, out=lib.empty(3, 3))
        v3 = lib.kron(v1, v1, out=lib.empty(9)); v3 = lib.cross(v0, v2, 1, out=lib.empty(3, 3))
        v3 = lib.norm(v0, out=lib.empty(())); v3 = lib.nanmean(v0, out=lib.empty(()))
        v3 = lib.max(v0, v2, out=lib.empty(3, 3)); v3 = lib.min(v2, v0, out=lib.empty(3, 3))
        v3 = lib.hstack([v0, v2], out=lib.empty(0)); v3 = lib.vstack([v2, v2], out=v0)
        v3 = lib.dstack([v0, v2], out=lib.empty(0)); v3 = lib.row_stack([v0], out=lib.empty(0))
        v3 = lib.column_stack([v0, v1], out=lib.empty(0)); v3 = lib.diff(v0, out=lib.empty(0))
        v3 = lib.msort(v0, out=lib.empty(3, 3))
        v3 = lib.take_along_dim(v0, v2.long(), 0, out=lib.empty(3, 3))
        v3 = lib.linalg.multi_dot([v0, v2], out=lib.empty(3, 3))
        v3 = lib.chain_matmul(v0, v2, out=v0)
    """,
    "an out= that shares memory with what is read": """
        v0 = lib.arange(12.0); v1 = v0[:6].view(2, 3); v2 = v0[1:7].view(2, 3); v3 = v0[:3]
        v5 = lib.tensor([0, 1, 2])
        lib.cat([v1, v1], out=v0.view(4, 3))
        lib.cat([v1], out=v1)
        lib.stack([v3, v3], out=v1)
        lib.hstack([v3, v3], out=v0[2:8])
        lib.cumsum(v1, 0, out=v1)
        lib.cumsum(v1, 0, out=v2)
        lib.sort(v1, out=(v2, lib.zeros(2, 3, dtype=lib.int64)))
        lib.sort(v1, out=(v1, lib.zeros(2, 3, dtype=lib.int64)))
        lib.topk(v1, 2, out=(v0[:4].view(2, 2), lib.zeros(2, 2, dtype=lib.int64)))
        lib.max(v1, 0, out=(v0[:3], lib.zeros(3, dtype=lib.int64)))
        lib.kthvalue(v1, 1, 0, out=(v0[:3], lib.zeros(3, dtype=lib.int64)))
        lib.cross(v1, v1, out=v1)
        lib.outer(v3, v3, out=v0[:9].view(3, 3))
        lib.addmm(v1, v1 * 1, lib.ones(3, 3), out=v2)
        lib.addmm(v1, v1 * 1, lib.ones(3, 3), out=v1)
        lib.addmm(v3, v1 * 1, lib.ones(3, 3), out=v1)
        lib.scatter(v1, 0, v5.view(1, 3) * 0, v1[:1], out=v1)
        lib.scatter_add(v1, 0, v5.view(1, 3) * 0, lib.ones(1, 3), out=v1)
        lib.scatter_add(v1, 0, v5.view(1, 3) * 0, lib.ones(1, 3), out=v2)
        lib.gather(v1, 0, v5.view(1, 3) * 0, out=v0[:3].view(1, 3))
        lib.index_copy(v5, 0, v5[:1], v5[:1], out=v5)
        lib.max(v1, v1 * 1, out=v2)
    """,
    "windows that overlap are written to one after the other": """
        v0 = lib.tensor([[0.5, -1.0, 2.0, 3.0]]); v1 = v0.half(); v2 = v0.double()
        v0.unfold(1, 2, 1).mul_(0.5); v1.unfold(1, 2, 1).mul_(0.5); v2.unfold(1, 2, 1).mul_(0.5)
        v1.unfold(1, 3, 1).div_(3); v1.unfold(1, 2, 1).lerp_(lib.ones(2).half(), 0.25)
        v1.unfold(1, 2, 1).add_(lib.ones(2).half()); v1.unfold(0, 1, 1).mul_(v1)
    """,
    "a copy into overlapping windows goes along the memory of both": """
        v0 = lib.tensor([[0.16, 1.67], [-0.3, 0.73]]); v1 = lib.zeros(5); v2 = lib.zeros(5)
        v1.as_strided((2, 2), (1, 1)).copy_(v0.t()); v2.as_strided((2, 2), (1, 1)).copy_(v0)
        v3 = lib.rot90(v0); v3.as_strided((2, 2), (1, 1)).copy_(v3)
        v4 = lib.arange(12.0).view(2, 3, 2)
        v1.as_strided((2, 3, 2), (1, 1, 1)).copy_(v4.permute(0, 2, 1).reshape(2, 2, 3).mT)
        v2.as_strided((3, 2), (1, 1)).copy_(v0[0]); v2.as_strided((2, 3), (1, 1)).copy_(v0[:, :1])
    """,
    "what is expanded is named before shapes where alpha is given": """
        v0 = lib.zeros(()).expand(3, 3); v1 = lib.full((2, 2), 0)
        v0.sub_(v1, alpha=0.5)
        v0.add_(v1, alpha=0.5)
        v0.add_(v0.double(), alpha=2)
        lib.sub(lib.ones(3), v1, alpha=0.5, out=v0)
        lib.zeros(3, 3).sub_(v1, alpha=0.5)
    """,
    "the same elements lie otherwise in dimensions of size 1": """
        v0 = lib.tensor([[1.62, -1.52, 1.4]]); v1 = v0.narrow(1, -1, 1); v2 = v0.squeeze(0)
        v1.t().mul_(v1)
        v0.t().add_(v0.view(3, 1))
        v1.t().exp_()
        lib.exp(v1, out=v1.t())
        v0.t().add_(v0[0].view(3, 1), alpha=2)
        v1.detach().mul_(v1)
        v1.t().copy_(v1)
        lib.add(v0, v2, out=v0.view(1, 3))
        v0.add_(v2)
    """,
    "set_ to a storage, and to a part of one": """
        v0 = lib.arange(6.0); v1 = v0[2:4]; v2 = lib.ones(2); v3 = v2[:1]; v4 = lib.ones(2)
        v2.set_(v1.untyped_storage())
        v4.set_(v1.untyped_storage(), 1, (2,))
        v4.set_(v1.untyped_storage(), 1, (2, 2))
        v4.set_(v1.untyped_storage(), storage_offset=1, size=(2,), stride=(2,))
        v4.set_(v1, 1, (2,))
        v4.set_(v1, 0, (2,), (2,))
        v2.mul_(2)
        v4.set_(v0.view(2, 3).t(), 0, (2,), (1,))
        v4.set_(v0, 0, (2, 2), (1,))
        v4.set_(v0.to(lib.int8).untyped_storage())
        v4.set_(3)
        v5 = lib.ones(2, requires_grad=True)
        v5.set_(v0.untyped_storage())
        v4.set_(v5.untyped_storage())
        v6 = v4.untyped_storage() == v5.untyped_storage()
        v9 = v5 * 1; v10 = v9[:1]; v11 = v5 * 1
        v9.set_(v0.untyped_storage())
        v10.set_(v0, 0, (1,))
        v11.set_(v5, 0, (1,))
        v11.sum().backward()
        with lib.inference_mode():
            v7 = lib.ones(3); v8 = v7[1:]
            v7.set_(v8.untyped_storage(), 1, (2,))
            v4.set_(v0.untyped_storage())
    """,
    "a running sum in place keeps the dtype": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, dtype=lib.int32); v2 = v0 * 2
        v0.cumsum_(0, dtype=lib.float64)
        v0.cumsum_(0, dtype=lib.float32)
        v1.cumprod_(0)
        v1.cumprod_(0, dtype=lib.int64)
        v2.requires_grad_().mul(1).cumsum_(1, dtype=lib.float16)
        v0.cumsum_(5, dtype=lib.float64)
    """,
    "writes at indices refuse the written tensor itself, be it of windows": """
        v0 = lib.arange(6.0).view(2, 3)[:, 1:]; v1 = lib.tensor([1, 0])
        v2 = lib.zeros_like(v0).long()
        v0.index_copy_(0, v1, v0)
        v0.index_add_(0, v1, v0)
        v0.index_put_((v1,), v0)
        v0.scatter_(0, v2, v0)
        v0.scatter_add_(0, v2, v0)
        v3 = lib.ones(1, 2).expand(2, 2)
        v3.index_put_((v1,), v3)
        v3.index_copy_(0, v1, v3)
    """,
    "a copy into memory that is read meanwhile goes element by element": """
        v0 = lib.arange(12.0); v0.as_strided((3, 2), (1, 2)).copy_(v0[:6].view(3, 2))
        v0.as_strided((2, 2), (1, 1), 1).copy_(v0.as_strided((2, 2), (1, 1)))
        v0[5:9:2].copy_(v0[4:6]); v1 = lib.arange(12.0).view(3, 4); v1[:, 1:] = v1[:, :-1]
        v1[:2, :2].t().copy_(v1[:2, 1:3]); v1[:, 0] = v1[:, 2]; v1[1:] = v1[:-1]
        v2 = lib.arange(30.0)
        v2.as_strided((2, 3, 2), (2, 3, 3)).copy_(v2.as_strided((2, 3, 2), (2, 4, 1)))
        v2.as_strided((3, 2, 2), (4, 1, 2), 2).copy_(v2.as_strided((3, 2, 2), (2, 4, 3), 3))
        v2.as_strided((3, 3, 1), (2, 2, 0)).copy_(v2.as_strided((3, 3, 1), (1, 0, 4), 3))
        v2.as_strided((2, 2), (1, 1)).copy_(v2.double().as_strided((2, 2), (1, 1)))
    """,
    "a mask that overlaps what is filled": """
        v0 = lib.tensor([True, False, True, False, False]); v1 = v0.view(lib.uint8)[1:]
        v0[1:].masked_fill_(v0[:-1], True)
        v0[:-1].masked_fill_(v0[1:], True)
        v0[1:][v0[:-1]] = True
        v0[1:].index_put_((v0[:-1],), v0[0])
        v1.masked_fill_(v0[:-1], 1)
        v2 = v0[1:].masked_fill(v0[:-1], True)
        v0.masked_fill_(v0[0], True); v0[:2].masked_fill_(v0[2:4], False)
        v0.masked_fill_(v0, False)
    """,
    "whether windows have an element in common takes long to tell": """
        v0 = lib.arange(60000).remainder(100).to(lib.int8); size = (2,) * 10
        A = (2158, 2370, 1920, 1048, 2604, 2858, 1540, 872, 444, 1390)
        B = (2340, 376, 76, 830, 1354, 950, 1632, 1208, 202, 284)
        v1 = v0.as_strided(size, A); v2 = v0.as_strided(size, B, 2)
        v1.copy_(v2)
    """,
    "bernoulli draws into any dtype": """
        v0 = lib.tensor([0.0, 1.0, 1.0]); v1 = lib.zeros(3, dtype=lib.int64)
        lib.bernoulli(v0, out=v1); v2 = lib.zeros(1, dtype=lib.bool); lib.bernoulli(v0, out=v2)
        v3 = lib.zeros(3, 1, dtype=lib.float16); lib.bernoulli(v0, out=v3)
        lib.bernoulli(v0, out=v0); lib.bernoulli(v0, out=lib.zeros(3, dtype=lib.complex64))
        lib.bernoulli(v1, out=v0)
        lib.bernoulli(v0 * 2, out=v1); lib.bernoulli(v0, out=lib.zeros(1).expand(3))
        v4 = lib.ones(3, requires_grad=True); lib.bernoulli(v4, out=v1); lib.bernoulli(v0, out=v4)
    """,
    "out= of tests and histograms, of another dtype": """
        v0 = lib.tensor([1.0, -2.0, 0.5]); v1 = lib.empty(0, dtype=lib.bool)
        lib.signbit(v0, out=lib.empty(0)); lib.isposinf(v0, out=lib.empty(0))
        lib.isneginf(v0.long(), out=lib.empty(0).long())
        lib.signbit(v0, out=v1)
        lib.histc(v0, out=lib.empty(0).double())
        v2 = lib.empty(0); lib.histc(v0, 4, out=v2)
    """,
}
