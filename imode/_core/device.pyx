"""Where a tensor lives: on the CPU."""
cimport cython

from imode import errors

cdef str _NAMES_PYTORCH_KNOWS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone")
cdef tuple _DEVICE_TYPES = ("cpu", "cuda", "meta", "mps", "xpu")


@cython.binding(False)
@cython.final
cdef class device:
    """Where a tensor lives: always `device("cpu")`. PyTorch's other device names are accepted here,
    but raise where a tensor would have to be created on them.

    >>> import imode
    >>> imode.device("cpu:0")
    device(type='cpu', index=0)
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
        if name not in _DEVICE_TYPES:
            raise RuntimeError(
                f"Expected one of {_NAMES_PYTORCH_KNOWS} device type at start of device string: "
                f"{name}")
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


cdef device CPU_DEVICE = device("cpu")


cdef device as_device(object value):
    """The device to create a tensor on; raises unless it is the CPU."""
    cdef device place
    if value is None:
        return CPU_DEVICE
    if type(value) is int and value < 0:
        raise RuntimeError("Device index must not be negative")
    place = value if isinstance(value, device) else device(value)
    if place.type == "cuda" and isinstance(value, int):
        raise errors.arguments.no_accelerator()
    if place.type == "cuda":
        raise AssertionError(
            "Torch not compiled with CUDA enabled\nimode's tensors live on device('cpu')")
    if place.type != "cpu":
        raise NotImplementedError(
            f"Could not make a tensor on device {str(place)!r}; tensors live on device('cpu')")
    return CPU_DEVICE


def usable_device(value):
    """The device that a string or device names; raises unless tensors can be created there."""
    return as_device(value)


# ---- the class's name is the public one ----

cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


_rename(device, "imode.device")
