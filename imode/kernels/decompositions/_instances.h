/* Includes LOOPS, a header, once for each element type and instruction set, after _padded_rows.h. PICK(name, type)
   is then the function of the set that the machine has. */

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "levels.h"

#define UNROLL _Pragma("GCC unroll 8")
#define SWAP(type, a, b)     \
    do {                     \
        const type kept = a; \
        a = b;               \
        b = kept;            \
    } while (0)

#define T float
#define EPSILON (FLT_EPSILON / 2.0) /* half the distance from 1 to the next number */
#define TINY FLT_MIN
#define MOST 0x1p60                 /* of an element of a vector while it is computed */
#define SMALL_SQUARE 1e-30          /* below it, squares may have been too small for the type */
#define LARGE_FACTOR 0x1p60
#define LANES 4
#define SUFFIX float_any
#include "_padded_rows.h"
#include LOOPS
#include "_padded_end.h"
#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 8
#define SUFFIX float_v3
#include "_padded_rows.h"
#include LOOPS
#include "_padded_end.h"
#pragma GCC pop_options
#endif
#undef T
#undef EPSILON
#undef TINY
#undef MOST
#undef SMALL_SQUARE
#undef LARGE_FACTOR

#define T double
#define EPSILON (DBL_EPSILON / 2)
#define TINY DBL_MIN
#define MOST 0x1p400
#define SMALL_SQUARE 1e-280
#define LARGE_FACTOR 0x1p700
#define LANES 2
#define SUFFIX double_any
#include "_padded_rows.h"
#include LOOPS
#include "_padded_end.h"
#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 4
#define SUFFIX double_v3
#include "_padded_rows.h"
#include LOOPS
#include "_padded_end.h"
#pragma GCC pop_options
#endif

#if CHOOSE
#define PICK(name, type) (level() ? JOIN(name, type##_v3) : JOIN(name, type##_any))
#else
#define PICK(name, type) JOIN(name, type##_any)
#endif
