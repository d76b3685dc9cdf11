"""Many threads in autograd at once: the right answer or an error, never a crash or a lost node."""

import gc
import re
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

import imode
from imode.autograd import graph
from tests import stress

ROOT = Path(__file__).parents[1]
from_source = pytest.mark.skipif(
    not (ROOT / "setup.py").exists(), reason="runs where the source is"
)


def in_threads(function, n=8):
    """Run function(i) in n threads at once; raise the first error of any."""
    errors, start = [], threading.Barrier(n)

    def run(i):
        start.wait()
        try:
            function(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_separate_graphs():
    def work(i):
        for _ in range(50):
            x = imode.full((16,), float(i + 1), requires_grad=True)
            (x * x).sum().backward()
            assert x.grad.tolist() == [2.0 * (i + 1)] * 16

    in_threads(work)


def test_graphs_that_share_leaves():
    x = imode.ones(8, requires_grad=True)
    in_threads(lambda i: [(x * 2).sum().backward() for _ in range(100)])
    assert x.grad.tolist() == [1600.0] * 8


def test_grad_of_shared_leaves_touches_nothing():
    x = imode.ones(8, requires_grad=True)

    def work(i):
        for _ in range(50):
            (found,) = imode.autograd.grad((x * (i + 1)).sum(), x)
            assert found.tolist() == [i + 1.0] * 8

    in_threads(work)
    assert x.grad is None


def test_one_graph_that_is_retained():
    x = imode.ones(4, requires_grad=True)
    y = x
    for _ in range(20):
        y = (y * 1.0).exp().log()
    total = y.sum()
    in_threads(lambda i: [total.backward(retain_graph=True) for _ in range(20)])
    assert np.allclose(x.grad.tolist(), 160, rtol=1e-3)


def test_one_graph_that_is_not():
    for _ in range(20):
        x = imode.full((50_000,), 0.5, requires_grad=True)  # kernels let other threads run
        shared = (x * x).exp()
        answers, errors = [], []

        def work(i, x=x, shared=shared, answers=answers, errors=errors):
            try:
                answers.append(imode.autograd.grad((shared * 2).sum(), x)[0])
            except RuntimeError as error:
                errors.append(str(error))

        in_threads(work, 4)
        right = 2 * np.exp(0.25)
        assert len(answers) + len(errors) == 4
        assert all(np.allclose(a.numpy(), right) for a in answers)
        assert all("backward through the graph a second time" in text for text in errors)


def test_leaves_accumulate_into_one_node():
    x = imode.ones(2, requires_grad=True)
    nodes = []
    in_threads(lambda i: nodes.extend(graph.get_gradient_edge(x * 2).node for _ in range(20)))
    assert len({id(node.next_functions[0][0]) for node in nodes}) == 1


def test_hooks_added_and_removed_while_others_run():
    x = imode.ones(4, requires_grad=True)

    def work(i):
        for _ in range(100):
            handle = x.register_hook(lambda grad: grad * 1)
            (x * 2).sum().backward()
            handle.remove()

    in_threads(work)
    assert x.grad.tolist() == [1600.0] * 4


def test_state_of_a_thread_stays_its_own():
    def work(i):
        for _ in range(30):
            with imode.set_grad_enabled(bool(i % 2)):
                y = imode.ones(2, requires_grad=True) * 2
                assert y.requires_grad is bool(i % 2)
            if i % 2:
                with graph.saved_tensors_hooks(lambda t: i, lambda t: t):
                    z = imode.ones(2, requires_grad=True).exp()
                assert z.grad_fn._raw_saved_result.data == i

    in_threads(work)


def test_nested_backward_in_many_threads():
    def work(i):
        def nest(left):
            with imode.enable_grad():
                y = imode.ones(1, requires_grad=True) * 2
                if left:
                    y.register_hook(lambda grad: nest(left - 1))
                y.sum().backward()

        nest(130)

    in_threads(work, 4)


def test_graphs_are_collected_while_others_run():
    def work(i):
        for k in range(200):
            y = imode.ones(4, requires_grad=True) * 2
            y.register_hook(lambda grad, y=y: None)  # a cycle
            if k % 50 == i:
                gc.collect()
            y.sum().backward()

    in_threads(work, 4)


@pytest.mark.parametrize("seed", range(3))
def test_random_work(seed):
    stress.run(seconds=0.5, seed=seed, say=lambda text: None)


# ---- the rules, as written ----

RULE = re.compile(r"thread|GIL|immutable|owned by|lives for one call", re.IGNORECASE)


@from_source
@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "imode").rglob("*.pxd")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_shared_class_states_its_rule(path):
    text = path.read_text()
    head = re.match(r"(#.*\n)*", text).group()
    for name, said in re.findall(r"^cdef class (\w+).*:\n((?: +#.*\n)*)", text, re.MULTILINE):
        assert RULE.search(said) or RULE.search(head) or "(Node)" in text, name


@from_source
def test_the_page_names_every_module_with_state_of_its_own():
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("\n## Threads\n")[2].partition("\n## ")[0]
    stateful = {
        path.stem
        for path in (ROOT / "imode").rglob("*.pyx")
        if re.search(r"^ +global ", path.read_text(), re.MULTILINE)
    }
    assert stateful and not {name for name in stateful if not re.search(rf"[`/]{name}`", section)}


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has a GIL"
)
def test_a_free_threaded_interpreter_turns_the_gil_on():
    assert sys._is_gil_enabled()
