"""torch.cond: one of two functions, by a number or a tensor."""

import pytest

from .side_by_side import agrees, error

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def checked_distributions(torch):
    """Where PyTorch compiles the branches, it stops checking the parameters of distributions."""
    yield
    torch.distributions.Distribution.set_default_validate_args(__debug__)


@agrees
def test_branches(lib):
    x = lib.ones(2, requires_grad=True)
    more, less = (lambda t: t + 1), (lambda t: t * 2)
    seen = [lib.cond(pred, more, less, (x,)) for pred in (True, False, 0, 2.5)]
    seen += [lib.cond(lib.tensor(pred), more, less, [x]) for pred in (True, False, [1])]
    seen += [lib.cond(lib.tensor(True), lambda: x * 3, lambda: x + 1)]
    seen += [lib.cond(x.sum() > 3, lambda a: a["b"][0] * 3, lambda a: -a["b"][0], ({"b": [x]},))]
    return [*seen, error(lambda: lib.cond(lib.ones(2), more, less, (x,)))]
