"""Devices: those that are not there, tensors of several, elements that do not exist."""

from imode.errors.arguments import no_accelerator
from imode.errors.inference import INCOMPATIBLE


def no_backend(name):
    """A device whose name is known and where nothing can be."""
    if name == "privateuseone":
        way = "Give it one: imode.utils.rename_privateuse1_backend(name), imode.backends."
    else:
        way = "Ways out: device='cpu'; imode.backends.array_api(namespace, name) makes a device."
    return NotImplementedError(
        f"Could not run 'aten::empty.memory_format' with arguments from the {name.upper()!r} "
        f"backend. Device {name!r} has no backend here.\n{way}"
    )


def no_pinned_memory():
    """A factory with pin_memory=True."""
    return RuntimeError(
        "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator "
        "is available on this system."
    )


def not_pinned(device):
    """Pinned memory for a device: None is that of the process."""
    if device is None:
        return no_accelerator()
    if device.type in ("cpu", "meta"):
        return RuntimeError(f"{device.type.upper()} device type not an accelerator.")
    return RuntimeError(
        f"Cannot initialize {device.type.upper()} without ATen_{device.type} library."
    )


def mixed(op, expected, found):
    """An operand on another device than the one before it."""
    if "meta" in (expected.type, found.type):
        first = f"Tensor on device {found} is not on the expected device {expected}!"
    else:
        first = (
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{expected} and {found}!"
        )
    return RuntimeError(f"{first}\nIn {op}(). Move one of them: .to({str(expected)!r}).")


def out(op, expected, found):
    """An out= on another device than the operands."""
    return RuntimeError(
        f"Attempting to copy from device {expected} to device {found}, but cross-device copies are "
        f"not allowed!\nIn {op}(out=). Make out= on {expected}."
    )


def no_elements(more=""):
    """Elements were asked of a tensor on meta."""
    return NotImplementedError(f"Cannot copy out of meta tensor; no data!{more}")


def item():
    """The only element was asked of a tensor on meta."""
    return RuntimeError(
        "Tensor.item() cannot be called on meta tensors\nThey have a shape, a dtype and strides "
        "alone. Make the tensor on the device of your data."
    )


def by_values(op):
    """The shape of the result depends on elements, and a tensor on meta has none."""
    return NotImplementedError(
        f"aten::{op}: attempted to run this operator with Meta tensors, but there was no fake impl "
        "or Meta kernel registered.\nWhat it gives depends on the elements, which tensors on meta "
        "do not have."
    )


def interleaved():
    """repeat_interleave on meta, of counts that have no elements."""
    return RuntimeError(
        "cannot repeat_interleave a meta tensor without output_size\nGive output_size=, the number "
        "of elements that the result has."
    )


def no_kernel(op, device):
    """A device without a kernel for an operator, and told not to use the CPU's."""
    return NotImplementedError(
        f"Could not run 'aten::{op}' with arguments from the 'PrivateUse1' backend. "
        f"Device {device!r} has no kernel for it.\n"
        "Ways out: fallback=True, which runs it on the CPU; a kernel of imode.library's; .cpu()."
    )


def falls_back(op, device):
    """The text of a warning: an operator ran on copies on the CPU."""
    return (
        f"The operator 'aten::{op}' is not currently supported on the {device} backend and will "
        "fall back to run on the CPU.\nIts tensors are copied there, and its results back. "
        "imode.backends.coverage() lists those that are."
    )


def _kernel(operator, device, kernel):
    code = getattr(getattr(kernel, "__func__", kernel), "__code__", None)
    where = "" if code is None else f", at {code.co_filename}:{code.co_firstlineno}"
    name = getattr(kernel, "__qualname__", None) or type(kernel).__name__
    return f"the kernel of {operator.qualified_name} on the device {device!r}, {name}{where}"


def in_kernel(operator, device, kernel):
    """The text of a note: a device's kernel raised."""
    return f"In {_kernel(operator, device, kernel)}."


def no_function(operator, device, kernel):
    """What a device gave for the kernel of an operator cannot be called."""
    return TypeError(
        f"the kernel of {operator.qualified_name} on the device {device!r} is no function but "
        f"{type(kernel).__name__}\nBackend.kernel() returns a function of (operator, arguments, "
        "result), or None."
    )


def wrong_elements(operator, device, kernel, problem):
    """A device's kernel did not return the elements of its result."""
    return RuntimeError(
        f"{_kernel(operator, device, kernel)}, {problem}\nIt returns the elements of its result, "
        "in the result's shape and dtype, or NotImplemented."
    )


def to_numpy(device):
    """NumPy was asked for an array over the memory of another device."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


def not_shared(device):
    """A tensor on another device was to be moved to memory that processes share."""
    return RuntimeError(
        f"_share_fd_: only available on CPU\nThe tensor is on {device}: send its cpu()."
    )


def data(expected, found):
    """`.data =` of a tensor on another device."""
    return RuntimeError(
        f"{INCOMPATIBLE}\nThe one is on {expected}, the other on {found}.\n"
        "Ways out: a new tensor; Module.to() for the parameters of a module."
    )


def set_memory(expected, found):
    """`set_` of a storage on another device."""
    return RuntimeError(
        f'Attempted to set the storage of a tensor on device "{expected}" to a storage on '
        f'different device "{found}". This is no longer allowed; the devices must match.\n'
        "A tensor's memory is on its device: t = u, or t.copy_(u), which copies the elements."
    )


def grad(expected, found):
    """`.grad =` of a tensor on another device."""
    return RuntimeError(
        f"attempting to assign a gradient with device type '{found.type}' to a tensor with device "
        f"type '{expected.type}'. Please ensure that the gradient and the tensor are on the same "
        f"device\nx.grad = grad.to({str(expected)!r}) moves it."
    )


def moved_from_meta():
    """A module with parameters on meta was moved to a device."""
    return no_elements(
        " Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module "
        "from meta to a different device."
    )
