"""The thread pool: every index once, whatever the number of threads, nesting, forks and callers."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import imode
from imode._core.parallel import _cover, get_num_threads, set_num_threads


@pytest.fixture(autouse=True)
def restore_threads():
    before = get_num_threads()
    yield
    set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000, 100_001])
@pytest.mark.parametrize("grain", [0, 1, 63, 1 << 40])
@pytest.mark.parametrize("nested", [False, True])
def test_covers_every_index_once(threads, n, grain, nested):
    set_num_threads(threads)
    counts, used = _cover(n, grain, nested)
    assert counts == [1] * n
    assert used <= threads


def test_inline_when_small_or_single():
    set_num_threads(4)
    assert _cover(100, 100)[1] == 1
    set_num_threads(1)
    assert _cover(100_000, 1)[1] == 1


def test_jobs_after_the_threads_have_gone_to_sleep():
    set_num_threads(3)
    for pause in (0, 1e-5, 1e-4, 1e-3, 1e-2):
        for _ in range(20):
            time.sleep(pause)
            assert _cover(1000, 1)[0] == [1] * 1000


def test_callers_in_several_threads():
    set_num_threads(3)
    wrong = []

    def run():
        for n in range(1, 400):
            counts, _ = _cover(n, 2)
            if counts != [1] * n:
                wrong.append(n)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_child_of_a_fork_has_a_pool_of_its_own():
    # In a process of its own: pytest's may hold threads that a fork would not copy.
    program = (
        "import os\n"
        "from imode._core.parallel import _cover, set_num_threads\n"
        "set_num_threads(4)\n"
        "assert _cover(1000, 1)[0] == [1] * 1000\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    ok = all(_cover(1000, 1)[0] == [1] * 1000 for _ in range(100))\n"
        "    os._exit(0 if ok else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert _cover(1000, 1)[0] == [1] * 1000\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("value", [0, -1])
def test_number_must_be_positive(value):
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        set_num_threads(value)


@pytest.mark.parametrize("value", [2.5, True, "2", None])
def test_number_must_be_an_integer(value):
    expected = f"set_num_threads expects an int, but got {type(value).__name__}"
    with pytest.raises(RuntimeError, match=expected):
        set_num_threads(value)


def test_number_is_kept():
    set_num_threads(3)
    assert get_num_threads() == 3
    with pytest.raises(ValueError, match="Overflow"):
        set_num_threads(1 << 40)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity to set")
def test_starts_at_the_processors_that_the_process_may_use():
    program = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "import imode; print(imode.get_num_threads())"
    )
    without = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=without, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    "n, k, m", [(22, 384, 384), (1, 2048, 1100), (100, 150, 1537), (7, 900, 401)]
)
@pytest.mark.parametrize("dtype", [imode.float32, imode.float64, imode.complex64])
def test_the_bits_of_products_of_few_rows_do_not_depend_on_the_threads(n, k, m, dtype):
    a, b = imode.randn(n, k, dtype=dtype), imode.randn(m, k, dtype=dtype)
    found = []
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found.append((a @ b.T, a @ b.T.contiguous()))
    assert all(imode.equal(x, y) for pair in found for x, y in zip(pair, found[0]))
    wide = a.to(imode.complex128) @ b.T.to(imode.complex128)
    assert imode.allclose(found[0][0].to(imode.complex128), wide, rtol=1e-3, atol=1e-2)


def by_threads(call):
    """What a call gives with 1, 2 and 3 threads, as lists of tensors."""
    for threads in (1, 2, 3):
        set_num_threads(threads)
        result = call()
        yield list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize(
    "n, k, m", [(48, 16, 16), (131, 500, 203), (1000, 70, 33), (250, 1600, 700)]
)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
def test_large_products_are_right_and_their_bits_do_not_depend_on_the_threads(
    n, k, m, layout, dtype
):
    a = imode.randn(*((k, n) if layout[0] == "t" else (n, k)), dtype=dtype)
    b = imode.randn(*((m, k) if layout[1] == "t" else (k, m)), dtype=dtype)
    a, b = a.t() if layout[0] == "t" else a, b.t() if layout[1] == "t" else b
    first, *others = by_threads(lambda: a @ b)
    assert all(imode.equal(first[0], other[0]) for other in others)
    exact = imode.einsum("ik,kj->ij", a.double(), b.double())
    assert imode.allclose(first[0].double(), exact, rtol=1e-4, atol=1e-3 * k**0.5)


SHARED = {
    "a sum": lambda x: x.sum(),
    "sums along the last": lambda x: x.sum(1),
    "sums along the first": lambda x: x.sum(0),
    "a product": lambda x: (1 + x * 1e-6).prod(),
    "a maximum": lambda x: (x.max(), x.amax(0), x.amax(1)),
    "norms": lambda x: (x.norm(), x.norm(dim=0), x.norm(dim=1), x.norm(p=1)),
    "of the transposed": lambda x: (x.t().sum(0), x.t().mean(1), x.t().amax(1)),
    "lanes of the transposed": lambda x: (x.t().softmax(1), x.t().log_softmax(1), *x.t().max(1)),
    "places": lambda x: (x.argmax(), x.argmin(0), *x.max(1), *x.min(0)),
    "logarithms of sums": lambda x: (x.logsumexp(0), x.logsumexp(1), x.t().logsumexp(1)),
    "whole tensors": lambda x: (*x.aminmax(), imode.dist(x, x.flip(0)), imode.dist(x, x * 2, 1)),
    "whole numbers": lambda x: ((x * 9).long().sum(0), (x * 9).int().sum(1), (x > 0).sum(0)),
    "counts": lambda x: (x.count_nonzero(), x.count_nonzero(0), (x > 0).any(1), (x > 0).all(0)),
    "softmax": lambda x: (x.softmax(0), x.softmax(1), x.log_softmax(0), x.log_softmax(1)),
    "running sums": lambda x: (x.cumsum(0), x.cumsum(1), x.logcumsumexp(0), x.logcumsumexp(1)),
    "layer norm": lambda x: imode.native_layer_norm(x, (x.shape[1],), x[0], x[1], 1e-5),
    "batch norm": lambda x: imode.nn.functional.batch_norm(x, None, None, training=True),
    "broadcasts": lambda x: (
        x + x[0],
        x * x[:, :1],
        x.t() - x[:, 0],
        x[:, None, :5] + x[:, :5, None],
    ),
}


@pytest.mark.parametrize("what", SHARED)
@pytest.mark.parametrize("dtype", [imode.float32, imode.float64, imode.float16, imode.bfloat16])
def test_the_bits_of_shared_loops_do_not_depend_on_the_threads(what, dtype):
    x = imode.randn(611, 523, dtype=dtype)
    first, *others = by_threads(lambda: SHARED[what](x))
    for other in others:
        assert all(imode.equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("shape", [(400, 300), (64, 8, 20, 20)])
def test_the_bits_of_gradients_of_norms_do_not_depend_on_the_threads(shape):
    x = imode.randn(shape, requires_grad=True)
    w = imode.randn(shape[1:], requires_grad=True)
    scale, grad = imode.randn(shape[1]), imode.randn(shape)

    def gradients():
        y = imode.nn.functional.layer_norm(x, shape[1:], w, w * 2)
        z = imode.nn.functional.group_norm(x, 4, scale)
        return imode.autograd.grad([y, z], [x, w], [grad, grad])

    first, *others = by_threads(gradients)
    for other in others:
        assert all(imode.equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 17, 47])
def test_few_rows_by_a_matrix_do_not_depend_on_the_threads(rows, dtype):
    """Of whole numbers, so that every sum is exact; lines of the result lie across two threads."""
    rng = np.random.default_rng(rows)
    left = rng.integers(-4, 5, (rows, 515)).astype(dtype)
    right = rng.integers(-4, 5, (515, 709)).astype(dtype)
    for b in (right, np.ascontiguousarray(right.T).T):
        for threads in (1, 2, 3):
            set_num_threads(threads)
            product = imode.from_numpy(left) @ imode.from_numpy(b)
            np.testing.assert_array_equal(product.numpy(), left @ right)
