"""Which level of x86-64 the compiled kernels run at."""

cdef extern from *:
    """
    #include "cpu_level.h"

    /* 2 to 4; 0 where nothing chooses. */
    static int cpu_level_number(void) {
    #if IMODE_LEVELS
        return __builtin_cpu_supports("x86-64-v4")   ? 4
               : __builtin_cpu_supports("x86-64-v3") ? 3
                                                     : 2;
    #else
        return 0;
    #endif
    }
    """
    int cpu_level_number() noexcept


def cpu_level():
    """The level as GCC names it, "x86-64-v3" say; None where kernels are compiled for one alone."""
    number = cpu_level_number()
    return f"x86-64-v{number}" if number else None
