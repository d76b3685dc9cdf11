/* log of double as straight-line code, and its vector forms, as vdouble.h has exp. */
#ifndef IMODE_VLOG_H
#define IMODE_VLOG_H

#include "vdouble.h"

/* m - 1, where x = m * 2^e, x is normal and positive, and m is between the roots of 1/2 and 2 */
V_INLINE double v_mantissa_d(double x, double *e) {
    const uint64_t ROOT = 0x3FE6A09E667F3BCDu, MANTISSA = 0xFFFFFFFFFFFFFu; /* sqrt(1 / 2) */
    const uint64_t from_root = v_bits_d(x) + ((1024ull << 52) - ROOT);
    *e = v_double(from_root >> 52 | 0x4330000000000000u) - (0x1p52 + 1024);
    return v_double((from_root & MANTISSA) + ROOT) - 1.0;
}
/* The same where x may also be subnormal. */
V_INLINE double v_mantissa_small_d(double x, double *e) {
    const int small = x < 0x1p-1022;
    const double f = v_mantissa_d(x * pick(small, 0x1p54, 1), e);
    *e = *e - pick(small, 54, 0);
    return f;
}

/* f - log(1 + f), by s = f / (2 + f), as in fdlibm; half: f^2 / 2 */
static const double v_log_terms[] = {
    6.666666666666735130e-1, 3.999999999940941908e-1, 2.857142874366239149e-1,
    2.222219843214978396e-1, 1.818357216161805012e-1, 1.531383769920937332e-1,
    1.479819860511658591e-1};
V_INLINE double v_log_rest(double f, double half) {
    const double s = f / (2.0 + f), z = s * s;
    return s * (half + z * HALVES(d, v_log_terms, z));
}
/* Below 0.75 ulp, without fused multiply-add 0.85. */
V_INLINE double log_split_d(double f, double e) {
    const double half = 0.5 * f * f;
    const double low = v_log_rest(f, half) + e * 1.90821492927058770002e-10;
    return e * 6.93147180369123816490e-1 - ((half - low) - f);
}
/* A logarithm r of x, also where that is 0, negative, infinite or NaN. */
V_INLINE double v_log_ends_d(double x, double r) {
    r = pick(x > 1.79769313486231570815e308, x, r);
    return pick(x > 0, r, pick(x == 0, -INFINITY, NAN));
}
V_INLINE double log_of_d(double x) {
    double e, f = v_mantissa_small_d(x, &e);
    return v_log_ends_d(x, log_split_d(f, e));
}
/* The same for what is normal, positive and finite. LOG_FAR_D: whether x, as bits, is not; its
   highest bit says so. */
#define LOG_FAR_D(x) (((x) - (1ull << 52)) | ((x) + (1ull << 52)))
V_INLINE double v_log_near(double x) {
    double e, f = v_mantissa_d(x, &e);
    return log_split_d(f, e);
}
V_FORMS(log, log_of_d)

#endif
