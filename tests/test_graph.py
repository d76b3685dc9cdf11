"""autograd.graph: nodes, saved tensors and their hooks, hooks on several tensors, pictures."""

import gc
import shutil
import threading
import weakref

import pytest

import imode
from imode.autograd import SavedTensor, graph


def leaf(*values):
    return imode.tensor(values or (1.0, 2.0), requires_grad=True)


@pytest.fixture(autouse=True)
def no_collector():
    gc.disable()
    yield
    gc.enable()


# ---- nodes ----


def test_a_node():
    x = leaf()
    y = x * x
    node = y.grad_fn
    assert isinstance(node, graph.Node) and node.name() == "MulBackward0" and node.requires_grad
    (acc, number), (other, _) = node.next_functions
    assert acc is other and acc.variable is x and number == 0
    assert acc._sequence_nr() > node._sequence_nr()
    node.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    (look,) = node._input_metadata
    assert (look.shape, look.dtype) == ([2], imode.float32)
    assert {"_saved_self", "_raw_saved_self", "_saved_other"} <= set(dir(node))


def test_a_node_is_called():
    y = leaf() * leaf(3.0, 4.0)
    first, second = y.grad_fn(imode.ones(2))
    assert (first.tolist(), second.tolist()) == ([3, 4], [1, 2])
    assert y.grad_fn(None) == (None, None)
    assert leaf().exp().grad_fn(imode.ones(2)).shape == (2,)
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        y.grad_fn(None, None)
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        y.grad_fn(3)


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute '_saved_no'"):
        (leaf() * 2).grad_fn._saved_no  # noqa: B018


# ---- saved tensors ----


def test_an_input_is_the_same_object_and_a_result_is_not():
    x = leaf()
    assert (x.pow(2)).grad_fn._saved_self is x
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert saved is not y and saved.grad_fn is y.grad_fn and saved.data_ptr() == y.data_ptr()
    assert saved.equal(y)


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid", "sqrt", "softmax", "cumprod"])
def test_a_graph_out_of_scope_is_freed_at_once(name):
    x = leaf()
    y = getattr(x, name)(*[0] * (name in ("softmax", "cumprod")))
    references = [weakref.ref(y), weakref.ref(y.grad_fn)]
    del y
    assert [reference() for reference in references] == [None, None]


@pytest.mark.parametrize("step", [lambda y, x: y * x, lambda y, x: y.exp(), lambda y, x: y + x])
def test_recording_does_not_set_the_collector_off(step):
    begun = []
    x = y = leaf()
    for _ in range(2000):
        y = step(y, x)  # fills the lists of what is kept for reuse
    gc.collect()
    gc.enable()
    gc.callbacks.append(lambda phase, info: begun.append(phase))
    try:
        for _ in range(20_000):
            y = step(y, x)
    finally:
        gc.callbacks.pop()
    assert len(begun) <= 2


def _attribute(x, y):
    x.result = y


def _packed(x, y):
    y.grad_fn._raw_saved_self.register_hooks(lambda kept: (kept, y), lambda kept: kept[0])


def _shown(x, y):
    x.raw = y.grad_fn._raw_saved_self, y


def _hooked(x, y):
    y.register_hook(lambda grad: y)


def _in_a_list(x, y):
    x.result = imode.stack([x, x]).prod(0) * x[imode.tensor([0, 1])] * y


@pytest.mark.parametrize("tie", [_attribute, _packed, _shown, _hooked, _in_a_list])
def test_cycles_through_saved_tensors_are_collected(tie):
    x = leaf() * 1
    y = x * x
    tie(x, y)
    references = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
    del x, y
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_a_shown_saved_tensor_outlives_a_collected_cycle():
    x = leaf(3.0) * 1
    y = x * x
    x.result = y
    raw, reference = y.grad_fn._raw_saved_self, weakref.ref(y.grad_fn)
    del x, y
    gc.collect()
    assert reference() is not None and raw.data.tolist() == [3]  # it holds x, and x the cycle
    del raw
    gc.collect()
    assert reference() is None


def test_raw_saved_tensors():
    x = leaf()
    y = x * x
    raw = y.grad_fn._raw_saved_self
    assert isinstance(raw, SavedTensor) and raw.data is x and raw.unpack() is x
    assert raw.unpack_hook is None and y.grad_fn._raw_saved_self is raw
    parts = x[imode.tensor([0])].grad_fn._raw_saved_indices
    assert type(parts) is tuple and isinstance(parts[0], SavedTensor)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        (x * 2).grad_fn._raw_saved_self.register_hooks(abs, abs)
    with pytest.raises(RuntimeError, match="object from Python is forbidden"):
        SavedTensor()


def test_a_raw_saved_tensor_that_no_node_unpacks():
    x = leaf() * 1
    raw, other = x.exp().grad_fn._raw_saved_result, x.sin().grad_fn._raw_saved_self
    with pytest.raises(RuntimeError, match="use a saved tensor that has been detached in-place"):
        raw.unpack()
    x.mul_(2)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0 instead"):
        other.unpack()
    x = leaf() * 1
    raw = x.sin().grad_fn._raw_saved_self
    x.detach_()
    with pytest.raises(RuntimeError, match="use a saved tensor that has been detached in-place"):
        raw.unpack()


def test_a_freed_graph():
    x = leaf()
    y = x * x
    raw = y.grad_fn._raw_saved_self
    y.sum().backward()
    assert raw.data is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.grad_fn._saved_self  # noqa: B018
    with pytest.raises(RuntimeError, match="on a saved tensor after it has been freed"):
        raw.register_hooks(abs, abs)
    with pytest.raises(RuntimeError, match="on a saved tensor after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(abs, abs)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        raw.unpack()


def test_registered_hooks():
    x = leaf()
    y = x.exp()
    log = []

    def pack(tensor):
        log.append(("pack", tensor.requires_grad, imode.is_grad_enabled()))
        return tensor.tolist()

    def unpack(values):
        log.append("unpack")
        return imode.tensor(values)

    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(pack, unpack)
    assert log == [("pack", False, False)] and type(raw.data) is list
    assert raw.unpack_hook is unpack
    y.sum().backward(retain_graph=True)
    y.sum().backward(retain_graph=True)
    assert y.grad_fn._saved_result.equal(y) and y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert log.count("unpack") == 4 and len(log) == 5
    assert x.grad.equal(2 * y)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        raw.register_hooks(pack, unpack)


def test_wrong_hooks():
    x = leaf()
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    with pytest.raises(TypeError, match="pack_hook is a int, not a callable"):
        raw.register_hooks(3, abs)
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        raw.register_hooks(lambda t: t.mul_(2), abs)
    hooks = graph.saved_tensors_hooks(lambda t: t.mul_(1), abs)
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"), hooks:
        imode.ones(2) * x
    hooks = graph.saved_tensors_hooks(lambda t: int("mine"), abs)
    with pytest.raises(ValueError, match="mine"), hooks:
        x.exp()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of ty"):
        y.sum().backward()


def test_default_hooks_make_new_tensors_of_the_same_storage():
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        x = leaf()
        y = x * x
    first, second = y.grad_fn._saved_self, y.grad_fn._saved_other
    assert first is not x and second is not first and first.data_ptr() == x.data_ptr()
    assert first.is_leaf and first.requires_grad
    (first * 3).sum().backward()  # the leaf's gradients go where its own go
    assert x.grad.tolist() == [3, 3] and first.grad is None
    del x, y
    (first * 2).sum().backward()


def test_default_hooks_keep_the_history_of_inputs():
    x = leaf()
    y = x * 3
    with graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), imode.from_numpy):
        z = y * y
    assert z.grad_fn._saved_self.grad_fn is y.grad_fn
    (first,) = imode.autograd.grad(z.sum(), x, create_graph=True)
    (second,) = imode.autograd.grad(first.sum(), x)
    assert first.tolist() == [18, 36] and second.tolist() == [18, 18]


def test_default_hooks_nest_and_belong_to_the_thread():
    x = leaf()
    found = []
    with graph.saved_tensors_hooks(lambda t: "outer", lambda t: t):
        with graph.saved_tensors_hooks(lambda t: "inner", lambda t: t):
            assert x.exp().grad_fn._raw_saved_result.data == "inner"
        assert x.exp().grad_fn._raw_saved_result.data == "outer"
        thread = threading.Thread(target=lambda: found.append((x * x).grad_fn._saved_self is x))
        thread.start()
        thread.join()
    assert found == [True]
    assert (x * x).grad_fn._saved_self is x
    with pytest.raises(RuntimeError, match="left without having been entered"):
        graph.saved_tensors_hooks(abs, abs).__exit__()


def test_disabled_hooks():
    x = leaf()
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with graph.disable_saved_tensors_hooks("not here"):
        inner = graph.disable_saved_tensors_hooks("nor here")
        with inner, pytest.raises(RuntimeError, match="nor here"), hooks:
            pass
        with pytest.raises(RuntimeError, match="not here"), hooks:
            pass
        assert (x * x).grad_fn._saved_self is x
    refused = graph.disable_saved_tensors_hooks("never")
    with hooks, pytest.raises(RuntimeError, match="never"), refused:
        pass


def test_save_on_cpu():
    x = leaf()
    with graph.save_on_cpu(pin_memory=True):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_custom_functions_save_through_the_hooks():
    class Square(imode.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: imode.tensor(v)):
        y = Square.apply(x)
    assert type(y.grad_fn._raw_saved_tensors[0].data) is list
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


# ---- writing to what was saved ----


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.sin_(),
        lambda y: y[:1].zero_(),
        lambda y: imode.add(imode.ones(2), 1, out=y.detach()),
    ],
)
def test_saved_tensors_may_be_written_in_the_block(write):
    x = leaf()
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y[:] ** 2).sum()
        write(y)
        z.backward()
        assert x.grad.tolist() == [2, 4]


def test_the_block_of_allowed_writes():
    x = leaf()
    with graph.allow_mutation_on_saved_tensors():
        z = (x * x).sum()
        second = graph.allow_mutation_on_saved_tensors()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), second:
            pass
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        z.backward()
    y = x.clone()
    z = (y * y).sum()
    y.sin_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_increment_version():
    x = imode.zeros(2)
    graph.increment_version(x)
    graph.increment_version([x, x])
    assert x._version == 3
    with imode.inference_mode():
        graph.increment_version(imode.zeros(1))
    for wrong in (3, [3]):
        with pytest.raises(RuntimeError, match="increment_version expect"):
            graph.increment_version(wrong)
    y = leaf()
    z = (y * y).sum()
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_versions_beyond_what_a_stamp_holds():
    x = imode.zeros(2)
    for _ in range(16):
        graph.increment_version([x] * 2**20)
    x.fill_(3)
    y = leaf()
    y.mul(x).sum().backward()
    assert x._version == 2**24 + 1 and y.grad.tolist() == [3, 3]
    z = (y * x).sum()
    x.zero_()
    with pytest.raises(RuntimeError, match=f"is at version {2**24 + 2}; expected version"):
        z.backward()


# ---- edges, hooks on several tensors ----


def test_gradient_edges():
    x = leaf()
    edge = graph.get_gradient_edge(x)
    assert edge.node.variable is x and edge.output_nr == 0
    assert graph.get_gradient_edge(x * 2).node.name() == "MulBackward0"
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        graph.get_gradient_edge(imode.ones(1))


@pytest.mark.parametrize(
    ("edge", "error", "message"),
    [
        (lambda node: (node, 5), RuntimeError, "UnbindBackward0 has no result 5"),
        (lambda node: (node, -1), RuntimeError, "UnbindBackward0 has no result -1"),
        (lambda node: (node, 2**70), RuntimeError, "UnbindBackward0 has no result 11805"),
        (lambda node: (node, "a"), TypeError, "'str' object cannot be interpreted as an integer"),
        (lambda node: (node, 1.0), TypeError, "'float' object cannot be interpreted as an integer"),
        (lambda node: (3, 0), RuntimeError, "must be an autograd.graph.Node but got int"),
        (lambda node: (None, 0), RuntimeError, "must be an autograd.graph.Node but got NoneType"),
    ],
)
def test_edges_that_are_not_there_are_refused(edge, error, message):
    first, second = imode.ones(2, 2, requires_grad=True).unbind(0)
    wrong = graph.GradientEdge(*edge(first.grad_fn))
    with pytest.raises(error, match=message):
        imode.autograd.grad(second.sum(), wrong, allow_unused=True)
    with pytest.raises(error, match=message):
        imode.autograd.backward(second.sum(), inputs=[wrong])
    with pytest.raises(error, match=message):
        imode.autograd.backward(wrong, imode.ones(2))
    with pytest.raises(error, match=message):
        imode.autograd.grad(wrong, second)


def test_a_hook_on_several_tensors():
    a, b = leaf(), leaf()
    c, d = a * b, a * b
    log = []
    with graph.register_multi_grad_hook(
        (a, b, c, d), lambda grads: log.append([g is not None for g in grads])
    ):
        c.sum().backward(retain_graph=True)
        c.sum().backward(inputs=(a,), retain_graph=True)
        (c * d).sum().backward(retain_graph=True)
    c.sum().backward()
    assert log == [[True, True, True, False], [True, False, True, False], [True] * 4]


def test_a_hook_on_the_first_of_several():
    a, b = leaf(), leaf()
    log = []
    handle = graph.register_multi_grad_hook((a, b, imode.ones(1)), log.append, mode="any")
    for _ in range(2):
        (a * 2 + b).sum().backward()
    assert len(log) == 2
    handle.remove()
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((a,), print, mode="some")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        graph.register_multi_grad_hook((imode.ones(1),), print)


# ---- pictures ----


def test_a_picture_shows_operators_shapes_and_what_is_saved():
    weight = imode.ones(3, 2, requires_grad=True)
    first, second = (weight @ imode.ones(2)).tanh().chunk(2)
    text = str(graph.draw(first, second.sum(), names={"weight": weight}))
    for part in ("MvBackward0", "TanhBackward0", "AccumulateGrad", "weight", "float32 [3, 2]"):
        assert part in text, part
    assert "version 0" in text and text.count("AccumulateGrad") == 1
    assert "version" in text and "result" not in str(graph.draw(first, saved=False))
    with pytest.raises(TypeError, match="expected Tensors or nodes, got int"):
        graph.draw(3)


def test_a_picture_shows_what_was_written_to_since_it_was_saved():
    y = leaf() * 1
    y.add_(1)
    z = y.exp() * y
    assert 'other\\nfloat32 [2]\\nversion 1"' in str(graph.draw(z))
    y.add_(1)
    assert 'other\\nfloat32 [2]\\nversion 1, now 2"' in str(graph.draw(z))


def test_a_picture_of_packed_tensors():
    with graph.saved_tensors_hooks(lambda t: "there", lambda t: t):
        y = leaf().exp()
    assert "packed: str" in str(graph.draw(y.grad_fn))
    with imode.inference_mode():
        other = imode.ones(2)
    with graph.saved_tensors_hooks(lambda t: other, lambda t: t):
        y = leaf().exp()
    assert 'result\\nfloat32 [2]", style' in str(graph.draw(y))


def test_names_in_a_picture_are_quoted():
    x = leaf()
    text = str(graph.draw(x, names={'a "b"\n\\c': x}))
    assert 'label="a \\"b\\"\\n\\\\c\\nfloat32 [2]' in text


def test_a_picture_is_saved(tmp_path, monkeypatch):
    picture = graph.draw(leaf().exp())
    picture.save(tmp_path / "graph.dot")
    assert (tmp_path / "graph.dot").read_text() == str(picture)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="'dot' of Graphviz was not found"):
        picture.save(tmp_path / "graph.svg")
    assert picture._repr_mimebundle_() == {"text/plain": str(picture)}


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_picture_is_rendered():
    picture = graph.draw(leaf().exp())
    assert b"<svg" in picture.render("svg")
    assert "<svg" in picture._repr_mimebundle_()["image/svg+xml"]
    with pytest.raises(RuntimeError, match="dot -Tnonsense failed"):
        picture.render("nonsense")


def test_a_node_has_a_class_of_its_operators_name():
    x = imode.ones(3, requires_grad=True)
    node = (x * 2).exp().grad_fn
    assert type(node).__name__ == "ExpBackward0"
    assert type(node.next_functions[0][0]).__name__ == "MulBackward0"
    assert type((x + 1).exp().grad_fn) is type(node)
    with pytest.raises(TypeError, match="cannot create 'ExpBackward0' instances"):
        type(node)()
    with pytest.raises(TypeError, match="cannot set '__eq__' attribute of immutable type"):
        type(node).__eq__ = lambda self, other: True
    with pytest.raises(TypeError, match="type 'ExpBackward0' is not an acceptable base type"):
        type("Derived", (type(node),), {})


def test_a_long_graph_that_was_walked_is_freed():
    x = imode.ones(3, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1
    node, walked = y.grad_fn, 0
    while node.next_functions:
        node, walked = node.next_functions[0][0], walked + 1
    assert walked == 100_000 and type(node).__name__ == "AccumulateGrad"
    last = weakref.ref(y.grad_fn)
    del y, node
    assert last() is None


def test_multi_grad_hooks_count_the_tensor_that_backward_starts_from():
    x, seen = imode.ones(2, requires_grad=True), []
    y = x * 2
    graph.register_multi_grad_hook([y, x], seen.append)
    y.backward(imode.ones(2))
    assert [[grad.tolist() for grad in grads] for grads in seen] == [[[1, 1], [2, 2]]]


def test_inference_tensors_are_written_to_where_saved_tensors_may_be():
    with imode.inference_mode(), graph.allow_mutation_on_saved_tensors():
        x = imode.ones(2)
        x.add_(1)
    assert x.tolist() == [2, 2]


def test_a_number_in_the_place_of_a_tensor_is_shown_as_a_new_one():
    x = imode.ones(2, requires_grad=True)
    y = x * 3
    y.grad_fn._saved_other.add_(1)
    assert y.grad_fn._saved_other.item() == 3
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
