/* LU of few rows and columns, and what follows from it. Included by _factor.c through _instances.h.

   Matrices are copied into columns of a whole number of vectors: `ld` elements. */

/* Products are rounded before they are subtracted, and a column is multiplied by its pivot's inverse, but for
   the last of up to 4 rows, which is divided: as MKL does, so that up to 16 rows and columns the bits are
   PyTorch's. A matrix of small integers that is singular has a pivot of 0 then, as nearly always there. */

INLINE void NAME(load)(T *to, long ld, const T *a, long lda, long m, long n)
{
    for (long j = 0; j < n; j++, to += ld, a += lda) {
        for (long i = DOWN(m); i < ld; i++)
            to[i] = 0;
        for (long i = 0; i < m; i++)
            to[i] = a[i];
    }
}

INLINE void NAME(unload)(T *a, long lda, const T *from, long ld, long m, long n)
{
    for (long j = 0; j < n; j++)
        for (long i = 0; i < m; i++)
            a[j * lda + i] = from[j * ld + i];
}

#include "_masks.h"

/* The elements of a vector before number `n`. */
INLINE M NAME(before)(long n)
{
    M mask = {0};
    for (int i = 0; i < LANES; i++)
        mask[i] = i < n ? -1 : 0;
    return mask;
}

/* v times a number is subtracted from a column's vectors from `begin` to `end`, from that at `partial` where
   `mask` says. What is beyond keeps its bits: infinity times 0 would be NaN. */
INLINE void NAME(subtract)(T *column, const T *v, T factor, long begin, long end, long partial, M mask)
{
    for (long j = begin; j < end; j += LANES) {
        const V product = READ(v, j) * factor;
        AT(column, j) -= j == partial ? (V)((M)product & mask) : product;
    }
}

static int NAME(eliminate)(T *a, long ld, long m, long n, int32_t *pivots)
{
    T v[IMODE_FEW + LANES] = {0};
    int info = 0;
    for (long k = 0; k < (m < n ? m : n); k++) {
        T *column = a + k * ld, most = column[k] < 0 ? -column[k] : column[k];
        long pivot = k;
        for (long i = k + 1; i < m; i++) {
            const T size = column[i] < 0 ? -column[i] : column[i];
            if (size > most)
                most = size, pivot = i;
        }
        pivots[k] = (int32_t)pivot + 1;
        const int none = most == 0; /* nothing to divide by: NaN below it is still subtracted */
        if (none && !info)
            info = (int)k + 1;
        for (long j = 0; j < (pivot == k ? 0 : n); j++)
            SWAP(T, a[j * ld + k], a[j * ld + pivot]);
        const T one = column[k], inverse = 1 / one;
        const int exact = most < TINY /* its inverse is not a number of the type */
                          || (m == n && n <= 4 && k == n - 2);
        const long begin = DOWN(k + 1);
        const M below = ~NAME(before)(k + 1 - begin);
        for (long i = k + 1; i < m; i++)
            v[i] = column[i] = none ? column[i] : exact ? column[i] / one : column[i] * inverse;
        for (long j = k + 1; j < n; j++)
            NAME(subtract)(a + j * ld, v, a[j * ld + k], begin, ld, begin, below);
    }
    return info;
}

static int NAME(lu)(long m, long n, T *a, int32_t *pivots)
{
    T columns[IMODE_FEW * IMODE_FEW];
    const long ld = UP(m);
    NAME(load)(columns, ld, a, m, m, n);
    const int info = NAME(eliminate)(columns, ld, m, n, pivots);
    NAME(unload)(a, m, columns, ld, m, n);
    return info;
}

/* From LU, whose columns are `step` apart, the solutions in the place of right-hand sides whose rows have been
   exchanged. */
static void NAME(substitute)(long n, const T *lu, long step, T *x, long ld, long count)
{
    T v[IMODE_FEW + LANES] = {0};
    for (long i = 0; i + 1 < n; i++) { /* L */
        const long begin = DOWN(i + 1);
        const M below = ~NAME(before)(i + 1 - begin);
        for (long r = i + 1; r < n; r++)
            v[r] = lu[i * step + r];
        for (long c = 0; c < count; c++)
            NAME(subtract)(x + c * ld, v, x[c * ld + i], begin, ld, begin, below);
    }
    for (long i = n - 1; i >= 0; i--) { /* U */
        const T pivot = lu[i * step + i];
        const M above = NAME(before)(i - DOWN(i));
        for (long r = 0; r < i; r++)
            v[r] = lu[i * step + r];
        for (long c = 0; c < count; c++) {
            T *column = x + c * ld;
            column[i] /= pivot;
            NAME(subtract)(column, v, column[i], 0, UP(i), DOWN(i), above);
        }
    }
}

/* The same for the columns of a unit matrix whose rows have been exchanged: rows x, side by side. */
static void NAME(substitute_unit)(long n, const T *lu, T *x, long ld)
{
    for (long r = 1; r < n; r++) /* L */
        for (long j = 0; j < ld; j += LANES) {
            V sum = READ(x, r * ld + j);
            for (long i = 0; i < r; i++) {
                const V product = READ(x, i * ld + j) * lu[i * ld + r];
                sum -= product;
            }
            AT(x, r * ld + j) = sum;
        }
    for (long r = n - 1; r >= 0; r--) /* U */
        for (long j = 0; j < ld; j += LANES) {
            V sum = READ(x, r * ld + j);
            for (long i = n - 1; i > r; i--) {
                const V product = READ(x, i * ld + j) * lu[i * ld + r];
                sum -= product;
            }
            AT(x, r * ld + j) = sum / lu[r * ld + r];
        }
}

static int NAME(inverse)(long n, T *a)
{
    T columns[IMODE_FEW * IMODE_FEW], x[IMODE_FEW * IMODE_FEW];
    int32_t pivots[IMODE_FEW], order[IMODE_FEW];
    const long ld = UP(n);
    NAME(load)(columns, ld, a, n, n, n);
    const int info = NAME(eliminate)(columns, ld, n, n, pivots);
    for (long e = 0; e < (info ? n * n : 0); e++)
        a[e] = NAN;
    if (info)
        return info;
    for (long i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (long i = 0; i < n; i++)
        SWAP(int32_t, order[i], order[pivots[i] - 1]);
    memset(x, 0, n * ld * sizeof(T));
    for (long i = 0; i < n; i++)
        x[i * ld + order[i]] = 1;
    NAME(substitute_unit)(n, columns, x, ld);
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            a[j * n + i] = x[i * ld + j];
    return 0;
}

/* Right-hand sides by as many columns as there is room for. */
static void NAME(solve)(long n, long k, const T *a, const int32_t *pivots, T *b)
{
    T columns[IMODE_FEW * IMODE_FEW];
    const long ld = UP(n);
    for (long first = 0; first < k; first += IMODE_FEW, b += IMODE_FEW * n) {
        const long count = k - first < IMODE_FEW ? k - first : IMODE_FEW;
        NAME(load)(columns, ld, b, n, n, count);
        for (long i = 0; i < n; i++) {
            const long pivot = pivots[i] - 1; /* a user's, perhaps */
            for (long c = 0; c < (pivot == i || pivot < 0 || pivot >= n ? 0 : count); c++)
                SWAP(T, columns[c * ld + i], columns[c * ld + pivot]);
        }
        NAME(substitute)(n, a, n, columns, ld, count);
        NAME(unload)(b, n, columns, ld, n, count);
    }
}

/* ---- stacks ---- */

#include "_elimination_beside.h"

static void NAME(lu_stack)(long count, long m, long n, T *a, int32_t *pivots, int32_t *info)
{
    const long least = m < n ? m : n;
    for (long i = m <= IMODE_VERY_FEW && n <= IMODE_VERY_FEW ? NAME(lu_most)(count, m, n, a, pivots, info) : 0;
         i < count; i++)
        info[i] = NAME(lu)(m, n, a + i * m * n, pivots + i * least);
}

static void NAME(inverse_stack)(long count, long n, T *a, int32_t *info)
{
    for (long i = n <= IMODE_VERY_FEW ? NAME(inverse_most)(count, n, a, info) : 0; i < count; i++)
        info[i] = NAME(inverse)(n, a + i * n * n);
}

static void NAME(solve_stack)(long count, long n, long k, const T *a, const int32_t *pivots, T *b)
{
    for (long i = n <= IMODE_VERY_FEW ? NAME(solve_most)(count, n, k, a, pivots, b) : 0; i < count; i++)
        NAME(solve)(n, k, a + i * n * n, pivots + i * n, b + i * n * k);
}
