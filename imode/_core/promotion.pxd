# PyTorch's type promotion; see promotion.pyx. Dtypes are Codes.
from imode._core.dtype cimport NO_DTYPE

ctypedef struct ResultType:   # operands seen so far, by how strongly they promote
    int dim                   # Code of the tensors with dimensions; NO_DTYPE: none yet
    int zero                  # Code of the 0-dim tensors
    int wrapped               # Code of the Python numbers
    bint unsigned             # one of the numbers needs 64 bits unsigned


cdef inline ResultType no_operands() noexcept nogil:
    cdef ResultType state
    state.dim = state.zero = state.wrapped = NO_DTYPE
    state.unsigned = False
    return state


cdef void add_tensor(ResultType* state, int code, int nd) noexcept
cdef int add_number(ResultType* state, object number) except -1

# The common dtype of all operands added to a ResultType; no operator decides it elsewhere.
# `result_type` is the same for Python. `floating`: integers compute in the default float dtype.
cdef int result_code(ResultType* state, bint floating) except -2
cdef int promote(int a, int b) noexcept nogil           # the common dtype of two tensors
cdef int refuse_promotion(int undefined) except -1      # raises where `promote` found none
cdef bint casts(int source, int target) noexcept        # whether an out= of `target` takes `source`
