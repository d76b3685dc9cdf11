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

#include "cpu_level.h"

#if IMODE_LEVELS && defined(__GLIBC__)
#define BM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define BM_CLONES
#endif

#define BM_TWO_PI 6.283185307179586476925286766559

static inline float bm_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bm_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* x in (0, 1]: 1 - u for a uniform u in [0, 1) */
static inline float bm_log(float x) {
    uint32_t bits = bm_bits(x);
    float e = (float)((int32_t)(bits >> 23) - 126);
    x = bm_from_bits((bits & 0x807fffffu) | 0x3f000000u);
    int small = x < 0.707106781186547524f;
    float twice = small ? x : 0.0f;
    e = e - (small ? 1.0f : 0.0f);
    x = (x - 1.0f) + twice;
    float z = x * x;
    float y = 7.0376836292E-2f;
    y = fmaf(y, x, -1.1514610310E-1f);
    y = fmaf(y, x, 1.1676998740E-1f);
    y = fmaf(y, x, -1.2420140846E-1f);
    y = fmaf(y, x, 1.4249322787E-1f);
    y = fmaf(y, x, -1.6668057665E-1f);
    y = fmaf(y, x, 2.0000714765E-1f);
    y = fmaf(y, x, -2.4999993993E-1f);
    y = fmaf(y, x, 3.3333331174E-1f);
    y = y * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(z, -0.5f, y);
    x = x + y;
    return fmaf(e, 0.693359375f, x);
}

/* x in [0, 2 pi) */
static inline void bm_sincos(float x, float *sine, float *cosine) {
    int32_t j = ((int32_t)(x * 1.27323954473516f) + 1) & ~1; /* octant, made even */
    float y = (float)j;
    uint32_t sin_sign = ((uint32_t)j & 4u) << 29;
    uint32_t cos_sign = (~((uint32_t)j - 2u) & 4u) << 29;
    int swap = (j & 2) != 0;
    x = fmaf(y, -0.78515625f, x);
    x = fmaf(y, -2.4187564849853515625e-4f, x);
    x = fmaf(y, -3.77489497744594108e-8f, x);
    float z = x * x;
    float c = 2.443315711809948E-005f;
    c = fmaf(c, z, -1.388731625493765E-003f);
    c = fmaf(c, z, 4.166664568298827E-002f);
    c = c * z;
    c = fmaf(c, z, -(z * 0.5f));
    c = c + 1.0f;
    float s = -1.9515295891E-4f;
    s = fmaf(s, z, 8.3321608736E-3f);
    s = fmaf(s, z, -1.6666654611E-1f);
    s = s * z;
    s = fmaf(s, x, x);
    *sine = bm_from_bits(bm_bits(swap ? c : s) ^ sin_sign);
    *cosine = bm_from_bits(bm_bits(swap ? s : c) ^ cos_sign);
}

BM_CLONES static void bm_fill_float(float *data, int64_t blocks, float mean, float std) {
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
