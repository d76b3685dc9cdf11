/* The Hessenberg form of a matrix, after balancing. Included by _spectral.c as _padded_rows.h is, after it. */

/* ---- balancing: rows and columns that show an eigenvalue go to the ends, the others' sizes are made
   alike by powers of 2 ---- */

INLINE void NAME(exchange)(T *a, long ld, long n, long i, long j)
{
    for (long k = 0; k < (i == j ? 0 : n); k++)
        SWAP(T, a[k * ld + i], a[k * ld + j]);
    for (long k = 0; k < (i == j ? 0 : n); k++)
        SWAP(T, a[i * ld + k], a[j * ld + k]);
}

/* Whether of row (or column) j there is nothing but the diagonal, from lo to hi. */
static int NAME(isolated)(const T *a, long step, long across, long j, long lo, long hi)
{
    for (long i = lo; i <= hi; i++)
        if (i != j && a[j * step + i * across] != 0)
            return 0;
    return 1;
}

/* The rows lo .. hi that are left; scale: of these a factor, of the others the row exchanged with. */
static void NAME(permute)(T *a, long n, long ld, double *scale, long *lo, long *hi)
{
    long first = 0, last = n - 1;
    for (long j = last; j >= 0 && last > 0; j--)
        if (NAME(isolated)(a, ld, 1, j, 0, last)) {
            NAME(exchange)(a, ld, n, j, last);
            scale[last--] = (double)j;
            j = last + 1;
        }
    for (long j = first; j <= last && first < last; j++)
        if (NAME(isolated)(a, 1, ld, j, first, last)) {
            NAME(exchange)(a, ld, n, j, first);
            scale[first++] = (double)j;
            j = first - 1;
        }
    *lo = first;
    *hi = last;
}

static double NAME(length)(const T *x, long step, long count)
{
    double sum = 0, larger = 0;
    for (long i = 0; i < count; i++)
        sum += (double)x[i * step] * x[i * step];
    if (sum > 1e-280 && sum < 1e280)
        return sqrt(sum);
    const double factor = sum < 1 ? 0x1p500 : 0x1p-500;
    for (long i = 0; i < count; i++)
        larger += x[i * step] * factor * (x[i * step] * factor);
    return sqrt(larger) / factor;
}

static void NAME(equalize)(T *a, long n, long ld, double *scale, long lo, long hi)
{
    for (int changed = 1, passes = 0; changed && passes < 40; passes++) {
        changed = 0;
        for (long i = lo; i <= hi; i++) {
            const double column = NAME(length)(a + lo * ld + i, ld, hi - lo + 1);
            const double row = NAME(length)(a + i * ld + lo, 1, hi - lo + 1);
            double f = 1, c = column, r = row;
            if (c == 0 || r == 0)
                continue;
            for (; c < r / 2 && f < 0x1p60; c *= 2, r /= 2)
                f *= 2;
            for (; c / 2 >= r && f > 0x1p-60; c /= 2, r *= 2)
                f /= 2;
            const double all = scale[i] * f;
            if (c + r >= 0.95 * (column + row) || all > 0x1p100 || all < 0x1p-100)
                continue;
            scale[i] = all;
            changed = 1;
            for (long k = 0; k < n; k++)
                a[i * ld + k] = (T)(a[i * ld + k] / f);
            for (long k = 0; k <= hi; k++)
                a[k * ld + i] = (T)(a[k * ld + i] * f);
        }
    }
}

/* ---- the Hessenberg form Q^T A Q of rows lo .. hi; zt: Q^T by rows, or NULL ---- */

static void NAME(hessenberg)(T *a, long ld, long lo, long hi, T *zt, T *v, T *w)
{
    for (long k = lo; k + 1 < hi; k++) {
        const long begin = DOWN(k + 1), end = UP(hi + 1);
        T beta;
        memset(v + begin, 0, (end - begin) * sizeof(T));
        for (long i = k + 1; i <= hi; i++)
            v[i] = a[i * ld + k];
        const T tau = NAME(reflection)(v, k + 1, hi + 1, &beta);
        if (tau != 0) {
            for (long i = 0; i <= hi; i++)
                NAME(add_times)(a + i * ld, v, -tau * NAME(dot)(a + i * ld, v, begin, end), begin, end);
            NAME(reflect_rows)(a, ld, v, tau, k + 1, hi + 1, begin, ld, w);
            if (zt)
                NAME(reflect_rows)(zt, ld, v, tau, k + 1, hi + 1, DOWN(lo), end, w);
        }
        a[(k + 1) * ld + k] = beta;
        for (long i = k + 2; i <= hi; i++)
            a[i * ld + k] = 0;
    }
}
