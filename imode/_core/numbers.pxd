# Python's numbers; see numbers.pyx.
cpdef int refuse_beyond(number) except -1       # raises for an integer that 64 bits cannot hold
cdef object python_number(object value)         # as one of Python's own types; None: not a number
