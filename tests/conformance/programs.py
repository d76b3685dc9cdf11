"""Programs as data: run one in a library, compare two runs, shrink, print as a script.

A program is a list of statements: source text that names the library `lib` and the variables
`v0`, `v1`, ..., or a Block, a mode with a body that an exception may leave.
"""

import contextlib
import copy
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from .foreign_data import through
from .observe import attempt, differences, dtype_name, failure, node_name, observe

TOLERANCE = (1e-3, 1e-3)  # rounding adds up over a program; its values stay below LIMIT
LIMIT = 1e3
TINY = 3e-5  # what may be nothing but rounding: whether it is above 0 is chance


@dataclass
class Block:
    """`with mode:` and a body; `raises` leaves it by an exception caught outside."""

    mode: str
    body: list = field(default_factory=list)
    raises: bool = False


class Left(Exception):
    """Leaves a block."""


@dataclass
class Step:
    """What a statement did: "ok" or the failure, then all observables by variable."""

    source: str
    outcome: str
    state: dict


class Machine:
    """Runs statements in one library and records a Step for each."""

    def __init__(self, lib):
        self.lib = lib
        lib.manual_seed(7)
        self.names = {"lib": lib, "log": [], "copy": copy, "pickle": pickle, "saved": saved_by(lib)}
        self.names |= {"thread": thread, "hold": hold, "wait": wait, "see": self.see}
        self.names |= {"array": through(lib), "warned": warned_by(lib)}
        self.names |= {"M": lib.nn.Module(), "N": lib.nn.BatchNorm1d(3), "L": lib.nn.Linear(3, 2)}
        self.steps = []
        self.tensors = {}
        self.seen = {}  # what `see` was told
        self.births = {}  # variable -> (the tensor it is, the version it had when first seen)

    def statement(self, source):
        """Run one statement."""
        outcome = "ok"
        try:
            exec(source, self.names)
        except Exception as error:
            outcome = failure(error)
        self.record(source, outcome)

    def see(self, observable, value):
        """Compare a value that programs show nothing of otherwise, under an observable's name."""
        self.seen[observable] = value

    @contextlib.contextmanager
    def block(self, block):
        """Enter a block; the caller runs its body."""
        try:
            with contextlib.ExitStack() as stack:
                for mode in eval(f"[{block.mode}]", self.names):
                    stack.enter_context(mode)
                self.record(f"with {block.mode}:", "ok")
                yield
                if block.raises:
                    raise Left
        except Left:
            pass
        self.record("# left the block", "ok")

    def run(self, program):
        """Run a whole program."""
        for item in program:
            if isinstance(item, Block):
                with self.block(item):
                    self.run(item.body)
            else:
                self.statement(item)

    def reset(self):
        """Leave the modes that statements entered as functions, for the next program."""
        self.lib.set_grad_enabled(True)

    def record(self, source, outcome):
        """Append a Step with the observables of all live variables."""
        lib = self.lib
        modes = (lib.is_grad_enabled(), lib.is_inference_mode_enabled())
        self.tensors = {
            name: value
            for name, value in self.names.items()
            if name[0] == "v" and isinstance(value, lib.Tensor)
        }
        state = {name: observe(t, tol=TOLERANCE) for name, t in self.tensors.items()}
        for seen in state.values():
            if isinstance(seen.get("grad"), dict):
                del seen["grad"]["version"]  # likewise
        owners = {}
        for name, tensor in self.tensors.items():
            seen = state[name]
            base = attempt(lambda t=tensor: t._base)
            seen["base"] = next((n for n, t in self.tensors.items() if t is base), "unnamed")
            if tensor.numel():
                seen["shares_memory_with"] = owners.setdefault(storage(tensor), name)
            seen["version"] = self.since_birth(name, tensor, seen)
        state["modes"] = {"grad, inference": modes}
        others = {n: v for n, v in self.names.items() if n[0] == "v" and n not in self.tensors}
        state["others"] = {name: _kind(value) for name, value in others.items()}
        for name, tensor in self.tensors.items():
            grad = attempt(lambda t=tensor: t.grad) if "grad" in state[name] else None
            if isinstance(grad, lib.Tensor) and grad.numel():
                seen = state[name]["grad"]
                seen["shares_memory_with"] = owners.setdefault(storage(grad), f"{name}.grad")
                seen["is"] = next((n for n, t in self.tensors.items() if t is grad), "unnamed")
        state["log"] = {"said": self.names["log"]}  # what functions of the program noted
        self.names["log"] = []
        state["seen"] = dict(self.seen)
        self.steps.append(Step(source, outcome, state))

    def since_birth(self, name, tensor, seen):
        """Return the version relative to when the tensor was first seen.

        With what version a result is born tells how many writes its kernel consists of inside.
        """
        version = seen["version"]
        if isinstance(version, str):
            return version
        born = self.births.get(name)
        if born is None or born[0] is not tensor:
            self.births.pop(name, None)
            start = version
            if "shares_memory_with" in seen:  # of those that do, the last with its version
                for other, first in self.births.values():
                    if storage(other) == storage(tensor) and (
                        attempt(lambda t=other: t._version) == version
                    ):
                        start = first
            born = self.births[name] = tensor, start
        return version - born[1]

    def wild(self):
        """Whether a value is so large, so small or NaN that rounding would differ visibly."""
        for tensor in self.tensors.values():
            for t in (tensor, attempt(lambda t=tensor: t.grad)):
                if not isinstance(t, self.lib.Tensor) or dtype_name(t) == "bool":
                    continue
                size = t.detach().abs()
                if t.numel() and not float(size.max()) < LIMIT:
                    return True
                if bool(((size > 0) & (size < TINY)).any()):
                    return True
        return False


def _kind(value):
    """Return the name of a graph node, the type of anything else."""
    if isinstance(value, (str, bool, int, tuple)):
        return re.sub(r"<(\w+) object at 0x\w+>", r"\1", repr(value))
    return node_name(value) if hasattr(value, "next_functions") else type(value).__name__


def thread(function):
    """Run a function in a thread of its own; return its result or raise what it raised."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def hold(mode, function):
    """Yield what a function gives in a mode, twice: the mode is on while this is suspended."""
    with mode:
        yield function()
        yield function()


def wait(mode, function):
    """Return what a function gives in a mode that a coroutine enters."""

    async def coroutine():
        with mode:
            return function()

    try:
        coroutine().send(None)
    except StopIteration as end:
        return end.value


def saved_by(lib):
    """Return a function that shows what a tensor's node has saved: names and tensors."""

    def show(node, name):
        value = attempt(lambda: getattr(node, name))
        if isinstance(value, lib.Tensor):
            return dtype_name(value), tuple(value.shape), value.requires_grad, value.is_leaf
        return value if isinstance(value, str) else None

    def saved(tensor):
        node = tensor.grad_fn
        names = sorted(name for name in dir(node) if name.startswith("_saved_"))
        seen = {name: show(node, name) for name in names}
        return repr({name: value for name, value in seen.items() if value is not None})

    return saved


def warned_by(lib):
    """Return a function that counts the warnings of a call."""
    always = getattr(lib, "set_warn_always", lambda on: None)

    def warned(function):
        always(True)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            function()
        always(False)
        return len(seen)

    return warned


def storage(tensor):
    """Return the address of the memory that a tensor is a part of."""
    start = tensor.storage_offset() * tensor.element_size()
    return tensor.data_ptr() - start


def run(lib, program):
    """Run a program; return its Steps."""
    machine = Machine(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.run(program)
        machine.reset()
    return machine.steps


@dataclass
class Mismatch:
    """The first statement after which the two libraries differ, and in what."""

    index: int
    source: str
    found: list  # (observable, ours, theirs)
    raised: str = "ok"  # what PyTorch raised
    modes: tuple = ()  # "in the mode", or "left the mode": outside, and of an inference tensor

    @property
    def kind(self):
        """What must stay while a program is shrunk: the observable without the variable."""
        observable, ours, theirs = self.found[0]
        if observable == "outcome":
            return re.sub(r"\d+", "", f"{ours} {theirs}")
        return observable.partition(".")[2] or observable

    def __str__(self):
        rows = [f"    {name}: {ours!r} here, {theirs!r} in PyTorch" for name, ours, theirs in
                self.found[:8]]  # fmt: skip
        return "\n".join([f"after `{self.source}`:", *rows])


def _half_done(before, after):
    """Yield what a call of ours that raised has changed of tensors, which no rule excuses."""
    for name in (before.keys() & after.keys()) - {"modes", "others", "log", "seen"}:
        for path, now, then in differences(after[name], before[name], name):
            yield "outcome", f"raised, with {path} changed from {then} to {now}", "as it was"


def compare(ours, theirs):
    """Return the first Mismatch of two runs, or None."""
    for index, (a, b) in enumerate(zip(ours, theirs)):
        found = []
        if index and a.outcome != "ok" and "out=" in a.source and "hook(" not in a.source:
            found += _half_done(ours[index - 1].state, a.state)
        if a.outcome != b.outcome:
            found.append(("outcome", a.outcome, b.outcome))
        found += differences(a.state, b.state)
        if found:
            return Mismatch(index, b.source, found, b.outcome, _modes(b, theirs[index - 1]))
    return None


def _modes(step, before):
    """Return how a statement stands to inference mode."""
    if step.state["modes"]["grad, inference"][1]:
        return ("in the mode",)
    names = {*re.findall(r"\bv\d+\b", step.source)}
    states = [before.state.get(name, {}) for name in names] + [step.state.get(n, {}) for n in names]
    return ("left the mode",) if any(seen.get("is_inference") is True for seen in states) else ()


def shrink(program, fails):
    """Return the smallest program found for which `fails(program)` stays true."""
    changed = True
    while changed:
        changed = False
        for candidate in _smaller(program):
            if fails(candidate):
                program, changed = candidate, True
                break
    return program


def _smaller(program):
    """Yield every program with one statement less, one block opened, one exception less."""
    for i in range(len(program) - 1, -1, -1):
        item, before, after = program[i], program[:i], program[i + 1 :]
        yield before + after
        if isinstance(item, Block):
            yield before + item.body + after
            if item.raises:
                yield [*before, replace(item, raises=False), *after]
            for body in _smaller(item.body):
                yield [*before, replace(item, body=body), *after]
        elif "requires_grad=True" in item:
            yield [*before, item.replace(", requires_grad=True", ""), *after]


def script(program, lib="imode"):
    """Return the program as a script that runs in either library and shows what happens."""
    lines = ["import importlib", "import sys", ""]
    lines += [f"lib = importlib.import_module(sys.argv[1] if sys.argv[1:] else {lib!r})"]
    body = "\n".join(_lines(program, ""))
    helpers = {
        "log.": "log = []",
        "copy.": "import copy",
        "pickle.": "import pickle",
        "M.": "M = lib.nn.Module()",
        "N": "N = lib.nn.BatchNorm1d(3)",
        "L": "lib.manual_seed(7); L = lib.nn.Linear(3, 2)",
        "thread(": "from tests.conformance.programs import thread",
        "hold(": "from tests.conformance.programs import hold",
        "wait(": "from tests.conformance.programs import wait",
        "saved(": "from tests.conformance.programs import saved_by; saved = saved_by(lib)",
    }
    for name, line in helpers.items():
        end = r"\b" if name.isalnum() else ""
        if re.search(rf"\b{re.escape(name)}{end}", body):
            lines.append(line)
    return "\n".join([*lines, "", body]) + "\n"


def _lines(program, indent):
    out = []
    for item in program:
        if not isinstance(item, Block):
            out.append(indent + item)
            continue
        inner = indent
        if item.raises:
            out.append(f"{indent}try:")
            inner += "    "
        out.append(f"{inner}with {item.mode}:")
        out += _lines(item.body, inner + "    ") or ([] if item.raises else [f"{inner}    pass"])
        if item.raises:
            out += [f"{inner}    raise ValueError", f"{indent}except ValueError:",
                    f"{indent}    pass"]  # fmt: skip
    return out
