/* Elementary functions as straight-line float code, so that a loop over them vectorises on any
   target: no branches, no tables, no libm. Errors are below 2 ulp with and without fused
   multiply-add; for NaN, infinities, signed zeros and subnormals the results are those of C's
   functions. The double forms call libm, of which glibc has vector forms (libmvec); vdouble.h and
   vlog.h have those that are faster. */
#ifndef IMODE_VMATH_H
#define IMODE_VMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "half.h"

/* Else gcc gives each end of a clamped number a way of its own, whose results it then blends: up to
   a quarter of the time of a function. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-thread-jumps")
#endif

/* Before a loop: tells the compiler that output and input do not overlap, or are the same elements.
   Compilers that do not know the pragma check the addresses at run time. */
#if defined(__GNUC__) && !defined(__clang__)
#define V_IVDEP _Pragma("GCC ivdep")
#else
#define V_IVDEP
#endif

/* ---- double: libm, in vector form where glibc has one ---- */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define V_SIMD __attribute__((simd("notinbranch"), const, nothrow))
#endif
#endif
#ifdef V_SIMD
/* Declared under other names: the compiler's builtin exp has no vector form without -ffast-math. */
V_SIMD double v_expm1(double) __asm__("expm1");
V_SIMD double v_log1p(double) __asm__("log1p");
V_SIMD double v_tanh(double) __asm__("tanh");
V_SIMD double v_erf(double) __asm__("erf");
V_SIMD double v_sin(double) __asm__("sin");
V_SIMD double v_cos(double) __asm__("cos");
V_SIMD double v_tan(double) __asm__("tan");
V_SIMD double v_asin(double) __asm__("asin");
V_SIMD double v_acos(double) __asm__("acos");
V_SIMD double v_atan(double) __asm__("atan");
V_SIMD double v_sinh(double) __asm__("sinh");
V_SIMD double v_cosh(double) __asm__("cosh");
V_SIMD double v_asinh(double) __asm__("asinh");
V_SIMD double v_acosh(double) __asm__("acosh");
V_SIMD double v_atanh(double) __asm__("atanh");
V_SIMD double v_erfc(double) __asm__("erfc");
V_SIMD double v_exp2(double) __asm__("exp2");
V_SIMD double v_log2(double) __asm__("log2");
V_SIMD double v_pow(double, double) __asm__("pow");
#else
#define v_expm1 expm1
#define v_log1p log1p
#define v_tanh tanh
#define v_erf erf
#define v_sin sin
#define v_cos cos
#define v_tan tan
#define v_asin asin
#define v_acos acos
#define v_atan atan
#define v_sinh sinh
#define v_cosh cosh
#define v_asinh asinh
#define v_acosh acosh
#define v_atanh atanh
#define v_erfc erfc
#define v_exp2 exp2
#define v_log2 log2
#define v_pow pow
#endif

V_INLINE uint64_t v_bits_d(double x) {
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
V_INLINE double v_double(uint64_t u) {
    double x;
    memcpy(&x, &u, 8);
    return x;
}

#define V_ROUND_D 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to the nearest integer */

/* a where the condition holds, else b, by masks: where it sees a branch, gcc does not vectorise. */
V_INLINE double pick(int condition, double a, double b) {
    const uint64_t mask = -(uint64_t)condition;
    return v_double((v_bits_d(a) & mask) | (v_bits_d(b) & ~mask));
}

/* The polynomial with these coefficients, lowest first. */
#define POLYNOMIAL(NAME, T)                                                                        \
    V_INLINE T NAME(const T *terms, int degree, T x) {                                             \
        T sum = terms[degree];                                                                     \
        _Pragma("GCC unroll 32") for (int k = degree - 1; k >= 0; k--) sum = sum * x + terms[k];   \
        return sum;                                                                                \
    }
POLYNOMIAL(poly_f, float)
POLYNOMIAL(poly_d, double)
#define POLY(TYPE, TERMS, x) poly_##TYPE(TERMS, sizeof TERMS / sizeof *TERMS - 1, x)

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

/* ---- float ---- */

#define V_ROUND 12582912.0f /* 1.5 * 2^23: adding it rounds to the nearest integer */
#define V_LN2_HI 0.693359375f /* nine bits: k * V_LN2_HI is exact for every exponent k */
#define V_LN2_LO -2.12194440e-4f

/* p * 2^k; 2^k is two factors, since the result may be subnormal */
V_INLINE float v_scaled(float p, int32_t k) {
    int32_t half = k >> 1;
    float scale = v_float((uint32_t)(half + 127) << 23);
    return p * scale * v_float((uint32_t)(k - half + 127) << 23);
}

/* exp(r) for |r| <= ln2 / 2, and its terms from the square on */
#define V_EXP_TERMS                                                                                \
    {4.99999851e-1f, 1.66664720e-1f, 4.16695364e-2f, 8.37312452e-3f, 1.37805939e-3f}
V_INLINE float v_exp_reduced(float r) {
    const float terms[] = V_EXP_TERMS;
    float p = terms[4];
    p = p * r + terms[3];
    p = p * r + terms[2];
    p = p * r + terms[1];
    p = p * r + terms[0];
    p = p * (r * r) + r;
    return p + 1.0f;
}

/* 2^shift * exp(x - less) for a `less` below 0.1: exp(x) = 2^k * exp(r), |r| <= ln2 / 2. */
V_INLINE float v_exp_shifted(float x, float less, int32_t shift) {
    x = x > 90.0f ? 90.0f : x;
    x = x < -104.0f ? -104.0f : x;
    float shifted = x * 1.44269504f + V_ROUND;
    int32_t k = (int32_t)(v_bits(shifted) - v_bits(V_ROUND));
    float kf = shifted - V_ROUND;
    float r = x - kf * V_LN2_HI;
    r = r - kf * V_LN2_LO;
    r = r - less;
    return v_scaled(v_exp_reduced(r), k + shift);
}
V_INLINE float v_expf(float x) { return v_exp_shifted(x, 0.0f, 0); }

/* The same for |x| up to EXP_NEAR, where neither x nor the power of two leaves the range. */
#define EXP_NEAR 87.0f
V_INLINE float v_expf_near(float x) {
    float shifted = x * 1.44269504f + V_ROUND;
    float kf = shifted - V_ROUND;
    float r = x - kf * V_LN2_HI;
    r = r - kf * V_LN2_LO;
    return v_float(v_bits(v_exp_reduced(r)) + (v_bits(shifted) << 23));
}

/* expm1(x) = 2^k * expm1(r) + (2^k - 1) */
V_INLINE float v_expm1f(float x) {
    float y = x > 89.0f ? 89.0f : x;
    y = y < -20.0f ? -20.0f : y;
    float shifted = y * 1.44269504f + V_ROUND;
    int32_t k = (int32_t)(v_bits(shifted) - v_bits(V_ROUND));
    float kf = shifted - V_ROUND;
    float r = y - kf * V_LN2_HI;
    r = r - kf * V_LN2_LO;
    float p = 1.98423862e-4f;
    p = p * r + 1.39347725e-3f;
    p = p * r + 8.33332818e-3f;
    p = p * r + 4.16664183e-2f;
    p = p * r + 1.66666672e-1f;
    p = p * r + 5.00000000e-1f;
    p = p * (r * r) + r;
    /* 2^(k-1), because 2^128 is out of range */
    float scale = v_float((uint32_t)(k + 126) << 23);
    float result = 2.0f * (scale * p + (scale - 0.5f));
    return x == 0.0f ? x : result; /* keep -0 */
}

/* m - 1, where x = m * 2^e and m is in [2/3, 4/3) */
V_INLINE float v_mantissa(float x, int subnormals, float *e) {
    float less = 0.0f, y = x;
    if (subnormals) {
        int small = x < 1.17549435e-38f;
        y = small ? x * 8388608.0f : x;
        less = small ? -23.0f : 0.0f;
    }
    uint32_t shifted = v_bits(y) - 0x3F2AAAABu; /* 2/3 */
    int32_t exponent = (int32_t)shifted >> 23;
    *e = less + (float)exponent;
    return v_float(v_bits(y) - ((uint32_t)exponent << 23)) - 1.0f;
}

/* (log1p(f) - f + f^2 / 2) / f^3 on [-1/3, 1/3] */
V_INLINE float v_log_tail(float f) {
    float s = f * f, r = -0.128893256f, t = 0.139873952f;
    r = r * s + -0.121848531f;
    t = t * s + 0.140052274f;
    r = r * s + -0.166804403f;
    t = t * s + 0.200104490f;
    r = r * s + -0.249997988f;
    r = t * f + r;
    return r * f + 0.333332151f;
}

/* log(x), with `tail_over_x` added to the mantissa's small end */
V_INLINE float v_log_split(float x, float tail_over_x, int subnormals) {
    float e, f = v_mantissa(x, subnormals, &e);
    float r = v_log_tail(f) * f + -0.500000000f;
    r = r * (f * f) + (f + tail_over_x);
    r = e * V_LN2_LO + r;
    return e * V_LN2_HI + r;
}

/* A logarithm r of x, also where that is 0, negative, infinite or NaN. */
V_INLINE float v_log_ends(float x, float r) {
    r = x > 3.40282347e38f ? x : r;
    r = x == 0.0f ? -INFINITY : r;
    return x >= 0.0f ? r : NAN;
}

V_INLINE float v_logf(float x) { return v_log_ends(x, v_log_split(x, 0.0f, 1)); }
/* The same for what is normal, positive and finite. LOG_FAR: whether x, as bits, is not; its
   highest bit says so. */
#define LOG_FAR(x) (((x) - 0x800000u) | ((x) + 0x800000u))
V_INLINE float v_logf_near(float x) { return v_log_split(x, 0.0f, 0); }

/* log(1 + x): the relative rounding error of 1 + x is added to the result. */
V_INLINE float v_log1pf(float x) {
    float u = 1.0f + x;
    float c = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    float r = v_log_split(u, c / u, 0);
    r = u > 3.40282347e38f ? u : r;
    r = u == 0.0f ? -INFINITY : r;
    r = u >= 0.0f ? r : NAN;
    return fabsf(x) < 1e-7f ? x : r; /* keeps -0 and subnormals */
}

/* Above 0.625 by exp(2 |x|) / 2 = 2^k * (r + 0.5 + ...), |r| <= ln2 / 4. */
V_INLINE float v_tanhf(float x) {
    float a = fabsf(x), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    float small = p * z * a + a;
    float y = a > 10.0f ? 10.0f : a;
    float shifted = y * 2.88539008f + V_ROUND;
    float r = y - (shifted - V_ROUND) * 0.34657359f;
    float q = 4.40979005e-2f;
    q = q * r + 1.33969799e-1f;
    q = q * r + 3.33355630e-1f;
    q = q * r + 6.66658878e-1f;
    q = q * r + 9.99999702e-1f;
    q = q * (r * r) + r + 0.5f;
    float half = v_float(v_bits(q) + (v_bits(shifted) << 23));
    float large = 1.0f - 1.0f / (half + 0.5f);
    return copysignf(a > 0.625f ? large : small, x); /* NaN uses `small` and stays NaN */
}

/* 1 / (1 + exp(-x)), of which both parts are scaled, so that the exponent stays in the range. */
V_INLINE float v_sigmoidf(float x) {
    float y = x > 60.0f ? -60.0f : -x;
    y = y > 88.7228394f ? 104.0f : y; /* where exp(-x) is infinite, the result is 0 */
    float shifted = y * 1.44269504f + V_ROUND;
    float kf = shifted - V_ROUND;
    float r = y - kf * V_LN2_HI;
    r = r - kf * V_LN2_LO;
    float part = v_exp_reduced(r) * v_float((v_bits(shifted) << 23) + (97u << 23));
    return 0x1p-30f / (0x1p-30f + part);
}

/* for |x| < 0.93 */
V_INLINE float v_erf_near(float x) {
    float s = x * x, p = -5.96761703e-4f;
    p = p * s + 4.99119423e-3f;
    p = p * s + -2.67681349e-2f;
    p = p * s + 1.12819925e-1f;
    p = p * s + -3.76125336e-1f;
    p = p * s + 1.28379166e-1f;
    return p * x + x;
}

V_INLINE float v_erff(float x) {
    float t = fabsf(x), s = x * x;
    float r = -1.72853470e-5f * t + 3.83197126e-4f;
    float u = -3.88396438e-3f * t + 2.42546219e-2f;
    r = r * s + u;
    r = r * t + -1.06777877e-1f;
    r = r * t + -6.34846687e-1f;
    r = r * t + -1.28717512e-1f;
    r = r * t + -t;
    /* Above 4, where erf is 1, the exponential leaves the range in the end. */
    float large = t > 4.0f ? 1.0f : 1.0f - v_expf_near(r);
    return t > 0.927734375f ? copysignf(large, x) : v_erf_near(x);
}

/* 1 + erf(x), to 4e-7: a quotient of polynomials fitted to erf(x) / x on [-3.92, 3.92], at whose
   ends it is 1 in float, fused or not: beyond, too, the result is 0 or 2, and NaN stays NaN. Without
   exp it is twice as fast as v_erff. */
V_INLINE float v_erf_above(float x) {
    float c = x > 3.92f ? 3.92f : x;
    c = c < -3.92f ? -3.92f : c;
    float s = c * c;
    float p = 2.050087099e-6f;
    p = p * s + 2.848820631e-4f;
    p = p * s + 3.765598038e-3f;
    p = p * s + 5.274866249e-2f;
    p = p * s + 1.904060626e-1f;
    p = p * s + 1.128379146f;
    float q = 3.809167888e-5f;
    q = q * s + 1.162530511e-3f;
    q = q * s + 1.496917833e-2f;
    q = q * s + 1.141089384e-1f;
    q = q * s + 5.020757204e-1f;
    q = q * s + 1.0f;
    return 1.0f + c * p / q;
}

#endif
