"""Maxima put back to where they were, maxima of windows at random places, and power means.

The kernels are `imode.kernels.networks.pool3d`'s.
"""

from imode import errors, ops
from imode._core.type_names import scalar_name
from imode.kernels.networks import pool, pool3d
from imode.ops.gradient_checks import expect
from imode.ops.networks.pool import at_maxima, expect_nonempty
from imode.ops.pointwise.common import zeros
from imode.ops.schema import functional, op

# ---- back to where the maxima were --------------------------------------------------------------


def _check_unpool(self, indices, output_size, space):
    name = f"max_unpooling{space}d_forward_out_cpu"
    if len(output_size) != space:
        raise RuntimeError(
            f"There should be exactly {('two', 'three')[space - 2]} elements "
            f"({'depth, ' * (space - 2)}height, width) in output_size, but got {len(output_size)}"
        )
    if indices.dtype != "int64":
        found = scalar_name(indices.dtype) if space == 2 else None
        raise RuntimeError(
            "elements in indices should be type int64" + (f" but got: {found}" if found else "")
        )
    if self.ndim not in (space + 1, space + 2):
        raise RuntimeError(
            f"Input to max_unpooling{space}d should be a {space + 1}d or {space + 2}d Tensor, but "
            f"got a tensor with {self.ndim} dimensions."
        )
    if self.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(self.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    for dim in range(1, self.ndim):
        if self.shape[dim] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"got {list(self.shape)} with dimension {dim} being empty."
            )
    if min(output_size) < 0:
        raise errors.shapes.negative_dimension(
            min(output_size), (*self.shape[:-space], *output_size)
        )


def _check_steps(stride, padding):
    if len(stride) != 3:
        raise RuntimeError(
            "There should be exactly three elements (depth, height, width) in stride, but got: "
            f"{len(stride)} elements."
        )
    if len(padding) != 3:
        raise RuntimeError(
            "There should be exactly three elements (depth, height, width) in padding, but got: "
            f"{len(padding)} elements."
        )
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")


_UNPOOL = """Return zeros with the elements of `self` at `indices`, positions in each {of}.

    The reverse of max pooling with `return_indices`. Raises RuntimeError for positions outside of
    `output_size`.

    >>> imode.nn.functional.max_unpool{n}d(imode.ones({ones}), imode.zeros({ones}).long(), 2).sum()
    tensor(1.)
    """


@op(
    "_max_unpool2d(Tensor self, Tensor indices, int[] output_size) -> Tensor",
    derivative={"self": lambda grad, indices: at_maxima(grad, indices, 2)},
    name="MaxUnpool2DBackward0",
)
def _max_unpool2d(self, indices, output_size):
    _check_unpool(self, indices, output_size, 2)
    return pool3d.max_unpool(self, indices, output_size)


@op(
    "_max_unpool3d(Tensor self, Tensor indices, int[] output_size, int[] stride, int[] padding) "
    "-> Tensor",
    derivative={"self": lambda grad, indices: at_maxima(grad, indices, 3)},
    name="MaxUnpool3DBackward0",
)
def _max_unpool3d(self, indices, output_size, stride, padding):
    _check_steps(stride, padding)
    _check_unpool(self, indices, output_size, 3)
    return pool3d.max_unpool(self, indices, output_size)


def _several(value, n):
    return tuple(value) if hasattr(value, "__iter__") else (value,) * n


def _unpooled_size(input, kernel_size, stride, padding, output_size):
    """The sizes: what windows without overlap give, or the given ones if they are near to it."""
    n = len(kernel_size)
    least = [
        (size - 1) * stride[d] + kernel_size[d] - 2 * padding[d]
        for d, size in enumerate(input.shape[input.dim() - n :])
    ]
    if output_size is None:
        for d, size in enumerate(least):
            if size < 0:
                raise ValueError(
                    "max_unpooling: output_size must contain non-negative spatial dimensions, but "
                    f"got output_size[{d}]={size}"
                )
        return tuple(least)
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for d in range(n):
        low, high = least[d] - stride[d], least[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})'
            )
    return tuple(output_size)


def _unpool(n, input, indices, kernel_size, stride, padding, output_size):
    kernel_size = _several(kernel_size, n)
    stride = kernel_size if stride is None else _several(stride, n)
    padding = _several(padding, n)
    size = _unpooled_size(input, kernel_size, stride, padding, output_size)
    if n == 3:
        return ops._max_unpool3d(input, indices, size, stride, padding)
    if n == 2:
        return ops._max_unpool2d(input, indices, size)
    lines = ops._max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1))
    return lines.squeeze(-1)


def _declare_unpool(n, of):
    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        return _unpool(n, input, indices, kernel_size, stride, padding, output_size)

    unpool.__doc__ = _UNPOOL.format(n=n, of=of, ones="1" + ", 1" * n)
    functional(f"max_unpool{n}d")(unpool)


for _n, _of in ((1, "line"), (2, "plane"), (3, "volume")):
    _declare_unpool(_n, _of)


# ---- windows at random places -------------------------------------------------------------------


def _check_fractional(self, kernel_size, output_size, samples, space):
    name = f"fractional_max_pool{space}d"
    several = "" if space == 2 else "three "
    for what, given in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(given) != space:
            raise RuntimeError(
                f"{name}: {what} must either be a single Int or tuple of {several}Ints"
            )
    out = name if space == 2 else f"{name}_out"
    if self.ndim not in (space + 1, space + 2):
        raise RuntimeError(
            f"{out}(): Expected {space + 1}D or {space + 2}D tensor, but got: {list(self.shape)}"
        )
    for dim in range(self.ndim - space - 1, self.ndim):
        if self.shape[dim] == 0:
            raise RuntimeError(
                f"{out}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"got{list(self.shape)} with dimension {dim} being empty."
            )
    if min(kernel_size) < 0 or min(output_size) < 0:
        raise errors.shapes.negative_dimension(min(*kernel_size, *output_size), output_size)
    words = ("time", "height", "width")[3 - space :]
    for d, word in enumerate(words):
        size = self.shape[self.ndim - space + d]
        if output_size[d] + kernel_size[d] - 1 > size:
            raise RuntimeError(
                f"{out}(): pool {word} {kernel_size[d]} too large relative to input {word} {size}"
            )
    _check_samples(self, samples, space)


def _check_samples(self, samples, space):
    if samples.dtype != self.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    n = 1 if self.ndim == space + 1 else self.shape[0]
    if samples.shape[0] < n:
        raise RuntimeError(
            "Expect _random_samples.size(0) no less then input batch size: "
            f"{samples.shape[0]} and {n}"
        )
    if samples.shape[1] != self.shape[-space - 1]:
        raise RuntimeError(
            "Expect _random_samples.size(1) equals to input channel size: "
            f"{samples.shape[1]} and {self.shape[-space - 1]}"
        )
    if samples.shape[2] != space:
        raise RuntimeError(
            f"Expect _random_samples.size(2) equals to {space}; got {samples.shape[2]}."
        )


def _declare_fractional(n):
    name, node = f"_fractional_max_pool{n}d", f"FractionalMaxPool{n}D"

    def kernel(self, kernel_size, output_size, samples):
        _check_fractional(self, kernel_size, output_size, samples, n)
        return pool3d.fractional_max_pool(
            self, kernel_size, output_size, samples, f"{name[1:]}_out_frame"
        )

    def backward(grad, x, indices):
        expect_nonempty(f"{name[1:]}_backward", "grad_output", grad.shape)
        expect(f"{name}_backward", "indices", indices, grad.shape, "int64")
        return pool.max_pool_backward(grad, x, indices, n)

    of_input = op(
        f"{name}_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
        backward,
        derivative={
            "grad_output": lambda grad, indices: at_maxima(grad, indices, n),
            "self": zeros,
        },
        name=f"{node}BackwardBackward0",
    )
    return op(
        f"{name}(Tensor self, int[{n}] kernel_size, int[{n}] output_size, Tensor random_samples) "
        "-> (Tensor result, Tensor result1)",
        kernel,
        derivative={"self": lambda grad, self, result1: of_input(grad, self, result1)},
        shows={"kernel_size": True, "output_size": True},
        name=f"{node}Backward0",
    )


_FRACTIONAL = {n: _declare_fractional(n) for n in (2, 3)}


def _fractional(n, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = output_ratio if n == 2 else _several(output_ratio, n)
        if len(ratios) > n:
            raise ValueError(
                f"{name} requires output_ratio to either be a single Int or tuple of Ints."
            )
        output_size = [
            int(size * ratio)
            for size, ratio in zip(input.shape[input.dim() - n :], ratios, strict=True)
        ]
    if samples is None:
        batch = 1 if input.dim() == n + 1 else input.size(0)
        samples = ops.rand((batch, input.size(-n - 1), n), dtype=input.dtype, device=input.device)
    return _FRACTIONAL[n](input, _several(kernel_size, n), _several(output_size, n), samples)


_FRACTIONAL_DOC = """Return the largest element of windows at random places, `output_size` of them.

    Their distances differ by one, so that they cover the input. `output_ratio`, below 1, gives the
    size as a share of the input's. `return_indices` also gives the positions. Raises RuntimeError
    for windows that do not fit.

    >>> x = imode.arange(4.0 ** {n}).view({shape})
    >>> imode.nn.functional.fractional_max_pool{n}d(x, 2, output_size=1).item()
    {last}
    """


def _publish_fractional(n):
    def both(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        return _fractional(n, input, kernel_size, output_size, output_ratio, _random_samples)

    def largest(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        found = _fractional(n, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    shape = "1" + ", 4" * n
    largest.__doc__ = _FRACTIONAL_DOC.format(n=n, shape=shape, last=4.0**n - 1)
    both.__doc__ = f"""As `fractional_max_pool{n}d`, with the positions in any case.

    >>> x = imode.arange(4.0 ** {n}).view({shape})
    >>> imode.nn.functional.fractional_max_pool{n}d_with_indices(x, 2, output_size=1)[1].item()
    {4**n - 1}
    """
    functional(f"fractional_max_pool{n}d")(largest)
    functional(f"fractional_max_pool{n}d_with_indices")(both)


for _n in (2, 3):
    _publish_fractional(_n)


# ---- power means --------------------------------------------------------------------------------


def _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode):
    if n > 1:
        kernel_size = _several(kernel_size, n)
        if len(kernel_size) != n:
            short = "too many" if len(kernel_size) > n else "not enough"
            raise ValueError(f"{short} values to unpack (expected {n})")
        count = 1
        for size in kernel_size:
            count *= size
    else:
        count = kernel_size
    powers = input.pow(norm_type)
    if stride is None:
        stride = kernel_size
    mean = (ops.avg_pool1d, ops.avg_pool2d, ops.avg_pool3d)[n - 1]
    sums = mean(powers, kernel_size, stride, 0, ceil_mode)
    return (ops.sign(sums) * ops.relu(ops.abs(sums))).mul(count).pow(1.0 / norm_type)


_LP = """Return the sum of the `norm_type`-th powers of each window, to the power 1 / `norm_type`.

    >>> imode.nn.functional.lp_pool{n}d(imode.ones(1, {shape}), 1, 2).item()
    {sum}
    """


def _publish_lp(n):
    def lp_pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        return _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode)

    lp_pool.__doc__ = _LP.format(n=n, shape=", ".join("2" * n), sum=2.0**n)
    functional(f"lp_pool{n}d")(lp_pool)


for _n in (1, 2, 3):
    _publish_lp(_n)
