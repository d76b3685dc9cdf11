"""Common mistakes: what came, and what to do, stand in the message; mistakes.txt is the table."""

from pathlib import Path

import pytest

import imode
from imode import nn, optim
from imode.nn import functional as F

LINES = Path(__file__).with_name("mistakes.txt").read_text().splitlines()
CASES = [line.split("  ==>  ") for line in LINES]


@pytest.mark.parametrize(("program", "words"), CASES)
def test_message_names(program, words):
    with pytest.raises(Exception) as caught:
        exec(
            compile(program, "program.py", "exec"),
            {"imode": imode, "nn": nn, "optim": optim, "F": F},
        )
    assert type(caught.value).__module__ != "imode.errors"
    assert [word for word in words.split(" | ") if word not in str(caught.value)] == []


def test_there_are_enough():
    assert len({program for program, _ in CASES}) == len(CASES) >= 60
