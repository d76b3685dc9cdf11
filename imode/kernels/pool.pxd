# Pooling of planes over ndarrays: (n, c, h, w) or (c, h, w). See pool.pyx.

ctypedef struct window_t:
    long planes, h, w         # input planes and their size
    long oh, ow               # output size
    long kh, kw, sh, sw       # kernel, stride
    long ph, pw, dh, dw       # padding, dilation


cpdef tuple max_pool2d(x, tuple kernel, tuple stride, tuple padding, tuple dilation, bint ceil)
cpdef object max_pool2d_backward(grad, x, indices)
cpdef object avg_pool2d(
    x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor)
cpdef object avg_pool2d_backward(
    grad, x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor)
cpdef object adaptive_avg_pool2d(x, tuple size)
cpdef object adaptive_avg_pool2d_backward(grad, x)
cpdef tuple adaptive_max_pool2d(x, tuple size)
