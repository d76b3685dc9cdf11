"""What operators on matrices look at before they compute, and after it."""

import numpy as np

from imode import errors
from imode._core.broadcast import broadcast_shape
from imode._core.elsewhere import elements_of
from imode._core.internals import array_of
from imode._core.parallel import skipping
from imode.ops.schema import Out

SERVED = "fdFD"  # NumPy's characters of the dtypes that LAPACK has


def castable(who, *results, **words):
    """What out= may be where PyTorch casts the results, and refuses others by this name."""
    says = tuple(
        f"{who}: Expected {result} to be safely castable from {{Wanted}} dtype, "
        f"but got {result} with dtype {{Found}}"
        for result in results or ("result",)
    )
    return Out(says=says if results else says[0], **words)


def of(tensor):
    """What the checks look at: an ndarray, or of a tensor its shape and dtype."""
    return tensor if isinstance(tensor, np.ndarray) else array_of(tensor)


def matrices(a, name, what="A"):
    """Refuse what has less than two dimensions."""
    if a.ndim < 2:
        raise errors.linalg.too_few_dimensions(name, what)


def square(a, name, what="A"):
    """Refuse what is no square matrix, or stack of such."""
    matrices(a, name, what)
    if a.shape[-1] != a.shape[-2]:
        raise errors.linalg.not_square(f"{name}: " if name else "", a.shape, what)


def floating(a, name, low=True):
    """Refuse integers; float16 too, unless `low`."""
    if a.dtype.kind not in "fc":
        raise errors.linalg.not_floating(name, a.dtype)
    if not low and a.dtype.char == "e":
        raise errors.linalg.low_precision(name, a.dtype)


def served(a, kernel):
    """Refuse dtypes that LAPACK does not have, in the name of PyTorch's kernel."""
    if a.dtype.char not in SERVED:
        raise errors.dtypes.not_implemented(kernel, a.dtype)


def same_dtype(a, b, name, names="A and B"):
    """Refuse two operands of different dtypes."""
    if a.dtype != b.dtype:
        raise errors.linalg.other_dtype(name, a.dtype, b.dtype, names)


def spread(*stacks, core=2):
    """The stacks, each of matrices, as views with their first dimensions broadcast."""
    batch = broadcast_shape(*[x.shape[: x.ndim - core] for x in stacks])
    return [np.broadcast_to(x, (*batch, *x.shape[x.ndim - core :])) for x in stacks]


def completed(info, name, error):
    """Raise where LAPACK's `info`, of one matrix or of a stack, says that one has failed.

    `error`: a function in `errors.linalg`.
    """
    if skipping() or not info.any():
        return
    if info.ndim == 0:
        raise error(f"{name}: ", int(info))
    first = int(np.flatnonzero(info)[0])
    raise error(f"{name}: (Batch element {first}): ", int(info.reshape(-1)[first]))


def array(tensor):
    """The ndarray of a tensor of infos; on meta they are zeros: nothing has failed."""
    return array_of(tensor) if tensor.is_meta else elements_of(tensor)
