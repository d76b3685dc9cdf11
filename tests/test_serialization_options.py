"""Settings of PyTorch's files that only tests without PyTorch look at."""

import io
import sys
import zipfile

import pytest

import imode
from imode.serialization import LoadEndianness, set_default_load_endianness


def test_the_order_that_is_assumed():
    file, without = io.BytesIO(), io.BytesIO()
    imode.save(imode.arange(3), file, format="pytorch")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(without, "w") as new:
        for entry in old.infolist():
            if not entry.filename.endswith("byteorder"):
                new.writestr(entry.filename, old.read(entry))
    other = LoadEndianness.BIG if sys.byteorder == "little" else LoadEndianness.LITTLE
    for order, second in ((None, 1), (LoadEndianness.NATIVE, 1), (other, 1 << 56)):
        set_default_load_endianness(order)
        try:
            without.seek(0)
            assert imode.load(without)[1].item() == second
        finally:
            set_default_load_endianness(None)


def test_names_of_newer_pickles():
    file = io.BytesIO()
    imode.save([imode.nn.Linear(1, 1), imode.nn.ReLU(), imode.nn.Tanh()], file, None, 4,
               format="pytorch")  # fmt: skip
    file.seek(0)
    names = imode.serialization.get_unsafe_globals_in_checkpoint(file)
    assert [name.rpartition(".")[2] for name in names] == ["ReLU", "Tanh", "Linear"]


def test_an_archive_of_something_else():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "b")
    file.seek(0)
    with pytest.raises(ValueError, match="Expected input to be a checkpoint"):
        imode.serialization.get_unsafe_globals_in_checkpoint(file)
