/* The normalisation loops for one element type T; NAME(x) is x with the type's suffix. No include
   guard: _planes.c includes this once per type.

   Sums run in LANES partial sums of T per row and in double across rows, as accurate as pairwise
   summation for rows of a few thousand elements. The partial sums are arrays, not vectors: compilers
   keep them in registers of whatever size the level has. */

#define LANES (int)(256 / sizeof(T))
#define FEW 8      /* partial sums of what is left, and of short rows */
#define CHUNK 4096 /* elements per run of partial sums */

/* Add TERM, of the element i + j, for all j below COUNT, to SUM[j], as long as there are so many. */
#define IN_LANES(COUNT, TERMS)                                                                    \
    for (; i + (COUNT) <= stop; i += (COUNT))                                                     \
        for (int j = 0; j < (COUNT); j++) {                                                       \
            TERMS                                                                                 \
        }

/* The sum of the lanes, pair by pair. */
V_INLINE double NAME(fold)(T *lanes)
{
    UNROLL
    for (int width = LANES / 2; width; width /= 2)
        for (int j = 0; j < width; j++)
            lanes[j] += lanes[j + width];
    return lanes[0];
}

V_CLONES static double NAME(row_sum)(const T *x, long n)
{
    double total = 0;
    for (long start = 0; start < n; start += CHUNK) {
        const long stop = n - start < CHUNK ? n : start + CHUNK;
        long i = start;
        T lanes[LANES] = {0}, part = 0;
        IN_LANES(LANES, lanes[j] += x[i + j];)
        IN_LANES(FEW, lanes[j] += x[i + j];)
        for (; i < stop; i++)
            part += x[i];
        total += NAME(fold)(lanes) + part;
    }
    return total;
}

V_CLONES static double NAME(row_squares)(const T *x, long n, T mean)
{
    double total = 0;
    for (long start = 0; start < n; start += CHUNK) {
        const long stop = n - start < CHUNK ? n : start + CHUNK;
        long i = start;
        T lanes[LANES] = {0}, part = 0;
        IN_LANES(LANES, const T d = x[i + j] - mean; lanes[j] += d * d;)
        IN_LANES(FEW, const T d = x[i + j] - mean; lanes[j] += d * d;)
        for (; i < stop; i++)
            part += (x[i] - mean) * (x[i] - mean);
        total += NAME(fold)(lanes) + part;
    }
    return total;
}

/* Adds sum of g and sum of g * (x - mean). */
V_CLONES static void NAME(row_sums)(const T *g, const T *x, long n, T mean, double *total,
                                  double *dot)
{
    for (long start = 0; start < n; start += CHUNK) {
        const long stop = n - start < CHUNK ? n : start + CHUNK;
        long i = start;
        T one[LANES] = {0}, two[LANES] = {0}, part = 0, product = 0;
        IN_LANES(LANES / 2, one[j] += g[i + j]; two[j] += g[i + j] * (x[i + j] - mean);)
        IN_LANES(FEW, one[j] += g[i + j]; two[j] += g[i + j] * (x[i + j] - mean);)
        for (; i < stop; i++) {
            part += g[i];
            product += g[i] * (x[i] - mean);
        }
        *total += NAME(fold)(one) + part;
        *dot += NAME(fold)(two) + product;
    }
}

V_CLONES static void NAME(row_affine)(const T *x, long n, T scale, T shift, T *restrict out)
{
    for (long i = 0; i < n; i++)
        out[i] = x[i] * scale + shift;
}

V_CLONES static void NAME(row_combine)(const T *g, const T *x, long n, T a, T b, T shift,
                                     T *restrict out)
{
    for (long i = 0; i < n; i++)
        out[i] = g[i] * a + x[i] * b + shift;
}

/* ---- with channels innermost (inner == 1): whole rows of channels at a time ---- */

V_CLONES static void NAME(column_stats)(const plane_t *p, const T *x, T *mean, T *var,
                                      double *restrict sums)
{
    const long n = p->outer, c = p->channels, step = p->step;
    for (long j = 0; j < c; j++)
        sums[j] = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < c; j++)
            sums[j] += x[i * step + j];
    for (long j = 0; j < c; j++) {
        mean[j] = (T)(sums[j] / n);
        sums[j] = 0;
    }
    for (long i = 0; i < n; i++)
        for (long j = 0; j < c; j++) {
            const T d = x[i * step + j] - mean[j];
            sums[j] += d * d;
        }
    for (long j = 0; j < c; j++)
        var[j] = (T)(sums[j] / n);
}

V_CLONES static void NAME(column_affine)(const plane_t *p, const T *x, const T *scale,
                                       const T *shift, T *restrict out)
{
    const long c = p->channels;
    for (long i = 0; i < p->outer; i++)
        for (long j = 0; j < c; j++)
            out[i * c + j] = x[i * c + j] * scale[j] + shift[j];
}

V_CLONES static void NAME(column_sums)(const plane_t *p, const T *g, const T *x, const T *mean,
                                     T *total, T *dot, double *restrict sums)
{
    const long c = p->channels, step = p->step;
    for (long j = 0; j < 2 * c; j++)
        sums[j] = 0;
    for (long i = 0; i < p->outer; i++)
        for (long j = 0; j < c; j++) {
            const T v = g[i * step + j];
            sums[j] += v;
            sums[c + j] += v * (x[i * step + j] - mean[j]);
        }
    for (long j = 0; j < c; j++) {
        total[j] = (T)sums[j];
        dot[j] = (T)sums[c + j];
    }
}

V_CLONES static void NAME(column_combine)(const plane_t *p, const T *g, const T *x, const T *a,
                                        const T *b, const T *shift, T *restrict out)
{
    const long c = p->channels;
    for (long i = 0; i < p->outer; i++)
        for (long j = 0; j < c; j++)
            out[i * c + j] = g[i * c + j] * a[j] + x[i * c + j] * b[j] + shift[j];
}

/* ---- per channel ---- */

#define ABREAST 16
#define SHORT 32 /* rows up to this length are processed ABREAST at a time, side by side */

V_CLONES static void NAME(short_stats)(long rows, long n, const T *x, T *mean, T *var)
{
    for (long r = 0; r < rows; r += ABREAST) {
        const long count = rows - r < ABREAST ? rows - r : ABREAST;
        const T *row = x + r * n;
        T sum[ABREAST] = {0}, squares[ABREAST] = {0};
        for (long i = 0; i < n; i++)
            for (long l = 0; l < count; l++)
                sum[l] += row[l * n + i];
        for (long l = 0; l < count; l++)
            mean[r + l] = sum[l] /= (T)n;
        for (long i = 0; i < n; i++)
            for (long l = 0; l < count; l++) {
                const T away = row[l * n + i] - sum[l];
                squares[l] += away * away;
            }
        for (long l = 0; l < count; l++)
            var[r + l] = squares[l] / (T)n;
    }
}

static int NAME(stats)(const plane_t *p, const T *x, T *mean, T *var)
{
    if (p->outer == 1 && p->inner > 0 && p->inner <= SHORT) {
        NAME(short_stats)(p->channels, p->inner, x, mean, var);
        return 0;
    }
    if (p->inner == 1 && p->outer > 1) {
        double *sums = malloc((size_t)p->channels * sizeof(double));
        if (!sums)
            return -1;
        NAME(column_stats)(p, x, mean, var, sums);
        free(sums);
        return 0;
    }
    const long step = p->step;
    const double count = (double)p->outer * p->inner;
    for (long c = 0; c < p->channels; c++, x += p->inner) {
        double total = 0, squares = 0;
        for (long o = 0; o < p->outer; o++)
            total += NAME(row_sum)(x + o * step, p->inner);
        mean[c] = (T)(total / count);
        for (long o = 0; o < p->outer; o++)
            squares += NAME(row_squares)(x + o * step, p->inner, mean[c]);
        var[c] = (T)(squares / count);
    }
    return 0;
}

static void NAME(affine)(const plane_t *p, const T *x, const T *scale, const T *shift, T *out)
{
    if (p->inner == 1) {
        NAME(column_affine)(p, x, scale, shift, out);
        return;
    }
    for (long o = 0; o < p->outer; o++)
        for (long c = 0; c < p->channels; c++, x += p->inner, out += p->inner)
            NAME(row_affine)(x, p->inner, scale[c], shift[c], out);
}

static int NAME(sums)(const plane_t *p, const T *g, const T *x, const T *mean, T *total, T *dot)
{
    if (p->inner == 1) {
        double *sums = malloc((size_t)p->channels * 2 * sizeof(double));
        if (!sums)
            return -1;
        NAME(column_sums)(p, g, x, mean, total, dot, sums);
        free(sums);
        return 0;
    }
    const long step = p->step;
    for (long c = 0; c < p->channels; c++) {
        double one = 0, two = 0;
        for (long o = 0; o < p->outer; o++) {
            const long at = o * step + c * p->inner;
            NAME(row_sums)(g + at, x + at, p->inner, mean[c], &one, &two);
        }
        total[c] = (T)one;
        dot[c] = (T)two;
    }
    return 0;
}

static void NAME(combine)(const plane_t *p, const T *g, const T *x, const T *a, const T *b,
                          const T *shift, T *out)
{
    if (p->inner == 1) {
        NAME(column_combine)(p, g, x, a, b, shift, out);
        return;
    }
    for (long o = 0; o < p->outer; o++)
        for (long c = 0; c < p->channels; c++, g += p->inner, x += p->inner, out += p->inner)
            NAME(row_combine)(g, x, p->inner, a[c], b[c], shift[c], out);
}

/* ---- rows with a weight per element ---- */

V_CLONES static void NAME(rows)(long rows, long n, const T *x, const T *mean, const T *rstd,
                              const T *w, const T *b, T *restrict out)
{
    for (long r = 0; r < rows; r++, x += n, out += n) {
        const T scale = rstd[r], shift = -mean[r] * scale;
        if (w && b)
            for (long i = 0; i < n; i++)
                out[i] = (x[i] * scale + shift) * w[i] + b[i];
        else if (w)
            for (long i = 0; i < n; i++)
                out[i] = (x[i] * scale + shift) * w[i];
        else if (b)
            for (long i = 0; i < n; i++)
                out[i] = x[i] * scale + shift + b[i];
        else
            for (long i = 0; i < n; i++)
                out[i] = x[i] * scale + shift;
    }
}

V_CLONES static void NAME(rows_backward)(long rows, long n, const T *g, const T *x, const T *mean,
                                         const T *rstd, const T *w, T *restrict gx)
{
    for (long r = 0; r < rows; r++, g += n, x += n, gx += n) {
        const T scale = rstd[r];
        const T *v = g;
        if (w) { /* grad * weight, stored where the result will be */
            for (long i = 0; i < n; i++)
                gx[i] = g[i] * w[i];
            v = gx;
        }
        double total = 0, dot = 0;
        NAME(row_sums)(v, x, n, mean[r], &total, &dot);
        const T by = (T)(-dot * scale * scale * scale / n);
        const T more = (T)(-total * scale / n) - by * mean[r];
        for (long i = 0; i < n; i++)
            gx[i] = v[i] * scale + x[i] * by + more;
    }
}

V_CLONES static void NAME(rows_weights)(long rows, long n, long columns, const T *g, const T *x,
                                      const T *mean, const T *rstd, T *restrict gw,
                                      T *restrict gb)
{
    for (long r = 0; r < rows; r++, g += n, x += n) {
        const T scale = rstd[r], shift = -mean[r] * scale;
        if (gw)
            for (long i = 0; i < columns; i++)
                gw[i] += g[i] * (x[i] * scale + shift);
        if (gb)
            for (long i = 0; i < columns; i++)
                gb[i] += g[i];
    }
}

#undef LANES
#undef FEW
#undef IN_LANES
#undef CHUNK
#undef ABREAST
#undef SHORT
