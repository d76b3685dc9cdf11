"""Where things come from, as small integers: lines of programs, and operators.

A guard leaves the place of its entry in the thread's state, and a tensor made in it carries that
number beside its operator's; a version counter carries those of the last write. Only a message
makes text of them again. Number 0 means that nothing is known.

`Now` is what only others know at the moment of a message; they tell it through `answer`.
"""

from itertools import count

_places = {}
_place_ids = {}
_MAX_PLACES = 1 << 16  # for programs that make code as they run; others have far fewer lines

ASSIGNMENT = "`t[...] = v`"  # how messages write an assignment to items

# Operators, and others who make tensors:
_operators = {}
_operator_ids = {}
_numbers = count(1)


def place_id(filename, line):
    """Return the small integer that stands for ``filename:line`` (0 once the table is full)."""
    key = (filename, line)
    found = _place_ids.get(key)
    if found is None:
        found = _number(key, _places, _place_ids) if len(_places) < _MAX_PLACES else 0
    return found


def _number(key, known, numbers):
    """Give `key` a number of its own.

    Without a lock, for a finalizer may come here in the middle of it: of several who number the
    same key, the first to enter it in `numbers` wins, and what it stands for is known by then.
    """
    mine = next(_numbers)
    known[mine] = key
    found = numbers.setdefault(key, mine)
    if found != mine:
        del known[mine]
    return found


def place(guard_id):
    """Return ``"file:line"`` of the line that a number stands for, or None."""
    known = _places.get(guard_id)
    return None if known is None else f"{known[0]}:{known[1]}"


def place_parts(guard_id):
    """Return (file, line) of the line that a number stands for."""
    return _places.get(guard_id, ("<unknown>", 0))


def operator_id(name):
    """Return the small integer that stands for an operator's name."""
    found = _operator_ids.get(name)
    return _number(name, _operators, _operator_ids) if found is None else found


def operator_name(number):
    """Return the name of the operator that a number stands for, or None."""
    return _operators.get(number)


class Now:
    """Questions that other modules answer."""

    @staticmethod
    def line():
        """The place of the line of the user's program that is running."""
        return 0

    @staticmethod
    def assigning():
        """Whether that line is in the middle of an assignment to items, ``t[...] = v``."""
        return False

    @staticmethod
    def operator():
        """The number of the operator called last."""
        return 0

    @staticmethod
    def is_method(name):
        """Whether Tensor has a method of that name."""
        return True

    @staticmethod
    def not_recording():
        """(name, place of entry) of the guard that keeps this thread from recording, or None."""
        return None

    @staticmethod
    def last_inference():
        """The place where this thread entered inference mode last; 0: it never did."""
        return 0

    @staticmethod
    def not_inference():
        """(name, place of entry) of the guard that turned inference mode off, or None."""
        return None


def answer(**functions):
    """Give the functions that answer questions of `Now`."""
    for name, function in functions.items():
        if not hasattr(Now, name):
            raise TypeError(f"answer(): {name!r} is no question that is asked here")
        setattr(Now, name, staticmethod(function))
