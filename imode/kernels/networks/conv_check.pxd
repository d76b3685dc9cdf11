# What a convolution computes: its sizes, filled in from the arguments, and their checks. See
# conv_check.pyx. The struct lives on the stack of one call.
#
# A transposed convolution is the gradient of one by its input: its result is the `input` here, and
# what it is given the `output`. `rest`: (stride, padding, dilation, transposed, output_padding,
# groups), the last six arguments of the operator.

cimport numpy as cnp

cdef extern from "_conv.h" nogil:
    ctypedef struct conv_t:
        long n, c, d, h, w                            # input: batch, channels, depth, height, width
        long oc, kd, kh, kw                           # output channels; the kernel's size
        long od, oh, ow                               # the output's size
        long sd, sh, sw                               # stride
        long front, back, top, bottom, left, right    # zero padding; negative: cropping
        long dd, dh, dw                               # dilation
        long groups

# Fill in p from a batched input and a matching weight; a result that cannot be has no elements.
cdef int geometry(conv_t* p, cnp.ndarray x, cnp.ndarray w, tuple rest) except -1
# The same, with all checks of shapes and numbers, and of dtypes, with PyTorch's messages.
cdef int checked_geometry(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias, tuple rest) except -1
cdef int check_dtypes(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias, bint transposed) except -1
# Whether PyTorch uses its other library: with other messages for mistakes, and, of volumes, results
# with channels last.
cdef bint by_other_library(cnp.ndarray x, cnp.ndarray w, long groups) noexcept
# The sizes of the result; dims holds five.
cdef int result_dims(const conv_t* p, int ndim, bint transposed, cnp.npy_intp* dims) noexcept
