"""Version counters: atomic, shared by views and detach(), absent on inference tensors."""

import threading

import pytest

import imode
from imode._core.version import VersionCounter


def test_no_bump_is_lost_between_threads():
    counter = VersionCounter()
    n, threads = 200_000, 4
    workers = [threading.Thread(target=counter.bump, args=(n,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter.current == n * threads


def test_in_place_writes_count():
    x = imode.zeros(3)
    assert x._version == 0
    x.add_(1)
    x.mul_(2)
    x[0] = 5
    assert x._version == 3


def test_views_and_detach_share_the_counter():
    x = imode.zeros(4)
    view, detached = x.view(2, 2), x.detach()
    view.add_(1)
    assert (x._version, view._version, detached._version) == (1, 1, 1)
    detached.add_(1)
    assert x._version == view._version == 2


def test_data_does_not_share_the_counter():
    x = imode.zeros(4)
    x.data.add_(1)
    assert x._version == 0
    assert x.tolist() == [1.0] * 4


def test_functional_operators_do_not_count():
    x = imode.zeros(4)
    (x + 1).sum()
    assert x._version == 0


def test_inference_tensors_have_none():
    with imode.inference_mode():
        x = imode.zeros(2)
        x.add_(1)
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            x._version  # noqa: B018
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        x._version  # noqa: B018
