# device; see device.pyx. Immutable.

cdef class device:
    cdef readonly str type        # "cpu", "meta", the name of one from outside
    cdef readonly object index    # int or None


cdef device CPU_DEVICE                        # what `as_device` gives for each name of these two
cdef device META_DEVICE
cdef device as_device(object value)           # None, str, int or device -> a usable device
cpdef backend_of(device place)                # what computes there; None: the CPU, meta
