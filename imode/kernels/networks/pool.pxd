# Pooling of planes over ndarrays: (n, c, h, w) or (c, h, w). See pool.pyx. These structs live on
# the stack of one call; the GIL is released while the loops run.

ctypedef struct axis_t:       # the windows along one dimension of the planes
    long size                 # the plane's
    long count                # how many windows
    long kernel               # 0: the windows share the plane evenly, and the fields below are 0
    long stride, padding, dilation


ctypedef struct window_t:
    long planes
    axis_t y, x
    bint count_padding        # averages: padding counts as zeros
    long divisor              # averages: divides the sums; 0: the number of elements
