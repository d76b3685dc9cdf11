"""Random programs: each statement is chosen for what is live, by running it in the reference."""

import random
import warnings

from .observe import attempt
from .programs import Block, Machine, storage

MODES = [
    "lib.inference_mode()", "lib.inference_mode()", "lib.inference_mode()", "lib.no_grad()",
    "lib.no_grad()", "lib.enable_grad()", "lib.inference_mode(False)",
    "lib.set_grad_enabled(True)", "lib.set_grad_enabled(False)",
]  # fmt: skip

# {a}, {b}, {c}: live variables, {b} of a shape that broadcasts with {a} where there is one;
# {r}: one that requires grad; {x}: a number; {d}: a dimension; {n}: new names follow in order.
CREATE = [
    "{n} = lib.tensor({data}{grad})", "{n} = lib.tensor({data}{grad})",
    "{n} = lib.tensor({data}{grad})", "{n} = lib.tensor({data}, dtype=lib.{dtype})",
    "{n} = lib.zeros({shape}{grad})", "{n} = lib.ones({shape}{grad})",
    "{n} = lib.full({shape}, {x})", "{n} = lib.arange({k}, dtype=lib.float32{grad})",
    "{n} = lib.zeros_like({a})", "{n} = lib.ones_like({a}{grad})", "{n} = {a}.new_zeros({shape})",
    "{n} = lib.nn.Parameter({a}.detach())", "{n} = lib.nn.Parameter({a})",
    "{n} = lib.eye(3{grad})", "{n} = lib.tensor({data}, dtype=lib.float64{grad})",
    "{n} = lib.tensor({data}, dtype=lib.complex64{grad})",
    "{n} = lib.nn.Parameter({a}.clone(), requires_grad={flag})",
    "{n} = {a}.new_tensor({data}{grad})", "{n} = lib.empty_like({a}{grad}).fill_({x})",
    "{n} = lib.as_tensor({a})", "{n} = copy.deepcopy({a})",
    "{n} = {a}.detach().clone().requires_grad_({flag})",
    "{n} = {a}.new_zeros({shape}, requires_grad={flag})",
]  # fmt: skip
FUNCTIONAL = [
    "{n} = {a}.sin()", "{n} = {a}.tanh()", "{n} = {a}.neg()", "{n} = {a}.relu()",
    "{n} = {a}.sigmoid()", "{n} = {a}.abs()", "{n} = {a} * {a}", "{n} = {a}.square()",
    "{n} = {a}.clone()", "{n} = {a}.clone()", "{n} = {a}.sum()", "{n} = {a}.sum({d})",
    "{n} = {a}.mean()", "{n} = {a}.mean({d}, keepdim=True)", "{n} = {a}.cumsum({d})",
    "{n} = {a}.softmax({d})", "{n} = {a}.clamp(-1, 1)", "{n} = {a}.contiguous()",
    "{n} = {a}.to(lib.float64)", "{n} = {a}.to(lib.float32)", "{n} = {a}.cos()", "{n} = +{a}",
    "{n}, {n} = {a}.max({d})", "{n} = {a}.logsumexp({d})", "{n} = {a}.flip({d})",
    "{n} = {a} + {b}", "{n} = {a} - {b}", "{n} = {a} * {b}", "{n} = {b} * {a}",
    "{n} = {a} / ({b} * {b} + 1)", "{n} = lib.maximum({a}, {b})", "{n} = {a} + {x}",
    "{n} = {x} * {a}", "{n} = {x} - {a}", "{n} = lib.where({a} > {b}, {a}, {b})",
    "{n} = lib.lerp({a}, {b}, {x})", "{n} = lib.addcmul({a}, {b}, {c})", "{n} = {a} @ {b}",
    "{n} = lib.cat([{a}, {b}])", "{n} = lib.stack([{a}, {a}])",
    "{n} = {a}.masked_fill({b} > 0, {x})", "{n} = {a} ** 2", "{n} = lib.atan2({a}, {b})",
    "{n} = {a}.index_select(0, lib.tensor([0, 0]))", "{n} = {a}[[0, -1]]", "{n} = {a}[{a} > 0]",
    "{n} = {a}.repeat(2, 1)", "{n} = {a} > {b}", "{n} = {a}.exp()", "{n} = {a}.float()",
    "{n} = {a}.type_as({b})", "{n} = {a}.var()", "{n} = {a}.tril()", "{n} = {a}.roll(1)",
    "{n} = lib.nn.functional.gelu({a})", "{n} = lib.nn.functional.mse_loss({a}, {b})",
    "{n} = lib.nn.functional.linear({a}, {b})", "{n} = {a}.sort({d}).values", "{n} = {a}.norm()",
    "{n} = {a}.prod()", "{n} = {a}.amax({d})", "{n} = lib.cat([{a}, {b}, {c}], {d})",
    "{n} = lib.stack([{a}, {b}])", "{n} = lib.hypot({a}, {b})", "{n} = {a}.prod({d})",
    "{n} = {a}.cumprod({d})", "{n} = {a}.std({d})", "{n} = {a}.log_softmax({d})",
    "{n} = {a}.topk(1, {d}).values", "{n} = {a}.gather({d}, lib.zeros({shape}, dtype=lib.int64))",
    "{n} = {a}.erf()", "{n} = lib.gather({a}, 0, lib.zeros_like({a}, dtype=lib.int64))",
    "{n} = {a}.frac()",
    "{n} = {a}.scatter(0, lib.zeros_like({a}, dtype=lib.int64), {b}.type_as({a}))",
    "{n} = {a}.sgn()", "{n} = {a}.masked_select({a} > {b})",
    "{n} = {a}.index_add(0, lib.tensor([0]), {b}[:1])", "{n} = {a}.triu()", "{n} = {a}.diff()",
    "{n} = {a}.floor()", "{n} = lib.nn.functional.l1_loss({a}, {b})",
    "{n} = lib.nn.functional.softplus({a})", "{n} = lib.nn.functional.leaky_relu({a})",
    "{n} = lib.nn.functional.pad({a}, (1, 1))", "{n} = lib.nn.functional.dropout({a}, 0.0)",
    "{n} = lib.outer({a}, {b})", "{n} = lib.einsum('ij,kj->ik', {a}, {b})",
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
    "{n} = {a}.softmax({d}, lib.float64)", "{n} = lib.einsum('i,i', {a}, {b})",
    "{n} = lib.xlogy({a}, {b} * {b} + 1)",
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
    "{n} = {a}.detach().view(-1)",
]  # fmt: skip
MULTIVIEW = [
    "{n}, {n} = {a}.unbind(0)", "{n}, {n} = {a}.split(1)", "{n}, {n}, {n} = {a}.unbind({d})",
    "{n}, {n} = {a}.chunk(2, {d})", "{n}, {n} = {a}.split([1, 2], {d})", "{n}, {n} = {a}",
    "{n} = {a}.unbind({d})[0]", "{n} = {a}.chunk(2)[0]", "{n} = {a}.split(2, {d})[0]",
    "{n}, {n} = {a}.tensor_split(2, {d})", "{n}, {n}, {n} = {a}.tensor_split((1, 2), {d})",
    "{n} = {a}.hsplit(1)[0]", "for {n} in {a}: pass",
]  # fmt: skip
INPLACE = [
    "{a}.add_({x})", "{a}.mul_({b})", "{a}.add_({b})", "{a}.sub_({b})", "{a}.zero_()",
    "{a}.copy_({b})", "{a}.copy_({b})", "{a}.fill_({x})", "{a}.sin_()", "{a}.relu_()",
    "{a}.tanh_()", "{a}.clamp_(-1, 1)", "{a}.mul_({x})", "{a}.neg_()", "{a}.sigmoid_()",
    "{a} += {b}", "{a} *= {x}", "{a}.masked_fill_({a} > 0, {x})", "{a}.addcmul_({b}, {b})",
    "{a}.div_(2)", "{a}.lerp_({b}, {x})", "{a}.square_()", "{a}.add_({b}, alpha=2)",
    "{a}.detach().mul_({x})", "{a}.data.add_({x})", "{a}.exp_()", "{a}.add_({a})",
    "{a}.copy_({x})", "{a}.abs_()", "{a}.addcmul_({b}, {c}, value={x})",
    "{a}.sub_(lib.tensor({x}))", "{a}.pow_(2)", "{a}.clamp_min_({x})", "{a}.fill_({b}.sum())",
    "{a}.index_fill_({d}, lib.tensor([0]), {x})", "{a}.index_add_(0, lib.tensor([0]), {b}[:1])",
    "{a}.index_copy_(0, lib.tensor([0]), {b}[:1])", "{a}.masked_scatter_({a} > 0, {b}.clone())",
    "{a}.scatter_(0, lib.zeros_like({a}, dtype=lib.int64), {x})", "{a}.floor_()", "{a}.erf_()",
    "{a}.triu_()", "{a}.add_({b}.sum())", "{a}.mul_({a})", "{a} -= {b}", "{a} /= 2", "{a} **= 2",
    "lib.nn.functional.relu({a}, inplace=True)", "lib.relu_({a})", "{a}.copy_({b}.double())",
    "{a}.sub_({b}, alpha={x})", "{a}.masked_fill_({a} > 0, {b}.sum())", "{a}.add_({b}.double())",
    "{a}.fill_({x}).mul_({b}){a}.clamp_(max={b})", "{a}.put_(lib.tensor([0]), {b}.flatten()[:1])",
    "{a}.logical_not_()", "{a}.round_()", "{a}.trunc_()", "{a}.frac_()", "{a}.sgn_()",
    "{a}.hypot_({b})", "{a}.atan2_({b})", "{a}.exp_().detach().zero_()", "{a}.view(-1).add_({x})",
    "{a}[0].mul_({x})", "{a}.expand(2, *{a}.shape).add_(1)", "{a}.t().copy_({b})",
    "{a}.unbind(0)[0].add_({x})", "{a}.detach().copy_({b})", "{a}.data.copy_({b})",
    "{a}.data.zero_()", "lib.sin_({a})", "lib.nn.init.ones_({a})",
    "lib.nn.init.constant_({a}, {x})", "{a}.add_(1).mul_({b})",
]  # fmt: skip
ASSIGN = [
    "{a}[0] = {x}", "{a}[...] = {b}", "{a}[1:] = {b}", "{a}[{a} > 0] = {x}", "{a}[0] = {b}",
    "{a}[:, 0] = {b}", "{a}[[0, 1]] = {b}", "{a}[..., -1] = {x}", "{a}[:] = {b}",
    "{a}[...] = {x}", "{a}[...] = {b}", "{a}[None] = {b}", "{a}[:, None] = {b}",
    "{a}[0, 0] = {b}.sum()", "{a}[{b} > 0] = {c}", "{a}[[-1]] = {b}[0]", "{a}[0] += {x}",
    "{a}[1:] *= {b}", "{a}[:] = {a}", "{a}[0] = {a}[0]", "{a}[..., 0] = {b}[..., 0]",
    "{a}[0][0] = {x}", "{a}[{a} > {b}] = {b}[{a} > {b}]", "{a}[0:1] = {b}.double()",
    "{a}.data[0] = {x}", "{a}.detach()[0] = {x}", "{a}[()] = {x}", "{a}[{x} > 0] = {b}",
]  # fmt: skip
METADATA = [
    "{a}.t_()", "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.transpose_(0, -1)", "{a}.detach_()",
    "{a}.requires_grad_()", "{a}.requires_grad_()", "{a}.requires_grad_(False)",
    "{a}.requires_grad = True", "{a}.retain_grad()", "{a}.data = {b}.data", "{a}.data = {b}",
    "{a}.squeeze_({d})", "{a}.unsqueeze_({d})", "{a}.swapaxes_(0, {d})",
    "{a}.as_strided_((2,), (1,))", "{a}.requires_grad_({flag})", "{a}.requires_grad = {flag}",
    "{a}.set_({b}.to({a}.dtype))", "{a}.set_({b}.detach().to({a}.dtype))",
    "{a}.resize_({shape}).fill_({x})", "{a}.resize_(1)", "{a}.resize_({a}.shape)",
    "{a}.data = {b}.detach().clone()", "{n} = {a}.requires_grad_()", "{n} = {a}.detach_()",
    "{a}.data.t_()", "{a}.detach().t_()", "{a}.data.unsqueeze_(0)", "{a}.detach().resize_(1)",
]  # fmt: skip
READ = [
    "{n} = saved({r})", "{n} = saved({r})", "{n} = saved({r})", "{n} = {a}._version",
    "{n} = {a}.is_leaf", "{n} = {r}.grad_fn", "{n} = {r}.grad_fn.next_functions",
    "{n} = {a}._base", "{n} = {a}.tolist()",
    "{n} = lib.is_grad_enabled(), lib.is_inference_mode_enabled()", "{n} = {a}.item()",
    "{n} = float({a})", "{n} = bool({a})", "{n} = lib.is_inference({a})", "{n} = {a}.numpy()",
    "{n} = {a} is {b}", "{n} = len({a})", "{n} = {r}.grad", "{n} = lib.equal({a}, {b})",
    "{n} = {a}.is_contiguous()",
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
    "lib.nn.utils.clip_grad_norm_([{p}], 0.5)",
]  # fmt: skip
MODULE = [
    "M.register_buffer('b', {a})", "M.register_buffer('b', {a}.detach().clone())", "{n} = M.b",
    "M.b.add_(1)", "M.b = {a}", "{n} = M.b * {a}", "{n} = M.state_dict()['b']",
    "M.p = lib.nn.Parameter({a})", "M.load_state_dict({{'b': {b}}}, strict=False)",
    "M.load_state_dict({{'p': {b}}}, strict=False)", "M.requires_grad_({flag})", "M.zero_grad()",
    "{n} = M.p", "{n} = M.p * {a}", "M.double()", "M.float()", "M.p = {a}",
    "{n} = copy.deepcopy(M).p", "{n} = [p for p in M.parameters()][0]", "M.train({flag})",
    "lib.optim.SGD(M.parameters(), 0.1).step()",
]  # fmt: skip
OUT = [
    "lib.add({b}, {b}, out={a})", "lib.mul({b}, {x}, out={a})", "lib.sin({b}, out={a})",
    "{n} = lib.mul({b}, {c}, out={a})", "lib.sub({a}, {a}, out={a})",
    "lib.add({b}.detach(), {b}.detach(), out={a})", "lib.exp({b}.detach(), out={a})",
    "{n} = lib.cat([{a}, {a}], out=lib.zeros(0, dtype={a}.dtype))",
    "lib.mul({b}.detach(), 2, out={a})", "lib.add({b}, {c}, out={a})",
    "lib.add({a}, {b}, out={a})", "lib.add({b}.detach(), 1, out={a})",
    "lib.add({b}, 1, out=lib.zeros(1, dtype=lib.int64))", "lib.mul({a}, {x}, out={a}.detach())",
    "lib.mul({a}.detach(), 2, out={a}.data)", "lib.neg({a}.detach(), out={a}.detach())",
    "{n} = lib.exp({b}, out=lib.empty(0))",
    "{n} = lib.sub({b}.detach(), {c}.detach(), out=lib.empty({shape}))",
    "lib.abs({a}[0].detach(), out={a}[0])", "lib.cumsum({b}.detach(), 0, out={a})",
    "{n}, {n} = lib.max({b}.detach(), 0, out=(lib.empty(0), lib.empty(0, dtype=lib.int64)))",
    "lib.sin({a}, out={a})", "lib.clamp({b}.detach(), -1, 1, out={a})",
    "lib.tanh({a}.detach().t(), out={a}.t())",
    "lib.stack([{b}.detach(), {c}.detach()], out=lib.empty(0))",
    "lib.gt({b}, {c}, out=lib.zeros(0, dtype=lib.bool))",
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
]  # fmt: skip
DELETE = ["del {a}", "{a} = {b}"]
KINDS = [
    (CREATE, 2.0), (FUNCTIONAL, 5), (VIEW, 5), (MULTIVIEW, 1), (INPLACE, 5), (ASSIGN, 1.2),
    (METADATA, 1.5), (OUT, 1), (BACKWARD, 3), (DELETE, 0.3), (READ, 0.5), (CALL, 1), (MODULE, 0.5),
]  # fmt: skip
SHAPES = ["(2, 3)", "(3,)", "(2, 2)", "()", "(3, 3)", "(1, 3)", "(2, 1)", "(2,)", "(0, 3)"]
DTYPES = ["float64", "float64", "int64", "bool", "complex64", "float16", "int32"]


def is_leaf(tensor):
    """Whether it is a leaf that requires grad; False where reading that raises."""
    return attempt(lambda: tensor.requires_grad and tensor.is_leaf) is True


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
        return self.fill(self.rng.choice(kind), writes=kind in (INPLACE, ASSIGN, OUT, METADATA))

    def fill(self, template, writes=False):
        """Put variables and numbers into a template."""
        rng, live = self.rng, self.machine.tensors
        inside = self.machine.lib.is_inference_mode_enabled()
        if inside and "requires_grad" in template:  # docs/differences.md has a section on those
            template = "{n} = {a}.detach()"
        names = list(live)
        if writes and rng.random() < 0.8 and self.machine.lib.is_grad_enabled():
            names = [n for n in names if not is_leaf(live[n])] or names
        recent = names[-4:] if names and rng.random() < 0.6 else names
        a = rng.choice(recent) if names else "v0"
        if writes:  # what an overlapping write gives where it is not refused is undefined
            here = storage(live[a]) if names else 0
            names = [n for n in names if n == a or storage(live[n]) != here]
        shared = False
        if names and ("out={a}" in template or "resize_" in template):
            # Memory that others share cannot grow under them: docs/differences.md.
            shared = sum(storage(t) == storage(live[a]) for t in live.values()) > 1
            if shared and "resize_" in template:
                template = "{a}.resize_({a}.shape)"
        same = [n for n in names if names and live[n].shape == live[a].shape]
        fits = [n for n in names if live[n].dim() <= live[a].dim()] if names and not shared else []
        leaves = [n for n in names if is_leaf(live[n])]
        graded = [n for n in names if is_leaf(live[n]) and live[n].grad is not None]
        grads = [n for n in names if live[n].requires_grad] or names or ["v0"]
        dims = max(1, live[a].dim()) if names else 1

        def other():
            return rng.choice((same if rng.random() < 0.6 else fits or same) or ["v0"])

        values = {
            "g": rng.choice(graded or grads), "p": rng.choice(leaves or grads),
            "flag": rng.choice(["True", "False"]),
            "a": a, "b": other(), "c": other(), "r": rng.choice(grads), "s": rng.choice(grads),
            "x": rng.choice([2, -1, 0.5, 1.5, 0]), "d": rng.randrange(-dims, dims),
            "k": rng.randint(0, 4), "shape": rng.choice(SHAPES[:-1] if rng.random() < 0.95 else
            SHAPES), "dtype": rng.choice(DTYPES), "data": self.data(),
            "grad": ", requires_grad=True" if rng.random() < 0.6 and not inside else "",
        }  # fmt: skip
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
