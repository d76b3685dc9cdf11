/* Products of matrices of bfloat16 by instructions for it. See _half_product.c. */
#ifndef IMODE_HALF_PRODUCT_H
#define IMODE_HALF_PRODUCT_H

#include <stddef.h>

/* Whether there are such instructions; the depth that one of them takes. Rows of a (rows, depth),
   filled up with zeros to a depth of `full`, a multiple of that; up to IMODE_PANEL columns of b as a
   panel, of `full` times IMODE_PANEL elements; their product, added to `bias`, IMODE_PANEL numbers
   for all rows, unless it is NULL. Strides in elements; the rows of a that is multiplied, and those
   of out, are contiguous. */
#define IMODE_PANEL 32
int imode_brain_takes(void);
ptrdiff_t imode_brain_step(void);
void imode_brain_pairs(ptrdiff_t rows, ptrdiff_t depth, const void *a, ptrdiff_t ai, ptrdiff_t ak,
                       void *to, ptrdiff_t full);
void imode_brain_pack(ptrdiff_t depth, ptrdiff_t full, ptrdiff_t cols, const void *b, ptrdiff_t bk,
                      ptrdiff_t bj, void *panel);
void imode_brain_panel(ptrdiff_t rows, ptrdiff_t full, ptrdiff_t cols, const void *a, ptrdiff_t ai,
                       const void *panel, const float *bias, void *out, ptrdiff_t ldo);

/* Of few rows: whether there are loops for it, and out (n, m) = a (n, k) @ b (k, m); b of bfloat16
   if `brain`, else of float16. Rows of a and out, and columns of b, are contiguous and so many
   elements apart; the rows of a are filled up with zeros to a multiple of IMODE_LANES. */
#define IMODE_LANES 16
int imode_half_dots_take(void);
void imode_half_dots(int brain, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const float *a, ptrdiff_t an,
                     const void *b, ptrdiff_t bm, float *out, ptrdiff_t ldo);

#endif
