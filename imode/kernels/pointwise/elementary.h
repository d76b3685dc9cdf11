/* Trigonometric and hyperbolic functions, their inverses, erfc and logarithms of float, as in
   vmath.h: no branches, below 2.5 ulp. The polynomials were fitted to the least relative error. */
#ifndef IMODE_ELEMENTARY_H
#define IMODE_ELEMENTARY_H

#include "normal.h"

#define HALF_PI_HI 1.57079637f
#define HALF_PI_LO -4.37113883e-8f /* the rest: subtracted first from what HALF_PI_HI minus is */

/* ---- trigonometry ---- */

/* In double. Below the limit multiples of half of pi's first 33 bits are exact. */
#define TAN_LIMIT 1e6f
static const double tan_terms[] = {
    3.3333349756371111e-1, 1.333266330861633e-1, 5.4059918472722207e-2, 2.128218200354632e-2,
    1.0835816404266263e-2, 8.9543740748605771e-5, 4.3762658108803905e-3};
V_INLINE double tan_reduced(float x, uint64_t *quarter) {
    const double ROUND = 6755399441055744.0, y = (double)x; /* 1.5 * 2^52 */
    double shifted = y * 0.63661977236758134308 + ROUND, q = shifted - ROUND;
    memcpy(quarter, &shifted, 8);
    return (y - q * 1.57079632673412561417) - q * 6.07710050650619224932e-11;
}
V_INLINE float tan_of_quarter(double t, uint64_t quarter) {
    return (float)pick((int)(quarter & 1), -1.0 / t, t);
}
V_INLINE float tan_near(float x) {
    uint64_t quarter;
    const double r = tan_reduced(x, &quarter), z = r * r;
    return tan_of_quarter(r + r * z * POLY(d, tan_terms, z), quarter);
}

/* The sine of |x| and `more` quarters of a turn, with the sign turned by `sign`. Below the limit the
   quarters in x, which float counts, times half of pi in two parts are exact in double. */
#define SIN_LIMIT 1e5f
static const float sin_terms[] = {-1.66666654e-1f, 8.33216087e-3f, -1.95152959e-4f};
static const float cos_terms[] = {4.16666456e-2f, -1.38873162e-3f, 2.44331571e-5f};
V_INLINE float quarter_sine(float r, uint32_t quarter, uint32_t sign) {
    const float z = r * r;
    const float s = r * z * POLY(f, sin_terms, z) + r;
    const float c = 1.0f - (0.5f * z - z * z * POLY(f, cos_terms, z));
    return v_float(v_bits(quarter & 1 ? c : s) ^ (quarter & 2) << 30 ^ sign);
}
V_INLINE float sin_turned(float x, uint32_t more, uint32_t sign) {
    const float a = fabsf(x), shifted = a * 0.636619772f + V_ROUND;
    const double q = (double)(shifted - V_ROUND), least = q * 6.07710050650619224932e-11;
    const float r = (float)(((double)a - q * 1.57079632673412561417) - least);
    return quarter_sine(r, v_bits(shifted) + more, sign);
}
V_INLINE float sin_near(float x) { return sin_turned(x, 0, v_bits(x) & 0x80000000u); }
V_INLINE float cos_near(float x) { return sin_turned(x, 1, 0); }

/* atan(t) for t in [0, 1] */
V_INLINE float atan_below(float t) {
    const float z = t * t;
    float r = -1.7437229e-3f;
    r = r * z + 1.0680852e-2f;
    r = r * z - 3.0717833e-2f;
    r = r * z + 5.7463976e-2f;
    r = r * z - 8.3720953e-2f;
    r = r * z + 1.0940213e-1f;
    r = r * z - 1.4261577e-1f;
    r = r * z + 1.9998231e-1f;
    r = r * z - 3.3333282e-1f;
    return (r * z) * t + t;
}
V_INLINE float atan_of_f(float x) {
    const float a = fabsf(x);
    const int above = a > 1.0f;
    const float r = atan_below((above ? 1.0f : a) / (above ? a : 1.0f));
    return copysignf(above ? HALF_PI_HI - (r - HALF_PI_LO) : r, x);
}
/* The angle below 45 degrees; then the octant. */
V_INLINE float atan2_of_f(float y, float x) {
    const float up = fabsf(y), along = fabsf(x);
    const float low = up < along ? up : along, high = up < along ? along : up;
    float t = low / high;
    t = high == 0 ? 0 : t;
    t = low == INFINITY ? 1 : t;
    float r = atan_below(t);
    r = up > along ? HALF_PI_HI - r + HALF_PI_LO : r;
    r = v_bits(x) >> 31 ? 2 * HALF_PI_HI - r + 2 * HALF_PI_LO : r;
    return copysignf(x != x || y != y ? x + y : r, y);
}

/* asin(s) - s: for |x| up to 1/2 s is |x|; above it is sqrt((1 - |x|) / 2), the sine of half of the
   arc cosine. */
static const float asin_terms[] = {1.66667521e-1f, 7.49531016e-2f, 4.54690233e-2f, 2.41854675e-2f,
                                   4.21570949e-2f};
V_INLINE float asin_less_s(float a, float *s) {
    const float z = a > 0.5f ? (1.0f - a) * 0.5f : a * a;
    *s = a > 0.5f ? sqrtf(z) : a;
    return *s * z * POLY(f, asin_terms, z);
}
V_INLINE float asin_of_f(float x) {
    float a = fabsf(x), s, r = asin_less_s(a, &s);
    const float above = (HALF_PI_HI - 2.0f * s) - (2.0f * r - HALF_PI_LO);
    return copysignf(a > 0.5f ? above : r + s, x);
}
V_INLINE float acos_of_f(float x) {
    float a = fabsf(x), s, r = asin_less_s(a, &s);
    r = r + s;
    const float far = x > 0 ? 2.0f * r : 2.0f * HALF_PI_HI - (2.0f * r - 2.0f * HALF_PI_LO);
    return a > 0.5f ? far : HALF_PI_HI - (copysignf(r, x) - HALF_PI_LO);
}

/* ---- hyperbolic functions ---- */

/* half: exp(|x|) / 2 */
static const float sinh_terms[] = {1.66667163e-1f, 8.33027437e-3f, 2.03728327e-4f};
V_INLINE float sinh_of_f(float x) {
    const float a = fabsf(x), z = x * x, half = v_exp_shifted(a, 0.0f, -1);
    const float large = copysignf(half - 0.25f / half, x);
    return a > 1.0f ? large : x * z * POLY(f, sinh_terms, z) + x;
}
V_INLINE float cosh_of_f(float x) {
    const float half = v_exp_shifted(fabsf(x), 0.0f, -1);
    return half + 0.25f / half;
}

/* Above HUGE_F a square may overflow, and x is all that counts. */
#define HUGE_F 1e9f
#define LN2_F 0.693147182f
static const float asinh_terms[] = {-1.66666433e-1f, 7.49864355e-2f, -4.4383578e-2f,
                                    2.81649567e-2f, -1.32310325e-2f};
V_INLINE float asinh_of_f(float x) {
    const float a = fabsf(x), z = x * x;
    const float u = a > HUGE_F ? a : a + z / (1.0f + sqrtf(z + 1.0f));
    const float large = v_log1pf(u) + (a > HUGE_F ? LN2_F : 0.0f);
    return copysignf(a > 0.5f ? large : a * z * POLY(f, asinh_terms, z) + a, x);
}
/* (acosh(1 + t) / sqrt(2t) - 1) / t */
static const float acosh_terms[] = {-8.33332166e-2f, 1.87466145e-2f, -5.5479994e-3f,
                                    1.76046148e-3f, -4.1360976e-4f};
V_INLINE float acosh_of_f(float x) {
    const float t = x - 1.0f, u = x > HUGE_F ? x : t + sqrtf(t * (t + 2.0f));
    const float r = v_log1pf(u) + (x > HUGE_F ? LN2_F : 0.0f), w = sqrtf(t + t);
    const float near = w * t * POLY(f, acosh_terms, t) + w;
    return x < 1.0f ? NAN : x < 1.5f ? near : r;
}
static const float atanh_terms[] = {3.33333015e-1f, 2.000245e-1f, 1.42238632e-1f,
                                    1.18156746e-1f, 5.16320765e-2f, 1.76339507e-1f};
V_INLINE float atanh_of_f(float x) {
    const float a = fabsf(x), z = x * x;
    const float large = 0.5f * v_log1pf((a + a) / (1.0f - a));
    return a > 0.5f ? copysignf(large, x) : x * z * POLY(f, atanh_terms, z) + x;
}

/* ---- powers and logarithms of 2 and 10, erfc ---- */

/* (2^r - 1) / r */
static const float exp2_terms[] = {6.93147182e-1f, 2.40226552e-1f, 5.5503577e-2f,
                                   9.6175652e-3f, 1.33918086e-3f, 1.55932168e-4f};
V_INLINE float exp2_of_f(float x) {
    x = x > 130.0f ? 130.0f : x;
    x = x < -152.0f ? -152.0f : x;
    const float shifted = x + V_ROUND, r = x - (shifted - V_ROUND);
    const int32_t k = (int32_t)(v_bits(shifted) - v_bits(V_ROUND));
    return v_scaled(POLY(f, exp2_terms, r) * r + 1.0f, k);
}

/* The sum's large terms are double, so that logarithms of powers of the base are whole numbers. */
V_INLINE float log_to_base(float x, double of_2, double of_e) {
    float e;
    const float f = v_mantissa(x, 1, &e), tail = v_log_tail(f) * (f * f) * f;
    const double y = (double)f;
    const double r = (double)e * of_2 + (y - 0.5 * y * y + (double)tail) * of_e;
    return v_log_ends(x, (float)r);
}
V_INLINE float log2_of_f(float x) { return log_to_base(x, 1.0, 1.44269504088896340736); }
V_INLINE float log10_of_f(float x) {
    return log_to_base(x, 0.30102999566398119521, 0.43429448190325182765);
}

/* (y + 2) exp(y^2) erfc(y) in (y - 2) / (y + 2), for y in [0.5, 10.1] */
static const float erfc_terms[] = {1.02158272f, -0.687160671f, 0.279471278f, -0.0364427455f,
                                   -0.0214998834f, 0.00648471387f, 0.0030313218f, -0.000861151319f,
                                   -0.000515975757f, 7.85218726e-05f};
/* power * (erfc_terms[0] + rest) / (y + 2), rounded once; v is 1 / (y + 2), nearly */
V_INLINE float erfc_product(float y, float v, float rest, double power) {
    const double over = (double)v * (2.0 - ((double)y + 2.0) * (double)v);
    const double factor = ((double)erfc_terms[0] + (double)rest) * over;
    return (float)(power * factor);
}
/* Above 10.1 the result is 0 or 2. The square is of two parts, as in exp_square. */
V_INLINE float erfc_of_f(float x) {
    const float a = fabsf(x), y = a > 10.1f ? 10.1f : a, high = high_f(y);
    const float power = v_exp_shifted(-high * high, (y - high) * (y + high), 0);
    const float v = 1.0f / (y + 2.0f), q = (y - 2.0f) * v;
    const float rest = q * poly_f(erfc_terms + 1, 8, q), near = 1.0f - v_erf_near(x);
    const float tail = erfc_product(y, v, rest, (double)power);
    return a < 0.6f ? near : x < 0 ? 2.0f - tail : tail;
}

#endif
