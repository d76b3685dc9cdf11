# Which line of the user's program is running. See user_frames.pyx.
# Thread rule: its cache is read and written with the GIL held.
cdef int here() except -1  # the line's number: see provenance.location; 0 outside of Python code
cdef int location_of(object code) except -1  # a function's first line; `here` if not the user's
