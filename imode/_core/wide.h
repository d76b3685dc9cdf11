/* A loop over float that runs on operands in float16 or bfloat16, a block at a time. */
#ifndef IMODE_WIDE_H
#define IMODE_WIDE_H

#include "small_floats.h"

#define WIDE_BLOCK 1024 /* elements; three operands fill 12 KB of the L1 cache */

/* Rows of float16, by the CPU's own instruction where it has one: compilers do not find it. It says
   that a NaN was a signalling one and that a number was too large; NumPy would warn of that. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define V_F16C __attribute__((target("avx,f16c"), unused)) static
#ifdef __clang__ /* cannot ask for f16c before version 17; what has AVX2 has it */
#define V_HAS_F16C __builtin_cpu_supports("avx2")
#else
#define V_HAS_F16C (__builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"))
#endif
#define WIDENED(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#define NARROWED(p) _mm256_cvtps_ph(_mm256_loadu_ps(p), 0)
/* What the next block will read or write comes from memory while this one is computed. Of a whole
   array, the processor knows by itself what comes next: there it would cost a tenth. */
#define SOON(p)                                                                                    \
    if (n <= WIDE_BLOCK)                                                                           \
    _mm_prefetch((const char *)((p) + WIDE_BLOCK), _MM_HINT_T0)

V_F16C void f16c_from_half(float *to, const uint16_t *from, intptr_t n) {
    const unsigned said = _mm_getcsr();
    intptr_t i = 0;
    for (; i + 32 <= n; i += 32) {
        SOON(from + i);
        const __m256 a = WIDENED(from + i), b = WIDENED(from + i + 8);
        const __m256 c = WIDENED(from + i + 16), d = WIDENED(from + i + 24);
        _mm256_storeu_ps(to + i, a);
        _mm256_storeu_ps(to + i + 8, b);
        _mm256_storeu_ps(to + i + 16, c);
        _mm256_storeu_ps(to + i + 24, d);
    }
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, WIDENED(from + i));
    for (; i < n; i++)
        to[i] = v_from_half(from[i]);
    _mm_setcsr(said);
}

V_F16C void f16c_to_half(uint16_t *to, const float *from, intptr_t n) {
    const unsigned said = _mm_getcsr();
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        SOON(to + i);
        const __m128i a = NARROWED(from + i), b = NARROWED(from + i + 8);
        _mm_storeu_si128((__m128i *)(to + i), a);
        _mm_storeu_si128((__m128i *)(to + i + 8), b);
    }
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), NARROWED(from + i));
    for (; i < n; i++)
        to[i] = v_to_half(from[i]);
    _mm_setcsr(said);
}

/* Rows of float16 without that instruction. An exponent that is all ones, of infinity and NaN, is
   looked for in 16 elements at once. */
#ifdef __SSE4_1__
#define V_HAS_SSE4 1

__attribute__((unused)) static void sse4_from_half(float *to, const uint16_t *from, intptr_t n) {
    const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16(0x7C00);
    const __m128i taken = _mm_set1_epi32((int)0x8FFFE000u);
    const __m128 scale = _mm_set1_ps(0x1p+112f); /* as in v_from_half */
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m128i *at = (const __m128i *)(from + i);
        const __m128i a = _mm_loadu_si128(at), b = _mm_loadu_si128(at + 1);
        const __m128i high_a = _mm_cmpeq_epi16(_mm_and_si128(a, ones), ones);
        const __m128i high_b = _mm_cmpeq_epi16(_mm_and_si128(b, ones), ones);
        if (_mm_movemask_epi8(_mm_or_si128(high_a, high_b))) {
            for (intptr_t j = i; j < i + 16; j++)
                to[j] = v_from_half(from[j]);
            continue;
        }
        const __m128i high[] = {_mm_unpacklo_epi16(zero, a), _mm_unpackhi_epi16(zero, a),
                                _mm_unpacklo_epi16(zero, b), _mm_unpackhi_epi16(zero, b)};
        for (int j = 0; j < 4; j++) {
            const __m128i bits = _mm_and_si128(_mm_srai_epi32(high[j], 3), taken);
            _mm_storeu_ps(to + i + 4 * j, _mm_mul_ps(_mm_castsi128_ps(bits), scale));
        }
    }
    for (; i < n; i++)
        to[i] = v_from_half(from[i]);
}

/* Four floats, rounded: added to 2^13 times the power of two below, or to half of the least normal
   float16 times that, a number's significand is the low bits of the sum. 8 times the
   high word of `above` is the exponent's share. */
V_INLINE __m128i sse4_to_half_of(__m128 x) {
    const __m128i bits = _mm_castps_si128(x);
    const __m128i exponent = _mm_and_si128(bits, _mm_set1_epi32(0x7F800000));
    const __m128i above = _mm_subs_epu16(exponent, _mm_set1_epi32(113 << 23));
    const __m128i size = _mm_and_si128(bits, _mm_set1_epi32(0x7FFFFFFF));
    const __m128i large = _mm_add_epi32(above, _mm_set1_epi32(126 << 23));
    const __m128 sum = _mm_add_ps(_mm_castsi128_ps(size), _mm_castsi128_ps(large));
    const __m128i parts = _mm_blend_epi16(_mm_castps_si128(sum), above, 0xAA);
    return _mm_madd_epi16(parts, _mm_set1_epi32(8 << 16 | 1));
}

__attribute__((unused)) static void sse4_to_half(uint16_t *to, const float *from, intptr_t n) {
    const __m128i infinity = _mm_set1_epi16(0x7C00), sign = _mm_set1_epi16((short)0x8000);
    intptr_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128 a = _mm_loadu_ps(from + i), b = _mm_loadu_ps(from + i + 4);
        if (_mm_movemask_ps(_mm_cmpunord_ps(a, b))) { /* a NaN */
            for (intptr_t j = i; j < i + 8; j++)
                to[j] = v_to_half(from[j]);
            continue;
        }
        const __m128i sizes = _mm_packus_epi32(sse4_to_half_of(a), sse4_to_half_of(b));
        const __m128i signs = _mm_packs_epi32(_mm_castps_si128(a), _mm_castps_si128(b));
        const __m128i halves =
            _mm_or_si128(_mm_min_epu16(sizes, infinity), _mm_and_si128(signs, sign));
        _mm_storeu_si128((__m128i *)(to + i), halves);
    }
    for (; i < n; i++)
        to[i] = v_to_half(from[i]);
}
#else
#define V_HAS_SSE4 0
#define sse4_from_half(to, from, n)
#define sse4_to_half(to, from, n)
#endif

/* Rows of bfloat16: what compilers make of them takes half as long again, or twice. */
#define V_AVX2 __attribute__((target("avx2"), unused)) static
#define V_HAS_AVX2 __builtin_cpu_supports("avx2")

V_AVX2 void avx2_from_brain(float *to, const uint16_t *from, intptr_t n) {
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        SOON(from + i);
        const __m128i *at = (const __m128i *)(from + i);
        const __m256i a = _mm256_cvtepu16_epi32(_mm_loadu_si128(at));
        const __m256i b = _mm256_cvtepu16_epi32(_mm_loadu_si128(at + 1));
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_slli_epi32(a, 16));
        _mm256_storeu_si256((__m256i *)(to + i + 8), _mm256_slli_epi32(b, 16));
    }
    for (; i < n; i++)
        to[i] = v_from_brain(from[i]);
}

__attribute__((target("avx2"), always_inline)) static inline __m256i avx2_to_brain_of(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x), nan = _mm256_set1_epi32(0x7FC00000);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i more = _mm256_add_epi32(_mm256_set1_epi32(0x7FFF), odd);
    const __m256i rounded = _mm256_add_epi32(bits, more);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, nan, is_nan), 16);
}

V_AVX2 void avx2_to_brain(uint16_t *to, const float *from, intptr_t n) {
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i a = avx2_to_brain_of(_mm256_loadu_ps(from + i));
        const __m256i b = avx2_to_brain_of(_mm256_loadu_ps(from + i + 8));
        SOON(to + i);
        const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xD8);
        _mm256_storeu_si256((__m256i *)(to + i), both);
    }
    for (; i < n; i++)
        to[i] = v_to_brain(from[i]);
}

/* The same in the widest vectors. */
#define V_AVX512 __attribute__((target("avx512f,avx512bw"), unused)) static
#define V_HAS_AVX512 __builtin_cpu_supports("avx512bw")

V_AVX512 void avx512_from_brain(float *to, const uint16_t *from, intptr_t n) {
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i bits = _mm256_loadu_si256((const __m256i *)(from + i));
        SOON(from + i);
        _mm512_storeu_si512(to + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    }
    for (; i < n; i++)
        to[i] = v_from_brain(from[i]);
}

V_AVX512 void avx512_to_brain(uint16_t *to, const float *from, intptr_t n) {
    const __m512i one = _mm512_set1_epi32(1), half = _mm512_set1_epi32(0x7FFF);
    const __m512i nan = _mm512_set1_epi32(0x7FC0);
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 x = _mm512_loadu_ps(from + i);
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
        const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(half, odd));
        const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        const __m512i high = _mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), is_nan, nan);
        SOON(to + i);
        _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtepi32_epi16(high));
    }
    for (; i < n; i++)
        to[i] = v_to_brain(from[i]);
}

/* Eight numbers of 16 bits as floats, and 16 back, in registers. */
#define V_NARROW_INLINE __attribute__((target("avx2,f16c"), always_inline)) static inline

V_NARROW_INLINE __m256 widened(const uint16_t *from, int brain) {
    const __m128i bits = _mm_loadu_si128((const __m128i *)from);
    return brain ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))
                 : _mm256_cvtph_ps(bits);
}

V_NARROW_INLINE void put_narrowed(uint16_t *to, __m256 a, __m256 b, int brain) {
    if (brain) {
        const __m256i both = _mm256_packus_epi32(avx2_to_brain_of(a), avx2_to_brain_of(b));
        _mm256_storeu_si256((__m256i *)to, _mm256_permute4x64_epi64(both, 0xD8));
    } else {
        _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(a, 0));
        _mm_storeu_si128((__m128i *)(to + 8), _mm256_cvtps_ph(b, 0));
    }
}
#else
#define V_HAS_F16C 0
#define V_HAS_AVX2 0
#define V_HAS_AVX512 0
#define V_HAS_SSE4 0
#define f16c_from_half(to, from, n)
#define f16c_to_half(to, from, n)
#define sse4_from_half(to, from, n)
#define sse4_to_half(to, from, n)
#define avx2_from_brain(to, from, n)
#define avx2_to_brain(to, from, n)
#define avx512_from_brain(to, from, n)
#define avx512_to_brain(to, from, n)
#endif

__attribute__((unused)) static void from_half(float *to, const char *from, intptr_t step,
                                              intptr_t n) {
    if (step == 2 && n >= 8 && V_HAS_F16C)
        f16c_from_half(to, (const uint16_t *)from, n);
    else if (step == 2 && V_HAS_SSE4)
        sse4_from_half(to, (const uint16_t *)from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_half(((const uint16_t *)from)[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_half(*(const uint16_t *)(from + i * step));
}

__attribute__((unused)) static void to_half(char *to, const float *from, intptr_t step,
                                            intptr_t n) {
    if (step == 2 && n >= 8 && V_HAS_F16C)
        f16c_to_half((uint16_t *)to, from, n);
    else if (step == 2 && V_HAS_SSE4)
        sse4_to_half((uint16_t *)to, from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = v_to_half(from[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            *(uint16_t *)(to + i * step) = v_to_half(from[i]);
}

__attribute__((unused)) static void from_brain(float *to, const char *from, intptr_t step,
                                               intptr_t n) {
    if (step == 2 && n >= 16 && V_HAS_AVX512)
        avx512_from_brain(to, (const uint16_t *)from, n);
    else if (step == 2 && n >= 16 && V_HAS_AVX2)
        avx2_from_brain(to, (const uint16_t *)from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_brain(((const uint16_t *)from)[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_brain(*(const uint16_t *)(from + i * step));
}

__attribute__((unused)) static void to_brain(char *to, const float *from, intptr_t step,
                                             intptr_t n) {
    if (step == 2 && n >= 16 && V_HAS_AVX512)
        avx512_to_brain((uint16_t *)to, from, n);
    else if (step == 2 && n >= 16 && V_HAS_AVX2)
        avx2_to_brain((uint16_t *)to, from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = v_to_brain(from[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            *(uint16_t *)(to + i * step) = v_to_brain(from[i]);
}

#define WIDE_OPERANDS 5

/* The same of all n elements, without a float in memory; 0 if it does not serve these steps. */
typedef int (*narrow_loop)(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                           int brain);

typedef struct {
    void (*loop)(char **args, const intptr_t *dims, const intptr_t *steps, void *data);
    void *data;
    int nin;
    unsigned halves; /* a bit for each operand of 16 bits, and for the result */
    int brain;       /* these are bfloat16, not float16 */
    narrow_loop narrow; /* or NULL */
} wide_loop;

__attribute__((unused)) static void run_wide(char **args, const intptr_t *dims,
                                             const intptr_t *steps, void *data) {
    const wide_loop *wide = data;
    const int nin = wide->nin;
    _Alignas(64) float buffer[WIDE_OPERANDS][WIDE_BLOCK];
    char *at[WIDE_OPERANDS];
    intptr_t by[WIDE_OPERANDS];
    if (wide->narrow && wide->narrow(args, dims[0], steps, wide->halves, wide->brain))
        return;
    for (intptr_t done = 0, n; done < dims[0]; done += n) {
        n = dims[0] - done < WIDE_BLOCK ? dims[0] - done : WIDE_BLOCK;
        for (int k = 0; k <= nin; k++) {
            char *from = args[k] + done * steps[k];
            int half = wide->halves >> k & 1;
            int one = k < nin && steps[k] == 0; /* a number: the same element everywhere */
            if (half && k < nin)
                (wide->brain ? from_brain : from_half)(buffer[k], from, steps[k], one ? 1 : n);
            at[k] = half ? (char *)buffer[k] : from;
            by[k] = half && !one ? (intptr_t)sizeof(float) : steps[k];
        }
        wide->loop(at, &n, by, wide->data);
        if (wide->halves >> nin & 1)
            (wide->brain ? to_brain : to_half)(args[nin] + done * steps[nin], buffer[nin],
                                               steps[nin], n);
    }
}

#endif
