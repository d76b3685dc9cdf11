"""Random programs that stay with one theme, on tensors that it is about; see generate.py.

Statements drawn evenly meet too seldom: most of a theme's programs are about what it names, in
more modes and to a greater depth.
"""

import re
import warnings

from . import themes_of_operators
from .generate import Generator

# Theme -> what precedes its programs, and its statements; names as in statements.py.
THEMES = {
    # Creation metadata, histories, siblings; what a write does to each and when grad_fn is read.
    "views": (
        ["v0 = lib.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)", "v1 = v0 * 1"],
        [
            "{n} = {a}.view(-1)", "{n} = {a}[0]", "{n} = {a}.t()", "{n}, {n} = {a}.unbind(0)",
            "{n}, {n} = {a}.chunk(2)", "{n}, {n} = {a}.split(1)", "{n} = {a}.detach()",
            "{n} = {a}.expand_as({a})", "{n} = {a}.view_as({a})", "{n} = {a}.unbind()[1].view(-1)",
            "{n}, {n} = lib.unsafe_split({a}, 1)", "{n}, {n} = lib.unsafe_chunk({a}, 2)",
            "{n}, {n} = {a}.split([1, 1])", "{n}, {n} = lib.unsafe_split_with_sizes({a}, [1, 1])",
            "{n} = {a}.as_strided((2,), (1,))", "{n} = ({a} * 1).t().reshape(-1)",
            "with {mode}: {n} = {a}.view(-1)", "with {mode}: {n} = {a}[0]",
            "with {mode}: {n}, {n} = {a}.unbind(0)", "with {mode}: {n} = {a}.detach()",
            "with {mode}: {n} = {a}[:]; {n} = {n2}.view_as({n2})",
            "{a}.mul_({x})", "{a}.add_({b})", "{a}.copy_({b})", "{a}.zero_()", "{a}[0] = {x}",
            "{a}.exp_()", "{a}.mul_({r})", "with {mode}: {a}.add_({x})",
            "with {mode}: {a}.mul_({b})", "{a}.detach().add_(1)", "{a}.data.mul_(2)",
            "{n} = {a}.grad_fn", "{n} = {a}.output_nr", "{n} = {a}.grad_fn.next_functions",
            "{a}.retain_grad()", "{n} = saved({r})", "{a}.requires_grad_({flag})", "{a}.detach_()",
            "{n} = {a} * 2", "{n} = {a} * {b}", "{r}.sum().backward()",
            "{r}.sum().backward(retain_graph=True)", "{n} = {a}._base",
            "{n}, = lib.autograd.grad({r}.sum(), [{s}], allow_unused=True, retain_graph=True)",
            "{a}.t_()", "{a}.squeeze_()", "{a}.register_hook(lambda g: g * 2)", "{n} = {a}.clone()",
        ],
    ),
    # Complex numbers seen as real ones, and the reverse; bits seen as another dtype.
    "complex": (
        [
            "v0 = lib.tensor([[1 + 2j, -0.5j], [2.0, 1 - 1j]], requires_grad=True)", "v1 = v0 * 1",
            "v2 = lib.tensor([[1.0, 2.0], [-1.0, 0.5]], requires_grad=True); v3 = v2 * 2",
        ],
        [
            *["{n} = lib.view_as_real({a})"] * 3, *["{n} = lib.view_as_complex({a})"] * 3,
            "{n} = {a}.real", "{n} = {a}.imag", "{n} = lib.view_as_real({a})[..., 0]",
            "{n} = {a}.real.t()", "{n} = {a}[0]", "{n} = {a}.view(-1)", "{n}, {n} = {a}.unbind(0)",
            "with {mode}: {n} = lib.view_as_real({a})", "with {mode}: {n} = {a}.imag",
            "with {mode}: {n} = lib.view_as_complex({a})", "{a}.real.mul_({x})", "{a}.imag.add_(1)",
            "{a}.real = {x}", "{a}.imag = {b}", "{a}.mul_({x})", "{a}.mul_(1j)", "{a}.add_({b})",
            "{a}.copy_({b})", "{a}.zero_()", "{a}[0] = 1j", "with {mode}: {a}.mul_({b})",
            "{n} = {a}.abs()", "{n} = {a} * {b}", "{n} = {a} * 1j", "{n} = {a}.angle()",
            "{n} = lib.complex({a}, {b})", "{n} = {a}.sum()", "{n} = {a}.detach()",
            "{n} = {a}.sgn()", "{n} = {a}.to(lib.complex128)", "{n} = lib.polar({a}, {b})",
            "{n} = {a}.grad_fn", "lib.view_as_real({r}).sum().backward()",
            "{r}.abs().sum().backward()", "{r}.real.sum().backward(retain_graph=True)",
            "{n} = saved({r})", "{n} = {a}.exp()",
            "{n}, = lib.autograd.grad({r}.abs().sum(), [{s}], allow_unused=True)",
            "{n} = ({a} + 0).view(lib.float32)", "{n} = ({a} + 0).view(lib.complex64)",
            "{n} = {a}.isfinite()", "{n} = {a}.isreal()", "{n} = {a} == {b}", "{n} = {a}.dot({b})",
        ],
    ),
    # Parameters, buffers, state dicts and optimizers, in each mode.
    "modules": (
        [
            "M.register_buffer('b', lib.ones(3))",
            "M.p = lib.nn.Parameter(lib.tensor([1.0, 2.0, 3.0]))",
            "O = lib.optim.SGD([M.p, *L.parameters()], lr=0.1, momentum=0.9)",
            "v0 = lib.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]], requires_grad=True)",
        ],
        [
            "if {a}.shape[-1:] == (3,): {n} = N({a})", "{n} = L({a})", "{n} = M.b * {a}",
            "{n} = M.p * {a}", "{n} = M.b",
            "{n} = M.p", "M.b.add_(1)", "M.b.mul_({x})", "M.b = M.b * 2", "M.b[0] = {x}",
            "with {mode}: {n} = L({a})", "with {mode}: M.b.add_(1)",
            "with {mode}: {n} = M.p * M.b", "with {mode}: O.step()",
            "with {mode}: {n} = N(v0)", "{n} = N(v0)", "{n} = L(v0)", "N(v0).sum().backward()",
            "(L(v0).sum() + (M.p * M.b).sum()).backward()", "(M.p * M.b).sum().backward()",
            "O.step()", "O.step()", "O.zero_grad()", "O.zero_grad(set_to_none=False)",
            "M.zero_grad()", "O = lib.optim.Adam([M.p], lr=0.1)",
            "O = lib.optim.AdamW(L.parameters(), lr=0.1)",
            "O = lib.optim.RMSprop([M.p, *N.parameters()], lr=0.1, momentum=0.5)",
            "if {a}.shape == {b}.shape == (3,): M.load_state_dict({{'b': {a}, 'p': {b}}})",
            "M.load_state_dict({{'b': M.p.detach() * 2}}, strict=False)",
            "M.load_state_dict({{'p': M.b}}, strict=False)", "M.load_state_dict(M.state_dict())",
            "with lib.no_grad(): M.load_state_dict({{'b': M.b + 1}}, strict=False)",
            "N.load_state_dict(copy.deepcopy(N.state_dict()))", "{n} = N.running_mean",
            "{n} = N.running_var", "{n} = N.num_batches_tracked", "N.train({flag})",
            "{n} = N.weight", "{n} = L.weight", "{n} = L.bias", "{n} = L.weight.grad",
            "{n} = M.p.grad", "L.requires_grad_({flag})", "M.p.requires_grad_({flag})",
            "if {a}.shape == (3,): M.b = {a}", "M.p.data.mul_({x})", "M.p.data = {a}.detach()",
            "{n} = copy.deepcopy(M).p", "{n} = copy.deepcopy(M).b", "{n} = M.state_dict()['b']",
            "M.p.grad = {b}.detach()", "lib.nn.utils.clip_grad_norm_(L.parameters(), 0.5)",
            "{n} = {a}.detach() * M.b", "N.reset_running_stats()",
            "{n} = lib.nn.utils.parameters_to_vector(L.parameters())",
            "lib.nn.utils.vector_to_parameters(lib.ones(8), L.parameters())",
            "O.load_state_dict(copy.deepcopy(O.state_dict()))", "L.weight.data.add_({x})",
            "{n} = O.state[M.p].get('momentum_buffer')", "M.b.detach_()",
            "M.b.requires_grad_({flag})",
        ],
    ),
    # What is called while backward runs, what gradients share, what nodes have saved.
    "gradients": (
        [
            "v0 = lib.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)", "v1 = v0 * 2",
            "v2 = v1 * v1",
        ],
        [
            "{r}.sum().backward()", "{r}.sum().backward(retain_graph=True)",
            "{r}.backward({b})", "{r}.sum().backward(create_graph=True)", "{r}.retain_grad()",
            "{r}.backward({b}, retain_graph=True)", "{r}.register_hook(lambda g: g.mul_(2))",
            "{r}.register_hook(lambda g: g * 2)", "{r}.register_hook(lambda g: g.detach().add_(1))",
            "{r}.register_hook(lambda g: {a}.mul_(2) and None)",
            "{r}.register_hook(lambda g: {a}.detach().zero_())",
            "{r}.register_hook(lambda g: {a}.grad)", "{r}.register_hook(lambda g: g[:])",
            "{r}.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))",
            "{r}.register_post_accumulate_grad_hook(lambda t: setattr(t, 'grad', None))",
            "{r}.grad_fn.register_hook(lambda i, o: log.append([g is None for g in i]))",
            "{r}.grad_fn.register_prehook(lambda o: [g.mul_(2) for g in o] and None)",
            "{g}.grad.zero_()", "{g}.grad = None", "{g}.grad.mul_({x})", "{n} = {g}.grad",
            "{r}.grad = {b}.detach()", "{r}.grad = {b}", "{g}.grad = {g}.grad.clone()",
            "{g}.grad.requires_grad_()", "{n} = {g}.grad * {b}", "{n} = {g}.grad[0]",
            "{n} = {a} * {b}", "{n} = {a}.exp()", "{n} = {a} * 2", "{n} = {a}.sin()",
            "{n} = {a}[0]", "{n} = {a} + {b}", "{n} = {a}.view(-1)", "{n} = {a}.sum()",
            "{n} = {a}.expand_as({b})", "{n} = saved({r})", "{n} = {r}.grad_fn._saved_self",
            "{n} = {r}.grad_fn._saved_result", "{n} = {r}.grad_fn._saved_other",
            "{r}.grad_fn._saved_self.mul_(2)", "{r}.grad_fn._saved_result.detach().mul_(2)",
            "{n} = {r}.grad_fn._saved_self is {a}", "{r}.mul_(2)", "{r}.add_({b})",
            "{r}.detach().mul_(2)", "{r}.data.mul_(2)", "{a}.exp_()",
            "{n}, = lib.autograd.grad({r}.sum(), [{s}], create_graph=True, allow_unused=True)",
            "{n}, = lib.autograd.grad({r}.sum(), [{s}], retain_graph=True)",
            "{n}, {n} = lib.autograd.grad(({r} * {s}).sum(), [{r}, {s}], create_graph=True)",
            "with {mode}: {r}.sum().backward()", "with {mode}: {n} = {g}.grad * 2",
            "with {mode}: {g}.grad.zero_()", "with {mode}: {r}.retain_grad()",
            "with {mode}: {r}.grad = {b}.detach()", "thread(lambda: {r}.sum().backward())",
            "with {mode}: {n}, = lib.autograd.grad({r}.sum(), [{s}], retain_graph=True)",
            "with lib.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(1), lambda t: t):"
            " {n} = {a} * {b}", "with lib.autograd.graph.save_on_cpu(): {n} = {a} * {b}",
        ],
    ),
    # What shares memory, of what size and dtype: who sees a write, and whose version it counts in.
    "memory": (
        [
            "v0 = lib.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)",
            "v1 = v0.detach().clone()",
        ],
        [
            "{n} = {a}.detach()", "{n} = {a}.data", "{a}.data = {b}", "{a}.data = {b}.detach()",
            "{a}.set_({b})", "{a}.set_({b}.detach())", "{a}.set_()", "{a}.data.set_({b}.data)",
            "{a}.resize_({shape}); {a}.detach().fill_({x})", "{a}.resize_(1)", "{n} = {a}.view(-1)",
            "{a}.resize_as_({b}); {a}.detach().fill_({x})", "{n} = {a}[0]",
            "{n} = copy.deepcopy({a})", "{n}, {n} = copy.deepcopy([{a}, {a}.detach()])",
            "{n} = pickle.loads(pickle.dumps({a}))", "{a}.copy_({b}.to(lib.{dtype}))",
            "{a}.copy_({b}.long())", "{a}.copy_({b}.double())", "{n} = {a}.to(lib.{dtype})",
            "{a}.double().copy_({b})", "{a}.data.copy_({b}.half())", "{n} = {a}.to({a}.dtype)",
            "{n} = {a}.contiguous()", "{n} = {a}.reshape(-1)",
            "{n} = lib.from_numpy({a}.detach().clone().numpy())", "{n} = lib.asarray({a})",
            "{n} = {a}.detach_()", "{a}.requires_grad_({flag})", "{a}.add_({x})", "{a}.mul_({b})",
            "{a}[0] = {x}", "{a}[...] = {b}", "{a}.zero_()", "with {mode}: {a}.add_({x})",
            "with {mode}: {n} = {a}.detach()", "with {mode}: {a}.set_({b})",
            "with {mode}: {a}.copy_({b})", "with {mode}: {n} = {a}.data",
            "with {mode}: {a}.data = {b}", "with {mode}: {n} = {a}.clone()", "{a}.detach().t_()",
            "{a}.data.unsqueeze_(0)", "{a}.t_()", "{n} = lib.nn.Parameter({a})",
            "{n} = {a}.as_strided((2,), (1,))", "{n} = {a} * {b}", "{r}.sum().backward()",
            "lib.add({b}.detach(), 1, out={a})", "lib.mul({a}, 2, out={a}.data)",
            "{n} = {a}.expand(2, 2)", "lib.cat([{e}.detach(), {f}.detach()], out={a})",
            "{n} = {a}.new_empty({shape}).fill_({x})", "{n} = {a}.untyped_storage().nbytes()",
            "{n} = {a}.storage_offset()", "{n} = {a}._version",
            "{n} = lib.empty_like({a}).copy_({b})",
            "{n} = {a}.clone(memory_format=lib.preserve_format)",
        ],
    ),
    # Modes that are entered, left, suspended and resumed in every way.
    "modes": (
        [
            "v0 = lib.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)", "v1 = v0 * 2",
            "G = lib.no_grad()(lambda: ((yield {a} * 2), (yield {a}.add_(1)), (yield {a}[0])))()",
            "with lib.inference_mode(): v2 = lib.ones(2, 2)",
            "K = lib.inference_mode()(lambda: ((yield {a} * 2), (yield {a}[0])))()",
        ],
        [
            "{n} = next(G)", "{n} = next(G)", "{n} = G.send(1)", "G.close()",
            "G = {mode}(lambda: ((yield {a} * 2), (yield {b}.view(-1)), (yield {a}.sum())))()",
            "G = {mode}(lambda: ((yield lib.is_grad_enabled()), (yield next(K))))()",
            "K = {mode}(lambda: ((yield {a} * 2), (yield {a}[0]), (yield {a}.mul_(2))))()",
            "{n} = next(K)", "{n} = thread(lambda: next(G))", "{n} = thread(lambda: next(K))",
            "{n}, {n} = hold({mode}, lambda: {a} * 2)", "K.throw(ValueError('thrown'))",
            "{n} = wait({mode}, lambda: {a} * {b})", "{n} = wait({mode}, lambda: {a}.view(-1))",
            "{n} = wait({mode}, lambda: wait({mode}, lambda: {a} * 2))",
            "{n} = wait({mode}, lambda: thread(lambda: {a} * 2))",
            "wait({mode}, lambda: {a}.mul_(2))", "wait({mode}, lambda: 1 / 0)",
            "with {mode}: wait({mode}, lambda: 1 / 0)", "with {mode}: {n} = {a} * 2; {a}.add_('x')",
            "with {mode}: {n} = thread(lambda: {a} * 2)",
            "with {mode}: thread(lambda: {a}.mul_(2))", "with {mode}: {n} = next(G)",
            "{n} = {mode}({mode}(lambda: {a} * 2))()", "{mode}(lambda: {a}.mul_(2))()",
            "{n} = {mode}(lambda: thread({mode}(lambda: {a}[0])))()",
            "lib.set_grad_enabled({flag})", "with {mode}: lib.set_grad_enabled({flag})",
            "with {mode}: {n} = {a} * 2; lib.set_grad_enabled({flag}); {n} = {a} * 3",
            "{n} = lib.is_grad_enabled(), lib.is_inference_mode_enabled()", "{n} = {a} * {b}",
            "{n} = {a}.clone()", "{n} = {a}[0]", "{a}.add_({x})", "{a}.mul_({b})",
            "{n} = {a}.detach()", "{n} = {a}.exp()", "{r}.sum().backward()", "{r}.retain_grad()",
            "{a}.requires_grad_()", "{n} = {a} + {b}", "{n} = {a} + 1", "{n} = lib.cat([{a}, {b}])",
            "{n} = {a}.view(-1)", "{n} = lib.stack([{a}, {b}, {c}])",
            "{n} = lib.addcmul({a}, {b}, {c})", "{n} = {a}._version",
            "{n} = lib.where({a} > 0, {b}, {c})", "lib.mul({b}, 2, out={a})", "{n} = {a} @ {b}",
        ],
    ),
    # Every kind of index, in what is read and in what is written.
    "indices": (
        [
            "v0 = lib.arange(24.0).reshape(2, 3, 4).requires_grad_()", "v1 = v0 * 0.5",
            "I = lib.tensor([1, 0])", "J = v0[0].detach() > 4",
        ],
        [
            "{n} = {a}[{i}]", "{n} = {a}[{i}]", "{n} = {a}[{i}, {j}]", "{n} = {a}[{i}, {j}]",
            "{n} = {a}[{i}][{j}]", "{a}[{i}] = {x}", "{a}[{i}] = {b}", "{a}[{i}, {j}] = {x}",
            "{a}[{i}] = {e}[{i}]", "{a}[{i}, {j}] = {e}[{i}, {j}]", "{a}[{i}] = {e}.sum()",
            "{a}[{i}] = {e}[{i}].double()", "{a}[{i}] += {x}", "{a}[{i}] *= {e}[{i}]",
            "{a}[{i}][{j}] = {x}", "{a}[{i}, {j}, {i}] = {x}", "{n} = {a}[{i}, {j}, {i}]",
            "{a}[{i}] = [1.0, 2.0]", "{a}[{i}] = lib.tensor({x}, dtype=lib.{dtype})",
            "with {mode}: {n} = {a}[{i}]", "with {mode}: {a}[{i}] = {x}",
            "with {mode}: {a}[{i}, {j}] = {e}[{i}, {j}]", "{n} = {a}.index_put((I,), {e}[I])",
            "{a}.index_put_((I,), {e}[I], accumulate={flag})", "{a}.index_fill_({d}, I, {x})",
            "{a}.index_add_({d}, I, {e}.index_select({d}, I), alpha={x})",
            "{a}.index_copy_({d}, I, {e}.index_select({d}, I))",
            "{n} = {a}.index_select({d}, I)", "{a}.masked_fill_({a} > 1, {x})",
            "{n} = {a}.masked_select({a} > 1)",
            "{a}.scatter_({d}, I.expand_as({a}[:1, :1]) if 0 else {a}.long() * 0, {x})",
            "{n} = {a}.gather({d}, {a}.long() * 0)", "{n} = {a}.take(I)",
            "{a}.put_(I, {e}.take(I))", "{r}.sum().backward()", "({r} * {r}).sum().backward()",
            "{n} = {a} * 2", "{n} = saved({r})", "{n} = {a}.detach()", "{n} = {a}.grad_fn",
            "{n} = {a}.view(-1)", "{n} = {a}.t()", "{n} = {a}.transpose(0, -1)",
            "{n} = {a}.expand(2, *{a}.shape)", "{n} = {g}.grad[{i}]",
            "{n}, = lib.autograd.grad({r}[{i}].sum(), [{s}], allow_unused=True, retain_graph=True)",
            "{n}, = lib.autograd.grad(({r}[{i}] ** 2).sum(), [{s}], create_graph=True)",
            "{a}.__setitem__(slice(1), {x})", "{n} = {a}.narrow({d}, 0, 1)",
            "{n} = {a}.select({d}, -1)", "{n} = lib.take_along_dim({a}, {a}.long() * 0, {d})",
        ],
    ),
    # Elements that lie where others do.
    "overlaps": (
        [
            "v0 = lib.tensor([[1.0, -2.0, 0.5]], requires_grad=True)", "v1 = v0 * 1",
            "v2 = v1.expand(2, 3)", "v3 = lib.ones(3)",
        ],
        [
            "{n} = {a}.expand(2, *{a}.shape)", "{n} = {a}.expand_as({b})",
            "{n} = {a}.unfold({d}, 2, 1)", "{n} = {a}.broadcast_to({shape})",
            "{n} = {a}.as_strided((2, 2), (1, 1))", "{n} = {a}.as_strided((2, 2), (0, 1))",
            "{n}, {n} = lib.broadcast_tensors({a}, {b})",
            "{n}, {n} = lib.meshgrid({a}.flatten()[:2], {b}.flatten()[:2], indexing='ij')",
            "{n} = {a}.expand(2, *{a}.shape)[0]", "{n} = {a}[0]", "{n} = {a}.clone()",
            "{n} = {a} * 1", "{n} = {a}.contiguous()", "{n} = {a}.detach()", "{n} = {a}.t()",
            "{n} = {a}.view(-1)", "{a}.add_({x})", "{a}.mul_({b})", "{a}.copy_({b})", "{a}.zero_()",
            "{a}.fill_({x})", "{a}[0] = {x}", "{a}[0] = {e}", "{a}[...] = {e}", "{a}.exp_()",
            "{a}.add_({a})", "{a}.expand(2, *{a}.shape).add_({x})",
            "{a}.expand(2, *{a}.shape)[0].mul_({x})", "{a}.expand(2, *{a}.shape).zero_()",
            "{a}.expand_as({b}).copy_({e})", "lib.add({e}, {f}, out={a})",
            "lib.mul({e}.detach(), {x}, out={a})", "{a}.t_()", "lib.sin({e}.detach(), out={a})",
            "{a}.masked_fill_({a} > 0, {x})", "{a}.squeeze_()",
            "{a}.index_fill_({d}, lib.tensor([0]), {x})", "{a}.cumsum_({d})", "{a}.clamp_(-1, 1)",
            "with {mode}: {n} = {a}.expand(2, *{a}.shape)", "with {mode}: {a}.add_({x})",
            "with {mode}: {a}.copy_({b})", "with {mode}: {a}[0] = {x}",
            "{a}.requires_grad_({flag})", "{n} = {a} * {b}", "{n} = {a} + {b}", "{n} = {a} @ {b}",
            "{n} = {a}.sum({d})", "{n} = {a}.grad_fn", "{r}.sum().backward()",
            "{r}.sum().backward(retain_graph=True)", "({r} * {b}).sum().backward()",
            "{n} = {a}.abs()", "{n} = {a}.sort({d}).values",
        ],
    ),
}  # fmt: skip
THEMES |= themes_of_operators.THEMES
INDICES = [
    "0", "-1", "1", ":", "1:", "::2", "...", "None", "[0, 1]", "[1]", "[[0], [1]]", "I",
    "I[None]", "lib.tensor(1)", "lib.tensor([True, False])", "True", "False",
    "lib.tensor([], dtype=lib.long)", "I.int()", "(0, 1)", "(slice(None), 0)", "[True, False]",
    "I > 0", "7", "1.0", ":1", "J",
]  # fmt: skip
WRITES = re.compile(r"\w_\(|\] \S?= |out=|\.data = |setitem")


class ThemeGenerator(Generator):
    """Programs about one theme, but for a part of their statements."""

    blocks = 0.2

    def program(self):
        """Return (program, the reference's steps)."""
        start, self.statements = THEMES[self.rng.choice(list(THEMES))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = []
            self.count = 4  # the names that a start may use
            for source in start:
                self.step(program, source.replace("{a}", "v0"))
            program += self.body(self.length, 0)
            self.machine.reset()
        return program, self.machine.steps

    def choose(self):
        """Return a statement of the theme, or any other."""
        if not self.machine.tensors or self.rng.random() < 0.25:
            return super().choose()
        template = self.rng.choice(self.statements)
        for name in re.findall(r"\{[ij]\}", template):
            template = template.replace(name, self.rng.choice(INDICES))
        template = template.replace("{n2}", f"v{self.count}")
        return self.fill(template, writes=bool(WRITES.search(template)))
