"""Messages: each program of messages.txt raises, and the whole text is compared."""

import inspect
import re
import threading
from pathlib import Path

import numpy
import pytest

import imode
from imode import errors
from imode._core import provenance
from imode._core.internals import origin_of
from tests.sentences import twice

SETUP = Path(__file__).parents[1] / "setup.py"
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
    # The example of rename_privateuse1_backend names a device, for the rest of the process.
    assert raised(program).replace("docs_npu, ", "") == message
    assert len(message.splitlines()) <= 5


def test_every_message_has_a_program():
    called = set()

    def note(frame, event, argument):
        if event == "call":
            called.add(frame.f_code)

    threading.setprofile(note)
    try:
        for program, _ in CASES.values():
            raised(program)
    finally:
        threading.setprofile(None)
    functions = {
        f"{theme}.{name}"
        for theme in errors.THEMES
        for name, value in vars(getattr(errors, theme)).items()
        if inspect.isfunction(value) and value.__code__ not in called
    }
    below = {"dispatcher.missing_kernel", "out.resized", "views.read_only"}
    # Warnings and a note: test_guard_misuse.py, test_backends.py; the memory: test_meta.py.
    elsewhere = {"guards.no_effect", "devices.falls_back", "devices.in_kernel"}
    assert functions == {*elsewhere, *below}


@pytest.mark.skipif(not SETUP.exists(), reason="runs where the source is")
def test_no_sentence_stands_twice():
    """One that two places raise is a function of `imode.errors`."""
    assert twice(Path(imode.__file__).parent) == {}


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
    assert provenance.location(0) is None
    assert provenance.operator_name(0) is None
    number = provenance.location_id("some.py", 3)
    assert provenance.location_id("some.py", 3) == number
    assert provenance.location(number) == "some.py:3"
    assert provenance.location_parts(number) == ("some.py", 3)
    assert provenance.location(1 << 30) is None
    assert provenance.operator_name(provenance.operator_id("mul")) == "mul"
    assert provenance.operator_name(1 << 30) is None


def test_a_full_table_leaves_the_place_out(monkeypatch):
    monkeypatch.setattr(provenance, "_MAX_LOCATIONS", len(provenance._locations))
    assert provenance.location_id("new.py", 1) == 0
    said = raised("""
with imode.inference_mode():
    y = imode.ones(2)
scope = {"imode": imode, "y": y}
exec(compile("with imode.inference_mode(): z = y * 2", "newer.py", "exec"), scope)
scope["z"]._version
""")
    assert "The tensor was created by mul inside inference_mode.\n" in said


def test_an_operator_without_a_kernel():
    with pytest.raises(NotImplementedError) as caught:
        raise errors.dispatcher.missing_kernel("add", "Meta", ["CPU"])
    assert str(caught.value) == (
        "Could not run 'add' with arguments from the 'Meta' backend. 'add' has kernels for: CPU.\n"
        "Register one for Meta, or move the arguments to a backend of that list."
    )


def test_a_target_over_memory_that_may_not_be_written():
    array = numpy.zeros(2)
    array.flags.writeable = False
    target = imode.from_numpy(array)
    for write in (target.copy_, target.normal_, target.add_):
        with pytest.raises(RuntimeError, match="written-to tensor is over read-only memory; clon"):
            write(*[imode.ones(2)] * (write != target.normal_))


@pytest.mark.parametrize(
    "write",
    [
        lambda out: imode.add(imode.ones(2), 0, out=out),  # compiled
        lambda out: imode.conj_physical(imode.ones(2), out=out),  # composite
    ],
)
def test_an_out_that_is_resized_is_told_how_to_be_quiet(write):
    with pytest.warns(UserWarning) as caught:
        write(imode.ones(3))
    assert str(caught[0].message) == (
        "An output with one or more elements was resized since it had shape [3], which does not "
        "match the required output shape [2]. Resize it to 0 elements first, with t.resize_(0), or "
        "give out= a tensor of the right shape."
    )


def test_recorded_tensors_are_told_nothing_and_the_others_who_made_them():
    warned = pytest.warns(UserWarning, match="has no effect")
    with imode.inference_mode(), warned, imode.enable_grad():
        inside = imode.tile(imode.ones(2), (1,))
    with imode.no_grad():
        unrecorded = imode.tile(imode.ones(2), (1,))
    assert [provenance.operator_name(origin_of(t)[0]) for t in (inside, unrecorded)] == ["tile"] * 2
    assert origin_of(imode.tile(imode.ones(2), (1,))) is None
