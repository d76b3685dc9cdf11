"""Subclasses of Tensor here and in PyTorch: classes of results, what __torch_function__ sees."""

import copy
import pickle

import pytest

from .side_by_side import error, plain, same


def described(value):
    """A value with the names of the classes of its tensors."""
    if hasattr(value, "detach"):
        return [type(value).__name__, value.tolist(), value.requires_grad]
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return plain(value)


def classes(lib):
    class A(lib.Tensor):
        pass

    class B(A):
        pass

    class Other(lib.Tensor):
        pass

    class Logs(lib.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls.append([func.__name__, sorted(t.__name__ for t in types)])
            return super().__torch_function__(func, types, args, kwargs)

    class Refuses(lib.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Tagged(lib.Tensor):
        def __new__(cls, data, tag):
            self = lib.Tensor._make_subclass(cls, data)
            self.tag = tag
            return self

        def __init__(self, data, tag):
            pass

        def doubled(self):
            return super().add(self)

    return {c.__name__: c for c in (A, B, Other, Logs, Refuses, Tagged)}


def outcome(lib, program):
    made = classes(lib)
    t = lib.arange(4.0).view(2, 2)
    names = {**made, "lib": lib, "t": t, "F": lib.nn.functional, "copy": copy, "pickle": pickle}
    for name, cls in made.items():
        if name != "Tagged":
            names[name.lower()] = t.clone().as_subclass(cls)
    names["tagged"] = made["Tagged"](t, "mine")
    made["Logs"].calls.clear()
    *before, last = program.split("; ")

    def run():
        for line in before:
            exec(line, names)
        names["y"] = eval(last, names)

    found = error(run)
    calls = list(made["Logs"].calls)
    return plain([found[:1], described(names.get("y")), calls])


PROGRAMS = """
a + 1
1 + a
t + a
a + t
a - t
t - a
a @ t
t @ a
a * a
2 - a
-a
a > 1
a == a
a[0]
a[0, 1]
a.add(1)
a.sum()
a.sum(dim=0, keepdim=True)
a.max(dim=0)
a.view(4)
a.T
a.mT
a.clone()
a.detach()
a.data
a.unbind(0)
list(a)
a.tolist()
a.shape
a.size(0)
a.dim()
a.numel()
a.requires_grad
a.is_leaf
len(a)
float(a.sum())
bool(a.sum() > 1)
int(a.sum())
a.sum().item()
a.numpy().sum()
lib.add(a, t)
lib.add(t, a)
lib.cat([a, t])
lib.stack([t, a])
lib.ones_like(a)
F.relu(a)
F.linear(a, t)
lib.einsum("ij,jk->ik", a, t)
lib.exp(a)
lib.Tensor.add(a, 1)
lib.where(a > 1, a, t)
a.add_(1)
a.add_(1) is a
b = a; b += 1; b is a
a[0] = 5.0; a
a.zero_(); a
lib.add(t, t, out=a)
lib.add(t, t, out=a) is a
a + b
b + a
a + other
isinstance(a, lib.Tensor)
isinstance(t, A)
isinstance(b, A)
isinstance(3, lib.Tensor)
issubclass(A, lib.Tensor)
issubclass(int, lib.Tensor)
issubclass(lib.Tensor, A)
type(a) is A
lib.is_tensor(a)
refuses + 1
refuses.add(t)
lib.add(refuses, 1)
logs + t
logs.add(t)
lib.cat([logs, t])
logs[0]
logs.sum(dim=0)
logs - 1
tagged.tag
tagged.doubled()
(tagged + 1).__dict__
copy.copy(a)
t.as_subclass(A)
a.as_subclass(lib.Tensor)
t.as_subclass(int)
t.as_subclass(3)
A([1.0, 2.0])
A(t)
A(2, 3).shape
lib.Tensor._make_subclass(A, t)
lib.Tensor._make_subclass(A, t, True)
lib.Tensor._make_subclass(int, t)
w = t.clone().requires_grad_(); (w.as_subclass(A) * 3).sum().backward(); w.grad
w = lib.Tensor._make_subclass(A, t, True); (w * w).sum().backward(); w.grad
w = lib.Tensor._make_subclass(A, t, True); v = (w * 1)[0]; v.mul_(2); v.sum().backward(); w.grad
a.requires_grad_(); a.requires_grad
a.requires_grad = True; (a * 2).requires_grad
a.nosuch
a.mine = 3; a.mine
hash(a) == hash(a)
1.0 in a
a.to(lib.float64)
a.long()
a.type()
a.new_zeros(2)
a.is_contiguous()
a.split(1)
repr(a)
str(t.as_subclass(Other)[0])
""".strip().splitlines()


@pytest.mark.parametrize("program", PROGRAMS)
def test_subclasses(lib, torch, program):
    same(outcome(lib, program), outcome(torch, program))


def parameters(lib):
    """Parameters of a class, and a class of parameters: in a module, an optimizer, a file."""
    nn = lib.nn

    class A(lib.Tensor):
        pass

    class P(nn.Parameter):
        pass

    class Tagged(nn.Parameter):
        def __new__(cls, data, tag):
            self = lib.Tensor._make_subclass(cls, data, True)
            self.tag = tag
            return self

        def __init__(self, data, tag):
            pass

    module = nn.Linear(2, 2)
    module.weight = nn.Parameter(lib.ones(2, 2).as_subclass(A))
    module.bias = P(lib.zeros(2))
    module.extra = Tagged(lib.ones(1), "tag")
    found = [(name, type(p).__name__) for name, p in module.named_parameters()]
    for p in module.parameters():
        found.append([isinstance(p, c) for c in (nn.Parameter, P, Tagged, A, lib.Tensor)])
        found.append([p.is_leaf, p.requires_grad, type(p.detach()).__name__, repr(p)])
    optimizer = lib.optim.SGD(module.parameters(), lr=0.5, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        y = module(lib.ones(3, 2))
        found += [type(value).__name__ for value in (y, module.bias * 2, module.extra + y)]
        (y.sum() * module.extra).sum().backward()
        found += [p.grad.tolist() for p in module.parameters()]
        found.append(nn.utils.clip_grad_norm_(module.parameters(), 1.0).item())
        optimizer.step()
    found += [p.tolist() for p in module.parameters()] + [module.extra.tag]
    found += [(name, type(v).__name__) for name, v in module.state_dict().items()]
    found.append([issubclass(c, lib.Tensor) for c in (A, P, Tagged, nn.Parameter, int)])
    found.append([issubclass(c, nn.Parameter) for c in (A, P, Tagged, nn.Parameter, lib.Tensor)])
    found += [lib.is_inference(module.weight), module.weight.is_inference()]
    with lib.inference_mode():
        found.append(lib.is_inference(module.weight.detach() * 2))
    return plain(found)


def test_parameters_of_subclasses(lib, torch):
    same(parameters(lib), parameters(torch))


def parameters_of_two_bases(lib):
    """Classes of a subclass and Parameter, as packages for manifolds have them."""
    nn = lib.nn

    class OnManifold(lib.Tensor):
        def __new__(cls, data, manifold, requires_grad=False):
            self = lib.Tensor._make_subclass(cls, data, requires_grad)
            self.manifold = manifold
            return self

        def __init__(self, *args, **kwargs):
            pass

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    class First(OnManifold, nn.Parameter):
        def __new__(cls, data, manifold="sphere"):
            return OnManifold.__new__(cls, data, manifold, True)

    class Last(nn.Parameter, OnManifold):
        pass

    class Asks(nn.Parameter):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    class Meta(type(nn.Parameter)):
        pass

    class Made(nn.Parameter, metaclass=Meta):
        pass

    class Below(First):
        pass

    found = [[c.__name__ for c in First.__mro__[:2]], type(Made) is Meta]
    for cls in (First, Last, Asks, Made, Below):
        module = nn.Module()
        module.p = cls(lib.ones(2))
        found += [[isinstance(module.p, c) for c in (nn.Parameter, OnManifold, First, Made)]]
        found += [[issubclass(cls, c) for c in (nn.Parameter, OnManifold, First, lib.Tensor)]]
        found += [repr(module.p), type(module.p * 2).__name__, getattr(module.p, "manifold", None)]
        (module.p * module.p).sum().backward()
        lib.optim.SGD(module.parameters(), 0.5).step()
        found += [list(module.state_dict()), module.p.tolist(), type(module.p.grad).__name__]
    return plain(found)


def test_parameters_of_two_bases(lib, torch):
    same(parameters_of_two_bases(lib), parameters_of_two_bases(torch))


UNBOUND = """
T.__repr__(V)
T.__str__(V)
T.__add__(V, 1)
T.__radd__(V, 1)
T.__matmul__(V, V)
T.__getitem__(V, 0)
T.__setitem__(V.clone(), 0, 5)
T.__len__(V)
T.__hash__(V) == hash(V)
T.__eq__(V, 1)
T.__bool__(V[:1])
T.__float__(V[0])
T.__contains__(V, 1.0)
T.__neg__(V)
T.__invert__(V > 1)
T.__iadd__(V.clone(), 1)
list(T.__iter__(V))
T.__array__(V).tolist()
T.numel(V)
T.tolist(V)
T.size(V)
T.item(V[0])
T.numpy(V).tolist()
T.requires_grad_(V.clone())
T.stride(V)
T.data_ptr(V) == V.data_ptr()
T.shape.__get__(V)
T.grad.__get__(V)
T.T.__get__(V[None])
T.data.__get__(V)
T.is_leaf.__get__(V)
T.untyped_storage(V).nbytes()
T.share_memory_(V.clone())
T.register_hook(V.clone().requires_grad_(), print) is not None
[T.numel(lib.ones(2)), T.__add__(lib.ones(1), 1), T.shape.__get__(lib.ones(2))]
T.__add__(3, 1)
T.numel(3)
""".strip().splitlines()


@pytest.mark.parametrize("program", UNBOUND)
def test_methods_of_the_class(lib, torch, program):
    """`Tensor.numel(x)` of an x of a subclass, as its own methods call it."""

    def run(lib):
        asked = []

        class Asked(lib.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append(func is lib.Tensor.numel or func == lib.Tensor.shape.__get__)
                return super().__torch_function__(func, types, args, kwargs or {})

        class Plain(lib.Tensor):
            def numel(self):
                return 100 + lib.Tensor.numel(self)

        found = []
        for cls in (Asked, Plain):
            x = lib.tensor([1.0, 2.0, 3.0]).as_subclass(cls)
            try:
                found.append(plain([eval(program, {"T": lib.Tensor, "V": x, "lib": lib})]))
            except Exception as error:
                found.append(type(error).__name__)
        return [found, any(asked), x.numel()]

    same(run(lib), run(torch))
