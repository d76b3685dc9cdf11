"""Random programs behave here as in PyTorch: a fixed set of seeds, every one of them."""

import sys

import pytest

from . import differences
from .fuzz import check, report
from .generate import Generator
from .programs import Block, compare, run, script, shrink
from .themes import ThemeGenerator

PROGRAMS, LONG, THEMED = 1800, 60, 400


@pytest.fixture(scope="module")
def rules():
    return differences.load()


def _differ(lib, torch, rules, seeds, **options):
    """The reports of the programs that differ."""
    found = ((seed, check(lib, torch, seed, rules, **options)) for seed in seeds)
    return [report(seed, *difference) for seed, difference in found if difference]


def test_short(lib, torch, rules):
    failed = _differ(lib, torch, rules, range(PROGRAMS))
    assert not failed, "\n\n".join(failed)


def test_themes(lib, torch, rules):
    failed = _differ(lib, torch, rules, range(THEMED), generator=ThemeGenerator)
    assert not failed, "\n\n".join(failed)


def test_long(lib, torch, rules):
    failed = _differ(lib, torch, rules, range(10**6, 10**6 + LONG), length=40)
    assert not failed, "\n\n".join(failed)


# ---- the suite itself ----


@pytest.mark.parametrize("generator", [Generator, ThemeGenerator])
def test_generator_is_deterministic(torch, generator):
    assert generator(torch, 7).program()[0] == generator(torch, 7).program()[0]


def test_replay_equals_generation(torch):
    for seed in range(20):
        program, steps = Generator(torch, seed).program()
        assert compare(run(torch, program), steps) is None


def test_shrink_keeps_only_what_matters(torch):
    program = [
        "v0 = lib.ones(2)",
        Block("lib.no_grad()", ["v1 = v0 + 1", "v2 = v0 * 2"]),
        "v0 + v0",
    ]

    def fails(smaller):
        return any(step.source == "v2 = v0 * 2" and step.outcome == "ok"
                   for step in run(torch, smaller))  # fmt: skip

    assert shrink(program, fails) == ["v0 = lib.ones(2)", "v2 = v0 * 2"]


def test_every_observable_is_compared(torch):
    """A change of any one of them, made in one run only, is found and named."""
    base = ["v0 = lib.ones(2, 2)", "v1 = lib.ones(2, 2, requires_grad=True)"]
    changes = {
        "values": "v0.data.mul_(2)", "version": "v0.add_(0)", "dtype": "v0 = lib.ones(2, 2).int()",
        "requires_grad": "v0.requires_grad_()", "strides": "v0 = lib.ones(2, 2).t()",
        "shape": "v0 = lib.ones(2, 2, 1)", "grad": "v1.sum().backward()", "is_leaf": "v1 = v1 * 1",
        "is_view": "v0 = lib.ones(2, 2).view(2, 2)", "grad_fn": "v1 = v1 + 0",
        "storage_offset": "v0 = lib.ones(5).as_strided((2, 2), (2, 1), 1)",
        "shares_memory_with": "v1.data = v0", "retains_grad": "v1 = v1 * 1; v1.retain_grad()",
        "output_nr": "v0, v1 = lib.ones(2, 2, 2, requires_grad=True)", "others": "v0 = None",
        "is_inference": "with lib.inference_mode(): v0 = lib.ones(2, 2)",
    }  # fmt: skip
    for observable, change in changes.items():
        ours, theirs = run(torch, [*base, change]), run(torch, [*base, "pass"])
        found = {path.partition(".")[2] for path, _, _ in compare(ours, theirs).found}
        assert observable in found or observable == "others", (observable, found)


def test_a_call_that_raises_leaves_out_as_it_was(lib):
    program = ["v0 = lib.ones(2)", "lib.add(v0, 'a', out=v0)"]
    steps = run(lib, program)
    assert compare(steps, steps) is None
    program[1] = "v0.zero_(); lib.add(v0, 'a', out=v0)"
    steps = run(lib, program)
    assert "v0.values changed" in str(compare(steps, steps))


def test_script_runs(torch, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["program"])
    for seed in range(40):
        program, steps = Generator(torch, seed).program()
        if all(step.outcome == "ok" for step in steps):
            exec(compile(script(program, "torch"), "program", "exec"), {})
