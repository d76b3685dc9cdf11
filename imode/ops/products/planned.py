"""Calls that depend on shapes alone, found once: what `einsum` does for an equation."""


def planned(shapes):
    """Return (steps, operands): what is done to these tensors, which have shapes alone, is noted.

    The steps begin with None for each operand. Each other one is a method, which tensors it takes
    and its other arguments; step i gives tensor i. Each tensor is taken once.
    """
    steps = [None] * len(shapes)
    return steps, [Planned(steps, i, tuple(shape)) for i, shape in enumerate(shapes)]


def run(steps, operands):
    """Return the last step's result."""
    tensors = list(operands)
    for name, taken, arguments in steps[len(tensors) :]:
        method = getattr(tensors[taken[0]], name)
        result = method(*[tensors[i] for i in taken[1:]], *arguments)
        for i in taken:
            tensors[i] = None  # nothing lives longer than where nothing is planned
        tensors.append(result)
    return tensors[-1]


class Planned:
    """A tensor that is not there: it has a shape, and notes what is done to it."""

    def __init__(self, steps, place, shape):
        self.steps, self.place, self.shape = steps, place, shape

    def _then(self, shape, name, *arguments, other=None):
        taken = (self.place,) if other is None else (self.place, other.place)
        self.steps.append((name, taken, arguments))
        return Planned(self.steps, len(self.steps) - 1, tuple(shape))

    def dim(self):
        """The number of dimensions."""
        return len(self.shape)

    def size(self, dim):
        """The size along one of them."""
        return self.shape[dim]

    def unsqueeze(self, dim):
        """As the method, of a dimension from 0 on."""
        return self._then((*self.shape[:dim], 1, *self.shape[dim:]), "unsqueeze", dim)

    def permute(self, order):
        """As the method."""
        return self._then([self.shape[i] for i in order], "permute", tuple(order))

    def diagonal(self, first, second):
        """The diagonal of two dimensions of one size, in the place of the first."""
        size = self.shape[first]
        rest = [n for i, n in enumerate(self.shape) if i not in (first, second)]
        last = self._then([*rest, size], "diagonal", 0, first, second)
        return last._then([*rest[:first], size, *rest[first:]], "movedim", -1, first)

    def sum(self, dims, keepdim=False):
        """As the method, over a list of dimensions."""
        left = [(i, n) for i, n in enumerate(self.shape) if keepdim or i not in dims]
        return self._then([1 if i in dims else n for i, n in left], "sum", tuple(dims), keepdim)

    def reshape(self, shape):
        """As the method, of whole sizes."""
        return self._then(shape, "reshape", tuple(shape))

    def view(self, shape):
        """As the method, of whole sizes."""
        return self._then(shape, "view", tuple(shape))

    def bmm(self, other):
        """As the method."""
        return self._then((*self.shape[:2], other.shape[2]), "bmm", other=other)

    def mul(self, other):
        """As the method, of two of as many dimensions."""
        both = zip(self.shape, other.shape, strict=True)
        return self._then([n if m == 1 else m for m, n in both], "mul", other=other)
