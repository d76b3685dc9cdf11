/* The gamma function's logarithm and its derivatives, Hurwitz's zeta function, in double. What
   has no branch vectorises; float is computed in double, too, and rounded.

   Sources: Stirling's series and its derivatives (DLMF 5.11, 5.15), the reflection formulas (DLMF
   5.5), Euler and Maclaurin's sum for zeta (DLMF 25.11.28). The polynomial of lgamma is a Chebyshev
   expansion, computed with 60 digits. */
#ifndef IMODE_GAMMA_H
#define IMODE_GAMMA_H

#include "vlog.h"

#define G_PI 3.14159265358979323846
#define G_LOG_PI 1.14472988584940017414
#define G_LOG_SQRT_2PI 0.91893853320467274178

/* ---- lgamma ---- */

/* lgamma(2 + v) / v for |v| <= 1/2 */
static const double lgamma_terms[] = {
    4.2278433509846714e-1, 3.2246703342411324e-1, -6.735230105319814e-2, 2.0580808427780335e-2,
    -7.3855510286680962e-3, 2.8905103310367721e-3, -1.1927539120033873e-3,
    5.0966951534843731e-4, -2.2315475069647703e-4, 9.9457674400967638e-5,
    -4.4926351667703418e-5, 2.0505584372896931e-5, -9.4384548840547227e-6,
    4.3847319318293745e-6, -2.0449353231800521e-6, 9.1998980756713947e-7,
    -4.3032346929567319e-7, 2.7880013392491845e-7, -1.341570273460026e-7};/* B(2k) / (2k (2k - 1)) */
static const double stirling_terms[] = {1 / 12.0,       -1 / 360.0,         1 / 1260.0,
                                        -1 / 1680.0,    1 / 1188.0,         -691 / 360360.0,
                                        1 / 156.0,      -3617 / 122400.0};

/* What Stirling's formula lacks: the series in 1/x of log gamma. For x >= 8. */
V_INLINE double stirling(double x) {
    double r = 1 / x;
    return r * POLY(d, stirling_terms, r * r);
}

/* lgamma of what is not negative. Below 8 the recurrence leads to [3/2, 5/2]; there, and so that
   the results near the zeros 1 and 2 are exact to the last digits, it is v times a polynomial. */
V_INLINE double lgamma_above(double x) {
    double y = pick(x >= 8, 2, x), product = 1, steps = 2;
    _Pragma("GCC unroll 6") for (int k = 1; k <= 6; k++) {
        product *= pick(y - k >= 1.5, y - k, 1);
        steps += pick(y - k >= 1.5, 1, 0);
    }
    double v = pick(y < 0.5, y, pick(y < 1.5, y - 1, y - steps));
    product = pick(y < 0.5, y * (y + 1), pick(y < 1.5, y, product));
    double power = v_log(pick(x >= 8, x, product));
    double small = pick(y < 1.5, -power, power) + v * POLY(d, lgamma_terms, v);
    /* log - 1 before the product: infinity stays */
    double big = (x - 0.5) * (power - 1) + (G_LOG_SQRT_2PI - 0.5) + stirling(x);
    return pick(x >= 8, big, small);
}

V_INLINE double lgamma_anywhere(double x) {
    double r = x - rint(x);
    double above = lgamma_above(pick(x < 0, 1 - x, x));
    double below = G_LOG_PI - v_log(fabs(v_sin(G_PI * r))) - above;
    below = pick(x == -INFINITY, INFINITY, below);
    return pick(x < 0, below, above);
}

/* ---- its derivatives ---- */

/* B(2k) / 2k, from k = 1 */
static const double digamma_terms[] = {
    1 / 12.0,          -1 / 120.0, 1 / 252.0,         -1 / 240.0,         1 / 132.0,
    -691 / 32760.0,    1 / 12.0,   -3617 / 8160.0,    43867 / 14364.0,    -174611 / 6600.0};
/* B(2k), from k = 1 */
static const double bernoulli[] = {
    1 / 6.0,        -1 / 30.0, 1 / 42.0,       -1 / 30.0,      5 / 66.0,        -691 / 2730.0,
    7 / 6.0,        -3617 / 510.0, 43867 / 798.0, -174611 / 330.0, 854513 / 138.0,
    -236364091 / 2730.0};

/* Of a positive number. Below 8 the eight terms 1/(x + k) are taken together in pairs: with
   z = x (x + 7) those of k and 7 - k have the common denominator z + k (7 - k). */
V_INLINE double digamma_above(double x) {
    double y = pick(x < 8, x, 1), z = y * (y + 7);
    double a = z * (z + 6), b = (z + 10) * (z + 12);
    double sum = (2 * y + 7) * ((2 * z + 6) * b + (2 * z + 22) * a) / (a * b);
    double far = pick(x < 8, x + 8, x), r = 1 / far;
    double result = v_log(far) - 0.5 * r - r * r * POLY(d, digamma_terms, r * r);
    return pick(x < 8, result - sum, result);
}

V_INLINE double digamma_anywhere(double x) {
    double r = x - rint(x);
    double above = digamma_above(pick(x < 0, 1 - x, x));
    double below = above - G_PI * v_cos(G_PI * r) / v_sin(G_PI * r);
    below = pick(r == 0, NAN, below);
    below = pick(x < 0, below, above);
    return pick(x == 0, copysign(INFINITY, -x), below);
}

/* The sum over eight terms 1/(x + k)^2 likewise: a pair is (2z + e) / (z + c)^2. */
V_INLINE double trigamma_above(double x) {
    double y = pick(x < 8, x, 1), z = y * (y + 7);
    double p = z * z, q = (z + 6) * (z + 6), s = (z + 10) * (z + 10), t = (z + 12) * (z + 12);
    double first = (2 * z + 49) * q + (2 * z + 37) * p;
    double second = (2 * z + 29) * t + (2 * z + 25) * s;
    double sum = (first * (s * t) + second * (p * q)) / (p * q * s * t);
    double far = pick(x < 8, x + 8, x), r = 1 / far;
    double result = r + r * r * (0.5 + r * POLY(d, bernoulli, r * r));
    return pick(x < 8, sum + result, result);
}

V_INLINE double trigamma_anywhere(double x) {
    double r = x - rint(x), part = G_PI / v_sin(G_PI * r);
    double above = trigamma_above(pick(x < 0.5, 1 - x, x));
    return pick(x < 0.5, part * part - above, above);
}

/* ---- zeta ---- */

/* B(2k) / (2k)!, from k = 1 */
static const double maclaurin_terms[] = {
    1 / 12.0, -1 / 720.0, 1 / 30240.0, -1 / 1209600.0, 1 / 47900160.0, -691 / 1307674368000.0,
    1 / 74724249600.0, -3617 / 10670622842880000.0, 43867 / 5109094217170944000.0,
    -174611 / 802857662698291200000.0, 77683 / 14101100039391805440000.0,
    -236364091 / 1693824136731743669452800000.0};
#define ZETA_POWERS 8 /* of a float's digits, a vector */
#define ZETA_TERMS 9

/* (q + k)^-x for k below ZETA_POWERS, less exact than pow's by what the logarithm lacks. */
V_CLONES static void zeta_powers(double x, double q, double *powers) {
    V_IVDEP for (int k = 0; k < ZETA_POWERS; k++) powers[k] = v_exp(-x * v_log(q + (double)k));
}

/* The sum over k of (q + k)^-x, for x > 1 and q > 0. `limit`: where it may end, relative to it. */
static double zeta_above(double x, double q, double limit) {
    const int quick = limit > 0x1p-40, terms = quick ? ZETA_POWERS - 1 : ZETA_TERMS;
    double powers[ZETA_POWERS], sum = 0, a = q, power = 0;
    if (quick)
        zeta_powers(x, q, powers);
    for (int k = 0; k < terms; k++, a += 1) {
        power = quick ? powers[k] : pow(a, -x);
        sum += power;
        if (power < limit * sum)
            return sum;
    }
    power = quick ? powers[terms] : pow(a, -x);
    sum += power * (a / (x - 1) + 0.5);
    double factor = x, last = power / a;
    for (int k = 0; k < 12; k++) {
        double term = maclaurin_terms[k] * factor * last;
        sum += term;
        if (fabs(term) < limit * sum)
            break;
        factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
        last /= a * a;
    }
    return sum;
}

/* The terms of negative q + k are those of zeta at two positive places. */
static double zeta_of(double x, double q, double limit) {
    if (x == 1)
        return INFINITY;
    if (x < 1 || q != q || q == INFINITY)
        return NAN;
    if (q <= 0 && q == floor(q))
        return INFINITY;
    if (!(x < INFINITY) || (q < 0 && x != floor(x)))
        return NAN;
    if (q > 0)
        return zeta_above(x, q, limit);
    double first = q - floor(q);
    double below = zeta_above(x, 1 - first, limit) - zeta_above(x, 1 - q, limit);
    return zeta_above(x, first, limit) + (fmod(x, 2) != 0 ? -below : below);
}

/* The derivative of digamma, n >= 2 times. */
static double polygamma_of(double n, double x, double limit) {
    double size = tgamma(n + 1) * zeta_of(n + 1, x, limit);
    return fmod(n, 2) != 0 ? size : -size;
}

#endif
