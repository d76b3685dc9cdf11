"""Files that PyTorch writes, read here; files that are written here, read by PyTorch."""

import argparse
import collections
import copy
import io
import pickle
import random

import numpy as np
import pytest

import imode
from tests.hostile_files import archive, objects, tar

ZIP = {"zip": {}, "stream": {"_use_new_zipfile_serialization": False}}


def told(lib, obj):
    """What an object shows, in words that both libraries share."""
    if isinstance(obj, lib.Tensor):
        sparse = obj.layout == lib.sparse_coo
        values = "" if obj.is_meta else repr(obj.detach())
        facts = (obj.shape, obj.requires_grad, obj.device, values, obj.dtype)
        facts += () if sparse else (obj.stride(), obj.storage_offset() if obj.numel() else 0)
        return str((*facts, isinstance(obj, lib.nn.Parameter))).replace("torch.", "imode.")
    if isinstance(obj, dict):
        items = [(told(lib, key), told(lib, value)) for key, value in obj.items()]
        return type(obj).__name__, items
    if isinstance(obj, (list, tuple)):
        return type(obj).__name__, [told(lib, item) for item in obj]
    return type(obj).__name__, repr(obj).replace("torch.", "imode.")


def models(torch):
    """One small module of each kind of layer, with random weights."""
    nn = torch.nn
    yield from (nn.Linear(2, 3), nn.Bilinear(2, 3, 2), nn.Embedding(4, 3), nn.EmbeddingBag(4, 3))
    for dim in (1, 2, 3):
        yield getattr(nn, f"Conv{dim}d")(2, 4, 3, padding=1)
        yield getattr(nn, f"ConvTranspose{dim}d")(2, 4, 3, output_padding=0)
        yield getattr(nn, f"BatchNorm{dim}d")(3)
        yield getattr(nn, f"InstanceNorm{dim}d")(3, affine=True, track_running_stats=True)
        yield getattr(nn, f"AdaptiveAvgPool{dim}d")(1)
        yield getattr(nn, f"MaxPool{dim}d")(2)
    yield from (nn.LayerNorm(3), nn.GroupNorm(1, 3), nn.RMSNorm(3), nn.PReLU(), nn.Dropout(0.3))
    yield from (nn.LSTM(2, 3, 2, bidirectional=True), nn.GRU(2, 3), nn.RNN(2, 3), nn.LSTMCell(2, 3))
    yield from (nn.MultiheadAttention(4, 2), nn.TransformerEncoderLayer(4, 2, 8))
    yield from (nn.TransformerDecoderLayer(4, 2, 8), nn.Transformer(4, 2, 1, 1, 8))
    yield from (nn.ModuleList([nn.Linear(1, 1)]), nn.ModuleDict({"a": nn.Linear(1, 1)}))
    yield from (nn.ParameterList([torch.ones(2)]), nn.Sequential(nn.Flatten(), nn.Linear(2, 2)))
    yield nn.Conv2d(3, 4, 3, padding="same", padding_mode="reflect", bias=False)
    yield nn.Linear(2, 3).to(torch.bfloat16)
    yield nn.Linear(2, 3).double()


@pytest.mark.parametrize("options", ZIP.values(), ids=ZIP)
def test_state_dicts_of_models(torch, options):
    count = 0
    for model in models(torch):
        f = io.BytesIO()
        torch.save(model.state_dict(), f, **options)
        f.seek(0)
        found = imode.load(f)
        assert told(imode, found) == told(torch, model.state_dict()), model
        assert found._metadata == model.state_dict()._metadata
        count += 1
    assert count >= 40


def _random(lib, rng, depth=0):
    """A random object, the same in both libraries for the same seed."""
    kind = rng.randrange(16 if depth < 4 else 10)
    if kind < 4:
        return _random_tensor(lib, rng)
    if kind < 10:
        plain = (rng.randrange(-(2**70), 2**70), rng.random(), "text\u2713", None, True, 2j, b"\0b")
        names = (lib.float16, lib.Size([2, 3]), lib.device("cpu"), (), frozenset({1}), -1, "")
        return rng.choice((*plain, *names))
    count = rng.randrange(4)
    if kind < 12:
        return [_random(lib, rng, depth + 1) for _ in range(count)]
    if kind < 13:
        return tuple(_random(lib, rng, depth + 1) for _ in range(count))
    make = collections.OrderedDict if kind < 14 else dict
    keys = rng.sample(["a", "b", 1, 2.5, None, (1, "x"), True], count)
    return make((key, _random(lib, rng, depth + 1)) for key in keys)


DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]
DTYPES += ["bool", "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn"]


def _random_tensor(lib, rng):
    shape = [rng.randrange(4) for _ in range(rng.randrange(4))]
    dtype = getattr(lib, rng.choice(DTYPES))
    x = lib.arange(int(np.prod(shape)), dtype=lib.float32).reshape(shape).to(dtype)
    how = rng.randrange(8)
    if how == 0 and x.dim() > 1:
        x = x.transpose(0, 1)
    if how == 1 and x.dim():
        x = x[rng.randrange(2) :]
    if how == 2 and x.dim():
        x = x.as_strided([3, *x.shape], [0, *x.stride()])
    if how == 3 and dtype.is_floating_point and "8" not in str(dtype):
        x = x.detach().requires_grad_()
    if how == 4:
        x = lib.nn.Parameter(x, requires_grad=False)
    if how == 5 and dtype in (lib.float32, lib.float64) and x.dim():
        x = x.to_sparse()
    return x


@pytest.mark.parametrize("seed", range(60))
def test_random_objects(torch, seed):
    theirs, ours = (_random(lib, random.Random(seed)) for lib in (torch, imode))
    assert told(imode, ours) == told(torch, theirs)
    for options in ZIP.values():
        f = io.BytesIO()
        torch.save(theirs, f, **options)
        f.seek(0)
        assert told(imode, imode.load(f)) == told(torch, theirs)
    for protocol in (2, 4):
        raw = archive(ours, protocol)
        if protocol == 2:  # PyTorch's reader of data alone knows no later one
            found = torch.load(io.BytesIO(raw), weights_only="frozenset" not in repr(ours))
            assert told(torch, found) == told(imode, ours)
        assert told(imode, imode.load(io.BytesIO(raw))) == told(torch, theirs)


def test_what_only_trust_reads_there_and_all_read_here(torch):
    obj = {
        "namespace": argparse.Namespace(lr=0.1, layers=[1, 2]),
        "default": collections.defaultdict(list, {"a": [1]}),
        "count": collections.Counter("aab"),
        "arrays": [
            np.arange(6.0).reshape(2, 3).T,
            np.float32(2),
            np.int64(3),
            np.array(["a", "bc"]),
        ],
        "set": {1, 2},
    }
    for options in ZIP.values():
        f = io.BytesIO()
        torch.save(obj, f, **options)
        f.seek(0)
        assert told(imode, imode.load(f)) == told(torch, obj)


@pytest.mark.parametrize("options", ZIP.values(), ids=ZIP)
def test_whole_modules(torch, options):
    nn = torch.nn
    shapes = {
        nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), nn.BatchNorm2d(4)): (
            *(2, 3, 5, 5),
        ),
        nn.Sequential(nn.Conv1d(3, 4, 3), nn.GELU(), nn.ConvTranspose1d(4, 3, 3)): (2, 3, 8),
        nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True): (2, 3, 4),
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2): (2, 3, 8),
    }
    for model, shape in shapes.items():
        f = io.BytesIO()
        torch.save(model.eval(), f, **options)
        f.seek(0)
        found = imode.load(f, weights_only=False)
        x = torch.randn(shape)
        with torch.no_grad(), imode.no_grad():
            theirs, ours = model(x), found(imode.from_numpy(x.numpy()))
        if isinstance(theirs, tuple):
            theirs, ours = theirs[0], ours[0]
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_hooks_of_a_module_are_kept(torch):
    model = torch.nn.Linear(2, 2)
    model.register_forward_pre_hook(_double)
    f = io.BytesIO()
    torch.save(model, f)
    f.seek(0)
    found = imode.load(f, weights_only=False)
    x = imode.ones(2)
    assert found(x).equal(found.forward(2 * x))


def _double(module, args):
    return (2 * args[0],)


def test_what_is_written_here_for_other_tests(torch, tmp_path):
    for obj in objects():
        if not isinstance(obj, dict) or "arrays" not in obj:
            found = torch.load(io.BytesIO(archive(obj)))
            assert told(torch, found) == told(imode, obj)
    tensors = {"a": imode.randn(2, 3), "b": imode.arange(4.0)}
    (tmp_path / "x.tar").write_bytes(tar(tensors))
    found = torch.load(tmp_path / "x.tar", weights_only=False)
    assert told(torch, found) == told(imode, tensors)


def test_mapped_there(torch, tmp_path):
    imode.save({"a": imode.arange(100.0)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", mmap=True)["a"][99] == 99


def test_first_sentences(torch):
    files = [torch.nn.Linear(1, 1), *[torch.ones(1)] * 3]
    for obj, options in zip(
        files, ({}, {"map_location": 3}, {"map_location": "cuda"}, {"mmap": 1})
    ):
        f = io.BytesIO()
        torch.save(obj, f)
        messages = []
        for lib in (torch, imode):
            f.seek(0)
            with pytest.raises(Exception) as raised:
                lib.load(f, **options)
            first = str(raised.value).partition(". ")[0].replace("imode", "torch")
            messages.append((type(raised.value), first))
        assert messages[0] == messages[1]


def _with_attributes(lib):
    tensor, parameter = lib.ones(2), lib.nn.Parameter(lib.zeros(2))
    tensor.tag, parameter.groups = "a", [1, {"b": 2}]
    return [tensor, parameter, lib.ones(3).to_sparse()]


def _attributes(tensors):
    return [dict(vars(tensor)) for tensor in tensors]


@pytest.mark.parametrize("way", ["in", "out"])
def test_attributes_of_tensors_are_in_files(torch, tmp_path, way):
    source, target = (torch, imode) if way == "in" else (imode, torch)
    tensors = _with_attributes(source)
    tensors[2].note = None
    source.save(tensors, tmp_path / "x.pt")
    read = target.load(tmp_path / "x.pt")
    assert _attributes(read) == _attributes(tensors)
    assert [isinstance(t, target.nn.Parameter) for t in read] == [False, True, False]


def test_attributes_of_tensors_are_copied_as_pytorch_does(torch):
    def whole(lib):
        found = []
        for tensor in _with_attributes(lib):
            for way in (copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))):
                copied = way(tensor)
                same = [vars(copied).get(name) is value for name, value in vars(tensor).items()]
                found.append((dict(vars(copied)), same))
        return found

    assert whole(imode) == whole(torch)


def test_attributes_in_a_hostile_file_replace_no_methods(torch, tmp_path):
    tensor = torch.ones(2)
    vars(tensor).update(shape=5, _lazy="x", sum=7, tag=1)
    torch.save(tensor, tmp_path / "x.pt")
    assert dict(vars(read := imode.load(tmp_path / "x.pt"))) == {"tag": 1} and read.sum() == 2


def test_a_mapped_tensor_has_a_storage_of_its_own(torch, tmp_path):
    def whole(lib):
        lib.save({"a": lib.arange(6.0).view(2, 3)[1:], "b": lib.ones(50)}, tmp_path / "x.pt")
        read = lib.load(tmp_path / "x.pt", mmap=True)
        facts = [(t.storage_offset(), t.untyped_storage().nbytes()) for t in read.values()]
        copied = pickle.loads(pickle.dumps(read["a"]))
        return facts, copied.tolist(), copied.untyped_storage().nbytes()

    assert whole(imode) == whole(torch)
