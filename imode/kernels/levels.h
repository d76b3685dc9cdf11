/* Which vector instructions the machine has, and names for loops that are compiled once for each.

   A C file includes its loops, a header, once per element type and level, inside of a target pragma
   where CHOOSE is 1; the header names its functions NAME(x), x with the suffix of the combination. */
#ifndef IMODE_LEVELS_H
#define IMODE_LEVELS_H

#include "cpu_level.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(x, SUFFIX)

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define BYTES 16 /* of a vector on any machine */
#else
#define INLINE static inline
#define NOINLINE static
#define BYTES 0  /* no vector types: scalar tiles */
#endif

#if IMODE_LEVELS
#define CHOOSE 1

/* 0: any machine, 1: AVX2 and FMA, 2: AVX-512 */
static int level(void)
{
    static int known = -1;
    if (known < 0) {
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
            known = 2;
        else
            known = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    return known;
}
#else
#define CHOOSE 0
#endif

#endif
