/* QR of few rows and columns for least squares. Included by _orthogonal.c through _instances.h. */

/* How the largest (and least) singular value of a triangular matrix grows by a column, of which `along` is
   the product with the vector that goes with it, and gamma the diagonal element: the estimates of
   LAPACK's laic1 (Bischof, Incremental condition estimation), in its usual cases. c and s: of the new
   vector. Returns the new one, or -1. */
static double NAME(grown)(double value, double along, double gamma, int largest, double *s, double *c)
{
    const double a = fabs(along), g = fabs(gamma);
    if (g <= EPSILON * value || value <= EPSILON * a || value <= EPSILON * g)
        return -1;
    if (a <= EPSILON * value) {
        const int same = largest ? g <= value : g > value;
        *s = same, *c = !same;
        return same ? value : g;
    }
    const double z1 = along / value, z2 = gamma / value, both = fabs(z1 * z2);
    const double more = 4 * EPSILON * EPSILON * fmax(1 + z1 * z1 + both, both + z2 * z2);
    double result, t;
    if (largest) {
        const double b = (1 - z1 * z1 - z2 * z2) / 2, root = sqrt(b * b + z1 * z1);
        t = b > 0 ? z1 * z1 / (b + root) : root - b;
        *s = -z1 / t, *c = -z2 / (1 + t);
        result = sqrt(t + 1) * value;
    } else if (1 + 2 * (z1 - z2) * (z1 + z2) >= 0) {
        const double b = (z1 * z1 + z2 * z2 + 1) / 2;
        t = z2 * z2 / (b + sqrt(fabs(b * b - z2 * z2)));
        *s = z1 / (1 - t), *c = -z2 / t;
        result = sqrt(t + more) * value;
    } else {
        const double b = (z2 * z2 + z1 * z1 - 1) / 2, root = sqrt(b * b + z1 * z1);
        t = b >= 0 ? -z1 * z1 / (b + root) : b - root;
        *s = -z1 / t, *c = -z2 / (1 + t);
        result = sqrt(1 + t + more) * value;
    }
    const double size = sqrt(*s * *s + *c * *c);
    *s /= size, *c /= size;
    return result;
}

/* Whether no column of R counts as dependent on those before it. */
static int NAME(of_full_rank)(const T *r, long ld, long n, double rcond)
{
    double low[IMODE_FEW], high[IMODE_FEW], least = fabs((double)r[0]), most = least;
    low[0] = high[0] = 1;
    for (long j = 1; j < n && least > 0; j++) {
        double a = 0, b = 0, s = 0, c = 1, s2 = 0, c2 = 1;
        for (long i = 0; i < j; i++)
            a += low[i] * r[j * ld + i], b += high[i] * r[j * ld + i];
        least = NAME(grown)(least, a, r[j * ld + j], 0, &s, &c);
        most = NAME(grown)(most, b, r[j * ld + j], 1, &s2, &c2);
        if (least <= 0 || most <= 0 || most * rcond > least)
            return 0;
        for (long i = 0; i < j; i++)
            low[i] *= s, high[i] *= s2;
        low[j] = c, high[j] = c2;
    }
    return least > 0;
}

typedef struct {
    T *a, *b;
    long ld, m, n, k;
    long order[IMODE_FEW]; /* which column stands where */
} NAME(system);

/* The column with the most left of it comes first; norms: now, and when they were last computed. */
static void NAME(choose)(NAME(system) *s, long i, double *now, double *then)
{
    long best = i;
    for (long j = i + 1; j < s->n; j++)
        best = now[j] > now[best] ? j : best;
    if (best == i)
        return;
    for (long r = 0; r < s->ld; r += LANES)
        SWAP(V, AT(s->a, i * s->ld + r), AT(s->a, best * s->ld + r));
    SWAP(long, s->order[i], s->order[best]);
    now[best] = now[i];
    then[best] = then[i];
}

/* The norms of the columns after the i-th, without its row: downdated where that is accurate. */
static void NAME(lessen)(const NAME(system) *s, long i, double *now, double *then)
{
    for (long j = i + 1; j < s->n; j++) {
        const T *column = s->a + j * s->ld;
        if (now[j] == 0)
            continue;
        const double ratio = column[i] / now[j], left = fmax(0, 1 - ratio * ratio);
        if (left * (now[j] / then[j]) * (now[j] / then[j]) > sqrt(EPSILON)) {
            now[j] *= sqrt(left);
            continue;
        }
        double sum = 0;
        for (long r = i + 1; r < s->m; r++)
            sum += (double)column[r] * column[r];
        now[j] = then[j] = sqrt(sum);
    }
}

/* R in the place of A, Q^T b in that of b. */
static void NAME(reduce)(NAME(system) *s, int pivots)
{
    double now[IMODE_FEW], then[IMODE_FEW];
    T v[IMODE_FEW];
    const long ld = s->ld;
    for (long j = 0; j < s->n; j++) {
        s->order[j] = j;
        if (pivots)
            now[j] = then[j] = sqrt((double)NAME(dot)(s->a + j * ld, s->a + j * ld, 0, ld));
    }
    for (long i = 0; i < s->n; i++) {
        const long begin = DOWN(i);
        T beta;
        if (pivots)
            NAME(choose)(s, i, now, then);
        memcpy(v + begin, s->a + i * ld + begin, (ld - begin) * sizeof(T));
        if (begin < i)
            memset(v + begin, 0, (i - begin) * sizeof(T));
        const T tau = NAME(reflection)(v, i, s->m, &beta);
        for (long j = i + 1; j < s->n + s->k; j++) {
            T *column = j < s->n ? s->a + j * ld : s->b + (j - s->n) * ld;
            NAME(add_times)(column, v, -tau * NAME(dot)(column, v, begin, ld), begin, ld);
        }
        s->a[i * ld + i] = beta;
        if (pivots)
            NAME(lessen)(s, i, now, then);
    }
}

/* R x = Q^T b, in the place of b. */
static void NAME(substitute_upper)(const NAME(system) *s)
{
    T v[IMODE_FEW];
    for (long i = s->n - 1; i >= 0; i--) {
        const T pivot = s->a[i * s->ld + i];
        for (long r = 0; r < UP(i); r++)
            v[r] = r < i ? s->a[i * s->ld + r] : 0;
        for (long c = 0; c < s->k; c++) {
            T *column = s->b + c * s->ld;
            column[i] /= pivot;
            NAME(add_times)(column, v, -column[i], 0, UP(i));
        }
    }
}

static int NAME(least_squares)(long m, long n, long k, const T *a, T *b, long ldb, int pivots,
                               double rcond)
{
    T left[IMODE_FEW * IMODE_FEW], right[IMODE_FEW * IMODE_FEW];
    const double most = NAME(largest)(a, m * n);
    NAME(system) s = {left, right, UP(m), m, n, k, {0}};
    if (!(most > 1e-9 && most < 1e9))
        return 0;
    memset(left, 0, n * s.ld * sizeof(T));
    memset(right, 0, k * s.ld * sizeof(T));
    for (long j = 0; j < n; j++)
        memcpy(left + j * s.ld, a + j * m, m * sizeof(T));
    for (long j = 0; j < k; j++) {
        if (!(NAME(largest)(b + j * ldb, m) < 1e9))
            return 0;
        memcpy(right + j * s.ld, b + j * ldb, m * sizeof(T));
    }
    NAME(reduce)(&s, pivots);
    for (long j = 0; j < n; j++)
        if (left[j * s.ld + j] == 0)
            return 0;
    if (pivots && !NAME(of_full_rank)(left, s.ld, n, rcond))
        return 0;
    NAME(substitute_upper)(&s);
    for (long j = 0; j < k; j++)
        for (long i = 0; i < m; i++)
            b[j * ldb + (i < n ? s.order[i] : i)] = right[j * s.ld + i];
    return 1;
}
