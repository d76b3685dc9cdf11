/* Large products of matrices: b is packed, a block of DEPTH rows and some columns at a time, and
   rows of a go through it in register tiles (_product_tile.h).

   Every element is summed over k in the same order, from 0 to the end of each block of DEPTH,
   wherever its tile lies: so rows and columns may be shared out in any way, and the bits are the
   same. Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).

   Of integers, products of every size but the smallest go through the loops of _integer_loops.h. */

#include <stdint.h>
#include <string.h>

#include "gemm.h"

#if defined(__unix__)
#include <unistd.h>
#endif

/* The bytes of the second cache; where the system does not say, what the smallest have. */
static long second_cache(void)
{
#if defined(_SC_LEVEL2_CACHE_SIZE)
    static long found;
    if (found == 0)
        found = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (found > 0)
        return found;
#endif
    return 1L << 19;
}

/* A block of b takes half of the second cache or more: 300 or 600 KB, or 1200 of 2 MB and more. */
#define DEPTH ((second_cache() < 1L << 20 ? 1536 : 3072) / (long)sizeof(T)) /* its most rows */

ptrdiff_t imode_gemm_columns(int kind, ptrdiff_t ak)
{
    /* Where rows of a are turned for each block anew, wider ones pay, from a cache further away. */
    if (kind <= GEMM_DOUBLE && ak != 1)
        return 768;
    return kind == GEMM_FLOAT && second_cache() >= 1L << 21 ? 384 : 192;
}

#define WIDEST
#define LOOPS "_gemm_loops.h"
#include "_levels.h"

/* Of integers, sums wrap around: their order is free. */
#undef DEPTH
#undef HIGH
#undef T
#define DEPTH 192L /* rows of b in a block: a panel of them lies in L1 */
#define HIGH 96L   /* rows of a in a block: a multiple of ROWS */
#define FLAT 16    /* fewest rows of b for out to be visited in columns of tiles */

#define LEVEL any
#define WIDTH BYTES
#if CHOOSE
#define LOWER_HALVES(x, y) _mm_mul_epu32((__m128i)(x), (__m128i)(y))
#define TURN_HALVES(x) _mm_shuffle_epi32((__m128i)(x), 0xB1)
#endif
#include "_integer_loops.h"
#if CHOOSE
#undef LEVEL
#undef WIDTH
#undef LOWER_HALVES
#undef TURN_HALVES
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LEVEL v3
#define WIDTH 32
#define LOWER_HALVES(x, y) _mm256_mul_epu32((__m256i)(x), (__m256i)(y))
#define TURN_HALVES(x) _mm256_shuffle_epi32((__m256i)(x), 0xB1)
#include "_integer_loops.h"
#undef LOWER_HALVES
#undef TURN_HALVES
#undef LEVEL
#undef WIDTH
#undef ROWS
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define LEVEL v4
#define WIDTH 64
#define ROWS 8
#include "_integer_loops.h"
#pragma GCC pop_options
#define OF_LEVEL(kernel, type, args)                                                              \
    switch (level()) {                                                                            \
    case 2:                                                                                       \
        return kernel##_##type##_v4 args;                                                         \
    case 1:                                                                                       \
        return kernel##_##type##_v3 args;                                                         \
    default:                                                                                      \
        return kernel##_##type##_any args;                                                        \
    }
#else
#define OF_LEVEL(kernel, type, args) return kernel##_##type##_any args;
#endif

#define OF_KIND(kernel, args)                                                                     \
    const int wide = kind == GEMM_DOUBLE;                                                         \
    switch (kind) {                                                                               \
    case GEMM_INT8:                                                                               \
        OF_LEVEL(kernel, uint8, args)                                                             \
    case GEMM_INT16:                                                                              \
        OF_LEVEL(kernel, uint16, args)                                                            \
    case GEMM_INT32:                                                                              \
        OF_LEVEL(kernel, uint32, args)                                                            \
    case GEMM_INT64:                                                                              \
        OF_LEVEL(kernel, uint64, args)                                                            \
    }                                                                                             \
    PICK(kernel, args)

ptrdiff_t imode_gemm_buffer(int kind, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t ak)
{
    OF_KIND(buffer, (n, m, k, ak))
}

void imode_gemm(int kind, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, ptrdiff_t an,
                ptrdiff_t ak, const void *b, ptrdiff_t bk, ptrdiff_t bm, void *c, ptrdiff_t ldc,
                int minus, void *buffer)
{
    OF_KIND(gemm, (n, m, k, a, an, ak, b, bk, bm, c, ldc, minus, buffer))
}
