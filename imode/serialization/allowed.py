"""Classes and functions that a file may name, beside those that are always allowed."""

_added = []


def add_safe_globals(safe_globals):
    """Let `load` build objects of these classes, and call these functions, where a file names them.

    safe_globals: a list of classes and functions, or of pairs (class or function, the name in the
    file), as `"package.module.Name"`.

    >>> import fractions
    >>> imode.serialization.add_safe_globals([fractions.Fraction])
    >>> imode.serialization.get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> imode.serialization.clear_safe_globals()
    """
    safe_globals = list(safe_globals)
    for entry in safe_globals:
        name_of(entry)
    _added.extend(entry for entry in safe_globals if entry not in _added)


def get_safe_globals():
    """Return what `add_safe_globals` has added, as a list."""
    return list(_added)


def clear_safe_globals():
    """Take back everything that `add_safe_globals` has added."""
    _added.clear()


class safe_globals:
    """For a block, let `load` build objects of these classes; see `add_safe_globals`.

    >>> import fractions
    >>> with imode.serialization.safe_globals([fractions.Fraction]):
    ...     len(imode.serialization.get_safe_globals())
    1
    """

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        self.before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception):
        _added[:] = self.before


def name_of(entry):
    """Return the name under which a file has an entry of the list."""
    value, name = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
    if not callable(value) or not isinstance(name, (str, type(None))):
        raise TypeError(
            "add_safe_globals: expected classes and functions, or pairs of one and its name; "
            f"got {entry!r}"
        )
    return name or f"{value.__module__}.{value.__qualname__}"


def by_name():
    """Return {name in the file: class or function}."""
    return {name_of(e): e[0] if isinstance(e, tuple) else e for e in _added}
