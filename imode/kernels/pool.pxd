# Pooling of planes over ndarrays: (n, c, h, w) or (c, h, w). See pool.pyx. What is described here
# lives for one call, on its stack; the GIL is released while the loops run.

ctypedef struct axis_t:       # the windows along one dimension of the planes
    long size                 # of the plane
    long count                # of windows
    long kernel               # 0: the windows share the plane evenly, and what follows is 0
    long stride, padding, dilation


ctypedef struct window_t:
    long planes
    axis_t y, x
    bint count_padding        # averages: padding counts as zeros
    long divisor              # averages: what sums are divided by; 0: how many there were


cpdef tuple max_pool2d(x, tuple kernel, tuple stride, tuple padding, tuple dilation, bint ceil)
cpdef object max_pool2d_backward(grad, x, indices)
cpdef object avg_pool2d(
    x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor)
cpdef object avg_pool2d_backward(
    grad, x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor)
cpdef object adaptive_avg_pool2d(x, tuple size)
cpdef object adaptive_avg_pool2d_backward(grad, x)
cpdef tuple adaptive_max_pool2d(x, tuple size)
