# device; see device.pyx. Immutable.

cdef class device:
    cdef readonly str type        # "cpu"
    cdef readonly object index    # int or None


cdef device as_device(object value)           # None, str, int or device -> a usable device
