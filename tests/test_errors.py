"""Messages: each program of messages.txt raises, and the whole text is compared."""

import inspect
import re
import threading
from pathlib import Path

import pytest

import imode
from imode import errors
from imode._core import origins
from imode._core.internals import origin_of

PARTS = re.split(r"^=== (.*)\n", Path(__file__).with_name("messages.txt").read_text(), flags=re.M)
CASES = {
    name: case.strip("\n").split("\n---\n")
    for name, case in zip(PARTS[1::2], PARTS[2::2], strict=True)
}  # name: [program, message]


def raised(program):
    """Run a program and return what it raises: the message, after the class if no RuntimeError.

    It has a thread of its own, which has seen no other guards.
    """
    caught = []

    def run():
        try:
            exec(compile(program, "program.py", "exec"), {"imode": imode})
        except Exception as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    (error,) = caught
    return str(error) if type(error) is RuntimeError else f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", CASES)
def test_whole_message(name):
    program, message = CASES[name]
    assert raised(program) == message
    assert len(message.splitlines()) <= 5


def test_every_message_has_a_program():
    called = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename == errors.__file__:
            called.add(frame.f_code.co_name)

    threading.setprofile(note)
    try:
        for program, _ in CASES.values():
            raised(program)
    finally:
        threading.setprofile(None)
    functions = {
        name
        for name, value in vars(errors).items()
        if inspect.isfunction(value) and value.__module__ == errors.__name__
    }
    elsewhere = {"missing_kernel", "no_effect"}  # below; a warning, in test_guard_misuse.py
    assert functions - called == elsewhere


@pytest.mark.parametrize("filename", ["<ipython-input-3-5d1ff2>", "<string>", "a b/contextlib.py"])
def test_files_of_every_kind_are_named(filename):
    scope = {"imode": imode}
    exec(compile("with imode.inference_mode():\n y = imode.ones(2)", filename, "exec"), scope)
    with pytest.raises(RuntimeError, match=re.escape(f" entered at {filename}:1.")):
        scope["y"]._version  # noqa: B018


def test_a_guard_entered_by_a_context_manager_of_the_users_names_its_line():
    program = """
import contextlib
@contextlib.contextmanager
def serving():
    with imode.inference_mode():
        yield
with serving():
    y = imode.ones(2)
y.add_(1)
"""
    assert "add_ at program.py:9 writes was created by ones inside inference_mode entered at " in (
        said := raised(program)
    )
    assert " entered at program.py:5." in said


# ---- who is named as the maker ----


def made_by(make):
    with imode.inference_mode():
        t = make()
    with pytest.raises(RuntimeError) as caught:
        t._version  # noqa: B018
    return re.search(r"created by (.*) inside", str(caught.value))[1]


X = imode.ones(2, 3)
NAMES = {
    "tensor": lambda: imode.tensor([1.0]),
    "asarray": lambda: imode.asarray([1.0]),
    "ones": lambda: imode.ones(2),
    "arange": lambda: imode.arange(3),
    "randn": lambda: imode.randn(3),
    "from_numpy": lambda: imode.from_numpy(imode.ones(2).numpy()),
    "clone": lambda: imode.ones(2).clone(),
    "matmul": lambda: X @ X.t(),
    "linear": lambda: imode.nn.functional.linear(X, X),
    "add": lambda: X + 1,
    "sum": lambda: X.sum(),
    "where": lambda: imode.where(X > 0, X, X),
    "cat": lambda: imode.cat([X, X]),
    "softmax": lambda: X.softmax(-1),
    "max": lambda: X.max(dim=1).values,
    "var": lambda: X.var(),
    "layer_norm": lambda: imode.nn.functional.layer_norm(X, (3,)),
    "index_select": lambda: X.index_select(0, imode.tensor([0])),
    "ones, viewed": lambda: imode.ones(4).view(2, 2)[0],
    "ones, contiguous as it is": lambda: imode.ones(4).contiguous(),
}


@pytest.mark.parametrize("name", NAMES)
def test_makers_are_named(name):
    assert made_by(NAMES[name]) == name.partition(",")[0]


def test_gradients_made_inside_of_the_mode_name_the_backward():
    x = imode.ones(2, requires_grad=True)
    z = (x * x).sum()
    with imode.inference_mode():
        z.backward()
    with pytest.raises(RuntimeError, match=r"created by \w+ inside inference_mode entered at "):
        x.grad.add_(1)


# ---- the numbers behind the names ----


def test_places_and_operators_are_numbered_once():
    assert origins.place(0) is None
    assert origins.operator_name(0) is None
    number = origins.place_id("some.py", 3)
    assert origins.place_id("some.py", 3) == number
    assert origins.place(number) == "some.py:3"
    assert origins.place_parts(number) == ("some.py", 3)
    assert origins.place(1 << 30) is None
    assert origins.operator_name(origins.operator_id("mul")) == "mul"
    assert origins.operator_name(1 << 30) is None


def test_a_full_table_leaves_the_place_out(monkeypatch):
    monkeypatch.setattr(origins, "_MAX_PLACES", len(origins._places))
    assert origins.place_id("new.py", 1) == 0
    said = raised("""
with imode.inference_mode():
    y = imode.ones(2)
scope = {"imode": imode, "y": y}
exec(compile("with imode.inference_mode(): z = y * 2", "newer.py", "exec"), scope)
scope["z"]._version
""")
    assert "The tensor was created by mul inside inference_mode.\n" in said


def test_only_questions_that_are_asked_are_answered():
    with pytest.raises(TypeError, match="'weather' is no question"):
        origins.answer(weather=lambda: 0)


def test_an_operator_without_a_kernel():
    with pytest.raises(NotImplementedError) as caught:
        raise errors.missing_kernel("add", "Meta", ["CPU"])
    assert str(caught.value) == (
        "Could not run 'add' with arguments from the 'Meta' backend. 'add' has kernels for: CPU.\n"
        "Register one for Meta, or move the arguments to a backend of that list."
    )


def test_recorded_tensors_are_told_nothing_and_the_others_who_made_them():
    warned = pytest.warns(UserWarning, match="has no effect")
    with imode.inference_mode(), warned, imode.enable_grad():
        inside = imode.tile(imode.ones(2), (1,))
    with imode.no_grad():
        unrecorded = imode.tile(imode.ones(2), (1,))
    assert [origins.operator_name(origin_of(t)[0]) for t in (inside, unrecorded)] == ["tile"] * 2
    assert origin_of(imode.tile(imode.ones(2), (1,))) is None
