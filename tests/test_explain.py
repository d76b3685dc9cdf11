"""`imode.ops.<name>.explain`: what it says is what a call then does; and it does nothing itself."""

import contextlib
import io

import numpy as np
import pytest

import imode
from imode._core import loops
from imode._core.dispatch import all_operators, read_counters
from imode._core.keyset import DispatchKey as K
from tests.samples import load

ALL, SAMPLES = all_operators(), load()
CASES = [(n, i) for n in SAMPLES if n in ALL for i in range(len(SAMPLES[n]))]
MODES = (imode.enable_grad, imode.no_grad, imode.inference_mode)


def entered(op, args, kwargs):
    """The keys under which a call enters its own operator's kernels."""
    with imode.trace_dispatch() as trace:
        op(*args, **kwargs)
    return [key for name, key in trace if name == op.qualified_name]


def snapshot(tensors):
    return [
        (t.tolist(), t.shape, t.stride(), t.is_inference() or t._version, t.grad_fn)
        for t in tensors
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({n for n, _ in CASES}))
def test_the_kernels_of_every_sample_are_those_that_its_call_enters(name, capsys):
    for sample in SAMPLES[name]:
        if sample.raises is not None:
            continue
        for mode in MODES:
            with mode():
                args, kwargs, tensors = sample.make(imode)
                before = snapshot(tensors), imode.get_rng_state().tolist(), read_counters()
                try:
                    facts = ALL[name].explain(*args, **kwargs)
                except TypeError:  # of a method alone, whose sizes are given one by one
                    continue
                after = snapshot(tensors), imode.get_rng_state().tolist(), read_counters()
                assert repr(after) == repr(before)
                assert capsys.readouterr().out == f"{facts}\n"
                assert all(step.file for step in facts.kernels)
                op = facts.operator
                if op.is_composite:
                    continue
                general = loops.count_runs()
                try:
                    keys = entered(op, args, kwargs)
                except RuntimeError:  # a leaf that requires grad cannot be written
                    continue
                said = [step.key for step in facts.kernels]
                assert keys[: len(said)] == said
                if facts.fast is not None and facts.fast.by == "its tests":
                    assert facts.fast.applies == (loops.count_runs() == general), str(facts)


def explained(capsys, op, *args, **kwargs):
    facts = op.explain(*args, **kwargs)
    assert capsys.readouterr().out == f"{facts}\n"
    return facts


def test_it_names_keys_sets_mask_and_what_is_left(capsys):
    a = imode.ones(4, requires_grad=True)
    facts = explained(capsys, imode.ops.add, a, 1)
    assert [argument.name for argument in facts.arguments] == ["self", "other", "alpha"]
    assert facts.arguments[0].keys == a.key_set()
    assert list(facts.arguments[1].keys) == [K.ADInplaceOrView]  # as a new tensor
    assert facts.arguments[2].keys is None
    assert facts.given == a.key_set() and facts.included == imode.included_keys()
    assert sorted(facts.keys, key=int) == [K.CPU, K.Autograd]
    backends = [K.CPU, K.Meta, K.PrivateUse1, K.SparseCPU, K.Stored]
    assert sorted(facts.mask, key=int) == [*backends, K.Autograd]
    with imode.inference_mode():
        facts = explained(capsys, imode.ops.add, a, 1)
    assert K.Autograd in facts.excluded and list(facts.keys) == [K.CPU]
    assert "by inference_mode (entered at " in str(facts)
    assert [argument.keys for argument in facts.arguments[1:]] == [None, None]


def test_it_says_what_the_kernel_of_autograd_would_do(capsys):
    a = imode.ones(4, requires_grad=True)
    says = lambda x: explained(capsys, imode.ops.neg, x).kernels[0].does
    assert says(a) == "checks and records the call for backward"
    assert says(imode.ones(4)[:]) == "records nothing: no argument requires grad"
    assert says(a.detach()).startswith("the loops of negative")  # nothing carries Autograd
    with imode.no_grad():
        assert says(a) == "records nothing: grad mode is off"
    assert "counts the write" in str(explained(capsys, imode.ops.add_, a.detach(), 1))
    assert "records the view" in str(explained(capsys, imode.ops.t, imode.ones(2, 2)))


def test_files_and_lines_lead_to_what_runs(capsys):
    facts = explained(capsys, imode.ops.add, imode.ones(4, requires_grad=True), 1)
    autograd, cpu = facts.kernels
    assert autograd.file == "imode/autograd/kernels.pyx"
    assert cpu.file == "imode/ops/pointwise/arithmetic.py" and cpu.line > 1
    root = imode.__path__[0].removesuffix("imode")
    with open(root + cpu.file, encoding="utf-8") as file:
        assert "op(" in file.read().splitlines()[cpu.line - 1]
    (step,) = explained(capsys, imode.ops.linear, imode.ones(2, 2), imode.ones(2, 2)).kernels
    with open(root + step.file, encoding="utf-8") as file:
        lines = file.read().splitlines()[step.line - 1 :]
    assert next(line for line in lines if line.startswith("def")).startswith("def _linear(")
    assert step.key is None and step.place == f"{step.file}:{step.line}"


def test_a_kernel_of_ones_own_is_named_and_not_run(capsys):
    def mine(x):
        raise AssertionError("explain ran it")

    before = imode.ops.neg.register("CPU", mine)
    try:
        facts = explained(capsys, imode.ops.neg, imode.ones(2))
    finally:
        imode.ops.neg.register("CPU", before)
    assert facts.kernels[-1].place == f"{__file__}:{mine.__code__.co_firstlineno}"
    assert facts.fast is None and facts.copies is None


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: (imode.ones(4), imode.ones(4, dtype=imode.int64)), "is int64 beside float32"),
        (lambda: (imode.ones(4)[::2], 1), "self is not contiguous"),
        (lambda: (imode.ones(200, 300), imode.ones(300)), "other has another shape"),
        (lambda: (1, 2), "no operand is a tensor"),
        (lambda: (imode.ones(4, dtype=imode.int64), 2.5), "other is a number that"),
        (lambda: (imode.ones(4, dtype=imode.int64), 1, 2), None),
    ],
)
def test_why_the_fast_case_of_a_loop_does_not_serve(capsys, make, why):
    *args, alpha = (*make(), 1)[:3]
    facts = explained(capsys, imode.ops.add, *args, alpha=alpha)
    assert facts.fast.applies is False and (why or "alpha is not its default") in facts.fast.why
    assert facts.fast.by == "its tests"


def test_fast_cases_of_other_kernels_are_tried_on_copies(capsys):
    a = imode.ones(3, 4)
    facts = explained(capsys, imode.ops.sum, a, 0)
    assert (facts.fast.applies, facts.fast.by) == (True, "a run on copies")
    half = explained(capsys, imode.ops.topk, a.half(), 2)
    assert half.fast.applies is False and "the dtype is float16" in half.fast.why
    large = explained(capsys, imode.ops.sum, imode.ones(5_000_000), 0)
    assert large.fast.applies is None and "not copied" in large.fast.why

    class Loud:
        def __array__(self, *args, **kwargs):
            raise AssertionError("explain looked")

    assert explained(capsys, imode.ops.tensor, Loud()).fast.applies is None


def test_copies_are_named_with_their_size(capsys):
    x = imode.ones(8)
    facts = explained(capsys, imode.ops.add, x, imode.ones(8, dtype=imode.int64))
    assert facts.copies == ["other: from int64 to float32, 32 bytes"]
    assert explained(capsys, imode.ops.add, x, x).copies == []
    base = imode.ones(3, 3)
    facts = explained(capsys, imode.ops.where, base > 0, base, base.double())
    assert facts.copies == ["self: from float32 to float64, 72 bytes"]
    facts = explained(capsys, imode.ops.add, x, x, out=imode.ones(8, dtype=imode.float64))
    assert facts.copies == ["the result: from float32 to float64, into what is written, 32 bytes"]
    assert explained(capsys, imode.ops.mm, base, base).copies is None
    assert "copies: not known" in str(explained(capsys, imode.ops.mm, base, base))


def test_shared_memory_is_copied_as_shared(capsys):
    memory = np.zeros(40, np.uint8)
    a = imode.from_numpy(memory[4:24].view(np.float32))
    facts = explained(capsys, imode.ops.copy_, a[1:], a[:-1])
    assert facts.fast.by == "a run on copies" and not memory.any()


def test_an_overload_is_found_as_in_a_call(capsys):
    assert explained(capsys, imode.ops.max, imode.ones(2, 2), 0).operator.overload == "dim"
    x = imode.ones(2)
    with pytest.warns(UserWarning, match="deprecated"):
        x.add_(2, x)
    assert explained(capsys, imode.ops.add_, x, 2, x).arguments[2].value == "2"


def test_bad_arguments_give_the_operators_own_errors(capsys):
    x = imode.ones(2)
    for args, kwargs in (
        (("x",), {}),
        ((x,), {}),
        ((x, x, x, x), {}),
        ((x, x), {"no_such": 1}),
        ((x, x), {"out": 3}),
        ((x,) * 99, {}),
    ):
        with pytest.raises(TypeError) as called:
            imode.ops.add(*args, **kwargs)
        with pytest.raises(TypeError) as explained:
            imode.ops.add.explain(*args, **kwargs)
        assert str(called.value) == str(explained.value)
    assert capsys.readouterr().out == ""


def test_what_a_call_would_raise_is_said(capsys):
    facts = explained(capsys, imode.ops.mm, imode.ones(2, 3), imode.ones(2, 3))
    assert facts.fast.applies is None and "it raises RuntimeError: mat1 and mat2" in facts.fast.why


def test_operators_of_libraries():
    def kernel(x, n=2):
        return x.add_(n)

    x = imode.ones(2)
    with imode.library.Library("explained", "DEF") as lib:
        lib.define("f(Tensor(a!) x, int n=2) -> Tensor(a!)")
        lib.impl("f", kernel, "CPU")
        for op in (imode.ops.explained.f, imode.ops.explained.f.default):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                facts = op.explain(x)
            assert [step.key.name for step in facts.kernels] == ["ADInplaceOrView", "CPU"]
            assert facts.kernels[-1].file == __file__
            assert facts.kernels[-1].line == kernel.__code__.co_firstlineno
            assert "a library's kernel for CPU" in printed.getvalue()
            assert facts.kernels[0].file.startswith("imode/library/kernels")
            with contextlib.redirect_stdout(io.StringIO()):
                keys = [step.key.name for step in op.explain(x[:]).kernels]
            assert keys == ["Autograd", "ADInplaceOrView", "CPU"]
        f = imode.ops.explained.f
    with pytest.raises(RuntimeError, match="is not defined any more"):
        f.explain(x)
    schema = "(Tensor x) -> Tensor"
    with (
        imode.library.custom_op(
            "explained::g", lambda x: x * 2, mutates_args=(), schema=schema
        ) as g,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        assert g.explain(x).kernels[-1].file == __file__
    assert x.tolist() == [1, 1]
