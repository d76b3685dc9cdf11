# Which line of the user's program is running. See places.pyx.
# Thread rule: what it remembers of callers is read and written with the GIL held.
cdef int here() except -1  # its place, a small integer: see origins.place; 0 outside of Python code
cdef int place_of(object code) except -1  # of a function's first line; `here` if not the user's
