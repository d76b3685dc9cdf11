"""Exact counts, for each cell of the tables of docs/inference-mode.md.

By table: which kernels an operator passed (dispatch trace), how many graph nodes and view records
were made, how many version bumps, and what came out, for every kind of tensor.
"""

import contextlib

import pytest

import imode

CPU = imode.DispatchKey.CPU
AD = imode.DispatchKey.ADInplaceOrView
AUTOGRAD = imode.DispatchKey.Autograd


def tensor(requires_grad):
    return imode.ones(2, 3, requires_grad=requires_grad)


# Kinds of tensors by how they are made. Among inference tensors nothing has a node: a result of an
# operator, and a view, stand for "not a leaf".
NORMAL = {
    "normal leaf": lambda: tensor(False),
    "normal leaf, grad": lambda: tensor(True),
    "normal view": lambda: tensor(False).view(3, 2).t(),
    "normal result, grad": lambda: tensor(True) * 1,
    "normal view, grad": lambda: (tensor(True) * 1).view(3, 2).t(),
}
INFERENCE = {
    "inference leaf": lambda: tensor(False),
    "inference leaf, grad": lambda: tensor(True),
    "inference result": lambda: tensor(False) * 1,
    "inference result, grad": lambda: tensor(True) * 1,
    "inference view": lambda: tensor(False).view(3, 2).t(),
    "inference view, grad": lambda: tensor(True).view(3, 2).t(),
}
KINDS = NORMAL | INFERENCE


def make(kind):
    with imode.inference_mode() if kind in INFERENCE else contextlib.nullcontext():
        return KINDS[kind]()


with imode.inference_mode():
    OTHER = imode.full((2, 3), 2.0)  # brings no keys of its own
WEIGHT = imode.ones(2, 3, requires_grad=True)
CALLS = {
    "functional": lambda t: t * t,
    "that saves nothing": lambda t: t.neg(),
    "with a weight": lambda t: WEIGHT + t,
    "that must save it": lambda t: WEIGHT * t,
    "view": lambda t: t[0],
    "views": lambda t: t.unbind()[0],
    "detach": lambda t: t.detach(),
    "in-place": lambda t: t.add_(OTHER),
    "out=": lambda t: imode.mul(OTHER, OTHER, out=t),
    "metadata": lambda t: t.t_(),
    "clone": lambda t: t.clone(),
    "requires_grad_": lambda t: t.requires_grad_(),
    "_version": lambda t: t._version,
}
NAMES = {
    "functional": "mul",
    "that saves nothing": "neg",
    "with a weight": "add",
    "that must save it": "mul",
    "view": "select",
    "views": "unbind",
    "detach": "detach",
    "in-place": "add_",
    "out=": "mul.out",
    "metadata": "t_",
    "clone": "clone",
}
SAVED = "Inference tensors cannot be saved for backward."
WRITE = "Inplace update to inference tensor outside InferenceMode is not allowed."
SETTING = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
VERSION = "Inference tensors do not track version counter."

# (call, kind of tensor): keys passed, (nodes, view records, version bumps), result: "normal",
# "inference", "itself", or the sentence raised.
INSIDE = {
    ("functional", "normal"): ([CPU], (0, 0, 0), "inference"),
    ("functional", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("view", "normal"): ([AD, CPU], (0, 1, 0), "normal"),
    ("view", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("views", "normal"): ([AD, CPU], (0, "each", 0), "normal"),
    ("views", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("in-place", "normal"): ([AD, CPU], (0, 0, 1), "itself"),
    ("in-place", "inference"): ([CPU], (0, 0, 0), "itself"),
    ("out=", "normal"): ([AD, CPU], (0, 0, 1), "itself"),
    ("out=", "inference"): ([CPU], (0, 0, 0), "itself"),
    ("metadata", "normal"): ([AD, CPU], (0, 0, 1), "itself"),
    ("metadata", "inference"): ([CPU], (0, 0, 0), "itself"),
    ("detach", "normal"): ([CPU], (0, 0, 0), "normal"),
    ("detach", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("clone", "normal"): ([CPU], (0, 0, 0), "inference"),
    ("clone", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("_version", "inference"): ([], (0, 0, 0), VERSION),
}
OUTSIDE = {
    ("functional", "inference"): ([CPU], (0, 0, 0), "normal"),
    ("that saves nothing", "inference"): ([CPU], (0, 0, 0), "normal"),
    ("view", "inference"): ([AD, CPU], (0, 0, 0), "inference"),
    ("views", "inference"): ([AD, CPU], (0, 0, 0), "inference"),
    ("detach", "inference"): ([CPU], (0, 0, 0), "inference"),
    ("in-place", "inference"): ([AD], (0, 0, 0), WRITE),
    ("out=", "inference"): ([AD], (0, 0, 0), WRITE),
    ("metadata", "inference"): ([AD], (0, 0, 0), WRITE),
    ("requires_grad_", "inference"): ([], (0, 0, 0), SETTING),
    ("_version", "inference"): ([], (0, 0, 0), VERSION),
    ("clone", "inference"): ([CPU], (0, 0, 0), "normal"),
}
# In grad mode, beside a normal tensor that requires grad.
RECORDING = {
    ("with a weight", "inference"): ([AUTOGRAD, CPU], (1, 0, 0), "normal"),
    # The node that was being made goes with the error.
    ("that must save it", "inference"): ([AUTOGRAD], (1, 0, 0), SAVED),
}
# What the mode saves: the same calls on normal tensors, in grad mode and under no_grad.
NORMALLY = {
    ("functional", "grad"): ([AUTOGRAD, CPU], (1, 0, 0), "normal"),
    ("functional", "no grad"): ([CPU], (0, 0, 0), "normal"),
    ("view", "grad"): ([AUTOGRAD, AD, CPU], (1, 1, 0), "normal"),
    ("view", "no grad"): ([AD, CPU], (0, 1, 0), "normal"),
    ("in-place", "no grad"): ([AD, CPU], (0, 0, 1), "itself"),
    ("out=", "no grad"): ([AD, CPU], (0, 0, 1), "itself"),
    ("clone", "grad"): ([AUTOGRAD, CPU], (1, 0, 0), "normal"),
    ("clone", "no grad"): ([CPU], (0, 0, 0), "normal"),
}


def rows(table, kinds=KINDS):
    for (call, which), expected in table.items():
        for kind in kinds:
            if which == "grad" or which == "no grad":
                if kind in NORMAL and ("grad" in kind) == (which == "grad"):
                    yield call, kind, expected
            elif kind in (NORMAL if which == "normal" else INFERENCE):
                yield call, kind, expected


def check(call, t, expected):
    keys, counts, outcome = expected
    result, said = None, None
    with imode.trace_dispatch() as trace, imode.counters() as counted:
        try:
            result = CALLS[call](t)
        except RuntimeError as error:
            said = str(error).splitlines()[0]
    if call in NAMES:
        assert trace == [(NAMES[call], key) for key in keys]
    else:
        assert trace == []
    views = len(t) if counts[1] == "each" else counts[1]
    assert (counted.nodes, counted.views, counted.version_bumps) == (counts[0], views, counts[2])
    if outcome in ("normal", "inference"):
        assert said is None
        assert result.is_inference() == (outcome == "inference")
    elif outcome == "itself":
        assert result is t
    else:
        assert said == outcome


@pytest.mark.parametrize(("call", "kind", "expected"), list(rows(INSIDE)))
@pytest.mark.parametrize(
    "around", ["plain", "in no_grad", "enable_grad inside", "switched on again"]
)
@pytest.mark.filterwarnings("ignore:enable_grad has no effect")
def test_inside_of_the_mode(around, call, kind, expected):
    t = make(kind)
    with contextlib.ExitStack() as stack:
        if around == "in no_grad":
            stack.enter_context(imode.no_grad())
        stack.enter_context(imode.inference_mode())
        if around == "enable_grad inside":
            stack.enter_context(imode.enable_grad())
        if around == "switched on again":
            stack.enter_context(imode.inference_mode(False))
            stack.enter_context(imode.inference_mode())
        check(call, t, expected)


@pytest.mark.parametrize(("call", "kind", "expected"), list(rows(OUTSIDE)))
@pytest.mark.parametrize("around", ["grad mode", "no_grad", "switched off", "normal_mode"])
def test_outside_of_the_mode(around, call, kind, expected):
    t = make(kind)
    with contextlib.ExitStack() as stack:
        if around == "no_grad":
            stack.enter_context(imode.no_grad())
        elif around != "grad mode":
            stack.enter_context(imode.inference_mode())
            stack.enter_context(
                imode.normal_mode() if around == "normal_mode" else imode.inference_mode(False)
            )
        check(call, t, expected)


@pytest.mark.parametrize(("call", "kind", "expected"), list(rows(RECORDING)))
def test_beside_a_tensor_that_requires_grad(call, kind, expected):
    check(call, make(kind), expected)


@pytest.mark.parametrize(("call", "kind", "expected"), list(rows(NORMALLY)))
def test_what_it_costs_without_the_mode(call, kind, expected):
    keys, *rest = expected
    if kind == "normal view":
        keys = [AUTOGRAD, *keys]  # its base may be given a history later
    check(call, make(kind), (keys, *rest))


def test_the_tables_are_those_of_the_page():
    """Each row of the page's two tables has its cells here."""
    assert {call for call, _ in INSIDE} >= {"functional", "view", "in-place", "out="}
    assert {call for call, _ in OUTSIDE | RECORDING} >= {
        *("that saves nothing", "that must save it", "view", "in-place", "out="),
        *("requires_grad_", "_version", "clone"),
    }
