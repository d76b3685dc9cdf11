/* Square roots, and 1 over them, by products where vectors have 64 bytes: the instruction for roots
   takes twice as long, and keeps the unit that divides. */
#ifndef IMODE_ROOTS_H
#define IMODE_ROOTS_H

#include "vmath.h"
#include "wide.h"

#if defined(__GNUC__) && defined(__x86_64__)
/* Steps of Goldschmidt from 14 bits of 1 / sqrt(x), the last with the exact rest of x, as P. Markstein
   has it (Computation of elementary functions on the IBM RISC System/6000 processor, 1990). Rounded
   correctly: for float32 tried with every mantissa, for float64 with the 46 000 whose roots come
   closest to the middle of two numbers; both also with first bits wrong by half as much again. */
V_AVX512 inline __m512 root_of_16(__m512 x) {
    const __m512 half = _mm512_set1_ps(0.5f), first = _mm512_rsqrt14_ps(x);
    __m512 root = _mm512_mul_ps(x, first), slope = _mm512_mul_ps(half, first);
    const __m512 more = _mm512_fnmadd_ps(root, slope, half);
    root = _mm512_fmadd_ps(root, more, root), slope = _mm512_fmadd_ps(slope, more, slope);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(root, root, x), slope, root);
}

/* The slope is made anew from the root: else five of those numbers may come out wrong. */
V_AVX512 inline __m512d root_of_8(__m512d x) {
    const __m512d half = _mm512_set1_pd(0.5), first = _mm512_rsqrt14_pd(x);
    __m512d root = _mm512_mul_pd(x, first), slope = _mm512_mul_pd(half, first), more;
    for (int step = 0; step < 2; step++) {
        more = _mm512_fnmadd_pd(root, slope, half);
        root = _mm512_fmadd_pd(root, more, root), slope = _mm512_fmadd_pd(slope, more, slope);
    }
    root = _mm512_fmadd_pd(_mm512_fnmadd_pd(root, root, x), slope, root);
    slope = _mm512_fmadd_pd(slope, _mm512_fnmadd_pd(root, slope, half), slope);
    return _mm512_fmadd_pd(_mm512_fnmadd_pd(root, root, x), slope, root);
}

/* How far above 2^-95, or 2^-900, as unsigned numbers, and up to where: below, the rest may be
   subnormal. These, infinities, NaNs and what is below 0 are left to the instruction. */
V_AVX512 inline __m512i height_of_16(__m512 x) {
    return _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x10000000));
}
V_AVX512 inline unsigned far_of_16(__m512i height) {
    return _mm512_cmpgt_epu32_mask(height, _mm512_set1_epi32(0x6F7FFFFF));
}
V_AVX512 inline __m512i height_of_8(__m512d x) {
    return _mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(123LL << 52));
}
V_AVX512 inline unsigned far_of_8(__m512i height) {
    return _mm512_cmpgt_epu64_mask(height, _mm512_set1_epi64((1924LL << 52) - 1));
}
#define ROOTS(NAME, T, V, LANES, OF, HIGHEST, VALUE)                                               \
    V_AVX512 void NAME(char *const *p, npy_intp n) {                                               \
        const T *a = (const T *)p[0];                                                              \
        T *out = (T *)p[1];                                                                        \
        const V one = OF(set1)(1);                                                                 \
        for (npy_intp i = 0, many; i < n; i += many) {                                             \
            for (many = 4 * LANES; i + many <= n; i += many) {                                     \
                V x[4];                                                                            \
                __m512i highest = _mm512_setzero_si512();                                          \
                for (int k = 0; k < 4; k++) {                                                      \
                    x[k] = OF(loadu)(a + i + k * LANES);                                           \
                    highest = HIGHEST(highest, height_of_##LANES(x[k]));                           \
                }                                                                                  \
                if (far_of_##LANES(highest))                                                       \
                    break;                                                                         \
                for (int k = 0; k < 4; k++) {                                                      \
                    const V root = root_of_##LANES(x[k]);                                          \
                    OF(storeu)(out + i + k * LANES, VALUE);                                        \
                }                                                                                  \
            }                                                                                      \
            many = n - i < LANES ? n - i : LANES;                                                  \
            const unsigned here = (1u << many) - 1;                                                \
            const V x = OF(mask_loadu)(one, here, a + i);                                          \
            const unsigned far = far_of_##LANES(height_of_##LANES(x));                             \
            V root = root_of_##LANES(OF(mask_mov)(x, far, one));                                   \
            if (far)                                                                               \
                root = OF(mask_sqrt)(root, far, x);                                                \
            OF(mask_storeu)(out + i, here, VALUE);                                                 \
        }                                                                                          \
    }
#define OF_16(x) _mm512_##x##_ps
#define OF_8(x) _mm512_##x##_pd
ROOTS(sqrt_wide_f, float, __m512, 16, OF_16, _mm512_max_epu32, root)
ROOTS(sqrt_wide_d, double, __m512d, 8, OF_8, _mm512_max_epu64, root)
ROOTS(rsqrt_wide_f, float, __m512, 16, OF_16, _mm512_max_epu32, _mm512_div_ps(one, root))
ROOTS(rsqrt_wide_d, double, __m512d, 8, OF_8, _mm512_max_epu64, _mm512_div_pd(one, root))
#else
#define sqrt_wide_f(p, n)
#define sqrt_wide_d(p, n)
#define rsqrt_wide_f(p, n)
#define rsqrt_wide_d(p, n)
#endif

/* NAME_F: NAME_wide_F where there is one, else a loop for any machine. */
#define ROOT_MAP(NAME, F, T, VALUE)                                                                \
    MAP1(NAME##_anywhere_##F, T, T, VALUE)                                                         \
    static void NAME##_##F(char *const *p, npy_intp n) {                                           \
        if (V_HAS_AVX512) {                                                                        \
            NAME##_wide_##F(p, n);                                                                 \
        } else                                                                                     \
            NAME##_anywhere_##F(p, n);                                                             \
    }

#endif
