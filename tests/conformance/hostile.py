"""Random programs whose hooks do what hooks should not; see generate.py for the rest of them.

A hook writes down what it is given, runs any statement that a program may have (it writes to
tensors, resizes them, deletes them, changes modes, runs backward again), may write to or resize
its argument, and returns anything at all, or raises.
"""

import re
import warnings

from . import statements
from .generate import Generator
from .observe import attempt

HELPERS = """
calls = {}
def shown(x):
    if isinstance(x, (tuple, list)):
        return [shown(y) for y in x]
    if not isinstance(x, lib.Tensor):
        return type(x).__name__
    return [tuple(x.shape), str(x.dtype).rpartition(".")[2], x.requires_grad, x.is_inference(),
            [f"{float(n):.4g}" for n in x.detach().abs().flatten()[:4].double()]]
def hook(name, given, statement, result):
    global g, gs
    gs = next((x for x in given if isinstance(x, tuple)), given)
    g = next((x for x in gs if isinstance(x, lib.Tensor)), None)
    log.append([name, shown(given), lib.is_grad_enabled(), lib.is_inference_mode_enabled()])
    calls[name] = calls.get(name, 0) + 1
    if calls[name] > 3:
        return None
    here = {"g": g, "gs": gs}
    try:
        exec(statement, globals())
    except Exception as error:
        if calls[name] == 2 or "inference tensor" in str(error):
            raise
        failed = "INTERNAL ASSERT" in str(error)  # of PyTorch: see intended()
        log.append("INTERNAL ASSERT" if failed else type(error).__name__)
    return eval(result, globals(), here)
""".strip()
# Where a hook goes: {h} is the hook, {r} a tensor that requires grad.
PLACES = [
    *["{r}.grad_fn; {r}.register_hook({h})"] * 3,
    "{r}.register_post_accumulate_grad_hook({h})", "{node}.grad_fn.register_prehook({h})",
    "{node}.grad_fn.register_hook({h})", "{edge}({r}).node.register_prehook({h})",
    "{edge}({r}).node.register_hook({h})", "{r}.grad_fn; H = {r}.register_hook({h})",
    "{r}.grad_fn; {r}.retain_grad(); {r}.register_hook({h})",
    "H = {node}.grad_fn.register_prehook({h})",
    "{r}.grad_fn, {s}.grad_fn; {graph}.register_multi_grad_hook([{r}, {s}], {h}, mode='any')",
    "q = lib.mul({r}, {s}); q.grad_fn._raw_saved_self.register_hooks({h}, {k}); {n} = q",
    "q = {r}.exp(); q.grad_fn._raw_saved_result.register_hooks({h}, {k}); {n} = q",
    "with {graph}.saved_tensors_hooks({h}, {k}): {n} = lib.mul({r}, {r})",
    "with {graph}.saved_tensors_hooks({h}, {k}): {n} = {r}.exp()",
    "with {graph}.saved_tensors_hooks({h}, {k}): {n} = {r}.relu().mul_({x})",
]  # fmt: skip
# What a hook does to what it is given. Memory that others share cannot grow: docs/differences.md.
DEEDS = [
    "pass", "pass", "g.mul_(2)", "g.zero_()", "g.resize_(1).fill_(2)",
    "g.data = g.clone(); g.resize_(6).fill_(1)", "g.t_()", "g.unsqueeze_(0)",
    "g.data = lib.ones(5)", "g.data = g.double()", "g.requires_grad_()",
    "g.data = g.data * 3", "g[0] = 7", "g.set_(lib.ones(2))", "{n} = g",
    "{n} = g * g", "1 / 0", "H.remove()", "{r}.grad = None", "{r}.grad = g", "{r}.grad.zero_()",
    "{r}.grad.resize_(1)", "lib.set_grad_enabled(True)", "lib.set_grad_enabled(False)",
    "{r} = None", "del {r}", "{r}.sum().backward()", "{r}.sum().backward(retain_graph=True)",
    "{r}.data.resize_(0)",
    "lib.autograd.grad({r}.sum(), [{s}], retain_graph=True, allow_unused=True)",
    "{r}.grad_fn; {r}.register_hook({h})", "{r}.requires_grad_(False)", "{r}.detach_()",
    "{r}.data = lib.ones(5)", "{r}.grad = lib.ones(5)", "{r}.grad_fn.register_prehook({h})",
    "{n} = g[0]", "g.detach_()", "with lib.inference_mode(): {n} = g * 2",
    "with lib.enable_grad(): {n} = g * {r}",
]  # fmt: skip
# What it returns in place of a tensor, and in place of several.
ONE = [
    "None", "None", "None", "None", "g", "g * 2", "g * 2", "g.clone()", "g.detach()", "g.double()",
    "g[0]", "g.view(-1)", "3", "gs", "g * g", "lib.ones(5)", "g.expand(2, *g.shape)", "g.t()",
    "g.mul_(3)", "[g]", "g.data", "'text'", "g.sum()", "g.to(lib.int64)", "lib.ones(0)", "g * 1j",
    "lib.empty_like(g).fill_(2)", "g.requires_grad_()", "lib.ones_like(g).t()",
]  # fmt: skip
SEVERAL = [
    "None", "None", "None", "None", "gs", "(None,)", "(None, None)", "()", "(*gs, None)", "gs[:-1]",
    "tuple(x and x * 2 for x in gs)", "tuple(x if x is None else x * 2 for x in gs)", "list(gs)",
    "tuple(x if x is None else x.double() for x in gs)", "tuple(None for x in gs)", "gs[0]",
    "tuple(x if x is None else x.clone() for x in gs)", "(g,)", "(g * 2,)", "(g, g)", "(g, None)",
    "tuple(lib.ones(3) for x in gs)", "tuple('text' for x in gs)", "g",
]  # fmt: skip
# What a program starts with, so that there are gradients: {shape} is one shape for all.
START = [
    "{n} = lib.ones({shape}, requires_grad=True)",
    "{n} = lib.full({shape}, 0.5, requires_grad=True)",
    "{n} = {r} * {s}",
]
FLOW = [
    "{n} = {r} * {s}", "{n} = {r} + {s}", "{n} = {r}.exp()", "{n} = {r}.tanh()", "{n} = {r} * 2",
    "{n} = {r}.relu()", "{n} = {r}.view(-1)", "{n} = {r}.sum(0)", "{n} = {r}[0]", "{n} = {r} - {s}",
    "{n} = lib.cat([{r}, {s}])", "{n}, {n} = {r}.unbind(0)", "{n} = {r}.clone().mul_({s})",
    "{n} = {r}.t()", "{n} = {r}.expand(2, *{r}.shape)", "{n} = {r} @ {s}", "{n} = {r}.softmax(-1)",
]  # fmt: skip
RUNS = [
    "{r}.sum().backward(retain_graph=True)", "{r}.sum().backward(retain_graph=True)",
    "{r}.sum().backward()", "({r} * {s}).sum().backward()", "({r} * {r}).sum().backward()",
    "({r} * {s}).sum().backward(retain_graph=True)", "{r}.sum().backward(inputs=[{s}])",
    "{r}.sum().backward(create_graph=True)", "with lib.inference_mode(): {r}.sum().backward()",
    "{n}, = lib.autograd.grad({r}.sum(), [{s}], retain_graph=True)",
    "{n}, = lib.autograd.grad(({r} * {s}).sum(), [{s}], create_graph=True)",
    "with lib.no_grad(): {r}.backward(lib.ones_like({r}), retain_graph=True)",
    "thread(lambda: {r}.sum().backward(retain_graph=True))",
]  # fmt: skip
# A statement that runs backward with a variable as the gradient.
GIVEN = re.compile(r"backward\((v\d+, )?v\d+(\.detach\(\))?\)|grad\(v\d+, \[v\d+\], v")


class HostileGenerator(Generator):
    """Programs with hooks at every place."""

    def program(self):
        """Return (program, the reference's steps)."""
        self.hooks = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program, shape = [], self.rng.choice(["(2, 3)", "(2, 2)", "(2,)", "(2, 1)", "()"])
            self.step(program, HELPERS)
            for source in START:
                self.step(program, self.fill(source.replace("{shape}", shape)))
            program += self.body(self.length, 0)
            self.machine.reset()
        return program, self.machine.steps

    def choose(self):
        """Return a statement; not one whose gradient shares memory with a variable.

        A hook may make that memory grow, which does here what docs/differences.md says.
        """
        while GIVEN.search(statement := self.any()):
            pass
        return statement

    def any(self):
        """Return a statement that registers a hook, runs backward, or any other one."""
        rng = self.rng
        if not any(t.requires_grad for t in self.machine.tensors.values()):
            return super().choose()
        kind = rng.choices([PLACES, RUNS, FLOW, statements.BACKWARD, None], [6, 8, 2, 1, 2])[0]
        if kind is None:
            return super().choose()
        return self.hooked(rng.choice(kind))

    def hooked(self, template):
        """Put hooks, then variables, into a template."""
        live = self.machine.tensors
        inner = [n for n in live if attempt(lambda n=n: live[n].grad_fn is not None) is True]
        places = {"edge": "{graph}.get_gradient_edge", "graph": "lib.autograd.graph"}
        places["node"] = self.rng.choice(inner) if inner else "{r}"
        for word, text in places.items():
            template = template.replace("{" + word + "}", text)
        for word in ("{h}", "{k}"):
            while word in template:
                hook = self.hook(template).replace("{", "{{").replace("}", "}}")
                template = template.replace(word, hook, 1)
        return self.fill(template)

    def hook(self, place):
        """Return the text of a hook for a place."""
        rng = self.rng
        self.hooks += 1
        name = f"h{self.hooks}"
        deed = rng.choice(DEEDS).replace("{h}", "lambda *g: log.append(shown(g))")
        if rng.random() < 0.2:
            kinds, weights = zip(*statements.KINDS)
            deed = "resize_"
            while "resize_" in deed:  # when the hook runs, others may share the memory: see above
                deed = rng.choice(rng.choices(kinds, weights)[0])
        deed = self.fill(deed, writes=True)
        answers = SEVERAL if "grad_fn.register" in place or ".node." in place else ONE
        return f"lambda *x: hook({name!r}, x, {deed!r}, {rng.choice(answers)!r})"
