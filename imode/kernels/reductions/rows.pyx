"""Functions of a row as NumPy gufuncs: sum, logsumexp (n)->(); softmax, log_softmax (n)->(n).

sum serves every dtype: integers and bool add up to int64, float16 in float32.
"""

from numpy cimport import_array, import_ufunc, npy_intp
from imode.kernels.pointwise.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_rows[]

cdef extern from "rows.h" nogil:
    void imode_sum_b(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_sum_e_to_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_sum_b_to_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm2_e_to_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm2_b_to_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_logsumexp_b(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_softmax_b(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_log_softmax_b(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_softmax_f(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_softmax_d(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_log_softmax_f(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_log_softmax_d(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_softmax_e(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_softmax_of_brains(const char*, char*, npy_intp, npy_intp, npy_intp,
                                 npy_intp) noexcept
    void imode_log_softmax_e(const char*, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    void imode_log_softmax_of_brains(const char*, char*, npy_intp, npy_intp, npy_intp,
                                     npy_intp) noexcept

import_array()
import_ufunc()
__all__ = make_all(imode_rows, globals())

brain.sum, brain.logsumexp = imode_sum_b, imode_logsumexp_b
brain.softmax, brain.log_softmax = imode_softmax_b, imode_log_softmax_b
wide_sums.half, wide_sums.brain = imode_sum_e_to_f, imode_sum_b_to_f
wide_norms.half, wide_norms.brain = imode_norm2_e_to_f, imode_norm2_b_to_f
columns.softmax[0], columns.softmax[1] = imode_softmax_f, imode_softmax_d
columns.log_softmax[0], columns.log_softmax[1] = imode_log_softmax_f, imode_log_softmax_d
columns.softmax[2], columns.softmax[3] = imode_softmax_e, imode_softmax_of_brains
columns.log_softmax[2], columns.log_softmax[3] = imode_log_softmax_e, imode_log_softmax_of_brains
