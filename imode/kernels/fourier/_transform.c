/* Plans of Fourier transforms, and their loops for each element type and instruction set. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_transform.h"
#include "levels.h"

#define UNROLL _Pragma("GCC unroll 16")
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* Of vectors of n elements: those of two in turn (lower, upper halves), each second one, reversed; the
   first of b before the others, reversed. */
#define LOW_2(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 1, 3)
#define EVEN_2 LOW_2
#define ODD_2 HIGH_2
#define BACK_2(a) __builtin_shufflevector(a, a, 1, 0)
#define AFTER_2(a, b) __builtin_shufflevector(a, b, 2, 1)
#define LOW_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define EVEN_4(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODD_4(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define BACK_4(a) __builtin_shufflevector(a, a, 3, 2, 1, 0)
#define AFTER_4(a, b) __builtin_shufflevector(a, b, 4, 3, 2, 1)
#define LOW_8(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EVEN_8(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD_8(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define BACK_8(a) __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#define AFTER_8(a, b) __builtin_shufflevector(a, b, 8, 7, 6, 5, 4, 3, 2, 1)
#define LOW_16(a, b) \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_16(a, b) \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EVEN_16(a, b) \
    __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD_16(a, b) \
    __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define BACK_16(a) __builtin_shufflevector(a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define AFTER_16(a, b) \
    __builtin_shufflevector(a, b, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define LOW JOIN(LOW, LANES)
#define HIGH JOIN(HIGH, LANES)
#define EVEN JOIN(EVEN, LANES)
#define ODD JOIN(ODD, LANES)
#define BACK JOIN(BACK, LANES)
#define AFTER JOIN(AFTER, LANES)

#define T float
#define LANES 4
#define SUFFIX float_any
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES 2
#define SUFFIX double_any
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX

#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define T float
#define LANES 8
#define SUFFIX float_v3
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES 4
#define SUFFIX double_v3
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#define T float
#define LANES 16
#define SUFFIX float_v4
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX
#define T double
#define LANES 8
#define SUFFIX double_v4
#include "_transform_lanes.h"
#undef T
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#endif

/* The loops that this machine can run. */
static const transform_set *set_for(int wide)
{
#define SET(lanes, suffix) {lanes, JOIN(run, suffix), JOIN(line, suffix)}
    static const transform_set sets[][2] = {
        {SET(4, float_any), SET(2, double_any)},
#if CHOOSE
        {SET(8, float_v3), SET(4, double_v3)},
        {SET(16, float_v4), SET(8, double_v4)},
#endif
    };
#if CHOOSE
    return &sets[level()][wide];
#else
    return &sets[0][wide];
#endif
}

/* ---- plans ---- */

static void put(void *table, long at, int wide, double value)
{
    if (wide)
        ((double *)table)[at] = value;
    else
        ((float *)table)[at] = (float)value;
}

/* cos and -sin of 2 pi k / n, by angles of at most an eighth of a turn. */
static void root(uint64_t k, uint64_t n, double *re, double *im)
{
    const double turn = 6.283185307179586476925286766559005768;
    k %= n;
    const int below = 2 * k > n; /* the lower half of the circle */
    if (below)
        k = n - k;
    const int left = 4 * k > n;
    const uint64_t eighths = left ? 4 * n - 8 * k : 8 * k; /* n for an eighth, of the first quarter */
    double c, s;
    if (eighths <= n) {
        const double angle = turn * ((double)eighths / (8.0 * (double)n));
        c = cos(angle), s = sin(angle);
    } else {
        const double angle = turn * ((double)(2 * n - eighths) / (8.0 * (double)n));
        c = sin(angle), s = cos(angle);
    }
    *re = left ? -c : c;
    *im = below ? s : -s;
}

static void put_root(void *table, long at, long apart, int wide, uint64_t k, uint64_t n)
{
    double re, im;
    root(k, n, &re, &im);
    put(table, at, wide, re);
    put(table, at + apart, wide, im);
}

static void *table_of(imode_plan *plan, long count)
{
    const size_t bytes = (size_t)count * (plan->wide ? 8 : 4);
    plan->bytes += bytes;
    return calloc(1, bytes + 64);
}

static long largest_factor(long n)
{
    long most = 1;
    for (long f = 2; f * f <= n; f++)
        while (n % f == 0)
            most = f, n /= f;
    return n > most ? n : most;
}

/* The work of the passes of one line: additions of butterflies. */
static double work_of(long n)
{
    double sum = 0;
    for (long m = n, f = 2; m > 1; f++)
        for (; m % f == 0; m /= f)
            sum += f < 6 ? (f == 2 ? 1.2 : f) : f * 1.5;
    return sum * (double)n;
}

#define HAS_ROOTS(r) ((r) > 5 && (r) != 8) /* of the pass for any odd radix */

static int make_passes(imode_plan *plan)
{
    int count = 0, twos = 0;
    long odd = 0, twiddles = 0, m = plan->n, at = 0;
    for (; m % 2 == 0; m /= 2)
        twos++;
    for (; twos > 0; count++) { /* by eights, after what they leave over: one 2 or 4, or two 4s */
        plan->radices[count] = twos % 3 == 0 ? 8 : twos == 1 ? 2 : 4;
        twos -= twos % 3 == 0 ? 3 : twos == 1 ? 1 : 2;
    }
    for (long f = 2; m > 1; f++)
        for (; m % f == 0; m /= f)
            plan->radices[count++] = (int)f;
    m = plan->n;
    for (int i = 0; i < count; i++) {
        const long r = plan->radices[i];
        m /= r;
        twiddles += 2 * (r - 1) * m;
        odd += HAS_ROOTS(r) ? 2 * r : 0;
    }
    plan->twiddles = table_of(plan, twiddles);
    plan->roots = table_of(plan, odd);
    if (!plan->twiddles || !plan->roots)
        return -1;
    m = plan->n, odd = 0;
    for (int i = 0; i < count; i++) {
        const long r = plan->radices[i], n = m;
        m /= r;
        for (long p = 0; p < m; p++)
            for (long j = 1; j < r; j++, at += 2)
                put_root(plan->twiddles, at, 1, plan->wide, (uint64_t)(j * p), n);
        for (long k = 0; k < r && HAS_ROOTS(r); k++, odd += 2) {
            double re, im;
            root(k, r, &re, &im);
            put(plan->roots, odd, plan->wide, re);
            put(plan->roots, odd + 1, plan->wide, -im);
        }
    }
    return 0;
}

static imode_plan *new_plan(long n, int wide, int real, int part);

static int make_steps(imode_plan *plan, int lanes)
{
    const long n = plan->n;
    double least = 0;
    for (long f = 2; f * f <= n; f++)
        for (int other = 0; n % f == 0 && other < 2; other++) {
            const long n1 = other ? n / f : f, n2 = n / n1;
            const double cost = (double)((n2 + lanes - 1) / lanes) * (work_of(n1) + 3.0 * n1) +
                                (double)((n1 + lanes - 1) / lanes) * (work_of(n2) + 2.0 * n2);
            const double far = (n1 > n2 ? n1 : n2) > 4096 ? 4 : 1; /* beyond the caches */
            if (!plan->n1 || cost * far < least)
                least = cost * far, plan->n1 = n1, plan->n2 = n2;
        }
    if (!plan->n1)
        return 0;
    const long up = (plan->n2 + lanes - 1) / lanes * lanes;
    plan->first = new_plan(plan->n1, plan->wide, 0, 1);
    plan->second = new_plan(plan->n2, plan->wide, 0, 1);
    plan->turns = table_of(plan, plan->n1 * 2 * up);
    if (!plan->first || !plan->second || !plan->turns)
        return -1;
    plan->whole = lanes * (plan->wide ? 8 : 4) >= 32 && plan->n1 % lanes == 0 && plan->n2 % lanes == 0;
    for (long k = 0; k < plan->n1; k++)
        for (long j = 0; j < plan->n2; j++)
            put_root(plan->turns, 2 * up * k + j, up, plan->wide, (uint64_t)j * (uint64_t)k, n);
    return 0;
}

/* The chirp of Bluestein's way, and the transform of its conjugate. */
static int make_around(imode_plan *plan, const transform_set *set)
{
    const long n = plan->n;
    long size = 0;
    for (long pairs = 1; pairs < 4 * n; pairs *= 2) /* the smallest 2^a * (1, 3, 5, 9 or 15) */
        for (int i = 0; i < 5; i++) {
            const long fits = pairs * (const int[]){1, 3, 5, 9, 15}[i];
            if (fits >= 2 * n - 1 && (!size || fits < size))
                size = fits;
        }
    plan->around = imode_plan_new(size, plan->wide, 0);
    plan->chirp = table_of(plan, 2 * n);
    plan->kernel = table_of(plan, 2 * size);
    void *other = plan->around ? calloc(2 * size, 8) : NULL;
    char *work = plan->around ? malloc(plan->around->work + 64) : NULL;
    const int failed = !plan->chirp || !plan->kernel || !other || !work;
    for (long j = 0; j < n && !failed; j++) {
        const uint64_t square = (uint64_t)j * (uint64_t)j % (2 * (uint64_t)n);
        double re, im;
        root(square, 2 * (uint64_t)n, &re, &im);
        put(plan->chirp, 2 * j, plan->wide, re);
        put(plan->chirp, 2 * j + 1, plan->wide, im);
        for (int mirrored = 0; mirrored <= (j > 0); mirrored++) {
            const long at = mirrored ? size - j : j;
            put(other, 2 * at, plan->wide, re);
            put(other, 2 * at + 1, plan->wide, -im);
        }
    }
    if (!failed)
        set->line(plan->around, other, plan->kernel, 0, 1.0 / (double)size,
                  (void *)(((size_t)work + 63) & ~(size_t)63));
    free(other);
    free(work);
    return failed ? -1 : 0;
}

/* part: for a step of a longer line. */
static int make(imode_plan *plan, const transform_set *set, int part)
{
    const long n = plan->n;
    const size_t pack = 2 * set->lanes * (plan->wide ? 8 : 4), pair = plan->wide ? 16 : 8;
    if (plan->real && plan->real % 2 == 0) {
        const long apart = n + set->lanes;
        plan->half_turns = table_of(plan, 2 * apart);
        if (!plan->half_turns)
            return -1;
        for (long k = 0; k <= n; k++)
            put_root(plan->half_turns, k, apart, plan->wide, k, plan->real);
    }
    if (n > 1 && largest_factor(n) > MAX_RADIX) {
        if (make_around(plan, set))
            return -1;
        plan->work = 4 * plan->around->n * pair + plan->around->work + 64;
    } else {
        if (n >= 32 && !part && make_steps(plan, set->lanes))
            return -1;
        if (n > 1 && (n * pack <= LANES_MOST || part) && make_passes(plan))
            return -1;
        plan->work = 2 * (n * pack <= LANES_MOST || !plan->n1 ? n + 1 : 1) * pack;
        if (plan->n1) {
            const long most = (plan->n1 > plan->n2 ? plan->n1 : plan->n2) + set->lanes;
            const size_t rows = (plan->n1 + set->lanes - 1) / set->lanes * plan->n2;
            const size_t steps = ((GROUPS + 1) * most + rows) * pack;
            plan->work = steps > plan->work ? steps : plan->work;
        }
    }
    plan->work += 256;
    return 0;
}

static imode_plan *new_plan(long n, int wide, int real, int part)
{
    imode_plan *plan = calloc(1, sizeof(imode_plan));
    if (!plan)
        return NULL;
    plan->wide = wide;
    plan->real = real ? n : 0;
    plan->n = real && n % 2 == 0 ? n / 2 : n;
    plan->bytes = sizeof(imode_plan);
    if (make(plan, set_for(wide), part)) {
        imode_plan_free(plan);
        return NULL;
    }
    return plan;
}

imode_plan *imode_plan_new(long n, int wide, int real) { return new_plan(n, wide, real, 0); }

void imode_plan_free(imode_plan *plan)
{
    if (!plan)
        return;
    imode_plan_free(plan->first);
    imode_plan_free(plan->second);
    imode_plan_free(plan->around);
    free(plan->twiddles);
    free(plan->roots);
    free(plan->turns);
    free(plan->half_turns);
    free(plan->chirp);
    free(plan->kernel);
    free(plan);
}

size_t imode_plan_bytes(const imode_plan *plan)
{
    return plan ? plan->bytes + imode_plan_bytes(plan->first) + imode_plan_bytes(plan->second) +
                      imode_plan_bytes(plan->around)
                : 0;
}

size_t imode_plan_work(const imode_plan *plan, int kind, ptrdiff_t src_step, ptrdiff_t dst_step)
{
    const size_t n = plan->n + 1, pair = plan->wide ? 16 : 8;
    const int strided = imode_strided(plan, kind, src_step, dst_step);
    return plan->work + (strided || kind != IMODE_C2C ? 3 * (n * pair + 128) : 0);
}

int imode_lines(const imode_plan *plan, int kind, ptrdiff_t src_step, ptrdiff_t dst_step, int *unit)
{
    const int lanes = set_for(plan->wide)->lanes, strided = imode_strided(plan, kind, src_step, dst_step);
    *unit = imode_bundled(plan, kind, lanes, strided) ? lanes : 1;
    return lanes;
}

void imode_transform(const imode_plan *plan, int kind, int inverse, int both, double scale,
                     const char *src, const ptrdiff_t *src_at, ptrdiff_t src_step, char *dst,
                     const ptrdiff_t *dst_at, ptrdiff_t dst_step, int lines, void *work)
{
    set_for(plan->wide)->run(plan, kind, inverse, both, scale, src, src_at, src_step, dst, dst_at,
                             dst_step, lines, work);
}
