"""An allocation that fails: the call raises, and what comes after it is as it should be.

Each program runs once for each allocation of Python's that it makes, which fails that time. In a
process of its own, that a crash is seen as one. The programs stay on compiled paths: NumPy's and
CPython's own ways out of an allocation that failed are not all sound.
"""

import subprocess
import sys

import pytest

import imode

testcapi = pytest.importorskip("_testcapi")
pytestmark = pytest.mark.skipif(
    not hasattr(testcapi, "set_nomemory"), reason="this interpreter cannot let allocations fail"
)
DATA = [[0.5, -1.0, 2.0], [1.5, 0.25, -3.0]]
A = imode.tensor(DATA)
L = imode.tensor(DATA, requires_grad=True)
W = imode.tensor(DATA).mul(2).requires_grad_()
ENOUGH = 20  # runs in a row with nothing left that fails


def backward():
    y = (L * L + L).tanh().sum()
    y.backward()
    grad, L.grad = L.grad, None
    return grad


def twice():
    (g,) = imode.autograd.grad((L * L * L).sum(), L, create_graph=True)
    return imode.autograd.grad(g.sum(), L)[0]


def write():
    x = A.clone()
    x += A
    x[0] = 1
    x.view(-1).mul_(2)
    return x


def write_views():
    x = L.clone()
    v, w = x.view(-1), x[1]
    v.mul_(2)
    w.add_(1)
    return imode.autograd.grad(x.sum(), L)[0]


def inference():
    with imode.inference_mode():
        v = A.view(-1)
        w = (v * 2)[1:]
    return w.clone()


def products():
    return imode.autograd.grad((L @ W.t()).sum(), W)[0]


def normalised():
    x = imode.nn.functional.layer_norm(L, (3,))
    return imode.autograd.grad(x.square().sum(), L)[0]


PROGRAMS = {f.__name__: f for f in (
    backward, twice, write, write_views, inference, products, normalised)}  # fmt: skip


def modes():
    return imode.is_grad_enabled(), imode.is_inference_mode_enabled()


def outcome(program, failing):
    """The result where the allocation of that number fails, or the error."""
    testcapi.set_nomemory(failing, failing + 1)
    try:
        return program()
    except BaseException as error:
        return error
    finally:
        testcapi.remove_mem_hooks()


def run(name):
    """Print what is wrong with a program whose allocations fail, and the number of its errors."""
    program = PROGRAMS[name]
    want = [program().tolist() for _ in range(3)][-1]
    errors = failing = whole = 0
    while whole < ENOUGH:
        got = outcome(program, failing)
        if isinstance(got, imode.Tensor):
            whole += 1
            if got.tolist() != want:
                print(f"{failing}: another result")
        else:
            errors, whole = errors + 1, 0
            if type(got) is not MemoryError and "can't allocate memory" not in str(got):
                print(f"{failing}: {got!r}")
        L.grad = None
        if modes() != (True, False) or A.tolist() != DATA or program().tolist() != want:
            print(f"{failing}: something else has changed")
        failing += 1
    print("errors" if errors else "no errors")


@pytest.mark.parametrize("name", PROGRAMS)
def test_allocations_that_fail(name):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c",  # guards that were not entered
         f"import tests.test_memory_errors as m; m.run({name!r})"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("errors\n", "", 0)
