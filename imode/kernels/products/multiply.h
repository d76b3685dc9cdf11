/* Products of small matrices, for which a call of the BLAS costs more than the arithmetic.
   See _multiply.c. */
#ifndef IMODE_MULTIPLY_H
#define IMODE_MULTIPLY_H

#include <stddef.h>

/* Whether imode_small_matmul is faster than the BLAS and than packing b, as measured; row: bytes
   from a row of b to the next. */
int imode_small_product(int alone, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t bm,
                        ptrdiff_t row);

/* The most rows of a large product whose dot products are faster than packing them. */
ptrdiff_t imode_dot_rows(void);

/* Fetch n bytes that will be read soon: of short stretches no processor foresees the next. */
static inline void imode_fetch(const char* p, ptrdiff_t n) {
#if defined(__GNUC__)
    for (ptrdiff_t i = 0; i < n; i += 64) __builtin_prefetch(p + i);
#else
    (void)p, (void)n;
#endif
}

/* c (n, m) = a (n, k) @ b (k, m), the rows of b and c contiguous: for up to some tens of rows of a,
   b is read once, in order. Of double if `wide`; strides in elements. */
void imode_few_rows(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                    ptrdiff_t ak, const void* b, ptrdiff_t bk, void* c, ptrdiff_t cn);

/* c (n, m) = a (n, k) @ b (k, m), the rows of a and c and the columns of b contiguous: by dot
   products, for few rows of a. */
void imode_dots(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                const void* b, ptrdiff_t bm, void* c, ptrdiff_t cn);

/* c (n, m), contiguous, = a (n, k) @ b (k, m); strides in elements: an, ak, bk, bm. */
void imode_small_matmul_f(const float* a, ptrdiff_t an, ptrdiff_t ak, const float* b,
                          ptrdiff_t bk, ptrdiff_t bm, float* c, ptrdiff_t n, ptrdiff_t k,
                          ptrdiff_t m);
void imode_small_matmul_d(const double* a, ptrdiff_t an, ptrdiff_t ak, const double* b,
                          ptrdiff_t bk, ptrdiff_t bm, double* c, ptrdiff_t n, ptrdiff_t k,
                          ptrdiff_t m);

/* c (n, m), contiguous, = alpha * c + beta * addend; the addend's strides are in elements. */
void imode_add_scaled_f(float* c, ptrdiff_t n, ptrdiff_t m, const float* addend, ptrdiff_t rows,
                        ptrdiff_t columns, double beta, double alpha);
void imode_add_scaled_d(double* c, ptrdiff_t n, ptrdiff_t m, const double* addend,
                        ptrdiff_t rows, ptrdiff_t columns, double beta, double alpha);

#endif
