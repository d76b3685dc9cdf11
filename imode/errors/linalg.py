"""Matrices that a factorization does not take, and factorizations that fail."""

from imode._core.type_names import scalar_name


class _LinAlgError(RuntimeError):
    """A matrix is singular or indefinite, or an algorithm does not converge.

    It is `imode.linalg.LinAlgError`; its own name is PyTorch's.
    """

    __module__ = "imode.linalg"


def too_few_dimensions(name, what="A"):
    """What should be a matrix, or a stack of them, has less than two dimensions."""
    return RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")


def no_matrix(name, what="input"):
    """The same, as older operators say it."""
    return RuntimeError(f"{name}: {what} must have at least 2 dimensions.")


def not_served(dtype):
    """What looks at the precision of a dtype takes those of LAPACK alone."""
    return RuntimeError(
        f"This function doesn't handle types other than float and double. Got {scalar_name(dtype)}"
    )


def not_square(name, shape, what="A"):
    """Matrices should be square; `name` ends in ": ", or is empty."""
    return RuntimeError(
        f"{name}{what} must be batches of square matrices, "
        f"but they are {shape[-2]} by {shape[-1]} matrices"
    )


def not_floating(name, dtype):
    """An operator takes floating point and complex numbers alone."""
    return RuntimeError(
        f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(dtype)}"
    )


def low_precision(name, dtype):
    """An operator does not compute in float16."""
    return RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_name(dtype)}")


def other_dtype(name, first, second, names="A and B"):
    """Two operands should have one dtype."""
    return RuntimeError(
        f"{name}: Expected {names} to have the same dtype, but found "
        f"{names.partition(' ')[0]} of type {scalar_name(first)} and "
        f"{names.rpartition(' ')[2]} of type {scalar_name(second)} instead"
    )


def unlike(b, A):
    """The right-hand sides of a system have another dtype than its matrices."""
    return RuntimeError(
        "Expected b and A to have the same dtype, but found b of type "
        f"{scalar_name(b)} and A of type {scalar_name(A)} instead."
    )


# ---- failures, by LAPACK's number; `where` names the operator and the matrix ----

_TOO_MANY = "the input matrix is ill-conditioned or has too many repeated"


def singular(where, info):
    """The matrix has no inverse."""
    return _LinAlgError(
        f"{where}The diagonal element {info} is zero, the inversion could not be completed "
        "because the input matrix is singular."
    )


def unsolvable(where, info):
    """The matrix of a system is singular."""
    return _LinAlgError(f"{where}The solver failed because the input matrix is singular.")


def indefinite(where, info):
    """The matrix is not positive-definite."""
    return _LinAlgError(
        f"{where}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {info} is not positive-definite)."
    )


def no_pivots(too_large):
    """What should be pivots names rows that are not there: from 1 they are counted."""
    bound = "smaller or equal to LU.size(-2)" if too_large else "greater or equal to 1"
    return RuntimeError(
        f"Pivots given to lu_solve must all be {bound}. "
        "Did you properly pass the result of lu_factor?"
    )


def zero_pivot(where, info):
    """The factor U has a zero on its diagonal."""
    return RuntimeError(
        f"{where}U[{info},{info}] is zero and using it on lu_solve would result in a division by "
        "zero. If you still want to perform the factorization, consider calling "
        "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
    )


def zero_block(where, info):
    """The factor D is singular."""
    return RuntimeError(
        f"{where}D[{info},{info}] is zero and using it on ldl_solve would result in a division by "
        "zero. If you still want to perform the factorization, consider calling "
        "linalg.ldl_factor_ex(A)"
    )


def no_singular_values(where, info):
    """The singular values were not found; -4: there was NaN in the matrix."""
    if info < 0:
        return _LinAlgError(
            f"{where}The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        )
    return _LinAlgError(
        f"{where}The algorithm failed to converge because {_TOO_MANY} singular values "
        f"(error code: {info})."
    )


def no_eigenvalues(where, info):
    """The eigenvalues were not found."""
    return _LinAlgError(
        f"{where}The algorithm failed to converge because {_TOO_MANY} eigenvalues "
        f"(error code: {info})."
    )


def not_full_rank(where, info):
    """A driver for least squares needs a matrix of full rank."""
    return _LinAlgError(
        f"{where}The least squares solution could not be computed because the input matrix does "
        f"not have full rank (error code: {info})."
    )
