/* Convolution kernels: one set per element type and instruction set, chosen when first used. */

#include <stdlib.h>
#include <string.h>

#include "_conv.h"
#include "levels.h"

#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#define UNROLL_9 _Pragma("GCC unroll 9")
#define ALIGNED __attribute__((aligned(64)))
#define APART __attribute__((noinline))
#else
#define UNROLL
#define UNROLL_9
#define ALIGNED
#define APART
#endif

enum { SMALL = 64 }; /* most columns of small images */

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

/* Whether several images are worked on at once: they have few columns, and many rows of the weight meet them. */
static int is_gathered(const conv_t *p)
{
    return p->n > 1 && p->oh * p->ow <= SMALL && p->oc / p->groups >= 16 && !is_depthwise(p);
}

static long gathered_images(const conv_t *p)
{
    const long most = 256 / (p->oh * p->ow);
    return most < p->n ? most : p->n;
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

long conv_groups(const conv_t *p) { return is_gathered(p) ? p->groups : p->n * p->groups; }

long conv_units(const conv_t *p, long parts) { return conv_groups(p) * (is_depthwise(p) ? 1 : parts); }

int conv_forward(const conv_t *p, int wide, const void *x, const void *w, const void *b, void *out,
                 long parts, long begin, long end)
{
    PICK(forward, (p, x, w, b, out, parts, begin, end))
}

int conv_is_flat(const conv_t *p) { return p->sd == 1 && p->sh == 1 && p->sw == 1; }

void conv_turned(const conv_t *p, conv_t *q)
{
    *q = *p;
    q->c = p->oc, q->oc = p->c;
    q->d = p->od, q->h = p->oh, q->w = p->ow, q->od = p->d, q->oh = p->h, q->ow = p->w;
    q->front = p->dd * (p->kd - 1) - p->front, q->back = p->dd * (p->kd - 1) - p->back;
    q->top = p->dh * (p->kh - 1) - p->top, q->bottom = p->dh * (p->kh - 1) - p->bottom;
    q->left = p->dw * (p->kw - 1) - p->left, q->right = p->dw * (p->kw - 1) - p->right;
}

void conv_turn_weight(const conv_t *p, int wide, const void *w, void *turned)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups, taps = p->kd * p->kh * p->kw;
    for (long g = 0; g < p->groups; g++)
        for (long c = 0; c < cg; c++)
            for (long o = 0; o < og; o++)
                for (long t = 0; t < taps; t++) {
                    const long to = ((g * cg + c) * og + o) * taps + taps - 1 - t;
                    const long from = ((g * og + o) * cg + c) * taps + t;
                    if (wide)
                        ((double *)turned)[to] = ((const double *)w)[from];
                    else
                        ((float *)turned)[to] = ((const float *)w)[from];
                }
}

int conv_grad_input(const conv_t *p, int wide, const void *grad, const void *w, void *out)
{
    PICK(grad_input, (p, grad, w, out))
}

long conv_weight_units(const conv_t *p, long parts) { return p->groups * (is_depthwise(p) ? 1 : parts); }

int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out, long parts,
                     long begin, long end)
{
    PICK(grad_weight, (p, grad, x, out, parts, begin, end))
}
