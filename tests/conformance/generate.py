"""Random programs: each statement is chosen for what is live, by running it in the reference."""

import random
import re
import warnings

from .observe import attempt
from .programs import Block, Machine, storage

MODES = [
    "lib.inference_mode()", "lib.inference_mode()", "lib.inference_mode()", "lib.no_grad()",
    "lib.no_grad()", "lib.enable_grad()", "lib.inference_mode(False)", "lib.set_grad_enabled(True)",
    "lib.set_grad_enabled(False)", "lib.no_grad(), lib.inference_mode()",
    "lib.inference_mode(), lib.enable_grad()",
    "lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)",
    "lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)",
    "lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t * 1)",
    "lib.autograd.graph.save_on_cpu()", "lib.autograd.set_detect_anomaly(True)",
]  # fmt: skip

# {a}, {b}, {c}: live variables, {b} of a shape that broadcasts with {a} where there is one;
# {r}: one that requires grad; {x}: a number; {d}: a dimension; {n}: new names follow in order.
CREATE = [
    "{n} = lib.tensor({data}{grad})", "{n} = lib.tensor({data}{grad})",
    "{n} = lib.tensor({data}{grad})", "{n} = lib.tensor({data}, dtype=lib.{dtype})",
    "{n} = lib.zeros({shape}{grad})", "{n} = lib.ones({shape}{grad})",
    "{n} = lib.full({shape}, {x})", "{n} = lib.arange({k}, dtype=lib.float32{grad})",
    "{n} = lib.zeros_like({a})", "{n} = lib.ones_like({a}{grad})", "{n} = {a}.new_zeros({shape})",
    "{n} = lib.nn.Parameter({a}.detach())", "{n} = lib.nn.Parameter({a})", "{n} = lib.eye(3{grad})",
    "{n} = lib.tensor({data}, dtype=lib.float64{grad})",
    "{n} = lib.tensor({data}, dtype=lib.complex64{grad})",
    "{n} = lib.nn.Parameter({a}.clone(), requires_grad={flag})",
    "{n} = {a}.new_tensor({data}{grad})", "{n} = lib.empty_like({a}{grad}).fill_({x})",
    "{n} = lib.as_tensor({a})", "{n} = copy.deepcopy({a})",
    "{n} = {a}.detach().clone().requires_grad_({flag})",
    "{n} = {a}.new_zeros({shape}, requires_grad={flag})", "{n}, {n} = copy.deepcopy([{a}, {a}[0]])",
    "{n}, {n} = copy.deepcopy([{a}, {b}])", "{n} = pickle.loads(pickle.dumps({a}))",
    "{n} = lib.tensor({data}, dtype=lib.int64)", "{n} = lib.tensor({data}, dtype=lib.bool)",
    "{n} = lib.full_like({a}, {x}, dtype=lib.{dtype})", "{n} = lib.nn.Parameter({a}.data)",
    "{n} = lib.nn.Parameter({a}[0])", "{n} = lib.asarray({a})", "{n} = {a}.new_ones({shape})",
    "{n} = lib.from_numpy({a}.detach().clone().numpy())", "{n} = copy.copy({a})",
    "{n}, {n} = copy.copy([{a}, {b}])", "{n} = copy.deepcopy(copy.copy({a}))",
]  # fmt: skip
FUNCTIONAL = [
    "{n} = {a}.sin()", "{n} = {a}.tanh()", "{n} = {a}.neg()", "{n} = {a}.relu()",
    "{n} = {a}.sigmoid()", "{n} = {a}.abs()", "{n} = {a} * {a}", "{n} = {a}.square()",
    "{n} = {a}.clone()", "{n} = {a}.clone()", "{n} = {a}.sum()", "{n} = {a}.sum({d})",
    "{n} = {a}.mean()", "{n} = {a}.mean({d}, keepdim=True)", "{n} = {a}.cumsum({d})",
    "{n} = {a}.softmax({d})", "{n} = {a}.clamp(-1, 1)", "{n} = {a}.contiguous()",
    "{n} = {a}.to(lib.float64)", "{n} = {a}.to(lib.float32)", "{n} = {a}.cos()", "{n} = +{a}",
    "{n}, {n} = {a}.max({d})", "{n} = {a}.logsumexp({d})", "{n} = {a}.flip({d})", "{n} = {a} + {b}",
    "{n} = {a} - {b}", "{n} = {a} * {b}", "{n} = {b} * {a}", "{n} = {a} / ({b} * {b} + 1)",
    "{n} = lib.maximum({a}, {b})", "{n} = {a} + {x}", "{n} = {x} * {a}", "{n} = {x} - {a}",
    "{n} = lib.where({a} > {b}, {a}, {b})", "{n} = lib.lerp({a}, {b}, {x})",
    "{n} = lib.addcmul({a}, {b}, {c})", "{n} = {a} @ {b}", "{n} = lib.cat([{a}, {b}])",
    "{n} = lib.stack([{a}, {a}])", "{n} = {a}.masked_fill({b} > 0, {x})", "{n} = {a} ** 2",
    "{n} = lib.atan2({a}, {b})", "{n} = {a}.index_select(0, lib.tensor([0, 0]))",
    "{n} = {a}[[0, -1]]", "{n} = {a}[{a} > 0]", "{n} = {a}.repeat(2, 1)", "{n} = {a} > {b}",
    "{n} = {a}.exp()", "{n} = {a}.float()", "{n} = {a}.type_as({b})", "{n} = {a}.var()",
    "{n} = {a}.tril()", "{n} = {a}.roll(1)", "{n} = lib.nn.functional.gelu({a})",
    "{n} = lib.nn.functional.mse_loss({a}, {b})", "{n} = lib.nn.functional.linear({a}, {b})",
    "{n} = {a}.sort({d}).values", "{n} = {a}.norm()", "{n} = {a}.prod()", "{n} = {a}.amax({d})",
    "{n} = lib.cat([{a}, {b}, {c}], {d})", "{n} = lib.stack([{a}, {b}])",
    "{n} = lib.hypot({a}, {b})", "{n} = {a}.prod({d})", "{n} = {a}.cumprod({d})",
    "{n} = {a}.std({d})", "{n} = {a}.log_softmax({d})", "{n} = {a}.topk(1, {d}).values",
    "{n} = {a}.gather({d}, lib.zeros({shape}, dtype=lib.int64))", "{n} = {a}.erf()",
    "{n} = lib.gather({a}, 0, lib.zeros_like({a}, dtype=lib.int64))", "{n} = {a}.frac()",
    "{n} = {a}.scatter(0, lib.zeros_like({a}, dtype=lib.int64), {b}.type_as({a}))",
    "{n} = {a}.sgn()", "{n} = {a}.masked_select({a} > {b})",
    "{n} = {a}.index_add(0, lib.tensor([0]), {b}[:1])", "{n} = {a}.triu()", "{n} = {a}.diff()",
    "{n} = {a}.floor()", "{n} = lib.nn.functional.l1_loss({a}, {b})",
    "{n} = lib.nn.functional.softplus({a})", "{n} = lib.nn.functional.leaky_relu({a})",
    "{n} = lib.nn.functional.pad({a}, (1, 1))", "{n} = lib.nn.functional.dropout({a}, 0.0)",
    "{n} = lib.outer({a}, {b})", "{n} = lib.einsum('ij,kj->ik', {a} * 1, {b} * 1)",
    "{n} = lib.addmm({a}, {b}, {c})", "{n} = lib.dot({a}, {b})", "{n} = lib.mv({a}, {b})",
    "{n} = {a}.eq({b})", "{n} = {a}.median()", "{n} = {a}.expm1()", "{n} = {a}.sinh()",
    "{n} = {a}.exp2()", "{n} = {a}.fmod(2)", "{n} = lib.remainder({a}, 2)",
    "{n} = lib.sub({a}, {b}, alpha=2)", "{n} = {a}.to({b})", "{n} = {a}.to({a}.dtype, copy=True)",
    "{n} = {a}.double()", "{n} = lib.clone({a})", "{n} = lib.broadcast_tensors({a}, {b})[0]",
    "{n} = lib.tile({a}, (2,))", "{n} = lib.minimum({a}, {b})", "{n} = {a}.clamp(min={x})",
    "{n} = {a}.argmax()", "{n} = {a}.sum(dtype=lib.float64)", "{n} = lib.nan_to_num({a})",
    "{n} = lib.nn.functional.normalize({a}, dim={d})", "{n} = lib.nn.functional.elu({a})",
    "{n} = {a} == {b}", "{n} = ~({a} > {b})", "{n} = abs({a})", "{n} = -{a}", "{n} = {a} % 2",
    "{n} = {a} ** {b}", "{n} = {a} - {x}", "{n} = {a} / 2", "{n} = 2 / ({a} * {a} + 1)",
    "{n} = {a}[{a}.argmax()]", "{n} = {a}[..., [0]]", "{n} = {a}.take(lib.tensor([0]))",
    "{n}, {n} = {a}.min({d})", "{n}, {n} = lib.std_mean({a}, {d})", "{n}, {n} = {a}.sort({d})",
    "{n} = {a}.softmax({d}, lib.float64)", "{n} = lib.einsum('i,i', {a} * 1.0, {b} * 1.0)",
    "{n} = lib.xlogy({a}, {b} * {b} + 1)", "{n} = {a}.int()", "{n} = {a}.long()",
    "{n} = {a}.bool()", "{n} = {a}.half()", "{n} = {a}.to(lib.{dtype})",
    "{n} = lib.clamp({a}, {b}, {c})", "{n} = {a}.clamp(max={b})", "{n} = lib.mm({a}, {b})",
    "{n} = lib.matmul({a}, {b}.mT)", "{n} = lib.logaddexp({a}, {b})",
    "{n}, {n} = {a}.float().cummax({d})", "{n} = lib.complex({a}.float(), {b}.float())",
    "{n} = {a}.index_put((lib.tensor([0]),), {b}[:1])", "{n} = {a}.masked_scatter({a} > 0, {b})",
    "{n} = {a}.index_fill({d}, lib.tensor([0]), {x})", "{n} = {a}.where({b} > 0, {x})",
    "{n} = {a}.index_copy({d}, lib.tensor([0]), {b}[:1])", "{n} = lib.where({a} > 0, {x}, {b})",
    "{n} = {a}.scatter_add(0, lib.zeros_like({a}, dtype=lib.int64), {b})", "{n} = {a}.sqrt()",
    "{n} = lib.nn.functional.layer_norm({a}, {a}.shape[-1:])", "{n} = {a}.any()",
    "{n} = lib.nn.functional.cross_entropy({a}, {b}.argmax(-1))",
    "{n} = lib.nn.functional.silu({a})", "{n} = lib.nn.functional.hardtanh({a})",
    "{n} = {a}.detach().clone()", "{n} = lib.trace({a})", "{n} = {a}.nonzero()",
    "{n} = {a}.all({d})", "{n} = {a}.round()", "{n} = {a} & {b}", "{n} = {a} // 2",
    "{n} = lib.addcdiv({a}, {b}, {c} * {c} + 1.5)", "{n} = lib.bmm({a}, {b})",
    "{n} = {a}.addmv({b}, {c})",
    "{n} = lib.nn.functional.embedding(lib.tensor([0, 1]), {a}.view(-1, 1))",
    "{n} = {a}.abs().log1p()",
    "{n} = lib.nn.functional.nll_loss({a}, lib.zeros({a}.shape[:1]).long())",
    "{n} = lib.nn.functional.batch_norm({a}[None].contiguous(), None, None, training=True)",
    "{n} = {a}.aminmax()[0]", "{n} = lib.nn.functional.cosine_similarity({a}.float(), {b}.float())",
    "{n} = {a}.sign()", "{n} = lib.copysign({a}, {b})", "{n} = lib.fmax({a}, {b})",
    "{n} = {a}.nanmean()", "{n} = lib.cdist({a}.float(), {b}.float())",
    "{n} = lib.kron({a}.contiguous(), {b}.contiguous())", "{n} = {a}.isnan()", "{n} = {a}.angle()",
    "{n} = {a}.unique()", "{n} = {a}.index_select({d}, lib.tensor([0]))",
    "{n} = lib.tensordot({a}.contiguous(), {b}.contiguous(), 1)", "{n} = {a}.new_tensor({a})",
    "{n} = {a}[{a} > 0, ...]", "{n} = {a}[lib.tensor(0)]", "{n} = {a}[True]",
    "{n} = {a}[[[0]], ...]", "{n} = lib.hstack([{a}, {b}])", "{n} = {a}.mul({x}).add_({b})",
    "{n} = {a}.clone().mul_({b})", "{n} = ({a} * {b}).relu_()", "{n} = lib.rsqrt({a} * {a} + 1)",
    "{n} = {a}.clamp_min({b})", "{n} = lib.clamp_max({a}, {b})", "{n}, {n} = {a}.cummax({d})",
    "{n}, {n} = {a}.cummin({d})", "{n} = lib.complex({a}, {b})", "{n} = lib.cdist({a}, {b})",
    "{n} = lib.kron({a}, {b})", "{n} = lib.tensordot({a}, {b}, 1)",
    "{n} = lib.einsum('ij,kj->ik', {a}, {b})", "{n} = lib.einsum('ij->ji', {a})",
    "{n} = lib.einsum('i,i', {a}, {b})", "{n} = lib.einsum('...i,...i->...', {a}, {b})",
    "{n} = {a}.scatter(0, lib.zeros_like({a}, dtype=lib.int64), {b})", "{n} = {a}.addmm({b}, {c})",
    "{n} = lib.nn.functional.batch_norm({a}[None], None, None, training=True)",
    "{n} = lib.baddbmm({a}, {b}, {c})", "{n} = lib.matmul({a}, {b})", "{n} = {a}.inner({b})",
]  # fmt: skip
VIEW = [
    "{n} = {a}.view(-1)", "{n} = {a}.t()", "{n} = {a}.transpose(0, -1)", "{n} = {a}[0]",
    "{n} = {a}[1:]", "{n} = {a}[..., 0]", "{n} = {a}[:, 1:]", "{n} = {a}.unsqueeze({d})",
    "{n} = {a}.squeeze()", "{n} = {a}.expand(2, *{a}.shape)", "{n} = {a}.permute(1, 0)",
    "{n} = {a}.narrow({d}, 0, 1)", "{n} = {a}.select({d}, 0)", "{n} = {a}.diagonal()",
    "{n} = {a}.as_strided((2,), (1,))", "{n} = {a}.as_strided((2, 2), (1, 1), 1)",
    "{n} = {a}.detach()", "{n} = {a}.detach()", "{n} = {a}.data", "{n} = {a}.view_as({a})",
    "{n} = {a}.reshape(-1)", "{n} = {a}.flatten()", "{n} = {a}.unfold({d}, 2, 1)",
    "{n} = {a}.expand_as({a})", "{n} = {a}[:]", "{n} = {a}[None]", "{n} = {a}.mT",
    "{n} = {a}.view({a}.shape)", "{n} = {a}.movedim(0, -1)", "{n} = {a}.squeeze({d})",
    "{n} = {a}.real", "{n} = {a}[1:2]", "{n} = {a}.T", "{n} = {a}.view_as({a})", "{n} = {a}[1]",
    "{n} = {a}.imag", "{n} = {a}.ravel()", "{n} = {a}.swapaxes(0, {d})", "{n} = {a}[:, None]",
    "{n} = {a}[0, :]", "{n} = {a}[..., ::2]", "{n} = {a}.diagonal(1)",
    "{n} = {a}.view(1, *{a}.shape)", "{n} = {a}.expand({shape})",
    "{n} = {a}.unflatten({d}, (1, -1))", "{n} = {a}.detach()[0]", "{n} = {a}.reshape({shape})",
    "{n} = {a}.view({shape})", "{n} = {a}.broadcast_to({shape})", "{n} = lib.view_as_real({a})",
    "{n} = {a}[{a}.shape[0] - 1]", "{n} = {a}.as_strided({a}.shape, {a}.stride())",
    "{n} = {a}.unsqueeze(-1).squeeze(-1)", "{n} = {a}.reshape_as({b})",
    "{n} = lib.movedim({a}, 0, {d})", "{n} = {a}.flatten(0, {d})", "{n} = {a}.data[0]",
    "{n} = {a}.detach().view(-1)", "{n} = lib.view_as_complex({a}.float())",
    "{n} = {a}.to({a}.dtype)", "{n} = {a}.squeeze((0, -1))", "{n} = {a}.view(2, -1)",
    "{n} = {a}.positive()", "{n} = {a}.resolve_conj()", "{n} = {a}.type({a}.dtype)",
    "{n} = {a}.narrow({d}, -1, 1)", "{n} = {a}.as_strided({shape}, (1,) * len({shape}))",
    "{n} = {a}.T.contiguous()", "{n} = {a}.view(-1)[1:]", "{n} = {a}.detach().requires_grad_()",
    "{n} = {a}[..., None]", "{n} = {a}.expand(2, *{a}.shape)[0]", "{n} = {a}.swapdims(0, {d})",
    "{n} = {a}[1:, 1:]", "{n} = {a}.clone().view(-1)", "{n} = ({a} * 1).view(-1)",
    "{n} = {a}.data.view(-1)", "{n} = lib.select({a}, {d}, -1)", "{n} = {a}.unfold(0, 1, 1)",
    "{n} = {a}[{d}]",
]  # fmt: skip
MULTIVIEW = [
    "{n}, {n} = {a}.unbind(0)", "{n}, {n} = {a}.split(1)", "{n}, {n}, {n} = {a}.unbind({d})",
    "{n}, {n} = {a}.chunk(2, {d})", "{n}, {n} = {a}.split([1, 2], {d})", "{n}, {n} = {a}",
    "{n} = {a}.unbind({d})[0]", "{n} = {a}.chunk(2)[0]", "{n} = {a}.split(2, {d})[0]",
    "{n}, {n} = {a}.tensor_split(2, {d})", "{n}, {n}, {n} = {a}.tensor_split((1, 2), {d})",
    "{n} = {a}.hsplit(1)[0]", "for {n} in {a}: pass", "{n}, {n} = {a}.vsplit(2)",
    "{n}, {n} = {a}.split(1, {d})", "{n}, {n} = {a}.detach().unbind({d})",
    "{n} = {a}.unbind({d})[0].view(-1)", "{n} = {a}.view(-1).unbind()[0]", "*_, {n} = {a}.split(1)",
    "{n}, {n} = {a}.data.chunk(2)", "{n} = {a}.chunk(2)[0].unsqueeze(0)",
    "{n} = {a}.unbind()[-1][None]", "{n}, {n} = lib.broadcast_tensors({a}, {b})",
]  # fmt: skip
INPLACE = [
    "{a}.add_({x})", "{a}.mul_({b})", "{a}.add_({b})", "{a}.sub_({b})", "{a}.zero_()",
    "{a}.copy_({b})", "{a}.copy_({b})", "{a}.fill_({x})", "{a}.sin_()", "{a}.relu_()",
    "{a}.tanh_()", "{a}.clamp_(-1, 1)", "{a}.mul_({x})", "{a}.neg_()", "{a}.sigmoid_()",
    "{a} += {b}", "{a} *= {x}", "{a}.masked_fill_({a} > 0, {x})", "{a}.addcmul_({b}, {b})",
    "{a}.div_(2)", "{a}.lerp_({b}, {x})", "{a}.square_()", "{a}.add_({b}, alpha=2)",
    "{a}.detach().mul_({x})", "{a}.data.add_({x})", "{a}.exp_()", "{a}.add_({a})", "{a}.copy_({x})",
    "{a}.abs_()", "{a}.addcmul_({b}, {c}, value={x})", "{a}.sub_(lib.tensor({x}))", "{a}.pow_(2)",
    "{a}.clamp_min_({x})", "{a}.fill_({b}.sum())", "{a}.index_fill_({d}, lib.tensor([0]), {x})",
    "{a}.index_add_(0, lib.tensor([0]), {b}[:1])", "{a}.index_copy_(0, lib.tensor([0]), {b}[:1])",
    "{a}.masked_scatter_({a} > 0, {b}.clone())",
    "{a}.scatter_(0, lib.zeros_like({a}, dtype=lib.int64), {x})", "{a}.floor_()", "{a}.erf_()",
    "{a}.triu_()", "{a}.add_({b}.sum())", "{a}.mul_({a})", "{a} -= {b}", "{a} /= 2", "{a} **= 2",
    "lib.nn.functional.relu({a}, inplace=True)", "lib.relu_({a})", "{a}.copy_({b}.double())",
    "{a}.sub_({b}, alpha={x})", "{a}.masked_fill_({a} > 0, {b}.sum())", "{a}.add_({b}.double())",
    "{a}.fill_({x}).mul_({b})", "{a}.clamp_(max={b})",
    "{a}.put_(lib.tensor([0]), {b}.flatten()[:1])", "{a}.logical_not_()", "{a}.round_()",
    "{a}.trunc_()", "{a}.frac_()", "{a}.sgn_()", "{a}.hypot_({b})", "{a}.atan2_({b})",
    "{a}.exp_().detach().zero_()", "{a}.view(-1).add_({x})", "{a}[0].mul_({x})",
    "{a}.expand(2, *{a}.shape).add_(1)", "{a}.t().copy_({b})", "{a}.unbind(0)[0].add_({x})",
    "{a}.detach().copy_({b})", "{a}.data.copy_({b})", "{a}.data.zero_()", "lib.sin_({a})",
    "lib.nn.init.ones_({a})", "lib.nn.init.constant_({a}, {x})", "{a}.add_(1).mul_({b})",
    "{a}.eq_({b})", "{a}.gt_({x})", "{a}.ne_({x})", "{a}.cumsum_({d})", "{a}.cumprod_({d})",
    "{a}.clamp_({b}, {c})", "{a}.clamp_min_({b})", "lib.nn.functional.elu({a}, inplace=True)",
    "lib.nn.functional.dropout({a}, 0.0, inplace=True)",
    "lib.nn.functional.silu({a}, inplace=True)", "lib.nn.functional.leaky_relu_({a})",
    "{a}.resize_as_({b}); {a}.detach().fill_({x})",
    "{a}.index_put_((lib.tensor([0, 0]),), {e}[:1])",
    "{a}.addmm_({a} * 1, lib.eye({a}.shape[-1]).type_as({a}))",
    "{a}.addmv_(lib.ones(len({a}), 3), lib.ones(3))",
    "{a}.index_put_((lib.tensor([0, 0]),), {e}[:1], accumulate=True)", "{a}.copy_({b}.long())",
    "{a}.scatter_add_(0, lib.zeros_like({a}, dtype=lib.int64), {e})", "{a}.copy_({b}.mT)",
    "{a}.copy_({b}.to(lib.{dtype}))", "{a}.as_strided((2, 2), (1, 1)).add_({x})",
    "{a}.as_strided((2, 2), (1, 1)).copy_({b})", "{a}.unfold({d}, 2, 1).mul_({x})",
    "{a}.expand({shape}).add_({x})", "{a}.diagonal().fill_({x})", "{a}.tril_()",
    "{a}.floor_divide_(2)", "{a}.remainder_(2)", "{a}.fmod_(2)", "{a}.bernoulli_(1.0)",
    "{a}.random_(1)", "{a}.uniform_(1, 1)", "{a}.xlogy_({b} * {b} + 1)",
    "{a}.addcdiv_({b}, {c} * {c} + 1.5)", "{a}.logical_and_({b})", "{a}.bitwise_and_({b})",
    "{a} //= 2", "{a} %= 2", "{a} &= {b}", "{a}.lerp_({b}, {c})", "{a}.unbind({d})[0].mul_({b})",
    "{a}.split(1)[0].zero_()", "{a}.mul_({b}.detach())", "{a}.add_({x}).view(-1).mul_(2)",
    "{a}[0].copy_({b})", "{a}.sub_({a}.detach())", "{a}.mul_({a}.clone())",
    "lib.add({a}, {b}, out={a})", "{a}.cos_()", "{a}.copy_({a})", "{a}.copy_({a}.clone())",
    "{a}.data.t().mul_({b})", "lib.nn.init.zeros_({a})", "{a}.negative_()", "{a}.clip_(-1, 1)",
    "{a}.detach()[0].add_({x})", "{a}.view_as({a}).mul_({x})", "{a}.real.add_({x})",
    "{a}.requires_grad_().mul_({x})", "{a}.detach_().mul_({x})", "{a}.clone().copy_({b})",
    "{a}.masked_fill_({b} > 0, {x})", "{a}.add_({b}, alpha=2).sub_({c})", "{a}.sinh_()",
    "{a}.clamp_max_({b})", "{a}.masked_scatter_({a} > 0, {a})",
    "{a}.masked_scatter_({a} > 0, {b})", "{a}.addmm_({e}, {f})",
    "lib.nn.init.eye_({a})", "{a}.addmv_({e}, {f})", "{a}.addr_({e}, {f})",
    "{a}.scatter_(0, lib.zeros_like({a}, dtype=lib.int64), {b})",
]  # fmt: skip
ASSIGN = [
    "{a}[0] = {x}", "{a}[...] = {b}", "{a}[1:] = {b}", "{a}[{a} > 0] = {x}", "{a}[0] = {b}",
    "{a}[:, 0] = {b}", "{a}[[0, 1]] = {b}", "{a}[..., -1] = {x}", "{a}[:] = {b}", "{a}[...] = {x}",
    "{a}[...] = {b}", "{a}[None] = {b}", "{a}[:, None] = {b}", "{a}[0, 0] = {b}.sum()",
    "{a}[{b} > 0] = {c}", "{a}[[-1]] = {b}[0]", "{a}[0] += {x}", "{a}[1:] *= {b}", "{a}[:] = {a}",
    "{a}[0] = {a}[0]", "{a}[..., 0] = {b}[..., 0]", "{a}[0][0] = {x}",
    "{a}[{a} > {b}] = {b}[{a} > {b}]", "{a}[0:1] = {b}.double()", "{a}.data[0] = {x}",
    "{a}.detach()[0] = {x}", "{a}[()] = {x}", "{a}[{x} > 0] = {b}", "{a}[lib.tensor([0, 0])] = {b}",
    "{a}[..., [0]] = {b}", "{a}[{a} > 0] += {x}", "{a}[0], {a}[-1] = {x}, {b}", "{g}.grad[0] = 1",
    "{a}[:, ::2] = {x}", "{a}[0] = {b}[0]", "{a}[lib.tensor(0)] = {x}", "{a}[True] = {b}",
    "{a}[0] = lib.tensor({x}, dtype=lib.{dtype})", "{a}[0] = {b}.sum()", "{a}[...] = {b}.detach()",
    "{a}[...] = {b}.to(lib.{dtype})", "{a}[-1:] = {b}", "{a}[0] = {x}; {a}[0] = {x}",
    "{a}.T[0] = {b}", "{a}.view(-1)[0] = {x}", "{a}[[0]] *= {x}", "{a}[..., None] = {b}",
    "{a}[0][...] = {b}", "{a}[{b}.argmax()] = {x}", "{a}[:0] = {b}",
]  # fmt: skip
METADATA = [
    "{a}.t_()", "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.transpose_(0, -1)", "{a}.detach_()",
    "{a}.requires_grad_()", "{a}.requires_grad_()", "{a}.requires_grad_(False)",
    "{a}.requires_grad = True", "{a}.retain_grad()", "{a}.data = {b}.data", "{a}.data = {b}",
    "{a}.squeeze_({d})", "{a}.unsqueeze_({d})", "{a}.swapaxes_(0, {d})",
    "{a}.as_strided_((2,), (1,))", "{a}.requires_grad_({flag})", "{a}.requires_grad = {flag}",
    "{a}.set_({b}.to({a}.dtype))", "{a}.set_({b}.detach().to({a}.dtype))",
    "{a}.resize_({shape}); {a}.detach().fill_({x})", "{a}.resize_({a}.shape)",
    "{a}.resize_(1); {a}.detach().fill_({x})", "{a}.data = {b}.detach().clone()",
    "{n} = {a}.requires_grad_()", "{n} = {a}.detach_()", "{a}.data.t_()", "{a}.detach().t_()",
    "{a}.data.unsqueeze_(0)", "{a}.detach().resize_(1).fill_({x})", "{a}.data = {b}.to({a}.dtype)",
    "{a}.data = {b}.double()", "{a}.set_()", "{a}.set_({b})", "{a}.set_({b}.data)",
    "{a}.data = {a}.t()", "{a}.data = {a}.detach().clone()", "{a}.detach_().requires_grad_()",
    "{a}.swapdims_(0, {d})", "{a}.t_().t_()", "{a}.retain_grad(); {a}.retain_grad()",
    "{a}.requires_grad_().retain_grad()", "{a}.data = {b}[0]", "{a}.data = {a}.data[0]",
    "{a}.data.squeeze_()", "{a}.view(-1).detach_()", "{a}.data.resize_({a}.shape).fill_({x})",
    "{a}.set_({a}.detach().t())", "{a}.set_({a})", "{a}.requires_grad_({flag}).t_()",
    "{a}.data = 3", "{a}.data.requires_grad_()", "{a}[0].requires_grad_()", "{a}[0].detach_()",
    "{a}.unbind()[0].detach_()", "{a}.view(-1).requires_grad_({flag})", "{a}[0].retain_grad()",
    "{a}.T.t_()", "{a}.unbind()[0].unsqueeze_(0)", "{a}.squeeze_().mul_({x})",
]  # fmt: skip
READ = [
    "{n} = saved({r})", "{n} = saved({r})", "{n} = saved({r})", "{a}._version",
    "{n} = {a}.is_leaf", "{n} = {r}.grad_fn", "{n} = {r}.grad_fn.next_functions", "{n} = {a}._base",
    "{n} = {a}.tolist()", "{n} = lib.is_grad_enabled(), lib.is_inference_mode_enabled()",
    "{n} = {a}.item()", "{n} = float({a})", "{n} = bool({a})", "{n} = lib.is_inference({a})",
    "{n} = {a}.numpy()", "{n} = {a} is {b}", "{n} = len({a})", "{n} = {r}.grad",
    "{n} = lib.equal({a}, {b})", "{n} = {a}.is_contiguous()", "{n} = {a}.output_nr",
    "{n} = {a}.retains_grad", "{n} = {a}._is_view()", "{n} = {a}.requires_grad",
    "{n} = {a}.storage_offset()", "{n} = {r}.grad_fn.name()",
    "{n} = [f[1] for f in {r}.grad_fn.next_functions]", "{n} = {a}.is_same_size({b})",
    "{n} = {a} in {b}", "{n} = lib.allclose({a}, {b})", "{n} = int({a})",
    "{n} = {a}.element_size()", "{n} = {r}.grad_fn is {s}.grad_fn", "{n} = {a}.is_floating_point()",
    "{n} = {a}.is_signed()", "{n} = {a}.dim()", "{n} = {r}.grad_fn.metadata",
    "{n} = {r}.grad_fn.requires_grad", "{n} = lib.result_type({a}, {b})",
]  # fmt: skip
# What a call does with the modes: decorators, generators, threads.
CALL = [
    "{n} = lib.no_grad()(lambda: {a} * 2)()", "{n} = lib.inference_mode()(lambda: {a} * {b})()",
    "{n} = lib.inference_mode()(lambda: {a}.view(-1))()", "{n} = lib.no_grad()(lambda: {a}[0])()",
    "{n} = lib.enable_grad()(lambda: {a} * 2)()", "lib.no_grad()(lambda: {a}.add_(1))()",
    "lib.inference_mode()(lambda: {a}.mul_({x}))()",
    "{n} = lib.inference_mode(False)(lambda: {a} + {b})()",
    "{n} = lib.set_grad_enabled(False)(lambda: {a} * 2)()", "lib.set_grad_enabled(False)",
    "lib.set_grad_enabled(True)", "lib.set_grad_enabled({flag})",
    "{n} = next(lib.no_grad()(lambda: (yield {a} * 2))())",
    "{n} = next(lib.inference_mode()(lambda: (yield {a} * {b}))())",
    "{n} = next(lib.enable_grad()(lambda: (yield {a} * 2))())",
    "{n} = next((lambda: (yield {a} * 2))())", "{n} = thread(lambda: {a} * {b})",
    "{n} = thread(lambda: {a}[0])", "{n} = thread(lambda: lib.ones(2, 3))",
    "thread(lambda: {a}.add_({x}))", "thread(lambda: {r}.sum().backward())",
    "{n} = thread(lambda: (lib.is_grad_enabled(), lib.is_inference_mode_enabled()))",
    "{n} = thread(lib.no_grad()(lambda: {a} * 2))",
    "{n} = thread(lib.inference_mode()(lambda: {a} * 2))", "lib.optim.SGD([{p}], lr=0.5).step()",
    "lib.optim.SGD([{p}], lr=0.1, momentum=0.9).step()", "lib.optim.Adam([{p}], lr=0.1).step()",
    "lib.optim.SGD([{p}], lr=0.1, weight_decay=0.1).step()",
    "lib.optim.SGD([{p}], lr=0.1).zero_grad()",
    "lib.optim.SGD([{p}], 0.1).zero_grad(set_to_none=False)",
    "lib.nn.utils.clip_grad_norm_([{p}], 0.5)", "O = lib.optim.SGD([{p}], lr=0.1, momentum=0.9)",
    "O = lib.optim.AdamW([{p}], lr=0.1)",
    "O = lib.optim.SGD([{p}, {q}], lr=0.1, nesterov=True, momentum=0.5)", "O.step()", "O.step()",
    "O = lib.optim.Adam([{p}, {q}], lr=0.1, amsgrad=True)", "O.zero_grad()", "O.step()", "O.step()",
    "O = lib.optim.RMSprop([{p}], lr=0.1)", "O = lib.optim.Adagrad([{p}], lr=0.1)", "O.step()",
    "O.zero_grad(set_to_none=False)", "O.load_state_dict(copy.deepcopy(O.state_dict()))",
    "O.add_param_group({{'params': [{p}]}})", "{n} = O.param_groups[0]['params'][0]",
    "lib.optim.SGD([{a}], lr=0.5)", "{n} = O.step(lambda: {r}.sum())",
    "G = lib.no_grad()(lambda: ((yield {a} * 2), (yield {b} + 1), (yield {a}[0])))()",
    "G = lib.inference_mode()(lambda: ((yield {a} * 2), (yield {b}[0]), (yield {a} + 1)))()",
    "G = lib.enable_grad()(lambda: ((yield {a} * 2), (yield {b}.view(-1))))()", "{n} = next(G)",
    "{n} = next(G)", "{n} = next(G)", "G.close()", "G.throw(ValueError('thrown'))",
    "{n} = G.send(3)", "{n}, {n} = hold({mode}, lambda: {a} * 2)",
    "{n}, {n} = hold({mode}, lambda: {a}[0])", "{n} = thread(lambda: next(G))",
    "{n} = wait({mode}, lambda: {a} * 2)", "{n} = wait({mode}, lambda: {a}.add_({b}))",
    "{n} = wait({mode}, lambda: {a}.view(-1))", "lib.no_grad()(lambda: {a}.add_('x'))()",
    "lib.inference_mode()(lambda: 1 / 0)()",
    "{n} = thread(lambda: lib.set_grad_enabled(False) and {a} * 2)",
    "thread(lambda: {a}.mul_({b}))", "with {mode}: {n} = {a}.view(-1)",
    "with {mode}: {n}, {n} = {a}.unbind(0)", "with {mode}: {a}.add_({b})",
    "with {mode}: {n}, {n} = {a}.split(1, {d})", "with {mode}: {n} = {a}[0]; {n} = {a}.chunk(2)[0]",
    "with {mode}: {n} = {a}.detach()", "with {mode}: {a}.copy_({b})", "with {mode}: {a}[0] = {x}",
    "with {mode}: {r}.sum().backward()", "with {mode}: {n} = copy.deepcopy({a})",
    "with {mode}: O.step()", "with {mode}: {a}.data = {b}",
    "with {mode}: {a}.requires_grad_({flag})", "with {mode}: {a}.detach_()",
    "with {mode}: {a}.mul_({x}); {a}.add_('x')", "with {mode}: {n} = {a}.expand({shape})",
    "with {mode}: {n} = {a} * {b}; {n} = {a}.t()", "with {mode}: M.b.mul_(2)",
    "with {mode}: {a}.t_()", "with {mode}: {n} = {a}.view_as({a}); {n} = {a}.view_as({a})",
    "with {mode}: {n} = N({a}) if {a}.shape[-1:] == (3,) else 0",
    "with {mode}: lib.mul({e}.detach(), {x}, out={a})", "with {mode}: {r}.grad = {b}",
    "with {mode}: {a}.set_({b})", "{n} = lib.no_grad()(lib.enable_grad()(lambda: {a} * 2))()",
    "with {mode}: {a}.unsqueeze_(0)",
    "with {mode}: {n}, {n} = lib.autograd.grad({r}.sum(), [{r}, {s}], allow_unused=True)",
]  # fmt: skip
MODULE = [
    "M.register_buffer('b', {a})", "M.register_buffer('b', {a}.detach().clone())", "{n} = M.b",
    "M.b.add_(1)", "M.b = {a}", "{n} = M.b * {a}", "{n} = M.state_dict()['b']",
    "M.p = lib.nn.Parameter({a})", "M.load_state_dict({{'b': {b}}}, strict=False)",
    "M.load_state_dict({{'p': {b}}}, strict=False)", "M.requires_grad_({flag})", "M.zero_grad()",
    "{n} = M.p", "{n} = M.p * {a}", "M.double()", "M.float()", "M.p = {a}",
    "{n} = copy.deepcopy(M).p", "{n} = [p for p in M.parameters()][0]", "M.train({flag})",
    "lib.optim.SGD(M.parameters(), 0.1).step()", "M.b.mul_({x})", "M.b.copy_({b})", "M.b = M.b * 2",
    "M.b[0] = {x}", "{n} = M.b.view(-1)", "{n} = N({a}) if {a}.shape[-1:] == (3,) else 0",
    "{n} = N({a}) if {a}.shape[-1:] == (3,) else 0", "{n} = N.running_mean",
    "{n} = N.num_batches_tracked", "N.train({flag})", "N.requires_grad_({flag})", "{n} = N.weight",
    "{n} = copy.deepcopy(N).weight", "N.load_state_dict(copy.deepcopy(N).state_dict())",
    "{n} = L({a})", "{n} = L({a}).relu()", "{n} = L.weight", "{n} = L.bias.data",
    "L.load_state_dict({{'weight': {a}}}, strict=False)",
    "L.load_state_dict({{'weight': {a}.detach().clone()}}, strict=False, assign=True)",
    "{n} = L.weight.grad", "L.zero_grad()", "lib.optim.SGD(L.parameters(), 0.1).step()",
    "L.double()", "L.float()", "L.requires_grad_({flag})", "N.double()", "N.zero_grad()",
    "N.eval()", "N.reset_running_stats()",
    "M.load_state_dict({{'b': {b}, 'p': {a}}}, strict=False)", "M.p.data = {a}", "M.b.data = {b}",
    "L.weight.data.add_({x})", "L.weight.data = {a}", "M.register_parameter('p', {a})", "del M.b",
    "M.register_buffer('b', {a}, persistent={flag})", "{n} = M.p.grad", "M.p = None", "M.b = None",
    "{n} = lib.nn.utils.parameters_to_vector(L.parameters())", "M.p.requires_grad_({flag})",
    "O = lib.optim.SGD(L.parameters(), 0.1, momentum=0.9)", "{n} = L.state_dict()['weight']",
]  # fmt: skip
OUT = [
    "lib.add({b}, {b}, out={a})", "lib.mul({b}, {x}, out={a})", "lib.sin({b}, out={a})",
    "{n} = lib.mul({b}, {c}, out={a})", "lib.sub({a}, {a}, out={a})",
    "lib.add({b}.detach(), {b}.detach(), out={a})", "lib.exp({b}.detach(), out={a})",
    "{n} = lib.cat([{a}, {a}], out=lib.zeros(0, dtype={a}.dtype))",
    "lib.mul({b}.detach(), 2, out={a})", "lib.add({b}, {c}, out={a})", "lib.add({a}, {b}, out={a})",
    "lib.add({b}.detach(), 1, out={a})", "lib.add({b}, 1, out=lib.zeros(1, dtype=lib.int64))",
    "lib.mul({a}, {x}, out={a}.detach())", "lib.mul({a}.detach(), 2, out={a}.data)",
    "lib.neg({a}.detach(), out={a}.detach())",
    "{n} = lib.exp({b}, out=lib.empty(0, dtype={b}.dtype))",
    "{n} = lib.sub({b}.detach(), {c}.detach(), out=lib.empty({shape}))",
    "lib.abs({a}[0].detach(), out={a}[0])", "lib.cumsum({e}.detach(), 0, out={a})",
    "{n}, {n} = lib.max({b}.detach(), 0, out=(lib.empty(0), lib.empty(0, dtype=lib.int64)))",
    "lib.sin({a}, out={a})", "lib.clamp({b}.detach(), -1, 1, out={a})",
    "lib.tanh({a}.detach().t(), out={a}.t())",
    "lib.stack([{b}.detach(), {c}.detach()], out=lib.empty(0, dtype={b}.dtype))",
    "lib.gt({b}, {c}, out=lib.zeros(0, dtype=lib.bool))", "lib.where({a} > 0, {b}, {c}, out={a})",
    "{n} = lib.matmul({b}, {c}, out=lib.empty(0, dtype={b}.dtype))",
    "{n} = lib.matmul({e}, {e}.mT, out=lib.empty(0, dtype={e}.dtype))",
    "lib.cumsum({e}, {d}, out={a})", "lib.index_select({e}.detach(), 0, lib.tensor([0]), out={a})",
    "lib.clamp({a}, {b}, {c}, out={a})",
    "{n} = lib.index_select({b}, {d}, lib.tensor([0]), out=lib.empty(0, dtype={b}.dtype))",
    "{n} = lib.where({a} > 0, {b}, {c}, out=lib.empty(0, dtype={b}.dtype))",
    "lib.sum({e}.detach(), {d}, out={a})", "lib.copysign({b}.detach(), {a}, out={a})",
    "{n} = lib.mean({b}, {d}, out=lib.empty(0, dtype={b}.dtype))",
    "lib.pow({b}.detach(), 2, out={a})", "lib.eq({b}, {c}, out={a})",
    "lib.gt({b}.detach(), {c}.detach(), out={a})", "lib.atan2({a}, {b}, out={a})",
    "{n} = lib.add({b}, {c}, out=lib.empty({shape}, dtype=lib.{dtype}))",
    "lib.addmm({e}, {e}, {f}, out={a})",
    "{n} = lib.addcmul({a}, {b}, {c}, out=lib.empty(0, dtype={b}.dtype))",
    "lib.tril({b}.detach(), out={a})", "lib.cat([{e}.detach(), {f}.detach()], out={a})",
    "lib.sort({e}.detach(), out=({a}, lib.empty(0, dtype=lib.int64)))",
    "lib.gather({e}.detach(), 0, lib.zeros_like({e}, dtype=lib.int64), out={a})",
    "lib.lerp({a}, {b}, {x}, out={a})", "lib.take({e}.detach(), lib.tensor([0]), out={a})",
    "lib.masked_select({e}.detach(), {e} > 0, out={a})",
    "lib.argmax({b}, {d}, out=lib.empty(0, dtype=lib.int64))",
    "lib.any({b}, {d}, out=lib.empty(0, dtype=lib.bool))", "lib.arange(3, out=lib.empty({shape}))",
    "lib.ones(2, 3, out=lib.empty({shape}))", "lib.zeros(2, out=lib.empty({shape}))",
    "{n} = lib.logsumexp({b}.detach(), {d}, out=lib.empty(0, dtype={b}.dtype))",
    "lib.nonzero({b}, out=lib.empty(0, dtype=lib.int64))",
]  # fmt: skip
BACKWARD = [
    "{r}.sum().backward()", "{r}.sum().backward()", "{r}.sum().backward(retain_graph=True)",
    "{r}.backward()", "{r}.backward(lib.ones_like({r}))", "({r} * {b}).sum().backward()",
    "{r}.backward({r}.detach())", "{n} = {r}.grad", "{r}.grad = None", "{g}.grad.zero_()",
    "{n}, = lib.autograd.grad({r}.sum(), [{s}], allow_unused=True)",
    "{n}, = lib.autograd.grad({r}.sum(), [{s}], retain_graph=True)",
    "{n}, = lib.autograd.grad(({r} * {r}).sum(), [{s}], create_graph=True)",
    "{n}, {n} = lib.autograd.grad({r}.sum(), [{s}, {r}], allow_unused=True)",
    "({r} * {r}).sum().backward(create_graph=True)", "{r}.retain_grad()", "{r}.grad = {b}",
    "{r}.register_hook(lambda g: g * 2)", "{g}.grad.add_(1)", "{g}.grad += 1",
    "{r}.sum().backward(inputs=[{s}])", "lib.autograd.backward([{r}.sum(), {s}.sum()])",
    "{r}.sum().backward(inputs={s})", "lib.autograd.backward({r}, {b})", "del {r}.grad",
    "{r}.backward(lib.ones_like({r}), retain_graph=True)", "{r}.grad = {b}.detach()",
    "{n} = lib.autograd.grad({r}.sum(), {s}, materialize_grads=True)[0]", "{r}.grad.detach_()",
    "{n}, = lib.autograd.grad({r}, [{s}], {b}, retain_graph=True)", "{g}.grad.zero_()",
    "{n}, = lib.autograd.grad([{r}.sum(), {s}.sum()], [{s}], allow_unused=True)",
    "{r}.register_hook(lambda g: None)", "{r}.register_hook(lambda g: g.detach())",
    "{r}.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))", "{n} = {g}.grad",
    "{n} = ({r} * {r}).sum(); {n}.backward(retain_graph=True)", "{n} = {r}.sum()",
    "{r}.sum().backward(create_graph=True)", "{g}.grad.requires_grad_()", "{g}.grad.data.zero_()",
    "{r}.grad_fn.register_hook(lambda i, o: None)", "{r}.grad_fn.register_prehook(lambda o: None)",
    "{r}.grad_fn.register_prehook(lambda o: tuple(g * 2 for g in o))", "{r}.grad = {b}.clone()",
    "{r}.grad = {r}.detach()", "{r}.grad = {r}", "{g}.grad = {g}.grad.clone()", "{r}.grad = 3",
    "{g}.grad.mul_({x})", "{n} = {g}.grad.detach()", "{g}.grad.copy_({b})", "{n} = {g}.grad[0]",
    "{r}.grad = {r}.double().detach()", "{r}.grad = {b}[0].detach()",
    "{r}.grad = lib.ones_like({r})",
    "lib.autograd.backward([{r}, {s}], [{r}.detach(), lib.ones_like({s})])",
    "{n} = {g}.grad.view(-1)", "{g}.grad = {g}.detach()",
    "{n} = lib.autograd.functional.vjp(lambda t: t * t, {b})[1]", "{g}.grad.detach_().zero_()",
    "H = {r}.register_hook(lambda g: g * 3)", "H.remove()", "{r}.register_hook(lambda g: 1 / 0)",
    "{r}.backward({b}, create_graph={flag})", "{r}.backward(gradient=lib.tensor(1.0), inputs=[])",
    "{n}, = lib.autograd.grad({r}, [{s}], lib.ones_like({r}), create_graph=True)",
    "{n}, {n} = lib.autograd.grad(({r} * {s}).sum(), [{r}, {s}], create_graph=True)",
    "{n}, = lib.autograd.grad(({r}.sin() * {b}).sum(), [{s}], create_graph=True)",
    "{r}.register_hook(lambda g: g.mul_(2))",
    "{r}.register_hook(lambda g: log.append(tuple(g.shape)))",
    "{n} = {r}.retain_grad() or {r}.sum(); {n}.backward()",
    "{r}.sum().backward(); {s}.sum().backward()", "{r}.sum().backward({b})",
    "{r}.mean({d}).sum().backward()", "({r} @ {b}).sum().backward()",
    "({r}[0] * {r}[-1]).sum().backward()", "(({r} - {b}) ** 2).mean().backward()",
    "{r}.max().backward()", "{r}.relu().norm().backward()", "{r}.prod().backward()",
    "lib.stack([{r}, {r}]).sum().backward()", "{r}.unbind()[0].sum().backward()",
    "{r}[{r} > 0].sum().backward()", "{r}.exp().sum().backward()",
    "{r}.clone().mul_({b}).sum().backward()", "{r}.double().sum().backward()",
    "{r}.cumsum(0).sum().backward()",
]  # fmt: skip
# What is called alike, by name: {unary}, {binary}, ... stand for any of them.
NAMES = {
    "unary": "acos asin atan ceil cosh deg2rad erfc exp2 expm1 fix log log10 log1p "
    "log2 logit nan_to_num rad2deg reciprocal rsqrt sign sinc sqrt tan trunc "
    "square sinh",
    "binary": "bitwise_or bitwise_xor logical_or logical_xor floor_divide true_divide subtract "
    "multiply divide fmod remainder ge le lt ne less greater_equal not_equal copysign "
    "float_power",
    "reduced": "amin argmin argsort nansum all any std var logsumexp",
    "joined": "vstack dstack column_stack row_stack concat concatenate",
    "activation": "celu hardsigmoid hardswish hardshrink logsigmoid mish relu6 selu softshrink "
    "softsign tanhshrink glu",
    "loss": "binary_cross_entropy_with_logits huber_loss kl_div smooth_l1_loss",
    "told": "conj_physical logical_not bitwise_not isfinite isinf isneginf isposinf isreal signbit",
}  # fmt: skip
NAMES = {kind: words.split() for kind, words in NAMES.items()}
NAMED = [
    *["{n} = {a}.{unary}()"] * 4, *["{n} = {a}.{binary}({b})"] * 3, "{n} = {a}.{binary}({x})",
    *["{n} = {a}.{reduced}({d})"] * 2, "{n} = {a}.{reduced}(dim={d}, keepdim={flag})",
    "{n} = lib.{unary}(input={a})", "{n} = lib.{joined}([{a}, {b}])", "{n} = lib.{told}({a})",
    *["{n} = lib.nn.functional.{activation}({a})"] * 2, "{n} = lib.nn.functional.{loss}({a}, {b})",
    "{n} = lib.nn.functional.{loss}({a}, {b}, reduction='none')",
    "{n} = lib.addr({a}, {b}, {c})", "{n} = {a}.flipud()",
    "{n} = lib.constant_pad_nd({a}, (1, 1), {x})", "{n} = lib.dist({a}, {b})", "{n} = {a}.fliplr()",
    "{n} = lib.fmin({a}, {b})", "{n} = lib.isclose({a}, {b})", "{n} = lib.vdot({a}, {b})",
    "{n} = lib.linalg.vector_norm({a})", "{n} = lib.linspace(0, 1, {k})", "{n} = lib.rot90({a})",
    "{n} = {a}.moveaxis(0, {d})", "{n} = {a}.new_full({shape}, {x})",
    "{n} = {a}.count_nonzero({d})",
    "{n} = {a}.repeat_interleave(2, {d})", "{n} = lib.rsub({a}, {b})", "{n} = {a}.sum_to_size(1)",
    "{n} = {a}.scatter_reduce(0, lib.zeros_like({a}, dtype=lib.int64), {b}, 'sum')",
    "{n} = {a}.split_with_sizes([1, 1], {d})[0]", "{n}, {n} = lib.var_mean({a}, {d})",
    "{n} = lib.take_along_dim({a}, lib.zeros_like({a}, dtype=lib.int64), {d})",
    "{n} = lib.threshold({a}, 0, {x})", "{n} = {a}.unique_consecutive()", "{n} = lib.msort({a})",
    "{n} = lib.sum(input={a}, dim={d})", "{n} = {a}.mean(axis={d})", "{n} = {a}.cross({b})",
    "{n} = lib.cat(tensors=[{a}, {b}], dim={d})", "{n}, {n} = lib.max({a}, dim={d})",
    "{n}, {n} = lib.min(input={a}, dim={d}, keepdim={flag})", "{n} = {a}.norm(dim={d})",
    "{n} = {a}.add(other={b}, alpha={x})", "{n}, {n} = {a}.sort(dim={d}, descending={flag})",
    "{n} = lib.empty_strided((2, 3), (1, 2)).fill_({x})", "{n} = lib.full((1,), 0.5).expand(2, 3)",
    "{n}, {n} = lib.topk({a}, k=1, dim={d}, largest={flag})", "{n} = {a}.kthvalue(1, {d}).values",
]  # fmt: skip
NAMED_WRITES = [
    *["{a}.{unary}_()"] * 3, *["{a}.{binary}_({b})"] * 3, "{a}.{binary}_({x})",
    "lib.{unary}({b}.detach(), out={a})", "{a}.logical_not_()",
    "lib.nn.functional.celu({a}, inplace=True)", "lib.nn.functional.hardswish({a}, inplace=True)",
    "lib.nn.functional.threshold({a}, 0, {x}, inplace=True)", "{a}.nan_to_num_({x})",
    "{a}.baddbmm_({e}, {f})", "{a}.add({x}, {b})", "{a}.add_({x}, {b})",
    "{a}.scatter_reduce_(0, lib.zeros_like({a}, dtype=lib.int64), {e}, 'sum')",
]  # fmt: skip
DELETE = ["del {a}", "{a} = {b}", "del {a}, {b}", "{a}, {b} = {b}, {a}"]
KINDS = [
    (CREATE, 2.0), (FUNCTIONAL, 5), (VIEW, 5), (MULTIVIEW, 1), (INPLACE, 5), (ASSIGN, 1.2),
    (METADATA, 1.5), (OUT, 1), (BACKWARD, 3), (DELETE, 0.3), (READ, 0.5), (CALL, 1), (MODULE, 0.5),
    (NAMED, 3), (NAMED_WRITES, 1.5),
]  # fmt: skip
WRITES = (INPLACE, ASSIGN, OUT, METADATA, NAMED_WRITES, CALL)
SHAPES = [
    "(2, 3)", "(2, 1, 3)", "(3,)", "(2, 2)", "()", "(3, 3)", "(1, 3)", "(2, 1)", "(2,)", "(0, 3)",
]  # fmt: skip
DTYPES = [
    "float64", "float64", "int64", "bool", "complex64", "float16", "int32", "uint8", "int8",
    "complex128",
]  # fmt: skip


def is_leaf(tensor):
    """Whether it is a leaf that requires grad; False where reading that raises."""
    return attempt(lambda: tensor.requires_grad and tensor.is_leaf) is True


def overlaps(tensor):
    """Whether elements share memory in a way that no library looks for: not by a stride of 0."""
    steps = [(s, n) for s, n in zip(tensor.stride(), tensor.shape) if n > 1]
    return bool(tensor.numel()) and (
        all(s for s, _ in steps) and 1 + sum(s * (n - 1) for s, n in steps) < tensor.numel()
    )


class Generator:
    """Grows one program from a seed; the same seed gives the same program."""

    def __init__(self, reference, seed, length=14):
        self.rng = random.Random(seed)
        self.machine = Machine(reference)
        self.length = length
        self.count = 0

    def program(self):
        """Return (program, the reference's steps)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = []
            for _ in range(self.rng.randint(1, 3)):
                self.step(program, self.fill(self.rng.choice(CREATE[:6])))
            program += self.body(self.length, 0)
            self.machine.reset()
        return program, self.machine.steps

    def body(self, budget, depth):
        """Return statements, with blocks, while the budget lasts and values stay tame."""
        out = []
        while budget > 0 and not self.machine.wild():
            if depth < 3 and self.rng.random() < 0.12:
                block = Block(self.rng.choice(MODES), raises=self.rng.random() < 0.15)
                inner = self.rng.randint(1, max(1, min(6, budget)))
                with self.machine.block(block):
                    block.body = self.body(inner, depth + 1)
                out.append(block)
                budget -= inner
            else:
                self.step(out, self.choose())
                budget -= 1
        return out

    def step(self, out, source):
        """Run and append one statement."""
        out.append(source)
        self.machine.statement(source)

    def choose(self):
        """Return a statement that most likely makes sense for the live variables."""
        live = self.machine.tensors
        if not live:
            return self.fill(self.rng.choice(CREATE[:6]))
        kinds, weights = zip(*KINDS)
        kind = self.rng.choices(kinds, weights)[0]
        return self.fill(self.rng.choice(kind), writes=kind in WRITES)

    def fill(self, template, writes=False):
        """Put variables and numbers into a template."""
        rng, live = self.rng, self.machine.tensors
        inside = self.machine.lib.is_inference_mode_enabled()
        others = ("requires_grad", "pickle", "assign")  # docs/differences.md has a section on those
        if any(is_leaf(tensor) for tensor in live.values()):
            others += ("copy.copy", "deepcopy")
        if (inside or "with {mode}" in template) and any(word in template for word in others):
            template = "{n} = {a}.detach()"
        names = list(live)
        if writes and rng.random() < 0.8 and self.machine.lib.is_grad_enabled():
            names = [n for n in names if not is_leaf(live[n])] or names
        recent = names[-4:] if names and rng.random() < 0.6 else names
        a = rng.choice(recent) if names else "v0"
        if writes and names and overlaps(live[a]):  # undefined, where it is not refused
            template = "{n} = {a}.detach()"
        if writes:  # what an overlapping write gives where it is not refused is undefined
            here = storage(live[a]) if names else 0
            names = [n for n in names if n == a or storage(live[n]) != here]
        shared = False
        if names and re.search(r"out=\(?{a}|resize_", template):
            # Memory that others share cannot grow under them: docs/differences.md.
            alike = sum(storage(t) == storage(live[a]) for t in live.values())
            shared = alike > 1 or live[a].numel() == 0  # the memory of nothing may be another's
            if shared and ("resize_" in template or "{e}" in template):
                template = "{a}.resize_({a}.shape)"
        same = [n for n in names if names and live[n].shape == live[a].shape]
        fits = [n for n in names if live[n].dim() <= live[a].dim()] if names and not shared else []
        if "out={a}" in template:  # a target that is resized under its operands: undefined
            fits = same
        leaves = [n for n in names if is_leaf(live[n])]
        graded = [n for n in names if is_leaf(live[n]) and live[n].grad is not None]
        grads = [n for n in names if live[n].requires_grad] or names or ["v0"]
        dims = max(1, live[a].dim()) if names else 1

        def other():
            return rng.choice((same if rng.random() < 0.6 else fits or same) or ["v0"])

        apart = re.search(r"\.(t\(\)|m?T)\b", template) and not (names and live[a].is_contiguous())

        def foreign():
            kept = [n for n in names if not writes or storage(live[n]) != storage(live[a])]
            return rng.choice([n for n in same if n in kept] or kept or ["lib.ones(2, 3)"])

        values = {
            "g": rng.choice(graded or grads), "p": rng.choice(leaves or grads),
            "flag": rng.choice(["True", "False"]), "q": rng.choice(leaves or grads),
            "mode": rng.choice(MODES[:9]),
            # Read and written in two orders: PyTorch refuses it where the memory has no gaps, and
            # elsewhere reads some elements after it has written them.
            "a": a, "b": foreign() if writes and apart else other(), "c": other(),
            "e": foreign(), "f": foreign(), "r": rng.choice(grads), "s": rng.choice(grads),
            "x": rng.choice([2, -1, 0.5, 1.5, 0]), "d": rng.randrange(-dims, dims),
            "k": rng.randint(0, 4), "shape": rng.choice(SHAPES[:-1] if rng.random() < 0.95 else
            SHAPES), "dtype": rng.choice(DTYPES), "data": self.data(),
            "grad": ", requires_grad=True" if rng.random() < 0.6 and not inside else "",
        }  # fmt: skip
        values |= {kind: rng.choice(words) for kind, words in NAMES.items()}
        while "{n}" in template:
            template = template.replace("{n}", f"v{self.count}", 1)
            self.count += 1
        return template.format(**values)

    def data(self):
        """Return the text of a small nested list."""

        def grow(shape):
            if not shape:
                return round(self.rng.uniform(-2, 2), 2)
            return [grow(shape[1:]) for _ in range(shape[0])]

        return repr(grow(eval(self.rng.choice(SHAPES))))
