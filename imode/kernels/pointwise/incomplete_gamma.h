/* The regularised incomplete gamma functions P(a, x), the lower one, and Q = 1 - P, in double.

   Sources: the series and the continued fraction of DLMF 8.7.1 and 8.9.2; N. M. Temme, "The
   asymptotic expansion of the incomplete gamma functions" (1979), with the coefficients by the
   recurrences of A. R. DiDonato and A. H. Morris, "Computation of the incomplete gamma function
   ratios and their inverse" (1986), computed exactly. */
#ifndef IMODE_INCOMPLETE_GAMMA_H
#define IMODE_INCOMPLETE_GAMMA_H

#include "gamma.h"

#define MOST_TERMS 2000

/* Temme's coefficients: ten rows, by powers of 1/a, of 22, 20, ... 4, by powers of eta */
static const double temme_terms[] = {
    -3.3333333333333333e-1, 8.3333333333333333e-2, -1.4814814814814815e-2,
    1.1574074074074074e-3, 3.527336860670194e-4, -1.7875514403292181e-4, 3.9192631785224378e-5,
    -2.1854485106799922e-6, -1.85406221071516e-6, 8.296711340953086e-7, -1.7665952736826079e-7,
    6.7078535434014986e-9, 1.0261809784240308e-8, -4.3820360184533532e-9,
    9.1476995822367902e-10, -2.551419399494625e-11, -5.8307721325504251e-11,
    2.4361948020667416e-11, -5.0276692801141756e-12, 1.1004392031956135e-13,
    3.3717632624009854e-13, -1.3923887224181621e-13, -1.8518518518518519e-3,
    -3.4722222222222222e-3, 2.6455026455026455e-3, -9.9022633744855967e-4,
    2.0576131687242798e-4, -4.0187757201646091e-7, -1.8098550334489978e-5,
    7.6491609160811101e-6, -1.6120900894563446e-6, 4.6471278028074343e-9, 1.378633446915721e-7,
    -5.752545603517705e-8, 1.1951628599778147e-8, -1.7543241719747648e-11,
    -1.0091543710600413e-9, 4.1627929918425826e-10, -8.5639070264929806e-11,
    6.0672151016047586e-14, 7.1624989648114854e-12, -2.9331866437714371e-12,
    4.1335978835978836e-3, -2.6813271604938272e-3, 7.7160493827160494e-4, 2.0093878600823045e-6,
    -1.0736653226365161e-4, 5.2923448829120125e-5, -1.2760635188618728e-5,
    3.4235787340961381e-8, 1.3721957309062933e-6, -6.298992138380055e-7, 1.4280614206064242e-7,
    -2.0477098421990866e-10, -1.4092529910867521e-8, 6.228974084922022e-9,
    -1.3670488396617113e-9, 9.4283561590146782e-13, 1.2872252400089318e-10,
    -5.5645956134363321e-11, 6.4943415637860082e-4, 2.2947209362139918e-4,
    -4.6918949439525571e-4, 2.6772063206283885e-4, -7.5618016718839764e-5,
    -2.3965051138672967e-7, 1.1082654115347302e-5, -5.6749528269915966e-6,
    1.4230900732435884e-6, -2.7861080291528142e-11, -1.6958404091930277e-7,
    8.0994649053880824e-8, -1.9111168485973654e-8, 2.3928620439808118e-12,
    2.0620131815488798e-9, -9.4604966618551322e-10, -8.618882909167117e-4,
    7.8403922172006663e-4, -2.9907248030319018e-4, -1.4638452578843418e-6,
    6.6414982154651222e-5, -3.9683650471794347e-5, 1.1375726970678419e-5,
    2.5074972262375328e-10, -1.6954149536558306e-6, 8.9075075322053097e-7,
    -2.2929348340008049e-7, 2.956794137544049e-11, 2.8865829742708784e-8,
    -1.4189739437803219e-8, -3.3679855336635815e-4, -6.9728137583658578e-5,
    2.7727532449593921e-4, -1.9932570516188848e-4, 6.7977804779372078e-5, 1.419062920643967e-7,
    -1.3594048189768693e-5, 8.0184702563342015e-6, -2.2914811765080952e-6,
    -3.252473551298454e-10, 3.4652846491085265e-7, -1.8447187191171343e-7,
    5.3130793646399222e-4, -5.9216643735369388e-4, 2.7087820967180448e-4, 7.9023532326603279e-7,
    -8.1539693675619688e-5, 5.6116827531062497e-5, -1.8329116582843376e-5,
    -3.0796134506033048e-9, 3.4651553688036091e-6, -2.0291327396058604e-6,
    3.4436760689237767e-4, 5.1717909082605922e-5, -3.3493161081142236e-4, 2.812695154763237e-4,
    -1.0976582244684731e-4, -1.2741009095484485e-7, 2.7744451511563644e-5,
    -1.8263488805711333e-5, -6.5262391859530942e-4, 8.3949872067208728e-4,
    -4.3829709854172101e-4, -6.969091458420552e-7, 1.6644846642067548e-4,
    -1.2783517679769219e-4, -5.9676129019274625e-4, -7.2048954160200106e-5,
    6.7823088376673284e-4, -6.4014752602627585e-4};
/* log(1 + s) - s, for |s| < 1/2: twice the series of atanh, without its first term */
static double log1p_less(double s) {
    double t = s / (2 + s), sum = 0, power = t * t;
    for (int k = 3; k < 40; k += 2, power *= t * t)
        sum += power / k;
    return t * (2 * sum - s);
}

static double log_ratio(double a, double x) { /* log(x / a) - (x - a) / a */
    double s = (x - a) / a;
    return fabs(s) < 0.5 ? log1p_less(s) : log(x / a) - s;
}

/* gamma(a + 1) for 0 <= a < 20, by the recurrence from [3/2, 5/2] */
static double factorial(double a) {
    double product = 1;
    for (; a >= 1.5; a -= 1)
        product *= a;
    double v = a < 0.5 ? a : a - 1;
    product = a < 0.5 ? product / (1 + a) : product;
    return product * exp(v * POLY(d, lgamma_terms, v));
}

/* x^a e^-x / gamma(a + 1) */
static double gamma_density(double a, double x) {
    if (a >= 20)
        return exp(a * log_ratio(a, x) - stirling(a)) / sqrt(2 * G_PI * a);
    if (x < 200)
        return pow(x, a) * exp(-x) / factorial(a);
    return exp(a * log(x) - x - lgamma_above(a + 1));
}

static double lower_series(double a, double x, double limit, double density) {
    double sum = 1, term = 1;
    for (int k = 1; k < MOST_TERMS && term > limit * sum; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum * density;
}

/* The continued fraction, for x > a and x > 1: numerators and denominators by their recurrence. */
static double upper_fraction(double a, double x, double limit, double density) {
    double z = x + 2 - a, last = 0;
    double up[2] = {1, x + 1}, down[2] = {x, z * x}, result = up[1] / down[1];
    for (int k = 1; k < MOST_TERMS && fabs(result - last) > limit * result; k++) {
        double factor = k * (k + 1 - a), next;
        z += 2;
        next = up[1] * z - up[0] * factor;
        up[0] = up[1];
        up[1] = next;
        next = down[1] * z - down[0] * factor;
        down[0] = down[1];
        down[1] = next;
        last = result;
        result = up[1] / down[1];
        if (fabs(up[1]) > 1e200) {
            for (int i = 0; i < 2; i++)
                up[i] *= 1e-200, down[i] *= 1e-200;
        }
    }
    return result * a * density;
}

/* Q for small x, where 1 - P would cancel. */
static double upper_series(double a, double x) {
    double sum = 0, term = 1, power = a * log(x);
    for (int k = 1; k < MOST_TERMS; k++) {
        term *= -x / k;
        sum += term / (a + k);
        if (fabs(term / (a + k)) <= 0x1p-54 * fabs(sum))
            break;
    }
    /* lgamma(1 + a), also where a is small */
    double size = a < 0.5 ? a * POLY(d, lgamma_terms, a) - log1p(a) : lgamma_above(1 + a);
    return -expm1(power - size) - a * sum * exp(power - size);
}

static double temme(double a, double x, int upper) {
    double half = -log_ratio(a, x), eta = sqrt(2 * half), sum = 0, power = 1;
    const double *row = temme_terms;
    eta = x < a ? -eta : eta;
    for (int n = 0; n < 10; n++) {
        sum += power * poly_d(row, 21 - 2 * n, eta);
        row += 22 - 2 * n;
        power /= a;
    }
    double rest = exp(-a * half) / sqrt(2 * G_PI * a) * sum;
    return upper ? 0.5 * erfc(eta * sqrt(a / 2)) + rest : 0.5 * erfc(-eta * sqrt(a / 2)) - rest;
}

/* `limit`: where the sums may end, relative to them. `density`: as above, or NULL. */
static double incomplete_gamma(double a, double x, int upper, double limit, const double *density) {
    if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (a == INFINITY && x == INFINITY))
        return NAN;
    if (a == 0 || x == INFINITY)
        return !upper;
    if (x == 0 || a == INFINITY)
        return upper;
    if (a >= 20 && fabs(x - a) < 0.4 * a)
        return temme(a, x, upper);
    if (upper && x <= 1.1 && (x <= 0.5 ? -0.4 / log(x) >= a : 1.1 * x >= a))
        return upper_series(a, x);
    int fraction = x > 1.1 && x > a;
    double factor = density ? *density : gamma_density(a, x);
    double part = (fraction ? upper_fraction : lower_series)(a, x, limit, factor);
    return fraction == upper ? part : 1 - part;
}

#endif
