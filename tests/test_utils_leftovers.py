"""Timers and their tables, weak dictionaries, logs for TensorBoard, what describes a machine."""

import gc
import importlib.util
import subprocess
import sys
import types

import numpy as np
import pytest

import imode
from imode.utils import benchmark, collect_env, weak

# ---- benchmark -----------------------------------------------------------------------------------


def test_a_timer_measures_in_blocks():
    threads = imode.get_num_threads()
    seen = []
    timer = benchmark.Timer(
        "n.append(torch.get_num_threads())", "n.clear()", globals={"n": seen}, num_threads=3
    )
    found = timer.blocked_autorange(min_run_time=0.005)
    assert found.number_per_run * len(found.raw_times) >= 1 and sum(found.raw_times) >= 0.005
    assert {*seen} == {3} and imode.get_num_threads() == threads
    assert found.stmt == "n.append(torch.get_num_threads())" and found.num_threads == 3
    assert timer.timeit(10).number_per_run == 10


def test_adaptive_timing_stops_in_time():
    timer = benchmark.Timer("x.add_(1)", globals={"x": imode.ones(3)})
    found = timer.adaptive_autorange(threshold=0, min_run_time=0, max_run_time=0.1)
    assert len(found.raw_times) >= 1


def test_tables():
    def task(**names):
        return benchmark.TaskSpec("x", "pass", label="add", **names)

    results = [
        benchmark.Measurement(1, [2e-6] * 4, task(description="a")),
        benchmark.Measurement(1, [4e-6] * 4, task(description="b", num_threads=2)),
    ]
    table = benchmark.Compare(results)
    lines = str(table).splitlines()
    assert lines[1].split() == ["|", "a", "|", "b"] and lines[2].startswith("1 threads: ---")
    assert lines[3].split() == ["x", "|", "2.0", "|"] and lines[5].split() == ["x", "|", "|", "4.0"]
    assert lines[-1] == "Times are in microseconds (us)."
    table.colorize()
    assert "\033[92m\033[1m" in str(table)
    assert repr(results[0]).splitlines()[1:] == [
        "add",
        "a",
        "  Median: 2.00 us",
        "  IQR:    0.00 us (2.00 to 2.00)",
        "  4 measurements, 1 runs per measurement, 1 thread",
    ]


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: benchmark.Timer(3), ValueError, "Currently only a `str` stmt is supported"),
        (lambda: benchmark.Timer("1", language="rust"), ValueError, "Invalid language `rust`"),
        (lambda: benchmark.Timer("1", language="c++"), NotImplementedError, "compiles no C"),
        (lambda: benchmark.Timer("1", "2", "3"), ValueError, "global_setup is C"),
        (lambda: benchmark.Timer().repeat(), NotImplementedError, "See `Timer.blocked_autorange"),
        (lambda: benchmark.Timer().autorange(), NotImplementedError, "See `Timer.blocked_autor"),
        (lambda: benchmark.Compare([1]), ValueError, "Expected an instance of `Measurement`"),
        (lambda: benchmark.trim_sigfig(1.0, 1.5), AssertionError, "must be an integer"),
        (lambda: benchmark.Measurement(1, [], None).nothing, AttributeError, "'nothing'"),
    ],
)
def test_errors_of_timers(action, error, text):
    with pytest.raises(error, match=text):
        action()


# ---- weak ----------------------------------------------------------------------------------------


def test_dictionaries_of_tensors():
    x, y = imode.ones(2), imode.ones(2)
    table = weak.WeakTensorKeyDictionary({x: 1, y: 2})
    assert (table[x], table[y], len(table)) == (1, 2, 2) and imode.ones(2) not in table
    assert 3 not in table and table == table.copy() and (table | {y: 5})[y] == 5
    assert ({y: 7} | table)[y] == 2 and table != {x: 1} and table != 3
    for key in table:  # keys may die meanwhile
        del x, key
        gc.collect()
        break
    assert [table[key] for key in table] == [2] and len(table.keyrefs()) == 1
    with pytest.raises(KeyError):
        del table[imode.ones(1)]
    del table[y]
    assert not table


def test_references_to_tensors():
    x = imode.ones(2)
    reference, other = weak.TensorWeakRef(x), weak.WeakIdRef(x)
    assert reference() is x and other == weak.WeakIdRef(x) and hash(other) == id(x)
    del x
    assert reference() is None and other != weak.WeakIdRef(reference)
    with pytest.raises(AssertionError, match=r"expected imode\.Tensor"):
        weak.TensorWeakRef(3)
    table = weak.WeakIdKeyDictionary(ref_type=weak._WeakHashRef)
    key = frozenset([1])
    table[key] = 1
    assert table[frozenset([1])] == 1


# ---- others --------------------------------------------------------------------------------------


def test_what_describes_an_installation():
    text = collect_env.get_pretty_env_info()
    assert f"imode version: {imode.__version__}" in text and np.__version__ in text
    command = [sys.executable, "-m", "imode.utils.collect_env"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[1].startswith("imode version: ")


def test_set_module():
    with pytest.raises(TypeError, match="The mod argument should be a string"):
        imode.utils.set_module(imode, 3)


def test_tensors_that_something_depends_on_are_not_swapped():
    swap, w = imode.utils.swap_tensors, imode.ones(2, requires_grad=True)
    y, other = w * w, imode.ones(2)
    with pytest.raises(
        RuntimeError, match=r"Expected use_count of t1 to[\s\S]*AccumulateGrad, OpN"
    ):
        swap(w, other)
    base = imode.ones(3)
    view = base[1:]
    with pytest.raises(RuntimeError, match=r"Expected use_count of t2 to[\s\S]*by: ViewMeta"):
        swap(other, base)
    w.grad = gradient = imode.ones(2)
    with pytest.raises(RuntimeError, match=r"Expected use_count of t1 to[\s\S]*AutogradMeta"):
        swap(gradient, other)
    with pytest.raises(TypeError, match=r"expected an imode\.Tensor, got int"):
        swap(other, 3)
    kept = weak.TensorWeakRef(other)
    with pytest.raises(RuntimeError, match="Cannot swap t2 because it has weakref"):
        swap(imode.ones(1), other)
    swap(view, view)
    y.sum().backward()
    assert w.grad.tolist() == [3, 3] and kept() is other and view.tolist() == [1, 1]


def test_an_inference_tensor_is_swapped_with_a_normal_one():
    with imode.inference_mode():
        x = imode.zeros(2)
    y = imode.ones(2)
    imode.utils.swap_tensors(x, y)
    assert y.is_inference() and not x.is_inference() and x.tolist() == [1, 1]
    x.add_(1)


# ---- TensorBoard ---------------------------------------------------------------------------------


@pytest.fixture
def writer_class(monkeypatch):
    """SummaryWriter over a package that notes what it is called with."""
    calls = []

    class Base:
        def __init__(self, logdir=None, comment="", purge_step=None, **kwargs):
            self.logdir = logdir or f"runs{comment}"

        def add_scalar(self, *args):
            calls.append(("add_scalar", *args))

        def add_histogram(self, *args):
            calls.append(("add_histogram", *args))

        def add_hparams(self, *args):
            calls.append(("add_hparams", *args))

        def add_image(self, tag, img_tensor, global_step=None):
            calls.append(("add_image", tag, img_tensor, global_step))

        def close(self):
            calls.append(("close",))

    package = types.ModuleType("tensorboardX")
    package.SummaryWriter = Base
    monkeypatch.setitem(sys.modules, "tensorboardX", package)
    tensorboard = importlib.import_module("imode.utils.tensorboard")
    tensorboard._writer.cache_clear()
    yield tensorboard.SummaryWriter, calls
    tensorboard._writer.cache_clear()


def test_writers_get_arrays_and_numbers(writer_class):
    writer, calls = writer_class[0]("logs"), writer_class[1]
    assert writer.log_dir == writer.get_logdir() == "logs"
    weight = imode.ones(2, requires_grad=True)
    writer.add_scalar("a", weight.sum(), 3, new_style=True)
    writer.add_histogram("b", weight)
    writer.add_image("c", img_tensor=imode.zeros(1, 2, 2), global_step=4)
    writer.add_hparams({"lr": imode.tensor(0.5)}, {"loss": 2.0}, run_name="first")
    writer.close()
    assert calls[0] == ("add_scalar", "a", 2.0, 3, None) and type(calls[0][2]) is float
    assert type(calls[1][2]) is np.ndarray and calls[1][2].tolist() == [1, 1]
    assert type(calls[2][2]) is np.ndarray and calls[2][3] == 4
    assert calls[3] == ("add_hparams", {"lr": 0.5}, {"loss": 2.0}, "first", None)
    assert calls[4] == ("close",)


def test_what_a_writer_refuses(writer_class):
    writer = writer_class[0]()
    with pytest.raises(NotImplementedError, match="models are not traced"):
        writer.add_graph(imode.nn.Linear(1, 1))
    with pytest.raises(TypeError, match="hparam_dict and metric_dict should be dictionary"):
        writer.add_hparams([], {})
    with pytest.raises(NotImplementedError, match="writes no hparam_domain_discrete"):
        writer.add_hparams({}, {}, {"a": [1, 2]})


def test_without_the_package_a_writer_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    tensorboard = importlib.import_module("imode.utils.tensorboard")
    tensorboard._writer.cache_clear()
    with pytest.raises(ImportError, match=r"needs the package tensorboardX: pip install imode\[te"):
        from imode.utils.tensorboard import SummaryWriter  # noqa: F401
    with pytest.raises(AttributeError):
        tensorboard.no_such_name  # noqa: B018


@pytest.mark.skipif(importlib.util.find_spec("tensorboardX") is None, reason="not installed")
@pytest.mark.filterwarnings("ignore")
def test_the_package_writes_a_file(tmp_path):
    from imode.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("a", imode.tensor(1.5), 0)
        writer.add_scalars("b", {"x": imode.tensor(1.0), "y": 2.0}, 1)
        writer.add_histogram("c", imode.randn(100))
        writer.add_text("d", "words")
        writer.add_embedding(imode.randn(5, 3), metadata=list("abcde"))
        writer.add_hparams({"lr": 0.1}, {"loss": imode.tensor(0.5)}, run_name="first")
    (file,) = tmp_path.glob("events*")
    assert b"words" in file.read_bytes() and (tmp_path / "first").exists()
