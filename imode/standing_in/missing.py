"""What stands for a name of PyTorch's that imode lacks: it can be imported, not used."""

from imode.errors.missing import NOT_HERE, PAGE


class _MissingType(type):
    """The type of classes that raise when they are called."""

    def __call__(cls, *args, **kwargs):
        raise NotImplementedError(f"{NOT_HERE.format(cls._missing)}. {PAGE}")

    def __getattr__(cls, name):
        if name[:2] == "__":
            raise AttributeError(f"{cls!r} has no attribute {name!r}")
        return missing(cls._missing, name)

    def __getitem__(cls, of):
        return cls  # in annotations: Future[int]

    def __repr__(cls):
        return f"<{cls._missing}, which is not in imode>"


def missing(module, name):
    """Return a class for a name: others can derive from it and ask for instances of it."""
    members = {"__module__": module, "__doc__": "Not in imode.", "_missing": f"{module}.{name}"}
    return _MissingType(name, (), members)


def is_missing(value):
    """Whether a value stands for a name that is not there."""
    return isinstance(value, _MissingType)
