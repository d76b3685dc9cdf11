"""Numbers that do not fit into 64 bits or a dtype, and probabilities out of range."""


def beyond_64_bits():
    return ValueError("Overflow when unpacking long long")


def too_large(more=""):
    return OverflowError(f"int too big to convert{more}")


def too_small(more=""):
    return OverflowError(f"can't convert negative int to unsigned{more}")


def does_not_fit(c_type, more=""):
    """A value that a type, as C names it, cannot hold."""
    return RuntimeError(f"value cannot be converted to type {c_type} without overflow{more}")


def several_elements(more=""):
    """A number was asked of a tensor with several elements."""
    return ValueError(f"only one element tensors can be converted to Python scalars{more}")


def dropout_probability(p, kind=ValueError):
    return kind(f"dropout probability has to be between 0 and 1, but got {p}")


def margin_power():
    return ValueError("only p == 1 and p == 2 supported")


def bernoulli_probability():
    return RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


def multinomial_sum():
    return RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def normal_deviation(std):
    """A negative standard deviation."""
    return RuntimeError(f"normal expects std >= 0.0, but found std {std}")
