"""Ray and Dask: tasks on a local cluster of two processes; workers that die."""

import importlib
import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import imode
from imode import nn
from imode.integrations import tasks

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "cluster"
INSTALLED = {"ray": "ray", "dask": "distributed"}
ENGINES = [
    pytest.param(
        name,
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(importlib.util.find_spec(needed) is None, reason="not installed"),
        ],
    )
    for name, needed in INSTALLED.items()
]
has_cloudpickle = pytest.mark.skipif(
    not any(map(importlib.util.find_spec, ("cloudpickle", "ray"))), reason="not installed"
)


class Here:
    """An engine in this thread: a task runs when its result is asked for."""

    def put(self, value):
        return value

    def submit(self, function, *args):
        return tasks.modes(), function, *args

    def gather(self, futures):
        return [tasks.run(*future) for future in futures]

    def as_completed(self, futures):
        return futures


def model_and_data():
    imode.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    return model, imode.randn(11, 6), imode.randint(0, 3, (11,))


@pytest.mark.parametrize("per_task", [1, 2, 9])
def test_batches_come_in_order_and_in_inference_mode(per_task):
    model, x, _ = model_and_data()
    answers = list(tasks.map_batches(Here(), model, x.split(3), in_flight=2, per_task=per_task))
    assert [len(answer) for answer in answers] == [3, 3, 3, 2]
    assert all(answer.is_inference() for answer in answers)
    imode.testing.assert_close(imode.cat(answers).clone(), model(x).detach())


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_gradients_are_those_of_the_whole_batch(parts):
    model, x, y = model_and_data()
    loss = nn.functional.cross_entropy
    wanted = loss(model(x), y)
    wanted.backward()
    grads = [p.grad for p in model.parameters()]
    model.zero_grad()
    for times in (1, 2):  # they add up, as those of Tensor.backward do
        found = tasks.backward(Here(), model, loss, x, y, parts)
        imode.testing.assert_close(found, wanted.detach())
        for parameter, grad in zip(model.parameters(), grads, strict=True):
            imode.testing.assert_close(parameter.grad, grad * times)


def test_federated_averages_are_weighted():
    def train(model, data):
        model.weight.data.fill_(float(data[0]))
        model.count.add_(int(data[0]))
        return len(data)

    model = nn.Linear(1, 1, bias=False)
    model.register_buffer("count", imode.tensor(0))

    clients = [imode.tensor([1.0, 0.0, 0.0]), imode.tensor([5.0])]
    assert list(tasks.federated(Here(), model, train, clients)) == [[3, 1]]
    assert model.weight.item() == 2.0 and model.count.item() == 5


def test_a_task_runs_in_the_modes_of_who_submits_it():
    def modes():
        return imode.is_inference_mode_enabled(), imode.is_grad_enabled()

    here = Here()
    with imode.inference_mode():
        inference = here.submit(modes)
    with imode.no_grad():
        no_grad = here.submit(modes)
    futures = [inference, no_grad, here.submit(modes)]
    assert here.gather(futures) == [(True, False), (False, False), (False, True)]


FUNCTIONS = {"imode": imode, "imode.nn.functional": nn.functional}


@pytest.mark.parametrize("where", FUNCTIONS)
def test_every_function_travels_by_its_name(where):
    space = FUNCTIONS[where]
    for name in dir(space):
        function = getattr(space, name)
        if inspect.isbuiltin(function):
            assert pickle.loads(pickle.dumps(function)) is function, name


@pytest.mark.parametrize("name", INSTALLED)
def test_an_engine_without_its_package_names_the_extra(name, monkeypatch):
    engine = importlib.import_module(f"imode.integrations.{name}").Engine
    monkeypatch.setitem(sys.modules, INSTALLED[name], None)
    with pytest.raises(ImportError, match=rf"pip install imode\[{name}\]$"):
        engine()


@has_cloudpickle
def test_what_is_sent_is_not_copied():
    model = nn.Linear(300, 300)
    buffers = []
    data = pickle.dumps(tasks.Sent(model, keep=True), 5, buffer_callback=buffers.append)
    assert len(data) < 5000 and len(buffers) == 2
    lent = [memoryview(bytes(each)) for each in buffers]
    there = pickle.loads(data, buffers=lent)
    assert there is pickle.loads(data, buffers=lent)  # one per worker
    assert there.weight.data_ptr() == imode.frombuffer(lent[0], dtype=imode.uint8).data_ptr()
    assert imode.equal(there.weight, model.weight)
    with pytest.raises(RuntimeError, match="read-only memory; clone"), imode.no_grad():
        there.weight.zero_()
    own = pickle.loads(pickle.dumps(tasks.Sent(model, own=True), 5))
    with imode.no_grad():
        own.weight.zero_()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("example", ["inference", "training", "federated", "search"])
def test_example(engine, example):
    run([sys.executable, str(EXAMPLES / f"{example}.py"), engine])


DYING = """
import os, signal, sys
import imode
from local import cluster

def once(path, number):
    if number == 2 and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10

class Dying(imode.nn.Module):
    def forward(self, x):
        once(sys.argv[2] + ".model", int(x[0]))
        return x * 10

if __name__ == "__main__":
    with cluster() as engine:
        trials = [{"path": sys.argv[2], "number": i} for i in range(4)]
        found = sorted(result for _, result in engine.search(once, trials))
        assert found == [0, 10, 20, 30], found
        # One at a time: Dask's client may wait for long for results that died with a worker.
        batches = [imode.full((1,), float(i)) for i in range(4)]
        answers = list(engine.map_batches(Dying(), batches, in_flight=1))
        assert [answer.item() for answer in answers] == [0, 10, 20, 30]
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_whose_worker_dies_runs_again(engine, tmp_path):
    (tmp_path / "program.py").write_text(DYING.replace("sys.argv[2]", repr(str(tmp_path / "died"))))
    run([sys.executable, str(tmp_path / "program.py"), engine])
    assert (tmp_path / "died").exists() and (tmp_path / "died.model").exists()


def run(command):
    paths = [str(EXAMPLES), str(Path(imode.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
