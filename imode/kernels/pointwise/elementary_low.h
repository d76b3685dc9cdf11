/* Elementary functions of float for processors without fused multiply-add, which have 16 registers
   of 16 bytes. A long chain of operations waits for itself there: few elements fit into the
   processor's window at once. So polynomials are summed by halves, and blocks go through a function
   in stages. Numbers of two parts take double's place. Below 2.5 ulp. */
#ifndef IMODE_ELEMENTARY_LOW_H
#define IMODE_ELEMENTARY_LOW_H

#include "elementary.h"
#include "elementwise.h"

#define STAGE(TO, VALUE) V_IVDEP for (npy_intp i = 0; i < n; i++) TO[i] = VALUE;

/* ---- logarithms ---- */

/* A kernel: blocks in which a number has no logarithm of this way go through NAME_anywhere. */
#define LOG_LOW(NAME)                                                                              \
    V_INLINE int NAME##_stages(const float *a, float *out, npy_intp n) {                           \
        float e[BLOCK], f[BLOCK], tail[BLOCK];                                                     \
        uint32_t far = 0;                                                                          \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            far |= LOG_FAR(v_bits(a[i]));                                                          \
            f[i] = v_mantissa(a[i], 0, e + i);                                                     \
        }                                                                                          \
        if (far >> 31)                                                                             \
            return 0;                                                                              \
        STAGE(tail, v_log_tail(f[i]) * f[i] - 0.5f)                                                \
        STAGE(out, NAME##_of_parts(e[i], f[i], tail[i]))                                           \
        return 1;                                                                                  \
    }                                                                                              \
    static void NAME##_low(char *const *p, npy_intp n) {                                           \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const float *a = (const float *)p[0] + start;                                          \
            float *out = (float *)p[1] + start;                                                    \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            if (!NAME##_stages(a, out, m))                                                         \
                NAME##_anywhere((char *[]){(char *)a, (char *)out}, m);                            \
        }                                                                                          \
    }

/* The same of double. */
#define LOG_LOW_D(NAME)                                                                            \
    static void NAME##_low_d(char *const *p, npy_intp n) {                                         \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const double *a = (const double *)p[0] + start;                                        \
            double *out = (double *)p[1] + start, e[BLOCK], f[BLOCK];                              \
            const int m = n - start < BLOCK ? (int)(n - start) : BLOCK;                            \
            uint64_t far = 0;                                                                      \
            for (int i = 0; i < m; i++) {                                                          \
                far |= LOG_FAR_D(v_bits_d(a[i]));                                                  \
                f[i] = v_mantissa_d(a[i], e + i);                                                  \
            }                                                                                      \
            if (far >> 63)                                                                         \
                NAME##_anywhere_d((char *[]){(char *)a, (char *)out}, m);                          \
            else                                                                                   \
                V_IVDEP for (int i = 0; i < m; i++) out[i] = NAME##_split_d(f[i], e[i]);           \
        }                                                                                          \
    }

/* ---- trigonometry ---- */

/* As sin_turned, up to a limit where the quarters have 8 bits: half of pi is 16 bits, another 16
   and the rest. */
#define SHORT_LIMIT 256.0f
V_INLINE float sin_of_short_turned(float x, uint32_t more, uint32_t sign) {
    const float a = fabsf(x), shifted = a * 0.636619772f + V_ROUND, q = shifted - V_ROUND;
    const float r = ((a - q * 1.570770263671875f) - q * 2.606306225061416626e-5f) -
                    q * 6.0771005065061926e-11f;
    return quarter_sine(r, 0.0f, 0.0f, v_bits(shifted) + more, sign);
}
V_INLINE float sin_of_short(float x) { return sin_of_short_turned(x, 0, v_bits(x) & 0x80000000u); }
V_INLINE float cos_of_short(float x) { return sin_of_short_turned(x, 1, 0); }

/* In double. Below the limits multiples of half of pi's first 33 bits are exact. */
V_INLINE double wide_rest(double x, double q) {
    return (x - q * 1.57079632673412561417) - q * 6.07710050650619224932e-11;
}
V_INLINE float sin_wide_turned(float x, uint32_t more, uint32_t sign) {
    const float a = fabsf(x), shifted = a * 0.636619772f + V_ROUND;
    const float r = (float)wide_rest((double)a, (double)(shifted - V_ROUND));
    return quarter_sine(r, 0.0f, 0.0f, v_bits(shifted) + more, sign);
}
V_INLINE float sin_wide_near(float x) { return sin_wide_turned(x, 0, v_bits(x) & 0x80000000u); }
V_INLINE float cos_wide_near(float x) { return sin_wide_turned(x, 1, 0); }

/* As sin_turned_d. */
V_INLINE void sine_stages_d(const double *a, double *out, npy_intp n, uint64_t more,
                            uint64_t signs) {
    double r[BLOCK], less[BLOCK], shifted[BLOCK], s[BLOCK];
    STAGE(r, quarter_rest_d(fabs(a[i]), shifted + i, less + i))
    STAGE(s, sine_d(r[i], less[i]))
    STAGE(out, turned_d(s[i], cosine_d(r[i], less[i]), v_bits_d(shifted[i]) + more,
                        v_bits_d(a[i]) & signs))
}
V_INLINE void sin_stages_d(const double *a, double *out, npy_intp n) {
    sine_stages_d(a, out, n, 0, SIGN_D(-0.0));
}
V_INLINE void cos_stages_d(const double *a, double *out, npy_intp n) {
    sine_stages_d(a, out, n, 1, 0);
}

V_INLINE double tan_reduced(float x, uint64_t *quarter) {
    const double ROUND = 6755399441055744.0, y = (double)x; /* 1.5 * 2^52 */
    const double shifted = y * 0.63661977236758134308 + ROUND;
    memcpy(quarter, &shifted, 8);
    return wide_rest(y, shifted - ROUND);
}
/* (tan(r) - r) / r^3, which in float is exact enough */
V_INLINE float tan_rest(float r) { return HALVES(f, tan_terms, r * r); }
V_INLINE float tan_turned(double r, float rest, uint64_t quarter) {
    const double t = r + r * r * r * (double)rest;
    const uint64_t odd = -(quarter & 1);
    return (float)v_double((v_bits_d(-1.0 / t) & odd) | (v_bits_d(t) & ~odd));
}
V_INLINE void tan_stages(const float *a, float *out, npy_intp n) {
    double r[BLOCK];
    float rest[BLOCK];
    uint64_t quarter[BLOCK];
    STAGE(r, tan_reduced(a[i], quarter + i))
    STAGE(rest, tan_rest((float)r[i]))
    STAGE(out, tan_turned(r[i], rest[i], quarter[i]))
}

/* ---- erf ---- */

/* The logarithm to base 2 of erfc(t), over t, for t in [0.92, 4] */
static const float log_erfc_terms[] = {-1.62809694f, -0.917165756f, -0.151836097f,
                                       0.0330069587f, -0.00463298615f, 0.000308067247f};
/* 2^r for |r| <= 1/2 */
static const float two_terms[] = {1.00000012f, 0.693146944f, 0.240221202f,
                                  0.0555071346f, 0.00967554096f, 0.00132764515f};
static const float erf_near_terms[] = {1.28379166e-1f, -3.76125336e-1f, 1.12819925e-1f,
                                       -2.67681349e-2f, 4.99119423e-3f, -5.96761703e-4f};
V_INLINE float erf_near_of(float x) { return HALVES(f, erf_near_terms, x * x) * x + x; }
V_INLINE float log_erfc(float x) {
    const float t = fabsf(x) > 4.0f ? 4.0f : fabsf(x);
    return t * HALVES(f, log_erfc_terms, t);
}
V_INLINE float two_to(float w) {
    const float shifted = w + V_ROUND, r = w - (shifted - V_ROUND);
    return v_float(v_bits(HALVES(f, two_terms, r)) + (v_bits(shifted) << 23));
}
V_INLINE float erf_of_large(float x, float large) {
    return fabsf(x) > 0.927734375f ? copysignf(large, x) : erf_near_of(x);
}
V_INLINE void erf_stages(const float *a, float *out, npy_intp n) {
    float large[BLOCK];
    STAGE(large, log_erfc(a[i]))
    STAGE(large, 1.0f - two_to(large[i]))
    STAGE(out, erf_of_large(a[i], large[i]))
}

#endif
