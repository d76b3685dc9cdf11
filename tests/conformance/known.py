"""The intended differences from PyTorch, read from docs/differences.md, so that both stay true.

A difference that the suite meets stands on the page as a list item that starts with a rule:

    - `rand*: values` — why

then the observable, after the name of what it is met in, either with wildcards: an operator, or
`<case> <operator>`; `bad <operator>`, called with bad arguments; `graph <operator>`, the graph of
a gradient; and in programs `program <statement>`, `raises <what PyTorch raises>`, `program
<statement> raises <what PyTorch raises>`, `here <what imode shows>`, `there <what PyTorch shows>`.
"""

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
RULE = re.compile(r"^\s*- `([^`]+): ([^`:]+)`")


class Rules:
    """The rules of the page; `met` are the ones that something matched."""

    def __init__(self, text):
        found = (RULE.match(line) for line in text.splitlines())
        self.rules = [(m[1].strip(), m[2].strip()) for m in found if m]
        self.met = set()

    def allow(self, name, observable):
        """Whether a difference in this observable of this operator is intended."""
        matching = {
            rule for rule in self.rules
            if fnmatchcase(name, rule[0]) and fnmatchcase(observable, rule[1])
        }  # fmt: skip
        self.met |= matching
        return bool(matching)


@cache
def load():
    """Return the rules of docs/differences.md: the same object for the whole run."""
    return Rules(PAGE.read_text())
