/* Large products of matrices. See _gemm.c. */
#ifndef IMODE_GEMM_H
#define IMODE_GEMM_H

#include <stddef.h>

/* What elements are; the sign of an integer makes no difference. */
enum { GEMM_FLOAT, GEMM_DOUBLE, GEMM_INT8, GEMM_INT16, GEMM_INT32, GEMM_INT64 };

/* The most columns of b in a block; ak: from a column of a to the next. */
ptrdiff_t imode_gemm_columns(int kind, ptrdiff_t ak);

/* How many elements the buffer of a product has. */
ptrdiff_t imode_gemm_buffer(int kind, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t ak);

/* c (n, m) = a (n, k) @ b (k, m), or of floats c -= it if `minus`; strides in elements; the rows of
   c are contiguous. */
void imode_gemm(int kind, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, ptrdiff_t an,
                ptrdiff_t ak, const void *b, ptrdiff_t bk, ptrdiff_t bm, void *c, ptrdiff_t ldc,
                int minus, void *buffer);

#endif
