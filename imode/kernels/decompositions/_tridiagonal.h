/* Eigenvalues of tridiagonal matrices, in double precision for both types. */
#ifndef IMODE_TRIDIAGONAL_H
#define IMODE_TRIDIAGONAL_H

/* Turn the rows l .. last over. */
static void turn_over(double *d, double *e, long l, long last)
{
    for (long i = l, j = last; i < j; i++, j--)
        SWAP(double, d[i], d[j]);
    for (long i = l, j = last - 1; i < j; i++, j--)
        SWAP(double, e[i], e[j]);
}

/* The last row of the block that begins at l: what is beside its diagonal is negligible. */
static long block_end(const double *d, const double *e, long l, long n, double epsilon)
{
    for (; l < n - 1; l++)
        if (fabs(e[l]) <= sqrt(fabs(d[l])) * sqrt(fabs(d[l + 1])) * epsilon)
            break;
    return l;
}

/* QL without square roots, by Pal, Walker and Kahan (Parlett, The Symmetric Eigenvalue Problem, 8.15), on
   the rows l .. m; e: squares. */
static void values_step(double *d, double *e, long l, long m)
{
    const double root = sqrt(e[l]);
    double sigma = (d[l + 1] - d[l]) / (2 * root);
    sigma = d[l] - root / (sigma + copysign(sqrt(sigma * sigma + 1), sigma));
    double c = 1, s = 0, gamma = d[m] - sigma, p = gamma * gamma;
    for (long i = m - 1; i >= l; i--) {
        const double square = e[i], r = p + square, before = c, last = gamma;
        const double inverse = 1 / r, over = r / p; /* side by side: the loop is bound by latency */
        e[i + 1] = s * r;
        c = p * inverse;
        s = square * inverse;
        gamma = c * (d[i] - sigma) - s * last;
        d[i + 1] = last + (d[i] - gamma);
        p = over < 1e250 ? gamma * gamma * over : before * square;
    }
    e[l] = s * p;
    d[l] = sigma + gamma;
}

static int ql_of_values(long n, double *d, double *e, double epsilon)
{
    long left = 30 * n;
    for (long l = 0, last; l < n; l = last + 1) {
        last = block_end(d, e, l, n, epsilon);
        if (fabs(d[last]) < fabs(d[l]))
            turn_over(d, e, l, last);
        for (long i = l; i < last; i++)
            e[i] *= e[i];
        while (l < last) {
            long m = l;
            while (m < last && e[m] > epsilon * epsilon * fabs(d[m] * d[m + 1]) + 1e-300)
                m++;
            if (m == l)
                l++;
            else if (left-- == 0)
                return -1;
            else {
                e[m] = 0;
                values_step(d, e, l, m);
            }
        }
    }
    return 0;
}

#endif
