"""The thread pool: every index once, whatever the number of threads, nesting, forks and callers."""

import os
import subprocess
import sys
import threading
import time

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
