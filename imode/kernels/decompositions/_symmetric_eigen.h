/* Eigenvalues and eigenvectors of symmetric matrices: reduction to tridiagonal ones by reflections, then
   implicit QL (Golub and Van Loan, Matrix Computations, 8.3). Included by _spectral.c as
   _padded_rows.h is, after it. */

/* The triangle that is given, of a matrix that lies column by column, to whole rows. */
static void NAME(whole_rows)(const T *a, long n, long ld, int upper, T factor, T *rows)
{
    for (long j = 0; j < n; j++)
        for (long i = upper ? 0 : j; i < (upper ? j + 1 : n); i++)
            rows[i * ld + j] = rows[j * ld + i] = a[j * n + i] * factor;
}

/* The largest absolute value of a triangle, infinity where one is not finite. */
static double NAME(largest_of_triangle)(const T *a, long n, int upper)
{
    double most = 0;
    for (long j = 0; j < n; j++) {
        const double size = NAME(largest)(a + j * n + (upper ? 0 : j), upper ? j + 1 : n - j);
        most = size > most ? size : most;
    }
    return most;
}

/* d and e of the tridiagonal matrix Q^T A Q; zt: Q^T by rows, or NULL. v, w: room for a row each. */
static void NAME(tridiagonal)(T *a, long n, long ld, double *d, double *e, T *zt, T *v, T *w)
{
    for (long k = 0; k + 2 < n; k++) {
        const long begin = DOWN(k + 1), end = UP(n);
        T beta;
        for (long j = begin; j < end; j++)
            v[j] = a[k * ld + j];
        const T tau = NAME(reflection)(v, k + 1, n, &beta);
        d[k] = a[k * ld + k];
        e[k] = beta;
        if (tau == 0)
            continue;
        NAME(combine)(w, v, a, ld, k + 1, n, begin, end);
        for (long j = begin; j <= k; j++)
            w[j] = 0;
        const T half = -tau * NAME(dot)(w, v, begin, end) / 2;
        for (long j = begin; j < end; j += LANES)
            AT(w, j) = (READ(w, j) + READ(v, j) * half) * tau;
        for (long i = k + 1; i < n; i++) {
            T *row = a + i * ld;
            const T vi = v[i], wi = w[i];
            for (long j = begin; j < end; j += LANES)
                AT(row, j) -= READ(w, j) * vi + READ(v, j) * wi;
        }
        if (zt)
            NAME(reflect_rows)(zt, ld, v, tau, k + 1, n, 0, end, w);
    }
    if (n > 1) {
        d[n - 2] = a[(n - 2) * ld + n - 2];
        e[n - 2] = a[(n - 2) * ld + n - 1];
    }
    d[n - 1] = a[(n - 1) * ld + n - 1];
    e[n - 1] = 0;
}

/* Rotate the rows m and m - 1, then m - 1 and m - 2, down to l + 1 and l. */
static void NAME(rotate_rows)(T *rows, long ld, long l, long m, const T *c, const T *s)
{
    long j = 0;
    for (; j + 4 * LANES <= ld; j += 4 * LANES) {
        T *row = rows + m * ld + j;
        V x[4] = {READ(row, 0), READ(row, LANES), READ(row, 2 * LANES), READ(row, 3 * LANES)};
        for (long i = m - 1; i >= l; i--, row -= ld) {
            UNROLL
            for (int u = 0; u < 4; u++) {
                const V y = READ(row - ld, u * LANES);
                AT(row, u * LANES) = x[u] * c[i] + y * s[i];
                x[u] = y * c[i] - x[u] * s[i];
            }
        }
        UNROLL
        for (int u = 0; u < 4; u++)
            AT(row, u * LANES) = x[u];
    }
    for (; j < ld; j += LANES) {
        T *row = rows + m * ld + j;
        V x = READ(row, 0);
        for (long i = m - 1; i >= l; i--, row -= ld) {
            const V y = READ(row - ld, 0);
            AT(row, 0) = x * c[i] + y * s[i];
            x = y * c[i] - x * s[i];
        }
        AT(row, 0) = x;
    }
}

/* One step of QL with Wilkinson's shift on the rows l .. m. */
static void NAME(ql_step)(double *d, double *e, long l, long m, T *c, T *s)
{
    double cosine = 1, sine = 1, p = d[l], r = (d[l + 1] - p) / (2 * e[l]);
    double g = d[m] - p + e[l] / (r + copysign(sqrt(r * r + 1), r));
    p = 0;
    for (long i = m - 1; i >= l; i--) {
        const double b = cosine * e[i];
        double f = sine * e[i], large = 1;
        if (f * f + g * g < 1e-280) { /* squares of such numbers would be too small */
            large = 0x1p700;
            f *= large;
            g *= large;
        }
        r = sqrt(f * f + g * g);
        if (i < m - 1)
            e[i + 1] = r / large;
        const double inverse = 1 / r;
        cosine = r > 0 ? g * inverse : 1;
        sine = r > 0 ? f * inverse : 0;
        g = d[i + 1] - p;
        r = (d[i] - g) * sine + 2 * cosine * b;
        p = sine * r;
        d[i + 1] = g + p;
        g = cosine * r - b;
        c[i] = (T)cosine;
        s[i] = (T)sine;
    }
    d[l] -= p;
    e[l] = g;
}

/* Eigenvalues of a tridiagonal matrix in d; zt: rows that are rotated, too. e is lost. c, s: room for n
   elements. Returns 0, or -1 where there is no end. */
static int NAME(ql)(long n, double *d, double *e, T *zt, long ld, T *c, T *s)
{
    long left = 30 * n;
    for (long l = 0, last; l < n; l = last + 1) {
        last = block_end(d, e, l, n, EPSILON);
        if (fabs(d[last]) < fabs(d[l])) { /* so that the small ones are found first */
            turn_over(d, e, l, last);
            for (long i = l, j = last; i < j; i++, j--)
                for (long k = 0; k < ld; k += LANES)
                    SWAP(V, AT(zt, i * ld + k), AT(zt, j * ld + k));
        }
        while (l < last) {
            long m = l;
            while (m < last && e[m] * e[m] > (EPSILON * EPSILON * fabs(d[m])) * fabs(d[m + 1]) + 1e-300)
                m++;
            if (m == l) {
                l++;
                continue;
            }
            if (left-- == 0)
                return -1;
            e[m] = 0;
            NAME(ql_step)(d, e, l, m, c, s);
            NAME(rotate_rows)(zt, ld, l, m, c, s);
        }
    }
    return 0;
}

/* Of one matrix that lies column by column; the eigenvectors come in its place. Returns 0, or -1 with all
   as it was: what is not finite, and what does not converge, is not this function's. */
static int NAME(eigh)(long n, T *a, int upper, int vectors, T *values, char *work)
{
    const double most = NAME(largest_of_triangle)(a, n, upper);
    const long ld = UP(n);
    int power = 0;
    if (!(most < (double)INFINITY))
        return -1;
    if (most > 0 && (most < 1e-5 || most > 1e5))
        frexp(most, &power);
    double *d = (double *)work, *e = d + ld;
    T *rows = (T *)(e + ld), *zt = rows + n * ld, *v = zt + (vectors ? n * ld : 0);
    T *w = v + ld;
    memset(rows, 0, (char *)(w + ld) - (char *)rows);
    /* In two steps: a factor alone might be beyond the type's range. */
    NAME(whole_rows)(a, n, ld, upper, (T)ldexp(1, -power / 2), rows);
    const T rest = (T)ldexp(1, -power - -power / 2);
    for (long i = 0; i < (power ? n * ld : 0); i++)
        rows[i] *= rest;
    for (long i = 0; i < (vectors ? n : 0); i++)
        zt[i * ld + i] = 1;
    NAME(tridiagonal)(rows, n, ld, d, e, vectors ? zt : NULL, v, w);
    if (vectors ? NAME(ql)(n, d, e, zt, ld, v, w) : ql_of_values(n, d, e, EPSILON))
        return -1;
    for (long j = 0; j < n; j++) { /* the least first */
        long least = j;
        for (long i = j + 1; i < n; i++)
            least = d[i] < d[least] ? i : least;
        const double value = d[least];
        d[least] = d[j];
        values[j] = (T)ldexp(value, power);
        if (vectors) {
            memcpy(a + j * n, zt + least * ld, n * sizeof(T));
            memcpy(zt + least * ld, zt + j * ld, n * sizeof(T));
        }
    }
    return 0;
}
