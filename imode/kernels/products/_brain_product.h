/* Products of matrices of bfloat16, by instructions of processors that have AVX512-BF16.

   One adds two products to a float: so b is packed in pairs of rows, a panel of columns at a time,
   and rows of a go through it in register tiles. As the instructions do, subnormal numbers count as
   0. All sums run over the whole depth: the bits depend on no block. */

#include <immintrin.h>

#include "half_product.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,prefer-vector-width=512")

#define BRAIN_COLUMNS IMODE_PANEL /* of a panel: two vectors of pairs */
#define BRAIN_ROWS 12    /* of a tile */

/* 16 vectors of 16 pairs each: rows become columns, by ones, twos, fours and eights. Those of the
   result are ld elements apart. */
INLINE void brain_turn(__m512i *x, uint16_t *to, long ld)
{
    __m512i y[16];
    _Pragma("GCC unroll 8")
    for (int j = 0; j < 16; j += 2) {
        y[j] = _mm512_unpacklo_epi32(x[j], x[j + 1]);
        y[j + 1] = _mm512_unpackhi_epi32(x[j], x[j + 1]);
    }
    _Pragma("GCC unroll 4")
    for (int j = 0; j < 16; j += 4)
        _Pragma("GCC unroll 2")
        for (int i = 0; i < 2; i++) {
            x[j + 2 * i] = _mm512_unpacklo_epi64(y[j + i], y[j + 2 + i]);
            x[j + 2 * i + 1] = _mm512_unpackhi_epi64(y[j + i], y[j + 2 + i]);
        }
    _Pragma("GCC unroll 4")
    for (int i = 0; i < 4; i++) {
        y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
        y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
    }
    _Pragma("GCC unroll 8")
    for (int i = 0; i < 8; i++) {
        _mm512_storeu_si512(to + i * ld, _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88));
        _mm512_storeu_si512(to + (i + 8) * ld, _mm512_shuffle_i32x4(y[i], y[i + 8], 0xdd));
    }
}

/* Two rows of 32 elements as 32 pairs. */
INLINE void brain_mix(__m512i above, __m512i below, __m512i *left, __m512i *right)
{
    const __m512i first = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9,
                                           40, 8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1,
                                           32, 0);
    const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
    *left = _mm512_permutex2var_epi16(above, first, below);
    *right = _mm512_permutex2var_epi16(above, second, below);
}

/* A block of 32 by 32 whose columns lie side by side, in rows. */
static void brain_block(const uint16_t *a, long ak, uint16_t *to, long full)
{
    __m512i left[16], right[16];
    for (int p = 0; p < 16; p++)
        brain_mix(_mm512_loadu_si512(a + 2 * p * ak), _mm512_loadu_si512(a + (2 * p + 1) * ak),
                  left + p, right + p);
    brain_turn(left, to, full);
    brain_turn(right, to + 16 * full, full);
}

/* Rows of a whose elements lie side by side, filled up with zeros to a depth of `full`. */
static inline void brain_pairs(long rows, long depth, const uint16_t *a, long ai, long ak,
                               uint16_t *to, long full)
{
    const long block = 32; /* a cache line of either */
    for (long i = 0; i < rows; i++) {
        if (ak == 1)
            memcpy(to + i * full, a + i * ai, depth * sizeof *to);
        memset(to + i * full + depth, 0, (full - depth) * sizeof *to);
    }
    for (long k0 = 0; ak != 1 && k0 < depth; k0 += block)
        for (long i0 = 0; i0 < rows; i0 += block) {
            if (ai == 1 && k0 + block <= depth && i0 + block <= rows) {
                brain_block(a + i0 + k0 * ak, ak, to + i0 * full + k0, full);
                continue;
            }
            for (long i = i0; i < rows && i < i0 + block; i++)
                for (long k = k0; k < depth && k < k0 + block; k++)
                    to[i * full + k] = a[i * ai + k * ak];
        }
}

/* to[p, j] = b[2 p, j], b[2 p + 1, j]; zeros beyond the last row, up to `full` rows, and column. */
static void brain_pack(long depth, long full, long cols, const uint16_t *b, long bk, long bj,
                       uint16_t *to)
{
    const long packed = (depth + 1) / 2 * 2;
    memset(to + packed * BRAIN_COLUMNS, 0, (full - packed) * BRAIN_COLUMNS * sizeof *to);
    if (bk == 1 && cols == BRAIN_COLUMNS && depth % 2 == 0) {
        long k = 0;
        for (; k + 32 <= depth; k += 32, b += 32, to += 32 * BRAIN_COLUMNS)
            for (int half = 0; half < 32; half += 16) {
                __m512i x[16];
                _Pragma("GCC unroll 16")
                for (int j = 0; j < 16; j++)
                    x[j] = _mm512_loadu_si512(b + (half + j) * bj);
                brain_turn(x, to + 2 * half, 2 * BRAIN_COLUMNS);
            }
        for (long j = 0; j < cols; j++)
            for (long i = 0; k + i < depth; i += 2)
                memcpy(to + i * BRAIN_COLUMNS + 2 * j, b + j * bj + i, 2 * sizeof *to);
        return;
    }
    for (long k = 0; k < depth; k += 2, to += 2 * BRAIN_COLUMNS) {
        const uint16_t *row = b + k * bk;
        if (bj == 1) {
            const __mmask32 mask = (__mmask32)(((uint64_t)1 << cols) - 1);
            const __mmask32 more = k + 1 < depth ? mask : 0;
            __m512i left, right;
            brain_mix(_mm512_maskz_loadu_epi16(mask, row), _mm512_maskz_loadu_epi16(more, row + bk),
                      &left, &right);
            _mm512_storeu_si512(to, left);
            _mm512_storeu_si512(to + 32, right);
            continue;
        }
        memset(to, 0, 2 * BRAIN_COLUMNS * sizeof *to);
        for (long j = 0; j < cols; j++) {
            to[2 * j] = row[j * bj];
            if (k + 1 < depth)
                to[2 * j + 1] = row[j * bj + bk];
        }
    }
}

INLINE void brain_tile(const int rows, long pairs, long cols, const uint16_t *a, long ai,
                       const uint16_t *panel, const float *bias, uint16_t *out, long ldo)
{
    const __mmask32 mask = (__mmask32)(((uint64_t)1 << cols) - 1);
    const __m512 bias0 = bias ? _mm512_loadu_ps(bias) : _mm512_setzero_ps();
    const __m512 bias1 = bias ? _mm512_loadu_ps(bias + 16) : _mm512_setzero_ps();
    __m512 sum[BRAIN_ROWS][2];
    _Pragma("GCC unroll 12")
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm512_setzero_ps();
    for (long p = 0; p < pairs; p++, panel += 2 * BRAIN_COLUMNS) {
        const __m512bh b0 = (__m512bh)_mm512_loadu_si512(panel);
        const __m512bh b1 = (__m512bh)_mm512_loadu_si512(panel + BRAIN_COLUMNS);
        _Pragma("GCC unroll 12")
        for (int i = 0; i < rows; i++) {
            int pair;
            memcpy(&pair, a + i * ai + 2 * p, sizeof pair);
            const __m512bh left = (__m512bh)_mm512_set1_epi32(pair);
            sum[i][0] = _mm512_dpbf16_ps(sum[i][0], left, b0);
            sum[i][1] = _mm512_dpbf16_ps(sum[i][1], left, b1);
        }
    }
    _Pragma("GCC unroll 12")
    for (int i = 0; i < rows; i++) {
        const __m512i made = (__m512i)_mm512_cvtne2ps_pbh(_mm512_add_ps(sum[i][1], bias1),
                                                          _mm512_add_ps(sum[i][0], bias0));
        _mm512_mask_storeu_epi16(out + i * ldo, mask, made);
    }
}

/* out (rows, cols), contiguous rows ldo apart, = bias + a @ b, for up to BRAIN_COLUMNS columns. */
static inline void brain_panel(long rows, long pairs, long cols, const uint16_t *a, long ai,
                               const uint16_t *panel, const float *bias, uint16_t *out, long ldo)
{
    for (; rows >= BRAIN_ROWS; rows -= BRAIN_ROWS, a += BRAIN_ROWS * ai, out += BRAIN_ROWS * ldo)
        brain_tile(BRAIN_ROWS, pairs, cols, a, ai, panel, bias, out, ldo);
    for (; rows >= 4; rows -= 4, a += 4 * ai, out += 4 * ldo)
        brain_tile(4, pairs, cols, a, ai, panel, bias, out, ldo);
    for (; rows > 0; rows--, a += ai, out += ldo)
        brain_tile(1, pairs, cols, a, ai, panel, bias, out, ldo);
}
#pragma GCC pop_options
