"""What may differ from PyTorch, as data: a file per section of docs/differences.md.

    RULES = [
        Rule(
            "the words in bold that begin an entry of the page",
            "is_view based",                     # observables, each by its name
            operators="roll stack",              # called by the statement, or of the sample
            cases=["left the mode"],             # how they are called; any way without it
            here="False", there="True",          # what the two show: patterns of the whole text
            witness="a program, as in named/, of which the last statement differs in just that",
        ),
    ]

`test_rules.py` runs every witness: it differs in both libraries as its rule says, or fails.
"""

import importlib
import pkgutil
import re
from dataclasses import dataclass
from functools import cache

FIELDS = ("statement", "here", "there", "raised")


@dataclass(frozen=True)
class Difference:
    """One difference between two runs of a program, or of a sample of an operator.

    The cases of a program: "program", "in the mode", "left the mode" (it names an inference tensor
    outside). Of a sample: as it was called, in words of the suite that calls it.
    """

    observable: str  # "outcome", or a property's name as in observe.py; a gradient's: "grad.…"
    here: str
    there: str
    operators: frozenset
    cases: frozenset
    statement: str = ""
    raised: str = "ok"  # by PyTorch


@dataclass(frozen=True, kw_only=True)
class _Conditions:
    operators: str = ""
    cases: list | tuple = ()
    statement: str = ""
    here: str = ""
    there: str = ""
    raised: str = ""


@dataclass(frozen=True, eq=False)
class Rule(_Conditions):
    """What is excused: all that is given has to fit; patterns fit a whole text."""

    entry: str
    observables: str
    witness: str | list

    @property
    def witnesses(self):
        """Its programs."""
        return self.witness if isinstance(self.witness, list) else [self.witness]

    def excuses(self, found):
        """Whether a Difference is what this rule is about."""
        return (
            found.observable in self.observables.split()
            and (not self.operators or self.is_about(found))
            and (not self.cases or not found.cases.isdisjoint(self.cases))
            and all(
                re.fullmatch(pattern, getattr(found, field), re.DOTALL)
                for field in FIELDS
                if (pattern := getattr(self, field))
            )
        )

    def is_about(self, found):
        """Whether a Difference is of one of the operators; a program names no overloads."""
        names = self.operators.split()
        if "program" in found.cases:
            names = [name.partition(".")[0].removeprefix("linalg_") for name in names]
        return not found.operators.isdisjoint(names)


class Shown(Rule):
    """A difference that nothing else in the suite meets: its witness alone holds it."""

    def excuses(self, found):
        return "shown" in found.cases and super().excuses(found)


class OnSome(Rule):
    """A difference that samples meet on some CPUs, or by what lies behind an array: its witness,
    which always meets it, holds it."""


class Rules:
    """All rules, and what met them: (rule, what was met) of operators, cases and observables."""

    def __init__(self, rules):
        self.rules = list(rules)
        self.met = set()

    def excuse(self, *found):
        """Whether every Difference given is intended."""
        met = [[self.meets(rule, one) for rule in self.rules] for one in found]
        return all(map(any, met))

    def meets(self, rule, found):
        """Whether a rule excuses a Difference; what it meets of the rule is kept."""
        excused = rule.excuses(found)
        if excused:
            self.keep(rule, found.observable, *found.operators, *found.cases)
        return excused

    def keep(self, rule, *names):
        """Keep that parts of a rule were met."""
        self.met |= {(self.rules.index(rule), name) for name in names}

    def sample(self, operator, case, path, here, there, **others):
        """Whether a difference of a sample's call is intended."""
        names = frozenset([operator]), frozenset([case])
        return self.excuse(
            Difference(observable(path), shown(here), shown(there), *names, **others)
        )

    def unmet(self):
        """The parts of rules that nothing has met."""
        return [
            (rule.entry, name)
            for number, rule in enumerate(self.rules)
            if not isinstance(rule, (Shown, OnSome))
            for name in [*rule.observables.split(), *rule.operators.split(), *rule.cases]
            if (number, name) not in self.met
        ]


def observable(path):
    """The name of what a path of an observation is about, whichever tensor it is of."""
    head, _, name = path.partition(".")
    if head == "seen":
        return name
    if head in ("log", "others", "modes", "outcome"):
        return head
    if re.fullmatch(r"(grad|twice)\d+", head):
        head = head.rstrip("0123456789")
        return f"{head}.{name}" if name else head
    return name or head


def shown(value):
    """What is matched of a value."""
    return value if isinstance(value, str) else repr(value)


def of_program(mismatch):
    """The Differences of two runs of a program; where one raised, what it did not do follows."""
    whole = [
        Difference(
            observable(path), shown(here), shown(there), frozenset(called(mismatch.source)),
            frozenset({"program", *mismatch.modes}), mismatch.source, mismatch.raised,
        )
        for path, here, there in mismatch.found
    ]  # fmt: skip
    first = [d for d in whole if d.observable == "outcome" or "INTERNAL ASSERT" in d.there]
    return first or whole


def called(statement):
    """The names that a statement calls."""
    return re.findall(r"(\w+)\(", statement)


def by_subject():
    """Return {the name of a file here: its rules}."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return {name: importlib.import_module(f"{__name__}.{name}").RULES for name in names}


@cache
def load():
    """Return all rules: the same object for the whole run."""
    return Rules(rule for rules in by_subject().values() for rule in rules)
