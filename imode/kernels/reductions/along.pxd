# Operators along one dimension that give an index or a whole lane: argmax, softmax, running sums.
# See along.pyx for implementation details.
from numpy cimport npy_intp

cdef extern from "along.h" nogil:
    void imode_softmax_backward_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_softmax_backward_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_log_softmax_backward_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_log_softmax_backward_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_cumsum_f(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_cumsum_d(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_cumsum_l(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_cumprod_f(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_cumprod_d(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_cumprod_l(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_logcumsumexp_f(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_logcumsumexp_d(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
