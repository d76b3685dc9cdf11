/* Products of matrices of bfloat16 by AMX: tiles of 16 rows and 16 columns, 32 deep.

   Four tiles of the result, 32×32, are summed over the whole depth, as _brain_product.h sums them.
   The system lends a process the tiles' registers when it asks, which it does for its first such
   product. Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18. */

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILE_DATA 18             /* their number among the parts of a processor's state */
#ifndef ARCH_REQ_XCOMP_PERM
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif
#define TILE 16                  /* rows of a tile, of 64 bytes each */
#define TILE_DEPTH 32

/* The intrinsics do not say what memory they read. */
#define WRITTEN __asm__ volatile("" ::: "memory")

/* Whether there are tiles, and the system lends them. */
static int has_tiles(void)
{
    static int known; /* 1: no, 2: yes */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!found) {
        found = level() == 2 && __builtin_cpu_supports("amx-tile") &&
                        __builtin_cpu_supports("amx-bf16") &&
                        __builtin_cpu_supports("avx512bf16") &&
                        !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA)
                    ? 2
                    : 1;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == 2;
}

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,amx-tile,amx-bf16")

/* Tiles 0 to 3 for the result, 4 and 5 for rows of a, 6 and 7 for columns of b. */
static void shape_tiles(long above, long below)
{
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    const long rows[8] = {above, above, below, below, above, below, TILE, TILE};
    for (int i = 0; i < 8; i++) {
        shape.bytes[i] = rows[i] ? 64 : 0;
        shape.rows[i] = (uint8_t)rows[i];
    }
    WRITTEN;
    _tile_loadconfig(&shape);
    WRITTEN;
}

/* Up to 32 rows of the result, ld elements apart, or `added` to what is there. `below`: whether the
   lower tiles have rows. */
INLINE void tile_rows(const int below, const int added, long depth, const uint16_t *a, long ai,
                      const uint16_t *panel, float *sums, long ld)
{
    const long row = 2 * ai, wide = 4 * BRAIN_COLUMNS, to = 4 * ld; /* bytes */
    if (added) {
        _tile_loadd(0, sums, to);
        _tile_loadd(1, sums + TILE, to);
    } else {
        _tile_zero(0);
        _tile_zero(1);
    }
    if (below && added) {
        _tile_loadd(2, sums + TILE * ld, to);
        _tile_loadd(3, sums + TILE * ld + TILE, to);
    } else if (below) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (long k = 0; k < depth; k += TILE_DEPTH, panel += TILE_DEPTH * BRAIN_COLUMNS) {
        _tile_loadd(4, a + k, row);
        _tile_loadd(6, panel, wide);
        _tile_loadd(7, panel + 2 * TILE, wide);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (below) {
            _tile_loadd(5, a + TILE * ai + k, row);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums, to);
    _tile_stored(1, sums + TILE, to);
    if (below) {
        _tile_stored(2, sums + TILE * ld, to);
        _tile_stored(3, sums + TILE * ld + TILE, to);
    }
}

/* As brain_panel; depth is a multiple of TILE_DEPTH, to which the panel has been filled up. */
static inline void tile_panel(long rows, long depth, long cols, const uint16_t *a, long ai,
                              const uint16_t *panel, const float *bias, uint16_t *out, long ldo)
{
    const __mmask32 mask = (__mmask32)(((uint64_t)1 << cols) - 1);
    const __m512 bias0 = bias ? _mm512_loadu_ps(bias) : _mm512_setzero_ps();
    const __m512 bias1 = bias ? _mm512_loadu_ps(bias + TILE) : _mm512_setzero_ps();
    _Alignas(64) float sums[2 * TILE * BRAIN_COLUMNS];
    long above = 0, below = 0;
    for (long i = 0; i < rows; i += 2 * TILE, a += 2 * TILE * ai) {
        const long n = rows - i < 2 * TILE ? rows - i : 2 * TILE;
        if (above + below != n) {
            above = n < TILE ? n : TILE;
            below = n - above;
            shape_tiles(above, below);
        }
        WRITTEN;
        if (below)
            tile_rows(1, 0, depth, a, ai, panel, sums, BRAIN_COLUMNS);
        else
            tile_rows(0, 0, depth, a, ai, panel, sums, BRAIN_COLUMNS);
        for (long r = 0; r < n; r++) {
            const float *sum = sums + r * BRAIN_COLUMNS;
            const __m512i made = (__m512i)_mm512_cvtne2ps_pbh(
                _mm512_add_ps(_mm512_loadu_ps(sum + TILE), bias1),
                _mm512_add_ps(_mm512_loadu_ps(sum), bias0));
            _mm512_mask_storeu_epi16(out + (i + r) * ldo, mask, made);
        }
    }
    _tile_release();
}
#pragma GCC pop_options
