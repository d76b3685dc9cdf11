"""What the namespaces of devices that are not here are made of: functions that refuse."""


def said(sentence):
    """Return a sentence of PyTorch's, and what to do."""
    return f"{sentence}. Tensors live on the CPU here: leave out the device"


def refusing(name, error, sentence):
    """Return a function of any arguments that raises `error(sentence)`."""

    def refuse(*args, **kwargs):
        raise error(said(sentence))

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise {error.__name__}: {sentence}."
    return refuse


def doing_nothing(name, result=None):
    """Return a function of any arguments that returns `result`."""

    def nothing(*args, **kwargs):
        return result

    nothing.__name__ = nothing.__qualname__ = name
    nothing.__doc__ = f"Do nothing; return {result!r}."
    return nothing


class Block:
    """A block on a device or stream that is not there. None and -1 stand for none: any other is
    refused when it is entered."""

    sentence = "PyTorch was compiled without CUDA support"

    def __init__(self, which=None):
        self.which = which

    def __enter__(self):
        if self.which is not None and self.which != -1:
            raise RuntimeError(said(self.sentence))
        return self

    def __exit__(self, *error):
        return False


def refused_class(name, sentence):
    """Return a class, for `isinstance`, that cannot be made."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError(said(sentence))

    doc = f"What does not exist here: to make one raises RuntimeError, {sentence}."
    return type(name, (), {"__new__": __new__, "__doc__": doc, "__module__": __name__})
