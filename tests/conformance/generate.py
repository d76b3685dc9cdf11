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
    "{n} = lib.tensor({data}{grad})",
    "{n} = lib.tensor({data}{grad})",
    "{n} = lib.tensor({data}{grad})",
    "{n} = lib.tensor({data}, dtype=lib.{dtype})",
    "{n} = lib.zeros({shape}{grad})",
    "{n} = lib.ones({shape}{grad})",
    "{n} = lib.full({shape}, {x})",
    "{n} = lib.arange({k}, dtype=lib.float32{grad})",
    "{n} = lib.zeros_like({a})",
    "{n} = lib.ones_like({a}{grad})",
    "{n} = {a}.new_zeros({shape})",
    "{n} = lib.nn.Parameter({a}.detach())",
    "{n} = lib.nn.Parameter({a})",
    "{n} = lib.eye(3{grad})",
]
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
    "{n} = {a}.masked_fill({b} > 0, {x})",
    "{n} = {a} ** 2", "{n} = lib.atan2({a}, {b})", "{n} = {a}.index_select(0, lib.tensor([0, 0]))",
    "{n} = {a}[[0, -1]]", "{n} = {a}[{a} > 0]", "{n} = {a}.repeat(2, 1)", "{n} = {a} > {b}",
    "{n} = {a}.exp()", "{n} = {a}.float()", "{n} = {a}.type_as({b})", "{n} = {a}.var()",
    "{n} = {a}.tril()", "{n} = {a}.roll(1)", "{n} = lib.nn.functional.gelu({a})",
    "{n} = lib.nn.functional.mse_loss({a}, {b})", "{n} = lib.nn.functional.linear({a}, {b})",
    "{n} = {a}.sort({d}).values", "{n} = {a}.norm()", "{n} = {a}.prod()", "{n} = {a}.amax({d})",
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
]  # fmt: skip
MULTIVIEW = [
    "{n}, {n} = {a}.unbind(0)", "{n}, {n} = {a}.split(1)", "{n}, {n}, {n} = {a}.unbind({d})",
    "{n}, {n} = {a}.chunk(2, {d})", "{n}, {n} = {a}.split([1, 2], {d})", "{n}, {n} = {a}",
    "{n} = {a}.unbind({d})[0]", "{n} = {a}.chunk(2)[0]", "{n} = {a}.split(2, {d})[0]",
]  # fmt: skip
INPLACE = [
    "{a}.add_({x})", "{a}.mul_({b})", "{a}.add_({b})", "{a}.sub_({b})", "{a}.zero_()",
    "{a}.copy_({b})", "{a}.copy_({b})", "{a}.fill_({x})", "{a}.sin_()", "{a}.relu_()",
    "{a}.tanh_()", "{a}.clamp_(-1, 1)", "{a}.mul_({x})", "{a}.neg_()", "{a}.sigmoid_()",
    "{a} += {b}", "{a} *= {x}", "{a}.masked_fill_({a} > 0, {x})", "{a}.addcmul_({b}, {b})",
    "{a}.div_(2)", "{a}.lerp_({b}, {x})", "{a}.square_()", "{a}.add_({b}, alpha=2)",
    "{a}.detach().mul_({x})", "{a}.data.add_({x})", "{a}.exp_()", "{a}.add_({a})",
    "{a}.copy_({x})", "{a}.abs_()", "{a}.addcmul_({b}, {c}, value={x})",
    "{a}.sub_(lib.tensor({x}))",
]  # fmt: skip
ASSIGN = [
    "{a}[0] = {x}", "{a}[...] = {b}", "{a}[1:] = {b}", "{a}[{a} > 0] = {x}", "{a}[0] = {b}",
    "{a}[:, 0] = {b}", "{a}[[0, 1]] = {b}", "{a}[..., -1] = {x}", "{a}[:] = {b}",
]  # fmt: skip
METADATA = [
    "{a}.t_()", "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.transpose_(0, -1)", "{a}.detach_()",
    "{a}.requires_grad_()", "{a}.requires_grad_()", "{a}.requires_grad_(False)",
    "{a}.requires_grad = True", "{a}.retain_grad()", "{a}.data = {b}.data", "{a}.data = {b}",
    "{a}.squeeze_({d})",
]  # fmt: skip
OUT = [
    "lib.add({b}, {b}, out={a})", "lib.mul({b}, {x}, out={a})", "lib.sin({b}, out={a})",
    "{n} = lib.mul({b}, {c}, out={a})", "{n} = lib.sum({a}, {d}, out={c}.detach().clone())",
    "lib.sub({a}, {a}, out={a})",
    "lib.add({b}.detach(), {b}.detach(), out={a})", "lib.exp({b}.detach(), out={a})",
    "{n} = lib.cat([{a}, {b}], out=lib.zeros(0))", "lib.mul({b}.detach(), 2, out={a})",
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
]  # fmt: skip
DELETE = ["del {a}", "{a} = {b}"]
KINDS = [
    (CREATE, 2.0), (FUNCTIONAL, 5), (VIEW, 5), (MULTIVIEW, 1), (INPLACE, 5), (ASSIGN, 1.2),
    (METADATA, 1.3), (OUT, 0.8), (BACKWARD, 3), (DELETE, 0.3),
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
        return self.fill(self.rng.choice(kind), writes=kind in (INPLACE, ASSIGN, OUT))

    def fill(self, template, writes=False):
        """Put variables and numbers into a template."""
        rng, live = self.rng, self.machine.tensors
        names = list(live)
        if writes and rng.random() < 0.8 and self.machine.lib.is_grad_enabled():
            names = [n for n in names if not is_leaf(live[n])] or names
        recent = names[-4:] if names and rng.random() < 0.6 else names
        a = rng.choice(recent) if names else "v0"
        if writes:  # what an overlapping write gives where it is not refused is undefined
            here = storage(live[a]) if names else 0
            names = [n for n in names if n == a or storage(live[n]) != here]
        same = [n for n in names if names and live[n].shape == live[a].shape]
        fits = [n for n in names if live[n].dim() <= live[a].dim()] if names else []
        graded = [n for n in names if is_leaf(live[n]) and live[n].grad is not None]
        grads = [n for n in names if live[n].requires_grad] or names or ["v0"]
        dims = max(1, live[a].dim()) if names else 1

        def other():
            return rng.choice((same if rng.random() < 0.6 else fits or same) or ["v0"])

        values = {
            "g": rng.choice(graded or grads),
            "a": a, "b": other(), "c": other(), "r": rng.choice(grads), "s": rng.choice(grads),
            "x": rng.choice([2, -1, 0.5, 1.5, 0]), "d": rng.randrange(-dims, dims),
            "k": rng.randint(0, 4), "shape": rng.choice(SHAPES[:-1] if rng.random() < 0.95 else
            SHAPES), "dtype": rng.choice(DTYPES), "data": self.data(),
            "grad": ", requires_grad=True" if rng.random() < 0.6 else "",
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
