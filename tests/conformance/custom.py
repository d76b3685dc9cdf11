"""Random programs that define and call custom functions; see generate.py for the rest of them."""

from . import statements
from .generate import Generator

# What a forward may compute: {x}, {y} are its tensors, {s} a number; each gives one result.
RESULTS = [
    "x * 2", "x * y", "x.clone()", "x.clone()", "x", "x", "y", "x.view(-1)", "x[0]", "x.t()",
    "x.detach()", "x.sum()", "None", "3", "'text'", "x.argmax()", "x > 0", "x.unbind(0)[0]",
    "x.data", "x.view_as(x)", "lib.ones(2, 3)", "(x * 2)[0]", "x.expand(2, *x.shape)", "x + s",
    "a", "a", "a", "a[0]", "a.view(-1)", "w", "x.double()", "x.exp()", "[x * 2]",
]  # fmt: skip
# What precedes them: `a` is an intermediate tensor.
BEFORE = [
    "a = x * 2", "a = x.clone()", "a = x * y", "a = x.detach()", "a = x.view(-1)",
    "with lib.enable_grad(): a = x * 2", "with lib.inference_mode(): a = x * 2",
    "with lib.no_grad(): a = x[0]", "a = x.sin()", "a = x[1:]",
]  # fmt: skip
WRITES = ["x.mul_(2)", "x.add_(1)", "x.neg_()", "x.detach().mul_(3)", "x.sin_()"]
SAVED = ["x", "x", "y", "a", "r[0]", "r[0]", "r[-1]", "None", "x * 1"]
# A gradient of argument i: `t` is the sum of what arrived, `ctx.shapes[i]` the argument's shape.
GRADIENTS = [
    "lib.ones(ctx.shapes[{i}]) * t", "lib.ones(ctx.shapes[{i}]) * t",
    "lib.ones(ctx.shapes[{i}]) * t", "lib.ones(ctx.shapes[{i}]) * t * t", "None", "gs[0]",
    "gs[0] * 2", "gs[-1]", "lib.full(ctx.shapes[{i}], 0.5) + t", "saved[0] * t",
    "saved[0] * saved[0] * t", "lib.ones(ctx.shapes[{i}], dtype=lib.float64) * t",
    "lib.ones((2, *ctx.shapes[{i}])) * t", "t", "lib.ones(7)",
]  # fmt: skip
CALLS = [("{f}.apply({a}, {b}, {x})", 6), ("{f}.apply({a}, {a}, {x})", 1),
         ("{f}.apply({r}, {b}, {x})", 3), ("{f}.apply({a}, {x}, {x})", 0.3),
         ("{f}.apply({a}, {b}, s={x})", 0.3), ("{f}.apply({a}, {b})", 0.2)]  # fmt: skip
HELPERS = """
def told(*tensors):
    log.append([lib.is_grad_enabled(), lib.is_inference_mode_enabled()])
    for t in tensors:
        if isinstance(t, lib.Tensor):
            log.append([tuple(t.shape), str(t.dtype).rpartition(".")[2], t.requires_grad,
                        t.is_inference(), t.is_leaf])
        else:
            log.append(type(t).__name__)
def total(gs):
    t = lib.zeros(())
    for g in gs:
        if isinstance(g, lib.Tensor) and g.is_floating_point():
            t = t + g.sum()
    return t
""".strip()


class CustomGenerator(Generator):
    """Programs that start with the definitions of a few custom functions."""

    def program(self):
        """Return (program, the reference's steps)."""
        self.results = {}  # function -> how many results it returns in a tuple; 0: no tuple
        self.defined = [HELPERS]
        for k in range(self.rng.randint(1, 3)):
            self.defined.append(self.function(f"F{k}"))
        for source in self.defined:
            self.machine.statement(source)
        program, steps = super().program()
        return self.defined + program, steps

    def function(self, name):
        """Return the text of one function's definition."""
        rng = self.rng
        separate = rng.random() < 0.3
        n_results = rng.choice([0, 0, 0, 1, 2, 2, 3])
        self.results[name] = n_results
        dirty = rng.random() < 0.3
        results = rng.choices(RESULTS, k=max(n_results, 1))
        if dirty and rng.random() < 0.9:
            results[rng.randrange(len(results))] = "x"
        forward = [rng.choice(BEFORE)]
        if dirty or rng.random() < 0.05:
            forward.insert(rng.randrange(2), rng.choice(WRITES))
        forward.append("r = (" + ", ".join(results) + ",)")
        end = "return r" if n_results else "return r[0]"
        told = [
            "told(x, y)", "log.append(ctx.needs_input_grad)",
            "ctx.shapes = [getattr(x, 'shape', ()), getattr(y, 'shape', ())]",
        ]  # fmt: skip
        if dirty and rng.random() < 0.9:
            told.append("ctx.mark_dirty(x)")
        if rng.random() < 0.2:
            told.append(f"ctx.mark_non_differentiable(r[{rng.randrange(len(results))}])")
        if rng.random() < 0.3:
            told.append("ctx.set_materialize_grads(False)")
        if rng.random() < 0.7:
            saved = rng.choices(SAVED, k=rng.randint(1, 2))
            told.append(f"ctx.save_for_backward({', '.join(saved)})")
        lines = [f"class {name}(lib.autograd.Function):"]
        if rng.random() < 0.05:
            lines.append("    clear_saved_tensors_on_access = True")
        if separate:
            told = [line.replace("(a", "(r[0]").replace("a)", "r[0])") for line in told]
            lines += self.method("forward(x, y, s=2)", [*forward, end])
            unpack = ["x, y, s = inputs", "a = x", "r = output" + ("" if n_results else ",")]
            lines += self.method("setup_context(ctx, inputs, output)", unpack + told)
        else:
            lines += self.method("forward(ctx, x, y, s)", [*forward, *told, end])
        return "\n".join(lines + self.backward(dirty))

    def backward(self, dirty):
        """Return the lines of a backward."""
        rng = self.rng
        body = ["told(*gs)", "t = total(gs)"]
        if rng.random() < 0.7:
            body.append("saved = ctx.saved_tensors")
            body.append("told(*saved)")
        gradients = [rng.choice(GRADIENTS).format(i=i) for i in range(2)]
        if dirty and gradients[0] == "None":
            gradients[0] = "lib.ones(ctx.shapes[0]) * t"  # a rule of its own: docs/differences.md
        gradients.append("None" if rng.random() < 0.95 else "t")
        if rng.random() < 0.05:
            gradients.pop()
        if rng.random() < 0.05:
            gradients += ["None", "None"]
        body.append("y = (" + ", ".join(gradients) + ",)")
        body.append("told(*y)")
        if rng.random() < 0.1:
            body.insert(1, "log.append(ctx.needs_input_grad)")
        once = rng.random() < 0.2
        return self.method("backward(ctx, *gs)", [*body, "return y"], once)

    def method(self, signature, body, once=False):
        """Return the lines of a static method."""
        lines = ["    @staticmethod"]
        if once:
            lines.append("    @lib.autograd.function.once_differentiable")
        return [*lines, f"    def {signature}:", *(f"        {line}" for line in body)]

    def choose(self):
        """Return a call of one of the functions, or any other statement."""
        if self.machine.tensors and self.rng.random() < 0.35:
            name = self.rng.choice(list(self.results))
            calls, weights = zip(*CALLS)
            call = self.rng.choices(calls, weights)[0].replace("{f}", name)
            targets = ", ".join(["{n}"] * max(self.results[name], 1))
            if self.results[name] == 1:
                targets += ","
            return self.fill(f"{targets} = {call}", writes=True)
        if self.machine.tensors and self.rng.random() < 0.2:
            return self.fill(self.rng.choice(statements.BACKWARD))
        return super().choose()
