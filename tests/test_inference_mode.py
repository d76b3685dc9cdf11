"""The rules of inference mode, cell by cell: what is made, recorded, counted, allowed and refused.

For each cell the kernels passed are asserted too, by dispatch trace, and the exact counts of view
records, version bumps and graph nodes.
"""

import copy
import inspect
import re
import threading
import warnings
from pathlib import Path

import pytest

import imode

CPU = imode.DispatchKey.CPU
AD = imode.DispatchKey.ADInplaceOrView
AUTOGRAD = imode.DispatchKey.Autograd
NORMAL = imode.DispatchKeySet(AD, CPU)
INFERENCE = imode.DispatchKeySet(CPU)

both_grads = pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "grad"])


def normal(requires_grad=False, leaf=True):
    t = imode.ones(2, 3, requires_grad=requires_grad)
    return t if leaf else t * 1


def inference(requires_grad=False):
    with imode.inference_mode():
        return imode.ones(2, 3, requires_grad=requires_grad)


def observe(call):
    """Return (result, kernels passed per operator, (nodes, view records, version bumps))."""
    with imode.trace_dispatch() as trace, imode.counters() as counts:
        result = call()
    return result, trace, (counts.nodes, counts.views, counts.version_bumps)


def is_normal(t):
    assert t.is_inference() == imode.is_inference(t)
    recorded = t.requires_grad or t._is_view()
    normal = NORMAL | AUTOGRAD if recorded else NORMAL
    assert t.key_set() == (INFERENCE if t.is_inference() else normal)
    return not t.is_inference()


# ---- inside the mode ----


@both_grads
@pytest.mark.parametrize("leaf", [True, False], ids=["leaf", "result"])
def test_inside_functional_on_normal_gives_inference(requires_grad, leaf):
    x = normal(requires_grad, leaf)
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x * x)
    assert not is_normal(y)
    assert trace == [("mul", CPU)]
    assert counts == (0, 0, 0)
    assert (y.requires_grad, y.grad_fn, y.is_leaf) == (False, None, True)


@both_grads
def test_inside_functional_on_inference_gives_inference(requires_grad):
    x = inference(requires_grad)
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x * x)
    assert not is_normal(y)
    assert trace == [("mul", CPU)]
    assert counts == (0, 0, 0)
    assert not y.requires_grad


@both_grads
@pytest.mark.parametrize("leaf", [True, False], ids=["leaf", "result"])
def test_inside_view_on_normal_is_recorded(requires_grad, leaf):
    x = normal(requires_grad, leaf)
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x.view(6))
    assert is_normal(y)
    assert trace == [("view", AD), ("view", CPU)]
    assert counts == (0, 1, 0)
    assert y._is_view()
    assert y._base is x
    assert y.requires_grad == requires_grad
    assert y.grad_fn is None
    version = x._version
    with imode.no_grad():
        y.add_(1)
    assert x._version == y._version == version + 1


@both_grads
def test_inside_view_on_inference_is_not_recorded(requires_grad):
    x = inference(requires_grad)
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x.view(6))
        assert not is_normal(y)
        assert trace == [("view", CPU)]
        assert counts == (0, 0, 0)
        assert not y._is_view()
        y.add_(1)
        assert x.tolist() == [[2, 2, 2], [2, 2, 2]]


@both_grads
@pytest.mark.parametrize("leaf", [True, False], ids=["leaf", "result"])
def test_inside_inplace_on_normal_bumps_the_version(requires_grad, leaf):
    x = normal(requires_grad, leaf)
    version, grad_fn = x._version, x.grad_fn
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x.add_(1))
    assert y is x
    assert is_normal(x)
    assert trace == [("add_", AD), ("add_", CPU)]
    assert counts == (0, 0, 1)
    assert x._version == version + 1
    assert x.grad_fn is grad_fn
    assert x.requires_grad == requires_grad


@both_grads
def test_inside_inplace_on_inference_counts_nothing(requires_grad):
    x = inference(requires_grad)
    with imode.inference_mode():
        y, trace, counts = observe(lambda: x.add_(1))
        assert y is x
        assert not is_normal(x)
        assert trace == [("add_", CPU)]
        assert counts == (0, 0, 0)
        with pytest.raises(RuntimeError, match=r"^Inference tensors do not track version counter"):
            x._version  # noqa: B018


@both_grads
def test_inside_out_on_normal_bumps_its_version(requires_grad):
    out = normal(requires_grad, leaf=False)
    version = out._version
    with imode.inference_mode():
        result, trace, counts = observe(lambda: imode.add(imode.ones(2, 3), 1, out=out))
    assert result is out
    assert is_normal(out)
    assert trace[-2:] == [("add.out", AD), ("add.out", CPU)]
    assert counts == (0, 0, 1)
    assert out._version == version + 1
    assert out.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_inside_out_on_inference_counts_nothing():
    out = inference()
    with imode.inference_mode():
        result, trace, counts = observe(lambda: imode.add(imode.ones(2, 3), 1, out=out))
    assert result is out
    assert trace[-1:] == [("add.out", CPU)]
    assert ("add.out", AD) not in trace
    assert counts == (0, 0, 0)


def test_inside_allocations_are_inference_tensors_and_keep_requires_grad():
    with imode.inference_mode():
        made = [
            imode.ones(2, requires_grad=True),
            imode.zeros(2),
            imode.empty(2),
            imode.tensor([1.0]),
            imode.arange(3),
            imode.randn(2),
            imode.ones_like(imode.zeros(2)),
            imode.ones(2).clone(),
            imode.ones(2).to(imode.float64),
        ]
    assert [is_normal(t) for t in made] == [False] * len(made)
    assert made[0].requires_grad
    assert made[0].is_leaf


@both_grads
def test_inside_detach_and_data(requires_grad):
    x, i = normal(requires_grad), inference(requires_grad)
    with imode.inference_mode():
        detached, data = x.detach(), x.data
        assert is_normal(detached)
        assert is_normal(data)
        detached.add_(1)
        assert x._version == detached._version == 1  # detach shares the version
        data.add_(1)
        assert (x._version, data._version) == (1, 1)  # .data does not
        assert not is_normal(i.detach())
        assert not is_normal(i.data)
    assert x.tolist()[0][0] == 3


def test_inside_multi_output_views():
    x, i = normal(), inference()
    with imode.inference_mode():
        assert [(is_normal(v), v._is_view()) for v in x.unbind()] == [(True, True)] * 2
        assert [(is_normal(v), v._is_view()) for v in x.split(1)] == [(True, True)] * 2
        assert [(is_normal(v), v._is_view()) for v in i.unbind()] == [(False, False)] * 2


def test_inside_views_of_views():
    x = normal(requires_grad=True, leaf=False)
    outer = x.view(6)
    with imode.inference_mode():
        inner = outer.view(3, 2)
    assert is_normal(inner)
    assert inner._base is x
    assert is_normal(inner.view(6))


# ---- outside of the mode ----


@both_grads
def test_outside_functional_that_saves_nothing_gives_normal(requires_grad):
    x, i = normal(requires_grad), inference()
    y, trace, counts = observe(lambda: x + i)
    assert is_normal(y)
    assert trace[-1] == ("add", CPU)
    assert counts == (int(requires_grad), 0, 0)
    assert y.requires_grad == requires_grad
    if requires_grad:
        y.sum().backward()
        assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
    z = i * i
    assert is_normal(z)
    assert not z.requires_grad


def test_outside_functional_that_must_save_it_raises_and_leaves_nothing():
    x, i = normal(requires_grad=True), inference()
    for call in (lambda: x * i, lambda: i * x, lambda: x.matmul(i.t()), lambda: x / i):
        with (
            imode.counters() as counts,
            pytest.raises(RuntimeError, match=r"^Inference tensors cannot be saved for backward"),
        ):
            call()
        assert counts.version_bumps == 0
    assert x.grad is None
    assert x._version == 0
    with imode.no_grad():
        assert is_normal(x * i)


@both_grads
def test_outside_view_on_inference_is_allowed_and_not_recorded(requires_grad):
    i = inference(requires_grad)
    y, _, counts = observe(lambda: i.view(6))
    assert not is_normal(y)
    assert counts[1:] == (0, 0)
    assert not y._is_view()
    assert all(not is_normal(v) for v in i.unbind())
    assert not is_normal(i.detach())
    assert not is_normal(i[0])


WRITES = {
    "add_": lambda i: i.add_(1),
    "mul_ by a tensor": lambda i: i.mul_(imode.ones(3)),
    "zero_": lambda i: i.zero_(),
    "fill_": lambda i: i.fill_(2),
    "copy_": lambda i: i.copy_(imode.ones(2, 3)),
    "t_": lambda i: i.t_(),
    "out=": lambda i: imode.add(imode.zeros(2, 3), 1, out=i),
    "+=": lambda i: i.__iadd__(1),
    "through a view": lambda i: i.view(6).add_(1),
    "setitem": lambda i: i.__setitem__(0, 5),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
@pytest.mark.parametrize("mode", [imode.enable_grad, imode.no_grad, imode.normal_mode])
def test_outside_writes_raise_and_change_nothing(write, mode):
    i = inference()
    with (
        imode.counters() as counts,
        mode(),
        pytest.raises(
            RuntimeError,
            match=r"^Inplace update to inference tensor outside InferenceMode is not allowed",
        ),
    ):
        write(i)
    assert i.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert counts.version_bumps == 0
    with imode.inference_mode():
        write(i)


@both_grads
def test_outside_requires_grad_raises(requires_grad):
    i = inference(requires_grad)
    message = "^Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        i.requires_grad_()
    with pytest.raises(RuntimeError, match=message):
        i.requires_grad = True
    assert i.requires_grad == requires_grad
    i.requires_grad_(False)
    with imode.inference_mode():
        assert i.requires_grad_().requires_grad


def test_outside_version_raises():
    with pytest.raises(RuntimeError, match=r"^Inference tensors do not track version counter"):
        inference()._version  # noqa: B018


@both_grads
def test_outside_clone_gives_a_normal_tensor(requires_grad):
    i = inference(requires_grad)
    y = i.clone()
    assert is_normal(y)
    with imode.no_grad():
        y.add_(1)
    assert y._version == 1
    assert i.tolist()[0][0] == 1


def test_outside_deepcopy_gives_a_normal_tensor():
    assert is_normal(copy.deepcopy(inference()))


# ---- views made in one mode and written in another ----


def test_view_made_inside_written_outside():
    x = normal(requires_grad=True, leaf=False)
    with imode.inference_mode():
        view = x.view(6)
    with pytest.raises(RuntimeError, match=r"^A view was created in inference mode and is being"):
        view.add_(1)
    assert x._version == 0
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    plain = normal()
    with imode.inference_mode():
        view = plain.view(6)
    view.add_(1)  # no gradient is at stake
    assert plain._version == 1
    with pytest.raises(RuntimeError, match=r"^A view was created in inference mode and is being"):
        view.mul_(imode.ones(6, requires_grad=True))


def test_view_made_inside_whose_base_is_written_outside():
    x = normal(requires_grad=True, leaf=False)
    with imode.inference_mode():
        view = x.view(6)
    assert view.grad_fn is None
    x.add_(1)
    with pytest.raises(
        RuntimeError, match=r"^A view was created in inference mode and its base or another view"
    ):
        view.grad_fn  # noqa: B018


@pytest.mark.parametrize("later", [imode.no_grad, imode.enable_grad])
@pytest.mark.parametrize("several", [False, True])
def test_a_view_of_a_view_made_inside_stays_one(later, several):
    x = normal(requires_grad=True, leaf=False)
    with imode.inference_mode():
        view = x.view(6)
    with later():
        inner = view.chunk(2)[0] if several else view.view(3, 2)
    with pytest.raises(RuntimeError, match=r"created in inference mode and is being modified"):
        inner.add_(1)
    assert x._version == 0


def test_view_made_outside_written_inside():
    x = normal(requires_grad=True, leaf=False)
    view = x.view(6)
    with imode.inference_mode():
        view.add_(1)
        assert x._version == view._version == 1
    (x * 1).sum().backward()


def test_a_saved_tensor_written_inside_is_found_at_backward():
    x = normal(requires_grad=True)
    y = x * 2
    z = y * y
    with imode.inference_mode():
        y.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"^one of the variables needed for gradient computation has been modified",
    ):
        z.sum().backward()


# ---- modes and threads ----


def test_mode_off_inside_on_behaves_as_outside():
    i = inference()
    with imode.inference_mode(), imode.inference_mode(False):
        x = imode.ones(2, 3, requires_grad=True)
        assert is_normal(x)
        y = x * x
        assert y.requires_grad
        y.sum().backward()
        assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]
        with pytest.raises(RuntimeError, match=r"^Inplace update to inference tensor"):
            i.add_(1)


def test_normal_mode_allocates_normal_tensors_and_records_nothing():
    with imode.inference_mode():
        i = imode.ones(2)
        with imode.normal_mode():
            cache = imode.zeros(2)
            assert is_normal(cache)
            assert is_normal(i * 2)
            cache.add_(i)
            assert cache._version == 1
            assert not (imode.ones(2, requires_grad=True) * 2).requires_grad
        cache.add_(1)
        assert cache._version == 2
    x = imode.ones(2, requires_grad=True)
    (x * cache).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_values_are_those_of_no_grad():
    def run(guard):
        with guard():
            x = imode.arange(6.0).reshape(2, 3)
            y = (x * x + 1).t().contiguous()
            y.mul_(2)
            y[0].add_(5)
            return y.sum(0).tolist()

    assert run(imode.inference_mode) == run(imode.no_grad) == run(imode.enable_grad)


def test_one_thread_trains_while_another_serves():
    w = imode.ones(3, requires_grad=True)
    stop = threading.Event()
    served, failures = [], []

    def serve():
        try:
            while not stop.is_set():
                with imode.inference_mode():
                    y = w * 2
                    assert y.is_inference()
                    assert not y.requires_grad
                served.append(1)
                assert not imode.is_inference_mode_enabled()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        for step in range(200):
            loss = (w * w).sum()
            loss.backward()
            assert w.grad is not None
            with imode.no_grad():
                w.sub_(w.grad * 0.01)
            w.grad = None
            assert w._version == step + 1
    finally:
        stop.set()
        thread.join()
    assert not failures
    assert served


# ---- errors name both ends ----


def test_errors_name_the_guard():
    line = inspect.currentframe().f_lineno + 1
    with imode.inference_mode():
        i = imode.ones(3)
    entered = f"inference_mode entered at {__file__}:{line}."
    x = imode.ones(3, requires_grad=True)
    calls = {
        "saved": lambda: x * i,
        "write": lambda: i.add_(1),
        "requires_grad": lambda: i.requires_grad_(),
        "version": lambda: i._version,
    }
    for name, call in calls.items():
        with pytest.raises(RuntimeError) as caught:
            call()
        message = str(caught.value)
        assert entered in message, (name, message)
        assert "Way" in message
        assert len(message.splitlines()) <= 5
    with pytest.raises(
        RuntimeError, match=r"The tensor that mul at \S+:\d+ needs for backward was created by ones"
    ):
        x * i
    with pytest.raises(RuntimeError, match=r"add_ at \S+:\d+ writes was created") as caught:
        i.view(3).add_(1)
    assert entered in str(caught.value)


def test_backward_inside_the_mode_says_so():
    x = imode.ones(3, requires_grad=True)
    with imode.inference_mode():
        y = (x * x).sum()
        with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
            y.backward()


# ---- the page about it ----

PAGE = Path(__file__).parents[1] / "docs" / "inference-mode.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")
def test_every_error_of_the_page_is_one_of_the_library():
    errors = imode.errors
    messages = [
        errors.inference.saved(),
        errors.inference.write(),
        errors.inference.requires_grad(),
        errors.inference.version(),
        errors.inference.data(0, 0, True),
        errors.views.made_in_mode("inference", "add_", None, (2,), 0, 0),
        errors.graph.modified("torch.FloatTensor", (2,), 0, None, 1, 0),
        errors.graph.no_history(),
        errors.graph.freed(),
    ]
    headings = re.findall(r"^### (.*)$", PAGE.read_text(), re.M)
    headings.remove("Tensors that outlive the block")
    headings.remove("Guards themselves")
    assert len(headings) == len(messages)
    for heading, error in zip(headings, messages, strict=True):
        assert str(error).startswith(heading)
        assert len(str(error).splitlines()) <= 5


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")
def test_every_line_of_the_page_on_guards_is_what_they_say():
    def enable_inside():
        with imode.inference_mode(), imode.enable_grad():
            pass

    calls = [
        lambda: imode.no_grad().__exit__(None, None, None),
        lambda: imode.errors.guards.wrong_thread("no_grad", 0),
        lambda: imode.set_local_keys(imode.DispatchKeySet(), imode.DispatchKeySet()),
        lambda: imode.inference_mode(1),
        lambda: imode.no_grad(True),
        lambda: imode.no_grad() and None,
        lambda: imode.AutoNonVariableTypeMode() and None,
        enable_inside,
    ]
    table = PAGE.read_text().partition("### Guards themselves")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (?:warning: )?`([^`]*)`", table, re.M)
    for line, call in zip(lines, calls, strict=True):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                said = call()
            except (RuntimeError, TypeError) as error:
                said = error
        assert line in str(said or seen[0].message)
