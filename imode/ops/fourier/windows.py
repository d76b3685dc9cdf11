"""Windows: the older functions, `imode.hann_window` and its kin, and what the newer ones call."""

import numpy as np

from imode import errors
from imode._core.dtype import as_numpy
from imode._core.parallel import skipping
from imode._core.type_names import c_name
from imode.kernels.fourier import windows
from imode.ops.creation.create import N_OPTIONS, OPTIONS, allocate, default_float
from imode.ops.schema import op


def _checked(name, length, dtype):
    """The dtype of a window; those that need no formula are found by its length."""
    dtype = as_numpy(dtype) or default_float()
    if dtype.kind in "biu":
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={c_name(dtype)}, "
            "device=cpu, layout=Strided (default), requires_grad=false (default), "
            "pinned_memory=false, memory_format=(nullopt))"
        )
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if length > 1 and dtype.kind == "c":
        raise errors.dtypes.not_implemented("arange_cpu", dtype)
    return dtype


_OVERLOADS = {
    "": "",
    "periodic": ", bool periodic",
    "periodic_alpha": ", bool periodic, float alpha",
    "periodic_alpha_beta": ", bool periodic, float alpha, float beta",
    "beta": ", bool periodic, float beta",
}


def _declare(name, shape, parameters, overloads, doc):
    """Declare a window of a shape that the kernel knows; `parameters`: where none are given."""

    def kernel(window_length, *rest):
        dtype = _checked(name, window_length, rest[-N_OPTIONS])
        periodic, *given = rest[:-N_OPTIONS] or (True,)
        if window_length < 2 or skipping():
            return allocate((window_length,), dtype, np.empty if skipping() else np.ones)
        last = window_length - (not periodic)
        return windows.window(
            shape, window_length, last, (*given, *parameters[len(given) :]), dtype
        )

    for overload in overloads.split(","):
        op(
            f"{name}{'.' * bool(overload)}{overload}(int window_length{_OVERLOADS[overload]}, *, "
            f"{OPTIONS}) -> Tensor",
            kernel,
            fast=windows.fast(shape, parameters),
            differentiable=False,
            variants="function",
            doc=f"""{doc}

    periodic: without the last value, which is the first of the next period. dtype: of floating
    point, the default one unless given. Raises RuntimeError for others and for a negative length.

    >>> imode.{name}(4).shape
    imode.Size([4])
    """,
        )


_declare(
    "hann_window",
    "waves",
    (0.5, 0.5),
    ",periodic",
    "Return the window of Hann: half of 1 - cos(t), t one turn.",
)
_declare(
    "hamming_window",
    "waves",
    (0.54, 0.46),
    ",periodic,periodic_alpha,periodic_alpha_beta",
    "Return the window of Hamming: alpha (0.54) - beta (0.46) * cos(t), t one turn.",
)
_declare(
    "blackman_window",
    "waves",
    (0.42, 0.5, 0.08),
    ",periodic",
    "Return the window of Blackman: 0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t), t one turn.",
)
_declare(
    "bartlett_window",
    "triangle",
    (),
    ",periodic",
    "Return the window of Bartlett: from 0 up to 1 in the middle, and back, in straight lines.",
)
_declare(
    "kaiser_window",
    "kaiser",
    (12.0,),
    ",periodic,beta",
    "Return the window of Kaiser: a Bessel function of a half ellipse of height beta (12).",
)


@op(
    f"_window(str shape, int length, float last, any parameters, *, {OPTIONS}) -> Tensor",
    differentiable=False,
)
def _window(shape, length, last, parameters, dtype, *options):
    """Return the first values of a window of a shape that ends at `last`."""
    return windows.window(shape, length, last, parameters, as_numpy(dtype) or default_float())
