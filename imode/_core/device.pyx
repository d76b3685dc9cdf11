"""Where a tensor lives: the CPU, "meta" (shapes alone), or a device from outside."""
cimport cython
from imode._core.dispatch cimport pop_device, push_device

from imode import errors

cdef str _NAMES_PYTORCH_KNOWS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone")
cdef set _ELSEWHERE = set(_NAMES_PYTORCH_KNOWS.split(", ")) - {"cpu", "meta", "privateuseone"}

# Devices from outside: name -> its backend, or None for a name without one. Changed with the GIL
# held. A tensor of such a device keeps its backend alive, see `_core/elsewhere`.
cdef dict _outside = {"privateuseone": None}


def add_device(str name not None, backend):
    """Make a name one of a device, or give a device that is there its backend."""
    if name in _ELSEWHERE or name in ("cpu", "meta") or not name.isidentifier():
        raise RuntimeError(f"add_device(): {name!r} cannot be the name of a device from outside")
    _outside[name] = backend


def remove_device(str name not None):
    """Take a device's name back; tensors that live there keep their backend."""
    _outside.pop(name, None)


def devices_from_outside():
    """The names of the devices from outside, with their backends: a copy of the dict."""
    return dict(_outside)


@cython.binding(False)
@cython.final
cdef class device:
    """Where a tensor lives: "cpu", "meta" for shapes without elements, or a device from outside.

    PyTorch's other device names are accepted here, but raise where a tensor would have to be
    created on them. As a `with` block it is the device of what factories make in it.

    >>> import imode
    >>> imode.device("cpu:0")
    device(type='cpu', index=0)
    >>> with imode.device("meta"):
    ...     imode.zeros(2, 3)
    tensor(..., device='meta', size=(2, 3))
    """

    def __init__(self, type, index=None):
        if isinstance(type, device):
            self.type, self.index = (<device>type).type, (<device>type).index
            return
        if isinstance(type, int) and index is None:
            type = "cuda:" + str(type)
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if name not in ("cpu", "meta") and name not in _outside and name not in _ELSEWHERE:
            raise RuntimeError(
                f"Expected one of {_NAMES_PYTORCH_KNOWS} device type at start of device string: "
                f"{name}" + _registered())
        if colon:
            if index is not None:
                raise RuntimeError(
                    "type (string) must not include an index because index was passed "
                    f"explicitly: {type}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        elif index is not None and (not isinstance(index, int) or index < 0):
            raise RuntimeError(f"Device index must be a non-negative int, got {index!r}")
        self.type, self.index = name, index

    def __eq__(self, other):
        if not isinstance(other, device):
            return NotImplemented
        return self.type == (<device>other).type and self.index == (<device>other).index

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return device, (self.type, self.index)

    def __enter__(self):
        push_device(as_device(self))
        return self

    def __exit__(self, *exc_info):
        pop_device()


cdef str _registered():
    names = [name for name in _outside if name != "privateuseone"]
    return f"\nDevices from outside that are there now: {', '.join(names)}." if names else (
        "\nNo device from outside is registered: see imode.backends.array_api().")


cdef device CPU_DEVICE = device("cpu")
cdef device META_DEVICE = device("meta")


cdef device as_device(object value):
    """The device to create a tensor on; raises unless tensors can be there."""
    cdef device place
    if value is None:
        return CPU_DEVICE
    if type(value) is int and value < 0:
        raise RuntimeError("Device index must not be negative")
    place = value if isinstance(value, device) else device(value)
    if place.type == "cpu":
        return CPU_DEVICE
    if place.type == "meta":
        return META_DEVICE
    if place.type == "cuda" and isinstance(value, int):
        raise errors.arguments.no_accelerator()
    backend = _outside.get(place.type)
    if backend is not None:
        if place.index:
            raise RuntimeError(
                f"{place.type}: there is one such device, of index 0, and not {place.index}")
        return place if place.index == 0 else device(place.type, 0)
    if place.type == "cuda":
        raise AssertionError(
            "Torch not compiled with CUDA enabled\nimode's tensors live on device('cpu')")
    raise errors.devices.no_backend(place.type)


def usable_device(value):
    """The device that a string or device names; raises unless tensors can be created there."""
    return as_device(value)


cpdef backend_of(device place):
    """The backend of a device from outside; None for the CPU and meta."""
    return _outside.get(place.type)

# ---- the class's name is the public one ----

cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


_rename(device, "imode.device")
