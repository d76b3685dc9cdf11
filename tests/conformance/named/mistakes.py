"""Two mistakes in one call: the dtype, the shape, memory that overlaps; which one is named."""

PROGRAMS = {
    "a leaf whose rows are scaled": """
        v0 = lib.ones(3, 2, requires_grad=True)
        lib.embedding_renorm_(v0, lib.tensor([0]), 1.0, 2.0)
        v1 = lib.embedding_renorm_(v0.detach(), lib.tensor([0]), 1.0, 2.0)
    """,
    "a size of one, cut into nothing": """
        v0 = lib.ones(1, 2)
        v0.unflatten(0, [])
    """,
    "what is refused before memory is looked at": """
        v0 = lib.ones(2, dtype=lib.int64)[:1].expand(2); v1 = lib.ones(1, dtype=lib.bool).expand(2)
        v2 = lib.ones(1, dtype=lib.complex64).expand(2); v3 = lib.ones(2)
        v4 = lib.ones(1).expand(2)
        v0.pow_(-1); v1.pow_(-1); v0.pow_(2)
        v1.relu_(); v2.relu_(); v0.relu_()
        v1.neg_(); v2.abs_(); v2.sign_(); v2.floor_(); v2.ceil_(); v2.trunc_(); v2.round_()
        v0.clamp_(0.5); v1.clamp_(1); v1.clamp_(True); v2.clamp_(0); v4.clamp_(0)
        v0.clamp_min_(0.5); v1.clamp_max_(1); v2.clamp_min_(0)
        v0.addcdiv_(v0, v0); v4.addcdiv_(v0, v0); v4.addcdiv_(v3, v3)
        v0.div_(v0 * 0, rounding_mode="floor"); v1.div_(v1, rounding_mode="trunc")
        v2.div_(v2, rounding_mode="floor")
        lib.maximum(v2, lib.ones(3)); lib.nn.functional.hardtanh(v2, inplace=True)
    """,
    "what is refused after memory was looked at": """
        v0 = lib.ones(1, dtype=lib.bool).expand(2); v1 = lib.ones(1, dtype=lib.int64).expand(2)
        lib.nn.functional.celu(v0, inplace=True); lib.nn.functional.celu(v0, 0, inplace=True)
        lib.nn.functional.elu(v1, inplace=True); v1.lerp_(v1, 0.5); v0.lerp_(v1, 0.5)
        v1.scatter_(0, lib.tensor([0]), 2j); v0.scatter_(0, lib.tensor([0]), 2j)
    """,
    "a reduction of complex numbers into places names the dtypes of both first": """
        v0 = lib.ones(3, dtype=lib.complex64); v1 = lib.zeros(2, dtype=lib.int64)
        v0.scatter_reduce_(0, v1, lib.ones(2), "amax")
        v0.scatter_reduce_(0, lib.zeros(2), v0[:2] * 1, "amin")
        v0.scatter_reduce_(0, v1, v0[:2] * 1, "amin")
    """,
    "lerp by a tensor without dimensions": """
        v0 = lib.ones(2, dtype=lib.bool); v1 = lib.tensor(2); v2 = lib.ones(2); v3 = lib.tensor(0.5)
        v0.lerp_(v0, v1); v0.lerp_(v0, lib.tensor(True)); v0.lerp_(v0, v3)
        v4 = lib.lerp(v0, v0, v1); v4 = lib.lerp(v2, v2, v1); v4 = lib.lerp(v2, v2, v3.double())
        v2.lerp_(v2, v1)
        lib.lerp(v2, v2, v3, out=lib.zeros(2, dtype=lib.float64))
        lib.lerp(v2, v2, v3, out=lib.zeros(2, dtype=lib.int64))
        lib.lerp(v2, v2, v2, out=lib.zeros(2, dtype=lib.float64))
        lib.lerp(v3, v2, v1, out=v3); v3.lerp_(v2, v1); v2.lerp_(v0, v1)
        v5 = lib.addcmul(v1, lib.ones(2), lib.ones(2), out=v1)
    """,
    "a difference that bools are part of, of shapes that do not fit": """
        v0 = lib.ones(2, dtype=lib.bool); v1 = lib.ones(3); v2 = lib.rsub(v0, v1)
        v2 = lib.rsub(v1, v0); v2 = lib.rsub(lib.ones(2), v1)
    """,
    "memory that out= shares with what is picked from, before the index is looked at": """
        v0 = lib.arange(12.0).view(3, 4); v1 = lib.zeros(2, 5, dtype=lib.int64)
        v2 = lib.ones(3) > 0; lib.gather(v0, 0, v1, out=v0[:2].detach())
        lib.gather(v0, 5, v1, out=v0[:2].detach())
        lib.gather(v0, 0, lib.zeros(2), out=v0[:2].detach())
        lib.gather(v0, 0, v1[:, :4], out=v0[:2, :2].detach())
        lib.masked_select(v0, v2, out=v0.detach()); lib.masked_select(v0, v2, out=v0[0])
        lib.masked_select(v0, v2.long(), out=v0.detach())
        lib.index_copy(v0, 0, v1[0, :1], lib.ones(1, 5), out=v0[:2].detach())
    """,
    "an out= with gaps is judged as it will lie": """
        v0 = lib.arange(12.0).view(3, 4)
        lib.max(v0, 1, out=(v0[:, :1], lib.zeros(0, dtype=lib.int64)))
        lib.min(v0, 0, True, out=(v0[:, 0], lib.zeros(0, dtype=lib.int64)))
        lib.cumsum(v0, 1, out=v0[:, ::2])
        lib.sort(v0, 1, out=(v0[:, :2], lib.zeros(0, dtype=lib.int64)))
    """,
    "differences into what they are taken of": """
        v0 = lib.arange(12.0).view(3, 4); v1 = lib.arange(6.0)
        lib.diff(v0, out=v0.detach()[:, :3]); lib.diff(v0, dim=0, out=v0.detach()[:2])
        lib.diff(v1, out=v1[:5]); lib.diff(v1, out=v1[:3]); lib.diff(v1, 2, out=v1.detach()[:4])
        lib.diff(v1, 0, out=lib.zeros(6, dtype=lib.float64)); lib.diff(v1, 0, out=v1)
        lib.diff(v1, 7, out=lib.zeros(0)); lib.diff(v1 > 2, out=lib.zeros(0, dtype=lib.bool))
        lib.diff(v1, prepend=v1, out=lib.zeros(0)); lib.diff(v1, -1, out=v1)
        lib.diff(v1, out=lib.zeros(5, dtype=lib.int64)); v1.requires_grad_()
        lib.diff(v1, out=lib.zeros(0))
    """,
    "a stack names dtypes before memory": """
        v0 = lib.arange(12).view(3, 4)
        lib.stack([v0.float(), v0], out=v0.detach()); lib.stack([v0, v0[0]], out=v0.detach())
        lib.stack([v0[0].float(), v0[1]], out=v0[:2]); lib.stack([v0[0], v0[1]], out=v0[:2])
        lib.stack([v0[0].float()], 2, out=v0[:2]); lib.hstack([v0.float(), v0], out=v0.detach())
    """,
    "the dtype of out= before what it is expanded to": """
        v0 = lib.arange(12.0).view(3, 4); v1 = lib.zeros(4, dtype=lib.int64)[:1].expand(4)
        lib.amax(v0, 0, out=v1); lib.argmax(v0, 0, out=v0[:1].expand(3, 4)); lib.all(v0, 0, out=v1)
        lib.max(v0, 0, out=(v1, lib.zeros(0, dtype=lib.int64))); lib.gather(v0, 0, v1[None], out=v1)
        lib.kthvalue(v0, 1, out=(v1, lib.zeros(0, dtype=lib.int64)))
    """,
    "a factor of another kind, after the shapes and dtypes of the sum": """
        v0 = lib.ones(2, dtype=lib.bool); v1 = lib.ones(2, dtype=lib.int64); v2 = lib.ones(3)
        v0.add_(v1, alpha=0.5); v0.add_(v0, alpha=0.5); v0.sub_(v1, alpha=0.5)
        v1.add_(v2, alpha=0.5); v3 = lib.add(v1, v2.long(), alpha=0.5)
        v1.sub_(v1.float(), alpha=1j); v1.add_(v1, alpha=0.5)
        v1.div_(v2, rounding_mode="up"); v0.div_(v0, rounding_mode="up")
    """,
    "the dtype of out= of products": """
        v0 = lib.ones(2, 3, dtype=lib.complex128); v1 = lib.ones(3); v2 = v0[None]
        v3 = lib.ones(4, 3, 2)
        v4 = lib.matmul(v2, v1, out=lib.empty(0, dtype=lib.complex128))
        v4 = lib.matmul(v2, v1, out=lib.empty(0)); v4 = lib.matmul(v0, v1, out=lib.empty(0))
        v4 = lib.matmul(v1, v1.double(), out=lib.empty(0, dtype=lib.float64))
        v4 = lib.matmul(v3.mT.expand(4, 2, 3), v1.double(), out=lib.empty(0, dtype=lib.float64))
        v4 = lib.mv(v0.real, v1.double(), out=lib.empty(0)); v4 = lib.mv(v3[0].t(), v1, out=v0[0])
        v4 = lib.mv(v3[0].t(), v1, out=lib.empty(2, dtype=lib.int64))
        v4 = lib.mv(v3[0].t(), v1, out=lib.empty(0, dtype=lib.int64))
        v4 = lib.matmul(v3, v1, out=lib.empty(0, dtype=lib.int64))
    """,
    "the dtype of out= of means and diagonals": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, dtype=lib.int64)
        v2 = lib.ones(2, dtype=lib.complex64)
        lib.mean(v0, out=lib.empty(0, dtype=lib.int64))
        lib.mean(v0, 0, out=lib.empty(0, dtype=lib.int64))
        v3 = lib.mean(v2, 0, out=lib.empty(0)); lib.mean(v2, out=lib.empty(0))
        lib.mean(v1, out=lib.empty(0))
        lib.mean(v0, 0, dtype=lib.float64, out=lib.empty(0))
        v3 = lib.mean(v0, 0, out=lib.empty(0).double())
        lib.mean(v1, dtype=lib.float32, out=lib.empty(0, dtype=lib.bool))
        v3 = lib.mean(v1, dtype=lib.float32, out=lib.empty(0))
        lib.nansum(v0, 0, out=lib.empty(0, dtype=lib.int64))
        lib.nansum(v0, out=lib.empty(0).cfloat())
        lib.nansum(v0, dtype=lib.float64, out=lib.empty(0))
        v3 = lib.nansum(v0, 1, out=lib.empty(0).double())
        v3 = lib.nansum(v1, 0, dtype=lib.complex64, out=lib.empty(0).cfloat())
        lib.nansum(v1, dtype=lib.float64, out=lib.empty(0))
        v3 = lib.nansum(v0[:0], out=lib.empty(0).long())
        v3 = lib.nanmean(v0, 0, out=lib.empty(0))
        lib.nanmean(v0, out=lib.empty(0, dtype=lib.int64))
        v4 = lib.empty(0); v3 = lib.nanmean(v0, out=v4)
        lib.diag(v0, out=lib.empty(0).double()); lib.diag(v0[0], out=lib.empty(0).double())
        lib.diag(v0[0], out=lib.empty(0).long()); lib.diagonal_copy(v0, out=lib.empty(0).double())
        v3 = lib.diag(v0, out=lib.empty(0))
    """,
    "absolute values of complex numbers into complex numbers": """
        v0 = lib.tensor([3 + 4j, 1j]); v1 = v0.detach(); v2 = lib.zeros(0, dtype=lib.complex64)
        lib.abs(v0, out=v2); lib.abs(v1[:1].clone(), out=v0[:1]); lib.abs(v0, out=lib.zeros(2))
        lib.abs(v0, out=lib.zeros(2, dtype=lib.int64)); lib.sgn(v0, out=lib.zeros(2))
    """,
    "what a list of indices may not hold": """
        v0 = lib.arange(24.0).reshape(2, 3, 4); v1 = lib.tensor([0, 1])
        v0[(slice(None), 0), 0]; v0[0, [0, None]]; v0[[...], 0]; v0[[[0], 'a'], 0]; v0[[{}]]
        v0[[[0], slice(None)], 0] = 1
        v0[[0, [1]], 0]; v0[[[0], [0, 1]], 0]; v0[[v1], 0]; v0[[max]]; v0[0, [1j]]; v0['a']
        v2 = v0[[v1[0], True]]; v2 = v0[[v1.byte()[0]]]; v2 = v0[[1.7, 0]]; v2 = v0[[[], []]]
    """,
    "methods and functions whose overloads are not as many as PyTorch's": """
        v0 = lib.ones(2); v1 = v0.bool(); v2 = lib.ones(2, requires_grad=True)
        v0.where(); v0.where(v1)
        v0.where(1); v0.where(v1, 1, 2)
        v0.where(1, 2)
        v0.where(v1, v0, y=1)
        v0.where(self=v1, other=v0)
        v0.where(v1, "x")
        v3 = v0.where(other=1, condition=v1); v3 = v2.where(v1, 2)
        lib.true_divide(v0, 2, 3)
        lib.true_divide(v0, 2, rounding_mode="floor")
        v0.true_divide(2, rounding_mode="floor")
        v0.true_divide(2, 3)
        v4 = lib.true_divide(v2, v0); v5 = v2.true_divide(2); v6 = v0.clone().true_divide_(v2)
        lib.true_divide(v0.long(), 2, out=lib.empty(0).long())
        v7 = lib.true_divide(v0.long(), 2, out=lib.empty(0)); v0.long().true_divide_(2)
        lib.float_power(2, 3); lib.float_power(2)
    """,
    "the number of a device that is not there": """
        v0 = lib.ones(2)
        v0.to(1)
        v0.to(1, lib.float64)
        v0.to(1, copy=True)
        v0.to(-1); lib.ones(2, device=-1)
    """,
    "set_ to a part that cannot be": """
        v0 = lib.ones(3)
        lib.empty(0).set_(v0, 0, (-1,))
        lib.empty(0).set_(v0, 0, (-1, 2))
        lib.empty(0).set_(v0, 0, (2,), (-1,))
        lib.empty(0).set_(v0.untyped_storage(), 0, (-2,), (1,))
        lib.empty(0).set_(v0, 0, (-2, 3), (1,))
    """,
    "embeddings with a greatest norm": """
        F = lib.nn.functional; v0 = lib.arange(12.0).view(3, 4); v1 = lib.tensor([1.0, 2.0])
        F.embedding(v1, v0, max_norm=1)
        F.embedding(v1 > 1, v0, max_norm=1)
        F.embedding(v1.short(), v0, max_norm=1)
        F.embedding(v1.long(), v0[0], max_norm=1)
        v2 = F.embedding(v1.int(), v0, max_norm=1)
    """,
    "kernels that have no bool": """
        F = lib.nn.functional; v0 = lib.ones(2, 3, 4, 6).bool()
        v1 = v0.contiguous(memory_format=lib.channels_last)
        F.pad(v0, (1, 1, 1, 1), "reflect")
        F.pad(v1, (1, 1, 1, 1), "reflect")
        F.pad(v1, (1, 1, 1, 1), "replicate")
        F.adaptive_avg_pool2d(v0, None)
    """,
    "what is missing comes before what is wrong after it": """
        v0 = lib.ones(2, 3)
        lib.mul(v0, input=v0)
        lib.index_add(v0, 0, input=v0)
        lib.kthvalue(v0, dim=1j)
        lib.log_softmax(v0, dtype=3); lib.minimum(other=2.5)
        v0.index_add(0, index="x")
        v0.masked_fill(v0, v0)
    """,
    "calls of functions that PyTorch has in Python": """
        F = lib.nn.functional; v0 = lib.ones(2, 3); v1 = lib.tensor([0, 1])
        F.cross_entropy(v0, input=v0)
        F.cross_entropy(v0); F.cross_entropy("x", 1, 2)
        F.cross_entropy(v0, v1, 7, out=7)
        F.cross_entropy(v0, v1, reduction=7)
        F.nll_loss(v0, 1j)
        F.nll_loss(v0, v1, weight=[1])
        F.huber_loss(v0, v0, 2.5)
        F.binary_cross_entropy_with_logits(v0, dim=-1)
        F.adaptive_max_pool2d(v0)
        F.adaptive_max_pool1d(v0, 1, weight=2)
        F.adaptive_avg_pool2d({})
        F.threshold(v0)
        F.softmax(v0, 1j)
        F.log_softmax(v0, 1j)
        F.gelu(v0, "tanh")
        F.adaptive_max_pool2d(v0, 1, False, 4, 5)
    """,
    "a number that cannot be written is named before the place": """
        v0 = lib.ones(2); v1 = lib.tensor(1.0); v2 = lib.ones(2, dtype=lib.uint8)
        v0[9] = 1j; v1[0] = 1j; v0[0, 0] = 1j; v0['a'] = 1j; v0[1:0:-1] = 1j; v2[9] = 300
        v2[9.5] = float('inf'); v2[9] = 'a'; v2[9] = 2**70; v2[9] = 3; v2[9] = lib.ones(3)
    """,
    "parameters of norms of other dtypes": """
        F = lib.nn.functional; v0 = lib.ones(2, 4, dtype=lib.float16)
        v1 = v0.float(); v2 = v0.double(); v3 = lib.ones(4); v4 = v3.half()
        v5 = v3.double(); v6 = v3.long()
        F.group_norm(v0, 2, v5)
        F.group_norm(v0, 2, v4, v3)
        F.group_norm(v0, 2, v3, v4)
        F.group_norm(v1, 2, v3, v5)
        F.group_norm(v1, 2, v4, v4)
        F.group_norm(v2, 2, v5, v6)
        F.layer_norm(v0, (4,), v4, v3)
        F.layer_norm(v1, (4,), v3, v6)
        F.layer_norm(v2, (4,), v3, v5)
    """,
}
