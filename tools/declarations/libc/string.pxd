"""What imode uses of `libc.string`."""

cdef extern from *:
    # libc.stdlib passes them on.
    ctypedef const char const_char "const char"
    ctypedef const void const_void "const void"

cdef extern from "<string.h>" nogil:
    int memcmp(const void *a, const void *b, size_t size)
    void *memcpy(void *to, const void *source, size_t size)
    void *memmove(void *to, const void *source, size_t size)
    void *memset(void *block, int byte, size_t size)
