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
