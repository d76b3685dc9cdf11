# Where the running Python code is. See places.pyx.
cdef int here() except -1  # the place of the caller's line; 0 outside of Python code
cdef int users_line() except -1  # the place of the nearest line that is not this package's
