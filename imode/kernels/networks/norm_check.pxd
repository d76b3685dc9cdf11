# Checks of the arguments of the normalisations, ndarrays or None. See norm_check.pyx.
cimport numpy as cnp

cdef int check_batch_norm(cnp.ndarray x, weight, bias, running_mean, running_var,
                          bint training) except -1
cdef int check_layer_norm(cnp.ndarray x, tuple shape, weight, bias) except -1
cdef int check_group_norm(cnp.ndarray x, weight, bias, long groups) except -1
