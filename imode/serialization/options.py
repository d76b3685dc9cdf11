"""What changes how PyTorch's files are read and written: byte orders, maps of files, data left out.

`register_package` tells on which device a storage is, and how it gets there, as PyTorch's packages
for other devices do.
"""

import enum
import mmap
import sys
import threading

from imode._core.device import device

# ---- settings of the process ---------------------------------------------------------------------


class SourceChangeWarning(Warning):
    """The source of a saved class has changed. Nothing here warns so: no source is saved."""


class LoadEndianness(enum.Enum):
    """The byte order of a file that does not say its own."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_settings = {"endianness": None, "crc32": True, "mmap": mmap.MAP_PRIVATE}


def get_default_load_endianness():
    """Return the byte order that is assumed where a file says none; None: this machine's."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """Set the byte order that is assumed where a file says none, a LoadEndianness or None.

    >>> imode.serialization.set_default_load_endianness(None)
    """
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


def assumed_order():
    """The name of that byte order."""
    order = _settings["endianness"]
    return sys.byteorder if order in (None, LoadEndianness.NATIVE) else order.name.lower()


def get_crc32_options():
    """Return what `set_crc32_options` has set, True at first."""
    return _settings["crc32"]


def set_crc32_options(compute_crc32):
    """Keep whether sums are to be written. They are in any case, so that any program can unzip.

    >>> imode.serialization.set_crc32_options(True)
    """
    _settings["crc32"] = compute_crc32


def get_default_mmap_options():
    """Return how `load` maps files: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return _settings["mmap"]


class set_default_mmap_options:
    """Set how `load(mmap=True)` maps files, for the process or a block.

    With `mmap.MAP_SHARED` what is written to the tensors is written to the file. Raises ValueError
    for another number.

    >>> import mmap
    >>> with imode.serialization.set_default_mmap_options(mmap.MAP_SHARED):
    ...     imode.serialization.get_default_mmap_options() == mmap.MAP_SHARED
    True
    """

    def __init__(self, flags):
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE "
                f"or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = _settings["mmap"]
        _settings["mmap"] = flags

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _settings["mmap"] = self.prev


# ---- data that is left out -----------------------------------------------------------------------

_thread = threading.local()


def skips_data():
    """Whether the thread is in a block of `skip_data`."""
    return getattr(_thread, "skips", False)


class skip_data:
    """For a block, save PyTorch's files with zeros for elements, and load them without elements.

    The file has the place of the elements, which may be written later; tensors that are loaded are
    zeros of the right shapes. `materialize_fake_tensors` changes nothing.

    >>> with imode.serialization.skip_data():
    ...     imode.save(imode.ones(2), "x.pt")
    >>> imode.load("x.pt")
    tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self.before = skips_data()
        _thread.skips = True

    def __exit__(self, *exception):
        _thread.skips = self.before


# ---- devices -------------------------------------------------------------------------------------


def _own_tag(storage):
    return str(storage.device)


def _own_place(storage, location):
    place = device_of(location)
    if place is None or place == storage.device:
        return storage if place is not None else None
    return storage._tensor.to(place).untyped_storage()


_packages = [(10, _own_tag, _own_place)]  # by priority, each before what was registered later


def register_package(priority, tagger, deserializer):
    """Register how storages are told apart by device, and put there: what is below 10 goes first.

    tagger: a function of a storage that gives its location, or None. deserializer: one of a storage
    and a location that gives the storage there, or None.

    >>> imode.serialization.register_package(20, lambda storage: None, lambda storage, at: None)
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def has_packages():
    """Whether any was registered."""
    return len(_packages) > 1


def location_tag(storage):
    """Return where a storage is, as a file says it.

    >>> imode.serialization.location_tag(imode.ones(2).untyped_storage())
    'cpu'
    """
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {_name(storage)}")


def default_restore_location(storage, location):
    """Return a storage where a file says it is. Raises RuntimeError where nothing can put it there.

    >>> imode.serialization.default_restore_location(imode.ones(2).untyped_storage(), "cpu").size()
    8
    """
    for _, _, deserializer in _packages:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"don't know how to restore data location of {_name(storage)} (tagged with {location})"
    )


def _name(storage):
    return f"torch.storage.{type(storage).__name__}"


def device_of(name):
    """Return the device of a location, None where there is none by the name."""
    kind = name.partition(":")[0]
    if kind == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use imode.load with "
            "map_location='cpu' to map your storages to the CPU."
        )
    if kind == "cpu":
        return device("cpu")
    try:
        return device(name)
    except RuntimeError:
        return None
