/* Singular values of very few rows and columns, of as many matrices at once as a vector has elements, by Jacobi's
   method from one side: rotations make the columns orthogonal, and their lengths are the values (G. H. Golub and
   C. F. Van Loan, Matrix Computations, 8.6.3). Included by _spectral.c through _instances.h. */

#include "_masks.h"

/* The elements divided by a power of 2 that makes the largest about 1, which is returned; 0 if one of them is
   not finite. */
INLINE double NAME(load_scaled)(V *to, int lane, const T *a, long rows, long columns, int turned)
{
    const double most = NAME(largest)(a, rows * columns);
    int exponent = 0;
    if (!(most <= DBL_MAX))
        return 0;
    if (most > 0)
        frexp(most, &exponent);
    exponent = exponent - 1 < -1000 ? -1000 : exponent - 1; /* 2^exponent and its inverse are finite */
    const double scale = ldexp(1, exponent), inverse = ldexp(1, -exponent);
    for (long j = 0; j < columns; j++)
        for (long i = 0; i < rows; i++)
            to[turned ? i * columns + j : j * rows + i][lane] = (T)(a[j * rows + i] * inverse);
    return scale;
}

INLINE V NAME(root)(V x)
{
    for (int i = 0; i < LANES; i++)
        x[i] = (T)sqrt(x[i]);
    return x;
}

INLINE V NAME(product_beside)(const V *x, const V *y, long n)
{
    V sum = {0};
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* A sweep over all pairs of columns but those of no length, beside the largest. Returns whether one was turned. */
static int NAME(sweep)(V *a, long m, long n)
{
    const V zero = {0}, one = zero + 1;
    const T most = (T)(2 * m * EPSILON) * (T)(2 * m * EPSILON);
    V squares[IMODE_VERY_FEW];
    int turned = 0;
    for (long j = 0; j < n; j++)
        squares[j] = NAME(product_beside)(a + j * m, a + j * m, m);
    for (long p = 0; p < n; p++)
        for (long q = p + 1; q < n; q++) {
            V *x = a + p * m, *y = a + q * m;
            const V common = NAME(product_beside)(x, y, m);
            const M apart = (common * common > squares[p] * squares[q] * most)
                            & (squares[p] > (T)SMALL_SQUARE) & (squares[q] > (T)SMALL_SQUARE);
            if (!NAME(any)(apart))
                continue;
            turned = 1;
            const V ratio = (squares[q] - squares[p]) / (common + common);
            const V size = NAME(size)(ratio) + NAME(root)(one + ratio * ratio);
            const V tangent = NAME(choose)(apart, NAME(choose)(ratio < 0, -one, one) / size, zero);
            const V c = one / NAME(root)(one + tangent * tangent), s = c * tangent;
            const V change = NAME(choose)(apart, tangent * common, zero);
            squares[p] -= change;
            squares[q] += change;
            for (long i = 0; i < m; i++) {
                const V kept = x[i];
                x[i] = c * kept - s * y[i];
                y[i] = s * kept + c * y[i];
            }
        }
    return turned;
}

/* The lengths of the columns of one matrix, the longest first. */
static void NAME(lengths)(T *values, const V *a, int lane, long m, long n, double scale)
{
    for (long j = 0; j < n; j++) {
        double square = 0;
        for (long i = 0; i < m; i++)
            square += (double)a[j * m + i][lane] * a[j * m + i][lane];
        const T length = (T)(sqrt(square) * scale);
        long place = j;
        for (; place > 0 && values[place - 1] < length; place--)
            values[place] = values[place - 1];
        values[place] = length;
    }
}

static int NAME(singular_values)(long count, long m, long n, const T *a, T *values)
{
    enum { SWEEPS = 24 };
    const long rows = m < n ? n : m, columns = m < n ? m : n;
    V work[IMODE_VERY_FEW * IMODE_VERY_FEW];
    double scales[LANES];
    for (long i = 0; i < count; i += LANES) {
        const int last = count - i < LANES ? (int)(count - i) - 1 : LANES - 1;
        for (int lane = 0; lane < LANES; lane++) {
            const long number = i + (lane < last ? lane : last);
            scales[lane] = NAME(load_scaled)(work, lane, a + number * m * n, m, n, m < n);
            if (scales[lane] == 0)
                return -1;
        }
        for (int sweeps = 0; NAME(sweep)(work, rows, columns); sweeps++)
            if (sweeps == SWEEPS)
                return -1;
        for (int lane = 0; lane <= last; lane++)
            NAME(lengths)(values + (i + lane) * columns, work, lane, rows, columns, scales[lane]);
    }
    return 0;
}
