"""Subclasses of Tensor: what they hold, copies, gradients, modes, errors, memory."""

import copy
import gc
import inspect
import pickle
import subprocess
import sys
import weakref

import pytest

import imode
from imode import overrides
from imode.utils._python_dispatch import TorchDispatchMode


class Named(imode.Tensor):
    pass


class Raw(imode.Tensor):
    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func)
        with overrides.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def named(*sizes):
    return imode.ones(*sizes).as_subclass(Named)


def test_copies_keep_class_and_attributes():
    x = named(2)
    x.label = ["a"]
    for y in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(y) is Named and y.label == ["a"] and y.tolist() == [1, 1]
    y = copy.deepcopy([x, x])
    assert y[0] is y[1] and y[0].label is not x.label
    assert y[0].data_ptr() != x.data_ptr()


def test_methods_of_tensor_are_shown_as_before():
    class Own(imode.Tensor):
        pass

    assert imode.Tensor.max.__doc__.startswith("max()\nmax(other)")
    assert imode.Tensor.shape.__doc__.startswith("The size of each dimension")
    assert str(inspect.signature(imode.Tensor.numel)) == "(self, /)"
    assert imode.Tensor.max.__qualname__ == "Tensor.max"
    assert imode.Tensor.numel(imode.ones(3).as_subclass(Own)) == 3


def test_functions_called_where_nobody_is_asked_give_tensors():
    x = imode.ones(2, 2).as_subclass(Raw)
    Raw.seen.clear()
    for result in (x + 1, 1 + x, 2 - x, x.exp(), imode.cat([x, x]), x[0], x.T, -x, x @ x):
        assert type(result) is imode.Tensor
    assert x.shape == (2, 2) and x.dim() == 2 and float(x.sum()) == 4
    assert imode.Tensor.add in Raw.seen and imode.Tensor.shape.__get__ in Raw.seen
    assert imode.Tensor.add(x, 1).tolist() == [[2, 2], [2, 2]]


def test_repr_names_the_class_and_keeps_columns():
    assert repr(named(2)) == "Named([1., 1.])"
    assert repr(named(2, 2)) == "Named([[1., 1.],\n       [1., 1.]])"


def test_gradients_and_history():
    w = imode.ones(2, requires_grad=True)
    x = w.as_subclass(Named)
    (x * x).sum().backward()
    assert w.grad.tolist() == [2, 2]
    leaf = imode.Tensor._make_subclass(Named, imode.ones(2), True)
    base = leaf * 1
    view = base[:1]
    view.mul_(3)
    base.sum().backward()
    assert leaf.is_leaf and leaf.grad.tolist() == [3, 1]
    with imode.no_grad():
        leaf -= 0.5
    assert type(leaf) is Named and leaf._version == 1


def test_gradients_of_objects_of_subclasses():
    leaf = imode.Tensor._make_subclass(Named, imode.ones(2), True)
    (grad,) = imode.autograd.grad((leaf * 2).sum(), leaf)
    assert grad.tolist() == [2, 2]
    (grad,) = imode.autograd.grad([leaf * 2], [leaf], [named(2)])
    assert grad.tolist() == [2, 2]
    (grad,) = imode.autograd.grad(leaf * 2, leaf, named(2))
    assert grad.tolist() == [2, 2]
    imode.autograd.backward([(leaf * 3).sum()], inputs=[leaf])
    imode.autograd.backward((leaf * 3).sum(), inputs=leaf)
    assert leaf.grad.tolist() == [6, 6]


def test_inference_mode():
    x = named(2)
    with imode.inference_mode():
        y = x + 1
    assert type(y) is Named and y.is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        y.add_(1)


def test_modes_see_subclasses():
    names = []

    class Functions(overrides.BaseTorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append((func.__name__, types))
            return super().__torch_function__(func, types, args, kwargs)

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append((func.__name__, type(args[0])))
            return func(*args, **(kwargs or {}))

    x = named(2)
    with Functions():
        y = x + 1
    assert names == [("add", (Named,))] and type(y) is Named
    names.clear()
    with Operators():
        y = x + 1
    assert names == [("add.default", imode.Tensor)] and type(y) is Named


def test_objects_are_freed():
    x = named(2)
    alive = weakref.ref(x)
    y = x + 1
    del x
    gc.collect()
    assert alive() is None and y.tolist() == [2, 2]


def test_classes_of_classes_and_mixed_in():
    class Mixin:
        def __add__(self, other):
            return "mixed"

    class Mixed(Mixin, Named):
        pass

    x = imode.ones(1).as_subclass(Mixed)
    assert x + 1 == "mixed" and type(x * 2) is Mixed and isinstance(x, (Named, imode.Tensor))
    assert issubclass(Mixed, imode.Tensor) and not issubclass(Mixin, imode.Tensor)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: imode.ones(1).as_subclass(int),
            "expected a subclass of Tensor, got <class 'int'>",
        ),
        (lambda: imode.ones(1).as_subclass(3), "expected a subclass of Tensor, got 3"),
        (lambda: imode.Tensor._make_subclass(Named, [1.0]), "expected a Tensor, got list"),
        (lambda: imode.nn.Parameter([named(1)]), "expected a Tensor, got list"),
        (lambda: imode.is_inference([named(1)]), "must be Tensor, not list"),
        (lambda: named(1) + object(), "unsupported operand"),
        (lambda: imode.add(named(1), object()), "must be Tensor, not object"),
        (lambda: imode.Tensor.add(object(), 1), "doesn't apply to a 'object' object"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


class Weight(imode.nn.Parameter):
    pass


def test_parameters_of_a_class():
    module = imode.nn.Linear(2, 1)
    module.weight = imode.nn.Parameter(imode.ones(1, 2).as_subclass(Named))
    module.bias = Weight(imode.zeros(1))
    assert [type(p) for p in module.parameters()] == [Named, Weight]
    assert isinstance(module.weight, imode.nn.Parameter) and not isinstance(module.bias, Named)
    assert isinstance(module.bias, Weight) and not isinstance(module.weight, Weight)
    assert issubclass(Weight, imode.nn.Parameter) and not issubclass(Named, imode.nn.Parameter)
    assert issubclass(Weight, imode.Tensor) and issubclass(imode.nn.Parameter, imode.Tensor)
    optimizer = imode.optim.SGD(module.parameters(), lr=0.125)
    loss = module(imode.ones(4, 2)).sum()
    assert type(loss) is Named and type(module.bias * 2) is imode.Tensor
    loss.backward()
    assert type(module.weight.grad) is imode.Tensor and module.bias.grad.item() == 4
    optimizer.step()
    assert module.weight.tolist() == [[0.5, 0.5]] and module.bias.item() == -0.5
    module.load_state_dict({"weight": imode.ones(1, 2), "bias": imode.ones(1)})
    assert module.bias.item() == 1 and type(module.double().weight) is Named
    assert repr(module.weight).startswith("Parameter(Named([[1., 1.]]")
    assert repr(module.bias).startswith("Parameter containing:\nParameter(Weight([1.]")


@pytest.mark.parametrize("kind", ["pytorch", "safetensors"])
def test_files_keep_class_attributes_and_parameters_where_the_format_can(kind, tmp_path):
    x, path = named(2), tmp_path / "file"
    x.note = ["kept"]
    imode.save({"x": x, "p": imode.nn.Parameter(x), "w": Weight(imode.ones(1))}, path, format=kind)
    if kind == "safetensors":
        found = imode.load(path)
        assert [type(value) for value in found.values()] == [imode.Tensor] * 3
    else:
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            imode.load(path)
        with imode.serialization.safe_globals([Named, Weight]):
            found = imode.load(path)
        assert [type(value) for value in found.values()] == [Named, Named, Weight]
        assert found["x"].note == ["kept"]
    assert found["x"].tolist() == x.tolist()
    assert [isinstance(v, imode.nn.Parameter) for v in found.values()] == [False, True, True]


def test_inference_tensors_and_custom_functions():
    class Twice(imode.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            assert type(x) is imode.Tensor
            ctx.save_for_backward(x)
            return x * 2, n

        @staticmethod
        def backward(ctx, grad, _):
            return grad * 2, None

    with imode.inference_mode():
        assert imode.is_inference(named(2) + 1)
    x = named(2).requires_grad_()
    assert not imode.is_inference(x)
    y, n = Twice.apply(x, 3)
    assert type(y) is Named and n == 3 and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert type(imode.asarray(x)) is Named
    with pytest.warns(UserWarning, match="To copy construct"):
        assert type(imode.tensor(x)) is imode.Tensor


def test_an_object_whose_class_never_made_it():
    x = object.__new__(Named)
    for use in (lambda: x + 1, lambda: imode.exp(x), lambda: repr(x), lambda: x.shape):
        with pytest.raises(AttributeError, match="_imode_tensor"):
            use()


def test_tensors_are_checked_as_before_until_there_is_a_subclass():
    program = """
import imode
meta = type(imode.Tensor)
assert isinstance(imode.ones(1), imode.Tensor) and not isinstance(3, imode.Tensor)
assert "__instancecheck__" not in vars(meta)
class Sub(imode.Tensor): pass
assert type(imode.Tensor) is not meta and isinstance(imode.ones(1).as_subclass(Sub), imode.Tensor)
assert isinstance(imode.ones(1), imode.Tensor) and not isinstance(3, imode.Tensor)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
