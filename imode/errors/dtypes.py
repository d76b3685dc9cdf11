"""Dtypes that an operator does not accept, or that do not fit together."""

from imode._core.type_names import name_of, scalar_name


def not_implemented(kernel, dtype):
    """A kernel, given by PyTorch's name, has no loop for a dtype."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")


def found(dtype, expected):
    """An operand has another dtype than the first."""
    return RuntimeError(f"Found dtype {scalar_name(dtype)} but expected {scalar_name(expected)}")


def products(first, second):
    """Two matrices of different dtypes, by their names in C, are multiplied."""
    return RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {first} != {second}")


# The dtype to convert an array to if tensors do not have its own, by NumPy's kind and size.
_CONVERTIBLE = {"f": "float64", "c": "complex128"}
_CONVERTIBLE.update(dict.fromkeys("mM", "int64"), O="float64")


def unsupported_array(descr):
    """An array has a NumPy dtype that tensors cannot have."""
    wanted = _CONVERTIBLE.get(descr.kind) or _CONVERTIBLE.get(f"{descr.kind}{descr.itemsize}")
    advice = f"Convert it: array.astype(numpy.{wanted})" if wanted else "Tensors hold numbers"
    name = "numpy.void" if descr.kind == "V" else name_of(descr.type)
    return TypeError(
        f"can't convert np.ndarray of type {name}. The only supported types are: "
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
        f"uint32, uint16, uint8, and bool. {advice}"
    )


def not_in_numpy(dtype):
    """NumPy has no such dtype."""
    return TypeError(
        f"Got unsupported ScalarType {scalar_name(dtype)}. NumPy has no such dtype: convert it "
        "first, as by float()"
    )


def _word(dtype):
    return dtype if isinstance(dtype, str) else scalar_name(dtype)


# ---- two dtypes that do not fit together; each a dtype, or the word for it ----------------------


def expected_scalar(wanted, found):
    """Two operands should have the same dtype."""
    return RuntimeError(f"expected scalar type {_word(wanted)} but found {_word(found)}")


def cannot_cast(result, target):
    """A result cannot be written as elements of another dtype."""
    return RuntimeError(
        f"result type {_word(result)} can't be cast to the desired output type {_word(target)}\n"
        f"The result is {_word(result)}, what it is written to {_word(target)}, which cannot hold "
        "it: convert that first, with .to(dtype), or take the form that makes a new tensor."
    )


def no_promotion(first, second, eight):
    """Two dtypes have no common one; `eight`: for one is a float of eight bits."""
    kinds = "Float8 Types is" if eight else "uint16, uint32, uint64 types is"
    return RuntimeError(
        f"Promotion for {kinds} not supported, attempted to promote {scalar_name(first)} and "
        f"{scalar_name(second)}. Convert one of them first"
    )


def mixed():
    """The parameters of a norm have other dtypes than its input."""
    return RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


# ---- operators that do not accept a dtype -------------------------------------------------------


def complex_clamp():
    return NotImplementedError("clamp is not supported for complex types")


def bool_hardtanh():
    return RuntimeError("Bool inputs not supported for hardtanh")


def bool_plus():
    return RuntimeError("The `+` operator, on a bool tensor is not supported.")


def bool_minus(what):
    """A difference or a negation of booleans; `what`: the first words."""
    return RuntimeError(
        f"{what} a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
        "or `logical_not()` operator instead."
    )


def norm_of(dtype):
    """A norm of integers or booleans."""
    return RuntimeError(
        "norm(): input dtype should be either floating point or complex. "
        f"Got {scalar_name(dtype)} instead."
    )


_NO_MEAN = "infer output dtype. {} dtype must be either a floating point or complex dtype"


def mean_of(name, given, dtype):
    """A mean of integers or booleans; `given`: whose dtype it is, Input's or the Optional one."""
    return RuntimeError(f"{name}(): could not {_NO_MEAN.format(given)}. Got: {scalar_name(dtype)}")


def masked_mean_of(given, dtype):
    """The same in `masked.mean`."""
    return ValueError(f"mean(): Could not {_NO_MEAN.format(given)}. Got: {dtype}")


def not_the_same(names, first, second):
    """Two factors of a product have different dtypes."""
    return RuntimeError(
        f"{names} must have the same dtype, but got {scalar_name(first)} and "
        f"{scalar_name(second)}\nConvert one with .to(dtype); a layer's weights too: "
        "module.to(dtype)."
    )


def class_indices(dtype):
    """The targets of a loss over classes are not indices."""
    return RuntimeError(
        f"expected target dtype to be Long or Byte, but got {scalar_name(dtype)}\n"
        "Targets of one dimension less than the input are numbers of classes: target.long()."
    )


def not_a_mask(before, dtype):
    """A mask or condition is not boolean; `before`: how the sentence begins."""
    return RuntimeError(
        f"{before} with dtype {dtype}\nMake it one by a comparison, such as mask != 0, or .bool()."
    )


def storage_of_another(given, wanted):
    """A typed storage is of another dtype than the tensor over it, whose name is `wanted`."""
    return RuntimeError(
        f"Expected a Storage of type {wanted} or an UntypedStorage, but got type "
        f"{scalar_name(given)} for argument 1 'storage'. Pass its untyped()."
    )
