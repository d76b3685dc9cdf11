# What CPython calls for operators, also while function modes are on. See callables.pyx for how.
# Thread rule: with the GIL held.
cdef bint modes_are_on() noexcept                  # function modes, in this thread
