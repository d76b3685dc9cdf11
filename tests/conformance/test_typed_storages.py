"""The memory of tensors as elements: the same in both libraries, and as older programs use it."""

import copy
import pickle

import pytest

from .side_by_side import agrees, error

pytestmark = pytest.mark.filterwarnings("ignore")


@agrees
def test_reading(lib):
    x = lib.arange(6.0).view(2, 3)
    s = x[1].storage()
    seen = [repr(s), len(s), s.size(), s.nbytes(), s.element_size(), s.data_ptr() == x.data_ptr()]
    seen += [s.tolist(), list(s), s[1], s[-1], str(s.dtype), str(s.device), s.is_cuda, s.is_sparse]
    seen += [s.type(), s.is_shared(), s.is_pinned(), s.pickle_storage_type(), bool(s), s.filename]
    seen += [s == x.storage(), hash(s) == hash(x.storage()), s.untyped() == x.untyped_storage()]
    seen += [lib.is_storage(s), str(x.storage_type()), s == lib.ones(2).storage(), s.get_device()]
    for dtype in ("bfloat16", "bool", "complex64", "int8", "float16"):
        t = lib.ones(2, dtype=getattr(lib, dtype))
        seen += [repr(t.storage()), t.storage().type(), str(t.storage_type())]
    meta = lib.ones(2, device="meta").storage()
    seen += [repr(meta), error(lambda: lib.eye(2).to_sparse().storage())[0]]
    for index in (6, -7, slice(2), "a", True):
        seen.append(error(lambda index=index: s[index]))
    return seen


@agrees
def test_writing(lib):
    x = lib.arange(6.0).view(2, 3)
    s, seen = x.storage(), []
    s[0] = 9
    s[1:3] = 7
    seen.append(x.clone())
    s[0:4:2] = 3
    seen += [x.clone(), s.fill_(2) is s, x.clone(), s.copy_(lib.ones(6).storage()) is s, x.clone()]
    seen += [error(lambda: s.copy_(lib.ones(5).storage())), error(lambda: s.__setitem__("a", 1))]
    seen += [error(lambda: s.copy_(lib.ones(6, dtype=lib.long).storage()))]
    seen += [error(lambda: s.__setitem__(7, 1))[0], error(lambda: s.__setitem__(True, 1))]
    for other in (s.clone(), copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        other[0] = 5
        seen += [other.tolist(), type(other).__name__, x[0, 0].item()]
    for name in ("double", "long", "half", "bool", "bfloat16", "complex_float", "byte", "char"):
        made = getattr(s, name)()
        seen += [made.tolist(), str(made.dtype), repr(made)]
    return [*seen, s.cpu().tolist()]


@agrees
def test_making(lib):
    x, typed = lib.arange(4.0), lib.TypedStorage
    seen = [
        lib.FloatStorage(3).size(),
        repr(lib.FloatStorage([1, 2])),
        repr(lib.IntStorage([1, 2])),
    ]
    seen += [isinstance(x.storage(), lib.FloatStorage), isinstance(x.storage(), lib.DoubleStorage)]
    seen += [
        isinstance(lib.FloatStorage(1), typed),
        str(lib.FloatStorage),
        str(lib.LongStorage.dtype),
    ]
    seen += [lib.FloatStorage().size(), repr(typed([1, 2])), repr(typed([1, 2], dtype=lib.long))]
    seen += [typed(wrap_storage=x.untyped_storage(), dtype=lib.int32).tolist(), typed().size()]
    seen += [lib.FloatStorage(wrap_storage=x.untyped_storage()).tolist(), str(typed(2).dtype)]
    seen += [lib.storage.TypedStorage is typed, lib.storage.UntypedStorage is lib.UntypedStorage]
    seen += [error(lambda: typed(1, 2))[0], error(lambda: typed("a")), error(lambda: typed(2.5))[0]]
    seen += [error(lambda: typed(wrap_storage=3, dtype=lib.int32))[0]]
    seen += [error(lambda: typed(wrap_storage=x.untyped_storage()))[0]]
    seen += [
        error(lambda: lib.FloatStorage(1, 2))[0],
        error(lambda: lib.FloatStorage(dtype=lib.int))[0],
    ]
    return seen


@agrees
def test_tensors_over_them(lib):
    s = lib.arange(6.0).storage()
    seen = [lib.tensor([]).set_(s), lib.tensor([]).set_(s, 1, (2, 2), (2, 1))]
    seen += [error(lambda: lib.tensor([]).set_(s.double())), lib.FloatTensor(s), lib.asarray(s)]
    seen += [lib.FloatTensor(s).data_ptr() == lib.asarray(s).data_ptr() == s.data_ptr()]
    seen += [lib.FloatTensor(s.untyped()), error(lambda: lib.DoubleTensor(s))]
    made = lib.tensor([]).set_(s)
    made[0] = 7
    return [*seen, s[0]]


@agrees
def test_bytes(lib):
    untyped = lib.UntypedStorage
    one, two = untyped([1, 2]), untyped(b"\3\4") if lib.__name__ != "torch" else untyped([3, 4])
    seen = [untyped(4).size(), one.tolist(), one.copy_(two) is one, one.tolist(), untyped().size()]
    clone = one.clone()
    clone[0] = 9
    seen += [clone.tolist(), one.tolist(), one.fill_(3).tolist(), one.cpu().tolist()]
    return [*seen, error(lambda: one.copy_(untyped(3))), error(lambda: one.__setitem__(5, 1))[0]]
