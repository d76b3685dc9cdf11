/* Eigenvalues of small real matrices: the loops for each element type and instruction set. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "spectral.h"

#define UNROLL _Pragma("GCC unroll 8")

#define SWAP(type, a, b)   \
    do {                   \
        const type kept = a; \
        a = b;             \
        b = kept;          \
    } while (0)

/* ---- eigenvalues alone of tridiagonal matrices, in double precision for both types ---- */

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

#define T float
#define EPSILON (FLT_EPSILON / 2.0) /* half the distance from 1 to the next number */
#define TINY FLT_MIN
#define MOST 0x1p60                 /* of an element of a vector while it is computed */
#define SMALL_SQUARE 1e-30          /* below it, squares may have been too small for the type */
#define LARGE_FACTOR 0x1p60
#define LANES 4
#define SUFFIX float_any
#include "_padded_rows.h"
#include "_symmetric_eigen.h"
#include "_hessenberg.h"
#include "_general_eigen.h"
#undef LANES
#undef SUFFIX
#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 8
#define SUFFIX float_v3
#include "_padded_rows.h"
#include "_symmetric_eigen.h"
#include "_hessenberg.h"
#include "_general_eigen.h"
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#endif
#undef T
#undef EPSILON
#undef TINY
#undef MOST
#undef SMALL_SQUARE
#undef LARGE_FACTOR

#define T double
#define EPSILON (DBL_EPSILON / 2)
#define TINY DBL_MIN
#define MOST 0x1p400
#define SMALL_SQUARE 1e-280
#define LARGE_FACTOR 0x1p500
#define LANES 2
#define SUFFIX double_any
#include "_padded_rows.h"
#include "_symmetric_eigen.h"
#include "_hessenberg.h"
#include "_general_eigen.h"
#undef LANES
#undef SUFFIX
#if CHOOSE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 4
#define SUFFIX double_v3
#include "_padded_rows.h"
#include "_symmetric_eigen.h"
#include "_hessenberg.h"
#include "_general_eigen.h"
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#endif

#if CHOOSE
#define PICK(name, type) (level() ? JOIN(name, type##_v3) : JOIN(name, type##_any))
#else
#define PICK(name, type) JOIN(name, type##_any)
#endif

static size_t padded(long n) { return (size_t)(n + 7) / 8 * 8; }

size_t imode_eigh_work(int wide, long n)
{
    return 2 * padded(n) * (sizeof(double) + (n + 1) * (wide ? 8 : 4)) + 64;
}

size_t imode_eig_work(int wide, long n)
{
    return padded(n) * (3 * sizeof(double) + (2 * n + 4) * (wide ? 8 : 4)) + 64;
}

static void *aligned(void *work) { return (void *)(((size_t)work + 63) & ~(size_t)63); }

int imode_eigh(int wide, long n, void *a, int upper, int vectors, void *values, void *work)
{
    return wide ? PICK(eigh, double)(n, a, upper, vectors, values, aligned(work))
                : PICK(eigh, float)(n, a, upper, vectors, values, aligned(work));
}

int imode_eig(int wide, long n, const void *a, void *values, void *vectors, void *work)
{
    return wide ? PICK(eig, double)(n, a, values, vectors, aligned(work))
                : PICK(eig, float)(n, a, values, vectors, aligned(work));
}
