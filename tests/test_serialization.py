"""Saving and loading: what comes back, what a broken file does, what a crash leaves behind."""

import copy
import io
import json
import math
import os
import pickle
import random
import stat
from collections import OrderedDict

import numpy as np
import pytest

import imode
from imode._core.internals import array_of
from imode.serialization import files
from tests.hostile_files import change_object, safetensors

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


def round_trip(obj):
    f = io.BytesIO()
    imode.save(obj, f)
    f.seek(0)
    return imode.load(f)


def same(a, b):
    """Whether two tensors agree in all that a file keeps."""
    facts = lambda t: (t.dtype, t.shape, t.stride(), t.requires_grad, type(t))
    x, y = array_of(a), array_of(b)
    return facts(a) == facts(b) and x.tobytes() == y.tobytes()


def overlap(a, b):
    return np.shares_memory(array_of(a), array_of(b))


# ---- what comes back -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 4), (1, 1)])
def test_tensor(dtype, shape):
    t = imode.from_numpy(np.random.default_rng(0).integers(0, 2, shape).astype(dtype))
    assert same(round_trip(t), t)
    assert same(round_trip({"a.b": t})["a.b"], t)


def test_values():
    obj = {
        "none": None,
        "flags": [True, False],
        "ints": (0, -1, 2**53 + 1, 10**40, -(10**40)),
        "floats": [0.1, -0.0, math.inf, -math.inf],
        "complex": complex(0.1, -math.inf),
        "text": "äöü \0",
        "bytes": b"\0\xff",
        3: {"deep": OrderedDict(b=1, a=2)},
        (1, "x"): [],
        None: (),
        "dtype": imode.float16,
        "size": imode.Size([2, 3]),
        "device": imode.device("cpu"),
    }
    found = round_trip(obj)
    assert found == obj
    assert list(found) == list(obj)
    assert type(found[3]["deep"]) is OrderedDict and list(found[3]["deep"]) == ["b", "a"]
    assert math.copysign(1, found["floats"][1]) == -1
    assert type(found["size"]) is imode.Size and found["dtype"] is imode.float16
    assert math.isnan(round_trip(math.nan))


def test_flags_and_identity():
    weight = imode.nn.Parameter(imode.ones(2))
    frozen = imode.nn.Parameter(imode.ones(2), requires_grad=False)
    grown = imode.ones(2, requires_grad=True)
    found = round_trip([weight, weight, frozen, grown, grown * 2])
    assert found[0] is found[1] and isinstance(found[0], imode.nn.Parameter)
    assert isinstance(found[2], imode.nn.Parameter) and not found[2].requires_grad
    assert found[3].requires_grad and not isinstance(found[3], imode.nn.Parameter)
    assert found[4].is_leaf and found[4].requires_grad


def test_strides_and_sharing():
    x = imode.arange(12.0).reshape(3, 4)
    obj = {"t": x.t(), "rows": x[1:], "columns": x[:, ::2], "alone": imode.ones(2, 3).t()}
    found = round_trip(obj)
    assert all(same(found[k], obj[k]) for k in obj)
    assert overlap(found["t"], found["rows"]) and overlap(found["t"], found["columns"])
    found["t"].zero_()
    assert float(found["rows"].sum()) == 0
    lonely = imode.arange(1000.0)[::500]
    f = io.BytesIO()
    imode.save(lonely, f)
    assert len(f.getvalue()) < 1000
    assert round_trip(lonely).tolist() == [0.0, 500.0]
    wide = imode.ones(1, 3).expand(4, 3)
    assert round_trip(wide).stride() == (0, 1)


def test_strides_of_what_has_no_elements():
    t = imode.empty(0, 3)
    assert round_trip(t).stride() == (3, 1) and round_trip(t.t()).stride() == (1, 3)


def test_state_dict_metadata():
    state = OrderedDict(weight=imode.ones(2))
    state._metadata = {"": {"version": 1}}
    found = round_trip(state)
    assert found._metadata == state._metadata and same(found["weight"], state["weight"])


def test_module():
    model = imode.nn.Linear(2, 3)
    found = round_trip(model.state_dict())
    other = imode.nn.Linear(2, 3)
    other.load_state_dict(found)
    assert same(other.weight, model.weight) and same(other.bias, model.bias)


def test_inside_inference_mode():
    with imode.inference_mode():
        found = round_trip({"x": imode.ones(2)})
        assert found["x"].is_inference()
    assert not round_trip({"x": imode.ones(2)})["x"].is_inference()


def test_flat_dict_is_a_plain_safetensors_file(tmp_path):
    path = tmp_path / "m.safetensors"
    imode.save({"b": imode.ones(3, dtype=imode.int8), "a.w": imode.ones(2, 2)}, path)
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert length % 8 == 0
    header = json.loads(raw[8 : 8 + length])
    del header["__metadata__"]
    assert header == {
        "a.w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "I8", "shape": [3], "data_offsets": [16, 19]},
    }
    assert len(raw) == 8 + length + 19


def test_foreign_safetensors_file():
    header = {"x": {"dtype": "F64", "shape": [1, 2], "data_offsets": [0, 16]}}
    found = imode.load(io.BytesIO(pack(header, np.array([1.0, 2.0]).tobytes())))
    assert list(found) == ["x"] and found["x"].tolist() == [[1.0, 2.0]]


def test_paths_and_objects(tmp_path):
    imode.save([1], tmp_path / "a")
    imode.save([1], str(tmp_path / "b"))
    with open(tmp_path / "c", "wb") as f:
        imode.save([1], f)
    for name in "abc":
        assert imode.load(tmp_path / name) == [1]
    with open(tmp_path / "a", "rb") as f:
        assert imode.load(f, map_location="cpu", weights_only=False) == [1]
    with open(tmp_path / "a") as f, pytest.raises((TypeError, UnicodeDecodeError)):
        imode.load(f)
    with pytest.raises(FileNotFoundError):
        imode.load(tmp_path / "none")
    with pytest.raises(RuntimeError, match="cannot map to 'cuda'"):
        imode.load(tmp_path / "a", map_location="cuda")


# ---- what cannot be saved ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"a": [1, {2}]}, r"save: cannot save obj\['a'\]\[1\]: a set"),
        ([object()], r"save: cannot save obj\[0\]: a object"),
        (np.float64(1.0), r"save: cannot save obj: a float64"),
        (imode.nn.Linear(1, 1), r"a Linear; save its state_dict\(\) instead"),
        ({imode.ones(1): 1}, "a key is a Tensor"),
        (lambda: 0, "a function"),
    ],
)
def test_refused(obj, message):
    with pytest.raises(TypeError, match=message):
        imode.save(obj, io.BytesIO())


def test_cycles_and_depth():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        imode.save(loop, io.BytesIO())
    deep = 1
    for _ in range(100):
        deep = [deep]
    assert round_trip(deep) == deep
    with pytest.raises(ValueError, match="more than 100 levels deep"):
        imode.save([deep], io.BytesIO())


# ---- atomic writes -------------------------------------------------------------------------------


class Broken(Exception):
    pass


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_failure_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "model"
    imode.save("old", path)

    def fail(*args):
        raise Broken

    if call == "write":
        monkeypatch.setattr(files, "_write_all", fail)
    else:
        monkeypatch.setattr(os, call, fail)
    with pytest.raises(Broken):
        imode.save("new", path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["model"]
    assert imode.load(path) == "old"


def test_unsaveable_object_touches_nothing(tmp_path):
    path = tmp_path / "model"
    imode.save("old", path)
    with pytest.raises(TypeError):
        imode.save({"x": imode.ones(2), "y": object()}, path)
    assert os.listdir(tmp_path) == ["model"] and imode.load(path) == "old"


@pytest.mark.skipif(os.name != "posix", reason="POSIX file modes and links")
def test_mode_and_links(tmp_path):
    path = tmp_path / "model"
    imode.save(1, path)
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    imode.save(2, link)
    assert link.is_symlink() and imode.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


# ---- broken files --------------------------------------------------------------------------------


def pack(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def sample():
    f = io.BytesIO()
    x = imode.arange(6.0).reshape(2, 3)
    obj = {"a": x, "b": [x.t(), 1, "s", {"k": imode.tensor([True, False])}], "c": imode.ones(1)}
    imode.save(obj, f)
    return f.getvalue()


def test_cut_short_anywhere():
    raw = sample()
    for n in range(len(raw)):
        with pytest.raises(RuntimeError, match="load: the file object: "):
            imode.load(io.BytesIO(raw[:n]))


def test_trailing_bytes():
    with pytest.raises(RuntimeError):
        imode.load(io.BytesIO(sample() + b"\0"))


def test_every_flipped_byte():
    raw = sample()
    rng = random.Random(0)
    for i in range(len(raw)):
        for value in {raw[i] ^ 1, raw[i] ^ 0x80, rng.randrange(256)} - {raw[i]}:
            with pytest.raises(RuntimeError):
                imode.load(io.BytesIO(raw[:i] + bytes([value]) + raw[i + 1 :]))


def test_random_garbage():
    rng = random.Random(1)
    for _ in range(300):
        raw = rng.randbytes(rng.randrange(60))
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            imode.load(io.BytesIO(raw))
        with pytest.raises(RuntimeError):
            imode.load(io.BytesIO(len(raw).to_bytes(8, "little") + raw + b"12345"))


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


@pytest.mark.parametrize(
    ("header", "size", "message"),
    [
        (b"[]", 0, "the header is not a JSON object but a list"),
        (b"{", 0, "the header is not valid JSON"),
        (b"\xff\xfe", 0, "the header is not valid JSON"),
        (b'{"a": 1, "a": 1}', 0, "has the name 'a' twice"),
        (b'{"a": NaN}', 0, "NaN is not JSON"),
        (b"[" * 100_000, 0, "the header is not valid JSON"),
        ({"a": 1}, 0, "entry 'a' needs 'dtype', 'shape' and 'data_offsets'"),
        ({"a": entry(extra=1)}, 8, "entry 'a' needs"),
        ({"a": entry("F33")}, 8, "entry 'a' has the unknown dtype 'F33'"),
        ({"a": entry(None)}, 8, "entry 'a' has the unknown dtype None"),
        ({"a": entry(shape=(-2,))}, 8, "entry 'a': shape is not a list of sizes"),
        ({"a": entry(shape=(2.0,))}, 8, "entry 'a': shape is not a list of sizes"),
        ({"a": entry(shape=(True, 2))}, 8, "entry 'a': shape is not a list of sizes"),
        ({"a": entry(shape=(2,) * 65)}, 8, "entry 'a': shape is not a list of sizes"),
        ({"a": entry(shape=(2**62, 2**62, 0), offsets=(0, 0))}, 0, "shape is"),
        ({"a": entry(shape=(2**40, 2**40))}, 8, "entry 'a': shape is too large"),
        ({"a": entry(shape=(3,))}, 8, "takes 12 bytes, its data_offsets span 8"),
        ({"a": entry(offsets=(8, 0))}, 8, "are not [begin, end]"),
        ({"a": entry(offsets=(0, 8, 8))}, 8, "are not [begin, end]"),
        ({"a": entry(offsets=(-8, 0))}, 8, "data_offsets is not a list of sizes"),
        ({"a": entry(offsets=(4, 12))}, 12, "entry 'a' leaves a hole before it"),
        ({"a": entry(), "b": entry(offsets=(4, 12))}, 12, "entry 'b' overlaps the one before"),
        ({"a": entry(), "b": entry()}, 8, "overlaps"),
        ({"a": entry()}, 4, "cut short: entry 'a' ends at byte 8 of 4"),
        ({"a": entry()}, 9, "1 bytes too many after the last entry"),
        ({"a": entry("BOOL", (1,), (0, 1))}, -1, "neither true nor false"),
        ({"__metadata__": {"a": 1}}, 0, "'__metadata__' is not an object of strings"),
        ({"__metadata__": 1}, 0, "'__metadata__' is not an object of strings"),
        ({"__metadata__": {"format": "imode"}}, 0, "'__metadata__' lacks 'crc32'"),
    ],
)
def test_bad_header(header, size, message):
    data = b"\x02" * -size if size < 0 else b"\0" * size
    with pytest.raises(RuntimeError) as raised:
        imode.load(io.BytesIO(pack(header, data)))
    assert message in str(raised.value)


def sealed(described, entries=None, data=b""):
    """A file with this object text and a right checksum."""
    import zlib

    meta = {"crc32": "00000000", "format": "imode", "object": json.dumps(described)}
    text = json.dumps({"__metadata__": meta, **(entries or {})}, separators=(",", ":")).encode()
    total = f"{zlib.crc32(data, zlib.crc32(text)):08x}".encode()
    return pack(text.replace(b"00000000", total, 1), data)


def record(**changes):
    full = {
        "entry": "a",
        "dtype": "float32",
        "shape": [2],
        "strides": [1],
        "offset": 0,
        "requires_grad": False,
        "parameter": False,
    }
    return {**full, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entry": "b"}, "names the entry 'b', which does not exist"),
        ({"entry": []}, "names the entry [], which does not exist"),
        ({"dtype": "float64"}, "dtype float64 in an entry of float32"),
        ({"dtype": "object"}, "unknown dtype 'object'"),
        ({"shape": [3]}, "reach out of the entry"),
        ({"strides": [2]}, "reach out of the entry"),
        ({"strides": [-1]}, "strides is not a list of sizes"),
        ({"strides": [1, 1]}, "1 sizes and 2 strides"),
        ({"offset": 1}, "reach out of the entry"),
        ({"offset": -1}, "offset is not a list of sizes"),
        ({"offset": 1.0}, "offset is not a list of sizes"),
        ({"requires_grad": 1}, "requires_grad is 1"),
        ({"parameter": None}, "parameter is None"),
        ({"more": 1}, "needs exactly"),
    ],
)
def test_bad_tensor_record(changes, message):
    described = {"tensors": [record(**changes)], "root": {"tensor": 0}}
    with pytest.raises(RuntimeError) as raised:
        imode.load(io.BytesIO(sealed(described, {"a": entry()}, b"\0" * 8)))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "root",
    [
        {"tensor": 0},
        {"tensor": -1},
        {"tensor": True},
        {"list": 1},
        {"dict": [[1]]},
        {"dict": [[1, 2], [1, 3]]},
        {"dict": [[{"list": []}, 1]]},
        {"eval": "1"},
        {"int": "x"},
        {"float": "1"},
        {"complex": ["0x1p+0"]},
        {"bytes": "?"},
        {"dtype": "object"},
        {"dtype": "Tensor"},
        {"device": 3},
        {"size": [-1]},
        {"state": [[], 1, 2]},
        {},
        {"list": [], "tuple": []},
        [1],
    ],
)
def test_bad_object(root):
    with pytest.raises(RuntimeError, match="load: the file object: "):
        imode.load(io.BytesIO(sealed({"tensors": [], "root": root})))


def test_nested_too_deep():
    root = {"list": []}
    for _ in range(101):
        root = {"list": [root]}
    with pytest.raises(RuntimeError, match="nested too deep"):
        imode.load(io.BytesIO(sealed({"tensors": [], "root": root})))


def test_unused_entry():
    with pytest.raises(RuntimeError, match="entry 'a' belongs to no tensor"):
        imode.load(io.BytesIO(sealed({"tensors": [], "root": 1}, {"a": entry()}, b"\0" * 8)))


def test_huge_header_length():
    with pytest.raises(RuntimeError, match="the header's length is"):
        imode.load(io.BytesIO((2**63).to_bytes(8, "little") + b"{}"))


def test_pickles_are_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)

    for protocol in range(6):
        raw = pickle.dumps({"x": Evil()}, protocol)
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            imode.load(io.BytesIO(raw), weights_only=False)
    with pytest.raises(RuntimeError, match="failed reading zip archive"):
        imode.load(io.BytesIO(b"PK\x03\x04" + b"\0" * 40))
    assert os.listdir(tmp_path) == []


def test_model_stays_as_it_was(tmp_path):
    model = imode.nn.Linear(2, 2)
    before = [p.detach().clone() for p in model.parameters()]
    path = tmp_path / "model"
    imode.save(model.state_dict(), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RuntimeError, match="model"):
        model.load_state_dict(imode.load(path))
    assert all(same(a, b.detach()) for a, b in zip(before, model.parameters()))


# ---- pickle and deepcopy -------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickle(protocol):
    x = imode.arange(6.0).reshape(2, 3)
    p = imode.nn.Parameter(imode.ones(2))
    found = pickle.loads(pickle.dumps([x, x.t(), x, p, imode.tensor(True)], protocol))
    assert found[0] is found[2] and same(found[1], x.t()) and overlap(found[0], found[1])
    assert isinstance(found[3], imode.nn.Parameter) and found[3].requires_grad
    assert found[4].item() is True
    found[0].zero_()


def test_copies_of_a_parameter_made_in_inference_mode_are_parameters():
    model = imode.nn.Linear(2, 2)
    with imode.inference_mode():
        for p in model.weight, imode.nn.Parameter(imode.ones(2), requires_grad=False):
            copies = [pickle.loads(pickle.dumps(p, protocol)) for protocol in range(6)]
            copies += [copy.copy(p), copy.deepcopy(p), round_trip(p)]
            for found in copies:
                assert isinstance(found, imode.nn.Parameter) and not found.is_inference()
                assert found.requires_grad is p.requires_grad and same(found.data, p.data)
        assert isinstance(pickle.loads(pickle.dumps(model)).weight, imode.nn.Parameter)


def test_deepcopy():
    x = imode.arange(6.0).reshape(2, 3)
    p = imode.nn.Parameter(imode.ones(2))
    p.grad = imode.ones(2)
    r = imode.ones(2, requires_grad=True)
    r.grad = imode.full((2,), 3.0)
    a, b, c, q, s = copy.deepcopy([x, x.t(), x, p, r])
    assert a is c and same(a, x) and same(b, x.t()) and overlap(a, b) and not overlap(a, x)
    assert isinstance(q, imode.nn.Parameter) and q.grad is None and not overlap(q, p)
    assert s.requires_grad and s.grad.tolist() == [3.0, 3.0] and not overlap(s.grad, r.grad)


def test_deepcopy_of_a_non_leaf():
    x = imode.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x)


def test_what_a_header_says_of_devices_and_indices_is_checked():
    raw = change_object(safetensors([imode.device("cpu")]), lambda text: text.replace("cpu", "x"))
    with pytest.raises(RuntimeError, match="load: the file object: bad device: Expected one"):
        imode.load(io.BytesIO(raw))
    values = imode.nn.Parameter(imode.ones(3))
    tensors = [values, imode.eye(3).to_sparse()]
    raw = change_object(
        safetensors(tensors), lambda text: text.replace('{"sparse":[1,', '{"sparse":[0,')
    )
    with pytest.raises(RuntimeError, match="load: the file object: "):
        imode.load(io.BytesIO(raw))
