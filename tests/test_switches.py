"""Names and switches that scripts ask for: what was set is kept, what is not there says so."""

import contextlib
import doctest
import importlib
import subprocess
import sys

import pytest

import imode

MODULES = [
    *("accelerator", "amp", "amp.autocast_mode", "amp.grad_scaler", "compiler", "cpu", "cpu.amp"),
    *("cuda", "cuda.amp", "distributed", "functional", "fx", "hub", "jit", "mps", "random"),
    *("multiprocessing", "types", "version", "xpu", "_dynamo", "__config__"),
    "_jit_internal",
    *("_switches.process", "backends.cpu", "backends.cuda", "backends.cudnn", "backends.mkl"),
    *("backends.mkldnn", "backends.mps", "backends.openmp", "backends.opt_einsum"),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    module = importlib.import_module(f"imode.{name}")
    assert module.__doc__
    assert doctest.testmod(module, extraglobs={"imode": imode}, optionflags=flags).failed == 0


def test_they_load_when_first_used():
    late = [f"imode.{name}" for name in MODULES if name != "cuda"]
    code = f"import sys, imode; print([name for name in {late} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_autocast_leaves_nothing_behind():
    x = imode.ones(2, 2)
    with imode.autocast("cpu"):
        assert imode.overrides._get_current_function_mode() is not None
        with imode.autocast("cpu", enabled=False):
            assert (x @ x).dtype is imode.float32
        assert (x @ x).dtype is imode.bfloat16
    assert imode.overrides._get_current_function_mode() is None
    assert (x @ x).dtype is imode.float32
    with pytest.raises(ZeroDivisionError), imode.autocast("cpu", enabled=True):
        raise ZeroDivisionError
    assert imode.overrides._get_current_function_mode() is None


def test_autocast_around_a_block_without_it():
    x = imode.ones(2, 2)
    with imode.autocast("cpu", enabled=False):
        with imode.autocast("cpu"):
            assert (x @ x).dtype is imode.bfloat16
        assert (x @ x).dtype is imode.float32
        assert imode.overrides._get_current_function_mode() is None


@pytest.mark.parametrize("guard", [contextlib.nullcontext, imode.inference_mode])
def test_what_is_repeated_does_not_repeat_what_autocast_did(guard):
    x, seen = imode.ones(3, 7), []
    for dtype in (None, imode.bfloat16, imode.float16, None):
        with imode.autocast("cpu", dtype=dtype, enabled=dtype is not None), guard():
            for _ in range(3):
                seen.append(imode.einsum("ij,kj->ik", x, x).dtype)
                seen.append(imode.einsum("ij,jk->ik", x, imode.ones(7, 3)).dtype)
    wanted = (imode.float32, imode.bfloat16, imode.float16, imode.float32)
    assert seen == [dtype for dtype in wanted for _ in range(6)]


@pytest.mark.parametrize("guard", [contextlib.nullcontext, imode.inference_mode])
def test_recurrent_layers_see_autocast(guard):
    x = imode.ones(3, 2, 4)
    found = {}
    for name in ("RNN", "LSTM", "GRU"):
        layer, cell = getattr(imode.nn, name)(4, 5), getattr(imode.nn, f"{name}Cell")(4, 5)
        with imode.autocast("cpu"), guard():
            state = cell(x[0])
            found[name] = layer(x)[0].dtype, (state[0] if name == "LSTM" else state).dtype
    low, full = imode.bfloat16, imode.float32
    assert found == {"RNN": (low, low), "LSTM": (low, full), "GRU": (full, full)}


def test_hub_loads_from_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "import imode\n"
        "def ones(n, dtype=None):\n    '''Ones.'''\n    return imode.ones(n, dtype=dtype)\n"
    )
    folder = str(tmp_path)
    assert imode.hub.load(folder, "ones", 2, source="local").tolist() == [1, 1]
    assert imode.hub.list(folder) == ["ones"] and imode.hub.help(folder, "ones") == "Ones."
    with pytest.raises(RuntimeError, match="Cannot find callable twos in hubconf"):
        imode.hub.load(folder, "twos", source="local")
    with pytest.raises(RuntimeError, match='source="local"'):
        imode.hub.load("someone/something", "ones")


def test_torchscript_is_refused_with_the_way_out():
    with pytest.raises(RuntimeError, match="state_dict"):
        imode.jit.load("model.pt")
    with pytest.raises(RuntimeError, match="state_dict"):
        imode.jit.save(imode.nn.Linear(1, 1), "model.pt")


def test_tensors_travel_through_queues():
    context = imode.multiprocessing.get_context("fork")
    queue, received = context.SimpleQueue(), context.Event()

    def send():
        queue.put(imode.arange(3))
        received.wait(30)  # the memory is fetched from this process

    process = context.Process(target=send)
    process.start()
    assert queue.get().tolist() == [0, 1, 2]
    received.set()
    process.join()
