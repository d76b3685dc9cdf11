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

enum { SMALL = 64, FEW_ROWS = 4 }; /* most columns of small images; most channels not packed for */

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

static long least(long a, long b) { return a < b ? a : b; }

enum { TURNED = 16 }; /* channels of a group, a share of the work */

static long blocks(const conv_t *p) { return (p->c / p->groups + TURNED - 1) / TURNED; }

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

/* The rests along an axis from `first` on: what a convolution of grad reads for them, and where. */
typedef struct {
    long size, pad, kernel, dilation, stride;
    long first, rests, taps, step, before, count;    /* count: places of each rest */
} axis_t;

static axis_t axis_of(long size, long pad, long kernel, long dilation, long stride, long windows)
{
    /* With one window any stride is the same: with the window's length, a place meets one tap. */
    return (axis_t){size, pad, kernel, dilation, windows > 1 ? stride : dilation * (kernel - 1) + 1};
}

/* Place first + i * stride of the input meets tap k with place i + n of grad: stride * n. */
static long shift(const axis_t *a, long first, long k) { return first + a->pad - k * a->dilation; }

/* Fill in what depends on the rests; return how many pairs of a rest and a tap meet. */
static long meet(axis_t *a, long first, long rests)
{
    long met = 0, low = 0, high = 0, second = 0;
    for (long k = a->kernel - 1; k >= 0; k--) { /* from low shifts to high ones */
        const long rest = ((-shift(a, first, k)) % a->stride + a->stride) % a->stride;
        if (rest >= rests)
            continue;
        const long at = (shift(a, first, k) + rest) / a->stride;
        low = met && low < at ? low : at, high = met && high > at ? high : at;
        second = met == 1 ? at : second, met++;
    }
    a->first = first, a->rests = rests, a->before = -low;
    a->step = rests == 1 && met > 1 ? second - low : 1;
    a->taps = met ? (high - low) / a->step + 1 : 0;
    a->count = (a->size - first + a->stride - 1) / a->stride;
    return met;
}

/* All rests at once, if their taps meet the same places of grad, else the first; how many turns. */
static long start(axis_t *a)
{
    const long rests = least(a->stride, a->size), met = meet(a, 0, rests);
    if (met != rests * a->taps)
        meet(a, 0, 1);
    return rests / a->rests;
}

/* Add a part to a plan. */
static void add_part(const conv_t *p, const axis_t *axes, conv_plan_t *plan, long *elements)
{
    const axis_t *z = axes, *y = axes + 1, *x = axes + 2;
    conv_part_t *part = plan->part + plan->parts++;
    conv_t *q = &part->q;
    const long cg = p->c / p->groups, og = p->oc / p->groups;
    const long rests = z->rests * y->rests * x->rests;
    const long taps = z->taps * y->taps * x->taps;
    *q = *p;
    q->c = p->oc, q->oc = p->c * rests, q->sd = q->sh = q->sw = 1;
    q->d = p->od, q->h = p->oh, q->w = p->ow, q->od = z->count, q->oh = y->count, q->ow = x->count;
    q->kd = z->taps, q->kh = y->taps, q->kw = x->taps;
    q->dd = z->step, q->dh = y->step, q->dw = x->step;
    q->front = z->before, q->back = q->od + (q->kd - 1) * q->dd - q->d - q->front;
    q->top = y->before, q->bottom = q->oh + (q->kh - 1) * q->dh - q->h - q->top;
    q->left = x->before, q->right = q->ow + (q->kw - 1) * q->dw - q->w - q->left;
    for (int i = 0; i < 3; i++)
        part->stride[i] = axes[i].stride, part->first[i] = axes[i].first,
        part->rests[i] = axes[i].rests;
    part->weight = *elements;
    for (long r = 0; r < rests; r++)
        for (long t = 0; t < taps; t++) {
            const long rest[3] = {r / x->rests / y->rests, r / x->rests % y->rests, r % x->rests};
            const long tap[3] = {t / x->taps / y->taps, t / x->taps % y->taps, t % x->taps};
            long from = 0;
            for (int i = 0; i < 3; i++) {
                const axis_t *a = axes + i;
                const long at = a->stride * (tap[i] * a->step - a->before);
                from = from * a->kernel + (shift(a, a->first + rest[i], 0) - at) / a->dilation;
            }
            plan->tap[plan->taps++] = from;
        }
    *elements += p->groups * rests * cg * og * taps;
    const long result = q->oc * q->od * q->oh * q->ow;
    plan->result = plan->result < result ? result : plan->result;
}

int conv_plan(const conv_t *p, conv_plan_t *plan)
{
    axis_t axes[3] = {axis_of(p->d, p->front, p->kd, p->dd, p->sd, p->od),
                      axis_of(p->h, p->top, p->kh, p->dh, p->sh, p->oh),
                      axis_of(p->w, p->left, p->kw, p->dw, p->sw, p->ow)};
    axis_t *z = axes, *y = axes + 1, *x = axes + 2;
    const long nz = start(z), ny = start(y), nx = start(x), parts = nz * ny * nx;
    long elements = 0;
    *plan = (conv_plan_t){.across = nx};
    /* a tap of the kernel meets one rest */
    plan->part = malloc((size_t)parts * sizeof(conv_part_t) +
                        (size_t)(p->kd * p->kh * p->kw) * sizeof(long));
    if (!plan->part)
        return -1;
    plan->tap = (long *)(plan->part + parts);
    for (long i = 0; i < parts; i++) {
        if (nz > 1)
            meet(z, i / nx / ny, 1);
        if (ny > 1)
            meet(y, i / nx % ny, 1);
        if (nx > 1)
            meet(x, i % nx, 1);
        x->count = (p->w + x->stride - 1) / x->stride; /* as long for all rests */
        add_part(p, axes, plan, &elements);
    }
    return 0;
}

long conv_turn_units(const conv_t *p) { return p->groups * blocks(p); }

#define T float
#define SUFFIX float
#include "_conv_place.h"
#undef T
#undef SUFFIX
#define T double
#define SUFFIX double
#include "_conv_place.h"
#undef T
#undef SUFFIX

void conv_turn_weight(const conv_t *p, const conv_plan_t *plan, int wide, const void *w,
                      void *turned, long begin, long end)
{
    if (wide)
        turn_double(p, plan, w, turned, begin, end);
    else
        turn_float(p, plan, w, turned, begin, end);
}

void conv_place(const conv_t *p, const conv_plan_t *plan, const conv_part_t *part, int wide,
                const void *result, long apart, void *out, long begin, long end)
{
    if (wide)
        place_double(p, plan, part, result, apart, out, begin, end);
    else
        place_float(p, plan, part, result, apart, out, begin, end);
}

int conv_reads_weight(const conv_t *p, const conv_plan_t *plan, int wide)
{
    PICK(reads_weight, (p, plan))
}

int conv_grad_input(const conv_t *p, const conv_plan_t *plan, int wide, const void *grad,
                    const void *w, void *out, long apart, long begin, long end)
{
    PICK(grad_input, (p, plan, grad, w, out, apart, begin, end))
}

long conv_weight_units(const conv_t *p, long parts) { return p->groups * (is_depthwise(p) ? 1 : parts); }

int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out, long parts,
                     long begin, long end)
{
    PICK(grad_weight, (p, grad, x, out, parts, begin, end))
}
