"""Settings of files, devices of storages, names that are refused: beside PyTorch's."""

import fractions
import io
import mmap

import pytest

from .side_by_side import agrees, error


@agrees
def test_settings(lib):
    s = lib.serialization
    seen = [s.get_crc32_options(), s.get_default_load_endianness(), s.get_default_mmap_options()]
    s.set_crc32_options(False)
    s.set_default_load_endianness(s.LoadEndianness.BIG)
    seen += [s.get_crc32_options(), s.get_default_load_endianness().name]
    s.set_crc32_options(True)
    s.set_default_load_endianness(None)
    with s.set_default_mmap_options(mmap.MAP_SHARED):
        seen.append(s.get_default_mmap_options())
    seen += [s.get_default_mmap_options(), [(e.name, e.value) for e in s.LoadEndianness]]
    seen += [error(lambda: s.set_default_load_endianness(3))]
    seen += [issubclass(s.SourceChangeWarning, Warning)]
    return [*seen, error(lambda: s.set_default_mmap_options(7))]


@agrees
def test_locations(lib):
    s = lib.serialization
    storage = lib.ones(2).untyped_storage()
    seen = [s.location_tag(storage), s.location_tag(lib.ones(2, device="meta").untyped_storage())]
    restored = s.default_restore_location(storage, "meta")
    seen += [str(restored.device), restored.size()]
    seen += [s.default_restore_location(storage, "cpu") is storage]
    for name in ("nowhere", "cuda:0"):
        seen.append(error(lambda name=name: s.default_restore_location(storage, name)))
    return seen


@agrees
def test_packages(lib):
    s, asked = lib.serialization, []
    registry = getattr(s, "_package_registry", None)
    if registry is None:
        registry = __import__("imode.serialization.options", fromlist=["_packages"])._packages
    before = list(registry)
    try:
        s.register_package(1, lambda st: "elsewhere", lambda st, at: asked.append(at))
        s.register_package(2, lambda st: None, lambda st, at: st if at == "elsewhere" else None)
        file = io.BytesIO()
        options = {} if lib.__name__ == "torch" else {"format": "pytorch"}
        lib.save([lib.ones(2), lib.arange(3)], file, **options)
        file.seek(0)
        found = lib.load(file)
        file.seek(0)
        again = lib.load(file, map_location="cpu")
    finally:
        registry[:] = before
    file.seek(0)
    return [found, again, asked, error(lambda: lib.load(file))[0]]


class Unknown:
    pass


@agrees
def test_names_refused(lib):
    s, seen = lib.serialization, []
    options = {} if lib.__name__ == "torch" else {"format": "pytorch"}
    for what in ({"a": lib.ones(2)}, [Unknown(), fractions.Fraction(1, 2), lib.nn.Linear(1, 1)]):
        file = io.BytesIO()
        lib.save(what, file, **options)
        file.seek(0)
        seen.append(sorted(s.get_unsafe_globals_in_checkpoint(file)))
        with s.safe_globals([fractions.Fraction]):
            file.seek(0)
            seen.append(sorted(s.get_unsafe_globals_in_checkpoint(file)))
    return [*seen, error(lambda: s.get_unsafe_globals_in_checkpoint(io.BytesIO(b"abc")))]


@agrees
def test_data_left_out(lib):
    s, file, whole = lib.serialization, io.BytesIO(), io.BytesIO()
    x = lib.arange(6.0).view(2, 3)
    with s.skip_data():
        lib.save({"x": x, "part": x[1]}, file)
    lib.save({"x": x}, whole, **({} if lib.__name__ == "torch" else {"format": "pytorch"}))
    for f in (file, whole):
        f.seek(0)
    loaded = lib.load(file)
    with s.skip_data():
        shapes = lib.load(whole)
    loaded["x"][1] = 1
    return [loaded["x"], loaded["part"], str(shapes["x"].shape)]


@pytest.mark.parametrize("library", ["lib", "torch"])
def test_shared_maps(request, tmp_path, library):
    lib = request.getfixturevalue(library)
    path = tmp_path / "x.pt"
    lib.save(lib.ones(3), path)
    for flags, kept in ((mmap.MAP_PRIVATE, 1), (mmap.MAP_SHARED, 5)):
        with lib.serialization.set_default_mmap_options(flags):
            lib.load(path, mmap=True).fill_(5)
        assert lib.load(path).tolist() == [kept] * 3
