"""Every rule of differences/ has a witness that differs today, and an entry on the page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from . import differences, named
from .differences import Difference, Rule, Rules, Shown
from .programs import compare, run

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
# Entries that no program shows on every CPU, and the tests that hold them.
UNSEEN = {"values": {"Seeded numbers are the same on every CPU": "tests/test_random.py"}}
RULES = differences.load()
WITNESSES = [(rule, text) for rule in RULES.rules for text in rule.witnesses]


@pytest.mark.parametrize("rule, text", WITNESSES, ids=[rule.entry for rule, _ in WITNESSES])
def test_the_witness_differs_in_just_what_its_rule_says(lib, torch, rule, text):
    program = named.parse(text)
    ours, theirs = run(lib, program), run(torch, program)
    found = compare(ours, theirs)
    assert found is not None, "nothing differs: is the rule stale?"
    assert not [s for s in theirs[found.index + 1 :] if not s.source.startswith("#")], str(found)
    for difference in differences.of_program(found):
        cases = {*difference.cases, *rule.cases, *(["shown"] if isinstance(rule, Shown) else [])}
        assert rule.excuses(replace(difference, cases=frozenset(cases))), difference
        RULES.meets(rule, difference)  # a case of a sample's is met by samples alone
        RULES.keep(rule, difference.observable, *difference.operators)


def test_every_part_of_every_rule_is_met(request):
    files = {item.path.name for item in request.session.items}
    whole = {"test_ops.py", "test_bad_input.py", "test_programs.py"} <= files
    if not whole or request.config.option.keyword:
        pytest.skip("the whole suite was not run")
    unmet = RULES.unmet()
    assert not unmet, "\n".join(map(str, unmet))


def test_rules_say_what_they_are_about():
    for rule in RULES.rules:
        conditions = rule.operators, rule.statement, rule.here, rule.there, rule.raised
        assert isinstance(rule, Shown) or any(conditions), rule
        assert not {*"*?["} & {*rule.operators, *rule.observables}, f"a wildcard: {rule}"


def test_the_page_has_an_entry_for_every_rule():
    text = PAGE.read_text()
    told = {}
    for section in text.split("\n## ")[1:]:
        subject = re.search(r"\(`(\w+)\.py`\)$", section.splitlines()[0])[1]
        told[subject] = re.findall(r"^- \*\*(.+?)\.\*\*", section, re.MULTILINE)
    for subject, rules in differences.by_subject().items():
        entries = {rule.entry for rule in rules}
        assert sorted(told.pop(subject)) == sorted(entries | UNSEEN.get(subject, {}).keys())
    assert not told and text.count("\n") <= 250
    tests = [path for entries in UNSEEN.values() for path in entries.values()]
    assert all((PAGE.parents[1] / path).is_file() for path in tests)


def test_a_rule_excuses_what_it_says_and_no_more():
    rule = Rule("an entry", "values", "", operators="sin cos.out", cases=["left"], here="1|2")
    one = Difference("values", "1", "7", frozenset(["sin"]), frozenset(["left"]))
    rules = Rules([rule])
    assert rules.excuse(one)
    for other in (
        replace(one, observable="shape"), replace(one, operators=frozenset(["asin"])),
        replace(one, operators=frozenset(["cos"])), replace(one, here="12"),
        replace(one, cases=frozenset(["right"])),
    ):  # fmt: skip
        assert not rules.excuse(other) and not rules.excuse(one, other)
    assert rules.excuse(replace(one, operators=frozenset(["cos"]), cases={"left", "program"}))
    assert rules.unmet() == [("an entry", "cos.out")]
