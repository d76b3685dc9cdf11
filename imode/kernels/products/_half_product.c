/* Products of matrices of bfloat16 by instructions for it, a panel of columns of b at a time; and
   of few rows of bfloat16 or float16, at the speed of memory. */

#include "half_product.h"

#include <stdint.h>
#include <string.h>

#include "levels.h"
#if CHOOSE
#include "_brain_product.h"
#include "_brain_tiles.h"

int imode_brain_takes(void) { return level() == 2 && __builtin_cpu_supports("avx512bf16"); }

ptrdiff_t imode_brain_step(void) { return has_tiles() ? TILE_DEPTH : 2; }

void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full)
{
    brain_pairs(rows, depth, a, ai, ak, to, full);
}

void imode_brain_pack(ptrdiff_t depth, ptrdiff_t full, ptrdiff_t cols, const void *b, ptrdiff_t bk,
                      ptrdiff_t bj, void *panel)
{
    brain_pack(depth, full, cols, b, bk, bj, panel);
}

void imode_brain_panel(ptrdiff_t rows, ptrdiff_t full, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *panel, const float *bias, void *out, ptrdiff_t ldo)
{
    if (has_tiles())
        tile_panel(rows, full, cols, a, ai, panel, bias, out, ldo);
    else
        brain_panel(rows, full / 2, cols, a, ai, panel, bias, out, ldo);
}

/* ---- few rows ---- */

#define UNROLL _Pragma("GCC unroll 4")

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
INLINE float total(__m256 v)
{
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

#define VECTOR __m256
#define LANES 8
#define COLUMNS 2
#define ZERO _mm256_setzero_ps()
#define TOTAL total
#define LOAD _mm256_loadu_ps
#define ADD(sum, row, column) _mm256_fmadd_ps(row, column, sum)
#define PARTS(p) _mm_loadu_si128((const __m128i *)(p))

#define LOAD_COLUMN(p) _mm256_cvtph_ps(PARTS(p))
#define SUFFIX half_v3
#include "_half_dots.h"

#define LOAD_COLUMN(p)                                                                             \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(PARTS(p)), 16))
#define SUFFIX brain_v3
#include "_half_dots.h"
#pragma GCC pop_options

#undef VECTOR
#undef LANES
#undef COLUMNS
#undef ZERO
#undef TOTAL
#undef LOAD
#undef ADD
#undef PARTS

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define VECTOR __m512
#define LANES 16
#define COLUMNS 4
#define ZERO _mm512_setzero_ps()
#define TOTAL _mm512_reduce_add_ps
#define LOAD _mm512_loadu_ps
#define ADD(sum, row, column) _mm512_fmadd_ps(row, column, sum)
#define PARTS(p) _mm256_loadu_si256((const __m256i *)(p))

#define LOAD_COLUMN(p) _mm512_cvtph_ps(PARTS(p))
#define SUFFIX half_v4
#include "_half_dots.h"

#define LOAD_COLUMN(p)                                                                             \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(PARTS(p)), 16))
#define SUFFIX brain_v4
#include "_half_dots.h"
#pragma GCC pop_options

int imode_half_dots_take(void)
{
    return level() && __builtin_cpu_supports("f16c");
}

void imode_half_dots(int brain, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const float *a, ptrdiff_t an,
                    const void *b, ptrdiff_t bm, float *out, ptrdiff_t ldo)
{
    if (level() == 2)
        (brain ? dots_brain_v4 : dots_half_v4)(n, k, m, a, an, b, bm, out, ldo);
    else
        (brain ? dots_brain_v3 : dots_half_v3)(n, k, m, a, an, b, bm, out, ldo);
}
#else
int imode_brain_takes(void) { return 0; }

ptrdiff_t imode_brain_step(void) { return 1; }

void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full)
{
    (void)rows, (void)depth, (void)a, (void)ai, (void)ak, (void)to, (void)full;
}

void imode_brain_pack(ptrdiff_t depth, ptrdiff_t full, ptrdiff_t cols, const void *b, ptrdiff_t bk,
                      ptrdiff_t bj, void *panel)
{
    (void)depth, (void)full, (void)cols, (void)b, (void)bk, (void)bj, (void)panel;
}

void imode_brain_panel(ptrdiff_t rows, ptrdiff_t full, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *panel, const float *bias, void *out, ptrdiff_t ldo)
{
    (void)rows, (void)full, (void)cols, (void)a, (void)ai, (void)panel, (void)bias, (void)out;
    (void)ldo;
}

int imode_half_dots_take(void) { return 0; }

void imode_half_dots(int brain, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const float *a, ptrdiff_t an,
                     const void *b, ptrdiff_t bm, float *out, ptrdiff_t ldo)
{
    (void)brain, (void)n, (void)k, (void)m, (void)a, (void)an, (void)b, (void)bm, (void)out;
    (void)ldo;
}
#endif
