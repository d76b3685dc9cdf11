/* Large products of matrices: b is packed, a block of DEPTH rows and some columns at a time, and
   rows of a go through it in register tiles (_product_tile.h).

   Every element is summed over k in the same order, from 0 to the end of each block of DEPTH,
   wherever its tile lies: so rows and columns may be shared out in any way, and the bits are the
   same. Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008). */

#include <stdint.h>
#include <string.h>

#include "gemm.h"

#define WIDEST
#define LOOPS "_gemm_loops.h"
#include "_levels.h"
#if CHOOSE
#include "_brain_product.h"
#include "_brain_tiles.h"
#endif

ptrdiff_t imode_gemm_buffer(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t ak)
{
    PICK(buffer, (n, m, k, ak))
}

void imode_gemm(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, ptrdiff_t an,
                ptrdiff_t ak, const void *b, ptrdiff_t bk, ptrdiff_t bm, void *c, ptrdiff_t ldc,
                int minus, void *buffer)
{
    PICK(gemm, (n, m, k, a, an, ak, b, bk, bm, c, ldc, minus, buffer))
}

#if CHOOSE
int imode_brain_takes(void) { return level() == 2 && __builtin_cpu_supports("avx512bf16"); }

ptrdiff_t imode_brain_step(void) { return has_tiles() ? TILE_DEPTH : 2; }

void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full)
{
    brain_pairs(rows, depth, a, ai, ak, to, full);
}

void imode_brain_panel(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *b, ptrdiff_t bk, ptrdiff_t bj, void *out, ptrdiff_t ldo,
                       void *panel)
{
    const long step = imode_brain_step(), full = (depth + step - 1) / step * step;
    const long packed = (depth + 1) / 2 * 2; /* rows of the panel that are packed */
    brain_pack(depth, cols, b, bk, bj, panel);
    memset((uint16_t *)panel + packed * BRAIN_COLUMNS, 0,
           (full - packed) * BRAIN_COLUMNS * sizeof(uint16_t));
    if (has_tiles())
        tile_panel(rows, full, cols, a, ai, panel, out, ldo);
    else
        brain_panel(rows, full / 2, cols, a, ai, panel, out, ldo);
}
#else
int imode_brain_takes(void) { return 0; }

ptrdiff_t imode_brain_step(void) { return 1; }

void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full)
{
    (void)rows, (void)depth, (void)a, (void)ai, (void)ak, (void)to, (void)full;
}

void imode_brain_panel(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *b, ptrdiff_t bk, ptrdiff_t bj, void *out, ptrdiff_t ldo,
                       void *panel)
{
    (void)rows, (void)depth, (void)cols, (void)a, (void)ai, (void)b, (void)bk, (void)bj;
    (void)out, (void)ldo, (void)panel;
}
#endif
