"""Random programs: each statement is chosen for what is live, by running it in the reference."""

import random
import re
import warnings

from .observe import attempt
from .programs import Block, Machine, storage
from .statements import CREATE, DTYPES, KINDS, MODES, NAMES, SHAPES, WRITES


def is_leaf(tensor):
    """Whether it is a leaf that requires grad; False where reading that raises."""
    return attempt(lambda: tensor.requires_grad and tensor.is_leaf) is True


def overlaps(tensor):
    """Whether elements share memory in a way that no library looks for: not by a stride of 0."""
    steps = [(s, n) for s, n in zip(tensor.stride(), tensor.shape) if n > 1]
    return bool(tensor.numel()) and (
        all(s for s, _ in steps) and 1 + sum(s * (n - 1) for s, n in steps) < tensor.numel()
    )


# What tells numbers apart that may differ by nothing but rounding.
TELLS = re.compile(
    r"==|[<>]| in |"
    r"\b(eq|ne|ge|gt|le|lt|equal|\w+_equal|less|greater|floor_divide|fmod|remainder)_?\b"
)
# What picks among numbers, or puts them in order.
PICKS = re.compile(
    r"\b(topk|(arg)?sort|msort|(arg)?(max|min)|kthvalue|median|cum(max|min)|unique\w*)\("
)
ROUNDING = 1e-4


def nearly(a, b):
    """Whether elements of two tensors differ, but so little that rounding may make them equal."""
    if not (a.is_floating_point() or b.is_floating_point() or a.is_complex() or b.is_complex()):
        return False
    gap = attempt(lambda: (a.detach() - b.detach()).abs())  # a text where the shapes do not fit
    return not isinstance(gap, str) and bool(((gap > 0) & (gap < ROUNDING)).any())


def close_together(a):
    """Whether elements of a tensor are so near each other that rounding may change their order."""
    if not a.is_floating_point():
        return False
    gaps = a.detach().flatten().double().sort()[0].diff()
    return bool(((gaps > 0) & (gaps < ROUNDING)).any())


class Generator:
    """Grows one program from a seed; the same seed gives the same program."""

    blocks = 0.12  # how many of its statements are modes

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
            if depth < 3 and self.rng.random() < self.blocks:
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
        # docs/differences.md has a section on those.
        others = ("requires_grad", "pickle", "assign", "unsafe", "M.b = ", "register_buffer")
        others += ("vector_to_parameters", "view(lib.")
        if any(is_leaf(tensor) for tensor in live.values()):
            others += ("copy.copy", "deepcopy")
        others += ("M.double", "M.float", "N.double", "L.double", "L.float")
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
            gradients = [attempt(lambda t=t: t.grad) for t in live.values()]
            known = [*live.values(), *(g for g in gradients if hasattr(g, "storage_offset"))]
            alike = sum(storage(t) == storage(live[a]) for t in known)
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
        if TELLS.search(template.replace("{binary}", values["binary"])):
            told = [live[values[name]] for name in "abc" if values[name] in live]
            if any(map(nearly, told, told[1:])):
                template = "{n} = {a}.detach()"
        if PICKS.search(template) and a in live and attempt(lambda: close_together(live[a])):
            template = "{n} = {a}.detach()"
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
