/* Uniform numbers to normal ones, 16 at a time: radius from the first 8, angle from the last 8.
 *
 * log, sin and cos in float are the polynomials of the Cephes library. A sum with a product is an
 * explicit fma exactly where PyTorch's build for AVX2 has one, because another rounding would
 * change the last bit. */
#ifndef IMODE_BOXMULLER_H
#define IMODE_BOXMULLER_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "half.h"

#if IMODE_LEVELS && defined(__GLIBC__)
#define BM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define BM_CLONES
#endif

#define BM_TWO_PI 6.283185307179586476925286766559

V_INLINE float bm_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

V_INLINE uint32_t bm_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Highest first, as they are summed. */
static const float bm_log_terms[] = {
    7.0376836292E-2f, -1.1514610310E-1f, 1.1676998740E-1f, -1.2420140846E-1f, 1.4249322787E-1f,
    -1.6668057665E-1f, 2.0000714765E-1f, -2.4999993993E-1f, 3.3333331174E-1f};
static const float bm_cos_terms[] = {2.443315711809948E-005f, -1.388731625493765E-003f,
                                     4.166664568298827E-002f};
static const float bm_sin_terms[] = {-1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f};
/* pi / 4, negative, in three parts */
static const float bm_octant[] = {-0.78515625f, -2.4187564849853515625e-4f,
                                  -3.77489497744594108e-8f};

/* x in (0, 1]: 1 - u for a uniform u in [0, 1). What is left of it, with its exponent. */
V_INLINE float bm_mantissa(float x, float *e) {
    uint32_t bits = bm_bits(x);
    float exponent = (float)((int32_t)(bits >> 23) - 126);
    x = bm_from_bits((bits & 0x807fffffu) | 0x3f000000u);
    int small = x < 0.707106781186547524f;
    float twice = small ? x : 0.0f;
    *e = exponent - (small ? 1.0f : 0.0f);
    return (x - 1.0f) + twice;
}

V_INLINE float bm_log(float x) {
    float e;
    x = bm_mantissa(x, &e);
    float z = x * x, y = bm_log_terms[0];
    _Pragma("GCC unroll 8") for (int k = 1; k < 9; k++) y = fmaf(y, x, bm_log_terms[k]);
    y = y * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(z, -0.5f, y);
    x = x + y;
    return fmaf(e, 0.693359375f, x);
}

/* The octant of x in [0, 2 pi), made even. */
V_INLINE int32_t bm_quarter(float x) { return ((int32_t)(x * 1.27323954473516f) + 1) & ~1; }

/* The sine and the cosine of an octant, from those of what is left of the angle. */
V_INLINE void bm_turned(int32_t j, float s, float c, float *sine, float *cosine) {
    uint32_t sin_sign = ((uint32_t)j & 4u) << 29;
    uint32_t cos_sign = (~((uint32_t)j - 2u) & 4u) << 29;
    int swap = (j & 2) != 0;
    *sine = bm_from_bits(bm_bits(swap ? c : s) ^ sin_sign);
    *cosine = bm_from_bits(bm_bits(swap ? s : c) ^ cos_sign);
}

V_INLINE void bm_sincos(float x, float *sine, float *cosine) {
    const int32_t j = bm_quarter(x);
    _Pragma("GCC unroll 3") for (int k = 0; k < 3; k++)
        x = fmaf((float)j, bm_octant[k], x);
    float z = x * x, c = bm_cos_terms[0], s = bm_sin_terms[0];
    _Pragma("GCC unroll 3") for (int k = 1; k < 3; k++) {
        c = fmaf(c, z, bm_cos_terms[k]);
        s = fmaf(s, z, bm_sin_terms[k]);
    }
    c = c * z;
    c = fmaf(c, z, -(z * 0.5f));
    s = s * z;
    bm_turned(j, fmaf(s, x, x), c + 1.0f, sine, cosine);
}

BM_CLONES static void bm_fill_by_fma(float *data, int64_t blocks, float mean, float std) {
    for (; blocks > 0; blocks--, data += 16) {
        for (int i = 0; i < 8; i++) {
            float sine, cosine;
            float radius = sqrtf(-2.0f * bm_log(1.0f - data[i]));
            bm_sincos((float)BM_TWO_PI * data[i + 8], &sine, &cosine);
            data[i] = fmaf(radius * cosine, std, mean);
            data[i + 8] = fmaf(radius * sine, std, mean);
        }
    }
}

/* ---- without fused multiply-add ---- */

/* a * b + c by double, which holds the product. The sum is rounded twice, and the float may be
   another than fmaf's only where the double was rounded to the middle between two floats: then
   `least` becomes the least integer. Results must not be subnormal. */
V_INLINE float bm_by_double_checked(float a, float b, float c, int32_t *least) {
    const double product = (double)a * (double)b, sum = product + (double)c;
    const double added = sum - product, lost = (product - (sum - added)) + ((double)c - added);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const int32_t end = (int32_t)((uint32_t)bits << 3), in_doubt = lost == 0 ? 0 : end;
    *least = in_doubt < *least ? in_doubt : *least;
    return (float)sum;
}
/* Without what was lost: for operands of which hardly any sum ends in the middle unrounded. */
V_INLINE float bm_by_double(float a, float b, float c, int32_t *least) {
    const double sum = (double)a * (double)b + (double)c;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const int32_t end = (int32_t)((uint32_t)bits << 3);
    *least = end < *least ? end : *least;
    return (float)sum;
}

/* A few blocks, in short loops: few numbers of a long chain fit into the processor's window. The
   result is whether all is as by fmaf; if it is not, nothing is written. */
#define BM_BLOCKS 16
#define BM_PAIRS (8 * BM_BLOCKS)
#define BM_EACH(TO, VALUE) for (int i = 0; i < BM_PAIRS; i++) TO[i] = VALUE;
#define BM_FMA(TO, A, B, C) BM_EACH(TO, bm_by_double(A, B, C, &least))
static int bm_fill_by_double(float *data, float mean, float std) {
    _Alignas(64) float x[BM_PAIRS], y[BM_PAIRS], z[BM_PAIRS];
    _Alignas(64) float e[BM_PAIRS], radius[BM_PAIRS], s[BM_PAIRS];
    int32_t j[BM_PAIRS], least = 0;
    for (int i = 0; i < BM_BLOCKS; i++) {
        memcpy(x + 8 * i, data + 16 * i, 32);
        memcpy(y + 8 * i, data + 16 * i + 8, 32);
    }
    BM_EACH(j, bm_quarter((float)BM_TWO_PI * y[i]))
    BM_EACH(s, (float)BM_TWO_PI * y[i])
    /* bm_log */
    BM_EACH(x, bm_mantissa(1.0f - x[i], e + i))
    BM_FMA(y, bm_log_terms[0], x[i], bm_log_terms[1])
    for (int k = 2; k < 9; k++)
        BM_FMA(y, y[i], x[i], bm_log_terms[k])
    BM_FMA(y, y[i] * x[i], x[i] * x[i], e[i] * -2.12194440e-4f)
    BM_EACH(y, y[i] - 0.5f * (x[i] * x[i])) /* these products are exact */
    BM_EACH(radius, sqrtf(-2.0f * (e[i] * 0.693359375f + (x[i] + y[i]))))
    /* bm_sincos */
    BM_EACH(s, ((float)j[i] * bm_octant[0] + s[i]) + (float)j[i] * bm_octant[1]) /* these, too */
    BM_FMA(s, (float)j[i], bm_octant[2], s[i])
    BM_EACH(z, s[i] * s[i])
    BM_FMA(x, bm_cos_terms[0], z[i], bm_cos_terms[1])
    BM_FMA(x, x[i], z[i], bm_cos_terms[2])
    BM_FMA(x, x[i] * z[i], z[i], -(z[i] * 0.5f))
    BM_FMA(y, bm_sin_terms[0], z[i], bm_sin_terms[1])
    BM_FMA(y, y[i], z[i], bm_sin_terms[2])
    BM_FMA(y, y[i] * z[i], s[i], s[i])
    for (int i = 0; i < BM_PAIRS; i++)
        bm_turned(j[i], y[i], x[i] + 1.0f, y + i, x + i);
    BM_EACH(x, bm_by_double_checked(radius[i] * x[i], std, mean, &least))
    BM_EACH(y, bm_by_double_checked(radius[i] * y[i], std, mean, &least))
    for (int i = 0; i < BM_BLOCKS && least > INT32_MIN; i++) {
        memcpy(data + 16 * i, x + 8 * i, 32);
        memcpy(data + 16 * i + 8, y + 8 * i, 32);
    }
    return least > INT32_MIN;
}

static void bm_fill_float(float *data, int64_t blocks, float mean, float std) {
    const int wide = V_LOW && fabsf(std) > 1e-20f; /* else a product may be subnormal */
    while (wide && blocks >= BM_BLOCKS) {
        if (!bm_fill_by_double(data, mean, std))
            bm_fill_by_fma(data, BM_BLOCKS, mean, std);
        data += 16 * BM_BLOCKS;
        blocks -= BM_BLOCKS;
    }
    bm_fill_by_fma(data, blocks, mean, std);
}

static inline void bm_fill_double(double *data, int64_t blocks, double mean, double std) {
    for (; blocks > 0; blocks--, data += 16) {
        for (int i = 0; i < 8; i++) {
            double radius = sqrt(-2.0 * log(1.0 - data[i]));
            double theta = BM_TWO_PI * data[i + 8];
            data[i] = fma(radius * cos(theta), std, mean);
            data[i + 8] = fma(radius * sin(theta), std, mean);
        }
    }
}

#endif
