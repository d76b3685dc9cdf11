"""The dispatcher: key sets, the thread-local state, the kernel path taken, registration."""

import threading

import pytest

import imode
from imode import DispatchKey, DispatchKeySet
from imode._core.dispatch import get_operator

K = DispatchKey
DEFAULT = DispatchKeySet("ADInplaceOrView")


def path(function):
    """The kernels that a call goes through."""
    with imode.trace_dispatch() as trace:
        function()
    return trace


# ---- the thread-local state ----


def test_state_at_each_nesting_level():
    def state():
        return imode.included_keys(), imode.excluded_keys(), imode.is_grad_enabled()

    off = (DEFAULT, DispatchKeySet(), True)
    on = (DispatchKeySet(), DispatchKeySet("Autograd"), False)
    assert state() == off
    with imode.inference_mode():
        assert state() == on
        with imode.inference_mode(False):
            assert state() == off
            with imode.inference_mode():
                assert state() == on
            assert state() == off
        assert state() == on
    assert state() == off
    with imode.no_grad():
        assert state() == (DEFAULT, DispatchKeySet(), False)
    with imode.AutoDispatchBelowAutograd():
        assert imode.excluded_keys() == DispatchKeySet("Autograd")
    with imode.AutoDispatchBelowADInplaceOrView():
        assert imode.excluded_keys() == DispatchKeySet("Autograd", "ADInplaceOrView")
    assert state() == off


def test_illegal_state_is_refused():
    with pytest.raises(RuntimeError, match="ADInplaceOrView"):
        imode.set_local_keys(DispatchKeySet(), DispatchKeySet())
    assert imode.included_keys() == DEFAULT
    imode.set_local_keys(DEFAULT, DispatchKeySet("Autograd"))
    try:
        assert imode.excluded_keys() == DispatchKeySet("Autograd")
    finally:
        imode.set_local_keys(DEFAULT, DispatchKeySet())


def test_state_is_per_thread():
    seen = []
    with imode.inference_mode():
        worker = threading.Thread(target=lambda: seen.append(imode.is_inference_mode_enabled()))
        worker.start()
        worker.join()
    assert seen == [False]


# ---- the path taken ----


def test_paths_of_a_functional_operator():
    plain, x = imode.ones(2), imode.ones(2, requires_grad=True)
    recorded, direct = [("add", K.Autograd), ("add", K.CPU)], [("add", K.CPU)]
    assert path(lambda: x + 1) == path(lambda: plain + x) == path(lambda: x * 1 + 1)[2:] == recorded
    assert path(lambda: plain + 1) == path(lambda: plain + plain) == direct
    assert path(lambda: plain[0] + 1)[2:] == recorded  # a view, whose base may get a history
    with imode.inference_mode():
        inference = imode.ones(2)
        assert path(lambda: inference + 1) == path(lambda: x + 1) == direct
    with imode.no_grad():
        assert path(lambda: x + 1) == recorded
        assert path(lambda: plain + 1) == direct
    assert path(lambda: inference + inference) == path(lambda: inference + 1) == direct
    with imode.inference_mode():
        inference.requires_grad_()
    assert path(lambda: inference + inference) == direct
    # A number stands for a tensor that is made here: a normal one.
    assert path(lambda: inference + 1) == path(lambda: plain + inference) == recorded


def test_a_tensor_carries_autograd_while_it_has_a_history():
    x, y = imode.ones(2), imode.ones(2, requires_grad=True)
    carries = lambda t: K.Autograd in t.key_set()
    assert not carries(x) and carries(x.requires_grad_()) and not carries(x.requires_grad_(False))
    view = x[:1]
    assert carries(view) and not carries(x)
    view.mul_(y[:1])
    assert carries(x) and x.grad_fn is not None and view.grad_fn is not None
    assert not carries(x.detach()) and not carries(x.data) and not carries((y * 1).detach_())
    assert carries(y * 1) and carries(y.view(2, 1)) and not carries(y > 0)
    assert not carries(y.detach()[0].clone()) and carries(imode.nn.Parameter(imode.ones(2)))
    with imode.no_grad():
        assert not carries(y * 1) and carries(y[0])
    target = imode.zeros(2)
    assert carries(target.add_(y)) and carries(target)
    with imode.inference_mode():
        inner = imode.ones(2, requires_grad=True)
    assert not carries(inner) and carries(inner.normal())
    x = imode.ones(2)
    before, x.data = x[:], imode.zeros(2)
    assert not carries(x) and carries(before)


def test_a_kernel_for_autograd_from_outside_is_entered_for_every_normal_tensor():
    seen = []

    def kernel(keys, x):
        seen.append(keys)
        return imode.ops.neg.redispatch(keys.below("Autograd"), x)

    x = imode.ones(2)
    before = imode.ops.neg.register("Autograd", kernel)
    try:
        assert path(lambda: x.neg()) == [("neg", K.Autograd), ("neg", K.CPU)]
        with imode.inference_mode():
            assert path(lambda: x.neg()) == [("neg", K.CPU)]
            inference = imode.ones(2)
        assert path(lambda: inference.neg()) == [("neg", K.CPU)]
    finally:
        imode.ops.neg.register("Autograd", before)
    assert path(lambda: x.neg()) == [("neg", K.CPU)] and len(seen) == 1


def test_paths_of_an_in_place_operator():
    x = imode.ones(2)
    every = [("add_", K.Autograd), ("add_", K.ADInplaceOrView), ("add_", K.CPU)]
    assert path(lambda: x.add_(1)) == every[1:]
    assert path(lambda: imode.ones(2).add_(imode.ones(2, requires_grad=True)))[2:] == every
    with imode.inference_mode():
        inference = imode.ones(2)
        assert path(lambda: inference.add_(1)) == every[2:]
        assert path(lambda: x.add_(1)) == every[1:]


def test_paths_of_a_view_operator():
    x = imode.ones(4)
    every = [("view", K.Autograd), ("view", K.ADInplaceOrView), ("view", K.CPU)]
    assert path(lambda: x.view(2, 2)) == every[1:]
    assert path(lambda: x.view(2, 2).view(4))[2:] == every
    with imode.inference_mode():
        inference = imode.ones(4)
        assert path(lambda: inference.view(2, 2)) == every[2:]
        assert path(lambda: x.view(2, 2)) == every[1:]
    assert path(lambda: inference.view(2, 2)) == every[1:]


def test_counters_count_exactly():
    x = imode.ones(4, requires_grad=True)
    with imode.counters() as c:
        y = x * 2
        y.view(2, 2)
        y.add_(1)
    assert (c.hops, c.nodes, c.views, c.version_bumps) == (2 + 3 + 3, 3, 1, 1)
    with imode.inference_mode(), imode.counters() as c:
        y = imode.ones(4)
        y.view(2, 2)
        y.add_(1)
    assert (c.hops, c.nodes, c.views, c.version_bumps) == (3, 0, 0, 0)


# ---- operators as objects ----


def test_an_operator_shows_itself():
    add = imode.ops.add
    assert add.schema.startswith("add(Tensor")
    assert repr(add).startswith("<operator add(")
    assert add.has_kernel_for("CPU")
    assert add.has_kernel_for("Meta") and not add.has_kernel_for("Tracer")
    table = add.kernel_table
    assert table[K.ADInplaceOrView] == "fallthrough"
    assert table[K.CPU].startswith("imode.ops.")
    assert add.inplace is imode.ops.add_
    assert add.out.overload == "out"
    assert add(imode.ones(2), 1).tolist() == [2.0, 2.0]
    assert add(input=imode.ones(2), other=1, alpha=3).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("name", ["conj_physical.out", "kron.out", "add.out"])
def test_the_operator_of_an_out_form_wants_out(name):
    op = get_operator(name)
    with pytest.raises(TypeError, match=r"missing 1 required (keyword-only )?argument"):
        op(*[imode.ones(2)] * op.n_required)


def test_redispatch_runs_the_highest_key_of_the_set():
    x = imode.ones(2, requires_grad=True)
    recorded = imode.ops.mul.redispatch(x.key_set(), x, x)
    assert recorded.requires_grad
    below = imode.ops.mul.redispatch(x.key_set().below("Autograd"), x, x)
    assert not below.requires_grad
    with pytest.raises(TypeError, match="expected a DispatchKeySet, got int"):
        imode.ops.mul.redispatch(1, x, x)


def test_missing_kernel_names_operator_key_and_the_keys_that_have_one():
    message = r"'mul'.*'Tracer'.*Autograd.*CPU"
    x = imode.ones(2)
    with pytest.raises(NotImplementedError, match=message):
        imode.ops.mul.redispatch(DispatchKeySet("Tracer"), x, x)
    with pytest.raises(NotImplementedError, match="none"):
        imode.ops.mul.redispatch(DispatchKeySet(), x, x)


def test_a_kernel_can_be_registered_and_taken_back():
    calls = []

    def traced(keys, self, other):
        calls.append(keys)
        return imode.ops.hypot.redispatch(keys.below("Python"), self, other)

    op = imode.ops.hypot
    before = op.register("Python", traced)
    x = imode.full((2,), 3.0)
    keys = x.key_set() | DispatchKey.Python
    try:
        assert before is None
        assert op.redispatch(keys, x, imode.full((2,), 4.0)).tolist() == [5.0, 5.0]
        assert calls == [keys - K.ADInplaceOrView]  # a fallthrough here: no kernel to run
    finally:
        op.register("Python", None)
    assert op.redispatch(keys, x, x).equal(imode.hypot(x, x))
    assert len(calls) == 1


def test_a_backend_kernel_runs_below_autograd():
    states = []
    op = imode.ops.hypot

    def kernel(self, other):
        states.append(imode.excluded_keys())
        return self * 2

    before = op.register("Meta", kernel)
    try:
        x = imode.ones(2, requires_grad=True)
        y = op.redispatch(DispatchKeySet("Meta"), x, x)
        assert not y.requires_grad
        assert states == [DispatchKeySet("Autograd", "ADInplaceOrView")]
        assert imode.excluded_keys() == DispatchKeySet()
    finally:
        op.register("Meta", before)


def test_operators_of_the_core_are_not_made_from_python():
    from imode._core.dispatch import CKernel

    with pytest.raises(TypeError, match="made by compiled modules"):
        CKernel()
    with pytest.raises(TypeError, match="expected a callable"):
        imode.ops.add.register("Meta", 3)


# ---- binding arguments ----


def test_binding_errors_are_pytorchs():
    x = imode.ones(2)
    cases = [
        (lambda: imode.add(x, "a"), r"add\(\): argument 'other' \(position 2\) must be Tensor"),
        (lambda: x.add("a"), r"add\(\): argument 'other' \(position 1\) must be Tensor, not str"),
        (lambda: imode.mul(x), r"mul\(\) missing 1 required positional arguments: \"other\""),
        (lambda: imode.mul(x, y=1), r"mul\(\) missing 1 required positional arguments"),
        (lambda: imode.add(x, 1, foo=1), r"add\(\) got an unexpected keyword argument 'foo'"),
        (lambda: imode.add(x, x, other=x), r"add\(\) got multiple values for argument 'other'"),
    ]
    for call, message in cases:
        with pytest.raises(TypeError, match=message):
            call()


def test_vectorcall_of_operators_and_of_functions_agree():
    x, y = imode.ones(2), imode.full((2,), 2.0)
    for add in (imode.add, imode.ops.add, imode.Tensor.add):
        assert add(x, y, alpha=2).tolist() == [5.0, 5.0]
        assert add(*(x, y), alpha=2).tolist() == [5.0, 5.0]
