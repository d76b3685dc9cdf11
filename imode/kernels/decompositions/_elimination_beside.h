/* LU of very few rows and columns, of as many matrices at once as a vector has elements: element e of each
   of them is vector e. Included by _elimination.h; the bits are the same as there. */

INLINE void NAME(load_beside)(V *to, const T *a, long step, long elements)
{
    for (long e = 0; e < elements; e++)
        for (int i = 0; i < LANES; i++)
            to[e][i] = a[i * step + e];
}

INLINE void NAME(unload_beside)(T *a, long step, const V *from, long elements)
{
    for (long e = 0; e < elements; e++)
        for (int i = 0; i < LANES; i++)
            a[i * step + e] = from[e][i];
}

/* Row k of n columns is exchanged with that of the pivot, which is none before `first`. */
INLINE void NAME(exchange_beside)(V *a, long m, long n, long first, long k, V pivot)
{
    for (long i = first; i < m; i++) {
        const M here = pivot == (T)i;
        for (long j = 0; j < n; j++) {
            const V kept = a[j * m + k], other = a[j * m + i];
            a[j * m + k] = NAME(choose)(here, other, kept);
            a[j * m + i] = NAME(choose)(here, kept, other);
        }
    }
}

/* Returns the numbers of the first pivots that are 0, from 1, or 0. Pivots are counted from 0. */
INLINE V NAME(eliminate_beside)(V *a, long m, long n, V *pivots)
{
    V info = {0};
    for (long k = 0; k < (m < n ? m : n); k++) {
        V *column = a + k * m, v[IMODE_VERY_FEW];
        V most = NAME(size)(column[k]);
        V pivot = (V){0} + (T)k;
        for (long i = k + 1; i < m; i++) {
            const V size = NAME(size)(column[i]);
            const M more = size > most;
            most = NAME(choose)(more, size, most);
            pivot = NAME(choose)(more, (V){0} + (T)i, pivot);
        }
        pivots[k] = pivot;
        const M none = most == 0;
        info = NAME(choose)(none & (info == 0), (V){0} + (T)(k + 1), info);
        NAME(exchange_beside)(a, m, n, k + 1, k, pivot);
        const V one = column[k], inverse = 1 / one;
        const M exact = m == n && n <= 4 && k == n - 2 ? most == most : most < TINY;
        const int some = NAME(any)(exact);
        for (long i = k + 1; i < m; i++) {
            V x = column[i] * inverse;
            if (some)
                x = NAME(choose)(exact, column[i] / one, x);
            v[i] = column[i] = NAME(choose)(none, column[i], x);
        }
        for (long j = k + 1; j < n; j++)
            for (long i = k + 1; i < m; i++)
                a[j * m + i] -= v[i] * a[j * m + k];
    }
    return info;
}

/* The solution in the place of a right-hand side whose rows have been exchanged. */
INLINE void NAME(substitute_beside)(long n, const V *lu, V *x)
{
    for (long i = 0; i + 1 < n; i++)
        for (long r = i + 1; r < n; r++)
            x[r] -= lu[i * n + r] * x[i];
    for (long i = n - 1; i >= 0; i--) {
        x[i] /= lu[i * n + i];
        for (long r = 0; r < i; r++)
            x[r] -= lu[i * n + r] * x[i];
    }
}

INLINE void NAME(put_info)(V info, int32_t *to)
{
    for (int i = 0; i < LANES; i++)
        to[i] = (int32_t)info[i];
}

INLINE void NAME(lu_beside)(long m, long n, T *a, int32_t *pivots, int32_t *info)
{
    V lu[IMODE_VERY_FEW * IMODE_VERY_FEW];
    V rows[IMODE_VERY_FEW];
    const long least = m < n ? m : n;
    NAME(load_beside)(lu, a, m * n, m * n);
    NAME(put_info)(NAME(eliminate_beside)(lu, m, n, rows), info);
    NAME(unload_beside)(a, m * n, lu, m * n);
    for (long k = 0; k < least; k++)
        for (int i = 0; i < LANES; i++)
            pivots[i * least + k] = (int32_t)rows[k][i] + 1;
}

INLINE void NAME(inverse_beside)(long n, T *a, int32_t *info)
{
    V lu[IMODE_VERY_FEW * IMODE_VERY_FEW], x[IMODE_VERY_FEW * IMODE_VERY_FEW];
    V rows[IMODE_VERY_FEW];
    NAME(load_beside)(lu, a, n * n, n * n);
    const V zeros = NAME(eliminate_beside)(lu, n, n, rows);
    NAME(put_info)(zeros, info);
    for (long e = 0; e < n * n; e++)
        x[e] = (V){0} + (T)(e % (n + 1) == 0);
    for (long k = 0; k < n; k++)
        NAME(exchange_beside)(x, n, n, k + 1, k, rows[k]);
    for (long j = 0; j < n; j++) {
        NAME(substitute_beside)(n, lu, x + j * n);
        for (long i = 0; i < n; i++)
            x[j * n + i] = NAME(choose)(zeros == 0, x[j * n + i], (V){0} + (T)NAN);
    }
    NAME(unload_beside)(a, n * n, x, n * n);
}

INLINE void NAME(solve_beside)(long n, long k, const T *a, const int32_t *pivots, T *b, long step)
{
    V lu[IMODE_VERY_FEW * IMODE_VERY_FEW], x[IMODE_VERY_FEW];
    V rows[IMODE_VERY_FEW];
    NAME(load_beside)(lu, a, n * n, n * n);
    for (long i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++)
            rows[i][l] = (T)(pivots[l * n + i] - 1);
    for (long c = 0; c < k; c++, b += n) {
        NAME(load_beside)(x, b, step, n);
        for (long i = 0; i < n; i++)
            NAME(exchange_beside)(x, n, 1, 0, i, rows[i]);
        NAME(substitute_beside)(n, lu, x);
        NAME(unload_beside)(b, step, x, n);
    }
}

/* ---- of a stack, as many as there are vectors of; returns how many. The compiler knows common sizes. ---- */

static long NAME(lu_most)(long count, long m, long n, T *a, int32_t *pivots, int32_t *info)
{
    const long least = m < n ? m : n;
    long i = 0;
    for (; i + LANES <= count; i += LANES) {
        if (m == 3 && n == 3)
            NAME(lu_beside)(3, 3, a + i * 9, pivots + i * 3, info + i);
        else if (m == 4 && n == 4)
            NAME(lu_beside)(4, 4, a + i * 16, pivots + i * 4, info + i);
        else
            NAME(lu_beside)(m, n, a + i * m * n, pivots + i * least, info + i);
    }
    return i;
}

static long NAME(inverse_most)(long count, long n, T *a, int32_t *info)
{
    long i = 0;
    for (; i + LANES <= count; i += LANES) {
        if (n == 3)
            NAME(inverse_beside)(3, a + i * 9, info + i);
        else if (n == 4)
            NAME(inverse_beside)(4, a + i * 16, info + i);
        else
            NAME(inverse_beside)(n, a + i * n * n, info + i);
    }
    return i;
}

static long NAME(solve_most)(long count, long n, long k, const T *a, const int32_t *pivots, T *b)
{
    long i = 0;
    for (; i + LANES <= count; i += LANES) {
        if (n == 3)
            NAME(solve_beside)(3, k, a + i * 9, pivots + i * 3, b + i * 3 * k, 3 * k);
        else if (n == 4)
            NAME(solve_beside)(4, k, a + i * 16, pivots + i * 4, b + i * 4 * k, 4 * k);
        else
            NAME(solve_beside)(n, k, a + i * n * n, pivots + i * n, b + i * n * k, n * k);
    }
    return i;
}
