"""PyTorch's own samples of its operators, here and there: values, gradients, what raises.

Some samples of each entry and dtype are run, more where a rule must be met; IMODE_OP_DB=all runs
every one.
"""

import os

import pytest

pytest.importorskip("torch", reason="torch is not installed: nothing to compare with")

from . import differences, op_db
from .op_db_reasons import DIFFERS
from .test_ops import compare

ENTRIES = op_db.entries()
ALL = os.environ.get("IMODE_OP_DB") == "all"
ABSENT = [name for names in op_db.listed().values() for name in names]
UPDATE = "make coverage"  # brings the list of what is missing up to date


def is_listed(entry):
    """Whether the table says that imode lacks what an entry needs."""
    return entry.id in ABSENT or entry.name in ABSENT


@pytest.fixture
def libraries(lib, torch):
    return op_db.Library(lib), op_db.Library(torch)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_samples_of_pytorch(libraries, name):
    entry, (here, there) = ENTRIES[name], libraries
    absent = entry.absent(here)
    if is_listed(entry):
        assert absent or here.lib is there.lib, (
            f"{name} is there and listed as missing: run {UPDATE}"
        )
        pytest.skip(absent or "compared with itself")
    assert not absent, f"{name} needs {absent}: if that is no mistake, run {UPDATE}"
    excuses = {rule: False for rule in DIFFERS if {name, entry.name} & {*rule.entries.split()}}
    lines = []
    most = None if ALL else 8 if excuses else 4
    for sample, case, path, a, b in found(entry, here, there, most):
        observable = differences.observable(path)
        met = [rule for rule in excuses if rule.excuses(entry, case, observable)]
        excuses |= dict.fromkeys(met, True)
        if not met:
            lines.append(f"  {case}: {path}: {a!r} here, {b!r} in PyTorch, of {sample!r}")
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines[:25])
    stale = [rule for rule, met in excuses.items() if not met and not (rule.rare and not ALL)]
    assert not stale or here.lib is there.lib, f"{name} does not differ: {stale}"


def found(entry, here, there, most):
    """Yield (sample, case, path, ours, theirs) of every difference, in so many samples a dtype."""
    for dtype in entry.dtypes():
        for sample in op_db.spread(entry.samples(dtype), most):
            if sample.suits(here):
                ours = dict(sample.cases(here))
                for case, theirs in sample.cases(there):
                    for path, a, b in compare(ours.get(case, {"raised": "nothing"}), theirs):
                        yield sample, case, path, a, b
    for sample in entry.mistakes():
        if sample.suits(here):
            ours, theirs = sample.mistake(here), sample.mistake(there)
            if ours != theirs:
                yield sample, "mistake", "outcome", ours, theirs


def test_the_tables_name_entries():
    known = {*ENTRIES, *(entry.name for entry in ENTRIES.values())}
    assert not {*ABSENT} - known
    assert not {name for rule in DIFFERS for name in rule.entries.split()} - known
    assert op_db.LIST.read_text().startswith(op_db.head(op_db.listed())), f"run {UPDATE}"
    assert len({*ABSENT}) == len(ABSENT), "a name stands in the list twice"
