"""The programs of `named/`: every observable after every statement is PyTorch's."""

import pytest

from . import differences, named
from .fuzz import intended
from .programs import compare, run

WITH_RULES = {"modes"}  # the others agree without a rule; those of rules stand beside them
PROGRAMS = [
    (subject, name, text) for subject, texts in named.load().items() for name, text in texts.items()
]


@pytest.mark.parametrize(
    "subject, text",
    [(subject, text) for subject, _, text in PROGRAMS],
    ids=[f"{subject}: {name}" for subject, name, _ in PROGRAMS],
)
def test_named(lib, torch, subject, text):
    program = named.parse(text)
    found = compare(run(lib, program), run(torch, program))
    if found is not None:
        assert subject in WITH_RULES and intended(found, differences.load()), str(found)
