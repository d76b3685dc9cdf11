"""Shapes, strides and memory formats, and which mistake in them is named."""

PROGRAMS = {
    # ---- strides ----
    "strides of what is converted on the way": """
        v0 = lib.ones(1, 3, dtype=lib.bool).expand(2, 1, 3)
        v1 = lib.ones(3, dtype=lib.int64).expand(2, 3).t()
        v2 = v0 / 2
        v3 = v1.sigmoid()
        v4 = v1.to(lib.float64)
        v5 = v0 + v1[0]
    """,
    "memory formats are kept, asked for, and recorded": """
        v0 = lib.ones(2, 3, 4, 5, requires_grad=True)
        v1 = v0.to(memory_format=lib.channels_last)
        v2 = v1.double(memory_format=lib.contiguous_format)
        v3 = v1.to(memory_format=lib.channels_last)
        v4 = v1.cpu(memory_format=lib.contiguous_format)
        v5 = v0.detach().resize_as_(v1)
        v6 = lib.ones(2).resize_(2, 1, 2, 2, memory_format=lib.channels_last).fill_(1)
        v7 = v1.sum_to_size(3, 1, 5)
        v8 = v1.sum_to_size(())
        (v2.sum() + v4.sum() + v7.sum() + v8).backward()
    """,
    "a remainder of expanded bools lies in memory as its operand": """
        v0 = lib.tensor([[True, False], [True, True]]).expand(2, 2, 2)
        v1 = v0 % 2
        v2 = v0.transpose(0, 2) % 3
    """,
    "clamp by one tensor keeps the layout": """
        v0 = lib.ones(3, 2).t(); v1 = lib.zeros(2, 3)
        v2 = lib.clamp(v0, max=v1)
        v3 = lib.clamp(v1, min=v0)
        v4 = lib.clamp(v0, max=lib.zeros(4, 2, 3))
        v5 = lib.clamp(v0, max=lib.zeros(4))
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
    "roll and cat keep channels last, by strides of dimensions of size 1, too": """
        v0 = lib.arange(48.0).reshape(2, 3, 2, 4).contiguous(memory_format=lib.channels_last)
        v1 = v0.roll(1, 2); v2 = v0.roll(0, 2); v3 = v0.roll((1, 1), (0, 3)); v4 = v0.roll(1)
        v5 = lib.arange(4.0).as_strided((1, 1, 1, 4), (4, 1, 4, 1))
        v6 = lib.cat([v5, v5], 1); v7 = lib.stack([v5, v5], 1); v8 = lib.hstack([v5, v5])
        v9 = lib.ones(2).as_strided((2, 1, 1), (1, 1, 2))[:, lib.tensor([0, 0])]
        v10 = lib.ones(6)[::2].contiguous(memory_format=lib.preserve_format)
    """,
    "channels last in five dimensions, by weights, and odd strides of one channel": """
        v0 = lib.arange(48.0).reshape(1, 3, 2, 2, 4).to(memory_format=lib.channels_last_3d)
        v1 = lib.nn.functional.batch_norm(v0, None, None, training=True)
        v2 = lib.nn.functional.group_norm(v0, 3)
        v3 = lib.nn.functional.pad(v0, (1, 1, 1, 1, 1, 1), mode="replicate")
        v4 = lib.ones(36).as_strided((4, 3, 3), (9, 1, 3)); v5 = lib.ones(1, 3, 5)
        v6 = lib.nn.functional.conv1d(v5, v4)
        v7 = lib.ones(1, 2, 1, 1).as_strided((1, 2, 1, 1), (2, 1, 2, 2))
        v8 = lib.nn.functional.adaptive_avg_pool2d(v7, 2)
    """,
    "out= of composed operators, powers and zeros lie as PyTorch's": """
        v0 = lib.ones(3, 2).t(); v1 = lib.empty(0); v2 = lib.empty(0)
        v3 = lib.max(v0, lib.ones(2, 3), out=v1); v4 = lib.msort(v0, out=v2)
        v5 = lib.ones(2, 3, requires_grad=True)
        v6, = lib.autograd.grad(v5 ** 0, v5, v0); v7, = lib.autograd.grad((v5 * 1).le_(v0), v5, v0)
        v8 = lib.ones(3).as_strided((1, 3), (7, 1)); v9 = lib.tensor(2.0)
        v10 = (v8 * v9).stride(), v8.sort(0)[0].stride(), v8.flip(0).stride(), (v8 + 1).stride()
        v11 = v8.put(lib.tensor([0]), lib.ones(1)).stride(), lib.randn_like(v8).stride()
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
    "running extrema of columns": """
        v0 = lib.tensor([[1.0], [2.0]]); v1 = lib.ones(2, 3)
        v2, v3 = v0.cummax(1)
        v4 = lib.einsum('ij,kj->ik', v3 * 1.0, v1)
        v5 = lib.tensor([], requires_grad=True)
        v6, v7 = v5.cummin(0)
        v6.sum().backward()
        v5.grad.zero_()
    """,
    "roll along no dimension, however that is said": """
        v0 = lib.arange(6).reshape(2, 3)
        v1 = v0.roll(1, None); v2 = v0.roll(1, ()); v3 = v0.roll(1)
    """,
    # ---- mistakes ----
    "scatter: the dtype before the shapes": """
        v0 = lib.ones(2, 2); v1 = lib.zeros(2, 2, dtype=lib.int64)
        v0.scatter_(0, v1, lib.ones(2).double())
        v0.scatter_add_(0, v1, lib.ones(2).double())
        v0.scatter_(0, v1.float(), lib.ones(2).double())
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
    "cdist names the columns before the dtypes": """
        v0 = lib.zeros(2, 2); v1 = lib.zeros(2, 3); v2 = v1.bool()
        v3 = lib.cdist(v0, v2)
        v3 = lib.cdist(v2, v2)
        v3 = lib.cdist(v1, v1.double()[:0])
        v4 = lib.cdist(v2, v2, compute_mode='x')
    """,
    "dimensions of an ellipsis that do not fit": """
        v0 = lib.ones(3, 1); v1 = lib.ones(2, 3); v2 = lib.ones(5, 3, 2); v3 = lib.ones(4, 3, 2)
        v4 = lib.einsum('...i,...i->...', v0, v1)
        v4 = lib.einsum('...,...', v2, v1)
        v4 = lib.einsum('...i,j...->...ij', v2, v3)
    """,
    "layouts: a number's power is row-major, a weighted loss lies as it does without weights": """
        F = lib.nn.functional
        v0 = lib.rand(4, 2, 3).permute(1, 2, 0); v1 = lib.rand(2, 3, 4); v2 = v1.mT.contiguous().mT
        v3 = lib.pow(2, v0)
        v4 = lib.pow(1, v0)
        v5 = 2.5 ** v0.int()
        v6 = lib.pow(2j, v0)
        v7 = lib.pow(2, v0.half())
        v8 = lib.pow(2, v0, out=lib.empty(0))
        v9 = F.binary_cross_entropy(v0, v1, weight=v2, reduction="none")
        v10 = F.binary_cross_entropy(v2, v0, weight=v1.double(), reduction="none")
    """,
    "a difference the other way around lies as the tensor that is subtracted from": """
        v0 = lib.ones(2, 3); v1 = lib.ones(3, 2).t(); v2 = lib.ones(2, 3, dtype=lib.int64)
        v3 = lib.rsub(v0, v1); v4 = lib.rsub(v1, v0); v5 = lib.rsub(v2, v1); v6 = lib.rsub(v1, v2)
        v7 = lib.rsub(v0, v1, alpha=2); v8 = lib.rsub(v0[0], v1); v9 = lib.rsub(v1, v0[:, :1])
    """,
    "a log sigmoid is row-major": """
        v0 = lib.rand(2, 3).mT; v1 = lib.nn.functional.logsigmoid(v0)
        v2 = lib.nn.functional.logsigmoid(v0.half()); v3 = v0.clone().requires_grad_()
        lib.nn.functional.logsigmoid(v3).sum().backward()
    """,
    "results of contiguous operands have the steps of new tensors, in dimensions of size 1 too": """
        F = lib.nn.functional
        v0 = lib.rand(2, 3, 4)[:, 1:2].half().transpose(0, 1); v1 = v0.float(); v2 = v1.long()
        v3 = F.elu(v0); v4 = F.softplus(v1); v5 = F.leaky_relu(v0); v6 = lib.lerp(v1, v1, 0.5)
        v7 = lib.addcmul(v0, v0, v0, value=2); v8 = lib.rsub(v0, v0); v9 = v0.sub(v0, alpha=2)
        v10 = v2 - v2; v11 = v0 * 2; v12 = v2 - v2[:, :1]; v13 = F.softshrink(v0)
        v14 = lib.zeros(2, 3, 4)[:, :, :0].mT; v15 = F.elu(v14); v16 = lib.lerp(v14, v14, 0.5)
        v17 = lib.add(v2, v2, alpha=2)
    """,
    "group_norm keeps the order of channels last of images with gaps": """
        v0 = lib.arange(72.0).reshape(2, 4, 3, 3).contiguous(memory_format=lib.channels_last)
        v1 = v0[:, :, ::2].detach().requires_grad_(); v2 = lib.ones(8)[::2]
        v3 = lib.nn.functional.group_norm(v1, 2); v4 = lib.nn.functional.group_norm(v1, 2, v2, v2)
        v3.sum().backward()
        v5 = lib.nn.functional.group_norm(v0.contiguous()[:, :, ::2], 2)
    """,
    "strides of results without elements": """
        v0 = lib.empty_strided((0, 3), (1, 0))
        v1 = lib.ones(4, 3)[:, :0].t(); v2 = lib.ones(4, 3, dtype=lib.float16)[:0].t()
        v3 = lib.zeros_like(v0); v4 = lib.ones_like(v1); v5 = lib.full_like(v2, 2)
        v6 = v1.nan_to_num(); v7 = v1.flip(0); v8 = v1 + 1; v9 = v2 * 2; v10 = v2 > 1
        v11 = v1.abs(); v12 = v1 - lib.ones(()); v13 = lib.rand_like(v1); v14 = v0.new_zeros(0, 2)
        v15, v16 = v1.sort(); v17 = v2.sort(dim=0, descending=True)[1]; v18 = v1.argsort(0)
        v19 = v1.long().sign(); v20 = v1.long().t().trunc(); v21 = v1.long().round()
        v22 = v1.bool().sign(); v23 = v1.long().unique_consecutive(); v24 = v1[:0].unique()
        v25 = v1.bool() * 2; v26 = v1.long() / 2; v27 = v1.int() > 0.5; v28 = v1.int() - v1[:, :1]
        v29 = v1.nonzero(); v30 = v2.nonzero(); v31, v32 = lib.where(v2)
    """,
    "an empty product leaves addmv its addend's shape": """
        v0 = lib.tensor([-0.0]); v1 = lib.ones(3, 0); v2 = lib.ones(0)
        v3 = lib.addmv(v0, v1, v2)
        v4 = lib.addmv(lib.ones(()), v1, v2, beta=2)
        v5 = lib.addmv(v0, v1, v2, beta=0)
        v6 = lib.ones(3).addmv_(v1, v2, beta=2)
        v7 = lib.addmv(v0, lib.ones(0, 3), lib.ones(3), alpha=lib.inf)
    """,
    "mismatches of three tensors are named where the first two meet": """
        v0 = lib.ones(2, 2); v1 = lib.ones(3); v2 = lib.ones(1, 2, 2)
        lib.addcmul(v0, v1, v2)
        v0.addcdiv_(v1, v2)
        lib.where(v0 > 0, v1, v2)
        lib.lerp(v0, v1, v2)
        lib.clamp(v0, v1, v2)
        v0.add_(lib.ones(1, 2, 3))
        lib.meshgrid(v0, v1.double())
    """,
    "what is joined of images with channels last has them there": """
        v0 = lib.arange(120.0).view(2, 3, 4, 5).contiguous(memory_format=lib.channels_last)
        v1 = lib.cat([v0, v0], 1); v2 = lib.cat([v0, v0[:1].double()]); v3 = lib.vstack([v0, v0])
        v4 = lib.cat([v0, v0.contiguous()]); v5 = lib.cat([v0, lib.zeros(0)]); v6 = lib.cat([v0])
        v7 = lib.cat([v0, v0], -1, out=lib.empty(0)); v8 = lib.cat([v0[..., 1:2], v0[..., :1]], 1)
        v9 = lib.stack([v0, v0]); v10 = lib.stack([v0, v0], 2); v11 = lib.stack([v0, v0], 4)
        v12 = v0.clone().requires_grad_(); v13 = lib.cat([v12, v0], 1)
        v13.sum().backward()
        v14 = lib.zeros(2, 3, 2, 2, 2).contiguous(memory_format=lib.channels_last_3d)
        v15 = lib.cat([v14, v14], 1); v16 = lib.stack([v14, v14], 1)
        v17 = lib.stack([v0[0], v0[1]])
    """,
    "the angles of complex numbers lie in rows": """
        v0 = (lib.arange(6.0) - 2).view(2, 3).t(); v1 = lib.complex(v0, v0 * 2)
        v2 = v0.angle(); v3 = v1.angle(); v4 = v1.abs(); v5 = v0.long().angle()
        v6 = lib.angle(v1, out=lib.empty(0)); v7 = lib.angle(v0, out=lib.empty(0))
        v8 = v1[:, :1].angle().view(3); v9 = v1.clone().requires_grad_()
        v9.angle().sum().backward()
    """,
    "what has no elements keeps its order in memory": """
        f = lib.channels_last; size = lib.tensor
        v0 = lib.empty(0, 2, 4, 4).to(memory_format=f); v1 = size(v0.stride())
        v2 = size(lib.empty((2, 3, 0, 4), memory_format=f).stride())
        v3 = size(lib.empty(2, 0, 4, 4).contiguous(memory_format=f).stride())
        v4 = size(lib.zeros_like(lib.ones(2, 3, 4, 0), memory_format=f).stride())
        v5 = size(v0.mul(2).stride()); v6 = v0.is_contiguous(memory_format=f)
        v6 = lib.tensor(lib.empty(2, 3, 0, 4).is_contiguous(memory_format=f))
        v7 = lib.arange(96.0).view(3, 2, 4, 4).contiguous(memory_format=f)
        v8 = size(v7[lib.tensor([], dtype=lib.int64)].stride())
        v9 = v7.detach().resize_(2, 0, 2, 2, memory_format=f); v10 = size(v9.stride())
        v9.resize_(2)
        v11 = copy.deepcopy(lib.ones(2, 3)[2:]); v12 = size(v11.stride())
        v13 = pickle.loads(pickle.dumps(lib.ones(2, 3)[2:]))
        v14 = copy.deepcopy(lib.empty(0, 3).t())
        v15 = size(v14.stride()); v16 = copy.deepcopy(lib.nn.Parameter(lib.empty(0, 3)))
        v17 = size(v16.stride())
    """,
    "empty vectors are joined along any dimension": """
        v0 = lib.empty(0, requires_grad=True); v1 = lib.empty(0, dtype=lib.int64)
        v2 = lib.cat([v0, v1], 1); v3 = lib.cat([v0, v0], -2); v4 = lib.cat([v0], dim=7)
        v2.sum().backward(); v4.sum().backward()
        v5 = lib.cat([v0, lib.ones(3)], 1); v6 = lib.cat([v0, lib.ones(1, 3)], 2)
        v7 = lib.cat([v1, v1], 3, out=lib.empty(0, dtype=lib.int64))
    """,
    "what diff joins to its input fits but along the dimension": """
        v0 = lib.zeros(2, 3)
        v0.diff(prepend=lib.zeros(3, 3)); v0.diff(append=lib.zeros(2)); v0.diff(dim=2)
        v0.diff(dim=0, prepend=lib.zeros(3, 2), append=lib.zeros(2, 2))
        v0.diff(prepend=lib.zeros(2), append=lib.zeros(3, 3))
        v0.diff(prepend=lib.zeros(3, 3), append=lib.zeros(2))
        v1 = v0.diff(prepend=lib.zeros(2, 1), append=lib.ones(2, 4))
        v2 = v0.diff(dim=0, prepend=v0)
    """,
    "a shape taken over with its memory format": """
        v0 = lib.zeros(2, 3, 2, 2).contiguous(memory_format=lib.channels_last)
        v1 = lib.arange(24.0).resize_as_(v0)
        v2 = lib.arange(24.0).resize_as_(v0, memory_format=lib.preserve_format)
        v3 = lib.zeros(1, 2, 2, 2, 2).contiguous(memory_format=lib.channels_last_3d)
        v4 = lib.zeros(16).resize_as_(v3, memory_format=lib.preserve_format)
        v5 = lib.zeros(4).resize_as_(lib.zeros(2, 2).t(), memory_format=lib.preserve_format)
    """,
    "sizes beyond any memory": """
        lib.empty(()).resize_([2, 4, 2**29, 2**29])
        lib.empty((), dtype=lib.float64).resize_([2, 4, 2**29, 2**29])
        lib.empty(()).resize_([8, 8, 2**29, 2**29]); lib.empty(()).resize_([0, 4, 2**61])
        lib.empty([0, 4, 2**61]); lib.empty([2, 4, 2**29, 2**29], dtype=lib.float64)
    """,
}
