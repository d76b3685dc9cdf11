"""Steps that may give other samples each time, and blocks in which these are refused."""

from .datapipe import IterDataPipe

__all__ = ["guaranteed_datapipes_determinism", "non_deterministic"]

_guaranteed = False


class guaranteed_datapipes_determinism:
    """For a block, refuse to make steps of classes that are declared `non_deterministic`.

    >>> @imode.utils.data.non_deterministic
    ... class Noise(imode.utils.data.IterDataPipe):
    ...     pass
    >>> with imode.utils.data.guaranteed_datapipes_determinism():
    ...     Noise()
    Traceback (most recent call last):
        ...
    TypeError: Noise is non-deterministic, but you set 'guaranteed_datapipes_determinism'. ...
    """

    def __init__(self):
        global _guaranteed
        self.prev = _guaranteed
        _guaranteed = True

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        global _guaranteed
        _guaranteed = self.prev


class non_deterministic:
    """Decorate a class of steps whose samples differ each time.

    With a function as argument, `@non_deterministic(function)`, it is called with a step's
    arguments, and tells whether that step is so. Raises TypeError for other classes.

    >>> pipes = imode.utils.data.datapipes.iter
    >>> wrapper = imode.utils.data.non_deterministic(pipes.IterableWrapper)
    >>> list(wrapper([1, 2]))
    [1, 2]
    """

    cls = None

    def __init__(self, arg):
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    "Only `IterDataPipe` can be decorated with `non_deterministic`, but "
                    f"{arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args, **kwargs):
        if self.cls is not None:
            return self._make("is non-deterministic", True, args, kwargs)
        cls = args[0]
        if not isinstance(cls, type) or not issubclass(cls, IterDataPipe):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {cls.__name__} is found")
        self.cls = cls
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """Make a step, once the function has been asked."""
        differs = self.deterministic_fn(*args, **kwargs)
        if not isinstance(differs, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required to return a boolean "
                f"value, but {type(differs)} is found"
            )
        return self._make("is non-deterministic with the inputs", differs, args, kwargs)

    def _make(self, what, differs, args, kwargs):
        if _guaranteed and differs:
            raise TypeError(
                f"{self.cls.__name__} {what}, but you set 'guaranteed_datapipes_determinism'. You "
                "can turn off determinism for this DataPipe if that is acceptable for your "
                "application"
            )
        return self.cls(*args, **kwargs)
