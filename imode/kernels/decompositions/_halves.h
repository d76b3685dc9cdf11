/* Parts of larger matrices, whose columns are `lda` and `ldb` apart. Included by _halves.c through _instances.h. */

#define WIDE (2 * LANES) /* right-hand sides that are solved side by side */

/* From a triangle with strides `ar` and `ac` the solutions of k right-hand sides. An upper one is solved from its
   last row on: `own` and `x` are in the order of solution. */
static void NAME(triangle)(int lower, int unit, long n, long k, const T *a, long ar, long ac, T *b, long ldb)
{
    T own[IMODE_FEW * IMODE_FEW] = {0}, pivots[IMODE_FEW], x[IMODE_FEW * WIDE] = {0};
    const long fours = (n + 3) / 4 * 4, step = lower ? 1 : -1;
    a += lower ? 0 : (n - 1) * (ar + ac);
    b += lower ? 0 : n - 1;
    for (long i = 0; i < fours; i++) {
        pivots[i] = unit || i >= n ? 1 : a[i * step * (ar + ac)];
        for (long j = 0; j < (i < n ? i : 0); j++)
            own[j * IMODE_FEW + i] = a[i * step * ar + j * step * ac];
    }
    for (long first = 0; first < k; first += WIDE, b += WIDE * ldb) {
        const long count = k - first < WIDE ? k - first : WIDE;
        for (long c = 0; c < count; c++)
            for (long i = 0; i < n; i++)
                x[i * WIDE + c] = b[c * ldb + i * step];
        for (long i = 0; i < fours; i += 4) {
            const T *of = own + i;
            V sum[4][2];
            UNROLL
            for (int r = 0; r < 4; r++)
                sum[r][0] = READ(x, (i + r) * WIDE), sum[r][1] = READ(x, (i + r) * WIDE + LANES);
            for (long j = 0; j < i; j++, of += IMODE_FEW) {
                const V known[2] = {READ(x, j * WIDE), READ(x, j * WIDE + LANES)};
                UNROLL
                for (int r = 0; r < 4; r++)
                    sum[r][0] -= of[r] * known[0], sum[r][1] -= of[r] * known[1];
            }
            UNROLL
            for (int r = 0; r < 4; r++) {
                UNROLL
                for (int s = 0; s < r; s++) {
                    const T factor = of[s * IMODE_FEW + r];
                    sum[r][0] -= factor * sum[s][0], sum[r][1] -= factor * sum[s][1];
                }
                if (!unit)
                    sum[r][0] /= pivots[i + r], sum[r][1] /= pivots[i + r];
                AT(x, (i + r) * WIDE) = sum[r][0], AT(x, (i + r) * WIDE + LANES) = sum[r][1];
            }
        }
        for (long c = 0; c < count; c++)
            for (long i = 0; i < n; i++)
                b[c * ldb + i * step] = x[i * WIDE + c];
    }
}

/* The same of any number of rows, whose columns are `lda` apart, and one right-hand side: column after column. */
static void NAME(vector)(int lower, int unit, long n, const T *a, long lda, T *x)
{
    for (long step = 0; step < n; step++) {
        const long i = lower ? step : n - 1 - step, end = lower ? n : i;
        const T *column = a + i * lda;
        if (!unit)
            x[i] /= column[i];
        const T factor = x[i];
        for (long r = lower ? i + 1 : 0; r < end; r++)
            x[r] -= factor * column[r];
    }
}

INLINE void NAME(exchange_in)(const int columns, long n, T *b, long ldb, const int32_t *pivots, int back)
{
    for (long step = 0; step < n; step++) {
        const long i = back ? n - 1 - step : step, pivot = pivots[i] - 1;
        UNROLL
        for (int c = 0; c < columns; c++)
            SWAP(T, b[c * ldb + i], b[c * ldb + pivot]);
    }
}

/* The exchanges of rows that LU was made with, or their inverse. */
static void NAME(exchange)(long n, long k, T *b, long ldb, const int32_t *pivots, int back)
{
    long c = 0;
    for (; c + 4 <= k; c += 4)
        NAME(exchange_in)(4, n, b + c * ldb, ldb, pivots, back);
    for (; c < k; c++)
        NAME(exchange_in)(1, n, b + c * ldb, ldb, pivots, back);
}

#include "_masks.h"

/* Which of n elements is the largest in size; not one that is NaN, but the first. */
INLINE long NAME(pivot_of)(const T *a, long n)
{
    V most = {0};
    long i = 0;
    T size = a[0] < 0 ? -a[0] : a[0], each[LANES];
    if (size != size)
        return 0;
    for (; i + LANES <= n; i += LANES) {
        const V v = NAME(size)(READ(a, i));
        most = NAME(choose)(v > most, v, most);
    }
    memcpy(each, &most, sizeof(each));
    for (int l = 0; l < LANES; l++)
        size = each[l] > size ? each[l] : size;
    for (; i < n; i++) {
        const T other = a[i] < 0 ? -a[i] : a[i];
        size = other > size ? other : size;
    }
    for (i = 0; a[i] != size && a[i] != -size;)
        i++;
    return i;
}

/* LU of few columns of many rows: `pivots` from 1 to m. 0, or the number of the first pivot that is 0. */
static int NAME(panel)(long m, long n, T *a, long lda, int32_t *pivots)
{
    int info = 0;
    for (long k = 0; k < n; k++) {
        T *column = a + k * lda;
        const long pivot = k + NAME(pivot_of)(column + k, m - k);
        pivots[k] = (int32_t)pivot + 1;
        const int none = column[pivot] == 0; /* nothing to divide by: NaN below it is still subtracted */
        if (none && !info)
            info = (int)k + 1;
        for (long j = 0; j < (pivot == k ? 0 : n); j++)
            SWAP(T, a[j * lda + k], a[j * lda + pivot]);
        const T one = column[k], inverse = 1 / one;
        const int exact = -TINY < one && one < TINY; /* its inverse is not a number of the type */
        for (long i = k + 1; i < (none ? 0 : m); i++)
            column[i] = exact ? column[i] / one : column[i] * inverse;
        for (long j = k + 1; j < n; j++) {
            T *other = a + j * lda;
            const T factor = other[k];
            for (long i = k + 1; i < m; i++)
                other[i] -= column[i] * factor;
        }
    }
    return info;
}

#undef WIDE
