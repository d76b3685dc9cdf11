/* Elementary functions of float for processors without fused multiply-add, which have 16 registers
   of 16 bytes. A long chain of operations waits for itself there: few elements fit into the
   processor's window at once. So polynomials are summed by halves, and blocks go through a function
   in stages. Numbers of two parts take double's place. Below 2.5 ulp. */
#ifndef IMODE_ELEMENTARY_LOW_H
#define IMODE_ELEMENTARY_LOW_H

#include "elementary.h"
#include "elementwise.h"

/* A polynomial, its even and odd powers side by side. */
#define POLY_HALVES(NAME, T)                                                                       \
    V_INLINE T NAME(const T *terms, int degree, T x) {                                             \
        const T z = x * x;                                                                         \
        T high = terms[degree], low = terms[degree - 1];                                           \
        _Pragma("GCC unroll 8") for (int k = degree - 2; k > 0; k -= 2) {                          \
            high = high * z + terms[k];                                                            \
            low = low * z + terms[k - 1];                                                          \
        }                                                                                          \
        return degree % 2 ? high * x + low : (high * z + terms[0]) + low * x;                      \
    }
POLY_HALVES(halves_f, float)
POLY_HALVES(halves_d, double)
#define HALVES(TYPE, TERMS, x) halves_##TYPE(TERMS, sizeof TERMS / sizeof *TERMS - 1, x)

#define STAGE(TO, VALUE) V_IVDEP for (npy_intp i = 0; i < n; i++) TO[i] = VALUE;

/* ---- logarithms ---- */

/* The mantissa's logarithm is a high part of 12 bits and a low one, and so are the factors:
   products of high parts are exact. */
V_INLINE float log_high(float f, float half) {
    return v_float(v_bits(f - half) & 0xFFFFF000u);
}
V_INLINE float log2_of_parts(float e, float f, float tail) {
    const float half = 0.5f * f * f, high = log_high(f, half), low = ((f - high) - half) + tail;
    return ((low + high) * -1.7605285393e-4f + low * 1.44287109375f) + (high * 1.44287109375f + e);
}
V_INLINE float log10_of_parts(float e, float f, float tail) {
    const float half = 0.5f * f * f, high = log_high(f, half), low = ((f - high) - half) + tail;
    const float of_e = e * 3.0102920532e-1f, of_f = high * 4.3432617188e-1f, sum = of_e + of_f;
    const float rest = (of_f - (sum - of_e)) + e * 7.9034151668e-7f; /* what the sum has lost */
    return ((rest + (low + high) * -3.1689971365e-5f) + low * 4.3432617188e-1f) + sum;
}
/* A kernel: blocks in which a number has no logarithm of this way go through NAME_high. */
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
        STAGE(tail, v_log_tail(f[i]) * f[i] * (f[i] * f[i]))                                       \
        STAGE(out, NAME##_of_parts(e[i], f[i], tail[i]))                                           \
        return 1;                                                                                  \
    }                                                                                              \
    static void NAME##_low(char *const *p, npy_intp n) {                                           \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const float *a = (const float *)p[0] + start;                                          \
            float *out = (float *)p[1] + start;                                                    \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            if (!NAME##_stages(a, out, m))                                                         \
                NAME##_high((char *[]){(char *)a, (char *)out}, m);                                \
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
    return quarter_sine(r, v_bits(shifted) + more, sign);
}
V_INLINE float sin_of_short(float x) { return sin_of_short_turned(x, 0, v_bits(x) & 0x80000000u); }
V_INLINE float cos_of_short(float x) { return sin_of_short_turned(x, 1, 0); }

V_INLINE double tan_by_halves(double r) {
    const double z = r * r;
    return r + r * z * HALVES(d, tan_terms, z);
}
V_INLINE void tan_stages(const float *a, float *out, npy_intp n) {
    double r[BLOCK];
    uint64_t quarter[BLOCK];
    STAGE(r, tan_reduced(a[i], quarter + i))
    STAGE(r, tan_by_halves(r[i]))
    STAGE(out, tan_of_quarter(r[i], quarter[i]))
}

/* ---- erf and erfc ---- */

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

/* As erfc_of_f, for |x| up to a limit where exp(-x^2) is in the range. */
#define ERFC_NEAR 9.0f
static const float exp_terms[] = {4.99999851e-1f, 1.66664720e-1f, 4.16695364e-2f, 8.37312452e-3f,
                                  1.37805939e-3f};
/* exp(-y^2) = scale * (1 + result) */
V_INLINE float exp_of_square(float y, float *scale) {
    const float high = high_f(y), square = high * high, less = (y - high) * (y + high);
    const float shifted = V_ROUND - square * 1.44269504f, kf = shifted - V_ROUND;
    const float r = ((-square - kf * V_LN2_HI) - kf * V_LN2_LO) - less;
    *scale = v_float((v_bits(shifted) << 23) + 0x3F800000u);
    return HALVES(f, exp_terms, r) * (r * r) + r;
}
V_INLINE float erfc_rest(float y, float v) {
    const float q = (y - 2.0f) * v;
    return q * halves_f(erfc_terms + 1, 8, q);
}
V_INLINE float erfc_of_tail(float x, float tail) {
    return fabsf(x) < 0.6f ? 1.0f - erf_near_of(x) : x < 0 ? 2.0f - tail : tail;
}
V_INLINE void erfc_stages(const float *a, float *out, npy_intp n) {
    float v[BLOCK], rest[BLOCK], power[BLOCK], scale[BLOCK];
    STAGE(v, 1.0f / (fabsf(a[i]) + 2.0f))
    STAGE(rest, erfc_rest(fabsf(a[i]), v[i]))
    STAGE(power, exp_of_square(fabsf(a[i]), scale + i))
    STAGE(power, scale[i] * erfc_product(fabsf(a[i]), v[i], rest[i], 1.0 + (double)power[i]))
    STAGE(out, erfc_of_tail(a[i], power[i]))
}

#endif
