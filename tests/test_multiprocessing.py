"""Tensors between processes: shared memory, what is sent, processes that fail."""

import gc
import multiprocessing as python
import os
import pickle
import signal
import sys
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import imode
from imode import multiprocessing as mp
from imode import nn
from tests.watchdog import descriptors, program, wait_until, watchdog  # noqa: F401

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = pytest.mark.usefixtures("watchdog")


def sent(value):
    """What another process would receive; here it finds the memory that it knows."""
    return pickle.loads(ForkingPickler.dumps(value))


# ---- memory --------------------------------------------------------------------------------------


def test_views_move_together():
    x = imode.arange(6.0).view(2, 3)
    row, column, alias = x[1], x[:, 1], x.detach()
    storage, address = x.untyped_storage(), x.data_ptr()
    assert not x.is_shared() and row.share_memory_() is row
    assert all(t.is_shared() for t in (x, row, column, alias, storage)) and x.data_ptr() != address
    row[0] = 9
    assert x.tolist() == alias.tolist() == [[0, 1, 2], [9, 4, 5]] and column.tolist() == [1, 4]
    assert row.storage_offset() == 3 and column.stride() == (3,)
    assert storage == x.untyped_storage() and storage.data_ptr() == x.data_ptr()


def test_moving_is_no_write_and_keeps_the_graph():
    w = imode.ones(3, requires_grad=True)
    y = (w * w).sum()
    view = w.view(3, 1)
    w.share_memory_()
    assert w._version == 0 and view.is_shared() and view._base is w
    (y + (view * 2).sum()).backward()
    assert w.grad.tolist() == [4, 4, 4] and not w.grad.is_shared()


def test_moving_twice_does_nothing():
    x = imode.ones(3).share_memory_()
    address = x.data_ptr()
    assert x.share_memory_().data_ptr() == address and sent(x).data_ptr() == address


@pytest.mark.parametrize(
    "make",
    [
        lambda: imode.zeros(0, 3),
        lambda: imode.tensor(3),
        lambda: imode.ones(2, 3).bfloat16(),
        lambda: imode.ones(2, dtype=imode.complex64),
        lambda: imode.tensor([True, False]),
        lambda: imode.arange(12).view(3, 4).t(),
        lambda: imode.ones(1).expand(5),
        lambda: imode.arange(10)[::3],
        lambda: imode.arange(10)[4:4],
        lambda: imode.from_numpy(np.arange(10.0)[::2]),
        lambda: imode.ones(2, 3, 4, 5).to(memory_format=imode.channels_last),
        lambda: imode.ones(1, 2, 1, 2, 1, 2),
    ],
)
def test_what_is_sent_is_what_is_received(make):
    x = make()
    values, geometry = x.tolist(), (x.shape, x.stride(), x.storage_offset(), x.dtype)
    y = sent(x)
    assert y.tolist() == x.tolist() == values
    assert (y.shape, y.stride(), y.dtype) == (geometry[0], geometry[1], geometry[3])
    if x.numel():
        assert x.is_shared() and y.is_shared() and y.data_ptr() == x.data_ptr()
        assert (x.shape, x.stride(), x.storage_offset(), x.dtype) == geometry
        assert y.storage_offset() == geometry[2]
    assert x.share_memory_().is_shared() and x.tolist() == values
    assert x.storage_offset() == geometry[2]


def test_what_tensors_keep():
    p = nn.Parameter(imode.ones(2))
    p.note = "stays here"
    q = sent(p)
    assert isinstance(q, nn.Parameter) and q.requires_grad and q.is_leaf and not vars(q)
    frozen = sent(nn.Parameter(imode.ones(2), requires_grad=False))
    assert isinstance(frozen, nn.Parameter) and not frozen.requires_grad
    x = sent(imode.ones(2, requires_grad=True))
    assert x.requires_grad and x.is_leaf and x.grad is None and not isinstance(x, nn.Parameter)


def test_views_in_one_message_share_their_storage():
    x = imode.arange(4.0)
    a, (b, c) = sent((x, [x[2:], x]))
    b[0] = 7
    assert a.tolist() == c.tolist() == x.tolist() == [0, 1, 7, 3]
    assert a.untyped_storage() == b.untyped_storage()


def test_inference_tensors():
    """Memory is of one kind in a process; what arrives is of the mode's kind there."""
    with imode.inference_mode():
        x = imode.ones(3)
        assert sent(imode.ones(2)).is_inference()
    assert x.share_memory_().is_inference() and sent(x).is_inference()
    y = imode.ones(3)
    with imode.inference_mode():
        assert not y.share_memory_().is_inference() and not sent(y).is_inference()
        assert not sent(nn.Parameter(imode.ones(2))).is_inference()
    y.add_(1)


def test_arrays_of_numpy_keep_the_old_memory():
    array = np.ones(3)
    x = imode.from_numpy(array)
    seen = x.numpy()
    x.share_memory_().fill_(5)
    assert array.tolist() == seen.tolist() == [1, 1, 1]
    assert np.shares_memory(x.numpy(), x.numpy())


def test_modules_share_their_parameters_and_buffers():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert model.share_memory() is model
    assert all(t.is_shared() for t in model.state_dict().values())
    assert model(imode.ones(3, 2)).sum().requires_grad


def test_storages_and_sparse_tensors():
    storage = imode.tensor([1, 2]).untyped_storage()
    assert sent(storage) == storage and storage.is_shared()
    assert imode.ones(1).untyped_storage().share_memory_().is_shared()
    x = sent(imode.eye(3).to_sparse().requires_grad_())
    assert x.is_sparse and x.requires_grad and x.to_dense().tolist() == imode.eye(3).tolist()
    assert x.detach()._values().is_shared() and x.is_coalesced()
    meta = sent(imode.ones(2, 3, device="meta"))
    assert meta.is_meta and meta.shape == (2, 3) and not meta.is_shared()


def test_what_is_refused():
    w = imode.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which"):
        ForkingPickler.dumps(w * 2)
    with pytest.raises(RuntimeError, match="_share_fd_: only available on CPU"):
        imode.ones(2, device="meta").share_memory_()
    with pytest.raises(RuntimeError, match="Cannot pickle meta storage; try pickling a meta tens"):
        ForkingPickler.dumps(imode.ones(2, device="meta").untyped_storage())
    for act in (imode.Tensor.is_shared, imode.Tensor.share_memory_):
        with pytest.raises(NotImplementedError, match="Cannot access storage of SparseTensorImpl"):
            act(imode.eye(2).to_sparse())
    w.register_hook(lambda grad: None)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        ForkingPickler.dumps(w)
    with pytest.raises(AssertionError, match="invalid sharing strategy 'none'"):
        mp.set_sharing_strategy("none")


def test_memory_that_cannot_be_had():
    from imode._core.shared import SharedMemory

    with pytest.raises(OSError, match="shared memory"):
        SharedMemory(8, os.open(os.devnull, os.O_RDONLY))


@linux
def test_descriptors_are_closed():
    gc.collect()
    before = descriptors()
    for _ in range(50):
        sent(imode.ones(3).share_memory_())
    gc.collect()
    assert descriptors() <= before + 3  # a thread of Python's that hands out descriptors


# ---- processes -----------------------------------------------------------------------------------


def double(inbox, outbox, shared):
    x = inbox.get()
    shared.add_(1)
    x.mul_(2)
    outbox.put((x, imode.full((3,), 5.0)))
    inbox.get()  # the memory is fetched from this process


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_processes_write_to_one_memory(method):
    context = mp.get_context(method)
    inbox, outbox = context.Queue(), context.Queue()
    shared, x = imode.zeros(2).share_memory_(), imode.arange(4.0)
    process = context.Process(target=double, args=(inbox, outbox, shared))
    process.start()
    inbox.put(x[1:])
    y, z = outbox.get(timeout=30)
    inbox.put(None)
    process.join(30)
    assert process.exitcode == 0 and shared.tolist() == [1, 1]
    assert x.tolist() == [0, 2, 4, 6] and y.tolist() == [2, 4, 6] and z.tolist() == [5, 5, 5]
    assert y.data_ptr() == x[1:].data_ptr() and z.is_shared()


def square(x):
    return x * x


def test_a_pool_and_a_pipe():
    with mp.get_context("fork").Pool(2) as pool:
        assert [x.item() for x in pool.map(square, [imode.tensor(i) for i in range(4)])] == [
            *(0, 1, 4, 9)
        ]
        pool.close()
        pool.join()
    here, there = mp.Pipe()
    with here, there:
        here.send(imode.ones(2))
        assert there.recv().is_shared()


def test_the_module_is_pythons_and_more():
    assert {*python.__all__} <= {*mp.__all__} and mp.Process is python.Process
    assert mp.get_sharing_strategy() == "file_descriptor"
    mp.set_sharing_strategy("file_system")
    try:
        assert mp.get_sharing_strategy() == "file_system" and sent(imode.ones(2)).is_shared()
    finally:
        mp.set_sharing_strategy("file_descriptor")


@linux
def test_nothing_is_left_in_dev_shm(tmp_path):
    """Nor does a process that is killed leave anything."""
    text = (
        "import os, signal, sys, pickle, imode\nimport imode.multiprocessing as mp\n"
        "from multiprocessing.reduction import ForkingPickler\n"
        "kept = [imode.ones(100_000).share_memory_() for _ in range(3)]\n"
        "mp.set_sharing_strategy('file_system')\n"
        "messages = [ForkingPickler.dumps(x) for x in kept]\n"
        "print(os.getpid(), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    before = {*os.listdir("/dev/shm")}
    done = program(tmp_path / "p.py", text, check=False)
    assert done.returncode == -signal.SIGKILL and done.stdout.strip()
    for _ in range(200):  # what tests beside this one make goes away
        new = {*os.listdir("/dev/shm")} - before
        left = {name for name in new if not name.startswith("torch_")}
        if not left:
            break
        time.sleep(0.05)
    assert not left


# ---- start_processes -----------------------------------------------------------------------------


def note(i, results):
    results[i] = i + 1


def act(i, what):
    if i == 1:
        what()
    time.sleep(0 if i == 1 else 60)


def raise_error():
    raise ValueError("of process one")


def leave():
    os._exit(7)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt():
    raise KeyboardInterrupt


def test_spawn_runs_a_function_in_new_interpreters():
    results = imode.zeros(1).share_memory_()
    assert mp.spawn(note, (results,), nprocs=1) is None
    assert results.tolist() == [1]


def test_processes_that_are_not_joined():
    results = imode.zeros(3).share_memory_()
    context = mp.start_processes(note, (results,), 3, join=False, start_method="fork")
    assert isinstance(context, mp.ProcessContext) and len(context.pids()) == 3
    while not context.join(timeout=10):
        pass
    assert context.join() and results.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        (raise_error, mp.ProcessRaisedException, "\n\n-- Process 1 terminated with the following"),
        (leave, mp.ProcessExitedException, "process 1 terminated with exit code 7"),
        (kill, mp.ProcessExitedException, "process 1 terminated with signal SIGKILL"),
    ],
)
def test_the_others_end_when_one_fails(what, error, said):
    with pytest.raises(error) as raised:
        mp.start_processes(act, (what,), 3, start_method="fork")
    found = raised.value
    assert str(found).startswith(said) and found.error_index == 1 and found.error_pid > 0
    again = pickle.loads(pickle.dumps(found))
    assert vars(again) == vars(found) and str(again) == str(found)
    if what is raise_error:
        assert "ValueError: of process one" in str(found)
    if what is kill:
        assert (found.exit_code, found.signal_name) == (-9, "SIGKILL")


def test_an_interrupted_process_has_not_failed():
    context = mp.start_processes(act, (interrupt,), 2, join=False, start_method="fork")
    assert wait_until(lambda: not context.processes[1].is_alive()) and not context.join(0.1)
    context.processes[0].terminate()
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGTERM"):
        context.join()


def test_older_names():
    with pytest.warns(UserWarning, match="SpawnContext is renamed to ProcessContext"):
        mp.SpawnContext([], [])
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(note, (), 0, start_method="fork")


@linux
def test_processes_end_with_their_parent(tmp_path):
    text = (
        "import os, signal, sys, time\nfrom imode.multiprocessing import start_processes\n"
        "def wait(i):\n    time.sleep(60)\n"
        "context = start_processes(wait, (), 1, join=False, start_method='fork')\n"
        "time.sleep(0.3)\nprint(*context.pids(), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = program(tmp_path / "p.py", text, check=False)
    from tests.watchdog import is_running

    assert wait_until(lambda: not is_running(int(done.stdout)))
