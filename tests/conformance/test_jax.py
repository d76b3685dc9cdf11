"""The samples on JAX's CPU, a library nobody here wrote: what the CPU gives, or the same error."""

import pytest

from tests.elsewhere import contents, outcome, same_contents
from tests.operators import CASES, SAMPLES, cases
from tests.test_backends import OTHERS

# JAX takes denormal numbers for 0, adds in another order, and its division in integers differs.
DENORMAL = {"ceil", "log", "rsqrt", "sign", "mm", "log10", "log2", "sgn", "nextafter"}


@pytest.fixture(scope="module")
def jax():
    import jax
    import jax.numpy

    from imode.backends import array_api

    jax.config.update("jax_enable_x64", True)
    with array_api(jax.numpy, "jax") as backend:
        yield backend


@pytest.mark.filterwarnings("ignore")
@cases([(name, index) for name, index in CASES if index % 12 == 0])
def test_sample(jax, name, index):
    if name in OTHERS or name in DENORMAL:
        return
    grad = SAMPLES[name][index].grad
    there = outcome(name, index, jax.from_cpu, grad, contents)
    here = outcome(name, index, None, grad, contents)
    if "raised" in (there[0], here[0]):
        assert there[:2] == here[:2], (there, here)
        return
    assert len(there[1]) == len(here[1])
    for a, b in zip(there[1], here[1]):
        assert same_contents(a, b), (a, b)
