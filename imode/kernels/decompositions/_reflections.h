/* Reflections that make R of a few columns of many rows. Included by _orthogonal.c through _instances.h. */

#define CHUNK (64 * LANES) /* rows whose products are summed one after another: more would be less exact */

/* The products of x with IMODE_PANEL columns, whole vectors of rows. */
NOINLINE void NAME(products)(const T *x, const T *v, long ldv, long begin, long end, T *out)
{
    memset(out, 0, IMODE_PANEL * sizeof(T));
    for (long r = begin; r < end;) {
        const long last = end - r < CHUNK ? end : r + CHUNK;
        V sums[IMODE_PANEL] = {{0}};
        for (; r < last; r += LANES) {
            const V of = READ(x, r);
            UNROLL
            for (int c = 0; c < IMODE_PANEL; c++)
                sums[c] += of * READ(v, c * ldv + r);
        }
        for (int c = 0; c < IMODE_PANEL; c++)
            out[c] += NAME(total)(sums[c]);
    }
}

#ifndef __clang__ /* what is written out is all that pays: what is around it is a third smaller */
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif

/* Whether numbers are finite, and the sum of their squares neither very large nor very small. */
static inline int NAME(moderate)(const void *numbers, long n)
{
    const T *a = numbers;
    V sums[4] = {{0}};
    double squares = 0;
    for (; n >= 4 * LANES; n -= 4 * LANES, a += 4 * LANES) {
        UNROLL
        for (int i = 0; i < 4; i++)
            sums[i] += READ(a, i * LANES) * READ(a, i * LANES);
    }
    while (n--)
        squares += a[n] * a[n];
    squares += NAME(total)(sums[0] + sums[1] + sums[2] + sums[3]);
    return SMALL_SQUARE < squares && squares < 1 / SMALL_SQUARE;
}

/* See imode_add_columns in orthogonal.h. */
static inline void NAME(add_columns)(long m, long n, const void *from, void *target, long ld)
{
    const T *a = from;
    T *to = target;
    for (; n > 0; n--, a += m, to += ld) {
        long i = 0;
        for (; i + LANES <= m; i += LANES)
            AT(to, i) += READ(a, i);
        for (; i < m; i++)
            to[i] += a[i];
    }
}

/* See imode_turn in orthogonal.h. */
static inline void NAME(turn)(long m, long n, const void *from, long lda, void *target)
{
    const T *a = from;
    T *to = target;
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            *to++ = a[j * lda + i];
}

NOINLINE void NAME(multiply)(T *x, T factor, long begin, long end)
{
    for (long i = begin; i < end; i += LANES)
        AT(x, i) *= factor;
}

/* See imode_reflect in orthogonal.h. A row leaves the columns once it is one of R: so vectors of rows may
   begin before the rows that are left. */
static void NAME(reflect)(long m, long n, void *columns, long ldv, void *upper, long ldr, void *factors,
                          void *triangle, long lds)
{
    T *v = columns, *r = upper, *tau = factors, *s = triangle;
    for (long j = 0; j < n; j++) {
        T *x = v + j * ldv, along[IMODE_PANEL];
        const long begin = DOWN(j);
        double a = x[j], back = 1, beta = a, factor = 0;
        long used = m;
        x[j] = 0;
        while (used > j && x[used - 1] == 0)
            used--;
        NAME(products)(x, v, ldv, begin, m, along);
        tau[j] = 0;
        if (used > j) { /* there is something to reflect */
            while (a * a + along[j] <= SMALL_SQUARE) { /* of tiny numbers: once more, larger */
                NAME(multiply)(x, (T)LARGE_FACTOR, begin, m);
                a *= LARGE_FACTOR, back /= LARGE_FACTOR;
                NAME(products)(x, v, ldv, begin, m, along);
            }
            beta = -copysign(sqrt(a * a + along[j]), a);
            factor = 1 / (a - beta);
            tau[j] = (T)((beta - a) / beta);
        }
        NAME(multiply)(x, (T)factor, begin, m);
        s[j * lds + j] = factor == 0 ? 1 : 1 / tau[j];
        r[j * ldr + j] = (T)(beta * back);
        for (long c = 0; c < n; c++) {
            T *other = v + c * ldv;
            const T product = factor == 0 ? 0 : (T)(other[j] + factor * along[c]);
            if (c < j)
                s[j * lds + c] = product;
            if (c <= j)
                continue;
            r[c * ldr + j] = other[j] - tau[j] * product;
            other[j] = 0;
            NAME(add_times)(other, x, -tau[j] * product, begin, m);
        }
        x[j] = factor != 0;
    }
}

#ifndef __clang__
#pragma GCC pop_options
#endif
#undef CHUNK
