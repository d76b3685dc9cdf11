/* Eigenvalues and eigenvectors of any matrices, from their Hessenberg form: Francis's double shifts (Golub and
   Van Loan, Matrix Computations, 7.5), then substitution. What counts as zero, and which shifts are taken,
   follows LAPACK's dlahqr. Included by _spectral.c as _padded_rows.h is, after _hessenberg.h. */

/* ---- the real Schur form ---- */

typedef struct {
    T *h, *zt;       /* rows of the matrix; of the orthogonal one's transpose, or NULL */
    double *re, *im; /* eigenvalues */
    long n, ld, lo, hi;
    double tiny;
} NAME(schur);

#define H(i, j) (s->h[(i) * s->ld + (j)])
#define SIZE(i, j) fabs((double)H(i, j))

/* Where the last block that does not decouple begins, not before l; `i` is its end. */
static long NAME(block_begin)(const NAME(schur) *s, long l, long i)
{
    long k = i;
    for (; k > l; k--) {
        const double below = SIZE(k, k - 1);
        if (below <= s->tiny)
            break;
        double sum = SIZE(k - 1, k - 1) + SIZE(k, k);
        if (sum == 0) {
            sum += k - 2 >= s->lo ? SIZE(k - 1, k - 2) : 0;
            sum += k + 1 <= s->hi ? SIZE(k + 1, k) : 0;
        }
        if (below <= 2 * EPSILON * sum) { /* the criterion of Ahues and Tisseur */
            const double above = SIZE(k - 1, k), apart = fabs((double)H(k - 1, k - 1) - H(k, k));
            const double ab = fmax(below, above), ba = fmin(below, above);
            const double aa = fmax(SIZE(k, k), apart), bb = fmin(SIZE(k, k), apart), all = aa + ab;
            if (ba * (ab / all) <= fmax(s->tiny, 2 * EPSILON * (bb * (aa / all))))
                break;
        }
    }
    return k;
}

/* The sum and the product of two shifts for the rows l .. i; every tenth time exceptional ones. */
static void NAME(shifts)(const NAME(schur) *s, long l, long i, int tries, double *r1, double *r2,
                         double *im)
{
    double a, b, c, d;
    *r1 = *r2 = *im = 0;
    if (tries % 10 == 0) {
        const int low = tries % 20 == 0;
        c = low ? SIZE(i, i - 1) + SIZE(i - 1, i - 2) : SIZE(l + 1, l) + SIZE(l + 2, l + 1);
        a = d = 0.75 * c + (low ? H(i, i) : H(l, l));
        b = -0.4375 * c;
    } else {
        a = H(i - 1, i - 1), b = H(i - 1, i), c = H(i, i - 1), d = H(i, i);
    }
    const double all = fabs(a) + fabs(b) + fabs(c) + fabs(d);
    if (all == 0)
        return;
    a /= all, b /= all, c /= all, d /= all;
    const double mean = (a + d) / 2, product = (a - mean) * (d - mean) - b * c;
    const double root = sqrt(fabs(product));
    if (product >= 0) {
        *r1 = *r2 = mean * all;
        *im = root * all;
    } else {
        const double one = mean + root, other = mean - root;
        *r1 = *r2 = (fabs(one - d) <= fabs(other - d) ? one : other) * all;
    }
}

/* Where the double step begins: two small elements below the diagonal may stand in its way. v: its first
   reflection's direction. */
static long NAME(step_begin)(const NAME(schur) *s, long l, long i, double r1, double r2, double im,
                             double *v)
{
    for (long m = i - 2;; m--) {
        const double here = H(m, m), below = H(m + 1, m), next = H(m + 1, m + 1);
        const double smaller = 1 / (fabs(here - r2) + fabs(im) + fabs(below)), part = below * smaller;
        v[0] = part * H(m, m + 1) + (here - r1) * ((here - r2) * smaller) + im * (im * smaller);
        v[1] = part * (here + next - r1 - r2);
        v[2] = part * H(m + 2, m + 1);
        if (m == l)
            return m;
        const double sum = SIZE(m - 1, m - 1) + fabs(here) + fabs(next);
        if (SIZE(m, m - 1) * (fabs(v[1]) + fabs(v[2])) <= 2 * EPSILON * fabs(v[0]) * sum)
            return m;
    }
}

/* The reflection of two or three numbers: v[0] becomes 1, beta what is left; returns tau. */
INLINE double NAME(small_reflection)(double *v, double *beta)
{
    double a = v[0], squares = v[1] * v[1] + v[2] * v[2], scale = 1;
    *beta = a;
    v[0] = 1;
    if (squares < 1e-280) {
        scale = 0x1p500;
        squares = (v[1] * scale) * (v[1] * scale) + (v[2] * scale) * (v[2] * scale);
        if (squares == 0)
            return 0;
        a *= scale;
    }
    const double b = -copysign(sqrt(a * a + squares), a), factor = 1 / (a - b);
    v[1] = v[1] * scale * factor;
    v[2] = v[2] * scale * factor;
    *beta = b / scale;
    return (b - a) / b;
}

/* Three rows, from column `begin` to `end`, by the reflection of v. */
INLINE void NAME(turn_rows)(T *row, long ld, long rows, const double *v, double tau, long begin, long end)
{
    const T v1 = (T)v[1], v2 = (T)v[2], t0 = (T)tau, t1 = (T)(tau * v[1]), t2 = (T)(tau * v[2]);
    if (rows == 3)
        for (long j = begin; j < end; j += LANES) {
            const V a = READ(row, j), b = READ(row, ld + j), c = READ(row, 2 * ld + j);
            const V sum = a + b * v1 + c * v2;
            AT(row, j) = a - sum * t0;
            AT(row, ld + j) = b - sum * t1;
            AT(row, 2 * ld + j) = c - sum * t2;
        }
    else
        for (long j = begin; j < end; j += LANES) {
            const V a = READ(row, j), b = READ(row, ld + j), sum = a + b * v1;
            AT(row, j) = a - sum * t0;
            AT(row, ld + j) = b - sum * t1;
        }
}

INLINE void NAME(turn_columns)(T *column, long ld, long columns, const double *v, double tau, long begin,
                               long end)
{
    const T v1 = (T)v[1], v2 = (T)v[2], t0 = (T)tau, t1 = (T)(tau * v[1]), t2 = (T)(tau * v[2]);
    T *x = column + begin * ld;
    if (columns == 3)
        for (long i = begin; i < end; i++, x += ld) {
            const T sum = x[0] + x[1] * v1 + x[2] * v2;
            x[0] -= sum * t0;
            x[1] -= sum * t1;
            x[2] -= sum * t2;
        }
    else
        for (long i = begin; i < end; i++, x += ld) {
            const T sum = x[0] + x[1] * v1;
            x[0] -= sum * t0;
            x[1] -= sum * t1;
        }
}

/* A double step on the rows l .. i. */
static void NAME(double_step)(const NAME(schur) *s, long l, long i, int tries)
{
    double v[3], r1, r2, im, beta;
    NAME(shifts)(s, l, i, tries, &r1, &r2, &im);
    const long m = NAME(step_begin)(s, l, i, r1, r2, im, v), ld = s->ld;
    const long top = s->zt ? 0 : l, end = s->zt ? ld : UP(i + 1);
    for (long k = m; k < i; k++) {
        const long rows = k + 2 <= i ? 3 : 2;
        T kept = 0;
        if (k > m) {
            v[0] = H(k, k - 1);
            v[1] = H(k + 1, k - 1);
            v[2] = rows == 3 ? H(k + 2, k - 1) : 0;
        } else if (m > l)
            kept = H(m, m - 1);
        const double tau = NAME(small_reflection)(v, &beta);
        NAME(turn_rows)(&H(k, 0), ld, rows, v, tau, DOWN(k), end);
        /* What stands before the diagonal in the same vectors was turned, too. */
        if (k > l) {
            H(k, k - 1) = k > m ? (T)beta : (T)(kept * (1 - tau));
            H(k + 1, k - 1) = 0;
            if (rows == 3)
                H(k + 2, k - 1) = 0;
        }
        NAME(turn_columns)(&H(0, k), ld, rows, v, tau, top, k + 3 < i ? k + 4 : i + 1);
        if (s->zt)
            NAME(turn_rows)(s->zt + k * ld, ld, rows, v, tau, 0, ld);
    }
}

INLINE double NAME(sign_of)(double x) { return copysign(1, x); }

/* A block of two rows to its standard form: the lower left is 0, or the diagonal is equal and the others
   have different signs. The rotation is (c s; -s c). LAPACK's dlanv2. */
static void NAME(standard)(double *a, double *b, double *c, double *d, double *cosine, double *sine)
{
    double cs = 1, sn = 0;
    if (*c == 0) {
    } else if (*b == 0) {
        const double kept = *d;
        cs = 0, sn = 1;
        *d = *a, *a = kept;
        *b = -*c, *c = 0;
    } else if (*a != *d || NAME(sign_of)(*b) == NAME(sign_of)(*c)) {
        const double apart = *a - *d, p = apart / 2, most = fmax(fabs(*b), fabs(*c));
        const double least = fmin(fabs(*b), fabs(*c)) * NAME(sign_of)(*b) * NAME(sign_of)(*c);
        const double scale = fmax(fabs(p), most), z = p / scale * p + most / scale * least;
        if (z >= 8 * EPSILON) { /* real eigenvalues */
            const double root = p + copysign(sqrt(scale) * sqrt(z), p), tau = hypot(*c, root);
            *a = *d + root;
            *d -= most / root * least;
            cs = root / tau, sn = *c / tau;
            *b -= *c, *c = 0;
        } else { /* complex ones, or nearly equal: make the diagonal equal */
            const double sigma = *b + *c, tau = hypot(sigma, apart);
            cs = sqrt((1 + fabs(sigma) / tau) / 2);
            sn = -(p / (tau * cs)) * NAME(sign_of)(sigma);
            const double aa = *a * cs + *b * sn, bb = -*a * sn + *b * cs;
            const double cc = *c * cs + *d * sn, dd = -*c * sn + *d * cs;
            *b = bb * cs + dd * sn;
            *c = -aa * sn + cc * cs;
            const double mean = (aa * cs + cc * sn + (-bb * sn + dd * cs)) / 2;
            *a = *d = mean;
            if (*c != 0 && *b == 0) {
                const double kept = cs;
                *b = -*c, *c = 0;
                cs = -sn, sn = kept;
            } else if (*c != 0 && NAME(sign_of)(*b) == NAME(sign_of)(*c)) { /* real after all */
                const double sab = sqrt(fabs(*b)), sac = sqrt(fabs(*c)), t = 1 / sqrt(fabs(*b + *c));
                const double half = copysign(sab * sac, *c), cs1 = sab * t, sn1 = sac * t, kept = cs;
                *a = mean + half, *d = mean - half;
                *b -= *c, *c = 0;
                cs = cs * cs1 - sn * sn1;
                sn = kept * sn1 + sn * cs1;
            }
        }
    }
    *cosine = cs, *sine = sn;
}

/* The rows i - 1 and i, which have decoupled. */
static void NAME(finish_pair)(const NAME(schur) *s, long i)
{
    double a = H(i - 1, i - 1), b = H(i - 1, i), c = H(i, i - 1), d = H(i, i), cosine, sine;
    NAME(standard)(&a, &b, &c, &d, &cosine, &sine);
    s->re[i - 1] = a, s->re[i] = d;
    s->im[i - 1] = c == 0 ? 0 : sqrt(fabs(b)) * sqrt(fabs(c));
    s->im[i] = -s->im[i - 1];
    if (s->zt) {
        const T cs = (T)cosine, sn = (T)sine;
        for (long j = i + 1; j < s->n; j++) {
            const T x = H(i - 1, j), y = H(i, j);
            H(i - 1, j) = cs * x + sn * y;
            H(i, j) = cs * y - sn * x;
        }
        for (long j = 0; j < i - 1; j++) {
            const T x = H(j, i - 1), y = H(j, i);
            H(j, i - 1) = cs * x + sn * y;
            H(j, i) = cs * y - sn * x;
        }
        T *z = s->zt + (i - 1) * s->ld;
        for (long j = 0; j < s->ld; j += LANES) {
            const V x = READ(z, j), y = READ(z, s->ld + j);
            AT(z, j) = x * cs + y * sn;
            AT(z, s->ld + j) = y * cs - x * sn;
        }
    }
    H(i - 1, i - 1) = (T)a, H(i - 1, i) = (T)b, H(i, i - 1) = (T)c, H(i, i) = (T)d;
}

/* Returns 0, or -1 where there is no end. */
static int NAME(francis)(const NAME(schur) *s)
{
    const long most = 30 * (s->hi - s->lo + 1 > 10 ? s->hi - s->lo + 1 : 10);
    for (long i = 0; i < s->n; i++)
        if (i < s->lo || i > s->hi)
            s->re[i] = H(i, i), s->im[i] = 0;
    for (long i = s->hi; i >= s->lo;) {
        long l = s->lo;
        for (long tries = 1;; tries++) {
            l = NAME(block_begin)(s, l, i);
            if (l > s->lo)
                H(l, l - 1) = 0;
            if (l >= i - 1)
                break;
            if (tries > most)
                return -1;
            NAME(double_step)(s, l, i, (int)tries);
        }
        if (l == i)
            s->re[i] = H(i, i), s->im[i] = 0;
        else
            NAME(finish_pair)(s, i);
        i = l - 1;
    }
    return 0;
}

/* ---- eigenvectors of the Schur form, by substitution ---- */

typedef struct {
    double re, im;
} NAME(number);

#define K NAME(number)
INLINE K NAME(less)(K a, double f, K b) { return (K){a.re - f * b.re, a.im - f * b.im}; }
INLINE K NAME(quotient)(K a, double re, double im)
{
    if (im == 0)
        return (K){a.re / re, a.im / re};
    if (fabs(re) < fabs(im)) {
        const double f = re / im, size = re * f + im;
        return (K){(a.re * f + a.im) / size, (a.im * f - a.re) / size};
    }
    const double f = im / re, size = re + im * f;
    return (K){(a.re + a.im * f) / size, (a.im - a.re * f) / size};
}

/* Make a vector smaller, with the right-hand sides b and c, where b over `size` would be too large. */
INLINE void NAME(shrink)(T *x, T *y, long ld, K *b, K *c, double size)
{
    const double most = fmax(fabs(b->re), fabs(b->im));
    if (most <= MOST * size)
        return;
    const double f = MOST * size / most;
    for (long j = 0; j < ld; j++) {
        x[j] = (T)(x[j] * f);
        y[j] = (T)(y[j] * f);
    }
    b->re *= f, b->im *= f, c->re *= f, c->im *= f;
}

/* Solve (T - w) (x + i y) = 0 upwards from row j; least: what takes the place of smaller pivots. */
static void NAME(substitute)(const NAME(schur) *s, long j, long last, double re, double im, T *x, T *y)
{
    const long ld = s->ld, end = UP(last + 1);
    const double least = fmax(2 * EPSILON * (fabs(re) + fabs(im)), s->tiny);
    for (; j >= 0; j--) {
        const T *row = &H(j, 0);
        K none = {0, 0}, b = {-NAME(dot)(row, x, DOWN(j), end), 0};
        if (im != 0)
            b.im = -NAME(dot)(row, y, DOWN(j), end);
        double pr = row[j] - re, pi = -im;
        if (j == 0 || row[j - 1] == 0) {
            if (fabs(pr) + fabs(pi) < least)
                pr = least, pi = 0;
            NAME(shrink)(x, y, ld, &b, &none, fabs(pr) + fabs(pi));
            b = NAME(quotient)(b, pr, pi);
            x[j] = (T)b.re, y[j] = (T)b.im;
            continue;
        }
        /* Two rows: (p q; r p) with one p. Elimination with the larger of p and r first. */
        const T *above = row - ld;
        K a = {-NAME(dot)(above, x, DOWN(j), end), 0};
        if (im != 0)
            a.im = -NAME(dot)(above, y, DOWN(j), end);
        const double q = above[j], r = row[j - 1], p = fabs(pr) + fabs(pi);
        pr = above[j - 1] - re;
        const double dr = row[j] - re;
        K u, lower;
        if (p >= fabs(r)) { /* u = d - r q / p */
            const K part = NAME(quotient)((K){r, 0}, pr, pi);
            u = (K){dr - part.re * q, pi - part.im * q};
            lower = (K){b.re - (part.re * a.re - part.im * a.im), b.im - (part.re * a.im + part.im * a.re)};
        } else { /* rows exchanged: u = q - p d / r */
            const K part = {pr / r, pi / r};
            u = (K){q - (part.re * dr - part.im * pi), -(part.re * pi + part.im * dr)};
            lower = (K){a.re - (part.re * b.re - part.im * b.im), a.im - (part.re * b.im + part.im * b.re)};
        }
        if (fabs(u.re) + fabs(u.im) < least)
            u = (K){least, 0};
        K *const other = p >= fabs(r) ? &a : &b;
        NAME(shrink)(x, y, ld, &lower, other, fabs(u.re) + fabs(u.im));
        lower = NAME(quotient)(lower, u.re, u.im);
        K upper;
        if (p >= fabs(r)) {
            upper = NAME(less)(a, q, lower);
            NAME(shrink)(x, y, ld, &upper, &lower, p);
            upper = NAME(quotient)(upper, pr, pi);
        } else {
            upper = (K){b.re - (dr * lower.re - pi * lower.im), b.im - (dr * lower.im + pi * lower.re)};
            NAME(shrink)(x, y, ld, &upper, &lower, fabs(r));
            upper = NAME(quotient)(upper, r, 0);
        }
        x[j] = (T)lower.re, y[j] = (T)lower.im;
        x[j - 1] = (T)upper.re, y[j - 1] = (T)upper.im;
        j--;
    }
}

/* Of length 1, the largest element of a complex one real; to a column of complex numbers, and its
   conjugate, if there is one, to the next. */
static void NAME(give_vector)(const T *x, const T *y, long n, int is_complex, T *out)
{
    double sum = 0, most = -1, c = 1, s = 0;
    long where = 0;
    for (long j = 0; j < n; j++) {
        const double square = (double)x[j] * x[j] + (is_complex ? (double)y[j] * y[j] : 0);
        sum += square;
        if (square > most)
            most = square, where = j;
    }
    const double factor = 1 / sqrt(sum);
    if (is_complex) {
        const double size = sqrt(most);
        c = x[where] / size, s = y[where] / size;
    }
    for (long j = 0; j < n; j++) {
        const double re = x[j] * factor, im = is_complex ? y[j] * factor : 0;
        out[2 * j] = (T)(re * c + im * s);
        out[2 * j + 1] = is_complex && j != where ? (T)(im * c - re * s) : 0;
        if (is_complex) {
            out[2 * (n + j)] = out[2 * j];
            out[2 * (n + j) + 1] = -out[2 * j + 1];
        }
    }
}

/* Undo the balancing of a vector. */
static void NAME(unbalance)(T *x, const double *scale, long n, long lo, long hi)
{
    for (long i = lo; i <= hi; i++)
        x[i] = (T)(x[i] * scale[i]);
    for (long step = 0; step < n; step++) { /* lo - 1 .. 0, then hi + 1 .. n - 1 */
        const long i = step < lo ? lo - 1 - step : step;
        if (i >= lo && i <= hi)
            continue;
        SWAP(T, x[i], x[(long)scale[i]]);
    }
}

INLINE void NAME(largest_to_one)(T *x, T *y, long n)
{
    T most = 0;
    for (long j = 0; j < n; j++) {
        const T a = x[j] < 0 ? -x[j] : x[j], b = y[j] < 0 ? -y[j] : y[j];
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    for (long j = 0; j < (most > 0 ? n : 0); j++)
        x[j] /= most, y[j] /= most;
}

/* All of them; x: room for four rows. */
static void NAME(eigenvectors)(const NAME(schur) *s, const double *scale, T *out, T *x)
{
    const long n = s->n, ld = s->ld;
    T *y = x + ld, *re = y + ld, *im = re + ld;
    for (long k = n - 1; k >= 0; k--) {
        const int is_complex = s->im[k] != 0;
        memset(x, 0, 2 * ld * sizeof(T));
        if (is_complex) { /* rows k - 1 and k, of the eigenvalue with the positive imaginary part */
            const T above = H(k - 1, k), below = H(k, k - 1);
            if (fabs((double)above) >= fabs((double)below)) {
                x[k - 1] = 1;
                y[k] = (T)(s->im[k - 1] / above);
            } else {
                x[k - 1] = (T)(-s->im[k - 1] / below);
                y[k] = 1;
            }
            NAME(substitute)(s, k - 2, k, s->re[k - 1], s->im[k - 1], x, y);
        } else {
            x[k] = 1;
            NAME(substitute)(s, k - 1, k, s->re[k], 0, x, y);
        }
        NAME(largest_to_one)(x, y, n);
        NAME(combine)(re, x, s->zt, ld, 0, k + 1, 0, ld);
        NAME(unbalance)(re, scale, n, s->lo, s->hi);
        if (is_complex) {
            NAME(combine)(im, y, s->zt, ld, 0, k + 1, 0, ld);
            NAME(unbalance)(im, scale, n, s->lo, s->hi);
        }
        k -= is_complex;
        NAME(give_vector)(re, im, n, is_complex, out + 2 * k * n);
    }
}

/* Of one matrix that lies column by column, which stays as it is. */
static int NAME(eig)(long n, const T *a, T *values, T *vectors, char *work)
{
    const double most = NAME(largest)(a, n * n);
    const long ld = UP(n);
    int power = 0;
    if (!(most < (double)INFINITY))
        return -1;
    if (most > 0 && (most < 1e-5 || most > 1e5))
        frexp(most, &power);
    double *re = (double *)work, *im = re + ld, *scale = im + ld;
    T *h = (T *)(scale + ld), *zt = h + n * ld, *x = zt + (vectors ? n * ld : 0);
    memset(h, 0, (char *)(x + 4 * ld) - (char *)h);
    const T once = (T)ldexp(1, -power / 2), twice = (T)ldexp(1, -power - -power / 2);
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            h[i * ld + j] = power ? a[j * n + i] * once * twice : a[j * n + i];
    for (long i = 0; i < n; i++) {
        scale[i] = 1;
        if (vectors)
            zt[i * ld + i] = 1;
    }
    NAME(schur) s = {h, vectors ? zt : NULL, re, im, n, ld, 0, 0, 0};
    NAME(permute)(h, n, ld, scale, &s.lo, &s.hi);
    NAME(equalize)(h, n, ld, scale, s.lo, s.hi);
    s.tiny = TINY * (double)(s.hi - s.lo + 1) / (2 * EPSILON);
    NAME(hessenberg)(h, ld, s.lo, s.hi, s.zt, x, x + ld);
    if (NAME(francis)(&s))
        return -1;
    for (long i = 0; i < n; i++) {
        values[2 * i] = (T)ldexp(re[i], power);
        values[2 * i + 1] = (T)ldexp(im[i], power);
    }
    if (vectors)
        NAME(eigenvectors)(&s, scale, vectors, x);
    return 0;
}

#undef K
#undef H
#undef SIZE
