/* Convolution kernels: one set per element type and instruction set, chosen when first used. */

#include <stdlib.h>
#include <string.h>

#include "_conv.h"
#include "levels.h"

#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#define ALIGNED __attribute__((aligned(64)))
#else
#define UNROLL
#define ALIGNED
#endif

#define UP_TO(n, step) (((n) + (step) - 1) / (step) * (step))

/* Whether images are as large with their padding, and in the same place. */
static int is_unpadded(const conv_t *p)
{
    return !p->front && !p->back && !p->top && !p->bottom && !p->left && !p->right;
}

/* Whether forward has the loops for one input channel per group. */
static int is_depthwise(const conv_t *p)
{
    return p->c == p->groups && p->oc <= 4 * p->groups;
}

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
#undef ROWS
#define ROWS 6
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

long conv_units(const conv_t *p, long parts)
{
    return p->n * p->groups * (is_depthwise(p) ? 1 : parts);
}

int conv_forward(const conv_t *p, int wide, const void *x, const void *w, const void *b, void *out,
                 long parts, long begin, long end)
{
    PICK(forward, (p, x, w, b, out, parts, begin, end))
}

int conv_grad_input(const conv_t *p, int wide, const void *grad, const void *w, void *out)
{
    PICK(grad_input, (p, grad, w, out))
}

int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out)
{
    PICK(grad_weight, (p, grad, x, out))
}
