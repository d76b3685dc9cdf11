"""PyTorch's switch for checks of sparse tensors, which are always on here."""


class check_sparse_tensor_invariants:
    """A guard, a decorator and three functions, by PyTorch's name; they only note the setting.

    Indices are always checked here, since one that is out of range would lead outside the memory.

    >>> with imode.sparse.check_sparse_tensor_invariants():
    ...     imode.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _enabled = False

    def __init__(self, enable=True):
        self.state, self._before = enable, None

    @staticmethod
    def is_enabled():
        """Return whether it was switched on."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        """Switch it on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        """Switch it off."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context "
                "manager instance for context nesting."
            )
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *exc_info):
        check_sparse_tensor_invariants._enabled, self._before = self._before, None

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def checked(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked
