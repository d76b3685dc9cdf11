/* Convolution kernels: one set per element type and instruction set, chosen when first used. */

#include <stdlib.h>
#include <string.h>

#include "_conv.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#define BYTES 16
#else
#define INLINE static inline
#define UNROLL
#define BYTES 0                                             /* no vector types: scalar tiles */
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define CHOOSE 1
#else
#define CHOOSE 0
#endif

#define NAME(x) JOIN(x, SUFFIX)

#define T float
#define LANES (BYTES ? BYTES / 4 : 1)
#define ROWS 4
#define SUFFIX float_scalar
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES (BYTES ? BYTES / 8 : 1)
#define SUFFIX double_scalar
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX

#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define T float
#define LANES 8
#define SUFFIX float_v3
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES 4
#define SUFFIX double_v3
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX
#undef ROWS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#define ROWS 8
#define T float
#define LANES 16
#define SUFFIX float_v4
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES 8
#define SUFFIX double_v4
#include "_conv_tile.h"
#undef T
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#endif

#if CHOOSE
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
#endif

#if CHOOSE
#define PICK(kernel, args)                                                                        \
    switch (level()) {                                                                            \
    case 2:                                                                                       \
        return wide ? kernel##_double_v4 args : kernel##_float_v4 args;                           \
    case 1:                                                                                       \
        return wide ? kernel##_double_v3 args : kernel##_float_v3 args;                           \
    default:                                                                                      \
        return wide ? kernel##_double_scalar args : kernel##_float_scalar args;                   \
    }
#else
#define PICK(kernel, args)                                                                        \
    return wide ? kernel##_double_scalar args : kernel##_float_scalar args;
#endif

int conv_forward(const conv_t *p, int wide, const void *x, const void *w, const void *b, void *out)
{
    PICK(forward, (p, x, w, b, out))
}

int conv_grad_input(const conv_t *p, int wide, const void *grad, const void *w, void *out)
{
    PICK(grad_input, (p, grad, w, out))
}

int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out)
{
    PICK(grad_weight, (p, grad, x, out))
}
