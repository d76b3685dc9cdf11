/* LU of few rows and columns, and what follows from it. Included by _factor.c through _instances.h.

   Matrices are copied into columns of a whole number of vectors: `ld` elements. */

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

static int NAME(eliminate)(T *a, long ld, long m, long n, int32_t *pivots)
{
    T v[IMODE_FEW + LANES];
    int info = 0;
    for (long k = 0; k < (m < n ? m : n); k++) {
        T *column = a + k * ld, most = column[k] < 0 ? -column[k] : column[k];
        long pivot = k;
        for (long i = k + 1; i < m; i++) {
            const T size = column[i] < 0 ? -column[i] : column[i];
            if (!(size <= most) && most == most)
                most = size, pivot = i;
        }
        pivots[k] = (int32_t)pivot + 1;
        if (most == 0) {
            info = info ? info : (int)k + 1;
            continue;
        }
        for (long j = 0; j < (pivot == k ? 0 : n); j++)
            SWAP(T, a[j * ld + k], a[j * ld + pivot]);
        const T one = column[k], inverse = 1 / one;
        const int exact = most < TINY; /* its inverse is not a number of the type */
        for (long i = DOWN(k + 1); i <= k; i++)
            v[i] = 0;
        for (long i = k + 1; i < m; i++)
            v[i] = column[i] = exact ? column[i] / one : column[i] * inverse;
        for (long i = m; i < ld; i++)
            v[i] = 0;
        for (long j = k + 1; j < n; j++)
            NAME(add_times)(a + j * ld, v, -a[j * ld + k], DOWN(k + 1), ld);
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

/* U^-1, then X L = U^-1. */
static int NAME(inverse)(long n, T *a)
{
    T columns[IMODE_FEW * IMODE_FEW], x[IMODE_FEW * IMODE_FEW], w[IMODE_FEW];
    int32_t pivots[IMODE_FEW];
    const long ld = UP(n);
    NAME(load)(columns, ld, a, n, n, n);
    const int info = NAME(eliminate)(columns, ld, n, n, pivots);
    if (info)
        return info;
    for (long j = 0; j < n; j++) {
        const T *u = columns + j * ld, inverse = 1 / u[j];
        NAME(combine)(w, u, x, ld, 0, j, 0, ld);
        for (long i = 0; i < ld; i += LANES)
            AT(x, j * ld + i) = READ(w, i) * -inverse;
        x[j * ld + j] = inverse;
    }
    for (long j = n - 2; j >= 0; j--) {
        NAME(combine)(w, columns + j * ld, x, ld, j + 1, n, 0, ld);
        NAME(add_times)(x + j * ld, w, -1, 0, ld);
    }
    for (long j = n - 1; j >= 0; j--)
        for (long i = 0; i < (pivots[j] == j + 1 ? 0 : n); i++)
            SWAP(T, x[j * ld + i], x[(pivots[j] - 1) * ld + i]);
    NAME(unload)(a, n, x, ld, n, n);
    return 0;
}

/* Right-hand sides by as many columns as there is room for. */
static void NAME(solve_lu)(long n, long k, const T *a, const int32_t *pivots, T *b, long ldb)
{
    T columns[IMODE_FEW * IMODE_FEW], v[IMODE_FEW + LANES];
    const long ld = UP(n);
    for (long first = 0; first < k; first += IMODE_FEW, b += IMODE_FEW * ldb) {
        const long count = k - first < IMODE_FEW ? k - first : IMODE_FEW;
        NAME(load)(columns, ld, b, ldb, n, count);
        for (long i = 0; i < n; i++) {
            const long pivot = pivots[i] - 1;
            for (long c = 0; c < (pivot == i ? 0 : count); c++)
                SWAP(T, columns[c * ld + i], columns[c * ld + pivot]);
        }
        for (long i = 0; i < n; i++) { /* L */
            for (long r = DOWN(i + 1); r < ld; r++)
                v[r] = r > i && r < n ? a[i * n + r] : 0;
            for (long c = 0; c < (i + 1 < n ? count : 0); c++)
                NAME(add_times)(columns + c * ld, v, -columns[c * ld + i], DOWN(i + 1), ld);
        }
        for (long i = n - 1; i >= 0; i--) { /* U */
            const T pivot = a[i * n + i];
            for (long r = 0; r < UP(i); r++)
                v[r] = r < i ? a[i * n + r] : 0;
            for (long c = 0; c < count; c++) {
                T *column = columns + c * ld;
                column[i] /= pivot;
                NAME(add_times)(column, v, -column[i], 0, UP(i));
            }
        }
        NAME(unload)(b, ldb, columns, ld, n, count);
    }
}
