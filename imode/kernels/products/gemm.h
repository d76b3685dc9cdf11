/* Large products of matrices. See _gemm.c. */
#ifndef IMODE_GEMM_H
#define IMODE_GEMM_H

#include <stddef.h>

/* How many elements the buffer of a product has; of double if `wide`. */
ptrdiff_t imode_gemm_buffer(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t ak);

/* c (n, m) = a (n, k) @ b (k, m), or c -= it if `minus`; strides in elements; the rows of c are
   contiguous. */
void imode_gemm(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, ptrdiff_t an,
                ptrdiff_t ak, const void *b, ptrdiff_t bk, ptrdiff_t bm, void *c, ptrdiff_t ldc,
                int minus, void *buffer);

/* Of bfloat16: whether there are instructions for it; the depth that one of them takes; rows of a
   (rows, depth), filled up with zeros to a depth of `full`; the product with up to IMODE_PANEL
   columns of b, strides in elements. The rows of a, and those of out, are contiguous; those of a are
   filled up to a multiple of that depth, and `panel` has room for as many of that many columns. */
#define IMODE_PANEL 32
int imode_brain_takes(void);
ptrdiff_t imode_brain_step(void);
void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full);
void imode_brain_panel(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *b, ptrdiff_t bk, ptrdiff_t bj, void *out, ptrdiff_t ldo,
                       void *panel);

#endif
