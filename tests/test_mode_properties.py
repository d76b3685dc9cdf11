"""What inference mode promises, over random programs.

A program is a list of statements on a growing list of tensors: creation, functional operators,
views, in-place writes, `out=`, assignments, `set_`, `.data`, `detach`, `normal()`, shallow copies,
memory handed to NumPy, buffers and DLPack and taken back, backward; in blocks of modes that nest,
and are left in order, out of order and by exceptions. It is run in three worlds:

- `World`: as written.
- `NoGrad`: without blocks; a statement that `World` did not record runs under no_grad.
- `Detached`: without blocks; a statement that `World` did not record gets its tensors detached.

A statement that `World` refused is left out in the others: a refused statement must have had no
effect. What it did not refuse must work in the others too, and come to the same.
"""

import contextlib
import copy

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import imode
from imode._core.internals import array_of, wrap_array

pytestmark = pytest.mark.filterwarnings("ignore")  # programs do much that warns

# As drawn by every run alike: a failure is of the change at hand, not of the day.
checked = settings(max_examples=250, deadline=None, derandomize=True)

GUARDS = {
    "inference_mode": imode.inference_mode,
    "inference_mode(False)": lambda: imode.inference_mode(False),
    "no_grad": imode.no_grad,
    "normal_mode": imode.normal_mode,
    "enable_grad": imode.enable_grad,
}
FUNCTIONAL = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "sin": lambda a, b: a.sin(),
    "exp": lambda a, b: (a * 0.25).exp(),
    "div": lambda a, b: a / (b * b + 1),
    "where": lambda a, b: imode.where(a > 1, a, b),
    "clone": lambda a, b: a.clone(),
    "cat": lambda a, b: imode.cat([a.view(-1), b.reshape(-1)]),
    "linear": lambda a, b: imode.nn.functional.linear(a, b) if a.dim() == 2 else a + b,
    "to": lambda a, b: a.to(imode.float64).to(imode.float32),
    "index": lambda a, b: a[imode.tensor([0])] if a.dim() else a * 1,
}
VIEWS = {
    "view": lambda a: [a.view(-1)],
    "t": lambda a: [a.t()] if a.dim() <= 2 else [a],
    "select": lambda a: [a[0]] if a.dim() else [a.view(1)],
    "slice": lambda a: [a[1:]] if a.dim() and len(a) > 1 else [a.unsqueeze(0)],
    "unbind": lambda a: list(a.unbind()) if a.dim() else [a.view(1)],
    "chunk": lambda a: list(a.chunk(2)) if a.dim() else [a.view(1)],
    "expand": lambda a: [a.expand(2, *a.shape)] if a.dim() < 2 else [a],
    "diagonal": lambda a: [a.diagonal()] if a.dim() == 2 else [a.view(-1)],
    "detach": lambda a: [a.detach()],
    "reshape": lambda a: [a.reshape(-1)],
    "as_strided": lambda a: [a.as_strided((a.numel() // 2,), (1,), a.storage_offset())],
    "copy": lambda a: [copy.copy(a.detach())],
}
# Tensors over the memory of an array.
OVER = {
    "from_numpy": imode.from_numpy,
    "asarray": lambda array: imode.asarray(array[...]),
    "frombuffer": lambda array: imode.frombuffer(np.ravel(array), dtype=imode.float32),
    "from_dlpack": imode.from_dlpack,
    "capsule": lambda array: imode.from_dlpack(array.__dlpack__()),
}
WRITES = {
    "add_": lambda a, b: a.add_(b),
    "mul_": lambda a, b: a.mul_(b),
    "copy_": lambda a, b: a.copy_(b),
    "zero_": lambda a, b: a.zero_(),
    "fill_": lambda a, b: a.fill_(1.5),
    "sin_": lambda a, b: a.sin_(),
    "[...] =": lambda a, b: a.__setitem__(..., b),
    "[0] =": lambda a, b: a.__setitem__(0, 2.0) if a.dim() else a.fill_(2.0),
    "+=": lambda a, b: a.__iadd__(1),
    "out=": lambda a, b: imode.mul(b, 2, out=a) if a.shape == b.shape else a.add_(1),
    "relu_": lambda a, b: a.relu_(),
}
OTHERS = [
    *("make", "leaf", "requires_grad_", "drop", "data", "numpy", "save", "backward", "grad"),
    *("detach_", "t_", "set_", "normal", "data ="),
]

statements = st.one_of(
    st.tuples(st.just("enter"), st.sampled_from(sorted(GUARDS)), st.just(0)),
    st.tuples(st.just("leave"), st.sampled_from(["", "", "raise", "below"]), st.just(0)),
    *(
        st.tuples(st.sampled_from(sorted(table)), st.integers(0, 9), st.integers(0, 9))
        for table in (FUNCTIONAL, VIEWS, WRITES, OVER, dict.fromkeys(OTHERS))
    ),
)
programs = st.lists(statements, min_size=4, max_size=22)


class World:
    """One run of a program: its tensors, what else looks at their memory, its guards."""

    def __init__(self, log=()):
        self.tensors = [imode.tensor([[0.5, 1.0], [1.5, 2.0]], requires_grad=True)]
        self.kept, self.guards = [], []
        self.log = log  # of the program as written: (refused, recording, in the mode, copied)
        self.recording = self.in_mode = None
        self.copied = False  # whether normal() gave another tensor

    def look(self, number):
        """Find out what holds for a statement."""
        self.in_mode = imode.is_inference_mode_enabled()
        self.recording = imode.is_grad_enabled() and not self.in_mode

    def step(self, what, i, j):
        """Run one statement."""
        if what == "enter":
            guard = GUARDS[i]()
            guard.__enter__()
            self.guards.append(guard)
        elif what == "leave":
            if self.guards:
                guard = self.guards.pop(0 if i == "below" else -1)
                error = KeyError() if i == "raise" else None
                guard.__exit__(error and KeyError, error, None)
        else:
            self.run(what, i, j)

    def given(self, t):
        """The tensor as an operator's argument."""
        return t

    def choose(self, i, like=None):
        """The i-th tensor; with `like`, of those of its shape."""
        fit = self.tensors
        if like is not None:
            fit = [t for t in fit if t.shape == like.shape]
        return fit[i % len(fit)]

    def run(self, what, i, j):
        """Run a statement on tensors."""
        a = self.choose(i)
        if what in FUNCTIONAL:
            b = self.choose(j, a)
            self.tensors.append(FUNCTIONAL[what](self.given(a), self.given(b)))
        elif what in VIEWS:
            self.tensors += VIEWS[what](self.given(a))[:2]
        elif what in WRITES:
            WRITES[what](self.given(a), self.given(self.choose(j, a)))
        elif what == "make":
            self.tensors.append(imode.full((2, 2), 0.5 + i))
        elif what == "leaf":
            if not self.in_mode:  # see the limits on the page: such a leaf is not recorded later
                self.tensors.append(imode.full((2, 2), 0.5 + i, requires_grad=True))
        elif what == "requires_grad_":
            if not self.in_mode:
                a.requires_grad_()
        elif what == "drop":
            del self.tensors[1 + i :]
        elif what == "data":
            self.kept.append(a.data)
        elif what == "numpy":
            self.kept.append(a.detach().numpy())
        elif what == "save":
            weight = self.tensors[0]
            if a.shape == weight.shape:
                self.tensors.append(self.given(weight) * self.given(a))
        elif what == "backward":
            a.sum().backward(retain_graph=True)
        elif what == "grad":
            weight = self.tensors[0]
            (g,) = imode.autograd.grad(a.sum(), [weight], retain_graph=True, allow_unused=True)
            self.kept.append(g)
        elif what == "detach_":
            if not self.in_mode:  # where it does nothing to a normal tensor, as in PyTorch
                a.detach_()
        elif what == "t_":
            a.t_()
        elif what in OVER:
            arrays = [kept for kept in self.kept if isinstance(kept, np.ndarray)]
            if arrays:
                self.tensors.append(OVER[what](arrays[i % len(arrays)]))
        elif what == "normal":
            self.normal(a)
        elif what == "data =":
            b = self.choose(j)
            if a.shape == b.shape:
                a.data = b.detach()
        elif what == "set_":
            a.set_(self.choose(j))

    def normal(self, t):
        """A statement on its own: what it copies in one kind, it does not in the other."""
        made = t.normal()
        self.copied = made is not t
        self.tensors.append(made)


class NoGrad(World):
    """Without blocks; under no_grad what the program does not record."""

    def look(self, number):
        _, self.recording, self.in_mode, self.copied = self.log[number]

    def normal(self, t):
        self.tensors.append(t.detach().clone() if self.copied else t)

    def step(self, what, i, j):
        if what not in ("enter", "leave"):
            with contextlib.nullcontext() if self.recording else imode.no_grad():
                self.run(what, i, j)


class Detached(NoGrad):
    """Without blocks; of detached tensors what the program does not record."""

    def given(self, t):
        return t if self.recording else t.detach()

    def step(self, what, i, j):
        quiet = not self.recording and (
            what in ("detach_", "t_", "set_", "data =", "grad", "backward")
        )
        if what not in ("enter", "leave"):
            with imode.no_grad() if quiet else contextlib.nullcontext():
                try:
                    self.run(what, i, j)
                except RuntimeError as error:
                    # A view made unrecorded of what requires grad: as written, a graph that leads
                    # nowhere; detached, none.
                    if what not in ("backward", "grad") or "does not require" not in str(error):
                        raise
                    if what == "grad":
                        self.kept.append(None)


def values(tensors):
    return [(array_of(t).copy(), t.stride()) for t in tensors]


def same(before, after):
    return all(
        np.array_equal(a, b, equal_nan=True) and a.dtype == b.dtype and s == t
        for (a, s), (b, t) in zip(before, after, strict=True)
    )


def saved_tensors(tensors):
    """What the graphs behind some tensors have saved and not freed or lost."""
    todo, seen, saved = [t.grad_fn for t in tensors if readable(t)], set(), []
    while todo:
        node = todo.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        todo += [n for n, _ in node.next_functions]
        for name in dir(node):
            if name.startswith("_saved_"):
                with contextlib.suppress(RuntimeError):
                    value = getattr(node, name)
                    saved += [value] if isinstance(value, imode.Tensor) else []
    return saved


def readable(t):
    """Whether `grad_fn` can be read: not of a view made in a mode whose base was written since."""
    try:
        return t.grad_fn is None or True
    except RuntimeError:
        return False


def is_leaf(t):
    return readable(t) and t.is_leaf


def plain(array):
    return array_of(array) if isinstance(array, imode.Tensor) else array


def run_as_written(program):
    """Run a program, check the invariants after each statement; return (world, log, snapshots)."""
    world, log, snapshots = World(), [], []
    try:
        for number, statement in enumerate(program):
            world.look(number)
            refused = None
            frozen = [] if world.in_mode else [t for t in world.tensors if t.is_inference()]
            before, everything = values(frozen), values(world.tensors)
            live = list(world.tensors)
            try:
                world.step(*statement)
            except RuntimeError as error:
                refused = str(error)
                assert same(everything, values(live)), (statement, "a refused statement wrote")
            assert same(before, values(frozen)), (statement, "an inference tensor changed")
            log.append((refused, world.recording, world.in_mode, world.copied))
            check_kinds(world)
            snapshots.append(values(world.tensors))
    finally:
        while world.guards:
            world.guards.pop().__exit__(None, None, None)
    return world, log, snapshots


def check_kinds(world):
    """No inference tensor shares memory with a normal one, nor with what is saved."""
    tensors = world.tensors + [kept for kept in world.kept if isinstance(kept, imode.Tensor)]
    inference = [t for t in tensors if t.is_inference()]
    if not inference:
        return
    for other in tensors + saved_tensors(world.tensors):
        for t in () if other.is_inference() else inference:
            assert not np.shares_memory(array_of(t), array_of(other))


def agree(kind, program):
    """Run a program as written and in another world, and compare."""
    written, log, snapshots = run_as_written(program)
    world = kind(log)
    for number, (statement, (refused, *_)) in enumerate(zip(program, log, strict=True)):
        world.look(number)
        if refused is None:
            world.step(*statement)
        assert same(snapshots[number], values(world.tensors)), statement
    for mine, other in zip(written.tensors, world.tensors, strict=True):
        if not is_leaf(mine):
            continue
        assert (mine.grad is None) == (other.grad is None)
        assert mine.grad is None or same(values([mine.grad]), values([other.grad]))
    for mine, other in zip(written.kept, world.kept, strict=True):
        assert (mine is None) == (other is None)
        assert mine is None or np.array_equal(plain(mine), plain(other), equal_nan=True)


INSIDE, LEAVE = ("enter", "inference_mode", 0), ("leave", "", 0)


@checked
@example([INSIDE, ("add", 0, 0), ("set_", 0, 1)])
@example([INSIDE, ("add", 0, 0), ("set_", 1, 0)])
@example([("numpy", 0, 0), INSIDE, *((way, 0, 0) for way in OVER), ("data", 1, 0)])
@example([INSIDE, ("make", 0, 0), ("numpy", 1, 0), LEAVE, *((way, 0, 0) for way in OVER)])
@example(
    [("mul", 0, 0), ("save", 1, 0), ("numpy", 1, 0), ("drop", 0, 0), INSIDE, ("asarray", 0, 0)]
)
@given(programs)
def test_no_inference_tensor_changes_outside_or_shares_memory_with_what_is_saved(program):
    run_as_written(program)


@checked
@given(programs)
def test_inference_mode_is_no_grad_or_raises(program):
    agree(NoGrad, program)


@checked
@given(programs)
def test_gradients_are_those_without_guards_or_an_error_is_raised(program):
    agree(Detached, program)


def test_the_properties_find_memory_of_both_kinds(monkeypatch):
    """`wrap_array` makes a tensor of the mode's kind, whoever looks at the memory."""
    monkeypatch.setitem(OVER, "from_numpy", wrap_array)
    with pytest.raises(AssertionError):
        run_as_written([("numpy", 0, 0), INSIDE, ("from_numpy", 0, 0)])
    with pytest.raises(AssertionError):
        run_as_written([INSIDE, ("make", 0, 0), ("numpy", 1, 0), LEAVE, ("from_numpy", 0, 0)])


# A tensor is saved and then written to: inside of a block, by a view, after an assignment.
UNSEEN = [
    [("mul", 0, 0), ("save", 1, 0), ("enter", "", 0), (write, 1, 0), ("leave", "", 0)]
    + [("backward", 2, 0)]
    for write in ("fill_", "zero_", "[0] =", "copy_")
]


@pytest.mark.parametrize("program", UNSEEN, ids=[p[3][0] for p in UNSEEN])
def test_the_properties_find_a_guard_that_is_unsafe(program, monkeypatch):
    """Below ADInplaceOrView nobody counts the write: the gradient is wrong, and it is found."""
    monkeypatch.setitem(GUARDS, "", imode.AutoDispatchBelowADInplaceOrView)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        agree(Detached, program)
    monkeypatch.setitem(GUARDS, "", imode.inference_mode)
    agree(Detached, program)
    agree(NoGrad, program)
