/* Convolution kernels: one set per element type and instruction set, chosen when first used. */

#include <stdlib.h>
#include <string.h>

#include "_conv.h"
#include "levels.h"

#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

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
