/* Transforms for one element type and one instruction set.

   No include guard: _transform.c includes this once per combination, after defining
     T          element type           LANES   elements of a vector
     NAME(x)    x with a suffix for the combination
   and LOW, HIGH, EVEN, ODD, BACK, which shuffle vectors of so many elements. */

typedef T NAME(vec) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef struct {
    NAME(vec) v[2]; /* the real and the imaginary parts of LANES lines */
} NAME(pack);

#define V NAME(vec)
#define C NAME(pack)
#define PAIR ((ptrdiff_t)(2 * sizeof(T)))

#include "_transform_passes.h"

/* ---- vectors from and to memory ---- */

INLINE C NAME(apart)(const char *at)
{
    const V a = *(const V *)at, b = *(const V *)(at + sizeof(V));
    return (C){{EVEN(a, b), ODD(a, b)}};
}

INLINE void NAME(together)(char *at, V re, V im)
{
    *(V *)at = LOW(re, im);
    *(V *)(at + sizeof(V)) = HIGH(re, im);
}

/* Turn a square of LANES vectors over: rows become columns. */
INLINE void NAME(turn_over)(V *square)
{
    V other[LANES];
    for (int step = 1; step < LANES; step *= 2) {
        UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            other[2 * i] = LOW(square[i], square[i + LANES / 2]);
            other[2 * i + 1] = HIGH(square[i], square[i + LANES / 2]);
        }
        UNROLL
        for (int i = 0; i < LANES; i++)
            square[i] = other[i];
    }
}

/* How the two parts of the elements of several lines lie. */
typedef struct {
    const ptrdiff_t *at;
    ptrdiff_t step, im; /* bytes to the next element, from a real to an imaginary part */
    int lines, swap, real; /* real: there are no imaginary parts */
} NAME(place);

INLINE int NAME(beside)(const NAME(place) *p, ptrdiff_t distance)
{
    int same = p->lines == LANES && !p->real;
    for (int i = 1; i < LANES && same; i++)
        same = p->at[i] - p->at[i - 1] == distance;
    return same;
}

static void NAME(take)(const char *src, const NAME(place) *p, long n, C *x)
{
    const int re = p->swap, im = 1 - re;
    long first = 0;
    if (!p->real && p->im == sizeof(T) && NAME(beside)(p, PAIR)) {
        for (long j = 0; j < n; j++) {
            const C c = NAME(apart)(src + p->at[0] + j * p->step);
            x[j].v[re] = c.v[0];
            x[j].v[im] = c.v[1];
        }
        return;
    }
    if (NAME(beside)(p, sizeof(T))) {
        for (long j = 0; j < n; j++) {
            const char *at = src + p->at[0] + j * p->step;
            x[j].v[re] = *(const V *)at;
            x[j].v[im] = *(const V *)(at + p->im);
        }
        return;
    }
    if (p->lines == LANES && !p->real && p->im == sizeof(T) && p->step == PAIR)
        for (; first + LANES <= n; first += LANES) {
            V res[LANES], ims[LANES];
            for (int i = 0; i < LANES; i++) {
                const C c = NAME(apart)(src + p->at[i] + first * PAIR);
                res[i] = c.v[0];
                ims[i] = c.v[1];
            }
            NAME(turn_over)(res);
            NAME(turn_over)(ims);
            for (int i = 0; i < LANES; i++) {
                x[first + i].v[re] = res[i];
                x[first + i].v[im] = ims[i];
            }
        }
    for (long j = first; j < n; j++) {
        C c = {{{0}, {0}}};
        for (int i = 0; i < p->lines; i++) {
            const char *at = src + p->at[i] + j * p->step;
            c.v[re][i] = *(const T *)at;
            c.v[im][i] = p->real ? 0 : *(const T *)(at + p->im);
        }
        x[j] = c;
    }
}

static void NAME(give)(char *dst, const NAME(place) *p, long n, const C *x, T scale)
{
    const int re = p->swap, im = 1 - re;
    long first = 0;
    if (!p->real && p->im == sizeof(T) && NAME(beside)(p, PAIR)) {
        for (long j = 0; j < n; j++)
            NAME(together)(dst + p->at[0] + j * p->step, x[j].v[re] * scale, x[j].v[im] * scale);
        return;
    }
    if (NAME(beside)(p, sizeof(T))) {
        for (long j = 0; j < n; j++) {
            char *at = dst + p->at[0] + j * p->step;
            *(V *)at = x[j].v[re] * scale;
            *(V *)(at + p->im) = x[j].v[im] * scale;
        }
        return;
    }
    if (p->lines == LANES && !p->real && p->im == sizeof(T) && p->step == PAIR)
        for (; first + LANES <= n; first += LANES) {
            V res[LANES], ims[LANES];
            for (int i = 0; i < LANES; i++) {
                res[i] = x[first + i].v[re] * scale;
                ims[i] = x[first + i].v[im] * scale;
            }
            NAME(turn_over)(res);
            NAME(turn_over)(ims);
            for (int i = 0; i < LANES; i++)
                NAME(together)(dst + p->at[i] + first * PAIR, res[i], ims[i]);
        }
    for (long j = first; j < n; j++)
        for (int i = 0; i < p->lines; i++) {
            char *at = dst + p->at[i] + j * p->step;
            *(T *)at = x[j].v[re][i] * scale;
            if (!p->real)
                *(T *)(at + p->im) = x[j].v[im][i] * scale;
        }
}

/* ---- one line of n complex numbers side by side; `swap`: of the parts of each, on both sides ---- */

static void NAME(line)(const imode_plan *, const void *, void *, int, double, void *);

/* LANES numbers will be used: said little by little, while others are computed, as a processor that waits
   for many stops. AHEAD: from one such group to the next; lines that leave no room for others stay at 0. */
#define AHEAD(plan) ((plan)->n <= SHORT ? LANES * PAIR : 0)
INLINE void NAME(fetch)(const char *at)
{
    __builtin_prefetch(at);
    if (LANES * PAIR > 64)
        __builtin_prefetch(at + 64);
}

/* Groups of LANES lines each, all side by side in memory, so that this is read, or written, once; the last
   group may have fewer. */
static void NAME(take_groups)(const char *src, const NAME(place) *p, int lines, long n, C *const *x)
{
    const int whole = lines / LANES;
    for (long j = 0; j < n; j++)
        for (int g = 0; g < whole; g++) {
            const C c = NAME(apart)(src + g * LANES * PAIR + j * p->step);
            x[g][j] = p->swap ? (C){{c.v[1], c.v[0]}} : c;
        }
    if (lines % LANES) {
        NAME(place) rest = *p;
        rest.lines = lines % LANES;
        NAME(take)(src + whole * LANES * PAIR, &rest, n, x[whole]);
    }
}

static void NAME(give_groups)(char *dst, const NAME(place) *p, int lines, long n, C *const *x, T scale,
                              const char *next, ptrdiff_t ahead)
{
    const int whole = lines / LANES;
    for (long j = 0; j < n; j++)
        for (int g = 0; g < whole; g++) {
            NAME(fetch)(next + (g * n + j) * ahead);
            const V a = x[g][j].v[0] * scale, b = x[g][j].v[1] * scale;
            NAME(together)(dst + g * LANES * PAIR + j * p->step, p->swap ? b : a, p->swap ? a : b);
        }
    if (lines % LANES) {
        NAME(place) rest = *p;
        rest.lines = lines % LANES;
        NAME(give)(dst + whole * LANES * PAIR, &rest, n, x[whole], scale);
    }
}

/* From the transform of LANES columns, LANES of their n1 numbers from k1 on, those of the rows from
   column j2 on. */
INLINE void NAME(turn)(const imode_plan *plan, const C *found, long k1, long j2, int count, C *rows,
                       const char *out)
{
    const long n1 = plan->n1, n2 = plan->n2, up2 = (n2 + LANES - 1) / LANES * LANES;
    const T *turns = (const T *)plan->turns + j2 + 2 * up2 * k1;
    const ptrdiff_t ahead = AHEAD(plan);
    V res[LANES], ims[LANES];
    UNROLL
    for (int i = 0; i < LANES; i++) {
        const int k = k1 + i < n1 ? i : 0; /* what is beyond the last is not used */
        const C c = found[k];
        const T *turn = turns + 2 * up2 * k;
        NAME(fetch)(out + (k1 / LANES * n2 + j2 + i) * ahead);
        const V re = *(const V *)turn, im = *(const V *)(turn + up2);
        res[i] = c.v[0] * re - c.v[1] * im;
        ims[i] = c.v[0] * im + c.v[1] * re;
    }
    NAME(turn_over)(res);
    NAME(turn_over)(ims);
    C *to = rows + k1 / LANES * n2 + j2;
    for (int i = 0; i < count; i++)
        to[i] = (C){{res[i], ims[i]}};
}

static void NAME(turns)(const imode_plan *plan, const C *found, long j2, int count, C *rows,
                        const char *out)
{
    for (long k1 = 0; k1 < plan->n1; k1 += LANES)
        NAME(turn)(plan, found + k1, k1, j2, count, rows, out);
}

/* The first step where n1 is 16: LANES columns. Where this is inlined, the compiler keeps them in memory. */
APART static void NAME(columns_16)(const imode_plan *plan, const char *in, ptrdiff_t step, int swap,
                                   long j2, C *rows, const char *out)
{
    C all[16], found[16];
    UNROLL
    for (int k = 0; k < 16; k++) {
        const C c = NAME(apart)(in + k * step);
        all[k] = swap ? (C){{c.v[1], c.v[0]}} : c;
    }
    NAME(sixteen_of)(all);
    UNROLL
    for (int j = 0; j < 16; j++)
        found[j] = all[4 * (j % 4) + j / 4];
    UNROLL
    for (long k1 = 0; k1 < 16; k1 += LANES)
        NAME(turn)(plan, found + k1, k1, j2, LANES, rows, out);
}

/* The second step where n2 is 16: LANES rows, to `found`, or straight to where they belong. */
INLINE void NAME(rows_16)(const C *rows, C *found, char *out, ptrdiff_t step, int swap, T scale,
                          const char *next, ptrdiff_t ahead)
{
    C all[16];
    UNROLL
    for (int k = 0; k < 16; k++)
        all[k] = rows[k];
    NAME(sixteen_of)(all);
    UNROLL
    for (int j = 0; j < 16; j++) {
        const C c = all[4 * (j % 4) + j / 4];
        NAME(fetch)(next + j * ahead);
        if (found)
            found[j] = c;
        else
            NAME(together)(out + j * step, c.v[swap] * scale, c.v[1 - swap] * scale);
    }
}

/* Real lines of even length are transformed as half as many complex numbers. */
/* From the transform z of these, h + 1 of the real line: each from z[k] and z[h - k], e + t; the conjugate
   of e - t is the one of h - k. */
#define SPLIT(ZK, ZH)                                                                             \
    const V er = (ZK.v[0] + ZH.v[0]) * (T)0.5, ei = (ZK.v[1] - ZH.v[1]) * (T)0.5;                 \
    const V or_ = (ZK.v[1] + ZH.v[1]) * (T)0.5, oi = (ZH.v[0] - ZK.v[0]) * (T)0.5;                \
    const V tr = or_ * wr - oi * wi, ti = or_ * wi + oi * wr
/* And back, twice as large: 2 z[k]. */
#define MERGE(K, XK, XH, RE, IM)                                                                  \
    const V er = XK.v[0] + XH.v[0], ei = XK.v[1] - XH.v[1];                                       \
    const V dr = XK.v[0] - XH.v[0], di = XK.v[1] + XH.v[1];                                       \
    const V RE = er - (di * wr - dr * wi), IM = ei + (dr * wr + di * wi)

/* The same of both at once, where rows of LANES numbers of z lie in packs: the element of lane 0 of what is
   read backwards is the first of the pack after it. */
static void NAME(split_rows)(const imode_plan *plan, C *const *z, T *x, T scale)
{
    const long h = plan->n, n1 = plan->n1, n2 = plan->n2, groups = n1 / LANES;
    const T *cosines = plan->half_turns, *sines = cosines + h + LANES;
    for (long k = 0, g = 0, k2 = 0; 2 * k < h; k += LANES) {
        const C a = z[g][k2], behind = z[groups - 1 - g][n2 - 1 - k2];
        const C first = g ? z[groups - g][n2 - 1 - k2] : z[0][k2 ? n2 - k2 : 0];
        const C b = {{AFTER(behind.v[0], first.v[0]), AFTER(behind.v[1], first.v[1])}};
        const V wr = *(const V *)(cosines + k), wi = *(const V *)(sines + k);
        SPLIT(a, b);
        NAME(together)((char *)(x + 2 * k), (er + tr) * scale, (ei + ti) * scale);
        NAME(together)((char *)(x + 2 * (h - k - LANES + 1)), BACK(er - tr) * scale, BACK(ti - ei) * scale);
        if (++g == groups)
            g = 0, k2++;
    }
    const C middle = z[h / 2 % n1 / LANES][h / 2 / n1];
    x[h] = middle.v[0][0] * scale;
    x[h + 1] = -middle.v[1][0] * scale;
    x[1] = x[2 * h + 1] = 0;
}

/* Two steps with 32 registers full in both beat many lines beside each other. */
#define WHOLE (sizeof(V) == 64 && plan->whole)

/* n1 * n2: columns, turns, rows. `real`: of these the real line, if both steps are whole. */
static void NAME(two_steps)(const imode_plan *plan, const char *in, char *out, int swap, T scale,
                            int real, C *work)
{
    const long n1 = plan->n1, n2 = plan->n2, most = (n1 > n2 ? n1 : n2) + LANES;
    C *const rows = work + (GROUPS + 1) * most;
    C *x[GROUPS];
    ptrdiff_t at[LANES];
    for (int i = 0; i < LANES; i++)
        at[i] = i * PAIR;
    for (int g = 0; g < GROUPS; g++)
        x[g] = work + (g + 1) * most;
    NAME(place) columns = {at, n2 * PAIR, sizeof(T), LANES, swap, 0};
    const char *const next = in + plan->n * PAIR; /* line, if it is there */
    const ptrdiff_t ahead = AHEAD(plan);
    if (WHOLE && n1 == 16)
        for (long j2 = 0; j2 < n2; j2 += LANES)
            NAME(columns_16)(plan, in + j2 * PAIR, n2 * PAIR, swap, j2, rows, out);
    else
        for (long j2 = 0; j2 < n2; j2 += GROUPS * LANES) {
            const int count = n2 - j2 < GROUPS * LANES ? (int)(n2 - j2) : GROUPS * LANES;
            NAME(take_groups)(in + j2 * PAIR, &columns, count, n1, x);
            for (int g = 0; g * LANES < count; g++)
                NAME(turns)(plan, NAME(passes)(plan->first, x[g], work), j2 + g * LANES,
                            count - g * LANES < LANES ? count - g * LANES : LANES, rows, out);
        }
    columns.step = n1 * PAIR;
    for (long k1 = 0; k1 < n1; k1 += GROUPS * LANES) {
        const int count = n1 - k1 < GROUPS * LANES ? (int)(n1 - k1) : GROUPS * LANES;
        const int short_rows = WHOLE && n2 == 16;
        C *found[GROUPS];
        const char *const here = next + k1 / LANES * n2 * ahead;
        for (int g = 0; g * LANES < count; g++) {
            C *const row = rows + (k1 / LANES + g) * n2;
            const char *const part = here + g * n2 * ahead;
            for (long j = 0; real && !short_rows && j < n2; j++)
                NAME(fetch)(part + j * ahead);
            if (!short_rows)
                found[g] = NAME(passes)(plan->second, row, x[g]);
            else if (real)
                NAME(rows_16)(row, found[g] = x[g], NULL, 0, 0, 1, part, ahead);
            else
                NAME(rows_16)(row, NULL, out + (k1 + g * LANES) * PAIR, columns.step, swap, scale, part,
                              ahead);
        }
        if (real)
            NAME(split_rows)(plan, found, (T *)out, scale);
        else if (!short_rows)
            NAME(give_groups)(out + k1 * PAIR, &columns, count, n2, found, scale, here, ahead);
    }
}

INLINE void NAME(multiply)(T *a, const T *b, const T *c, T scale, int swap_a)
{
    const T re = b[0] * c[0] - b[1] * c[1], im = b[0] * c[1] + b[1] * c[0];
    a[swap_a] = re * scale;
    a[1 - swap_a] = im * scale;
}

/* Bluestein's way: a convolution with a chirp, by transforms of a longer, smooth length. */
static void NAME(around)(const imode_plan *plan, const T *in, T *out, int swap, T scale, char *work)
{
    const imode_plan *longer = plan->around;
    const T *chirp = plan->chirp, *kernel = plan->kernel;
    T *const x = (T *)work, *const y = x + 2 * longer->n;
    work = (char *)(((size_t)(y + 2 * longer->n) + 63) & ~(size_t)63);
    for (long j = 0; j < plan->n; j++) {
        const T a[2] = {in[2 * j + swap], in[2 * j + 1 - swap]};
        NAME(multiply)(x + 2 * j, a, chirp + 2 * j, 1, 0);
    }
    memset(x + 2 * plan->n, 0, (longer->n - plan->n) * 2 * sizeof(T));
    NAME(line)(longer, x, y, 0, 1, work);
    for (long j = 0; j < longer->n; j++)
        NAME(multiply)(y + 2 * j, y + 2 * j, kernel + 2 * j, 1, 0);
    NAME(line)(longer, y, x, 1, 1, work);
    for (long j = 0; j < plan->n; j++)
        NAME(multiply)(out + 2 * j, x + 2 * j, chirp + 2 * j, scale, swap);
}

static void NAME(line)(const imode_plan *plan, const void *in, void *out, int swap, double scale,
                       void *work)
{
    static const ptrdiff_t at[1] = {0};
    NAME(place) whole = {at, PAIR, sizeof(T), 1, swap, 0};
    C *x = work;
    if (plan->around)
        NAME(around)(plan, in, out, swap, (T)scale, work);
    else if (plan->n1)
        NAME(two_steps)(plan, in, out, swap, (T)scale, 0, work);
    else {
        NAME(take)(in, &whole, plan->n, x);
        NAME(give)(out, &whole, plan->n, NAME(passes)(plan, x, x + plan->n), (T)scale);
    }
}

/* ---- real lines of even length ---- */

static void NAME(split_lanes)(const imode_plan *plan, const C *z, C *x)
{
    const long h = plan->n;
    const T *cosines = plan->half_turns, *sines = cosines + h + LANES;
    for (long k = 0; k <= h; k++) {
        const T wr = cosines[k], wi = sines[k];
        const C a = z[k < h ? k : 0], b = z[k ? h - k : 0];
        SPLIT(a, b);
        x[k] = (C){{er + tr, ei + ti}};
    }
}

static void NAME(merge_lanes)(const imode_plan *plan, C *x, C *z)
{
    const long h = plan->n;
    const T *cosines = plan->half_turns, *sines = cosines + h + LANES;
    x[0].v[1] = x[h].v[1] = (V){0};
    for (long k = 0; k < h; k++) {
        const T wr = cosines[k], wi = sines[k];
        MERGE(k, x[k], x[h - k], re, im);
        z[k] = (C){{im, re}}; /* swapped: the inverse */
    }
}

INLINE C NAME(backwards)(const T *last)
{
    const C c = NAME(apart)((const char *)(last - 2 * (LANES - 1)));
    return (C){{BACK(c.v[0]), BACK(c.v[1])}};
}

INLINE C NAME(one)(const T *pair) { return (C){{(V){pair[0]}, (V){pair[1]}}}; }

static void NAME(split_line)(const imode_plan *plan, const T *z, T *x, T scale)
{
    const long h = plan->n;
    const T *cosines = plan->half_turns, *sines = cosines + h + LANES;
    long k = 1;
    x[0] = (z[0] + z[1]) * scale;
    x[2 * h] = (z[0] - z[1]) * scale;
    x[1] = x[2 * h + 1] = 0;
    for (; h > LANES && k < h; k += LANES) {
        if (k + LANES > h)
            k = h - LANES; /* the last ones, some of them again */
        const V wr = *(const V *)(cosines + k), wi = *(const V *)(sines + k);
        const C a = NAME(apart)((const char *)(z + 2 * k)), b = NAME(backwards)(z + 2 * (h - k));
        SPLIT(a, b);
        NAME(together)((char *)(x + 2 * k), (er + tr) * scale, (ei + ti) * scale);
    }
    for (; k < h; k++) {
        const T wr = cosines[k], wi = sines[k];
        const C a = NAME(one)(z + 2 * k), b = NAME(one)(z + 2 * (h - k));
        SPLIT(a, b);
        x[2 * k] = (er[0] + tr[0]) * scale;
        x[2 * k + 1] = (ei[0] + ti[0]) * scale;
    }
}

static void NAME(merge_line)(const imode_plan *plan, const T *x, T *z)
{
    const long h = plan->n;
    const T *cosines = plan->half_turns, *sines = cosines + h + LANES;
    long k = 1;
    z[0] = x[0] + x[2 * h];
    z[1] = x[0] - x[2 * h];
    for (; h > LANES && k < h; k += LANES) {
        if (k + LANES > h)
            k = h - LANES; /* the last ones, some of them again */
        const V wr = *(const V *)(cosines + k), wi = *(const V *)(sines + k);
        const C a = NAME(apart)((const char *)(x + 2 * k)), b = NAME(backwards)(x + 2 * (h - k));
        MERGE(k, a, b, re, im);
        NAME(together)((char *)(z + 2 * k), re, im);
    }
    for (; k < h; k++) {
        const T wr = cosines[k], wi = sines[k];
        const C a = NAME(one)(x + 2 * k), b = NAME(one)(x + 2 * (h - k));
        MERGE(k, a, b, re, im);
        z[2 * k] = re[0];
        z[2 * k + 1] = im[0];
    }
}

/* ---- several lines ---- */

/* The second half of the transform of real lines: the conjugate of the first one. */
static void NAME(mirror)(char *dst, const ptrdiff_t *at, ptrdiff_t step, int lines, long n)
{
    for (int i = 0; i < lines; i++)
        for (long k = 1; k <= (n - 1) / 2; k++) {
            const T *from = (const T *)(dst + at[i] + k * step);
            T *to = (T *)(dst + at[i] + (n - k) * step);
            to[0] = from[0];
            to[1] = -from[1];
        }
}

/* Side by side, each in a lane. */
static void NAME(bundle)(const imode_plan *plan, int kind, int swap, T scale, const char *src,
                         NAME(place) from, char *dst, NAME(place) to, C *work)
{
    const long n = plan->n;
    const int even = plan->real && plan->real % 2 == 0;
    C *x = work, *y = x + n + 1;
    from.im = to.im = sizeof(T);
    if (kind == IMODE_C2C) {
        from.swap = to.swap = swap;
        NAME(take)(src, &from, n, x);
        NAME(give)(dst, &to, n, NAME(passes)(plan, x, y), scale);
    } else if (kind == IMODE_R2C && even) {
        from.im = from.step;
        from.step *= 2;
        NAME(take)(src, &from, n, x);
        C *const z = NAME(passes)(plan, x, y);
        C *const all = z == x ? y : x;
        NAME(split_lanes)(plan, z, all);
        NAME(give)(dst, &to, n + 1, all, scale);
    } else if (kind == IMODE_R2C) {
        from.real = 1;
        NAME(take)(src, &from, n, x);
        NAME(give)(dst, &to, n / 2 + 1, NAME(passes)(plan, x, y), scale);
    } else if (even) {
        to.im = to.step;
        to.step *= 2;
        to.swap = 1;
        NAME(take)(src, &from, n + 1, x);
        NAME(merge_lanes)(plan, x, y);
        NAME(give)(dst, &to, n, NAME(passes)(plan, y, x), scale);
    } else {
        NAME(take)(src, &from, n / 2 + 1, x);
        x[0].v[1] = (V){0};
        for (long k = 0; k <= n / 2; k++) {
            const C c = x[k];
            x[k] = (C){{c.v[1], c.v[0]}};
            if (k)
                x[n - k] = (C){{-c.v[1], c.v[0]}};
        }
        to.real = 1;
        to.swap = 1;
        NAME(give)(dst, &to, n, NAME(passes)(plan, x, y), scale);
    }
}

INLINE void NAME(move)(const char *from, ptrdiff_t step, char *to, ptrdiff_t to_step, long n, size_t size)
{
    for (long j = 0; j < n; j++)
        memcpy(to + j * to_step, from + j * step, size);
}

/* One after another. */
static void NAME(single)(const imode_plan *plan, int kind, int swap, T scale, const char *src,
                         ptrdiff_t step, char *dst, ptrdiff_t to_step, char *work)
{
    const long n = plan->n, size = (n + 1) * PAIR + 128;
    const int even = plan->real && plan->real % 2 == 0;
    const ptrdiff_t unit = kind == IMODE_R2C ? (ptrdiff_t)sizeof(T) : PAIR;
    const ptrdiff_t to_unit = kind == IMODE_C2R ? (ptrdiff_t)sizeof(T) : PAIR;
    const long taken = kind == IMODE_C2R ? plan->real / 2 + 1 : kind == IMODE_R2C ? plan->real : n;
    const long given = kind == IMODE_R2C ? plan->real / 2 + 1 : kind == IMODE_C2R ? plan->real : n;
    char *const in = work, *const out = work + (size & ~63L), *const middle = out + (size & ~63L);
    char *const rest = middle + (size & ~63L);
    const char *from = src;
    char *to = to_step == to_unit ? dst : out;
    if (kind == IMODE_C2C && step == unit && to_step == to_unit) {
        NAME(line)(plan, src, dst, swap, scale, work);
        return;
    }
    if (step != unit) {
        NAME(move)(src, step, in, unit, taken, unit);
        from = in;
    }
    if (kind == IMODE_C2C)
        NAME(line)(plan, from, to, swap, scale, rest);
    else if (kind == IMODE_R2C && even && plan->whole && plan->n1 <= GROUPS * LANES)
        NAME(two_steps)(plan, from, to, 0, (T)scale, 1, (C *)rest);
    else if (kind == IMODE_R2C && even) {
        NAME(line)(plan, from, middle, 0, 1, rest);
        NAME(split_line)(plan, (T *)middle, (T *)to, scale);
    } else if (even) {
        NAME(merge_line)(plan, (const T *)from, (T *)middle);
        NAME(line)(plan, middle, to, 1, scale, rest);
    } else if (kind == IMODE_R2C) {
        for (long j = 0; j < n; j++) {
            ((T *)middle)[2 * j] = ((const T *)from)[j];
            ((T *)middle)[2 * j + 1] = 0;
        }
        NAME(line)(plan, middle, in, 0, scale, rest);
        memcpy(to, in, given * PAIR);
    } else {
        const T *x = (const T *)from;
        T *all = (T *)middle;
        for (long k = 0; k <= n / 2; k++) {
            all[2 * k] = x[2 * k];
            all[2 * k + 1] = k ? x[2 * k + 1] : 0;
            if (k) {
                all[2 * (n - k)] = x[2 * k];
                all[2 * (n - k) + 1] = -x[2 * k + 1];
            }
        }
        NAME(line)(plan, middle, in, 1, scale, rest);
        NAME(move)(in, PAIR, to, to_unit, n, sizeof(T));
    }
    if (to != dst)
        NAME(move)(to, to_unit, dst, to_step, given, to_unit);
}

static void NAME(run)(const imode_plan *plan, int kind, int inverse, int both, double scale,
                      const char *src, const ptrdiff_t *src_at, ptrdiff_t src_step, char *dst,
                      const ptrdiff_t *dst_at, ptrdiff_t dst_step, int lines, void *work)
{
    const int swap = inverse;
    const int strided = imode_strided(plan, kind, src_step, dst_step);
    const int bundled = imode_bundled(plan, kind, LANES, strided);
    for (int i = 0; i < lines;) {
        int count = lines - i < LANES ? lines - i : LANES;
        if (!bundled || (count <= LANES / 4 && plan->n1))
            count = 1;
        if (bundled && (count > 1 || !plan->n1)) {
            NAME(place) from = {src_at + i, src_step, sizeof(T), count, 0, 0};
            NAME(place) to = {dst_at + i, dst_step, sizeof(T), count, 0, 0};
            NAME(bundle)(plan, kind, swap, (T)scale, src, from, dst, to, work);
        } else {
            NAME(single)(plan, kind, swap, (T)scale, src + src_at[i], src_step, dst + dst_at[i],
                         dst_step, work);
        }
        i += count;
    }
    if (both)
        NAME(mirror)(dst, dst_at, dst_step, lines, plan->real);
}

#undef V
#undef C
#undef PAIR
#undef SPLIT
#undef MERGE
#undef WHOLE
#undef AHEAD
