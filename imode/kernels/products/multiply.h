/* Products of small matrices, for which a call of the BLAS costs more than the arithmetic.
   See _multiply.c. */
#ifndef IMODE_MULTIPLY_H
#define IMODE_MULTIPLY_H

#include <stddef.h>

/* Whether imode_small_matmul is faster than the BLAS and than packing b, as measured; row: bytes
   from a row of b to the next. */
int imode_small_product(int alone, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t bm,
                        ptrdiff_t row);

/* Fetch n bytes that will be read soon: of short stretches no processor foresees the next. */
static inline void imode_fetch(const char* p, ptrdiff_t n) {
#if defined(__GNUC__)
    for (ptrdiff_t i = 0; i < n; i += 64) __builtin_prefetch(p + i);
#else
    (void)p, (void)n;
#endif
}

/* out (n) = a (n, k) @ v, the rows of a and v contiguous; of double if `wide`. */
void imode_dots(int wide, ptrdiff_t n, ptrdiff_t k, const void* a, ptrdiff_t an, const void* v,
                void* out);

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
