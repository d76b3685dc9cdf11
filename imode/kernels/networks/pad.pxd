# Padding over ndarrays: with a number, mirrored, or with the border's elements. See pad.pyx.

cpdef object constant(x, tuple pad, value)
cpdef object border(x, tuple pad, bint mirrored)
cpdef object border_backward(grad, x, tuple pad, bint mirrored)
