"""Numbers for lines of programs and for operators, by which messages say where things come from.

A guard stores the number of the line that entered it in the thread's state, and a tensor created
under it carries that number and its operator's; a version counter carries those of the last write.
They are turned into text only for a message. Number 0 means unknown.
"""

from itertools import count

_locations = {}
_location_ids = {}
_MAX_LOCATIONS = 1 << 16  # a limit for programs that generate code; others have far fewer lines

ASSIGNMENT = "`t[...] = v`"  # how messages write an assignment to items

# Operators, and other functions that create tensors:
_operators = {}
_operator_ids = {}
_numbers = count(1)


def location_id(filename, line):
    """Return the small integer that stands for ``filename:line`` (0 once the table is full)."""
    key = (filename, line)
    found = _location_ids.get(key)
    if found is None:
        found = _number(key, _locations, _location_ids) if len(_locations) < _MAX_LOCATIONS else 0
    return found


def _number(key, known, numbers):
    """Give `key` a number of its own.

    No lock is used, because a finalizer may call this in the middle of another call. If several
    calls number the same key, the first to enter it in `numbers` wins; `known` has it by then.
    """
    mine = next(_numbers)
    known[mine] = key
    found = numbers.setdefault(key, mine)
    if found != mine:
        del known[mine]
    return found


def location(guard_id):
    """Return ``"file:line"`` of the line that a number stands for, or None."""
    known = _locations.get(guard_id)
    return None if known is None else f"{known[0]}:{known[1]}"


def location_parts(guard_id):
    """Return (file, line) of the line that a number stands for."""
    return _locations.get(guard_id, ("<unknown>", 0))


def operator_id(name):
    """Return the small integer that stands for an operator's name."""
    found = _operator_ids.get(name)
    return _number(name, _operators, _operator_ids) if found is None else found


def operator_name(number):
    """Return the name of the operator that a number stands for, or None."""
    return _operators.get(number)
