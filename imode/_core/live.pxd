# Counts live objects, in debug builds only: each module that cimports this counts one class.
# Thread rule: counted with the GIL held.
cdef extern from "live.h":
    void born "imode_born"() noexcept
    void died "imode_died"() noexcept
    object alive "imode_alive"()                        # their number; None in release builds
    void count_deaths "imode_count_deaths"(object cls)  # of a class without a destructor
