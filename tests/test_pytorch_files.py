"""PyTorch's own formats: what comes back, what is refused, that nothing of a file runs."""

import io
import os
import pickle
import struct
import sys
import zipfile

import numpy as np
import pytest

import imode
from imode import nn
from tests import hostile_files
from tests.hostile_files import archive, peak_memory, stream, tar

FORMATS = {"archive": archive, "stream": stream}


def load(raw, **options):
    return imode.load(io.BytesIO(raw), **options)


def told(obj):
    """What an object shows: its type, and what a tensor is beside its values."""
    if isinstance(obj, imode.Tensor):
        facts = obj.dtype, obj.shape, obj.layout, obj.requires_grad, obj.device, repr(obj)
        return (*facts, obj.stride() if obj.layout is imode.strided else None)
    if isinstance(obj, dict):
        return type(obj), [(told(key), told(value)) for key, value in obj.items()]
    if isinstance(obj, (list, tuple)):
        return type(obj), [told(item) for item in obj]
    return type(obj), repr(obj)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_round_trip(write, protocol):
    for obj in hostile_files.objects():
        assert told(load(write(obj, protocol))) == told(obj)


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_views_still_share_their_storage(write):
    base = imode.arange(6.0)
    a, b, c = load(write([base, base[2:], imode.arange(6.0)]))
    b[0] = 50
    assert a[2] == 50 and c[2] == 2
    assert a.untyped_storage() == b.untyped_storage() != c.untyped_storage()
    twice = load(write([base, base]))
    assert twice[0] is twice[1]


def test_tar():
    tensors = {"a": imode.randn(2, 3), "b": imode.arange(4.0)}
    assert told(load(tar(tensors))) == told(tensors)


def test_module_and_optimizer(tmp_path):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LSTM(4, 2))
    optimizer = imode.optim.Adam(model.parameters())
    model[1](model[0](imode.randn(5, 3))).sum().backward()
    optimizer.step()
    path = tmp_path / "checkpoint.pth.tar"
    imode.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    assert zipfile.is_zipfile(path)
    found = imode.load(path)
    assert told(found["model"]) == told(model.state_dict())
    assert told(found["optimizer"]) == told(optimizer.state_dict())
    assert found["model"]._metadata == model.state_dict()._metadata
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])


def test_a_whole_module_needs_trust(tmp_path):
    path = tmp_path / "model.pt"
    imode.save(nn.Linear(2, 3), path)
    with pytest.raises(pickle.UnpicklingError, match=r"imode\.nn\.modules\.linear\.Linear"):
        imode.load(path)
    assert imode.load(path, weights_only=False)(imode.ones(2)).shape == (3,)
    with imode.serialization.safe_globals([nn.Linear]):
        assert repr(imode.load(path)) == repr(nn.Linear(2, 3))
    assert imode.serialization.get_safe_globals() == []


def test_formats_by_name(tmp_path):
    for name, is_zip in {"a.pt": True, "a.PTH": True, "a.safetensors": False, "a": False}.items():
        imode.save([imode.ones(2)], tmp_path / name)
        assert zipfile.is_zipfile(tmp_path / name) is is_zip
        assert told(imode.load(tmp_path / name)) == told([imode.ones(2)])
    imode.save([imode.ones(2)], tmp_path / "b.safetensors", format="pytorch")
    assert zipfile.is_zipfile(tmp_path / "b.safetensors")


def test_the_same_object_gives_the_same_bytes():
    obj = next(hostile_files.objects())
    assert archive(obj) == archive(obj)


def test_mapped(tmp_path):
    path = tmp_path / "x.pt"
    imode.save({"a": imode.arange(1000.0), "b": imode.ones(3, dtype=imode.int8)}, path)
    before = path.read_bytes()
    found = imode.load(path, mmap=True)
    assert found["a"].data_ptr() % 64 == 0 and found["a"][999] == 999
    found["a"].zero_()  # in memory alone
    assert path.read_bytes() == before
    assert imode.load(path, mmap=True)["a"][5] == 5
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        imode.load(io.BytesIO(before), mmap=True)
    path.write_bytes(stream([imode.ones(1)]))
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        imode.load(path, mmap=True)


def test_entries_begin_at_multiples_of_64():
    f = io.BytesIO(archive([imode.ones(n) for n in (1, 2, 3)]))
    raw = f.getvalue()
    with zipfile.ZipFile(f) as found:
        for entry in found.infolist():
            at = entry.header_offset
            name, extra = struct.unpack("<HH", raw[at + 26 : at + 30])
            assert (at + 30 + name + extra) % 64 == 0


def test_a_file_that_cannot_seek():
    class Pipe:
        def __init__(self, raw):
            self.f = io.BytesIO(raw)

        def read(self, count=-1):
            return self.f.read(count)

    for raw in (archive([imode.ones(2)]), stream([imode.ones(2)])):
        assert told(imode.load(Pipe(raw))) == told([imode.ones(2)])


def test_the_rest_of_an_open_file():
    f = io.BytesIO(b"before" + archive([imode.ones(2)]))
    f.seek(6)
    assert told(imode.load(f)) == told([imode.ones(2)])


# ---- where tensors are put ----


def moved(location):
    """A stream whose storage was on another device."""
    text = location.encode()
    found = stream([imode.ones(2)])
    return found.replace(b"X\x03\x00\x00\x00cpu", b"X" + struct.pack("<I", len(text)) + text)


def test_map_location():
    raw = moved("cuda:1")
    for place in ("cpu", imode.device("cpu"), {"cuda:1": "cpu"}, lambda storage, tag: storage):
        assert told(load(raw, map_location=place)) == told([imode.ones(2)])
    assert load(raw, map_location="meta")[0].is_meta
    seen = []
    assert load(
        moved("cpu"), map_location=lambda storage, tag: seen.append((storage.nbytes(), tag))
    )
    assert seen == [(8, "cpu")]


@pytest.mark.parametrize(
    "location, place, error, message",
    [
        ("cuda:0", None, RuntimeError, "Attempting to deserialize object on a CUDA device but"),
        ("cpu", "cuda", RuntimeError, "Attempting to deserialize object on a CUDA device but"),
        ("tpu", None, RuntimeError, "don't know how to restore data location"),
        ("cpu", 3, TypeError, "'int' object is not callable"),
        ("cpu", lambda storage, tag: 3, RuntimeError, "map_location gave a int"),
    ],
)
def test_map_location_refused(location, place, error, message):
    with pytest.raises(error, match=message):
        load(moved(location), map_location=place)


# ---- nothing runs ----


class Evil:
    """Makes a folder when it is unpickled as Python does."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_code_does_not_run(tmp_path, write, protocol):
    raw = write({"x": imode.ones(2), "y": Evil(str(tmp_path / "harm"))}, protocol)
    with pytest.raises(
        pickle.UnpicklingError, match=r"Weights only load failed\. (.|\n)*posix\.mkdir"
    ):
        load(raw)
    assert not os.listdir(tmp_path)
    load(raw, weights_only=False)
    assert os.listdir(tmp_path) == ["harm"]


CALLS = [
    b"cbuiltins\nlist\n)R.",
    b"cbuiltins\nint\n(K\x01tR.",
    b"cbuiltins\nbytearray\n(J\xff\xff\xff\x7ftR.",
    b"cbuiltins\ncomplex\n(X\x01\x00\x00\x001tR.",
    b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb.",
    b"ccollections\ndefaultdict\n(cposix\nsystem\ntR.",
    b"ccollections\nCounter\n(K\x05tR.",
    b"ctorch\nSize\n(X\x01\x00\x00\x001tR.",
    b"ctorch\nSize\n)}b.",
    b"cnumpy\ndtype\n(X\x01\x00\x00\x00O\x89\x88tR.",
    b"cnumpy._core.multiarray\n_reconstruct\n(cbuiltins\nset\n(K\x00tC\x01btR.",
    b"ctorch._utils\n_rebuild_tensor_v2\n(NK\x00)(K\x01tK\x01\x89NtR.",
    b"ctorch._utils\n_rebuild_qtensor\n)R.",
    b"ctorch._tensor\n_rebuild_from_type_v2\n(cposix\nsystem\nN)NtR.",
    b"ctorch.serialization\n_get_layout\n(X\x03\x00\x00\x00addtR.",
    b"K\x01K\x02R.",
    b"K\x01K\x02b.",
    b"K\x01K\x02a.",
    b"K\x01K\x02K\x03s.",
    b"NQ.",
    b"h\x07.",
    b"}]K\x01s.",
    b"\x8f(]\x90.",
    b"I12a\n.",
    b"Fx\n.",
    b"X\x01\x00\x00\x00\xff.",
    b"(K\x01.",
    b"K\x01",
    b"K\x01K\x02.",
    b"0.",
    b"\x82\x01.",
    b"\x85.",
    b"I" + b"1" * 5000 + b"\n.",
]


@pytest.mark.parametrize("program", CALLS, ids=repr)
def test_a_pickle_that_asks_for_more(program):
    whole = archive(None)
    with zipfile.ZipFile(io.BytesIO(whole)) as found:
        entries = {entry: found.read(entry) for entry in found.namelist()}
    entries["archive/data.pkl"] = b"\x80\x02" + program
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match="load: "):
        load(zipped(entries))


def zipped(entries, compression=zipfile.ZIP_STORED):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", compression) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return f.getvalue()


def test_keys_are_not_nested_too_deep():
    program = b"\x80\x02)" + b"\x85" * 100_000
    for end in (b"q\x00}h\x00K\x01s.", b"q\x00\x8f(h\x00\x90."):
        with pytest.raises(pickle.UnpicklingError, match="cannot be a key"):
            load(zipped({"a/data.pkl": program + end}))


def test_deep_nesting_is_no_crash():
    raw = zipped({"a/data.pkl": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."})
    found = load(raw)
    for _ in range(99_999):
        (found,) = found
    assert found == []


# ---- what does not fit ----


def parts(obj=None):
    raw = archive([imode.ones(4), imode.arange(3)] if obj is None else obj)
    with zipfile.ZipFile(io.BytesIO(raw)) as found:
        return {entry: found.read(entry) for entry in found.namelist()}


def without(name):
    return {key: value for key, value in parts().items() if key != f"archive/{name}"}


def changed(name, old, new):
    found = parts()
    assert found[f"archive/{name}"].count(old)
    found[f"archive/{name}"] = found[f"archive/{name}"].replace(old, new, 1)
    return found


@pytest.mark.parametrize(
    "entries, message",
    [
        (without("data.pkl"), "no entry 'data.pkl'"),
        (without("data/1"), "no entry 'archive/data/1'"),
        ({**parts(), "archive/constants.pkl": b""}, "a TorchScript archive"),
        ({**parts(), "archive/byteorder": b"middle"}, "an unknown byte order"),
        ({**parts(), "archive/data/0": b"\0" * 15}, "takes 16 bytes, its entry has 15"),
        (changed("data.pkl", b"K\x04\x85", b"K\x05\x85"), "reach out of a storage of 16 bytes"),
        (changed("data.pkl", b"K\x04\x85", b"K\xff\x85"), "reach out of a storage of 16 bytes"),
        (changed("data.pkl", b"K\x01\x85", b"]\x94a\x85"), "load: "),
        (changed("data.pkl", b"FloatStorage", b"LongStorage"), "takes 32 bytes"),
        (changed("data.pkl", b"K\x04t", b"J\xff\xff\xff\xfft"), "a storage that is not described"),
        (changed("data.pkl", b"K\x00K\x04", b"J\xff\xff\xff\xffK\x04"), "offset -1"),
    ],
    ids=range(11),
)
def test_an_archive_that_does_not_fit(entries, message):
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=message) as raised:
        load(zipped(entries))
    assert "load: the file object: " in str(raised.value)


def test_compressed_entries():
    with pytest.raises(RuntimeError, match="is compressed or encrypted"):
        load(zipped(parts(), zipfile.ZIP_DEFLATED))


def test_another_byte_order():
    values = {"f": imode.arange(3.0), "c": imode.ones(2, dtype=imode.complex64) * 1j}
    entries = parts(values)
    for name, word in (("0", 4), ("1", 4)):
        data = np.frombuffer(entries[f"archive/data/{name}"], f"u{word}")
        entries[f"archive/data/{name}"] = data.byteswap().tobytes()
    other = {"little": b"big", "big": b"little"}[sys.byteorder]
    assert told(load(zipped({**entries, "archive/byteorder": other}))) == told(values)
    entries = parts([imode.ones(2, dtype=imode.uint16)])
    with pytest.raises(RuntimeError, match="in another byte order"):
        load(zipped({**entries, "archive/byteorder": other}))


def test_a_bool_that_is_neither():
    entries = parts([imode.ones(2, dtype=imode.bool)])
    entries["archive/data/0"] = b"\x01\x02"
    with pytest.raises(pickle.UnpicklingError, match="neither true nor false"):
        load(zipped(entries))


def test_cut_short_anywhere():
    for raw in (stream([imode.ones(3)]), archive([imode.ones(3)])):
        for count in range(len(raw)):
            with pytest.raises((RuntimeError, pickle.UnpicklingError), match="load: "):
                load(raw[:count])


@pytest.mark.parametrize("seed", range(4))
def test_files_changed_at_random(seed):
    assert 0 < hostile_files.run(150, seed) < 600


def test_memory_is_bounded_by_the_file():
    bombs = [
        b"\x80\x02cbuiltins\nset\nq\x01(" + b"K\x01" * 3000 + b"lq\x02" + b"h\x01h\x02\x85R" * 3000,
        b"\x80\x02]" + b"r\xff\xff\xff\xff" * 10 + b".",
        b"\x80\x02(" + b"2" * 3000 + b".",
        b"\x80\x02\x8e\xff\xff\xff\xff\xff\xff\xff\x00.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
    ]
    for program in bombs:
        raw = zipped({"a/data.pkl": program})
        assert peak_memory(raw) < 200 * len(raw) + 2_000_000
    long = stream([imode.ones(4)]).replace(b"K\x04t", b"\x8a\x05\x00\x00\x00\x00\x01t")
    assert peak_memory(long) < 2_000_000


# ---- writing ----


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    imode.save([imode.ones(2)], path)
    before = path.read_bytes()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        imode.save([imode.ones(2), lambda: None], path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.pt"]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda f: imode.save(1, f, format="tar"), ValueError, "format is 'pytorch' or"),
        (lambda f: imode.save(1, f, pickle_module=io), ValueError, "Python's own pickle"),
        (
            lambda f: imode.save(1, f, _use_new_zipfile_serialization=False),
            ValueError,
            "PyTorch's zip archive",
        ),
        (lambda f: imode.load(f, pickle_module=io), ValueError, "pickle_module is None or pickle"),
        (
            lambda f: imode.serialization.add_safe_globals([3]),
            TypeError,
            "expected classes and functions",
        ),
    ],
)
def test_refused_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(io.BytesIO())


def test_memory_that_begins_between_elements():
    owner = np.frombuffer(bytearray(12), np.uint8, 10, 2)
    array = owner[2:].view(np.float32)
    if not array.flags.aligned:
        array = owner[:8].view(np.float32)
    assert told(load(archive([imode.from_numpy(array)]))) == told([imode.zeros(2)])
