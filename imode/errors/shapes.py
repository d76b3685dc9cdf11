"""Shapes, dimensions, sizes and indices that do not fit."""

import math


def not_broadcast(one, other, dim, a, b):
    """Two shapes do not broadcast: in a dimension of the result their sizes are a and b."""
    return RuntimeError(
        f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
        f"dimension {dim}\nShapes {list(one)} and {list(other)}, put together from the last "
        "dimension on, must have equal sizes there, or 1."
    )


# ---- dimensions ---------------------------------------------------------------------------------


def dim_out_of_range(dim, ndim):
    """A dimension that a tensor of `ndim` dimensions does not have; a scalar counts as 1-dim."""
    bound = ndim or 1
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got "
        f"{dim})"
    )


def no_dimensions(dim):
    """A dimension of a scalar, in an operator where it does not count as 1-dim."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def nothing_to_reduce(where, error=RuntimeError):
    """A reduction of no elements, to one that needs some."""
    return error(
        f"{where}: Expected reduction dim to be specified for input.numel() == 0. "
        "Specify the reduction dim with the 'dim' argument."
    )


def unknown_reduction(reduce):
    """A name that is no reduction of runs or of scattered elements."""
    return RuntimeError(
        f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    )


def repeated_dim(dim):
    return RuntimeError(f"dim {dim} appears multiple times in the list of dims")


def same_diagonal(dim1, dim2):
    return RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


def scalar_sliced():
    return IndexError("slice() cannot be applied to a 0-dim tensor.")


# ---- sizes --------------------------------------------------------------------------------------


def negative_dimension(size, shape):
    """One of the sizes of a shape is negative."""
    return RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")


def negative_length():
    return RuntimeError("narrow(): length must be non-negative.")


def too_many_elements(more=""):
    """A number of elements beyond 64 bits; `more`: the text that follows."""
    return RuntimeError(f"numel: integer multiplication overflow{more}")


def no_memory(nbytes):
    """More bytes than there are."""
    return RuntimeError(
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes. Error "
        "code 12 (Cannot allocate memory)"
    )


def storage_overflow(shape, strides=None, more=""):
    """A number of bytes beyond 64 bits."""
    strided = "" if strides is None else f" and strides={list(strides)}"
    return RuntimeError(
        f"Storage size calculation overflowed with sizes={list(shape)}{strided}{more}"
    )


def two_inferred(start=""):
    """A shape with two sizes of -1; `start`: the line before."""
    return RuntimeError(f"{start}only one dimension can be inferred")


def invalid_size(shape, index, start=""):
    """A shape with a size below -1 at `index`."""
    return RuntimeError(
        f"{start}invalid shape dimension {shape[index]} at index {index} of shape {list(shape)}"
    )


def ambiguous_size(shape, start=""):
    """A shape without elements, with a size of -1."""
    return RuntimeError(
        f"{start}cannot reshape tensor of 0 elements into shape {list(shape)} because the "
        "unspecified dimension size -1 can be any value and is ambiguous"
    )


# ---- indices ------------------------------------------------------------------------------------


def no_index():
    return IndexError("at least one index must be provided")


def too_many_indices(ndim, count):
    return IndexError(f"too many indices for tensor of dimension {ndim} (got {count})")


def index_out_of_bounds(index, dim, size):
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def index_out_of_range(op, index, dim, size):
    """An index is none of the places of a dimension."""
    return IndexError(
        f"index out of range in self\n{op}: index {index}, where dimension {dim} has size {size}: "
        + _places(size)
    )


def _places(size):
    return f"indices are 0 to {size - 1}." if size else "there is nothing to index."


def target_out_of_bounds(target, classes):
    """A loss's target is the number of no class."""
    return IndexError(
        f"Target {target} is out of bounds.\n"
        f"The input has {classes} classes: targets are 0 to {classes - 1}, or ignore_index."
    )


def class_of_one_hot(largest, num_classes):
    """A class has no place among `num_classes`."""
    return RuntimeError(
        "Class values must be smaller than num_classes.\n"
        f"The largest class is {largest}, num_classes is {num_classes}: give {largest + 1} or more."
    )


def invalid_view(size, numel):
    """A shape does not hold as many elements as the tensor has."""
    first = f"shape '{list(size)}' is invalid for input of size {numel}"
    if any(n < 0 for n in size):
        rest = -math.prod(size)
        return RuntimeError(f"{first}\nNothing in the place of -1 makes {numel} out of {rest}s.")
    return RuntimeError(
        f"{first}\nThe shape holds {math.prod(size)} elements, the tensor has {numel}; "
        "-1 in one place stands for what fits."
    )


def cannot_multiply(one, other):
    """The inner sizes of two matrices, by their shapes, differ."""
    first = "x".join(map(str, one)), "x".join(map(str, other))
    hint = ": transpose one of them with .mT" if one[1] == other[1] or one[0] == other[0] else ""
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({first[0]} and {first[1]})\n"
        f"The columns of the first, {one[1]}, must be as many as the rows of the second, "
        f"{other[0]}{hint}."
    )


def selected_k(k, dim, size):
    """More elements are asked for than a dimension has."""
    return RuntimeError(
        f"selected index k out of range\ntopk: k is {k}, dimension {dim} has {size} elements."
    )


def sizes_of_join(dim, wanted, found, number, at):
    """Tensors to join differ elsewhere than in the dimension they are joined in."""
    return RuntimeError(
        f"Sizes of tensors must match except in dimension {dim}. Expected size {wanted} but got "
        f"size {found} for tensor number {number} in the list.\n"
        f"They differ in dimension {at}: cat(..., dim={at}) would join them there."
    )


def selected_from_nothing():
    return RuntimeError("index_select(): self indexing axis dim should be positive")


# ---- Fourier transforms -------------------------------------------------------------------------


def no_points(n):
    """A transform of so few numbers."""
    return RuntimeError(f"Invalid number of data points ({n}) specified")


def repeated_axis():
    """A dimension is transformed twice."""
    return RuntimeError("FFT dims must be unique")


def no_axis(name):
    """A transform of real numbers has no dimension for its half."""
    return RuntimeError(f"{name} must transform at least one axis")


# ---- layers and losses --------------------------------------------------------------------------


def no_rows():
    """The input of a loss over classes is a scalar."""
    return ValueError("Expected 1 or more dimensions (got 0)")


def several_targets():
    """A loss has more than one target for each row."""
    return RuntimeError("0D or 1D target tensor expected, multi-target not supported")


def total_length(given, longest, kind):
    """Sequences are to be filled up to less than the longest has."""
    return kind(
        "Expected total_length to be at least the length of the longest sequence in input, but got "
        f"total_length={given} and max sequence length being {longest}"
    )


def batch_sizes(shape, target_shape):
    """A loss has more or fewer inputs than targets; a scalar target counts as 0 targets."""
    found = target_shape[0] if target_shape else 0
    return ValueError(
        f"Expected input batch_size ({shape[0]}) to match target batch_size ({found})."
    )


def target_size(shape, target_shape, refused=False):
    """The text, mostly of a warning, about a loss whose input and target have different shapes."""
    broadcast = ". This will likely lead to incorrect results due to broadcasting."
    return (
        f"Using a target size (imode.Size({list(target_shape)})) that is different to the input "
        f"size (imode.Size({list(shape)})){' is deprecated.' if refused else broadcast} "
        "Please ensure they have the same size."
    )


def needs_channels(ndim):
    """The input of batch_norm has no channel dimension."""
    return RuntimeError(f"Expected at least 2 dimensions for input tensor but received {ndim}")


def output_too_small(given, found):
    """Windows of which none fits into the input; both ends in PyTorch's words."""
    return RuntimeError(
        f"Given input size{given}. Calculated output size{found}. Output size is too small"
    )


def empty_part(kernel, name, shape, dim):
    """Of adaptive windows: only the batch may be empty."""
    return RuntimeError(
        f"{kernel}(): Expected {name} to have non-zero size for non-batch dimensions, but {name} "
        f"has sizes {list(shape)} with dimension {dim} being empty"
    )


def zero_divisor():
    return RuntimeError("divisor must be not zero")


def flat_weight():
    """The weight of a convolution has no spatial dimension."""
    return RuntimeError("weight should have at least three dimensions")


# ---- layers -------------------------------------------------------------------------------------


def not_the_groups():
    return RuntimeError("Expected X.numel() == N * C * HxW to be true, but got false.")


def not_to_pad(n, shape):
    """Of padding by the border, over n dimensions."""
    return RuntimeError(
        f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other "
        f"non-zero dimensions for input, but got: {list(shape)}"
    )


def no_batch(name, n, shape):
    """The input of a layer over n dimensions has neither these nor a batch's."""
    return RuntimeError(
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of "
        f"size: {shape}"
    )


def not_of_runs(shape, expected):
    """A gradient or result of segment_reduce that does not fit its runs."""
    return RuntimeError(
        f"_segment_reduce_backward(): grad_output and output have one element for each run: "
        f"expected sizes {expected}, got {shape}"
    )


def uninitialized():
    """The shape of a lazy module's parameter or buffer that has none yet."""
    return RuntimeError(
        "Can't access the shape of an uninitialized parameter or buffer. It gets one when its "
        "module's `forward` runs for the first time, or by `materialize(shape)`: run the module "
        "once before its state is loaded into another, or compared."
    )


def less_than_sizes(sizes):
    """More sizes of an output than a tensor has dimensions, one of which is for the channels."""
    return ValueError(f"Input dimension should be at least {len(sizes) + 1}")
